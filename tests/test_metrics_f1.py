"""F1 of label arrays against the tables of the specification, scikit-learn's numbers and a count by hand."""

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rexrank.labels import NAMES
from rexrank.metrics import InvalidCall
from rexrank.metrics.f1 import (
    AVERAGES,
    Score,
    clinical_efficacy,
    exact_match,
    f1,
    from_chexpert,
    marks,
    per_label,
    per_study,
    precision,
    recall,
)
from rexrank.statistics.bootstrap import corpus_interval

TABLED = ("micro", "macro", "weighted", "samples")
REFERENCES = [{"Edema"}, {"Pleural Effusion", "Atelectasis"}, {"No Finding"}]
PREDICTIONS = [{"Edema"}, {"Pleural Effusion"}, {"Edema"}]


def labels_of(reports: list[set[str]], code: int = 1) -> np.ndarray:
    codes = np.zeros((len(reports), len(NAMES)), dtype=np.int8)
    for row, present in zip(codes, reports, strict=True):
        row[[NAMES.index(name) for name in present]] = code
    return codes


label_arrays = st.integers(1, 6).flatmap(
    lambda n: st.tuples(*[arrays(np.int8, (n, 14), elements=st.integers(0, 3), fill=st.just(0))] * 2)
)


@pytest.mark.parametrize(
    ("predictions", "labels", "convention", "expected"),
    [
        (REFERENCES, 14, "published", (1, 0.285714, 1, 1)),
        (REFERENCES, 14, "corrected", (1, 1, 1, 1)),
        (REFERENCES, 5, "published", (1, 0.6, 1, 0.666667)),
        (REFERENCES, 5, "corrected", (1, 1, 1, 1)),
        (PREDICTIONS, 14, "published", (0.571429, 0.119048, 0.416667, 0.555556)),
        (PREDICTIONS, 14, "corrected", (0.571429, 0.416667, 0.416667, 0.555556)),
        (PREDICTIONS, 5, "published", (0.666667, 0.333333, 0.555556, 0.555556)),
        (PREDICTIONS, 5, "corrected", (0.666667, 0.555556, 0.555556, 0.555556)),
    ],
)
def test_f1_gives_the_tabled_values(
    predictions: list[set[str]], labels: int, convention: str, expected: tuple[float, ...]
) -> None:
    found = [
        f1(labels_of(predictions), labels_of(REFERENCES), average, convention, labels=labels) for average in TABLED
    ]
    assert found == pytest.approx(expected, abs=5e-7)


# precision_recall_fscore_support of scikit-learn 1.9.1 on `patterned()`, by mapping of uncertain and zero_division.
SCIKIT_LEARN = {
    ("positive", 0): {
        "micro": (0.483870967742, 0.348837209302, 0.405405405405),
        "macro": (0.428571428571, 0.295238095238, 0.341496598639),
        "weighted": (0.538759689922, 0.348837209302, 0.413842746401),
        "samples": (0.276190476190, 0.266666666667, 0.248801742919),
    },
    ("positive", 1): {
        "micro": (0.483870967742, 0.348837209302, 0.405405405405),
        "macro": (0.571428571429, 0.438095238095, 0.412925170068),
        "weighted": (0.585271317829, 0.348837209302, 0.413842746401),
        "samples": (0.720634920635, 0.377777777778, 0.359912854031),
    },
    ("negative", 0): {
        "micro": (0.368421052632, 0.250000000000, 0.297872340426),
        "macro": (0.321428571429, 0.214285714286, 0.247619047619),
        "weighted": (0.392857142857, 0.250000000000, 0.294047619048),
        "samples": (0.146296296296, 0.132275132275, 0.137159137159),
    },
    ("negative", 1): {
        "micro": (0.368421052632, 0.250000000000, 0.297872340426),
        "macro": (0.464285714286, 0.357142857143, 0.319047619048),
        "weighted": (0.428571428571, 0.250000000000, 0.294047619048),
        "samples": (0.701851851852, 0.354497354497, 0.359381359381),
    },
}


