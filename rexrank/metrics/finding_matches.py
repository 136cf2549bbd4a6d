"""Precision, recall and F1 over findings, and actionable misses, from a judge's matches of findings.

A judge lists the findings of the prediction and of the reference, and says which of them the other report
supports: finding by finding (``entailed``, as RadFact does), or by pairs of findings (``matches``, as RadMatch
does), of which one with a ``major`` error credits neither of its two. docs/findings.md shows the form. A finding is
a hit where it is entailed, or where at least one of its matches has no major error.

With the hits and the number of findings of either side, a study has precision P (of the predicted findings) and
recall R (of the reference's). As RadFact: ``findings_precision`` and ``findings_recall`` are means of studies,
each over those that have findings on its side, and ``findings_f1`` is 2PR/(P + R) of these two means.

As RadMatch, over the findings of a tier of significance: ``all`` of them, ``actionable`` (critical, urgent or
notable), ``triage`` (critical or urgent) or ``critical``, pooled over the studies: ``findings_precision_<tier>``,
``findings_recall_<tier>`` (of triage the safety recall) and ``findings_f1_<tier>``. Numbers a report, lower is better:
``findings_misses_<tier>``, findings of the reference that are no hits; ``findings_false_<tier>``, predicted findings
that match none, and findings of the reference beyond the tier that a predicted one of the tier contradicts; and
``findings_errors_<tier>``, both together (RadMatch's aER, tER and cER).

Without a finding on the side that a score is about a study is null, ``no_finding_listed``; where a finding has no
significance all tiers but ``all`` are null, ``no_significance``. A failed judge is null, ``failed``; a text that does
not have the form is null, ``unparsed``, and an object that does not is refused by the name of the field. Of
several references each has matches of its own, and the option `several` says what counts; the nearest is the one
with the best F1 over all findings, the same for every key.

- `published`: ``findings_f1`` is undefined where P and R are 0, as RadFact divides by 0 there; a blank prediction
  has no finding, so no precision.
- `corrected`: it is 0 there. A blank prediction scores 0 in the means of studies; in a tier it has no finding, so it
  misses those of the reference and adds nothing to precision. Every finding of identical texts is a hit.

Sources: Bannur et al., arXiv 2406.04449 (MAIRA-2), github.com/microsoft/RadFact; Corbière et al., "RadMatch", 2026,
github.com/raidium-med/RadMatch (0.3.0).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from rexrank.errors import shown
from rexrank.metrics import several
from rexrank.metrics.answers import Answers, read_answers, strict_json
from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.outcome import Floats, Formula, Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, ScoreKey
from rexrank.terms import Convention

Significance = Literal["critical", "urgent", "notable", "routine"]
SIGNIFICANCES: tuple[Significance, ...] = get_args(Significance)
TIERS: Mapping[str, tuple[Significance, ...]] = {
    "all": SIGNIFICANCES,
    "actionable": SIGNIFICANCES[:3],
    "triage": SIGNIFICANCES[:2],
    "critical": SIGNIFICANCES[:1],
}
ERRORS = ("none", "minor", "major")

_FEATURE = "finding_matches"
_NAME = "findings"
_NONE_LISTED, _NO_SIGNIFICANCE = "no_finding_listed", "no_significance"
_RATIOS = ("precision", "recall", "f1")
_NUMBERS = ("errors", "misses", "false")
# Columns of the counts of a study in a tier.
_REFERENCE_HITS, _REFERENCES, _PREDICTED_HITS, _PREDICTED, _FALSE = range(5)


@dataclass(frozen=True)
class Finding:
    """One finding of a report.

    Attributes:
        significance: What it means for the patient; None where the judge did not say.
        hit: Whether the other report supports it.
        matched: Whether it has a match, be it a wrong one.
        contradicting: Significances of the findings of the other side that match it, where every match is wrong.
    """

    significance: Significance | None
    hit: bool
    matched: bool
    contradicting: tuple[Significance | None, ...] = ()


@dataclass(frozen=True)
class Matches:
    """What a judge said of two reports.

    Attributes:
        reference: Findings of the reference.
        predicted: Findings of the prediction.
    """

    reference: tuple[Finding, ...]
    predicted: tuple[Finding, ...]

    @property
    def weighed(self) -> bool:
        """Whether every finding has a significance."""
        return all(one.significance is not None for one in (*self.reference, *self.predicted))

    def counts(self, tier: str) -> tuple[int, int, int, int, int]:
        """Hits and findings of the reference, hits and findings of the prediction, and false findings of a tier."""
        everyone, pool = tier == "all", TIERS[tier]
        referred = [one for one in self.reference if everyone or one.significance in pool]
        predicted = [one for one in self.predicted if everyone or one.significance in pool]
        beyond = [one for one in self.reference if not everyone and one.significance not in pool]
        contradicted = sum(any(one in pool for one in finding.contradicting) for finding in beyond)
        return (
            sum(one.hit for one in referred),
            len(referred),
            sum(one.hit for one in predicted),
            len(predicted),
            sum(not one.matched for one in predicted) + contradicted,
        )


def read_matches(answer: Any, where: str = "matches") -> Matches:
    """Read what a judge said of two reports.

    Args:
        answer: ``{"reference_findings": […], "predicted_findings": […], "matches": […]}``; a finding is ``{"id",
            "significance"}``, a match ``{"ref_id", "pred_id", "errors"}`` with errors ``none`` (also where the field is
            absent), ``minor`` or ``major``. Without ``matches`` each finding says itself whether it is ``entailed``.
            Further fields are not looked at.
        where: Its place, for messages.

    Raises:
        InvalidCall: Another form; names the field, and never quotes a text.
    """
    if not isinstance(answer, Mapping):
        raise InvalidCall(f"{where}: expected an object with reference_findings and predicted_findings")
    sides = [_findings(answer, f"{side}_findings", where) for side in ("reference", "predicted")]
    if "matches" not in answer:
        return Matches(*(tuple(_entailed(one, place) for place, one in side.values()) for side in sides))
    for side in sides:
        for place, one in side.values():
            if "entailed" in one:
                raise InvalidCall(f"{place}.entailed: the answer has matches too; give one of the two")
    return _matched(sides[0], sides[1], _list(answer, "matches", where), where)


_Side = dict[str | int, tuple[str, Mapping[str, Any]]]


def _list(answer: Mapping[str, Any], field: str, where: str) -> list[Any]:
    found = answer.get(field)
    if not isinstance(found, list | tuple):
        raise InvalidCall(f"{where}.{field}: expected a list, got {shown(found) if found is None else _kind(found)}")
    return list(found)


def _kind(value: object) -> str:
    return type(value).__name__


def _findings(answer: Mapping[str, Any], field: str, where: str) -> _Side:
    """The findings of a side by their id, each with its place."""
    found: _Side = {}
    for number, one in enumerate(_list(answer, field, where)):
        place = f"{where}.{field}[{number}]"
        if not isinstance(one, Mapping):
            raise InvalidCall(f"{place}: expected an object with an id, got {_kind(one)}")
        identifier = _identifier(one, "id", place)
        if identifier in found:
            raise InvalidCall(f"{place}.id: the id stands there twice; give each finding of a side one of its own")
        if one.get("significance") is not None and one["significance"] not in SIGNIFICANCES:
            raise InvalidCall(f"{place}.significance: expected {', '.join(SIGNIFICANCES)}, or nothing")
        found[identifier] = place, one
    return found


def _identifier(one: Mapping[str, Any], field: str, place: str) -> str | int:
    value = one.get(field)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidCall(f"{place}.{field}: expected a text or a whole number, got {_kind(value)}")
    return value


def _entailed(one: Mapping[str, Any], place: str) -> Finding:
    if not isinstance(one.get("entailed"), bool):
        raise InvalidCall(f"{place}.entailed: expected true or false, since the answer has no matches")
    return Finding(one.get("significance"), one["entailed"], matched=one["entailed"])


def _matched(reference: _Side, predicted: _Side, listed: Sequence[Any], where: str) -> Matches:
    of_reference: dict[str | int, list[tuple[str | int, bool]]] = {one: [] for one in reference}
    of_predicted: dict[str | int, list[tuple[str | int, bool]]] = {one: [] for one in predicted}
    for number, match in enumerate(listed):
        place = f"{where}.matches[{number}]"
        if not isinstance(match, Mapping):
            raise InvalidCall(f"{place}: expected an object with ref_id and pred_id, got {_kind(match)}")
        ends = [_identifier(match, field, place) for field in ("ref_id", "pred_id")]
        for end, field, side in zip(ends, ("ref_id", "pred_id"), (of_reference, of_predicted), strict=True):
            if end not in side:
                raise InvalidCall(f"{place}.{field}: no finding of that side has this id")
        errors = match.get("errors", "none")
        if errors not in ERRORS:
            raise InvalidCall(f"{place}.errors: expected {', '.join(ERRORS)}")
        of_reference[ends[0]].append((ends[1], errors != "major"))
        of_predicted[ends[1]].append((ends[0], errors != "major"))
    return Matches(_side(reference, of_reference, predicted), _side(predicted, of_predicted, reference))


def _side(
    findings: _Side, matches: Mapping[str | int, Sequence[tuple[str | int, bool]]], other: _Side
) -> tuple[Finding, ...]:
    found = []
    for identifier, (_, one) in findings.items():
        own = matches[identifier]
        hit = any(is_right for _, is_right in own)
        wrong = () if hit else tuple(other[end][1].get("significance") for end, _ in own)
        found.append(Finding(one.get("significance"), hit, bool(own), wrong))
    return tuple(found)


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    answers = read_answers(pairs, _FEATURE, (str, Mapping), _from_answer, np.ones(len(pairs), dtype=bool))
    return {key: _outcome(*_parts(key), pairs, answers, convention) for key in keys}


def _from_answer(answer: Any, prediction: str, where: str) -> Matches | None:
    """The matches; None where a text does not hold them."""
    if not isinstance(answer, str):
        return read_matches(answer, where)
    try:
        return read_matches(strict_json(answer), where)
    except InvalidCall:
        return None


def _parts(key: str) -> tuple[str, str | None]:
    """What a key measures, and its tier, where it has one."""
    measure, _, tier = key.removeprefix(f"{_NAME}_").partition("_")
    return measure, tier or None


def _outcome(
    measure: str, tier: str | None, pairs: Pairs, answers: Answers[Matches], convention: Convention
) -> Outcome:
    counts = _counts(pairs, answers, tier or "all", convention)
    values = _values(measure, counts)
    statistics, silent = _statistics(measure, tier, counts)
    seen = np.ones(len(pairs), dtype=bool)
    lost = dict.fromkeys(np.flatnonzero(np.isnan(values)).tolist(), _NONE_LISTED)
    unweighed = dict.fromkeys(np.flatnonzero(np.isnan(counts[:, 0])).tolist(), _NO_SIGNIFICANCE)
    return Outcome(
        values=values,
        signature={"agg": "mean" if statistics is None or tier is None else "corpus"},
        prediction_content=seen,
        reference_content=seen,
        statistics=statistics,
        silent=silent,
        nearness=_nearness(pairs, answers, convention),
        formula=None if statistics is None else _formula(measure, tier, convention),
        counts=answers.counts,
        reasons={**lost, **unweighed, **answers.reasons},
    )


def _nearness(pairs: Pairs, answers: Answers[Matches], convention: Convention) -> Floats:
    """F1 over all findings, [n]: of several references the same one is the nearest for every key.

    Two sides without any finding agree; nan without an answer.
    """
    counts = _counts(pairs, answers, "all", convention)
    return np.where(counts[:, _REFERENCES] + counts[:, _PREDICTED] == 0, 1.0, _values("f1", counts))


def _counts(pairs: Pairs, answers: Answers[Matches], tier: str, convention: Convention) -> Floats:
    """Counts of each study in a tier, float64 [n, 5]; nan without an answer, or without the significance it takes."""
    counts = np.full((len(pairs), 5), np.nan)
    for position, matches in enumerate(answers.readings):
        if matches is not None and (tier == "all" or matches.weighed):
            counts[position] = matches.counts(tier)
    if convention == "corrected":
        for column in (_REFERENCE_HITS, _PREDICTED_HITS, _PREDICTED, _FALSE):
            counts[pairs.blank_predictions, column] *= 0.0
        same = pairs.identical
        counts[same, _REFERENCE_HITS], counts[same, _PREDICTED_HITS] = (
            counts[same, _REFERENCES],
            counts[same, _PREDICTED],
        )
        counts[same, _FALSE] *= 0.0
    return counts


def _quotient(numerators: Floats, denominators: Floats) -> Floats:
    return np.divide(numerators, denominators, out=np.full(denominators.shape, np.nan), where=denominators > 0)


def _harmonic(precision: Floats, recall: Floats, nothing: float) -> Floats:
    """2PR / (P + R); `nothing` where both are 0, nan where one is undefined."""
    total = precision + recall
    found = np.where(np.isnan(total), np.nan, nothing)
    return np.divide(2 * precision * recall, total, out=found, where=total > 0)


def _values(measure: str, counts: Floats) -> Floats:
    """The value of each study, [n]."""
    reference_hits, references, predicted_hits, predicted, false = counts.T
    if measure == "f1":
        return _pooled_f1(counts)
    precision, recall = _quotient(predicted_hits, predicted), _quotient(reference_hits, references)
    misses = references - reference_hits
    return {"precision": precision, "recall": recall, "misses": misses, "false": false, "errors": misses + false}[
        measure
    ]


def _statistics(measure: str, tier: str | None, counts: Floats) -> tuple[Floats | None, Floats | None]:
    """Additive statistics of a corpus score, and those of a blank prediction where they are others; None for means."""
    if tier is not None:
        columns = {"precision": [2, 3], "recall": [0, 1], "f1": [0, 1, 2, 3]}.get(measure)
        return (None, None) if columns is None else (counts[:, columns], None)
    if measure != "f1":
        return None, None
    unknown = np.isnan(counts[:, 0])
    sides = [_quotient(counts[:, hits], counts[:, hits + 1]) for hits in (_PREDICTED_HITS, _REFERENCE_HITS)]
    rows = np.stack([column for side in sides for column in (np.nan_to_num(side), ~np.isnan(side))], axis=1)
    rows[unknown] = np.nan
    # Like its value, the precision of a blank prediction is 0.
    return rows, np.where(np.isnan(rows), np.nan, np.stack([0 * rows[:, 0], 0 * rows[:, 0] + 1, *rows.T[2:]], axis=1))


def _formula(measure: str, tier: str | None, convention: str) -> Formula:
    if measure != "f1":
        return lambda sums: _quotient(sums[:, 0], sums[:, 1])
    if tier is not None:
        return _pooled_f1
    return partial(_f1_of_means, nothing=np.nan if convention == "published" else 0.0)


def _f1_of_means(sums: Floats, nothing: float) -> Floats:
    """F1 of two means, [b], from their sums and numbers, [b, 4]; `nothing` where both are 0."""
    return _harmonic(_quotient(sums[:, 0], sums[:, 1]), _quotient(sums[:, 2], sums[:, 3]), nothing)


def _pooled_f1(sums: Floats) -> Floats:
    """F1 of hits and findings of either side, [b] of [b, 4]; 0 where one side has none, nan where neither has."""
    recall, precision = (np.nan_to_num(_quotient(sums[:, at], sums[:, at + 1])) for at in (0, 2))
    return np.where(sums[:, 1] + sums[:, 3] > 0, _harmonic(precision, recall, 0.0), np.nan)


def _formula_of(key: str, parts: Mapping[str, str]) -> Formula | None:
    measure, tier = _parts(key)
    has_sums = measure == "f1" or (tier is not None and measure in _RATIOS)
    return _formula(measure, tier, parts["conv"]) if has_sums else None


_WORDS = {
    "precision": "Share of predicted findings that the reference supports",
    "recall": "Share of findings of the reference that the prediction supports",
    "f1": "2PR / (P + R) of precision and recall",
    "errors": "Missed and false findings a report",
    "misses": "Findings of the reference that are missed or contradicted, a report",
    "false": "Predicted findings that the reference lacks or contradicts, a report",
}
_LABELS = {"precision": "Precision", "recall": "Recall", "f1": "F1", "errors": "Errors", "misses": "Misses"} | {
    "false": "False findings"
}


def _key(measure: str, tier: str | None) -> ScoreKey:
    ratio = measure in _RATIOS
    if tier is None:
        words = "of their means over the studies" if measure == "f1" else "of a study; mean of studies"
        description = f"{_WORDS[measure]}, {words}."
    else:
        description = f"{_WORDS[measure]}; {'pooled over the studies, ' if ratio else ''}tier {tier}."
    return ScoreKey(
        key=f"{_NAME}_{measure}" if tier is None else f"{_NAME}_{measure}_{tier}",
        label=f"Findings {_LABELS[measure]}" + ("" if tier is None else f", {tier}"),
        direction="higher" if ratio else "lower",
        ranges=UNIT_RANGES if ratio else {"published": (0.0, None), "corrected": (0.0, None)},
        kind="corpus" if ratio and (tier is not None or measure == "f1") else "mean",
        digits=3,
        modality=("any",),
        language=("any",),
        description=description,
        needs=(_FEATURE,),
        blank="worst" if tier is None else "formula",
        family="" if tier is None else f"{_NAME}_{measure}_<tier>",
    )


def _finding(identifier: str, significance: str) -> dict[str, str]:
    return {"id": identifier, "significance": significance}


_EXAMPLE: dict[str, Any] = {
    "reference_findings": [_finding("R1", "urgent"), _finding("R2", "routine")],
    "predicted_findings": [_finding("P1", "urgent")],
    "matches": [{"ref_id": "R1", "pred_id": "P1", "errors": "major"}],
}
_VERDICTS: dict[str, Any] = {
    "reference_findings": [{"id": "R1", "entailed": False}],
    "predicted_findings": [{"id": "P1", "entailed": False}],
}
_BLANK: dict[str, Any] = {**_EXAMPLE, "predicted_findings": [], "matches": []}

METRIC = Metric(
    name=_FEATURE,
    version="1",
    keys=(
        *(_key(measure, None) for measure in _RATIOS),
        *(_key(measure, tier) for measure in (*_RATIOS, *_NUMBERS) for tier in TIERS),
    ),
    compute=_compute,
    formula_of=_formula_of,
    source="Bannur et al., arXiv 2406.04449 and github.com/microsoft/RadFact; github.com/raidium-med/RadMatch",
    options=(several.OPTION,),
    examples=(
        Example(
            "Large right effusion.",
            "Left effusion. Normal heart.",
            {_FEATURE: [_EXAMPLE]},
            note="the judge matches the effusions with a major error and finds no match for the heart",
        ),
        Example("Nodule.", "Scar.", {_FEATURE: [_VERDICTS]}, note="the judge entails neither finding, and weighs none"),
        Example(
            "",
            "Left effusion. Normal heart.",
            {_FEATURE: [_BLANK]},
            note="the judge lists two findings, none predicted",
        ),
    ),
    faults=("RadFact fails with a division by 0 where precision and recall are 0.",),
)
