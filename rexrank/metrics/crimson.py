"""CRIMSON: findings weighed by what they mean for the patient, matched by a language model.

The judge lists the abnormal findings of both reports, which of them match, which are false
or missing, and what is wrong with matched ones. A finding weighs w: 1 where it is urgent, .5
actionable_not_urgent, .25 not_actionable_not_urgent, 0 benign_expected, and .25 with any
other word. An error of a match weighs a: .5 where it is significant, 0 negligible, .25 with
any other word. With

    N       = sum of w over the reference's findings
    false   = sum of w over the false findings of the prediction
    correct = sum over distinct matched reference findings of w · w / (w + their sum of a)
    S       = (correct - false) / N

a study scores S where S >= 0, else -d / (1 + d) with d = false - correct. Without any
reference finding N is the number of matches plus the weight of what is missing; where N is 0
the score is 1 if nothing is false, else negative likewise. What is missing alone never makes
a score negative: 0 is worth as much as a report that says all is normal. The aggregate is the
mean of studies.

- `published` rounds each score to 4 decimals (so -1 can occur) and takes what the package takes:
  absent lists are empty, unknown ids weigh 0, of equal ids the last one's weight counts. Where the
  package fails, the answer is null, ``unparsed``. Texts are read with ``parser=tolerant``.
- `corrected` does not round. An answer is null, ``unparsed``, unless it has all four parts, each
  id stands once in its list, and matches and errors name ids that exist. Texts are read with
  ``parser=strict``.

`n_inconsistent` counts predicted findings that are neither matched nor false. Range (-1, 1].
A failed judge is null, ``failed``. A blank report scores 0 in `corrected`: it says nothing false.
Of several references each has an answer of its own, and the option `several` says what counts.
Source: Baharoon et al., arXiv 2603.06183; crimson-score 0.2.0, github.com/rajpurkarlab/CRIMSON.
"""

from collections import defaultdict
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rexrank.metrics import several
from rexrank.metrics.answers import (
    PARSERS,
    STRICT,
    TOLERANT,
    judged,
    needed_answers,
    read_answers,
    repaired_json,
    strict_json,
)
from rexrank.metrics.inputs import check_choice
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import Example, Metric, Option, ScoreKey
from rexrank.terms import CONVENTIONS, Convention

_FEATURE = "crimson_evaluation"
_SIGNIFICANCE = {"urgent": 1.0, "actionable_not_urgent": 0.5, "not_actionable_not_urgent": 0.25, "benign_expected": 0.0}
_SEVERITY = {"significant": 0.5, "negligible": 0.0}
_OTHER_WORD = 0.25
_PUBLISHED_DECIMALS = 4
_DEFAULT_PARSER: Mapping[Convention, str] = {"published": TOLERANT, "corrected": STRICT}


@dataclass(frozen=True)
class Evaluation:
    """What the judge found in one study.

    Attributes:
        total: N, the weight of the reference's findings.
        correct: Weight of what is right.
        false: Weight of what the prediction made up.
        missing: Weight of what it left out.
        score: In (-1, 1], not rounded.
        unplaced: Number of predicted findings that are neither matched nor false.
    """

    total: float
    correct: float
    false: float
    missing: float
    score: float
    unplaced: int


def from_evaluation(evaluation: object, convention: Convention, parser: str | None = None) -> float | None:
    """The score of one study from the judge's answer.

    Args:
        evaluation: The judge's JSON object, or the text that should hold it; None where the judge failed.
        convention: ``published`` rounds to 4 decimals and is as lenient as the package; ``corrected`` is strict.
        parser: How a text is read: ``strict`` or ``tolerant``; the convention's own unless given.

    Returns:
        The score in (-1, 1], or None where the answer cannot be read.

    Raises:
        InvalidCall: The convention or the parser does not exist.
    """
    found = evaluate(evaluation, convention, parser)
    if found is None:
        return None
    return round(found.score, _PUBLISHED_DECIMALS) if convention == "published" else found.score


def evaluate(evaluation: object, convention: Convention, parser: str | None = None) -> Evaluation | None:
    """The parts of a score; arguments and errors as for :func:`from_evaluation`."""
    check_choice("convention", convention, CONVENTIONS)
    reader = check_choice("parser", _DEFAULT_PARSER[convention] if parser is None else parser, PARSERS)
    if isinstance(evaluation, str):
        evaluation = strict_json(evaluation) if reader == STRICT else repaired_json(evaluation)
    if not isinstance(evaluation, Mapping):
        return None
    try:
        return _evaluation(_as_the_package_reads(evaluation) if convention == "published" else _checked(evaluation))
    except (AttributeError, KeyError, TypeError, ValueError):  # what Python says of a part of another form
        return None


