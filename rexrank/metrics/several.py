"""What becomes of several references of a study where a metric compares with one. No metric.

Each reference is compared as if it were the only one, and a rule (option `several`) makes one value of them:
``best`` takes the reference to which the prediction comes nearest, the first of equal ones, and in a corpus score
that reference alone takes part; ``mean`` takes the mean over the references, and in a corpus score each counts as a
part of the study. Metrics whose own form takes several references do not have the option.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast, get_args

import numpy as np

from rexrank.metrics.inputs import check_choice
from rexrank.metrics.outcome import Floats, Outcome
from rexrank.metrics.pairs import Integers, Pairs
from rexrank.metrics.policy import Judged, without_content
from rexrank.metrics.registry import Metric, Option, ScoreKey
from rexrank.terms import Convention

Rule = Literal["best", "mean"]
OPTION = Option(
    "several",
    "best or mean",
    "best",
    "How the scores against several references of a study make one: that of the nearest reference, or their mean.",
)
DEFAULT: Mapping[Convention, Rule] = {"published": "best", "corrected": "best"}
# An undefined value that says that both sides agree on nothing, and not that they cannot be compared.
_AGREED = ("no_content", "no_finding_listed", "no_positive_label")
_AGREE = np.finfo(np.float64).max  # nearer than any value, but for the same text


def read_rule(metric: Metric, convention: Convention, options: Mapping[str, Any]) -> Rule | None:
    """The rule that holds for a metric; None where it has its own form for several references.

    Raises:
        InvalidCall: The option is none of the rules.
    """
    if OPTION.name not in metric.option_names:
        return None
    given = options.get(OPTION.name)
    return DEFAULT[convention] if given is None else cast(Rule, check_choice(OPTION.name, given, get_args(Rule)))


def fold(
    judged: Judged, outcome: Outcome, pairs: Pairs, each: Pairs, rule: Rule, key: ScoreKey, convention: Convention
) -> Judged:
    """Make one value a study of the values of its references.

    Args:
        judged: Scores of each reference.
        outcome: What the metric computed of them.
        pairs: The studies, n of them.
        each: Their references one by one (`Pairs.by_reference`).
        rule: How they make one.
        key: What is scored.
        convention: Of the scores.
    """
    first = pairs.first_references
    if rule == "best":
        chosen = _best(_nearness(judged, outcome, each, key, convention), first)
        values = judged.values[chosen]
        statistics = None if judged.statistics is None else judged.statistics[chosen]
    else:
        chosen = first[:-1]
        values = means(judged.values[:, None], first)[:, 0]
        statistics = None if judged.statistics is None else means(judged.statistics, first)
    reasons = {
        position: judged.reasons[int(chosen[position])] for position in np.flatnonzero(np.isnan(values)).tolist()
    }
    return Judged(values, statistics, _counts(judged, outcome, pairs, each, values), reasons)


def _nearness(judged: Judged, outcome: Outcome, each: Pairs, key: ScoreKey, convention: Convention) -> Floats:
    """How near each reference is to its prediction, the higher the nearer; -inf where that is not known."""
    if outcome.nearness is not None:
        near = outcome.nearness.copy()
    else:
        near = -judged.values if _lower_is_better(key, convention) else judged.values.copy()
    for position, reason in judged.reasons.items():
        if reason not in _AGREED:
            near[position] = -np.inf
        elif outcome.nearness is None:
            near[position] = _AGREE
    if convention == "corrected":
        near[each.identical] = np.inf
    return np.where(np.isnan(near), -np.inf, near)


def _lower_is_better(key: ScoreKey, convention: Convention) -> bool:
    """Of the values of studies, whose direction is another than the score's where that turns their mean round."""
    best, worst = key.best(convention), key.worst(convention)
    if key.of_mean is not None and best is not None and worst is not None:
        return best < worst
    return key.direction == "lower"


def _best(near: Floats, first: Integers) -> Integers:
    starts, ends = first[:-1].tolist(), first[1:].tolist()
    return np.array([start + int(np.argmax(near[start:end])) for start, end in zip(starts, ends, strict=True)])


def means(rows: Floats, first: Integers) -> Floats:
    """Means of the defined rows of each study, [n, k] of [references, k]; nan where there is none."""
    lost = np.isnan(rows.sum(axis=1, keepdims=True))
    sums = np.add.reduceat(np.where(lost, 0.0, rows), first[:-1], axis=0)
    number = np.add.reduceat((~lost).astype(np.float64), first[:-1], axis=0)
    return np.divide(sums, number, out=np.full(sums.shape, np.nan), where=number > 0)


def _counts(judged: Judged, outcome: Outcome, pairs: Pairs, each: Pairs, values: Floats) -> dict[str, int]:
    """Counts of studies; what a metric counted of its own accord stays a number of comparisons."""
    silent = np.add.reduceat(without_content(outcome, each).astype(np.int64), pairs.first_references[:-1]) > 0
    of_studies = {
        "n": len(pairs),
        "n_empty": int(pairs.blank_predictions.sum()),
        "n_empty_reference": int(pairs.blank_references.sum()),
        "n_identical": int(pairs.identical.sum()),
        "n_no_content": int(silent.sum()),
        "n_undefined": int(np.isnan(values).sum()),
    }
    if "n_unsupported_language" in judged.counts:
        of_studies["n_unsupported_language"] = int((pairs.foreign_predictions | pairs.foreign_references).sum())
    return {**judged.counts, **of_studies}
