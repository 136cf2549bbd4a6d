"""SRR-BERT: precision, recall and F1 of the labels that a classifier finds in both reports.

The labels of a report are the union of those of its sentences (StanfordAIMI/SRR-BERT-*), of which
the classifier reads 512 tokens (option `max_length`; the cards of the models say 128, and which of the two made
published numbers is not known). The option `model` says which labels: 163 findings with their status, or others. Over
all studies, with tp, fp and fn of a label and its support s = tp + fn,

    precision = tp / (tp + fp)    recall = tp / (tp + fn)    F1 = 2 tp / (2 tp + fp + fn)

0 where 0/0, and a score is the mean over labels weighted by s. The value of one study is
the same for all three: the number of labels that both sides have, divided by the number that at
least one side has. Range [0, 1].

- `published`: scikit-learn's weighted averages with zero_division 0, so 0 where no reference
  has a label. A study adds 1e-8 to each denominator, and is 1 where neither side has a label.
- `corrected`: exact counts. A study where neither side has a label is null, ``no_content``; the
  set is null where no label stands anywhere. A blank report has no labels, and scores 0.

A failed encoder is null, ``failed``. Of several references the option `several` says what counts.
Source: Delbrouck et al., ACL 2025 (structured radiology reports); github.com/jbdel/RadEval.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rexrank.errors import shown
from rexrank.metrics import several
from rexrank.metrics.encoded import FAILED
from rexrank.metrics.features import TextFeatures
from rexrank.metrics.inputs import InvalidCall, check_choice
from rexrank.metrics.outcome import Flags, Floats, Formula, Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, Option, ScoreKey
from rexrank.terms import Convention

Measure = Literal["precision", "recall", "f1"]

_FEATURE = "srrbert_labels"
_MEASURES: Mapping[str, Measure] = {
    "srrbert_precision": "precision",
    "srrbert_recall": "recall",
    "srrbert_f1": "f1",
}
_MODELS = ("leaves", "upper", "leaves_with_statuses", "upper_with_statuses")
_DEFAULT_MODEL, _DEFAULT_LENGTH = "leaves_with_statuses", 512
# A token between two special ones, and all positions of BERT.
_SHORTEST, _LONGEST = 3, 512
_EPSILON = 1e-8
# SRR-BERT has 163; so many studies times so many labels fit into memory.
_MOST_LABELS = 1000


def per_study(predicted: Flags, referred: Flags, measure: Measure, convention: Convention) -> Floats:
    """Value of each study on its own.

    Args:
        predicted: Labels of the predictions, bool [n, labels].
        referred: Labels of the references, bool [n, labels].
        measure: Which of the three; they differ in `published` alone, by less than 1e-8.
        convention: ``published`` or ``corrected``.

    Returns:
        Values in [0, 1], [n]; where neither side has a label 1 in `published`, nan in `corrected`.
    """
    both = (predicted & referred).sum(axis=1)
    either = (predicted | referred).sum(axis=1)
    # A label on both sides has 1 / (1 + epsilon), F1 2 / (2 + epsilon); on one side 0.
    most = 1.0
    if convention == "published":
        most = 2 / (2 + _EPSILON) if measure == "f1" else 1 / (1 + _EPSILON)
    silent = 1.0 if convention == "published" else np.nan
    return np.divide(most * both, either, out=np.full(len(both), silent), where=either > 0)


def statistics(predicted: Flags, referred: Flags) -> Floats:
    """Additive sufficient statistics of the weighted scores.

    Args:
        predicted: Labels of the predictions, bool [n, labels].
        referred: Labels of the references, bool [n, labels].

    Returns:
        Numbers of predicted labels, [n, 1], then for the labels that any reference has (the others weigh nothing)
        matched, predicted and reference labels, [n, 1 + 3 · supported labels].
    """
    supported = referred.any(axis=0)
    counted = [(predicted & referred)[:, supported], predicted[:, supported], referred[:, supported]]
    return np.concatenate([predicted.sum(axis=1, keepdims=True), *counted], axis=1).astype(np.float64)


def weighted(sums: Floats, measure: Measure, convention: Convention) -> Floats:
    """A weighted score from sums of statistics.

    Args:
        sums: Sums of `statistics`, [b, k].
        measure: Which score.
        convention: ``published`` or ``corrected``.

    Returns:
        Scores in [0, 1], [b]; where no reference has a label 0, in `corrected` nan if no prediction has one either.
    """
    matched, predicted, referred = np.split(sums[:, 1:], 3, axis=1)
    if measure == "f1":
        numerators, denominators = 2 * matched, predicted + referred
    else:
        numerators, denominators = matched, predicted if measure == "precision" else referred
    values = np.divide(numerators, denominators, out=np.zeros_like(matched), where=denominators > 0)
    support = referred.sum(axis=1)
    nothing = np.zeros(len(sums))
    if convention == "corrected":
        nothing[sums[:, 0] == 0] = np.nan
    return np.divide((values * referred).sum(axis=1), support, out=nothing, where=support > 0)


def _read(item: Any, where: str) -> frozenset[str]:
    if isinstance(item, str | bytes | Mapping):
        raise InvalidCall(f"{where}: expected a collection of label names, got {type(item).__name__}")
    try:
        names = list(item)
    except TypeError:
        raise InvalidCall(f"{where}: expected a collection of label names, got {type(item).__name__}") from None
    for name in names:
        if not isinstance(name, str):
            raise InvalidCall(f"{where}: expected label names, got a value of type {type(name).__name__}")
    return frozenset(map(str, names))


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    encoder = _encoder_parts(options)
    features = pairs.text_features(_FEATURE)
    sides = [
        _labels(features.predictions, "predictions[{}]"),
        _labels([items[0] for items in features.references], "references[{}][0]"),
    ]
    read = np.array([one is not None and other is not None for one, other in zip(*sides, strict=True)])
    predicted, referred = _marks(sides)
    if convention == "corrected":
        predicted[pairs.identical] = referred[pairs.identical]
    # A failed encoder found nothing, but that is not for want of content.
    content = [side.any(axis=1) | ~read for side in (predicted, referred)]
    signature = encoder | {"avg": "weighted", "zero": "0" if convention == "published" else "null", "w": "unverified"}
    rows, silent = statistics(predicted, referred), statistics(np.zeros_like(predicted), referred)
    outcomes: dict[str, Outcome] = {}
    for key in keys:
        measure = _MEASURES[key]
        values = per_study(predicted, referred, measure, convention)
        outcomes[key] = Outcome(
            values=np.where(read, values, np.nan),
            signature=signature,
            prediction_content=content[0],
            reference_content=content[1],
            statistics=rows,
            silent=silent,
            nearness=np.where(np.isnan(values), 1.0, values),
            formula=partial(weighted, measure=measure, convention=convention),
            reasons=dict.fromkeys(np.flatnonzero(~read).tolist(), FAILED),
        )
    return outcomes


def _formula_of(key: str, parts: Mapping[str, str]) -> Formula:
    convention: Convention = "published" if parts["conv"] == "published" else "corrected"
    return partial(weighted, measure=_MEASURES[key], convention=convention)


def _encoder_parts(options: Mapping[str, Any]) -> dict[str, str]:
    """What the signature says of the encoder.

    Raises:
        InvalidCall: No encoder has these options.
    """
    model = check_choice("model", options.get("model", _DEFAULT_MODEL), _MODELS, "one of ")
    length = options.get("max_length", _DEFAULT_LENGTH)
    if not isinstance(length, int) or isinstance(length, bool) or not _SHORTEST <= length <= _LONGEST:
        raise InvalidCall(
            f"max_length: expected a whole number of tokens from {_SHORTEST} to {_LONGEST}, got {shown(length)}"
        )
    return {"enc": "srr-bert", "model": model, "max": str(length), "split": "builtin"}


def _labels(items: Sequence[Any], place: str) -> list[frozenset[str] | None]:
    """Label names of each text of a side; None where the encoder failed."""
    where = f"features[{_FEATURE!r}].{place}"
    return [None if item is None else _read(item, where.format(position)) for position, item in enumerate(items)]


def _marks(sides: Sequence[Sequence[frozenset[str] | None]]) -> NDArray[np.bool_]:
    """Which labels, in the order of their names, the texts of both sides have, [2, n, labels]."""
    names = sorted({name for side in sides for labels in side for name in labels or ()})
    if len(names) > _MOST_LABELS:
        raise InvalidCall(
            f"features[{_FEATURE!r}]: got {len(names):,} different label names, and no classifier has more than "
            f"{_MOST_LABELS:,}; give the names of its labels, not texts"
        )
    columns = {name: column for column, name in enumerate(names)}
    marks = np.zeros((2, len(sides[0]), len(names)), dtype=bool)
    for number, side in enumerate(sides):
        for row, labels in enumerate(side):
            marks[number, row, [columns[name] for name in labels or ()]] = True
    return marks


def _key(key: str, label: str, quotient: str) -> ScoreKey:
    return ScoreKey(
        key=key,
        label=label,
        direction="higher",
        ranges=UNIT_RANGES,
        kind="corpus",
        digits=3,
        modality=("CXR",),
        language=("en",),
        description=f"{quotient} of each label; mean over the labels, weighted by how many references have them.",
        needs=(_FEATURE,),
    )


def _example(prediction: set[str], reference: set[str]) -> Mapping[str, Any]:
    return {_FEATURE: TextFeatures([prediction], [[reference]])}


METRIC = Metric(
    name="srrbert",
    version="1",
    keys=(
        _key("srrbert_precision", "SRR-BERT precision", "Precision, tp / (tp + fp),"),
        _key("srrbert_recall", "SRR-BERT recall", "Recall, tp / (tp + fn),"),
        _key("srrbert_f1", "SRR-BERT F1", "F1, 2 tp / (2 tp + fp + fn),"),
    ),
    compute=_compute,
    formula_of=_formula_of,
    source="Delbrouck et al., ACL 2025; github.com/jbdel/RadEval",
    options=(
        Option(
            "model",
            ", ".join(_MODELS[:-1]) + f" or {_MODELS[-1]}",
            _DEFAULT_MODEL,
            "Which classifier: findings in detail or in groups, as such or as present, uncertain and absent.",
        ),
        Option(
            "max_length",
            f"a whole number from {_SHORTEST} to {_LONGEST}",
            str(_DEFAULT_LENGTH),
            "Tokens of a sentence that are read.",
        ),
        several.OPTION,
    ),
    encoder_options=("model", "max_length"),
    english_only=True,
    examples=(
        Example("Effusion.", "Pleural effusion.", _example({"effusion"}, {"effusion"}), note="the same label in both"),
        Example("Seen.", "Unchanged.", _example(set(), set()), note="no label in either"),
    ),
    faults=(
        "RadEval makes a sentence of a full stop from a blank report and classifies it.",
        "RadEval asks for the labels with statuses of the upper level at a repository that does not exist.",
        "RadEval gives 1 to a study in which neither side has a label, and 0 to a set of such studies.",
    ),
)
