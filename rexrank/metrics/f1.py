"""F1, precision and recall of the 14 CheXpert labels, from arrays of labels whoever made them.

A label array is [n, 14]: a row a report, columns in the order of
`rexrank.labels.NAMES`, codes 0 blank, 1 positive, 2 negative, 3 uncertain. Positive
counts as present, blank and negative as absent; `uncertain` says what uncertain is:
``positive`` (F1-CheXbert), ``negative`` (clinical efficacy), or ``ignore``, which leaves
the label out for a study where either side is uncertain. With tp, fp and fn of a label

    precision = tp / (tp + fp)    recall = tp / (tp + fn)    F1 = 2 tp / (2 tp + fp + fn)

and over the 14 labels, or the five of the CheXpert competition,

- ``micro``: of the sums of tp, fp and fn over the labels;
- ``macro``: mean over the labels; ``macro_supported`` over those with a positive reference;
- ``weighted``: mean over the labels weighted by their positive references; where there are
  none, the plain mean;
- ``samples``: mean over studies of the value of each study over its labels.

`published` is scikit-learn's classification report: what is 0/0 is `zero_division`: 0 as in
F1-CheXbert and R2Gen, or 1 as in rad-metric, and stays in every mean, so perfect predictions
of a set in which 4 of 14 labels occur score a macro F1 of 4/14. In `corrected` what is 0/0
is undefined and left out of every mean; where nothing is left the score is None.

Sources: f1chexbert 0.0.2 (github.com/Stanford-AIMI/f1chexbert); Smit et al., EMNLP 2020;
clinical efficacy: Chen et al., EMNLP 2020, github.com/cuhksz-nlp/R2Gen (compute_ce.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rexrank.errors import shown
from rexrank.labels import BLANK, NAMES, NEGATIVE, POSITIVE, UNCERTAIN
from rexrank.metrics.inputs import InvalidCall, check_choice
from rexrank.metrics.outcome import Flags, Floats
from rexrank.terms import CONVENTIONS, Convention

Codes = NDArray[np.int8]
Measure = Literal["precision", "recall", "f1"]
Average = Literal["micro", "macro", "macro_supported", "weighted", "samples"]
Uncertain = Literal["positive", "negative", "ignore"]
AVERAGES: tuple[Average, ...] = get_args(Average)
UNCERTAIN_AS: tuple[Uncertain, ...] = get_args(Uncertain)
TOP_5 = ("Cardiomegaly", "Edema", "Consolidation", "Atelectasis", "Pleural Effusion")
ALL_COLUMNS = tuple(range(len(NAMES)))
TOP_5_COLUMNS = tuple(NAMES.index(name) for name in TOP_5)

_CODES = "0 (blank), 1 (positive), 2 (negative) or 3 (uncertain)"


@dataclass(frozen=True)
class Marks:
    """Which labels both sides call present.

    Attributes:
        predicted: Present in the prediction, bool [n, labels].
        referred: Present in the reference, bool [n, labels].
    """

    predicted: Flags
    referred: Flags

    def take(self, columns: Sequence[int]) -> "Marks":
        """The marks of some labels."""
        chosen = list(columns)
        return Marks(self.predicted[:, chosen], self.referred[:, chosen])

    def parts(self, measure: Measure) -> tuple[Floats, Floats]:
        """Numerator and denominator of a measure in each cell, which add up over studies and labels, [n, labels]."""
        matched = (self.predicted & self.referred).astype(np.float64)
        if measure == "precision":
            return matched, self.predicted.astype(np.float64)
        if measure == "recall":
            return matched, self.referred.astype(np.float64)
        return 2 * matched, self.predicted.astype(np.float64) + self.referred


def marks(prediction_labels: ArrayLike, reference_labels: ArrayLike, uncertain: Uncertain = "positive") -> Marks:
    """Map the codes of both sides to present and absent.

    Args:
        prediction_labels: Codes of the predictions, [n, 14].
        reference_labels: Codes of the references, [n, 14].
        uncertain: What uncertain counts as: ``positive``, ``negative``, or ``ignore``.

    Raises:
        InvalidCall: Arrays of another shape or type, unequal lengths, other codes, or no studies.
    """
    predicted = checked_codes("prediction_labels", prediction_labels)
    referred = checked_codes("reference_labels", reference_labels)
    if len(predicted) != len(referred):
        raise InvalidCall(
            f"prediction_labels has {len(predicted)} rows but reference_labels has {len(referred)}; give one a study"
        )
    if not len(predicted):
        raise InvalidCall("prediction_labels and reference_labels have no rows; give at least one study")
    check_choice("uncertain", uncertain, UNCERTAIN_AS, "one of ")
    present = [codes == POSITIVE for codes in (predicted, referred)]
    unsure = [codes == UNCERTAIN for codes in (predicted, referred)]
    if uncertain == "positive":
        return Marks(present[0] | unsure[0], present[1] | unsure[1])
    if uncertain == "negative":
        return Marks(*present)
    kept = ~(unsure[0] | unsure[1])
    return Marks(present[0] & kept, present[1] & kept)


def checked_codes(argument: str, labels: ArrayLike) -> Codes:
    """Return a label array as int8 [n, 14].

    Args:
        argument: Its name in the message.
        labels: What the caller gave.

    Raises:
        InvalidCall: Not whole numbers of that shape, or a code that is none of the four; names the first place.
    """
    try:
        codes = np.asarray(labels)
    except (TypeError, ValueError):
        raise InvalidCall(f"{argument}: expected an array [n, {len(NAMES)}], got rows of several lengths") from None
    if codes.dtype.kind == "f" and not codes.size:
        codes = codes.astype(np.int8)  # numpy takes an empty list for floats
    if codes.dtype.kind not in "iub":
        raise InvalidCall(
            f"{argument}: expected whole numbers {_CODES}, got an array of {codes.dtype}; "
            "rexrank.metrics.f1.from_chexpert reads the form of label files (1, 0, -1, empty)"
        )
    if codes.ndim != 2 or codes.shape[1] != len(NAMES):
        raise InvalidCall(f"{argument}: expected the shape [n, {len(NAMES)}], got {list(codes.shape)}")
    wrong = (codes < BLANK) | (codes > UNCERTAIN)
    if wrong.any():
        row, column = (int(place) for place in np.argwhere(wrong)[0])
        raise InvalidCall(
            f"{argument}[{row}, {column}]: expected {_CODES}, got {int(codes[row, column])} "
            f"({int(wrong.sum())} affected)"
        )
    return codes.astype(np.int8, copy=False)


@dataclass(frozen=True)
class Score:
    """One number from marks, in a form that gives bootstrap intervals too.

    Attributes:
        measure: ``precision``, ``recall`` or ``f1``.
        average: How labels and studies are put together.
        undefined: What 0/0 is worth; nan to leave it out.
    """

    measure: Measure
    average: Average
    undefined: float

    def statistics(self, marked: Marks) -> Floats:
        """Additive sufficient statistics of each study, [n, k]."""
        numerators, denominators = marked.parts(self.measure)
        if self.average == "micro":
            return np.stack([numerators.sum(axis=1), denominators.sum(axis=1)], axis=1)
        if self.average == "samples":
            values = self.per_study(marked)
            return np.stack([np.nan_to_num(values), ~np.isnan(values)], axis=1)
        if self.average == "macro":
            return np.concatenate([numerators, denominators], axis=1)
        return np.concatenate([numerators, denominators, marked.referred], axis=1)

    def formula(self, sums: Floats) -> Floats:
        """The score from sums of statistics, [b, k] to [b]; nan where it is undefined."""
        if self.average == "micro":
            return _ratio(sums[:, 0], sums[:, 1], self.undefined)
        if self.average == "samples":
            return _ratio(sums[:, 0], sums[:, 1], np.nan)
        values, weights = self._labels(sums)
        unweighted = _weighted_mean(values, np.ones_like(values))
        if self.average == "macro":
            return unweighted
        weighted = _weighted_mean(values, weights)
        return np.where(np.isnan(weighted), unweighted, weighted)

    def per_study(self, marked: Marks) -> Floats:
        """The measure of each study over its labels, [n]; nan where it is undefined."""
        numerators, denominators = marked.parts(self.measure)
        return _ratio(numerators.sum(axis=1), denominators.sum(axis=1), self.undefined)

    def number_of_labels(self, sums: Floats) -> int:
        """Number of labels that a mean over labels takes in, from sums [1, k]."""
        values, weights = self._labels(sums)
        return int((~np.isnan(values) & (weights > 0)).sum())

    def _labels(self, sums: Floats) -> tuple[Floats, Floats]:
        """Value and weight of each label, [b, labels]."""
        parts = np.split(sums, 2 if self.average == "macro" else 3, axis=1)
        values = _ratio(parts[0], parts[1], self.undefined)
        if self.average == "macro":
            return values, np.ones_like(values)
        return values, parts[2] if self.average == "weighted" else (parts[2] > 0).astype(np.float64)


def _ratio(numerators: Floats, denominators: Floats, undefined: float) -> Floats:
    found = np.full(denominators.shape, undefined)
    return np.divide(numerators, denominators, out=found, where=denominators > 0)


def _weighted_mean(values: Floats, weights: Floats) -> Floats:
    """Means of the rows without their nan; nan where no weight is left."""
    kept = np.where(np.isnan(values), 0.0, weights)
    return _ratio((np.nan_to_num(values) * kept).sum(axis=1), kept.sum(axis=1), np.nan)


def undefined_value(convention: Convention, zero_division: int | None = None) -> float:
    """What 0/0 is worth under a convention.

    Args:
        convention: ``published`` or ``corrected``.
        zero_division: 0 (default) or 1 in `published`; `corrected` has none.

    Raises:
        InvalidCall: Another value, or one in `corrected`.
    """
    check_choice("convention", convention, CONVENTIONS)
    if zero_division is None:
        return np.nan if convention == "corrected" else 0.0
    if not _is_number(zero_division) or zero_division not in (0, 1):
        raise InvalidCall(f"zero_division: expected 0 or 1, got {shown(zero_division)}")
    if convention == "corrected":
        raise InvalidCall("zero_division: the convention corrected leaves out what is 0/0; leave the option out too")
    return float(zero_division)


def columns_of(labels: int) -> tuple[int, ...]:
    """Columns of a set of labels: all for 14, those of the CheXpert competition for 5.

    Raises:
        InvalidCall: Another number.
    """
    if _is_number(labels) and labels == len(ALL_COLUMNS):
        return ALL_COLUMNS
    if _is_number(labels) and labels == len(TOP_5_COLUMNS):
        return TOP_5_COLUMNS
    raise InvalidCall(f"labels: expected 14 or 5, got {shown(labels)}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def f1(
    prediction_labels: ArrayLike,
    reference_labels: ArrayLike,
    average: Average,
    convention: Convention,
    uncertain: Uncertain = "positive",
    labels: int = 14,
    zero_division: int | None = None,
) -> float | None:
    """F1 of predicted labels against reference labels.

    Args:
        prediction_labels: Codes of the predictions, [n, 14]; 0 blank, 1 positive, 2 negative, 3 uncertain.
        reference_labels: Codes of the references, [n, 14].
        average: ``micro``, ``macro``, ``macro_supported``, ``weighted`` or ``samples``.
        convention: ``published`` (scikit-learn's numbers) or ``corrected`` (what is 0/0 is left out).
        uncertain: What uncertain counts as: ``positive``, ``negative``, or ``ignore`` (left out for that study).
        labels: 14, or 5 for those of the CheXpert competition.
        zero_division: What 0/0 is worth in `published`: 0 unless given, or 1.

    Returns:
        The score in [0, 1], or None where it is undefined.

    Raises:
        InvalidCall: Arrays or options that make no sense.
    """
    return _value("f1", prediction_labels, reference_labels, average, convention, uncertain, labels, zero_division)


def precision(
    prediction_labels: ArrayLike,
    reference_labels: ArrayLike,
    average: Average,
    convention: Convention,
    uncertain: Uncertain = "positive",
    labels: int = 14,
    zero_division: int | None = None,
) -> float | None:
    """Precision of predicted labels; arguments, result and errors as for :func:`f1`."""
    return _value(
        "precision", prediction_labels, reference_labels, average, convention, uncertain, labels, zero_division
    )


def recall(
    prediction_labels: ArrayLike,
    reference_labels: ArrayLike,
    average: Average,
    convention: Convention,
    uncertain: Uncertain = "positive",
    labels: int = 14,
    zero_division: int | None = None,
) -> float | None:
    """Recall of reference labels; arguments, result and errors as for :func:`f1`."""
    return _value("recall", prediction_labels, reference_labels, average, convention, uncertain, labels, zero_division)


def _value(
    measure: Measure,
    prediction_labels: ArrayLike,
    reference_labels: ArrayLike,
    average: Average,
    convention: Convention,
    uncertain: Uncertain,
    labels: int,
    zero_division: int | None,
) -> float | None:
    check_choice("average", average, AVERAGES, "one of ")
    score = Score(measure, average, undefined_value(convention, zero_division))
    marked = marks(prediction_labels, reference_labels, uncertain).take(columns_of(labels))
    return _defined(score.formula(score.statistics(marked).sum(axis=0, keepdims=True))[0])


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


class LabelScores(NamedTuple):
    """Scores of one label; None where 0/0 has no value.

    Attributes:
        name: The label, as in `rexrank.labels.NAMES`.
        precision: tp / (tp + fp).
        recall: tp / (tp + fn).
        f1: 2 tp / (2 tp + fp + fn).
        support: Number of references that have it.
        predicted: Number of predictions that have it.
    """

    name: str
    precision: float | None
    recall: float | None
    f1: float | None
    support: int
    predicted: int


def per_label(
    prediction_labels: ArrayLike,
    reference_labels: ArrayLike,
    convention: Convention,
    uncertain: Uncertain = "positive",
    zero_division: int | None = None,
) -> list[LabelScores]:
    """Scores and support of each of the 14 labels; arguments and errors as for :func:`f1`."""
    undefined = undefined_value(convention, zero_division)
    marked = marks(prediction_labels, reference_labels, uncertain)
    support, predicted = marked.referred.sum(axis=0), marked.predicted.sum(axis=0)
    columns = []
    for measure in get_args(Measure):
        numerators, denominators = (part.sum(axis=0) for part in marked.parts(measure))
        columns.append([_defined(value) for value in _ratio(numerators, denominators, undefined)])
    rows = zip(NAMES, *columns, map(int, support), map(int, predicted), strict=True)
    return [LabelScores(*row) for row in rows]


def per_study(
    prediction_labels: ArrayLike,
    reference_labels: ArrayLike,
    convention: Convention,
    uncertain: Uncertain = "positive",
    labels: int = 14,
    zero_division: int | None = None,
) -> Floats:
    """F1 of each study over its labels; arguments and errors as for :func:`f1`.

    Returns:
        float64 [n]; in `corrected` nan where neither side has a positive label.
    """
    score = Score("f1", "samples", undefined_value(convention, zero_division))
    return score.per_study(marks(prediction_labels, reference_labels, uncertain).take(columns_of(labels)))


def exact_match(
    prediction_labels: ArrayLike,
    reference_labels: ArrayLike,
    uncertain: Uncertain = "positive",
    labels: int = 5,
) -> Floats:
    """Whether all labels of a study agree: what F1-CheXbert calls accuracy, over its five labels.

    Args:
        prediction_labels: Codes of the predictions, [n, 14].
        reference_labels: Codes of the references, [n, 14].
        uncertain: What uncertain counts as.
        labels: 5 or 14.

    Returns:
        1 or 0 for each study, float64 [n]; the accuracy is its mean.

    Raises:
        InvalidCall: Arrays or options that make no sense.
    """
    marked = marks(prediction_labels, reference_labels, uncertain).take(columns_of(labels))
    return (marked.predicted == marked.referred).all(axis=1).astype(np.float64)


class ClinicalEfficacy(NamedTuple):
    """Clinical efficacy; None where undefined.

    Attributes:
        precision: In [0, 1].
        recall: In [0, 1].
        f1: In [0, 1]; with ``macro`` it never exceeds the mean of precision and recall.
    """

    precision: float | None
    recall: float | None
    f1: float | None


def clinical_efficacy(
    prediction_labels: ArrayLike,
    reference_labels: ArrayLike,
    convention: Convention,
    average: Literal["macro", "micro"] = "macro",
    uncertain: Uncertain = "negative",
) -> ClinicalEfficacy:
    """Clinical efficacy as R2Gen's script computes it: 14 labels, only positive counts as present.

    Args:
        prediction_labels: Codes of the predictions, [n, 14].
        reference_labels: Codes of the references, [n, 14].
        convention: In `published` what is 0/0 counts as 0; in `corrected` it is left out.
        average: ``macro``, as CXPMRG's tables have it, or ``micro``.
        uncertain: What uncertain counts as.

    Raises:
        InvalidCall: Arrays or options that make no sense.
    """
    check_choice("average", average, ("macro", "micro"))
    arguments = prediction_labels, reference_labels, average, convention, uncertain
    return ClinicalEfficacy(precision(*arguments), recall(*arguments), f1(*arguments))


def from_chexpert(columns: Mapping[str, Sequence[Any]]) -> Codes:
    """Label array from the columns of a label file as the CheXpert labeller and CheXbert write it.

    Args:
        columns: For each of the 14 labels, by name and in any order, one value a report: 1 positive, 0 negative,
            -1 uncertain, nan, None, an empty text or the missing value of pandas blank; numbers may be texts, as
            `csv` reads them. Further columns are ignored.

    Returns:
        Codes, int8 [n, 14].

    Raises:
        InvalidCall: Not columns by name, a label is missing, columns differ in length, or a value is none of these.
    """
    if not hasattr(columns, "keys"):  # a table of pandas has columns by name and is no Mapping
        raise InvalidCall(f"columns: expected the columns of a label file by name, got {type(columns).__name__}")
    if missing := [name for name in NAMES if name not in columns]:
        raise InvalidCall(f"columns: no label {' and no label '.join(missing)}; give all {len(NAMES)} by name")
    for name in NAMES:
        if not hasattr(columns[name], "__len__") or isinstance(columns[name], str | bytes):
            raise InvalidCall(f'columns["{name}"]: expected a list of values, got {type(columns[name]).__name__}')
    lengths = {name: len(columns[name]) for name in NAMES}
    if len(set(lengths.values())) > 1:
        raise InvalidCall(f"columns: expected one length, got {min(lengths.values())} to {max(lengths.values())}")
    return np.stack([_codes_of(name, columns[name]) for name in NAMES], axis=1)


def _codes_of(name: str, values: Sequence[Any]) -> Codes:
    known = {1: POSITIVE, 0: NEGATIVE, -1: UNCERTAIN}
    codes = np.zeros(len(values), dtype=np.int8)
    for row, value in enumerate(values):
        number = _number(value)
        if _is_missing(number):
            continue
        if not isinstance(number, int | float | np.number) or number not in known:
            raise InvalidCall(f'columns["{name}"][{row}]: expected 1, 0, -1 or nothing, got {shown(value)}')
        codes[row] = known[int(number)]
    return codes


def _number(value: Any) -> Any:
    """What a cell read from a text file says: a number, or None for an empty one; another value as it is."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return float(value)
    except ValueError:
        return value


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # the missing value of pandas, which answers no comparison
        return True
    except ValueError:  # an array
        return False
