"""The laws of the corrected convention, on texts of every kind."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.metrics import compute
from rexrank.metrics.pairs import canonical
from rexrank.reports.studies import is_blank

KEYS = ["bleu2", *(f"coco_bleu{order}" for order in range(1, 5)), "rouge_l", "rouge1", "rouge2", "rouge_l_f1"]

words = st.sampled_from(
    [
        "heart",
        "Heart",
        "clear",
        ".",
        "FINDINGS:",
        "2.5",
        "größe",
        "легкие",
        "肺",
        "है",
        "\u200b",
        "...",
        "(x)",
        "\x00",
        "🫁",
    ]
)
texts = st.lists(words, max_size=12).map(" ".join) | st.text(max_size=30)
studies_strategy = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=2)), min_size=1, max_size=6)
Studies = list[tuple[str, list[str]]]


def values(studies: Studies, convention: str = "corrected") -> dict[str, list[float]]:
    scores = compute(KEYS, [study[0] for study in studies], [study[1] for study in studies], convention)
    return {key: [None if math.isnan(value) else value for value in scores[key].values] for key in KEYS}


@settings(deadline=None)
@given(texts.filter(lambda text: not is_blank(text)), texts)
def test_identity_is_exactly_best(text: str, other: str) -> None:
    studies: Studies = [(text, [canonical(text)]), (f" {text}\n", [other, text])]
    assert all(column == [1, 1] for column in values(studies).values())


@pytest.mark.parametrize("convention", ["published", "corrected"])
@settings(deadline=None)
@given(studies=studies_strategy)
def test_scores_are_finite_or_null_and_in_range(convention: str, studies: Studies) -> None:
    scores = compute(KEYS, [study[0] for study in studies], [study[1] for study in studies], convention)
    for key in KEYS:
        column = scores[key].values
        assert len(column) == len(studies)
        lost = np.isnan(column)
        assert ((column[~lost] >= 0) & (column[~lost] <= 1)).all()
        assert set(scores[key].reasons) == set(np.flatnonzero(lost).tolist())
        assert scores[key].counts["n_undefined"] == lost.sum()
        aggregate = scores[key].aggregate
        assert aggregate is None or 0 <= aggregate <= 1
        if convention == "published":
            assert not lost.any()


@pytest.mark.parametrize("convention", ["published", "corrected"])
@settings(deadline=None, max_examples=40)
@given(studies=studies_strategy, data=st.data())
def test_a_study_never_depends_on_its_neighbours_or_their_order(
    convention: str, studies: Studies, data: st.DataObject
) -> None:
    together = values(studies, convention)
    order = data.draw(st.permutations(range(len(studies))))
    permuted = values([studies[position] for position in order], convention)
    blanked = values([study if i % 2 else ("", [""]) for i, study in enumerate(studies)], convention)
    for key in KEYS:
        alone = [values([study], convention)[key][0] for study in studies]
        assert together[key] == alone
        assert permuted[key] == [together[key][position] for position in order]
        assert blanked[key][1::2] == together[key][1::2]


@settings(deadline=None)
@given(studies_strategy)
def test_duplicates_change_no_study_and_no_corpus_value(studies: Studies) -> None:
    once = compute(KEYS, [study[0] for study in studies], [study[1] for study in studies], "corrected")
    twice = compute(KEYS, [study[0] for study in studies] * 2, [study[1] for study in studies] * 2, "corrected")
    for key in KEYS:
        assert np.array_equal(twice[key].values, np.tile(once[key].values, 2), equal_nan=True)
        assert twice[key].aggregate == pytest.approx(once[key].aggregate, abs=1e-12)


@settings(deadline=None)
@given(texts, texts)
def test_both_sides_are_prepared_alike(prediction: str, reference: str) -> None:
    plain = values([(prediction, [reference])])
    shouted = values([(f"FINDINGS: {prediction}", [f"FINDINGS: {reference}"])])
    if not is_blank(prediction) and not is_blank(reference):
        headers_apart = values([(f"Impression: {prediction}", [f"FINDINGS:\n{reference}"])])
        if canonical(prediction) != canonical(reference):
            assert shouted == headers_apart
        else:
            assert all(column == [1] for column in (*plain.values(), *shouted.values()))


@settings(deadline=None, max_examples=5)
@given(st.integers(0, 2**32 - 1))
def test_very_long_texts(seed: int) -> None:
    generator = np.random.default_rng(seed)
    long, longer = (" ".join(map(str, generator.integers(0, 500, length))) for length in (4_000, 9_000))
    column = values([(long, [longer]), ("clear", [longer]), (longer, [longer])])
    for key in KEYS:
        assert column[key][2] == 1
        assert 0 <= column[key][0] < 1
    assert column["rouge1"][0] > 0.3
    assert values([("clear", [longer])])["rouge_l"] == [0]
