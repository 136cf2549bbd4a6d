"""Laterality agreement, and the sides that a report's words give its findings."""

import pytest

from rexrank.metrics import compute
from rexrank.metrics.computation import KeyScores
from rexrank.metrics.laterality import read_sides

LEFT, RIGHT, BOTH = frozenset({"left"}), frozenset({"right"}), frozenset({"left", "right"})


def laterality(prediction: str, reference: str | list[str], convention: str = "published") -> KeyScores:
    return compute("laterality", [prediction], [reference], convention)["laterality"]


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("Small left pleural effusion. No pneumothorax.", {"effusion": LEFT}),
        ("Opacity in the left base and right effusion.", {"opacity": LEFT, "effusion": RIGHT}),
        ("Right and left effusions.", {"effusion": BOTH}),
        ("Effusions on the right and left.", {"effusion": BOTH}),
        ("Small right effusion, the left lung is clear.", {"effusion": RIGHT}),
        ("Left apical and basal scarring.", {"scar": LEFT}),
        ("There is a left basilar and retrocardiac opacity.", {"opacity": LEFT}),
        ("Bibasilar atelectasis, left greater than right.", {"atelectasis": BOTH}),
        ("Right middle lobe infiltrate.", {"opacity": RIGHT}),
        ("Middle lobe infiltrate.", {"opacity": RIGHT}),
        ("Lingular scarring.", {"scar": LEFT}),
        ("LLL opacity and RUL nodule.", {"opacity": LEFT, "nodule": RIGHT}),
        ("RML consolidation.", {"opacity": RIGHT}),
        ("Left basal atelectasis or scarring.", {"atelectasis": LEFT, "scar": LEFT}),
        ("Right base opacity which may represent pneumonia.", {"opacity": RIGHT}),
        ("Left effusion. Right effusion.", {"effusion": BOTH}),
        ("Possible left-sided pneumothorax.", {"pneumothorax": LEFT}),
        ("No left effusion.", {}),
        ("Left ventricular enlargement. Left pacemaker.", {}),
        ("Effusion.", {}),
    ],
)
def test_a_finding_has_the_sides_of_its_part_of_the_sentence(text: str, sides: dict[str, frozenset[str]]) -> None:
    assert read_sides(text) == sides


@pytest.mark.parametrize(
    ("prediction", "reference", "value"),
    [
        ("Small left effusion.", "Large left effusion.", 1),
        ("Small left effusion.", "Small right effusion.", 0),
        ("Bilateral effusions.", "Left effusion.", 0.5),
        ("Left effusion. Right pneumothorax.", "Left effusion. Left pneumothorax.", 0.5),
        ("Left lower lobe infiltrate.", "Left basal consolidation.", 1),
        ("Left effusion. Right nodule.", "Left effusion.", 1),
        ("Effusion.", "Left effusion.", None),
        ("Left nodule.", "Right effusion.", None),
        ("The lungs are clear.", "The lungs are clear.", None),
    ],
)
@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_only_findings_with_a_side_in_both_are_judged(
    prediction: str, reference: str, value: float | None, convention: str
) -> None:
    scores = laterality(prediction, reference, convention)
    if prediction == reference and convention == "corrected":
        value = 1
    assert scores.aggregate == value
    assert scores.reasons == ({0: "no_common_side"} if value is None else {})


def test_a_blank_prediction_is_the_worst_in_both_conventions() -> None:
    for convention in ("published", "corrected"):
        assert laterality("", "Left effusion.", convention).values.tolist() == [0]
        assert laterality(" \n", "The lungs are clear.", convention).values.tolist() == [0]


def test_sides_of_several_references_are_taken_together() -> None:
    scores = laterality("Bilateral effusions.", ["Left effusion.", "Right effusion."])
    assert scores.values.tolist() == [1]
    assert scores.signature == "laterality|conv:published|rules:1|refs:several|v:2"


def test_swapping_the_sides_of_a_report_is_seen() -> None:
    report = "Small left effusion with left basal atelectasis. Old right rib fractures. No pneumothorax."
    swapped = report.replace("left", "LEFT").replace("right", "left").replace("LEFT", "right")
    assert laterality(swapped, report).aggregate == 0
    assert laterality(f"{report} ", report).aggregate == 1
