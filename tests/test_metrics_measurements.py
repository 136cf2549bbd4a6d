"""Measurement agreement: lengths in millimetres, their tolerance and their matches."""

import random
from itertools import permutations

import pytest

from rexrank.metrics import compute
from rexrank.metrics.measurements import read_measurements


def value(prediction: str, reference: str | list[str], convention: str = "published") -> float | None:
    return compute("measurements", [prediction], [reference], convention)["measurements"].aggregate


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("An 8 mm nodule.", [(8, 8)]),
        ("An 8mm nodule, a 4-mm one.", [(8, 8), (4, 4)]),
        ("A 1.2 x 0.9 cm mass.", [(12, 12), (9, 9)]),
        ("A 4.6 cm x 3.7 cm mass.", [(46, 46), (37, 37)]),
        ("A 3 mm by 1 cm density.", [(3, 3), (10, 10)]),
        ("2-3 cm above the carina.", [(20, 30)]),
        ("2 to 3 cm above the carina.", [(20, 30)]),
        ("The tip is three centimeters above.", [(30, 30)]),
        (".5 cm nodule.", [(5, 5)]),
        ("5\u20136 mm, then 5 \u2212 6 mm.", [(5, 6), (5, 6)]),
        ("\u00bd cm, 1\u00bd cm and 1/2 cm.", []),
        ("An 8 \n mm nodule of\t1.2  x\n0.9\u00a0cm.", [(8, 8), (12, 12), (9, 9)]),
        ("T8-9, 12/3, XXXX mm, subcentimeter, 5 mmHg, no unit 7.", []),
        ("", []),
    ],
)
def test_what_is_measured(text: str, lengths: list[tuple[float, float]]) -> None:
    found = [(one.low, one.high) for one in read_measurements(text)]
    assert found == [pytest.approx(length) for length in lengths]


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("8 mm nodule.", "0.8 cm nodule.", 1),
        ("8 mm nodule.", "9 mm nodule.", 1),
        ("8 mm nodule.", "10 mm nodule.", 0),
        ("4.5 cm mass.", "4.9 cm mass.", 1),
        ("4.5 cm mass.", "5.1 cm mass.", 0),
        ("Tube tip 2-3 cm above the carina.", "Tube tip 3.2 cm above the carina.", 1),
        ("8 mm nodule.", "8 mm effusion.", 0),
        ("It measures 8 mm.", "8 mm effusion.", 1),
        ("8 mm nodule.", "8 mm nodule. Another measures 3 mm.", 2 / 3),
        ("8 mm nodule. 8 mm nodule.", "8 mm nodule.", 2 / 3),
        ("A nodule.", "8 mm nodule.", 0),
        ("8 mm nodule.", "A nodule.", 0),
        ("A nodule.", "A mass.", None),
    ],
)
def test_f1_within_the_tolerance(prediction: str, reference: str, expected: float | None) -> None:
    assert value(prediction, reference) == (None if expected is None else pytest.approx(expected))


def test_as_many_as_possible_are_matched() -> None:
    # 9 mm fits both, 8 mm fits 9 alone: taking the first that fits would leave one without.
    assert value("9 mm. 10 mm.", "10 mm. 8 mm.") == 1


def test_a_long_list_of_equal_lengths_is_matched_too() -> None:
    # One path a pair goes through all pairs before; a function that calls itself for each of them has no end.
    assert value("5 mm. " * 1500, "5 mm. " * 1500) == 1
    assert value("5 mm. " * 1200, "5 mm. " * 400) == pytest.approx(0.5)


def test_as_many_are_matched_as_by_trying_all() -> None:
    generator = random.Random(0)
    for _ in range(60):
        ours, theirs = ([generator.randint(4, 9) for _ in range(4)] for _ in range(2))
        most = max(sum(abs(a - b) <= 1 for a, b in zip(ours, order, strict=True)) for order in permutations(theirs))
        texts = (" ".join(f"It measures {length} mm." for length in lengths) for lengths in (ours, theirs))
        assert value(*texts) == pytest.approx(most / 4)


def test_the_best_reference_counts() -> None:
    assert value("8 mm nodule.", ["A nodule.", "8 mm nodule. 3 mm nodule.", "8 mm nodule, stable."]) == 1
    assert value("A nodule.", ["A mass.", "8 mm mass."]) == 0


def test_nothing_measured_has_a_reason() -> None:
    scores = compute("measurements", ["Nodule.", "", "Mass."], ["Mass.", "Mass.", "Mass."])["measurements"]
    assert scores.reasons == {0: "no_measurement", 2: "no_measurement"}
    assert scores.aggregate == 0
    assert "|tol:1mm-or-0.1|" in scores.signature
    assert value("Mass.", "Mass.", "corrected") == 1
