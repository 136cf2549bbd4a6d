"""What scores of single studies say: how they go together, and what the length of reports has to do with them.

Correlations are Spearman's, within one system over its studies: a metric that orders the reports of a system as
another does says nothing new about them. Intervals are percentiles of the same resamples of studies, or of whole
patients, as all others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rexrank.metrics.outcome import Floats
from rexrank.statistics.correlation import resampled_correlation, spearman
from rexrank.statistics.draws import Draws
from rexrank.statistics.sample import Sample

# Ranks are found anew in each resample, so their number times that of studies is the time it takes.
_MOST_DRAWS, _FEWEST_RESAMPLES, _MOST_RESAMPLES = 1_200_000, 200, 1_000
CONFIDENCE = 0.95
BINS = 4
# A group of studies below this number is too small for an interval that means something.
FEWEST_STUDIES = 10


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Attributes:
        value: The number; None where it is undefined.
        low: Lower end of its 95 % interval, or None.
        high: Upper end, or None.
        n: Studies behind it.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def resamples_for(n: int) -> int:
    """How many resamples a correlation of n studies gets: 200 to 1,000, fewer the more studies there are."""
    return max(_FEWEST_RESAMPLES, min(_MOST_RESAMPLES, _MOST_DRAWS // max(n, 1)))


def correlation(x: Floats, y: Floats, groups: Sequence[int] | None = None) -> Estimate:
    """Spearman's correlation of two columns of studies, [n] each, with its interval; nan is left out."""
    whole = ~(np.isnan(x) | np.isnan(y))
    value = spearman(x, y)
    if value is None or whole.sum() < FEWEST_STUDIES:
        return Estimate(value, n=int(whole.sum()))
    draws = Draws.of(len(x), resamples_for(len(x)), 0, groups)
    drawn = np.concatenate([resampled_correlation("spearman", x, y, tally) for _, tally in draws.tallies()])
    return _estimate(value, drawn, int(whole.sum()))


def mean_correlations(
    columns: Sequence[Floats], groups: Sequence[int] | None = None, report: Callable[[], object] | None = None
) -> list[Estimate]:
    """How each score goes with the first one, study by study: mean over systems of Spearman's correlation.

    Args:
        columns: Of each system the values of its studies, [keys, n], in the same order of studies and keys; turned so
            that higher is better. nan where undefined.
        groups: Patient of each study, or None.
        report: Called before each system.

    Returns:
        One estimate a key after the first. Systems for which the correlation is undefined (a constant report has one
        score per reference, but a score may have one value for all) are left out; `n` is then the number of studies.
    """
    keys = len(columns[0])
    n = columns[0].shape[1]
    draws = Draws.of(n, resamples_for(n), 0, groups)
    values = np.full((len(columns), keys - 1), np.nan)
    drawn = np.full((len(columns), keys - 1, draws.resamples), np.nan)
    for system, scores in enumerate(columns):
        if report:
            report()
        for key in range(1, keys):
            value = spearman(scores[0], scores[key])
            if value is None:
                continue
            values[system, key - 1] = value
            for rows, tally in draws.tallies():
                drawn[system, key - 1, rows] = resampled_correlation("spearman", scores[0], scores[key], tally)
    return [_mean_estimate(values[:, key], drawn[:, key], n) for key in range(keys - 1)]


def _mean_estimate(values: Floats, drawn: Floats, n: int) -> Estimate:
    there = ~np.isnan(values)
    if not there.any():
        return Estimate(None, n=n)
    return _estimate(float(values[there].mean()), drawn[there].mean(axis=0), n)


def _estimate(value: float, drawn: Floats, n: int) -> Estimate:
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < _FEWEST_RESAMPLES // 2:
        return Estimate(value, n=n)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Estimate(value, float(low), float(high), n)


def mean_matrix(columns: Sequence[Floats]) -> list[list[float | None]]:
    """Mean over systems of Spearman's correlation of each two scores, study by study.

    Args:
        columns: Of each system the values of its studies, [keys, n], turned so that higher is better.

    Returns:
        ``[keys][keys]``; None where it is undefined for every system.
    """
    keys = len(columns[0])
    matrix: list[list[float | None]] = [[None] * keys for _ in range(keys)]
    for left in range(keys):
        for right in range(left, keys):
            found = [value for one in columns if (value := spearman(one[left], one[right])) is not None]
            matrix[left][right] = matrix[right][left] = float(np.mean(found)) if found else None
    return matrix


@dataclass(frozen=True)
class Bin:
    """Studies whose reports are about equally long.

    Attributes:
        shortest: Words of the shortest.
        longest: Words of the longest.
        score: Mean score of these studies, with its interval.
    """

    shortest: int
    longest: int
    score: Estimate


def by_length(words: Floats, values: Floats, groups: Sequence[int] | None = None) -> list[Bin]:
    """The mean score in quarters of the studies by the length of a report.

    Args:
        words: Number of words, [n].
        values: Score of each study, [n]; nan where undefined.
        groups: Patient of each study, or None.

    Returns:
        Up to four bins, the shortest reports first; equally long reports are never parted, so there may be fewer.
    """
    whole = ~(np.isnan(words) | np.isnan(values))
    if not whole.any():
        return []
    edges = np.unique(np.quantile(words[whole], np.linspace(0, 1, BINS + 1)))
    bins = []
    for chosen in _between(words, whole, edges):
        sample = Sample.of_values(values[chosen])
        inside = None if groups is None else _of_rows(groups, chosen)
        bins.append(Bin(int(words[chosen].min()), int(words[chosen].max()), mean_estimate(sample, inside)))
    return bins


def _between(words: Floats, whole: np.ndarray, edges: Floats) -> Iterator[np.ndarray]:
    if len(edges) == 1:
        yield whole
        return
    for low, high in pairwise(edges):
        chosen = whole & (words <= high) & ((words > low) | (low == edges[0]))
        if chosen.any():
            yield chosen


def _of_rows(groups: Sequence[int], chosen: np.ndarray) -> list[int]:
    return [group for group, is_in in zip(groups, chosen, strict=True) if is_in]


def mean_estimate(sample: Sample, groups: Sequence[int] | None = None) -> Estimate:
    """The score of a sample with its interval."""
    n = int(sample.defined.sum())
    score = sample.score
    if score is None or n < FEWEST_STUDIES:
        return Estimate(score, n=n)
    drawn = Draws.of(len(sample), groups=groups).scores([sample])[0]
    return _estimate(score, drawn, n)


def difference(left: Sample, right: Sample, groups: Sequence[int] | None = None) -> Estimate:
    """What `right` scores more than `left` on the same studies in the same order, with the interval of paired draws."""
    both = left.defined & right.defined
    n = int(both.sum())
    first, second = left.take(both), right.take(both)
    if first.score is None or second.score is None:
        return Estimate(None, n=n)
    value = second.score - first.score
    if n < FEWEST_STUDIES:
        return Estimate(value, n=n)
    inside = None if groups is None else _of_rows(groups, both)
    drawn = Draws.of(n, groups=inside).scores([first, second])
    return _estimate(value, drawn[1] - drawn[0], n)
