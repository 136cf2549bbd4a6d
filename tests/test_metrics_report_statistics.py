"""What reports look like: words, variety and copies of training reports."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank import score
from rexrank.errors import RefusedInput
from rexrank.metrics import InvalidCall, Unavailable, compute, score_keys
from rexrank.metrics.report_statistics import read_training

COPIES = ["report_in_training", "reference_in_training"]
KEYS = [
    f"{side}_{what}" for side in ("report", "reference") for what in ("words", "distinct", "vocabulary", "in_training")
]
PREDICTIONS = ["FINDINGS: Mild edema.", "Mild  edema.\n", "mild edema.", ""]
REFERENCES = ["No focal opacity.", "Mild edema.", "Scar 2.5 cm.", "No focal\topacity."]
TRAINING = ["mild edema.", "No focal opacity."]


def aggregates(**options: Any) -> dict[str, float | None]:
    found = compute(KEYS, PREDICTIONS, REFERENCES, training=TRAINING, **options)
    return {key: scores.aggregate for key, scores in found.items()}


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_each_statistic_counts_what_it_says(convention: Any) -> None:
    assert aggregates(convention=convention) == {
        "report_words": 6 / 4,
        "report_distinct": 3 / 4,
        "report_vocabulary": 2.0,
        "report_in_training": 1 / 4,
        "reference_words": 11 / 4,
        "reference_distinct": 3 / 4,
        "reference_vocabulary": 8.0,
        "reference_in_training": 2 / 4,
    }


def test_studies_have_words_and_copies_and_the_set_has_the_rest() -> None:
    found = compute(KEYS, PREDICTIONS, REFERENCES, training=TRAINING)
    assert found["report_words"].values.tolist() == [2, 2, 2, 0]
    assert found["reference_in_training"].values.tolist() == [1, 0, 0, 1]
    for key in KEYS:
        assert score_keys()[key].direction == "none"
        whole = score_keys()[key].kind == "set"
        assert whole == key.endswith(("distinct", "vocabulary"))
        assert set(found[key].reasons.values()) == ({"only_together"} if whole else set())
        assert found[key].counts["n_undefined"] == 0
        assert found[key].statistics is None
    assert found["report_words"].signature == "report_words|conv:published|tok:unicode-words|v:1"
    assert found["report_distinct"].signature == "report_distinct|conv:published|v:1"
    assert "|training:2+" in found["report_in_training"].signature


def test_one_report_for_everybody_shows() -> None:
    found = compute(["report_distinct", "report_vocabulary"], ["Clear lungs."] * 8, [f"Nodule {n}." for n in range(8)])
    assert {key: scores.aggregate for key, scores in found.items()} == {
        "report_distinct": 1 / 8,
        "report_vocabulary": 2,
    }


def test_of_several_references_all_are_taken() -> None:
    references = [["Mild edema.", "Edema"], ["Scar."]]
    found = compute([*COPIES, "reference_words", "reference_distinct"], ["a", "b"], references, training=["Edema"])
    assert found["reference_words"].values.tolist() == [1.5, 1]
    assert found["reference_in_training"].values.tolist() == [0.5, 0]
    assert found["reference_distinct"].aggregate == 1
    assert found["report_in_training"].values.tolist() == [0, 0]


def test_words_of_any_script() -> None:
    found = compute(["report_words", "report_vocabulary"], ["Лёгкие, лёгкие!", "肺野清晰"], ["x", "y"])
    assert found["report_words"].values.tolist() == [2, 4]
    assert found["report_vocabulary"].aggregate == 5


def test_without_training_reports_only_the_copies_are_unavailable() -> None:
    card = score(PREDICTIONS, REFERENCES, protocol="plain", metrics="report_statistics", progress=False)
    assert set(card.summary) == set(KEYS) - set(COPIES)
    assert set(card.unavailable) == set(COPIES)
    assert card.unavailable["report_in_training"].startswith("report_in_training needs the option training (texts of")
    assert set(card.intervals) == {"report_words", "reference_words"}
    assert card.per_study["report_distinct"].null_count == len(PREDICTIONS)
    for given_options in ({}, {"training": None}):
        with pytest.raises(Unavailable, match="report_in_training needs the option training"):
            compute(["report_words", "report_in_training"], ["a"], ["b"], **given_options)
    options = {"training": TRAINING}
    whole = score(
        PREDICTIONS, REFERENCES, protocol="plain", metrics="report_statistics", progress=False, options=options
    )
    assert whole.summary["report_in_training"] == 0.25
    assert not whole.unavailable


def test_training_reports_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    sections = {"findings": "Mild edema.", "impression": "No focal opacity."}
    path.write_text(json.dumps({"a": sections, "b": {"report": "Findings: Scar. Impression: Old scar."}}))
    assert read_training(path) == {
        "Mild edema.",
        "No focal opacity.",
        "Scar.",
        "Old scar.",
        "Scar. Old scar.",
        "Mild edema. No focal opacity.",
    }
    found = compute(COPIES, PREDICTIONS, REFERENCES, training=str(path))
    assert [found[key].aggregate for key in COPIES] == [0.5, 0.75]
    assert found["report_in_training"].signature != compute(COPIES, ["a"], ["b"], training=["c"])[COPIES[0]].signature


def test_the_fingerprint_of_training_reports_knows_no_order() -> None:
    signatures = {
        compute("report_in_training", ["a"], ["b"], training=training)["report_in_training"].signature
        for training in (TRAINING, TRAINING[::-1], [*TRAINING, " mild  edema."], tuple(TRAINING), set(TRAINING))
    }
    assert len(signatures) == 1


@pytest.mark.parametrize(
    ("training", "message"),
    [
        (3, "training: expected a list of reports, or the path .*, got int"),
        (b"abc", "got bytes"),
        ({"a": "Mild edema."}, "got dict"),
        ([], "got none that says anything"),
        ([" ", "\u200b"], "got none that says anything"),
        (["Mild edema.", None], r"training\[1\]: expected str, got NoneType"),
    ],
)
def test_training_reports_that_make_no_sense(training: Any, message: str) -> None:
    with pytest.raises(InvalidCall, match=message) as caught:
        compute("report_in_training", ["a"], ["b"], training=training)
    assert "edema" not in str(caught.value)


@pytest.mark.parametrize("track", ["findings", "impression", "report"])
@pytest.mark.parametrize("preparation", ["reference", "both", "none", "sections"])
def test_what_a_protocol_puts_before_a_text_does_not_hide_a_copy(tmp_path: Path, track: Any, preparation: str) -> None:
    path = tmp_path / "train.json"
    sections = {"findings": "Mild edema. Scar, old", "impression": "Stable scar. No edema."}
    path.write_text(json.dumps({"a": sections, "b": {**sections, "findings": "No fracture."}}))
    predictions = {"a": sections.get(track, "Mild edema. Scar, old Stable scar. No edema."), "b": "Another text."}
    card = score(
        *(predictions, path),
        metrics=COPIES,
        track=track,
        text_preparation=preparation,
        options={"training": str(path)},
        progress=False,
    )
    assert card.summary == {"report_in_training": 0.5, "reference_in_training": 1}


def test_headers_alone_are_no_report() -> None:
    with pytest.raises(InvalidCall, match="got none that says anything"):
        compute(COPIES, ["a"], ["b"], training=["FINDINGS:", "Impression: "])
    found = compute(COPIES, ["FINDINGS:", ""], ["b", "FINDINGS: b"], training=["b", "IMPRESSION:"])
    assert [found[key].aggregate for key in COPIES] == [0, 1]
    assert "|training:1+" in found[COPIES[0]].signature


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("train.json", 'training: "train.json": there is no such file; give the path of a file of reports, or a list'),
        ("Mild edema of both lungs", "training: a text of 24 characters: there is no such file; give the path"),
        ("x" * 5000, "training: a text of 5,000 characters: it cannot be read: File name too long; give the path"),
        ("a\0b.json", "training: a text of 8 characters: it cannot be read: not a possible path; give"),
    ],
)
def test_a_file_of_training_reports_that_is_not_there(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(InvalidCall) as caught:
        compute("report_in_training", ["a"], ["b"], training=str(tmp_path / name))
    assert str(caught.value).startswith(said)
    assert "edema" not in str(caught.value)


def test_the_faults_of_a_file_of_training_reports_are_named(tmp_path: Path) -> None:
    (tmp_path / "train.json").write_text('{"a": 3}')
    with pytest.raises(RefusedInput, match=r"train\.json.*expected text"):
        compute("report_in_training", ["a"], ["b"], training=tmp_path / "train.json")


texts = st.sampled_from(["Mild edema.", "mild  edema.", "", " ", "FINDINGS:", "легкие", "\x00 e\u0301"]) | st.text(
    max_size=20
)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6), st.randoms())
def test_order_and_neighbours_change_no_study(studies: list[tuple[str, str]], random: Any) -> None:
    def scores(chosen: list[tuple[str, str]]) -> dict[str, Any]:
        return compute(KEYS, [one for one, _ in chosen], [other for _, other in chosen], training=TRAINING)

    order = random.sample(range(len(studies)), len(studies))
    together, shuffled = scores(studies), scores([studies[position] for position in order])
    for key in KEYS:
        assert shuffled[key].aggregate == pytest.approx(together[key].aggregate)
        if score_keys()[key].kind == "mean":
            values = together[key].values
            assert shuffled[key].values.tolist() == values[order].tolist()
            assert [scores([study])[key].values[0] for study in studies] == values.tolist()
        low, high = score_keys()[key].range("published")
        assert low <= together[key].aggregate <= (high or 1_000)
