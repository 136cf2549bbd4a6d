"""Values and options that every part of the statistics reads, refused in one sentence."""

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rexrank.errors import RexrankError, shown

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# More change no digit that anyone reads, and take hours and all memory.
_MOST_RESAMPLES = 1_000_000
# Sums of larger values are infinite.
_LARGEST = 1e300


class InvalidStatistics(RexrankError, ValueError):
    """Values or options that no interval, test or rank can be computed from."""


def floats(name: str, values: Any, dimensions: int) -> Floats:
    """Numbers as float64; what is masked or missing becomes nan.

    Raises:
        InvalidStatistics: Other values, another number of dimensions, or an infinite value.
    """
    try:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        # Conversion alone would also take dates, bytes and texts that look like numbers.
        given = np.asarray(values)
        if given.dtype.kind == "O":
            values = given = np.where(_missing(given), np.nan, given)
        if given.dtype.kind not in "biufO" or any(isinstance(value, str | bytes) for value in _objects(given)):
            raise TypeError
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidStatistics(f"{name}: expected numbers of one shape, got something else") from None
    if array.ndim != dimensions:
        raise InvalidStatistics(f"{name}: expected {dimensions} dimension(s), got {array.ndim}")
    if len(beyond := np.argwhere(np.abs(array) > _LARGEST)):
        why = "infinite" if np.isinf(array[tuple(beyond[0])]) else f"beyond {_LARGEST:g}, too large to be summed"
        raise InvalidStatistics(f"{name}[{int(beyond[0][0])}]: the value is {why}")
    return array


def group_numbers(groups: Sequence[Hashable], n: int) -> Integers:
    """Groups of n studies as numbers from 0, in the order of their first study, [n].

    Raises:
        InvalidStatistics: No list, not one group a study, or a missing group.
    """
    if isinstance(groups, str | bytes | Mapping | Set) or not isinstance(groups, Iterable):
        raise InvalidStatistics(f"groups: expected a list with one group a study, got {shown(groups)}")
    given = list(groups)
    if len(given) != n:
        raise InvalidStatistics(f"groups: expected one for each of the {n} studies, got {len(given)}")
    numbers: dict[Hashable, int] = {}
    codes = np.empty(n, dtype=np.int64)
    for position, group in enumerate(given):
        if not isinstance(group, Hashable):
            raise InvalidStatistics(f"groups[{position}]: expected a name or number, got {shown(group)}")
        if is_missing(group):
            raise InvalidStatistics(f"groups[{position}]: the group is missing; name one for every study")
        codes[position] = numbers.setdefault(group, len(numbers))
    return codes


def check_confidence(confidence: float) -> None:
    """Refuse what is no share between 0 and 1."""
    if not isinstance(confidence, float | int | np.number) or not 0 < confidence < 1:
        raise InvalidStatistics(f"confidence: expected a number between 0 and 1, got {shown(confidence)}")


def check_resamples(resamples: int) -> None:
    """Refuse what is no number of resamples."""
    if not is_whole(resamples) or not 1 <= resamples <= _MOST_RESAMPLES:
        raise InvalidStatistics(
            f"resamples: expected a whole number from 1 to {_MOST_RESAMPLES:,}, got {shown(resamples)}"
        )


def check_seed(seed: int) -> None:
    """Refuse what is no seed."""
    if not is_whole(seed) or seed < 0:
        raise InvalidStatistics(f"seed: expected a whole number from 0, got {shown(seed)}")


def _objects(array: NDArray[Any]) -> Iterable[object]:
    return array.flat if array.dtype.kind == "O" else ()


def _missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([is_missing(value) for value in array.flat], dtype=np.bool_).reshape(array.shape)


def is_missing(group: Hashable) -> bool:
    """Whether it is None, nan or the missing value of pandas, which equals nothing and has no truth value."""
    try:
        return group is None or bool(group != group)
    except TypeError:
        return True


def is_whole(value: object) -> bool:
    """Whether it is a whole number, of Python or of numpy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
