"""Hedging agreement: stated, hedged and denied findings."""

import pytest

from rexrank.metrics import compute
from rexrank.metrics.computation import KeyScores
from rexrank.metrics.hedging import read_strengths


def hedging(prediction: str, reference: str | list[str], convention: str = "published") -> KeyScores:
    return compute("hedging", [prediction], [reference], convention)["hedging"]


def test_the_most_telling_place_counts() -> None:
    report = "No effusion. Possible pneumonia. Left nodule, no other nodules. Pacemaker. Heart size is normal."
    assert read_strengths(report) == {"effusion": 1, "pneumonia": 2, "nodule": 3, "heart": 1}
    assert read_strengths("History of pneumonia.") == {}


@pytest.mark.parametrize(
    ("prediction", "reference", "value"),
    [
        ("Pneumonia.", "Possible pneumonia.", 0),
        ("Possible pneumonia.", "Probable pneumonia.", 1),
        ("No pneumonia.", "Possible pneumonia.", 0),
        ("Possible pneumonia. No effusion.", "Pneumonia. No effusion.", 0.5),
        ("Cardiomegaly.", "Heart size is normal.", 0),
        ("Effusion.", "Small nodule.", None),
        ("Thank you.", "Thank you.", None),
    ],
)
def test_common_findings_are_judged(prediction: str, reference: str, value: float | None) -> None:
    scores = hedging(prediction, reference)
    assert scores.aggregate == value
    assert scores.reasons == ({0: "no_common_finding"} if value is None else {})


def test_conventions_differ_in_identical_texts_alone() -> None:
    assert hedging("Thank you.", "Thank you.", "corrected").values.tolist() == [1]
    for convention in ("published", "corrected"):
        assert hedging("", "Effusion.", convention).values.tolist() == [0]
        assert hedging("Pneumonia.", "Possible pneumonia.", convention).values.tolist() == [0]


def test_places_in_several_references_are_taken_together() -> None:
    assert hedging("Pneumonia.", ["Possible pneumonia.", "Pneumonia."]).aggregate == 1
    assert hedging("Possible pneumonia.", ["No pneumonia.", "Pneumonia."]).aggregate == 0