def patterned() -> tuple[np.ndarray, np.ndarray]:
    """Nine studies in which a label lacks on either side, one on both, and one study has no label at all."""
    predicted, referred = (
        np.array([[codes[(row * 5 + column**2) % len(codes)] for column in range(14)] for row in range(9)])
        for codes in ([1, 0, 2, 3, 0, 0, 1, 0, 2], [0, 1, 1, 0, 3, 2, 0])
    )
    predicted[:, [2, 7]], referred[:, [2, 4]] = 0, 0
    predicted[3], referred[3] = 0, 0
    return predicted, referred


@pytest.mark.parametrize(("uncertain", "zero_division"), list(SCIKIT_LEARN))
def test_published_is_what_scikit_learn_prints(uncertain: str, zero_division: int) -> None:
    for average, expected in SCIKIT_LEARN[uncertain, zero_division].items():
        found = [
            measure(*patterned(), average, "published", uncertain, zero_division=zero_division)
            for measure in (precision, recall, f1)
        ]
        assert found == pytest.approx(expected, abs=1e-11)


def ratio(numerator: float, denominator: float, undefined: float | None) -> float | None:
    return numerator / denominator if denominator else undefined


def mean(values: list[float | None], weights: list[float] | None = None) -> float | None:
    pairs = [(v, w) for v, w in zip(values, weights or [1.0] * len(values), strict=True) if v is not None]
    total = sum(w for _, w in pairs)
    return sum(v * w for v, w in pairs) / total if total else None


def present(code: int, other: int, uncertain: str) -> bool:
    if uncertain == "ignore" and 3 in (code, other):
        return False
    return code == 1 or (code == 3 and uncertain == "positive")


def by_hand(
    measure: str, predicted: np.ndarray, referred: np.ndarray, average: str, undefined: float | None, uncertain: str
) -> float | None:
    """The definition, cell by cell."""

    def value(cells: list[tuple[int, int]]) -> float | None:
        tp = fp = fn = 0
        for one, other in cells:
            p, r = present(one, other, uncertain), present(other, one, uncertain)
            tp, fp, fn = tp + (p and r), fp + (p and not r), fn + (r and not p)
        if measure == "f1":
            return ratio(2 * tp, 2 * tp + fp + fn, undefined)
        return ratio(tp, tp + (fp if measure == "precision" else fn), undefined)

    rows = [
        list(zip(one, other, strict=True)) for one, other in zip(predicted.tolist(), referred.tolist(), strict=True)
    ]
    columns = list(map(list, zip(*rows, strict=True)))
    if average == "micro":
        return value([cell for row in rows for cell in row])
    if average == "samples":
        return mean([value(row) for row in rows])
    values = [value(column) for column in columns]
    support = [sum(present(other, one, uncertain) for one, other in column) for column in columns]
    if average == "macro" or not any(s for s, v in zip(support, values, strict=True) if v is not None):
        return mean(values)
    return mean(values, support if average == "weighted" else [float(s > 0) for s in support])


@settings(deadline=None, max_examples=150)
@given(
    label_arrays,
    st.sampled_from(AVERAGES),
    st.sampled_from(["positive", "negative", "ignore"]),
    st.sampled_from([("published", 0), ("published", 1), ("corrected", None)]),
)
def test_every_average_is_its_definition(
    labels: tuple[np.ndarray, np.ndarray], average: Any, uncertain: Any, rule: tuple[Any, int | None]
) -> None:
    for measure in (precision, recall, f1):
        found = measure(*labels, average, rule[0], uncertain, zero_division=rule[1])
        expected = by_hand(measure.__name__, *labels, average, rule[1], uncertain)
        assert (found is None) == (expected is None)
        assert found is None or (found == pytest.approx(expected, abs=1e-12) and 0 <= found <= 1)


@settings(deadline=None, max_examples=60)
@given(label_arrays, st.randoms(use_true_random=False))
def test_order_and_repetition_of_studies_change_nothing(labels: tuple[np.ndarray, np.ndarray], random: Any) -> None:
    order = list(range(len(labels[0])))
    random.shuffle(order)
    for average in AVERAGES:
        once = f1(*labels, average, "corrected")
        for rows in (order, order * 2):
            again = f1(labels[0][rows], labels[1][rows], average, "corrected")
            assert (again is None) == (once is None)
            assert again == pytest.approx(once, abs=1e-12)
    each = per_study(*labels, "corrected")
    alone = [per_study(labels[0][[row]], labels[1][[row]], "corrected")[0] for row in order]
    assert np.array_equal(each[order], alone, equal_nan=True)