@dataclass(frozen=True)
class _Parts:
    """The parts of an answer; identifiers as the judge wrote them."""

    reference: Sequence[tuple[Any, float]]
    predicted: Sequence[tuple[Any, float]]
    matches: Sequence[tuple[Any, Any]]
    false: Iterable[Any]
    missing: Iterable[Any]
    flaws: Sequence[tuple[Any, float]]


def _as_the_package_reads(answer: Mapping[str, Any]) -> _Parts:
    errors = answer.get("errors", {})
    return _Parts(
        reference=[_weighed(finding) for finding in answer.get("reference_findings", [])],
        predicted=[_weighed(finding) for finding in answer.get("predicted_findings", [])],
        matches=[(match["ref_id"], match.get("pred_id")) for match in answer.get("matched_findings", [])],
        false=errors.get("false_findings", []),
        missing=errors.get("missing_findings", []),
        flaws=[_flaw(flaw) for flaw in errors.get("attribute_errors", [])],
    )


def _weighed(finding: Mapping[str, Any]) -> tuple[Any, float]:
    return finding["id"], _SIGNIFICANCE.get(finding.get("clinical_significance", ""), _OTHER_WORD)


def _flaw(flaw: Mapping[str, Any]) -> tuple[Any, float]:
    if not isinstance(flaw.get("error_types", []), Container):  # the package looks into them
        raise TypeError("the types of an error are no list")
    return flaw["ref_id"], _SEVERITY.get(flaw.get("severity", ""), _OTHER_WORD)


def _checked(answer: Mapping[str, Any]) -> _Parts:
    """The parts of an answer in which everything fits; else an error that the caller takes for unreadable."""
    reference, predicted = (
        [_checked_finding(finding) for finding in _list(answer[part])]
        for part in ("reference_findings", "predicted_findings")
    )
    referred, guessed = (_distinct(identifier for identifier, _ in part) for part in (reference, predicted))
    errors = answer["errors"]
    flaws = _list(errors["attribute_errors"])
    parts = _Parts(
        reference=reference,
        predicted=predicted,
        matches=[(_id(match["ref_id"]), _id(match["pred_id"])) for match in _list(answer["matched_findings"])],
        false=_distinct(map(_id, _list(errors["false_findings"]))),
        missing=_distinct(map(_id, _list(errors["missing_findings"]))),
        flaws=[(_id(flaw["ref_id"]), _SEVERITY.get(_word(flaw["severity"]), _OTHER_WORD)) for flaw in flaws],
    )
    named_references = {*(first for first, _ in (*parts.matches, *parts.flaws)), *parts.missing}
    named_predictions = {*(second for _, second in parts.matches), *(_id(flaw["pred_id"]) for flaw in flaws)}
    if not named_references <= referred or not named_predictions | {*parts.false} <= guessed:
        raise ValueError("an id does not exist")
    return parts


def _checked_finding(finding: Mapping[str, Any]) -> tuple[str | int, float]:
    return _id(finding["id"]), _SIGNIFICANCE.get(_word(finding["clinical_significance"]), _OTHER_WORD)


