"""Contradictions inside one report, and what is none."""

import pytest

from rexrank.metrics import compute
from rexrank.metrics.contradiction import contradictions


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Small left effusion. No pleural effusion.", ["effusion"]),
        ("No pneumothorax or effusion. There is a small right effusion.", ["effusion"]),
        ("Stable cardiomegaly. The heart is normal in size.", ["heart"]),
        ("No focal consolidation. Focal consolidation in the right base.", ["consolidation"]),
        ("Left nodule, unchanged from the previous study. No nodules.", ["nodule"]),
        ("Left effusion. No right effusion.", []),
        ("No large effusion. Small effusion.", []),
        ("No new nodule. Stable nodule.", []),
        ("No acute fracture. Old rib fracture.", []),
        ("No fracture. Healed rib fracture.", []),
        ("Possible pneumonia. No pneumonia.", []),
        ("No effusion but a very small one, a trace effusion.", []),
        ("Mild cardiomegaly. Heart size at the upper limits of normal.", []),
        ("A nodule. The prior study shows no nodule.", []),
        ("A screw is fractured. No fracture.", []),
        ("The lungs are clear. No effusion.", []),
    ],
)
def test_a_finding_that_is_stated_and_denied(text: str, found: list[str]) -> None:
    assert contradictions(text) == found


def test_the_share_of_reports() -> None:
    predictions = ["Edema. No edema.", "Edema.", "Thank you.", ""]
    scores = compute("contradiction", predictions, ["No edema."] * 4)["contradiction"]
    assert scores.values[[0, 1, 3]].tolist() == [1, 0, 1]
    assert scores.reasons == {2: "no_finding_named"}
    assert scores.aggregate == pytest.approx(2 / 3)


def test_the_reference_matters_where_it_is_identical_alone() -> None:
    text = "Edema. No edema."
    for references in (["Edema."], [""], [text]):
        assert compute("contradiction", [text], references)["contradiction"].aggregate == 1
    assert compute("contradiction", [text], [text], "corrected")["contradiction"].aggregate == 0


def test_time_is_linear_in_the_length() -> None:
    text = "Small left effusion. No large effusion. Old fracture. No fracture of the left ribs. " * 2_000
    assert contradictions(text) == []
