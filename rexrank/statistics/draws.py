"""Bootstrap resamples: which studies, or which whole groups, each of them draws.

Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 6; whole groups:
Davison and Hinkley, "Bootstrap Methods and their Application", 1997, section 3.8.

A resample is held as a tally: how often each unit is drawn. Sums of sufficient statistics of
all scores are then one product of matrices, and a score of a resample costs its formula alone.
Statistics are first rounded to so many binary places that their sums are exact in any order:
about 12 digits are kept, and no result depends on the processor, on threads or on which scores
are computed together.

Resamples are drawn block by block, each block from a generator of its own (PCG64, seeded by
the seed and the block's number). The size of a block depends on the number of units
alone, so draws depend on the seed and on nothing else; fewer resamples are the first ones of more.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rexrank.statistics.inputs import Floats, Integers, InvalidStatistics, check_resamples, check_seed, group_numbers
from rexrank.statistics.sample import Flags, Formula, Sample, scored

Tallies = NDArray[Any]

# Draws of one block: 8 bytes each for the positions drawn, for their tally and for the same as floats.
_BLOCK_DRAWS = 1 << 20
_BLOCK_RESAMPLES = 4096
# Draws whose tallies are kept for the next call, 1 byte each.
_KEPT_DRAWS = 1 << 25
# From here on columns go into another product.
_BATCH_COLUMNS = 256
_EXACT_BITS, _SMALLEST_EXPONENT = 53, -1000


@dataclass(frozen=True, eq=False)
class Draws:
    """Resamples of n studies, or of whole groups of them, each with as many units as there are.

    Attributes:
        n: Number of studies.
        resamples: Number of resamples.
        seed: Seed of the draws.
        numbers: Number of each study's group, [n]; None where single studies are drawn.
    """

    n: int
    resamples: int
    seed: int
    numbers: Integers | None = None

    @classmethod
    def of(cls, n: int, resamples: int = 10_000, seed: int = 0, groups: Sequence[Hashable] | None = None) -> "Draws":
        """Resamples of n studies.

        Args:
            n: Number of studies.
            resamples: Number of resamples.
            seed: Seed of the draws; equal arguments draw the same.
            groups: Group of each study (its patient), [n]; whole groups are drawn. None draws studies.

        Raises:
            InvalidStatistics: Options out of range, or groups that do not fit.
        """
        check_resamples(resamples)
        check_seed(seed)
        return cls(n, resamples, seed, None if groups is None else group_numbers(groups, n))

    @cached_property
    def units(self) -> int:
        """Number of studies, or of groups, that a resample draws."""
        return self.n if self.numbers is None else len(np.unique(self.numbers))

    def take(self, chosen: Flags) -> "Draws":
        """Resamples of some of the studies, by flag, [n]: of their groups, where groups are drawn."""
        numbers = None
        if self.numbers is not None:
            # Numbered by first study anew: a group's number does not depend on studies that are not there.
            numbers = group_numbers(self.numbers[chosen].tolist(), int(chosen.sum()))
        return Draws(int(chosen.sum()), self.resamples, self.seed, numbers)

    def scores(self, samples: Sequence[Sample]) -> Floats:
        """Scores of the resamples.

        Every sample sees the same draws, so differences of two rows are those of a paired bootstrap. Equal samples
        have equal rows, and a row does not depend on which other samples are in the call: to the last bit.

        Args:
            samples: Each with the same n studies in the same order. A study without a value is drawn and adds nothing.

        Returns:
            One row a sample, [len(samples), resamples]; nan where a resample has no score: no study with a value, or
            a formula that is undefined there.

        Raises:
            InvalidStatistics: A sample of another number of studies, an infinite value, or a formula that does not
                give one score a resample.
        """
        results = np.full((len(samples), self.resamples), np.nan)
        units = [self._units_of(position, sample) for position, sample in enumerate(samples)]
        if not self.units:
            return results
        batches = _batches(samples, units)
        for rows, tallies in _tallies(self.units, self.resamples, self.seed):
            drawn = tallies.astype(np.float64)
            for batch in batches:
                batch.score(drawn, rows, results)
        return results

    def tallies(self) -> Iterator[tuple[slice, Tallies]]:
        """How often each study is drawn: positions of resamples and whole numbers, [resamples of a block, n]."""
        if not self.units:
            return
        for rows, tallies in _tallies(self.units, self.resamples, self.seed):
            yield rows, tallies if self.numbers is None else tallies[:, self.numbers]

    def sums_of_units(self, rows: Floats) -> Floats:
        """Rows of studies, [n, k], added up within each unit, [units, k]."""
        if self.numbers is None:
            return rows
        sums = np.zeros((self.units, rows.shape[1]))
        np.add.at(sums, self.numbers, rows)
        return sums

    def _units_of(self, position: int, sample: Sample) -> Floats:
        """Statistics of each unit, and in a last column its number of studies that have a value."""
        if len(sample) != self.n:
            raise InvalidStatistics(f"samples[{position}]: expected {self.n} studies, got {len(sample)}")
        if np.isinf(sample.statistics).any():
            raise InvalidStatistics(f"samples[{position}]: a value is infinite")
        defined = sample.defined
        rows = np.where(defined[:, None], sample.statistics, 0.0)
        return self.sums_of_units(np.concatenate([rows, defined[:, None]], axis=1))


@dataclass(frozen=True)
class _Part:
    """One sample of a batch.

    The first unit is taken off each row and added back to the sums: a column that never varies then has the same sum
    in every resample, to the last bit.
    """

    position: int
    formula: Formula
    places: list[int]
    offsets: Floats
    may_lack_studies: bool

    def scores(self, sums: Floats) -> Floats:
        """Scores from the sums of all columns, [b, columns] to [b]."""
        own = sums[:, self.places] + self.offsets
        if not self.may_lack_studies:
            return self._scores(own)
        return np.where(own[:, -1] > 0, self._scores(own[:, :-1]), np.nan)

    def _scores(self, sums: Floats) -> Floats:
        scores = scored(self.formula, sums)
        if scores.shape != (len(sums),):
            raise InvalidStatistics(f"formula: expected {len(sums)} scores, got an array of shape {scores.shape}")
        return scores


@dataclass(frozen=True)
class _Batch:
    """Samples whose sums are one product: columns of units, each once, [units, columns]."""

    columns: Floats
    parts: list[_Part]

    def score(self, drawn: Floats, rows: slice, results: Floats) -> None:
        """Write the scores of some resamples, from how often each unit is drawn, [b, units]."""
        sums = drawn @ self.columns
        for part in self.parts:
            results[part.position, rows] = part.scores(sums)


def _batches(samples: Sequence[Sample], units: Sequence[Floats]) -> list[_Batch]:
    batches: list[_Batch] = []
    columns: dict[bytes, Floats] = {}
    places: dict[bytes, int] = {}
    parts: list[_Part] = []
    for position, (sample, rows) in enumerate(zip(samples, units, strict=True)):
        # Where each unit has a study with a value, so has each resample.
        may_lack = not rows[:, -1].all()
        kept = rows if may_lack else rows[:, :-1]
        own = []
        for column in _exact(kept - kept[0]).T:
            name = column.tobytes()
            columns[name] = column
            own.append(places.setdefault(name, len(places)))
        parts.append(_Part(position, sample.formula, own, kept[0] * len(kept), may_lack))
        if len(columns) >= _BATCH_COLUMNS or position == len(samples) - 1:
            batches.append(_Batch(np.stack(list(columns.values()), axis=1), parts))
            columns, places, parts = {}, {}, []
    return batches


def _exact(rows: Floats) -> Floats:
    """Rows of units, rounded so that sums of as many as there are lose nothing, whole numbers not at all."""
    largest = np.abs(rows).max(axis=0)
    places = np.frexp(largest)[1] + len(rows).bit_length() - _EXACT_BITS
    grid = np.ldexp(1.0, np.maximum(places, _SMALLEST_EXPONENT))
    # Adding 0 leaves no negative zeros: equal columns have equal bytes.
    return np.asarray(np.rint(rows / grid) * grid + 0.0)


def _tallies(count: int, resamples: int, seed: int) -> Iterator[tuple[slice, Tallies]]:
    """How often each unit is drawn, [resamples of a block, count], block by block."""
    size = max(1, min(_BLOCK_RESAMPLES, _BLOCK_DRAWS // count))
    if resamples * count <= _KEPT_DRAWS:
        yield from _kept_tallies(count, resamples, seed, size)
    else:
        yield from _drawn_tallies(count, resamples, seed, size)


# Scores of one set mostly have the same studies, and their intervals and comparisons then the same draws.
@lru_cache(maxsize=2)
def _kept_tallies(count: int, resamples: int, seed: int, size: int) -> list[tuple[slice, Tallies]]:
    kept = []
    for rows, tallies in _drawn_tallies(count, resamples, seed, size):
        narrow = tallies.astype(np.min_scalar_type(tallies.max()))
        narrow.flags.writeable = False
        kept.append((rows, narrow))
    return kept


def _drawn_tallies(count: int, resamples: int, seed: int, size: int) -> Iterator[tuple[slice, Tallies]]:
    for block, start in enumerate(range(0, resamples, size)):
        rows = min(size, resamples - start)
        generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(block,))))
        drawn = generator.integers(0, count, size=(rows, count))
        drawn += np.arange(rows)[:, None] * count
        tallies = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)
        yield slice(start, start + rows), tallies
