"""What is known about each score: its metric, direction, range, kind and audience.

The registry imports every module of this package and collects those with a
top-level `METRIC` (or `METRICS`, a tuple), so a new metric is one new file.
"""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from rexrank.errors import shown
from rexrank.metrics.inputs import InvalidCall
from rexrank.terms import Convention, Direction

if TYPE_CHECKING:
    from rexrank.metrics.outcome import Outcome
    from rexrank.metrics.pairs import Pairs

Range = tuple[float | None, float | None]


@dataclass(frozen=True)
class ScoreKey:
    """One column of results.

    Attributes:
        key: Name in files and code (``bleu2``).
        label: Name for readers (``BLEU-2``).
        direction: Whether the higher or the lower value is the better one.
        ranges: Lowest and highest value per convention; None where unbounded.
        kind: ``mean`` (mean of studies) or ``corpus`` (computed from summed statistics).
        digits: Decimals shown on pages. Files keep full precision.
        modality: Modalities the score is made for; ``any`` for all.
        language: Languages it is made for, as ISO 639-1 codes; ``any`` for all.
        description: One sentence with the formula in words.
    """

    key: str
    label: str
    direction: Direction
    ranges: Mapping[Convention, Range] = field(hash=False)
    kind: Literal["mean", "corpus"]
    digits: int
    modality: tuple[str, ...]
    language: tuple[str, ...]
    description: str

    def range(self, convention: Convention) -> Range:
        """Lowest and highest value under a convention; None where unbounded."""
        return self.ranges[convention]

    def best(self, convention: Convention) -> float | None:
        """The value of a perfect report, or None where unbounded."""
        return self.ranges[convention][1 if self.direction == "higher" else 0]

    def worst(self, convention: Convention) -> float | None:
        """The value of a report that says nothing right, or None where unbounded."""
        return self.ranges[convention][0 if self.direction == "higher" else 1]


Compute = Callable[["Pairs", Sequence[str], Convention, Mapping[str, Any]], Mapping[str, "Outcome"]]


@dataclass(frozen=True)
class Metric:
    """One metric: a file of this package.

    Attributes:
        name: Name of the metric, which may serve several score keys.
        version: Part of every signature; raised whenever any value can change.
        keys: The score keys it computes.
        compute: ``(pairs, keys, convention, options) -> {key: Outcome}``. It
            scores every pair by the formula alone; `policy` decides about
            blank, empty and identical texts afterwards.
        source: Paper and repository that define it.
        needs: Names of the encoders whose features it takes.
        options: Names of the keyword options it accepts.
    """

    name: str
    version: str
    keys: tuple[ScoreKey, ...]
    compute: Compute
    source: str
    needs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@cache
def _found() -> tuple[dict[str, Metric], dict[str, ScoreKey], dict[str, Metric]]:
    package = import_module("rexrank.metrics")
    by_name: dict[str, Metric] = {}
    keys: dict[str, ScoreKey] = {}
    owners: dict[str, Metric] = {}
    for module_info in pkgutil.iter_modules(package.__path__):
        module = import_module(f"rexrank.metrics.{module_info.name}")
        single = getattr(module, "METRIC", None)
        for metric in getattr(module, "METRICS", ()) if single is None else (single,):
            _register(metric, by_name, keys, owners)
    return by_name, keys, owners


def _register(metric: Metric, by_name: dict[str, Metric], keys: dict[str, ScoreKey], owners: dict[str, Metric]) -> None:
    if metric.name in by_name:
        raise RuntimeError(f"two metrics are named {metric.name!r}")
    by_name[metric.name] = metric
    for score_key in metric.keys:
        if score_key.key in keys:
            raise RuntimeError(
                f"score key {score_key.key!r} belongs to both {owners[score_key.key].name!r} and {metric.name!r}"
            )
        keys[score_key.key] = score_key
        owners[score_key.key] = metric


def metrics() -> Mapping[str, Metric]:
    """Every metric by name."""
    return MappingProxyType(_found()[0])


def score_keys() -> Mapping[str, ScoreKey]:
    """Every score key by its name, in the order of the files."""
    return MappingProxyType(_found()[1])


def metric_of(key: str) -> Metric:
    """The metric that computes a score key.

    Raises:
        InvalidCall: No metric computes it.
    """
    owners = _found()[2]
    if not isinstance(key, str) or key not in owners:
        raise InvalidCall(f"unknown score key {shown(key)}; known are {', '.join(owners)}")
    return owners[key]