def test_undefined_labels_are_left_out_and_each_label_says_its_support() -> None:
    arguments = labels_of(PREDICTIONS), labels_of(REFERENCES)
    rows = {row.name: row for row in per_label(*arguments, "corrected")}
    assert list(rows) == list(NAMES)
    assert rows["Edema"] == ("Edema", 0.5, 1.0, 2 / 3, 1, 2)
    assert rows["Atelectasis"] == ("Atelectasis", None, 0.0, 0.0, 1, 0)
    assert rows["Fracture"] == ("Fracture", None, None, None, 0, 0)
    published = {row.name: row for row in per_label(*arguments, "published")}
    assert published["Fracture"] == ("Fracture", 0.0, 0.0, 0.0, 0, 0)
    assert {row.f1 for row in per_label(*arguments, "published", zero_division=1)} == {2 / 3, 0, 1}


def test_a_label_without_reference_counts_in_macro_and_not_in_macro_supported() -> None:
    predicted, referred = labels_of([{"Edema", "Fracture"}]), labels_of([{"Edema"}])
    for convention, macro in (("published", 1 / 14), ("corrected", 0.5)):
        assert f1(predicted, referred, "macro", convention) == pytest.approx(macro)
        assert f1(predicted, referred, "macro_supported", convention) == 1
        assert f1(predicted, referred, "weighted", convention) == 1


@pytest.mark.parametrize("average", AVERAGES)
def test_nothing_positive_on_either_side_has_no_score(average: Any) -> None:
    nothing = np.tile([0, 2], (3, 7))
    assert f1(nothing, nothing, average, "corrected") is None
    assert f1(nothing, nothing, average, "published") == 0
    assert f1(nothing, nothing, average, "published", zero_division=1) == 1
    # Everything that is said is unsupported.
    assert f1(labels_of([{"Edema"}] * 3), nothing, average, "corrected") == 0
    assert f1(nothing, labels_of([{"Edema"}] * 3), average, "corrected") == 0


def test_what_uncertain_counts_as() -> None:
    predicted, referred = labels_of([{"Edema", "Fracture"}]), labels_of([{"Fracture"}])
    referred[0, NAMES.index("Edema")] = 3
    micro = {each: f1(predicted, referred, "micro", "corrected", each) for each in ("positive", "negative", "ignore")}
    assert micro == {"positive": 1, "negative": pytest.approx(2 / 3), "ignore": 1}
    assert f1(predicted, predicted * 3, "micro", "corrected", "ignore") is None


def test_a_study_is_worth_its_f1_over_the_labels() -> None:
    arguments = labels_of([{"Edema"}, {"Edema"}, set()]), labels_of([{"Edema", "Fracture"}, {"Fracture"}, set()])
    assert np.array_equal(per_study(*arguments, "corrected"), [2 / 3, 0, math.nan], equal_nan=True)
    assert per_study(*arguments, "published").tolist() == [2 / 3, 0, 0]
    assert np.array_equal(per_study(*arguments, "corrected", labels=5), [1, 0, math.nan], equal_nan=True)


def test_exact_match_is_the_accuracy_of_f1chexbert() -> None:
    arguments = labels_of([{"Edema", "Fracture"}, {"Edema"}]), labels_of([{"Edema"}, {"Edema", "Atelectasis"}])
    assert exact_match(*arguments).tolist() == [1, 0]
    assert exact_match(*arguments, labels=14).tolist() == [0, 0]


def test_clinical_efficacy_of_normal_reports_alone() -> None:
    normal = labels_of([{"No Finding"}] * 5)
    assert clinical_efficacy(normal, normal, "published") == pytest.approx((1 / 14, 1 / 14, 1 / 14))
    assert clinical_efficacy(normal, normal, "corrected") == (1, 1, 1)


