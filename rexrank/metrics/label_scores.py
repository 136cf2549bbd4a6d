"""Score keys on CheXpert labels, the same for every labeller: what `f1labels` and `f1chexbert` share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

import numpy as np

from rexrank.labels import NAMES
from rexrank.metrics import several
from rexrank.metrics.encoded import FAILED
from rexrank.metrics.f1 import (
    AVERAGES,
    UNCERTAIN_AS,
    Average,
    Codes,
    Marks,
    Measure,
    Score,
    Uncertain,
    columns_of,
    marks,
    undefined_value,
)
from rexrank.metrics.inputs import check_choice
from rexrank.metrics.outcome import Flags, Floats, Formula, Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, FormulaOf, Option, ScoreKey
from rexrank.terms import Convention

_SETS = (14, 5)
_AVERAGED: Mapping[Average, str] = {
    "micro": "F1 of all labels together",
    "macro": "Mean of the F1 of the labels",
    "macro_supported": "Mean of the F1 of the labels that a reference has",
    "weighted": "Mean of the F1 of the labels, weighted by how many references have them",
    "samples": "Mean of the F1 of the studies",
}
_SET_WORDS = {14: "14 CheXpert labels", 5: "five labels of the CheXpert competition"}
_NO_LABEL = "no_positive_label"
# Of several references the same one is the nearest for every label; two sides without any label agree.
_NEARNESS = Score("f1", "samples", 1.0)

OPTIONS = (
    Option(
        "uncertain",
        "positive, negative or ignore",
        "positive",
        "What an uncertain label counts as; `ignore` leaves it out for that study.",
    ),
    Option(
        "zero_division",
        "0 or 1",
        "0",
        "What 0/0 is worth; `published` alone, as `corrected` leaves it out.",
    ),
    several.OPTION,
)


@dataclass(frozen=True)
class LabelKey:
    """What a score key computes from label arrays.

    Attributes:
        measure: ``precision``, ``recall`` or ``f1``.
        average: How labels and studies are put together.
        columns: Labels it is about, by column.
        labels: Name of these labels in the signature.
        uncertain: What uncertain counts as unless the option says so.
    """

    measure: Measure
    average: Average
    columns: tuple[int, ...]
    labels: str
    uncertain: Uncertain = "positive"


def _suffixes() -> dict[str, LabelKey]:
    """What follows the metric's name in its keys: averages over both sets, then the labels one by one."""
    averaged = {
        f"{average}_{number}": LabelKey("f1", average, columns_of(number), str(number))
        for number in _SETS
        for average in AVERAGES
    }
    single = {name: LabelKey("f1", "micro", (column,), name) for column, name in enumerate(map(_snake, NAMES))}
    return averaged | single


def _snake(name: str) -> str:
    return name.lower().replace(" ", "_")


_SUFFIXES = _suffixes()
_EFFICACY = {
    f"ce_{measure}": LabelKey(measure, "macro", columns_of(14), "14", "negative") for measure in get_args(Measure)
}
_KINDS = _SUFFIXES | _EFFICACY


def keys_of(name: str, title: str, needs: tuple[str, ...] = ()) -> tuple[ScoreKey, ...]:
    """The score keys of a metric on labels, ``<name>_macro_14`` …, ``<name>_edema`` …

    Args:
        name: Name of the metric.
        title: Its name for readers.
        needs: Features that its labels come from.
    """
    averaged = [
        _key(
            f"{name}_{average}_{number}",
            f"{title} {average.replace('_', ' ')}-{number}",
            f"{words}; {_SET_WORDS[number]}.",
            needs,
        )
        for number in _SETS
        for average, words in _AVERAGED.items()
    ]
    single = [
        replace(
            _key(f"{name}_{_snake(label)}", f"{title} {label}", f"F1 of the label {label}.", needs),
            family=f"{name}_<label>",
        )
        for label in NAMES
    ]
    return (*averaged, *single)


def efficacy_keys(name: str = "", title: str = "", needs: tuple[str, ...] = ()) -> tuple[ScoreKey, ...]:
    """The keys of clinical efficacy, ``ce_precision``, ``ce_recall`` and ``ce_f1``.

    Args:
        name: What stands before each, for labels that are not CheXbert's: ``f1labels`` gives ``f1labels_ce_f1``.
        title: The same for readers.
        needs: Features that the labels come from.
    """
    words = "macro over the 14 CheXpert labels; only positive counts as present."
    return tuple(
        _key(f"{name}_ce_{measure}".lstrip("_"), f"{title} CE {shown}".lstrip(), f"{shown}, {words}", needs)
        for measure, shown in (("precision", "Precision"), ("recall", "Recall"), ("f1", "F1"))
    )


def _key(key: str, label: str, description: str, needs: tuple[str, ...]) -> ScoreKey:
    return ScoreKey(
        key=key,
        label=label,
        direction="higher",
        ranges=UNIT_RANGES,
        kind="corpus",
        digits=3,
        modality=("CXR",),
        language=("en",),
        description=description,
        needs=needs,
        blank="formula",
    )


