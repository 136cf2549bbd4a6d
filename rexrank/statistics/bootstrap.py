"""Percentile bootstrap intervals of means and of corpus scores.

Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13: studies
(or whole groups of them, such as patients) are drawn with replacement, as many as
there are; the interval holds the middle of the resampled scores.

Draws come from NumPy's PCG64 in one stream, and each resample is summed for itself,
so a result depends on the seed alone and not on how much memory is used at once.
Columns of whole numbers, whose sums are exact in any order, are summed by one
product of matrices for all of them; scores of many labels would take seconds else.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rexrank.errors import RexrankError, shown

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Draws held at once: 8 bytes each for the positions and 8 for the values drawn.
_CHUNK_DRAWS = 1 << 20
# Draws whose tallies are kept for the next score, 2 bytes each.
_KEPT_DRAWS = 1 << 24
# From here on tallies cost less than drawing each column, even where they are not kept.
_MANY_COLUMNS = 8
_LARGEST_EXACT = 2.0**53


class InvalidStatistics(RexrankError, ValueError):
    """Values or options that no interval can be computed from."""


def interval(
    values: ArrayLike,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> tuple[float, float] | None:
    """Percentile bootstrap interval of a mean.

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
    column = _floats("values", values, dimensions=1)
    statistics = np.stack([column, np.where(np.isnan(column), np.nan, 1.0)], axis=1)
    return corpus_interval(statistics, _mean, confidence, resamples, seed, groups)


