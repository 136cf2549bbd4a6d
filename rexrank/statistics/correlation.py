"""How far two columns of numbers go together: Kendall's tau-b, Spearman's rho, Pearson's r, also over resamples.

Kendall, "The treatment of ties in ranking problems", Biometrika 33, 1945 (tau-b); Spearman, "The proof and measurement
of association between two things", 1904, with mean ranks for ties; Pearson, 1895. Knight, "A computer method for
calculating Kendall's tau", 1966: sorted once, tau needs only the number of inversions, so it takes n log n steps.

A resample is told by how often each row was drawn. Signs of differences do not change with that, so tau-b of all
resamples is a product of matrices beside counts of ties, and no resample is sorted.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rexrank.statistics.inputs import InvalidStatistics

Floats = NDArray[np.float64]
Coefficient = Literal["kendall", "spearman", "pearson"]

# Rows whose signs are held at once, against all rows; draws of resamples; and pairs of many rankings.
_BLOCK_ROWS = 512
_CHUNK_DRAWS = 1 << 21
_CHUNK_PAIRS = 1 << 24
# What is left of a variance by rounding alone, as a share of the sum of squares.
_NO_VARIANCE = 1e-13


def kendall_tau_b(x: ArrayLike, y: ArrayLike) -> float | None:
    """Kendall's tau-b, in n log n steps.

    Args:
        x: Numbers, [n]; a row in which `x` or `y` is nan is left out.
        y: Numbers, [n].

    Returns:
        From -1 to 1; None with fewer than two rows, or where `x` or `y` has the same value in all.

    Raises:
        InvalidStatistics: Different lengths, more than one dimension, or infinite values.
    """
    left, right = _paired(x, y)
    count = len(left)
    a, b = _codes(left), _codes(right)
    order = np.lexsort((b, a))
    discordant = _inversions(b[order])
    pairs = count * (count - 1) // 2
    tied_a, tied_b = _tied_pairs(a), _tied_pairs(b)
    tied_in_both = _tied_pairs(a * (int(b.max(initial=0)) + 1) + b)
    if pairs in (tied_a, tied_b):
        return None
    surplus = pairs - tied_a - tied_b + tied_in_both - 2 * discordant
    return _bounded(surplus / float(np.sqrt(float(pairs - tied_a)) * np.sqrt(float(pairs - tied_b))))


def spearman(x: ArrayLike, y: ArrayLike) -> float | None:
    """Spearman's rho: Pearson's r of the ranks, tied values at their mean rank.

    Arguments, value and errors are those of `kendall_tau_b`.
    """
    left, right = _paired(x, y)
    return _pearson(_mean_ranks(left), _mean_ranks(right))


def pearson(x: ArrayLike, y: ArrayLike) -> float | None:
    """Pearson's r.

    Arguments, value and errors are those of `kendall_tau_b`.
    """
    return _pearson(*_paired(x, y))


def correlation(coefficient: Coefficient, x: ArrayLike, y: ArrayLike) -> float | None:
    """One of the three, by its name; see `kendall_tau_b`."""
    return {"kendall": kendall_tau_b, "spearman": spearman, "pearson": pearson}[coefficient](x, y)


def resampled_correlation(coefficient: Coefficient, x: ArrayLike, y: ArrayLike, weights: ArrayLike) -> Floats:
    """A correlation in many resamples at once.

    Args:
        coefficient: Which one.
        x: Numbers, [n]; a row in which `x` or `y` is nan is left out.
        y: Numbers, [n].
        weights: How often each row was drawn in each resample, whole numbers, [b, n].

    Returns:
        The correlation in each resample, [b]: what it is of the rows written out as often as they were drawn; nan
        where it is undefined.

    Raises:
        InvalidStatistics: Wrong shapes, or infinite values.
    """
    columns = _columns(x, y)
    drawn = np.asarray(weights)
    if drawn.ndim != 2 or drawn.shape[1] != columns.shape[1]:
        raise InvalidStatistics(f"weights: expected [resamples, {columns.shape[1]}], got an array of {drawn.shape}")
    kept = ~np.isnan(columns).any(axis=0)
    if not kept.all():
        columns, drawn = columns[:, kept], drawn[:, kept]
    over_resamples = {"kendall": _resampled_tau, "spearman": _resampled_spearman, "pearson": _resampled_pearson}
    found = np.empty(len(drawn))
    step = max(1, _CHUNK_DRAWS // max(columns.shape[1], 1))
    for start in range(0, len(drawn), step):
        part = slice(start, start + step)
        found[part] = over_resamples[coefficient](columns[0], columns[1], drawn[part])
    return found


def kendall_tau_b_of_rows(x: ArrayLike, rows: ArrayLike) -> Floats:
    """Kendall's tau-b of one short ranking with many others.

    Args:
        x: Numbers, [n], none nan.
        rows: One ranking a row, [b, n]; none nan.

    Returns:
        Tau-b of each, [b]; nan where it is undefined.
    """
    ranking, others = np.asarray(x, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    first, second = np.triu_indices(len(ranking), k=1)
    signs = np.sign(ranking[second] - ranking[first])
    found = np.empty(len(others))
    step = max(1, _CHUNK_PAIRS // max(len(signs), 1))
    for start in range(0, len(others), step):
        part = others[start : start + step]
        theirs = np.sign(part[:, second] - part[:, first])
        found[start : start + step] = _ratio(theirs @ signs, np.abs(theirs).sum(axis=1), np.abs(signs).sum())
    return found


def _columns(x: ArrayLike, y: ArrayLike) -> Floats:
    left, right = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if left.ndim != 1 or left.shape != right.shape:
        raise InvalidStatistics(
            f"x and y: expected one number a row in each, got arrays of {left.shape}, {right.shape}"
        )
    if np.isinf(left).any() or np.isinf(right).any():
        raise InvalidStatistics("x and y: a value is infinite; nan marks an undefined one")
    return np.stack([left, right])


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Both columns without the rows in which one of them is nan."""
    columns = _columns(x, y)
    kept = columns[:, ~np.isnan(columns).any(axis=0)]
    return kept[0], kept[1]