def test_clinical_efficacy_takes_positive_alone_for_present() -> None:
    referred = labels_of([{"Edema"}, {"Fracture"}])
    predicted = labels_of([{"Edema"}, {"Fracture"}])
    predicted[1, NAMES.index("Edema")], predicted[0, NAMES.index("Fracture")] = 3, 3
    assert clinical_efficacy(predicted, referred, "corrected") == (1, 1, 1)
    assert clinical_efficacy(predicted, referred, "corrected", uncertain="positive") == (
        0.5,
        1,
        pytest.approx(2 / 3),
    )
    assert clinical_efficacy(predicted, referred, "published", "micro") == (1, 1, 1)
    assert clinical_efficacy(np.zeros((2, 14), int), np.zeros((2, 14), int), "corrected") == (None, None, None)


@settings(deadline=None, max_examples=60)
@given(label_arrays, st.sampled_from(["published", "corrected"]))
def test_macro_f1_of_clinical_efficacy_never_exceeds_the_mean_of_precision_and_recall(
    labels: tuple[np.ndarray, np.ndarray], convention: Any
) -> None:
    found = clinical_efficacy(*labels, convention)
    if None not in found:
        assert found.f1 <= (found.precision + found.recall) / 2 + 1e-12


def test_labels_of_files_are_read_by_name() -> None:
    columns: dict[str, list[Any]] = {name: [None, math.nan] for name in reversed(NAMES)}
    columns |= {"Edema": [1.0, -1], "Fracture": [0, np.float64(1)], "Reports": ["not", "looked at"]}
    codes = from_chexpert(columns)
    assert codes.dtype == np.int8
    assert codes[:, NAMES.index("Edema")].tolist() == [1, 3]
    assert codes[:, NAMES.index("Fracture")].tolist() == [2, 1]
    assert codes.sum() == 7


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"Edema": [2, 0]}, r'columns\["Edema"\]\[0\]: expected 1, 0, -1 or nothing, got 2'),
        ({"Edema": [0, "positive for edema"]}, r'columns\["Edema"\]\[1\]: .* a text of 18 characters'),
        ({"Edema": [[1], 0]}, r'columns\["Edema"\]\[0\]: .* a value of type list'),
        ({"Edema": [np.array([1, 0]), 0]}, r'columns\["Edema"\]\[0\]: .* a value of type ndarray'),
        ({"Edema": 3}, r'columns\["Edema"\]: expected a list of values, got int'),
        ({"Edema": "10"}, r'columns\["Edema"\]: expected a list of values, got str'),
        ({"Edema": [0]}, "expected one length, got 1 to 2"),
    ],
)
def test_label_files_that_make_no_sense(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidCall, match=message):
        from_chexpert({**{name: [0, 1] for name in NAMES}, **changed})


def test_a_table_of_pandas_is_read_too() -> None:
    table = pd.DataFrame({name: [1, None, 0] for name in NAMES}).astype("Int64")
    assert from_chexpert(table)[:, 0].tolist() == [1, 0, 2]


@pytest.mark.parametrize("columns", [None, 3, [[1] * 14], "Edema"])
def test_what_has_no_columns_is_refused(columns: Any) -> None:
    with pytest.raises(InvalidCall, match="columns: expected the columns of a label file by name, got"):
        from_chexpert(columns)


def test_a_label_file_without_a_label_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidCall, match="no label Edema and no label Fracture; give all 14 by name"):
        from_chexpert({name: [0] for name in NAMES if name not in ("Edema", "Fracture")})