def corpus_interval(
    statistics: ArrayLike,
    formula: Callable[[Floats], Floats],
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> tuple[float, float] | None:
    """Percentile bootstrap interval of a score that is computed from summed statistics.

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
    rows = _floats("statistics", statistics, dimensions=2)
    _check_options(confidence, resamples, seed)
    defined: Flags = ~np.isnan(rows.sum(axis=1))
    units = rows[defined]
    if groups is not None:
        units = _sums_of_groups(rows, defined, groups)
    if len(units) < 2:
        return None
    scores = np.asarray(formula(_resampled_sums(units, resamples, seed)), dtype=np.float64)
    if scores.shape != (resamples,):
        raise InvalidStatistics(f"formula: expected {resamples} scores, got an array of shape {scores.shape}")
    scores = scores[~np.isnan(scores)]
    if not len(scores):
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(scores, [tail, 1 - tail])
    return float(low), float(high)


def _mean(sums: Floats) -> Floats:
    return sums[:, 0] / sums[:, 1]


def _resampled_sums(units: Floats, resamples: int, seed: int) -> Floats:
    count = len(units)
    # A column that never varies (the count of studies, mostly) has the same sum in every resample.
    sums = np.tile(units[0] * count, (resamples, 1))
    varying = np.flatnonzero((units != units[0]).any(axis=0))
    tallied, drawn_one_by_one = _split(units, varying, resamples)
    if len(tallied):
        columns = np.ascontiguousarray(units[:, tallied])
        for rows, tallies in _tallies(count, resamples, seed):
            sums[rows, tallied] = tallies.astype(np.float64) @ columns
    if len(drawn_one_by_one):
        separate = np.ascontiguousarray(units.T)
        for rows, drawn in _draws(count, resamples, seed):
            for index in drawn_one_by_one:
                sums[rows, index] = separate[index][drawn].sum(axis=1)
    return sums


def _split(units: Floats, varying: NDArray[np.int64], resamples: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Columns to sum by tallies, as they are exact in any order, and the others."""
    columns = units[:, varying]
    whole = (columns == np.rint(columns)).all(axis=0) & (np.abs(columns).max(axis=0) * len(units) < _LARGEST_EXACT)
    if resamples * len(units) > _KEPT_DRAWS and whole.sum() < _MANY_COLUMNS:
        whole[:] = False
    return varying[whole], varying[~whole]


def _draws(count: int, resamples: int, seed: int) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Positions drawn, [resamples of a chunk, count], chunk by chunk."""
    generator = np.random.default_rng(seed)
    rows = max(1, _CHUNK_DRAWS // count)
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        yield slice(start, stop), generator.integers(0, count, size=(stop - start, count))


def _tallies(count: int, resamples: int, seed: int) -> Iterator[tuple[slice, NDArray[Any]]]:
    """How often each position is drawn, [resamples of a chunk, count], chunk by chunk."""
    if resamples * count > _KEPT_DRAWS:
        for rows, drawn in _draws(count, resamples, seed):
            yield rows, _tally(drawn)
        return
    kept = _kept_tallies(count, resamples, seed)
    size = max(1, _CHUNK_DRAWS // count)
    for start in range(0, resamples, size):
        yield slice(start, start + size), kept[start : start + size]


# Scores of one set mostly have the same studies, and their intervals then the same draws.
@lru_cache(maxsize=2)
def _kept_tallies(count: int, resamples: int, seed: int) -> NDArray[Any]:
    kept = np.empty((resamples, count), dtype=np.min_scalar_type(count))
    for rows, drawn in _draws(count, resamples, seed):
        kept[rows] = _tally(drawn)
    kept.flags.writeable = False
    return kept


def _tally(drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    resamples, count = drawn.shape
    shifted = drawn + np.arange(resamples)[:, None] * count
    return np.bincount(shifted.ravel(), minlength=resamples * count).reshape(resamples, count)


def _sums_of_groups(rows: Floats, defined: Flags, given: Sequence[Hashable]) -> Floats:
    if isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Iterable):
        raise InvalidStatistics(f"groups: expected a list with one group a study, got {shown(given)}")
    groups = list(given)
    if len(groups) != len(rows):
        raise InvalidStatistics(f"groups: expected one for each of the {len(rows)} studies, got {len(groups)}")
    numbers: dict[Hashable, int] = {}
    codes = np.empty(len(rows), dtype=np.int64)
    for position, group in enumerate(groups):
        if not isinstance(group, Hashable):
            raise InvalidStatistics(f"groups[{position}]: expected a name or number, got {shown(group)}")
        if _is_missing(group):
            raise InvalidStatistics(f"groups[{position}]: the group is missing; name one for every study")
        codes[position] = numbers.setdefault(group, len(numbers)) if defined[position] else -1
    sums = np.zeros((len(numbers), rows.shape[1]))
    np.add.at(sums, codes[defined], rows[defined])
    return sums


def _is_missing(group: Hashable) -> bool:
    """Whether it is None, nan or the missing value of pandas, which equals nothing and has no truth value."""
    try:
        return group is None or bool(group != group)
    except TypeError:
        return True


def _floats(name: str, values: Any, dimensions: int) -> Floats:
    try:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        # Conversion alone would also take dates, bytes and texts that look like numbers.
        given = np.asarray(values)
        if given.dtype.kind not in "biufO" or any(isinstance(value, str | bytes) for value in _objects(given)):
            raise TypeError
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidStatistics(f"{name}: expected numbers of one shape, got something else") from None
    if array.ndim != dimensions:
        raise InvalidStatistics(f"{name}: expected {dimensions} dimension(s), got {array.ndim}")
    if np.isinf(array).any():
        raise InvalidStatistics(f"{name}[{int(np.argwhere(np.isinf(array))[0][0])}]: the value is infinite")
    return array


def _objects(array: NDArray[Any]) -> Iterable[object]:
    return array.flat if array.dtype.kind == "O" else ()


def _check_options(confidence: float, resamples: int, seed: int) -> None:
    if not isinstance(confidence, float | int | np.number) or not 0 < confidence < 1:
        raise InvalidStatistics(f"confidence: expected a number between 0 and 1, got {shown(confidence)}")
    if not _is_whole(resamples) or resamples < 1:
        raise InvalidStatistics(f"resamples: expected a whole number above 0, got {shown(resamples)}")
    if not _is_whole(seed) or seed < 0:
        raise InvalidStatistics(f"seed: expected a whole number from 0, got {shown(seed)}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