def _bounded(value: float) -> float:
    """Without what rounding puts beyond the ends, which a reader would take for an error."""
    return max(-1.0, min(1.0, value))


def _codes(values: Floats) -> NDArray[np.int64]:
    """Whole numbers from 0 in the order of the values, equal for equal values."""
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _tied_pairs(codes: NDArray[np.int64]) -> int:
    counts = np.unique(codes, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _inversions(codes: NDArray[np.int64]) -> int:
    """Pairs of which the earlier one is the greater, bit by bit.

    Two numbers differ first in one bit. Among those that agree in all bits above it, each 0 that follows a 1 is an
    inversion; sorting by that bit, without changing the order else, prepares the next one.
    """
    found = 0
    for bit in range(int(codes.max(initial=0)).bit_length() - 1, -1, -1):
        upper = codes >> bit
        is_one = upper & 1
        ones_before = np.cumsum(is_one) - is_one
        begins = np.flatnonzero(np.diff(upper >> 1, prepend=-1))
        sizes = np.diff(begins, append=len(codes))
        ones_before -= np.repeat(ones_before[begins], sizes)
        found += int(ones_before[is_one == 0].sum())
        codes = codes[np.argsort(upper, kind="stable")]
    return found


def _mean_ranks(values: Floats) -> Floats:
    codes = _codes(values)
    counts = np.bincount(codes)
    ranks: Floats = np.cumsum(counts) - (counts - 1) / 2
    return ranks[codes]


def _pearson(left: Floats, right: Floats) -> float | None:
    # Equal values have a mean that can differ from them by rounding, and then a variance.
    if len(left) < 2 or (left == left[0]).all() or (right == right[0]).all():
        return None
    a, b = left - left.mean(), right - right.mean()
    scale = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return _bounded(float(a @ b) / scale) if scale else None


def _ratio(surplus: Any, left: Any, right: Any) -> Floats:
    """A surplus over the root of two totals; nan where one is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = surplus / (np.sqrt(left) * np.sqrt(right))
    return np.asarray(np.clip(ratio, -1.0, 1.0))


def _resampled_tau(x: Floats, y: Floats, weights: NDArray[Any]) -> Floats:
    # Sums of signs stay far below the numbers up to which float32 counts exactly.
    drawn = weights.astype(np.float32)
    surplus = np.zeros(len(drawn))
    for start in range(0, len(x), _BLOCK_ROWS):
        block, rest = slice(start, start + _BLOCK_ROWS), slice(start, None)
        signs = np.sign(x[rest, None] - x[None, block]) * np.sign(y[rest, None] - y[None, block])
        signs[_BLOCK_ROWS:] *= 2  # for the other half of the pairs, whose rows went before
        surplus += np.einsum("bi,bi->b", drawn[:, rest] @ signs.astype(np.float32), drawn[:, block], dtype=np.float64)
    return _ratio(surplus, _untied(x, weights), _untied(y, weights))


def _untied(values: Floats, weights: NDArray[Any]) -> Floats:
    """Pairs of drawn rows, both ways round, whose values differ, in each resample."""
    drawn = weights.astype(np.float64)
    if not len(values):
        return np.zeros(len(drawn))
    together = _drawn_of_each(_codes(values), drawn)
    return np.asarray(drawn.sum(axis=1) ** 2 - (together**2).sum(axis=1))


def _drawn_of_each(codes: NDArray[np.int64], drawn: Floats) -> Floats:
    """How many drawn rows have each code, in the order of the codes, in each resample."""
    begins = np.flatnonzero(np.diff(np.sort(codes), prepend=-1))
    return np.asarray(np.add.reduceat(drawn[:, np.argsort(codes, kind="stable")], begins, axis=1))


def _resampled_spearman(x: Floats, y: Floats, weights: NDArray[Any]) -> Floats:
    drawn = weights.astype(np.float64)
    totals = drawn.sum(axis=1, keepdims=True)
    # Every resample has the same mean rank, so centred ranks need no second pass.
    a, b = (_resampled_ranks(column, drawn) - (totals + 1) / 2 for column in (x, y))
    products, squares_a, squares_b = (np.einsum("bi,bi,bi->b", drawn, *two) for two in ((a, b), (a, a), (b, b)))
    return _ratio(products, squares_a, squares_b)


def _resampled_ranks(values: Floats, weights: Floats) -> Floats:
    """Mean rank of each row in each resample, [b, n]; of rows that were not drawn the one that they would have."""
    if not len(values):
        return weights
    codes = _codes(values)
    together = _drawn_of_each(codes, weights)
    ranks = np.cumsum(together, axis=1) - (together - 1) / 2
    return np.asarray(ranks[:, codes])


def _resampled_pearson(x: Floats, y: Floats, weights: NDArray[Any]) -> Floats:
    if not len(x):
        return np.full(len(weights), np.nan)
    a, b = x - x.mean(), y - y.mean()
    sums = weights.astype(np.float64) @ np.stack([np.ones_like(a), a, b, a * a, b * b, a * b], axis=1)
    count, sum_a, sum_b, squares_a, squares_b, products = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        left, right = squares_a - sum_a**2 / count, squares_b - sum_b**2 / count
        left[left <= _NO_VARIANCE * squares_a] = 0
        right[right <= _NO_VARIANCE * squares_b] = 0
        return _ratio(products - sum_a * sum_b / count, left, right)
