"""Bootstrap intervals of means and of corpus scores."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from rexrank.statistics.draws import Draws
from rexrank.statistics.inputs import Floats, InvalidStatistics, check_confidence, floats
from rexrank.statistics.sample import Sample

__all__ = ["InvalidStatistics", "corpus_interval", "interval"]


def interval(
    values: ArrayLike,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> tuple[float, float] | None:
    """Bootstrap interval of a mean.

    Args:
        values: One value a study, [n]; nan marks an undefined value and is left out.
        confidence: Share of the resampled means inside the interval, between 0 and 1.
        resamples: Number of resamples.
        seed: Seed of the random draws.
        groups: Group of each study, [n]; whole groups are drawn. None draws studies.

    Returns:
        Lower and upper limit, or None with fewer than two defined values (or groups).

    Raises:
        InvalidStatistics: Wrong shapes or options, or infinite values.
    """
    return _ends(Sample.of_values(floats("values", values, dimensions=1)), confidence, resamples, seed, groups)


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
        formula: Takes sums, [b, k], to scores, [b]; nan where a resample has none, which is then left out.
        confidence: Share of the resampled scores inside the interval, between 0 and 1.
        resamples: Number of resamples.
        seed: Seed of the random draws.
        groups: Group of each study, [n]; whole groups are drawn. None draws studies.

    Returns:
        Lower and upper limit, or None with fewer than two defined studies (or groups) or where no resample has a
        score.

    Raises:
        InvalidStatistics: Wrong shapes or options, or infinite values.
    """
    rows = floats("statistics", statistics, dimensions=2)
    return _ends(Sample(rows, formula), confidence, resamples, seed, groups)


def _ends(
    sample: Sample, confidence: float, resamples: int, seed: int, groups: Sequence[Hashable] | None
) -> tuple[float, float] | None:
    check_confidence(confidence)
    draws = Draws.of(len(sample), resamples, seed, groups).take(sample.defined)
    if draws.units < 2:
        return None
    scores = draws.scores([sample.take(sample.defined)])[0]
    scores = scores[~np.isnan(scores)]
    if not len(scores):
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(scores, [tail, 1 - tail])
    return float(low), float(high)
