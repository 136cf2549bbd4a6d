"""The registry as pages for readers: ``docs/metrics.md`` is what `markdown` writes."""

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import groupby, takewhile
from typing import Any

import numpy as np

from rexrank.metrics import tokenizers
from rexrank.metrics.computation import KeyScores, compute
from rexrank.metrics.features import FEATURES, TextFeatures
from rexrank.metrics.outcome import REASONS
from rexrank.metrics.policy import OPTIONS as POLICY_OPTIONS
from rexrank.metrics.registry import Example, Metric, Option, ScoreKey, metrics
from rexrank.metrics.signature import PARTS
from rexrank.terms import CONVENTIONS, Convention

BETTER = {"higher": "higher", "lower": "lower", "none": "–"}
_OPTION_HEADS = ("option", "takes", "default", "what")
_LANGUAGE = "on_unsupported_language"
_DIGITS = 6
_KEYS_IN_A_ROW = 3
_ROW_OF_TABLE = re.compile(r"^\|.*\|$", re.MULTILINE)


def markdown() -> str:
    """Every metric with its definition, scores, options, examples and sources, as one Markdown page.

    The values of the examples are computed, so METEOR needs its Java.

    Raises:
        Unavailable: A metric with examples cannot run on this machine.
    """
    found = metrics()
    index = [f"[{name}](#{name})" for name in found]
    head = files("rexrank.metrics").joinpath("introduction.md").read_text(encoding="utf-8").strip()
    tables = {
        "index": " · ".join(index),
        "options": _table(_OPTION_HEADS, map(_option_row, POLICY_OPTIONS)),
        "tokenizers": _tokenizers(),
        "signature": _table(("part", "what"), ((f"`{name}`", what) for name, what in PARTS.items())),
        "reasons": _table(("reason", "what"), ((f"`{name}`", what) for name, what in REASONS.items())),
    }
    for name, table in tables.items():
        head = head.replace(f"{{{name}}}", table)
    return "\n\n".join([head, *map(_section, found.values())]) + "\n"


def features_table() -> str:
    """Every feature with its maker and the form of one item, as a Markdown table."""
    rows = ((f"`{name}`", one.made_by, one.of, one.description) for name, one in FEATURES.items())
    return _table(("feature", "made by", "one a", "form of one"), rows)


def _tokenizers() -> str:
    """The tokenisers, from the docstring of their module: a table, and what else it says of them."""
    words = inspect.getdoc(tokenizers) or ""
    return words[next(_ROW_OF_TABLE.finditer(words)).start() :]


def scores_table(metric: Metric) -> str:
    """The score keys of a metric as a Markdown table."""
    families = (list(keys) for _, keys in groupby(metric.keys, lambda key: key.family or key.key))
    rows = [
        (
            *_named(keys),
            BETTER[keys[0].direction],
            *(shown_range(keys[0], convention) for convention in CONVENTIONS),
            _blank(keys[0]),
        )
        for keys in families
    ]
    return _table(("key", "what", "better", "published", "corrected", "blank report, corrected"), rows)


def _named(keys: Sequence[ScoreKey]) -> tuple[str, str]:
    """Name and description of a key, or of a family of keys with their words listed once."""
    first = keys[0]
    if not first.family:
        return f"`{first.key}`", first.description
    before, mark, after = re.split("(<.*>)", first.family)
    words = [f"`{key.key.removeprefix(before).removesuffix(after)}`" for key in keys]
    columns = zip(*(key.description.split() for key in keys), strict=False)
    said = [column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns)]
    return f"`{first.family}`", f"{' '.join(said)} `{mark}`, which is one of {', '.join(words)}."


def options_table(metric: Metric) -> str:
    """The options of a metric, those of the policy included, as a Markdown table."""
    options = (*metric.options, *(one for one in POLICY_OPTIONS if metric.english_only or one.name != _LANGUAGE))
    return _table(_OPTION_HEADS, map(_option_row, options))


def _option_row(option: Option) -> tuple[str, ...]:
    return f"`{option.name}`", option.values, option.default, option.description


def _section(metric: Metric) -> str:
    parts = [f"## {metric.name}", _definition(metric), scores_table(metric)]
    if features := dict.fromkeys(name for key in metric.keys for name in key.needs):
        listed = " and ".join(f"`{name}` (made by {FEATURES[name].made_by})" for name in features)
        parts.append(f"Takes the features {listed}; [features.md](features.md) shows their form.")
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
    """One row for each pair of values that some scores have, where the conventions differ."""
    scores = {convention: _values(metric, example, convention) for convention in CONVENTIONS}
    differing: dict[tuple[str, ...], list[str]] = {}
    for key in scores["published"]:
        shown = tuple(_shown(scores[convention][key]) for convention in CONVENTIONS)
        if len(set(shown)) > 1:
            differing.setdefault(shown, []).append(key)
    texts = f"{_code(example.prediction)} → {_code(example.reference)}{_said(example)}"
    heads = [texts, *([""] * len(differing))]
    return [(head, _keys(keys), *shown) for head, (shown, keys) in zip(heads, differing.items(), strict=False)]


def _keys(keys: Sequence[str]) -> str:
    listed = [f"`{key}`" for key in keys[:_KEYS_IN_A_ROW]]
    more = len(keys) - len(listed)
    return ", ".join(listed) + (f" and {more} more" if more else "")


def _values(metric: Metric, example: Example, convention: Convention) -> Mapping[str, KeyScores]:
    keys = [key.key for key in metric.keys if all(name in example.features for name in key.needs)]
    features, options = example.features, example.options
    return compute(keys, [example.prediction], [example.reference], convention, features=features, **options)


def _shown(scores: KeyScores) -> str:
    """The value of a set that holds this study alone."""
    if scores.aggregate is not None:
        return f"{scores.aggregate:.{_DIGITS}g}"
    return f"null ({scores.reasons[0]})" if scores.reasons else "null"


def _said(example: Example) -> str:
    """What is given beside the texts: options, features that are numbers, and in words what the others say."""
    options = [f"{name}={value!r}" for name, value in example.options.items()]
    numbers = [f"{name} {one[0]:g}" for name, one in example.features.items() if is_number(one)]
    return "".join(f", {part}" for part in (*options, *numbers, *filter(None, [example.note])))


def is_number(feature: Any) -> bool:
    """Whether a feature of an example is one number, which needs no words."""
    return not isinstance(feature, TextFeatures) and isinstance(feature[0], int | float)


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
    if key.blank == "formula":
        return "by the formula"
    worst = key.worst("corrected")
    if worst is not None and key.of_mean is not None:
        worst = float(key.of_mean(np.array([worst]))[0])
    return "null" if worst is None or np.isnan(worst) else f"{worst:g}"


def _code(text: str) -> str:
    if not text.strip():
        return "*blank*"
    visible = text.replace("\t", "⇥").replace("\n", "⏎").replace("  ", " ␣")
    return f"`{visible}`"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
