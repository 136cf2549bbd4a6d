"""Temporal F1 against the table of the specification, and the formula said once more in plain sets."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.metrics import compute
from rexrank.metrics.computation import KeyScores
from rexrank.metrics.temporal_f1 import TERMS


def temporal(prediction: str, reference: str | list[str], convention: str = "published") -> KeyScores:
    return compute("temporal_f1", [prediction], [reference], convention)["temporal_f1"]


@pytest.mark.parametrize(
    ("prediction", "reference", "published", "corrected"),
    [
        ("Stable nodule.", "Stable nodule.", 0.99999999995, 1),
        ("Stable nodule.", "Unchanged nodule.", 6.666666666e-11, 0),
        ("Stable nodule, new scar.", "Stable nodule.", 0.6666666666, 2 / 3),
        ("Increased/new nodule.", "New nodule.", 2e-10, 2 / 3),
        ("New nodule.", "A nodule.", 1e-10, 0),
        ("A nodule.", "The nodule.", 1.0, None),
    ],
)
def test_temporal_f1_gives_the_tabled_values(
    prediction: str, reference: str, published: float, corrected: float | None
) -> None:
    assert temporal(prediction, reference).aggregate == pytest.approx(published, rel=1e-9, abs=0)
    scores = temporal(prediction, reference, "corrected")
    assert scores.aggregate == (None if corrected is None else pytest.approx(corrected, abs=1e-15))
    assert scores.reasons == ({0: "no_temporal_terms"} if corrected is None else {})


def test_the_words_are_forty_four() -> None:
    assert len(TERMS) == len(set(TERMS)) == 44
    everything = temporal(" ".join(TERMS), ", ".join(TERMS).upper())
    assert everything.aggregate == pytest.approx(1)
    assert everything.signature == "temporal_f1|conv:published|terms:44|v:1"


@pytest.mark.parametrize(
    ("prediction", "reference", "published", "corrected"),
    [
        ("", "New and larger.", 1e-10, 0),
        ("New and larger.", "", 1e-10, None),
        (" ", "\n", 1, None),
        ("nothing of this", "New and larger.", 1e-10, 0),
    ],
)
def test_blank_texts(prediction: str, reference: str, published: float, corrected: float | None) -> None:
    assert temporal(prediction, reference).aggregate == pytest.approx(published, rel=1e-6, abs=0)
    assert temporal(prediction, reference, "corrected").aggregate == corrected


@pytest.mark.parametrize(
    ("text", "published", "corrected"),
    [
        ("non-stable", True, True),
        ("un_stable", True, True),
        ("unstable", False, False),
        ("stable.", True, True),
        ("(STABLE)", True, True),
        ("stable2", False, False),
        ("was\nstable", True, True),
        ("stable'", True, True),
        ("stable&sound", False, True),
        ("un/stable", False, True),
        ("sta/ble", True, False),
        ("sta\u00adble", True, True),
        ("stable\u200b", True, True),
        ("stable\u0301", True, False),
    ],
)
def test_what_is_a_whole_word(text: str, published: bool, corrected: bool) -> None:
    for convention, expected in (("published", published), ("corrected", corrected)):
        value = temporal(text, "Stable. No scar", convention).aggregate
        assert (value == pytest.approx(1)) == expected


def test_words_count_once_and_negation_is_not_known() -> None:
    assert temporal("new, new, new", "no new nodule", "corrected").aggregate == 1


def test_several_references_are_one_set() -> None:
    scores = temporal("stable new larger", ["stable", "new"], "corrected")
    assert scores.aggregate == pytest.approx(2 * 2 / (3 + 2))
    assert temporal("stable new larger", ["stable", "new"]).aggregate == pytest.approx(2 * 2 / (3 + 2))


def test_reports_in_another_script_have_no_score() -> None:
    scores = temporal("Stable.", "Без изменений", "corrected")
    assert scores.reasons == {0: "unsupported_language"}
    assert temporal("Без изменений", "Stable.", "corrected").values.tolist() == [0]
    assert temporal("Без изменений", "Без изменений", "corrected").values.tolist() == [1]


marks = st.sampled_from([" ", " ", ". ", "/", "-", "_", "\n", "'", ", ", "\u00e9", "2"])
pieces = st.sampled_from([*TERMS[:3], *TERMS[-3:], "new", "New", "nodule"])
texts = st.lists(st.tuples(pieces, marks), max_size=8).map(lambda parts: "".join(w + m for w, m in parts))


def words_of(text: str) -> set[str]:
    text = re.sub("[_-]+", " ", re.sub("\n+", " ", text))
    text = re.sub(r"[^\w\s.,:;()-]", "", text)
    return {term for term in TERMS if re.search(rf"\b{term}\b", re.sub(r"\s+", " ", text).lower())}


@settings(deadline=None)
@given(texts, texts)
def test_published_is_the_formula_on_sets(prediction: str, reference: str) -> None:
    said, true = words_of(prediction), words_of(reference)
    if true:
        precision = (len(said & true) + 1e-10) / (len(said) + 1e-10)
        recall = (len(said & true) + 1e-10) / (len(true) + 1e-10)
        expected = 2 * precision * recall / (precision + recall + 1e-10)
    else:
        expected = 1e-10 if said else 1.0
    assert math.isclose(temporal(prediction, reference).values[0], expected, rel_tol=1e-12)
