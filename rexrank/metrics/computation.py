"""Score texts with any set of score keys."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rexrank.errors import shown
from rexrank.metrics import policy as policies
from rexrank.metrics.inputs import InvalidCall, check_choice, check_names, check_texts
from rexrank.metrics.outcome import Floats, Formula, Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import Metric, ScoreKey, metric_of, score_keys
from rexrank.metrics.signature import signature
from rexrank.reports.studies import is_blank
from rexrank.terms import CONVENTIONS, Convention


@dataclass(frozen=True)
class KeyScores:
    """The result for one score key.

    Attributes:
        key: Score key.
        values: One value a study in the order of the call, float64 [n]; nan = undefined.
        aggregate: Mean of the defined values, or the corpus value; None where nothing is defined.
        counts: ``n``, ``n_empty`` (blank predictions), ``n_truncated``, ``n_undefined`` and further ones.
        signature: The line that pins how the numbers came about.
        reasons: Why a value is undefined, by position.
        statistics: Additive sufficient statistics of a corpus score, float64 [n, k], nan rows where undefined; None
            for means.
        formula: Takes sums of statistics, [b, k], to corpus values, [b]; None for means.
    """

    key: str
    values: Floats
    aggregate: float | None
    counts: dict[str, int]
    signature: str
    reasons: Mapping[int, str] = field(default_factory=dict)
    statistics: Floats | None = None
    formula: Formula | None = None


def compute(
    keys: str | Iterable[str],
    predictions: Sequence[str],
    references: Sequence[str | Sequence[str]],
    convention: Convention = "published",
    preparation: str | None = None,
    **options: Any,
) -> dict[str, KeyScores]:
    """Score predictions against references.

    Args:
        keys: Score keys (``rexrank.metrics.score_keys()`` lists them), or one.
        predictions: One text a study.
        references: One text, or a list of texts, a study.
        convention: ``published`` gives what the original prints; ``corrected`` what a careful user would call right.
        preparation: Name of what was done to the texts before (``findings-ref``); stands in the signature.
        **options: Options of the metrics, and ``on_empty_reference`` and ``on_empty_prediction`` (``undefined``,
            ``worst`` or ``error``). None means the default.

    Returns:
        For each key, in the order asked, the scores aligned with `predictions`.

    Raises:
        InvalidCall: Unknown key, option or convention, or texts of a wrong type or number; never quotes a text.
    """
    wanted = check_names("keys", keys)
    check_choice("convention", convention, CONVENTIONS)
    by_metric = _group(wanted)
    _check_options(by_metric.values(), options)
    policy = policies.read_policy(convention, options)
    checked_predictions, checked_references = check_texts(predictions, references)
    if convention == "corrected":
        checked_references = [_visible(texts) for texts in checked_references]
    pairs = Pairs(checked_predictions, checked_references)
    policies.refuse_blanks(policy, pairs)

    scores: dict[str, KeyScores] = {}
    for name, metric in by_metric.items():
        own = [key for key in wanted if metric_of(key).name == name]
        outcomes = metric.compute(pairs, own, convention, _own_options(metric, options))
        for key in own:
            scores[key] = _scores(score_keys()[key], metric, outcomes[key], pairs, policy, preparation)
    return {key: scores[key] for key in wanted}


def _group(keys: Sequence[str]) -> dict[str, Metric]:
    if not keys:
        raise InvalidCall("keys: name at least one score key")
    found = [metric_of(key) for key in keys]
    return {metric.name: metric for metric in found}


def _check_options(metrics: Iterable[Metric], options: Mapping[str, Any]) -> None:
    known = {*policies.OPTIONS, *(name for metric in metrics for name in metric.options)}
    for name in options:
        if name not in known:
            raise InvalidCall(f"unknown option {shown(name)}; these metrics take {', '.join(sorted(known))}")


def _own_options(metric: Metric, options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in metric.options and value is not None}


def _visible(texts: tuple[str, ...]) -> tuple[str, ...]:
    # A blank reference among others says nothing; counting its length would only disturb the penalty for brevity.
    return tuple(text for text in texts if not is_blank(text)) or texts[:1] if len(texts) > 1 else texts


def _scores(
    score_key: ScoreKey,
    metric: Metric,
    outcome: Outcome,
    pairs: Pairs,
    policy: policies.Policy,
    preparation: str | None,
) -> KeyScores:
    judged = policies.judge(outcome, score_key, pairs, policy)
    several = {"refs": "several"} if any(len(texts) > 1 for texts in pairs.references) else {}
    parts = {**outcome.signature, **several, **policy.signature}
    return KeyScores(
        key=score_key.key,
        values=judged.values,
        aggregate=_aggregate(judged, outcome.formula),
        counts=judged.counts,
        signature=signature(score_key.key, policy.convention, parts, preparation, metric.version),
        reasons=judged.reasons,
        statistics=judged.statistics,
        formula=outcome.formula,
    )


def _aggregate(judged: policies.Judged, formula: Formula | None) -> float | None:
    defined = ~np.isnan(judged.values)
    if not defined.any():
        return None
    if judged.statistics is None or formula is None:
        return float(judged.values[defined].mean())
    value = float(formula(judged.statistics[defined].sum(axis=0, keepdims=True))[0])
    return None if np.isnan(value) else value