GOOD = np.zeros((2, 14), dtype=int)
WRONG_CODE = np.where(np.arange(28).reshape(2, 14) == 18, -1, 0)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (WRONG_CODE, r"prediction_labels\[1, 4\]: expected 0 \(blank\), .*, got -1 \(1 affected\)"),
        (GOOD + 4, r"prediction_labels\[0, 0\]: .*, got 4 \(28 affected\)"),
        (GOOD[:, :13], r"prediction_labels: expected the shape \[n, 14\], got \[2, 13\]"),
        (GOOD[0], r"got \[14\]"),
        (GOOD[None], r"got \[1, 2, 14\]"),
        (GOOD[:1], "prediction_labels has 1 rows but reference_labels has 2"),
        (GOOD.astype(object), "an array of object; rexrank.metrics.f1.from_chexpert reads"),
        (GOOD.astype(float), "an array of float64"),
        (GOOD.astype(str), "expected whole numbers"),
        ([[0] * 14, [0] * 13], "rows of several lengths"),
        ("Mild edema.", "expected whole numbers"),
        (None, "expected whole numbers"),
        (GOOD.astype(complex), "expected whole numbers"),
    ],
)
def test_arrays_that_are_no_labels(labels: Any, message: str) -> None:
    with pytest.raises(InvalidCall, match=message):
        f1(labels, GOOD, "micro", "corrected")


def test_options_that_make_no_sense() -> None:
    good: dict[str, Any] = {"average": "micro", "convention": "published"}
    for wrong, message in (
        ({"average": "binary"}, "average: expected one of micro, macro, macro_supported, weighted, samples"),
        ({"convention": "parity"}, "convention: expected published or corrected"),
        ({"uncertain": "blank"}, "uncertain: expected one of positive, negative, ignore"),
        ({"labels": 13}, "labels: expected 14 or 5, got 13"),
        ({"labels": [14]}, "labels: expected 14 or 5"),
        ({"zero_division": 2}, "zero_division: expected 0 or 1, got 2"),
        ({"zero_division": True}, "zero_division: expected 0 or 1"),
        ({"zero_division": "warn"}, "zero_division: expected 0 or 1"),
        ({"zero_division": [0]}, "zero_division: expected 0 or 1"),
        ({"zero_division": np.array([0, 1])}, "zero_division: expected 0 or 1"),
        ({"labels": np.array([14, 5])}, "labels: expected 14 or 5"),
        ({"zero_division": 0, "convention": "corrected"}, "zero_division: the convention corrected leaves out"),
    ):
        with pytest.raises(InvalidCall, match=message):
            f1(GOOD, GOOD, **{**good, **wrong})
    with pytest.raises(InvalidCall, match="average: expected macro or micro"):
        clinical_efficacy(GOOD, GOOD, "published", "samples")
    for nothing in ([], np.zeros((0, 14), dtype=int)):
        with pytest.raises(InvalidCall, match=r"\[n, 14\]|no rows"):
            f1(nothing, nothing, "micro", "published")


def test_bits_and_lists_of_codes_are_labels_too() -> None:
    bits = labels_of(REFERENCES).astype(bool)
    assert f1(bits, bits.tolist(), "micro", "corrected") == 1
    assert f1(bits.astype(np.uint16), labels_of(REFERENCES).tolist(), "micro", "corrected") == 1


@pytest.mark.parametrize("average", AVERAGES)
def test_intervals_of_a_hundred_thousand_studies(average: Any) -> None:
    generator = np.random.default_rng(0)
    referred = (generator.random((100_000, 14)) < 0.1).astype(np.int8)
    predicted = np.where(generator.random((100_000, 14)) < 0.2, 0, referred)
    score = Score("f1", average, math.nan)
    statistics = score.statistics(marks(predicted, referred))
    assert statistics.nbytes < 50e6
    value = score.formula(statistics.sum(axis=0, keepdims=True))[0]
    low, high = corpus_interval(statistics, score.formula, resamples=20)
    assert low < value < high
    assert high - low < 0.01


def test_columns_of_a_csv_file_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    cells = {name: ["1.0", "", "-1.0", "0", " 0.0 "] for name in NAMES}
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["study_id", *NAMES])
        writer.writerows([number, *(cells[name][number] for name in NAMES)] for number in range(5))
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    codes = from_chexpert({name: [row[name] for row in rows] for name in NAMES})
    assert codes[:, 3].tolist() == [1, 0, 3, 2, 2]
    for wrong in ("yes", "2", "1e999", "nan nan"):
        with pytest.raises(InvalidCall, match=r'columns\["Edema"\]\[0\]: expected 1, 0, -1 or nothing, got'):
            from_chexpert({**{name: ["1"] for name in NAMES}, "Edema": [wrong]})
