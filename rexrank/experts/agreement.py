"""Metrics held against radiologists: the table of a metric paper, with its uncertainty."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rexrank.experts.judgements import Judgements, UnreadableJudgements
from rexrank.statistics.agreement import MEASURES, BetweenRaters, Comparison, Estimate, Measure, Resampling
from rexrank.terms import Direction

Floats = NDArray[np.float64]
Tell = Callable[[str], None]

CONFIDENCE, RESAMPLES, SEED = 0.95, 10_000, 0
NAMES: Mapping[Measure, str] = {
    "kendall": "Kendall's tau-b",
    "spearman": "Spearman's rho",
    "pearson": "Pearson's r",
    "preference": "preference accuracy",
}


@dataclass(frozen=True, eq=False)
class Scored:
    """What one metric says of every candidate.

    Attributes:
        values: One score a candidate, [n]; nan where undefined.
        direction: Whether the higher or the lower score is the better one.
        source: ``computed`` by rexrank, or ``given`` by a file.
        signature: Of a computed score.
    """

    values: Floats
    direction: Direction
    source: Literal["computed", "given"] = "computed"
    signature: str | None = None

    @property
    def quality(self) -> Floats:
        """The scores, turned so that higher is better."""
        return -self.values if self.direction == "lower" else self.values


@dataclass(frozen=True, eq=False)
class Agreement:
    """How well metrics agree with radiologists.

    Attributes:
        kind: Form of the judgements.
        source: Name of their file or folder.
        n_candidates: Candidates that were judged.
        n_studies: Studies that they describe.
        units: Number of what was drawn as a whole: studies, or groups of them such as patients.
        raters: Number of raters.
        against: Name of the measure.
        label: The measure in words.
        direction: Whether a higher or a lower number of it speaks for a report.
        scores: Name to what each metric said.
        comparisons: Coefficient to all metrics by it.
        between: Coefficient to the agreement of the raters; None where there are no two.
        notes: What a reader must know of the numbers, in sentences.
        unavailable: Metric to the sentence that says why it has no number.
        confidence: Of the intervals.
        resamples: Number of them.
        seed: Of the draws.
    """

    kind: str
    source: str
    n_candidates: int
    n_studies: int
    units: int
    raters: int
    against: str
    label: str
    direction: Direction
    scores: dict[str, Scored]
    comparisons: dict[Measure, Comparison]
    between: dict[Measure, BetweenRaters | None]
    notes: list[str] = field(default_factory=list)
    unavailable: dict[str, str] = field(default_factory=dict)
    confidence: float = CONFIDENCE
    resamples: int = RESAMPLES
    seed: int = SEED

    def to_json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps(…, allow_nan=False)``; no report, no judgement of a single candidate."""
        return {
            "kind": self.kind,
            "source": self.source,
            "candidates": self.n_candidates,
            "studies": self.n_studies,
            "units_drawn": self.units,
            "raters": self.raters,
            "against": {"name": self.against, "label": self.label, "better": self.direction},
            "interval": {
                "confidence": self.confidence,
                "method": "percentile bootstrap",
                "resamples": self.resamples,
                "seed": self.seed,
            },
            "signs": "everything is turned so that a positive value means agreement",
            "metrics": {
                name: {
                    "better": one.direction,
                    "turned": one.direction == "lower",
                    "source": one.source,
                    "signature": one.signature,
                    "undefined": int(np.isnan(one.values).sum()),
                }
                for name, one in self.scores.items()
            },
            "coefficients": {
                measure: {**_comparison(self.comparisons[measure]), "raters": _between(self.between[measure])}
                for measure in self.comparisons
            },
            "unavailable": self.unavailable,
            "notes": self.notes,
        }


