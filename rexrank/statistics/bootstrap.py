"""Bootstrap intervals of means and of corpus scores."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rexrank.errors import shown
from rexrank.statistics.draws import Draws
from rexrank.statistics.inputs import Floats, InvalidStatistics, check_confidence, floats
from rexrank.statistics.limits import Resampled, bca, percentile, scaled
from rexrank.statistics.sample import Flags, Sample, scored

__all__ = ["DEFAULT", "METHODS", "Interval", "InvalidStatistics", "Method", "corpus_interval", "interval", "intervals"]

Method = Literal["scaled", "bca", "percentile"]
METHODS: tuple[Method, ...] = get_args(Method)
# Chosen by coverage: docs/statistics.md.
DEFAULT: Method = "scaled"
_ENDS: Mapping[Method, Callable[[Resampled, float], tuple[float, float]]] = {
    "scaled": scaled,
    "bca": bca,
    "percentile": percentile,
}


@dataclass(frozen=True)
class Interval:
    """A bootstrap interval of one score.

    Attributes:
        low: Lower end.
        high: Upper end.
        undefined_draws: Number of resamples that have no score (a class without positives, an empty denominator);
            the interval is one of the others.
        method: How the ends were found.
    """

    low: float
    high: float
    undefined_draws: int
    method: Method


def interval(
    values: ArrayLike,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> tuple[float, float] | None:
    """Bootstrap interval of a mean, by the default method of :func:`intervals`.

    Args:
        values: One value a study, [n]; nan marks an undefined value and is left out.
        confidence: How often such intervals hold the true mean, between 0 and 1.
        resamples: Number of resamples.
        seed: Seed of the random draws.
        groups: Group of each study, [n]; whole groups are drawn. None draws studies.

    Returns:
        Lower and upper limit, or None with fewer than two defined values (or groups).

    Raises:
        InvalidStatistics: Wrong shapes or options, or infinite values.
    """
    sample = Sample.of_values(floats("values", values, dimensions=1))
    return ends_of(intervals([sample], confidence, resamples, seed, groups)[0])


def corpus_interval(
    statistics: ArrayLike,
    formula: Callable[[Floats], Floats],
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> tuple[float, float] | None:
    """Bootstrap interval of a score that is computed from summed statistics.

    Args:
        statistics: Additive sufficient statistics of each study, [n, k]; a row with nan is left out.
        formula: Takes sums, [b, k], to scores, [b]; nan where a resample has none. :func:`intervals` says how often.
        confidence: How often such intervals hold the true score, between 0 and 1.
        resamples: Number of resamples.
        seed: Seed of the random draws.
        groups: Group of each study, [n]; whole groups are drawn. None draws studies.

    Returns:
        Lower and upper limit, or None with fewer than two defined studies (or groups) or where the studies together,
        or all resamples, have no score.

    Raises:
        InvalidStatistics: Wrong shapes or options, or infinite values.
    """
    rows = floats("statistics", statistics, dimensions=2)
    if not rows.shape[1]:
        raise InvalidStatistics("statistics: expected at least one number a study, got none")
    sample = Sample(rows, formula)
    return ends_of(intervals([sample], confidence, resamples, seed, groups)[0])


def intervals(
    samples: Sequence[Sample],
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
    method: Method = DEFAULT,
) -> list[Interval | None]:
    """Bootstrap intervals of several scores of the same studies.

    Studies without a value are left out before anything is drawn. Scores that have values for the same studies see
    the same draws; an interval does not depend on which other scores are in the call.

    Args:
        samples: Each with the same studies in the same order.
        confidence: How often such intervals hold the true score, between 0 and 1.
        resamples: Number of resamples.
        seed: Seed of the random draws.
        groups: Group of each study (its patient), [n]; whole groups are drawn. None draws studies.
        method: ``scaled``, ``bca`` or ``percentile``, see `rexrank.statistics.limits`.

    Returns:
        One interval a sample; None with fewer than two units (studies, or groups) that have a value, or where the
        studies together, or all resamples, have no score.

    Raises:
        InvalidStatistics: Samples of unequal length, wrong options, groups that do not fit, or infinite values.
    """
    check_confidence(confidence)
    if method not in METHODS:
        raise InvalidStatistics(f"method: expected one of {', '.join(METHODS)}, got {shown(method)}")
    draws = Draws.of(len(samples[0]) if samples else 0, resamples, seed, groups)
    found: list[Interval | None] = [None] * len(samples)
    for defined, positions in _by_studies(samples):
        some = draws.take(defined)
        if some.units < 2:
            continue
        taken = [samples[position].take(defined) for position in positions]
        for position, sample, scores in zip(positions, taken, some.scores(taken), strict=True):
            found[position] = _interval(sample, some, scores, confidence, method)
    return found


def _by_studies(samples: Sequence[Sample]) -> Iterator[tuple[Flags, list[int]]]:
    """Positions of the samples that have values for the same studies, and these studies, [n]."""
    alike: dict[bytes, tuple[Flags, list[int]]] = {}
    for position, sample in enumerate(samples):
        if len(sample) != len(samples[0]):
            raise InvalidStatistics(f"samples[{position}]: expected {len(samples[0])} studies, got {len(sample)}")
        defined = sample.defined
        alike.setdefault(defined.tobytes(), (defined, []))[1].append(position)
    yield from alike.values()


def _interval(sample: Sample, draws: Draws, scores: Floats, confidence: float, method: Method) -> Interval | None:
    score = sample.score
    known = scores[~np.isnan(scores)]
    if score is None or not len(known):
        return None
    resampled = Resampled(known, score, _left_out(sample, draws), sample.range)
    low, high = _ENDS[method](resampled, confidence)
    return Interval(low, high, len(scores) - len(known), method)


def _left_out(sample: Sample, draws: Draws) -> Floats:
    """Scores without one unit each, [units]."""
    units = draws.sums_of_units(sample.statistics)
    return scored(sample.formula, units.sum(axis=0) - units)


def ends_of(found: Interval | None) -> tuple[float, float] | None:
    """Lower and upper end of an interval, where there is one."""
    return None if found is None else (found.low, found.high)
