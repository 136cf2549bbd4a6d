"""Invented devices: kinds of devices, and which of them a reference knows."""

import pytest

from rexrank.metrics import compute
from rexrank.metrics.invented_device import read_devices


def invented(prediction: str, reference: str | list[str]) -> float | None:
    return compute("invented_device", [prediction], [reference])["invented_device"].aggregate


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Endotracheal tube in place.", [{"airway"}]),
        ("Feeding tube. Right PICC.", [{"stomach"}, {"line"}]),
        ("Dual lead pacemaker.", [{"pacemaker"}]),
        ("The tube is unchanged.", [{"airway", "stomach", "chest"}]),
        ("Sternal wires are intact.", [{"sternal wires"}]),
        ("Possible stent.", [{"stent"}]),
        ("No pacemaker. The PICC has been removed.", []),
    ],
)
def test_kinds_follow_from_the_words(text: str, kinds: list[set[str]]) -> None:
    assert [set(one) for one in read_devices(text).stated] == kinds


@pytest.mark.parametrize(
    ("prediction", "reference", "value"),
    [
        ("Pacemaker.", "The lungs are clear.", 1),
        ("Pacemaker.", "Stable cardiac defibrillator.", 0),
        ("Right PICC.", "Central venous catheter.", 0),
        ("Right PICC.", "Endotracheal tube.", 1),
        ("A tube is in place.", "Endotracheal tube.", 0),
        ("Support devices are unchanged.", "Endotracheal tube.", 0),
        ("Sternal wires.", "Status post CABG.", 0),
        ("Sternal wires.", "The PICC has been removed.", 1),
        ("No pacemaker.", "The lungs are clear.", 0),
        ("The lungs are clear.", "Pacemaker.", 0),
        ("Pacemaker.", ["Clear.", "Pacemaker."], 0),
        ("", "Pacemaker.", 1),
    ],
)
def test_a_kind_that_no_reference_knows_is_invented(prediction: str, reference: str | list[str], value: float) -> None:
    assert invented(prediction, reference) == value