def _list(value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise TypeError("a part is no list")
    return list(value)


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a word is no text")
    return value


def _id(value: object) -> str | int:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise TypeError("an id is neither text nor number")
    return value


def _distinct(identifiers: Iterable[str | int]) -> set[str | int]:
    listed = list(identifiers)
    if len(found := set(listed)) < len(listed):
        raise ValueError("an id stands twice")
    return found


def _evaluation(parts: _Parts) -> Evaluation:
    referred, guessed = dict(parts.reference), dict(parts.predicted)
    false_ids, missing_ids = list(parts.false), list(parts.missing)
    false = sum(guessed.get(identifier, 0.0) for identifier in false_ids)
    missing = sum(referred.get(identifier, 0.0) for identifier in missing_ids)
    flaws: defaultdict[Any, float] = defaultdict(float)
    for identifier, weight in parts.flaws:
        flaws[identifier] += weight
    matched = dict.fromkeys(identifier for identifier, _ in parts.matches)
    correct = sum(_credit(referred.get(identifier, 0.0), flaws[identifier]) for identifier in matched)
    total = sum(weight for _, weight in parts.reference) if parts.reference else len(parts.matches) + missing
    placed = {*(identifier for _, identifier in parts.matches if isinstance(identifier, Hashable)), *false_ids}
    return Evaluation(
        total=total,
        correct=correct,
        false=false,
        missing=missing,
        score=_score(total, correct, false, missing),
        unplaced=sum(identifier not in placed for identifier in guessed),
    )


def _credit(weight: float, flaws: float) -> float:
    """What a match is worth, given the sum of its flaws."""
    return weight * (weight / (weight + flaws)) if weight + flaws > 0 else 0.0


def _score(total: float, correct: float, false: float, missing: float) -> float:
    if total == 0:
        relative = 1.0 if false == 0 and missing == 0 else -(false + missing + 1)
    else:
        relative = (correct - false) / total
    if relative >= 0:
        return relative
    excess = false - correct
    return -excess / (1 + excess) if excess > 0 else 0.0


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    parser = check_choice("parser", options.get("parser", _DEFAULT_PARSER[convention]), PARSERS)
    needed = needed_answers(pairs, convention, options.get("on_unsupported_language") == "compute")
    answers = read_answers(
        pairs, _FEATURE, (str, Mapping), lambda answer, *_: evaluate(answer, convention, parser), needed
    )
    scores = [None if reading is None else reading.score for reading in answers.readings]
    if convention == "published":
        scores = [None if score is None else round(score, _PUBLISHED_DECIMALS) for score in scores]
    unplaced = sum(reading.unplaced for reading in answers.readings if reading is not None)
    return {"crimson": judged(scores, answers, {"parser": parser}, {"n_inconsistent": unplaced})}


def _finding(identifier: str, significance: str) -> dict[str, str]:
    return {"id": identifier, "finding": "", "clinical_significance": significance}


_FLAW: dict[str, Any] = {"ref_id": "R1", "pred_id": "P1", "severity": "significant", "error_types": ["location"]}
_ERRORS: dict[str, Any] = {"false_findings": ["P2"], "missing_findings": ["R2"], "attribute_errors": [_FLAW]}
_EXAMPLE: dict[str, Any] = {
    "reference_findings": [_finding("R1", "urgent"), _finding("R2", "not_actionable_not_urgent")],
    "predicted_findings": [_finding("P1", "urgent"), _finding("P2", "actionable_not_urgent")],
    "matched_findings": [{"ref_id": "R1", "pred_id": "P1"}],
    "errors": _ERRORS,
}
_UNKNOWN_ID = {**_EXAMPLE, "errors": {**_ERRORS, "false_findings": ["P3"]}}
_PREDICTION, _REFERENCE = "Left pneumothorax. Nodule.", "Right pneumothorax. Old scar."

METRIC = Metric(
    name="crimson",
    version="1",
    keys=(
        ScoreKey(
            key="crimson",
            label="CRIMSON",
            direction="higher",
            ranges={"published": (-1.0, 1.0), "corrected": (-1.0, 1.0)},
            kind="mean",
            digits=3,
            modality=("CXR",),
            language=("en",),
            description="Weighted findings that are right less those that are false; mean of studies.",
            needs=(_FEATURE,),
            blank={"published": 0.0, "corrected": 0.0},
        ),
    ),
    compute=_compute,
    source="Baharoon et al., arXiv 2603.06183; crimson-score 0.2.0, github.com/rajpurkarlab/CRIMSON",
    options=(
        Option(
            "parser",
            "strict or tolerant",
            "tolerant in `published`, strict in `corrected`",
            "Whether an answer given as text must be JSON, or is first repaired as in crimson-score, which takes away "
            "neither code fences nor words around the JSON: such an answer is `unparsed`.",
        ),
        several.OPTION,
    ),
    english_only=True,
    examples=(
        Example(
            _PREDICTION,
            _REFERENCE,
            {_FEATURE: [_EXAMPLE]},
            note="the answer matches the pneumothorax with a significant error of location, finds the nodule false and "
            "the scar missing",
        ),
        Example(
            _PREDICTION,
            _REFERENCE,
            {_FEATURE: [_UNKNOWN_ID]},
            note="the same, but the false finding has an id that no finding has",
        ),
    ),
    faults=(
        "The package's repair of keys without a value also removes the middle strings of every list, ids of false "
        "findings among them.",
        "The package fails for a match without the id of the reference's finding.",
        "RadEval's copy adds a repetition penalty to the judge: another metric.",
    ),
)
