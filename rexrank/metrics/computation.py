"""Score texts with any set of score keys."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rexrank.errors import shown
from rexrank.metrics import policy as policies
from rexrank.metrics import several
from rexrank.metrics.features import Features, of_kept_references, read_features, wanted_form
from rexrank.metrics.inputs import InvalidCall, Unavailable, check_choice, check_names, check_texts
from rexrank.metrics.outcome import Floats, Formula, Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import (
    Metric,
    ScoreKey,
    hint,
    keys_named,
    metric_of,
    metrics,
    needs_of,
    score_keys,
    why_unavailable,
)
from rexrank.metrics.signature import signature
from rexrank.reports.studies import is_blank
from rexrank.statistics.sample import mean
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
            for means and for scores of the kind ``set``.
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
    features: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, KeyScores]:
    """Score predictions against references.

    Args:
        keys: Score keys (``rexrank.metrics.score_keys()`` lists them) and names of metrics, which stand for all of
            their keys; or one of these.
        predictions: One text a study.
        references: One text, or a list of texts, a study.
        convention: ``published`` gives what the original prints; ``corrected`` what a careful user would call right.
        preparation: Name of what was done to the texts before (``findings-ref``); stands in the signature.
        features: What encoders and judges made of the texts, by the names of `rexrank.metrics.features.FEATURES`:
            ``{"predictions": […], "references": [[…], …]}`` or `TextFeatures` where they are of texts, a list with one
            item a study where they are of pairs. Only keys that need them look at them.
        **options: Options of the metrics, and those of the policy (``on_empty_reference``, ``on_empty_prediction``,
            ``on_unsupported_language``). None means the default.

    Returns:
        For each key, in the order asked, the scores aligned with `predictions`; where a metric is named, each key
        of it.

    Raises:
        InvalidCall: Unknown key, option or convention, or texts of a wrong type or number; never quotes a text.
        Unavailable: A key needs features that were not given, or a program that is not here.
    """
    wanted = _keys_of(check_names("keys", keys))
    check_choice("convention", convention, CONVENTIONS)
    by_metric = _group(wanted)
    _check_options(by_metric, options)
    policy = policies.read_policy(convention, options)
    checked_predictions, checked_references = check_texts(predictions, references)
    checked_features = read_features(features, [len(texts) for texts in checked_references])
    _refuse_unavailable(by_metric, wanted, checked_features, options)
    if convention == "corrected":
        kept = [_visible(texts) for texts in checked_references]
        checked_references = [
            tuple(texts[index] for index in indices) for texts, indices in zip(checked_references, kept, strict=True)
        ]
        checked_features = {name: of_kept_references(one, kept) for name, one in checked_features.items()}
    pairs = Pairs(checked_predictions, checked_references, checked_features)
    policies.refuse_blanks(policy, pairs)

    scores: dict[str, KeyScores] = {}
    for name, metric in by_metric.items():
        own = [key for key in wanted if metric_of(key).name == name]
        compared = _compared(metric, own, pairs, convention, options)
        outcomes = metric.compute(compared.each, own, convention, _own_options(metric, options))
        for key in own:
            outcome = _with_encoders(outcomes[key], [checked_features[need] for need in needs_of(key, options)])
            scores[key] = _scores(score_keys()[key], metric, outcome, compared, policy, preparation)
    return {key: scores[key] for key in wanted}


@dataclass(frozen=True)
class _Compared:
    """What a metric compares.

    Attributes:
        pairs: The studies.
        each: The same, or their references one by one.
        rule: How the references then make a study's value; None where the metric takes the studies as they are.
    """

    pairs: Pairs
    each: Pairs
    rule: several.Rule | None = None


def _compared(
    metric: Metric, keys: Sequence[str], pairs: Pairs, convention: Convention, options: Mapping[str, Any]
) -> _Compared:
    rule = several.read_rule(metric, convention, options)
    if rule is None or not pairs.has_several:
        return _Compared(pairs, pairs)
    needs = dict.fromkeys(need for key in keys for need in needs_of(key, options))
    return _Compared(pairs, pairs.by_reference(needs), rule)


def options_of(name: str) -> tuple[str, ...]:
    """Names of the options that a metric takes in `compute`, those of the policy included."""
    return (*metrics()[name].option_names, *policies.OPTION_NAMES)


def _keys_of(names: Sequence[str]) -> list[str]:
    if not names:
        raise InvalidCall("keys: name at least one score key or metric")
    wanted: dict[str, None] = {}
    for name in names:
        keys = keys_named(name)
        if keys is None:
            known = (*score_keys(), *metrics())
            raise InvalidCall(f"keys: there is no score key or metric {shown(name)}; {hint(name, known)}")
        wanted |= dict.fromkeys(keys)
    return list(wanted)


def _group(keys: Sequence[str]) -> dict[str, Metric]:
    found = [metric_of(key) for key in keys]
    return {metric.name: metric for metric in found}


def _check_options(names: Iterable[str], options: Mapping[str, Any]) -> None:
    known = {option for name in names for option in options_of(name)}
    for name in options:
        if name not in known:
            raise InvalidCall(f"unknown option {shown(name)}; these metrics take {', '.join(sorted(known))}")


def _own_options(metric: Metric, options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in options_of(metric.name) and value is not None}


def _refuse_unavailable(
    by_metric: Mapping[str, Metric],
    keys: Sequence[str],
    features: Mapping[str, Features],
    options: Mapping[str, Any],
) -> None:
    for key in keys:
        given = [name for name, value in options.items() if value is not None]
        lacks_options = not set(score_keys()[key].requires) <= set(given)
        absent = [name for name in needs_of(key, options) if name not in features]
        if lacks_options or absent:
            raise Unavailable(f"{why_unavailable(key, given)}{_or_features(absent)}")
    for metric in by_metric.values():
        if metric.missing and (reason := metric.missing()):
            raise Unavailable(reason)


def _or_features(absent: Sequence[str]) -> str:
    return f"; give {wanted_form(absent)}" if absent else ""


def _visible(texts: tuple[str, ...]) -> list[int]:
    """Numbers of the references that say something, or of the first where none does.

    A blank reference among others says nothing; counting its length would only disturb the penalty for brevity.
    """
    return [index for index, text in enumerate(texts) if not is_blank(text)] or [0]


def _with_encoders(outcome: Outcome, features: Sequence[Features]) -> Outcome:
    """Add what encoders say of themselves; where several differ in a part, each stands in the signature."""
    if not any(one.signature or one.counts for one in features):
        return outcome
    names = dict.fromkeys(name for one in features for name in one.signature)
    parts = {
        name: "+".join(dict.fromkeys(one.signature[name] for one in features if name in one.signature))
        for name in names
    }
    counted = dict.fromkeys(name for one in features for name in one.counts)
    # Encoders of one score read the same texts, so what each of them counts is not added up.
    counts = {name: max(one.counts.get(name, 0) for one in features) for name in counted}
    return replace(outcome, signature={**outcome.signature, **parts}, counts={**counts, **outcome.counts})


def _scores(
    score_key: ScoreKey,
    metric: Metric,
    outcome: Outcome,
    compared: _Compared,
    policy: policies.Policy,
    preparation: str | None,
) -> KeyScores:
    pairs, each, rule = compared.pairs, compared.each, compared.rule
    judged = policies.judge(outcome, score_key, each, policy, metric.english_only)
    if rule is not None:
        judged = several.fold(judged, outcome, pairs, each, rule, score_key, policy.convention)
    references = {"refs": rule or "several"} if pairs.has_several else {}
    parts = {**outcome.signature, **references, **policy.signature(score_key, metric.english_only)}
    formula = outcome.formula
    if score_key.of_mean is not None:
        judged, formula = _only_together(judged, score_key.of_mean)
    aggregate = _aggregate(judged, formula)
    if score_key.kind == "set":
        judged, aggregate = _without_values(judged), outcome.aggregate
    return KeyScores(
        key=score_key.key,
        values=judged.values,
        aggregate=aggregate,
        counts={**judged.counts, **_further_counts(judged, outcome)},
        signature=signature(score_key.key, policy.convention, parts, preparation, metric.version),
        reasons=judged.reasons,
        statistics=judged.statistics,
        formula=formula,
    )


def _further_counts(judged: policies.Judged, outcome: Outcome) -> Mapping[str, int]:
    if outcome.counts_of is None or judged.statistics is None:
        return {}
    return outcome.counts_of(np.nansum(judged.statistics, axis=0, keepdims=True))


def _only_together(judged: policies.Judged, of_mean: Formula) -> tuple[policies.Judged, Formula]:
    """Leave the studies without values of their own: only a function of their mean is a score."""
    statistics = np.stack([judged.values, np.where(np.isnan(judged.values), np.nan, 1.0)], axis=1)
    return replace(_without_values(judged), statistics=statistics), lambda sums: of_mean(mean(sums))


def _without_values(judged: policies.Judged) -> policies.Judged:
    reasons = {position: judged.reasons.get(position, "only_together") for position in range(len(judged.values))}
    return replace(judged, values=np.full(len(judged.values), np.nan), reasons=reasons)


def _aggregate(judged: policies.Judged, formula: Formula | None) -> float | None:
    measured = judged.values[:, None] if judged.statistics is None or formula is None else judged.statistics
    defined = ~np.isnan(measured).any(axis=1)
    if not defined.any():
        return None
    if judged.statistics is None or formula is None:
        return float(judged.values[defined].mean())
    value = float(formula(judged.statistics[defined].sum(axis=0, keepdims=True))[0])
    return None if np.isnan(value) else value