def agree(
    judgements: Judgements,
    scores: Mapping[str, Scored],
    against: str | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    tell: Tell | None = None,
) -> Agreement:
    """Hold metrics against the mean of the radiologists that judged a candidate.

    Args:
        judgements: Of candidates, by radiologists.
        scores: Name of each metric to what it says of the candidates.
        against: Measure (``rating``, ``errors_significant``); None for the set's first one.
        resamples: Number of resamples of studies with all of their candidates.
        seed: Seed of the draws.
        tell: Is told each step that begins: there are twice as many as coefficients.

    Raises:
        UnreadableJudgements: The set has no such measure, or no candidate has a number of it.
        InvalidStatistics: Scores of another number of candidates, infinite ones, or options out of their range.
    """
    name, opinion = judgements.opinion(against)
    truth = opinion.mean_quality
    if np.isnan(truth).all():
        raise UnreadableJudgements(
            f"{judgements.source} has no candidate with a {opinion.label}"
            + "".join(f"; {note}" for note in judgements.notes)
        )
    studies = [one.study_id for one in judgements.candidates]
    groups = [one.group or one.study_id for one in judgements.candidates]
    resampling = Resampling(studies, groups, CONFIDENCE, resamples, seed)
    measures = MEASURES if len(set(studies)) < len(studies) else MEASURES[:-1]
    raters = dict(zip(judgements.raters, opinion.quality.T, strict=True))
    quality = {one: scored.quality for one, scored in scores.items()}
    say = tell or (lambda _: None)
    comparisons: dict[Measure, Comparison] = {}
    between: dict[Measure, BetweenRaters | None] = {}
    for measure in measures:
        say(f"metrics, {NAMES[measure]}")
        comparisons[measure] = resampling.compare(measure, quality, truth)
        say(f"radiologists, {NAMES[measure]}")
        between[measure] = resampling.between(measure, raters)
    return Agreement(
        judgements.kind,
        judgements.source,
        len(studies),
        len(set(studies)),
        resampling.units,
        len(raters),
        name,
        opinion.label,
        opinion.direction,
        dict(scores),
        comparisons,
        between,
        [*judgements.notes, *_notes(truth, opinion.values, measures)],
        resamples=resamples,
        seed=seed,
    )


def _notes(truth: Floats, values: Floats, measures: Sequence[Measure]) -> list[str]:
    notes = []
    if undefined := int(np.isnan(truth).sum()):
        notes.append(f"{undefined:,} of {len(truth):,} candidates have no number from radiologists and are left out")
    judged = (~np.isnan(values)).sum(axis=1)
    if judged.max() < values.shape[1]:
        notes.append("no candidate was judged by all radiologists, so their severity is part of the numbers")
    elif partly := int(((judged > 0) & (judged < values.shape[1])).sum()):
        notes.append(f"{partly:,} candidates were judged by some radiologists only; their mean is of these")
    if "preference" not in measures:
        notes.append("every study has one candidate, so there is no preference between two")
    return notes


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "metrics": {name: _estimate(one) for name, one in comparison.estimates.items()},
        "differences": [
            {
                "better": one.better,
                "worse": one.worse,
                "difference": one.difference,
                "interval": list(one.interval),
                "p": one.p,
                "p_holm": one.p_holm,
            }
            for one in comparison.differences
        ],
        "cannot_be_told_apart": [group for group in comparison.groups if len(group) > 1],
    }


def _between(between: BetweenRaters | None) -> dict[str, Any] | None:
    if between is None:
        return None
    others = between.mean_against_others
    return {
        "mean_of_pairs": _estimate(between.mean),
        "mean_with_the_others": _estimate(others) if others else None,
        "pairs": [{"raters": list(pair), **_estimate(one)} for pair, one in between.pairs.items()],
        "with_the_others": {name: _estimate(one) for name, one in between.against_others.items()},
    }


def _estimate(one: Estimate) -> dict[str, Any]:
    told: dict[str, Any] = {"value": one.value, "interval": list(one.interval) if one.interval else None, "n": one.n}
    if one.undefined_draws:
        told["undefined_draws"] = one.undefined_draws
    if one.ties:
        told["ties"] = dict(one.ties)
    return told