def _read_key(name: str, key: str) -> LabelKey:
    return _KINDS[key.removeprefix(f"{name}_")]


@dataclass(frozen=True)
class Labelled:
    """Labels of the texts of a call.

    Attributes:
        predictions: Codes of the predictions, int8 [n, 14].
        references: Codes of the references, int8 [n, 14].
        lost_predictions: Whose prediction has none because its encoder failed, bool [n].
        lost_references: Whose reference has none because its encoder failed, bool [n].
    """

    predictions: Codes
    references: Codes
    lost_predictions: Flags
    lost_references: Flags

    @property
    def failed(self) -> Flags:
        """For which a side is lost, bool [n]."""
        return self.lost_predictions | self.lost_references

    def settled(self, pairs: Pairs) -> "Labelled":
        """The labels in `corrected`: none of a blank prediction, equal ones of identical texts."""
        labelled = self.without(pairs.blank_predictions)
        return replace(
            labelled,
            predictions=np.where(pairs.identical[:, None], self.references, labelled.predictions),
            lost_predictions=labelled.lost_predictions & ~pairs.identical,
            lost_references=self.lost_references & ~pairs.identical,
        )

    def without(self, predictions: Flags) -> "Labelled":
        """The same, but some predictions have no label."""
        return replace(
            self,
            predictions=np.where(predictions[:, None], np.int8(0), self.predictions),
            lost_predictions=self.lost_predictions & ~predictions,
        )


def outcomes(
    name: str,
    pairs: Pairs,
    labelled: Labelled,
    keys: Sequence[str],
    convention: Convention,
    options: Mapping[str, Any],
    signature: Mapping[str, str],
) -> dict[str, Outcome]:
    """Score labels for the keys asked.

    Args:
        name: Name of the metric.
        pairs: The texts.
        labelled: Their labels.
        keys: The metric's keys, or those of clinical efficacy.
        convention: ``published`` or ``corrected``.
        options: Those of the metric and of the policy.
        signature: Parts that say where the labels come from.

    Raises:
        InvalidCall: An option makes no sense.
    """
    undefined = undefined_value(convention, options.get("zero_division"))
    if "uncertain" in options:
        check_choice("uncertain", options["uncertain"], UNCERTAIN_AS, "one of ")
    language = options.get("on_unsupported_language") or ("undefined" if convention == "corrected" else "compute")
    if language == "undefined":
        labelled = labelled.without(pairs.foreign_predictions)
    if convention == "corrected":
        labelled = labelled.settled(pairs)
    marked: dict[Uncertain, Marks] = {}
    found: dict[str, Outcome] = {}
    for key in keys:
        read = _read_key(name, key)
        uncertain = options.get("uncertain", read.uncertain)
        if uncertain not in marked:
            marked[uncertain] = marks(labelled.predictions, labelled.references, uncertain)
        averaged = {"avg": read.average} if len(read.columns) > 1 else {}
        zero = "null" if np.isnan(undefined) else str(int(undefined))
        parts = {"labels": read.labels, **averaged, "uncertain": uncertain, "blank": "negative", "zero": zero}
        score = Score(read.measure, read.average, undefined)
        outcome = _outcome(score, marked[uncertain].take(read.columns), labelled, {**parts, **signature})
        found[key] = replace(outcome, nearness=_NEARNESS.per_study(marked[uncertain]))
    return found


def formula_of(name: str) -> FormulaOf:
    """How a metric on labels finds the formula of a score by its signature.

    Args:
        name: Name of the metric.
    """

    def formula(key: str, parts: Mapping[str, str]) -> Formula:
        read = _read_key(name, key)
        return Score(read.measure, read.average, np.nan if parts["zero"] == "null" else float(parts["zero"])).formula

    return formula


def _outcome(score: Score, marked: Marks, labelled: Labelled, signature: Mapping[str, str]) -> Outcome:
    values = np.where(labelled.failed, np.nan, score.per_study(marked))
    lost = np.flatnonzero(np.isnan(values)).tolist()
    single = marked.predicted.shape[1] == 1
    statistics = score.statistics(marked)
    if single:
        statistics = np.concatenate([statistics, marked.referred], axis=1)
    return Outcome(
        values=values,
        signature=signature,
        prediction_content=labelled.predictions.any(axis=1) | labelled.failed,
        reference_content=labelled.references.any(axis=1) | labelled.failed,
        statistics=statistics,
        formula=score.formula,
        reasons={position: FAILED if labelled.failed[position] else _NO_LABEL for position in lost},
        counts_of=_support if single else partial(_number_of_labels, score),
    )


def _support(sums: Floats) -> dict[str, int]:
    # The denominator of F1 is the number of predictions and of references that have the label.
    _, either, support = sums[0].tolist()
    # Of several references each may count as a part of its study.
    return {"n_support": round(support), "n_predicted": round(either - support)}


def _number_of_labels(score: Score, sums: Floats) -> dict[str, int]:
    return {} if score.average in ("micro", "samples") else {"n_labels": score.number_of_labels(sums)}
