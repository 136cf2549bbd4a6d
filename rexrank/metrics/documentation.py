"""The registry as pages for readers: ``docs/metrics.md`` is what `markdown` writes."""

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from rexrank.metrics.computation import KeyScores, compute
from rexrank.metrics.features import FEATURES
from rexrank.metrics.policy import OPTIONS as POLICY_OPTIONS
from rexrank.metrics.registry import Example, Metric, Option, ScoreKey, metrics
from rexrank.terms import CONVENTIONS, Convention

BETTER = {"higher": "higher", "lower": "lower", "none": "–"}
_OPTION_HEADS = ("option", "takes", "default", "what")
_LANGUAGE = "on_unsupported_language"
_DIGITS = 6


def markdown() -> str:
    """Every metric with its definition, scores, options, examples and sources, as one Markdown page.

    The values of the examples are computed, so METEOR needs its Java.

    Raises:
        Unavailable: A metric with examples cannot run on this machine.
    """
    found = metrics()
    index = [f"[{name}](#{name})" for name in found]
    options = _table(_OPTION_HEADS, map(_option_row, POLICY_OPTIONS))
    introduction = files("rexrank.metrics").joinpath("introduction.md").read_text(encoding="utf-8")
    head = introduction.strip().replace("{options}", options)
    return "\n\n".join([head, " · ".join(index), *map(_section, found.values())]) + "\n"


def scores_table(metric: Metric) -> str:
    """The score keys of a metric as a Markdown table."""
    rows = [
        (
            f"`{key.key}`",
            key.description,
            BETTER[key.direction],
            *(shown_range(key, convention) for convention in CONVENTIONS),
            _blank(key),
        )
        for key in metric.keys
    ]
    return _table(("key", "what", "better", "published", "corrected", "blank report, corrected"), rows)


def options_table(metric: Metric) -> str:
    """The options of a metric, those of the policy included, as a Markdown table."""
    options = (*metric.options, *(one for one in POLICY_OPTIONS if metric.english_only or one.name != _LANGUAGE))
    return _table(_OPTION_HEADS, map(_option_row, options))


def _option_row(option: Option) -> tuple[str, ...]:
    return f"`{option.name}`", option.values, option.default, option.description


def _section(metric: Metric) -> str:
    parts = [f"## {metric.name}", _definition(metric), scores_table(metric)]
    if features := dict.fromkeys(name for key in metric.keys for name in key.needs):
        listed = "; ".join(f"`{name}` ({FEATURES[name].made_by}): {FEATURES[name].description}" for name in features)
        parts.append(f"Takes the features {listed}.")
    if metric.english_only:
        parts.append("English only: see the rules for other scripts above.")
    if metric.options:
        parts.append(_table(_OPTION_HEADS, map(_option_row, metric.options)))
    if rows := [row for example in metric.examples for row in _example_rows(metric, example)]:
        parts.append(_table(("prediction → reference", "key", *CONVENTIONS), rows))
    if metric.faults:
        parts.append("Known faults of other implementations:\n\n" + "\n".join(f"- {fault}" for fault in metric.faults))
    parts.append(f"Version {metric.version}. Source: {metric.source}")
    return "\n\n".join(parts)


def _definition(metric: Metric) -> str:
    """The docstring of the metric's module, whose double back-ticks are Markdown's single ones."""
    module = inspect.getmodule(metric.compute)
    return re.sub(r"``(.+?)``", r"`\1`", inspect.getdoc(module) or "", flags=re.DOTALL)


def _example_rows(metric: Metric, example: Example) -> list[tuple[str, ...]]:
    """One row a score on whose value the conventions differ."""
    scores = {convention: _values(metric, example, convention) for convention in CONVENTIONS}
    texts = f"{_code(example.prediction)} → {_code(example.reference)}{_said(example.options)}"
    rows: list[tuple[str, ...]] = []
    for key in scores["published"]:
        shown = [_shown(scores[convention][key]) for convention in CONVENTIONS]
        if shown[0] != shown[1]:
            rows.append((texts if not rows else "", f"`{key}`", *shown))
    return rows


def _values(metric: Metric, example: Example, convention: Convention) -> Mapping[str, KeyScores]:
    keys = [key.key for key in metric.keys if all(name in example.features for name in key.needs)]
    features, options = example.features, example.options
    return compute(keys, [example.prediction], [example.reference], convention, features=features, **options)


def _shown(scores: KeyScores) -> str:
    value = scores.aggregate if scores.values[0] != scores.values[0] else float(scores.values[0])
    return f"null ({scores.reasons[0]})" if value is None else f"{value:.{_DIGITS}g}"


def _said(options: Mapping[str, Any]) -> str:
    return "".join(f", {name}={value!r}" for name, value in options.items())


def shown_range(key: ScoreKey, convention: Convention) -> str:
    """The range of a score in words."""
    low, high = (None if end is None else f"{end:g}" for end in key.range(convention))
    if low is not None and high is not None:
        return f"{low} to {high}"
    if low is None and high is None:
        return "any number"
    return f"at least {low}" if high is None else f"at most {high}"


def _blank(key: ScoreKey) -> str:
    if key.direction == "none":
        return "as it is"
    worst = None if key.blank == "formula" else key.worst("corrected")
    return "by the formula" if key.blank == "formula" else "null" if worst is None else f"{worst:g}"


def _code(text: str) -> str:
    if not text.strip():
        return "*blank*"
    visible = text.replace("\t", "⇥").replace("\n", "⏎").replace("  ", " ␣")
    return f"`{visible}`"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
