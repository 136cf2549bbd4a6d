"""Two systems on the same studies: is one better, by how much, and how sure is that.

Tests, both two-sided with p = (k + 1)/(n + 1), where k of n draws differ at least as much as the systems do:

- approximate randomisation (Noreen, "Computer-Intensive Methods for Testing Hypotheses", 1989;
  Riezler and Maxwell 2005): if the systems were alike, each study could have come from either, so their outputs
  are swapped study by study. Where all ways of swapping are no more than the draws asked for, each is taken once.
- paired bootstrap (Efron and Tibshirani 1993, section 16.4): studies are drawn with replacement, the same for both
  systems, and the spread of the differences around their own centre is compared with the difference. Of m units p is
  2^(1 - m) at least, the smallest that swapping them can give; below about twenty it still finds too much.

Studies of one group (a patient) are swapped, or drawn, together. A score of summed statistics (BLEU, F1) is computed
anew from the swapped or drawn sums: no text is scored again.

Effect size: mean of the studies' differences over their standard deviation (Cohen's d for paired values), and the
probability of superiority, the share of studies that the first system wins, ties counting half (Vargha and Delaney
2000, for pairs). Both with bootstrap intervals.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rexrank.errors import shown
from rexrank.statistics.bootstrap import Interval, ends_of, intervals
from rexrank.statistics.draws import Draws
from rexrank.statistics.inputs import Floats, InvalidStatistics, check_confidence, floats
from rexrank.statistics.power import detectable, standard_error
from rexrank.statistics.sample import Flags, Formula, Range, Sample, scored

Test = Literal["randomisation", "bootstrap"]
TESTS: tuple[Test, ...] = get_args(Test)

# Sums of the same numbers in another order differ by this much at most, relative to the scores.
_ROUNDING = 1e-12
# With fewer studies, or groups, the bootstrap test finds what is not there too often (docs/compare.md has figures).
FEWEST_OF_BOOTSTRAP = 20
# Of the variance of all differences.
_NO_SPREAD = 1e-9
# All ways of swapping are held at once; beyond so many they are drawn.
_MOST_WAYS = (1 << 16) - 1
# Signs held at once, 8 bytes each.
_BLOCK_SIGNS = 1 << 19


@dataclass(frozen=True)
class Estimate:
    """A number with its bootstrap interval, which is None where there is none.

    Attributes:
        value: The number.
        interval: Lower and upper limit, or None.
        undefined_draws: Resamples without such a number, which the interval had to leave out.
    """

    value: float
    interval: tuple[float, float] | None
    undefined_draws: int = 0


@dataclass(frozen=True)
class Paired:
    """How much two systems differ in one score, on the studies where both have a value.

    Attributes:
        difference: Score of the first minus score of the second; None where a score is undefined.
        interval: Bootstrap interval of the difference, or None.
        method: How the interval was made.
        p: Two-sided p value, or None.
        scores: Both scores on these studies.
        test: ``randomisation`` or ``bootstrap``.
        n: Studies with a value of both.
        left_out: Studies that lack a value of one or both.
        units: What was drawn or swapped: studies, or groups of them.
        draws: Draws behind p; with an `exact` test all ways of swapping but the one that is there.
        exact: Whether every way of swapping was taken.
        undefined_draws: Draws of the test without a score; they count against the difference.
        undefined_resamples: Resamples without a score, which the interval had to leave out.
        wins: Studies where the first has the higher value; None where no study has a value of its own.
        ties: Studies with equal values, or None.
        losses: Studies where the second has the higher value, or None.
        effect: Mean over standard deviation of the studies' differences, its interval by BCa; None without spread.
        superiority: Share of studies that the first wins, ties counting half, 0 to 1; or None.
        error: Standard error of the difference, or None.
        detectable: Smallest true difference that a test at 5 % finds with a probability of 80 %, or None.
    """

    difference: float | None
    interval: tuple[float, float] | None
    p: float | None
    scores: tuple[float | None, float | None]
    test: Test
    n: int
    left_out: int
    units: int
    method: str | None = None
    draws: int = 0
    exact: bool = False
    undefined_draws: int = 0
    undefined_resamples: int = 0
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    effect: Estimate | None = None
    superiority: Estimate | None = None
    error: float | None = None
    detectable: float | None = None


@dataclass(frozen=True, eq=False)
class Pair:
    """One score of two systems on the same studies in the same order.

    Attributes:
        first: Of the one system.
        second: Of the other.
        values: Values of single studies of both, [n] each, nan where undefined; None where studies have none.
    """

    first: Sample
    second: Sample
    values: tuple[Floats, Floats] | None = None

    @classmethod
    def of(cls, first: Sample, second: Sample, values: tuple[Floats, Floats] | None = None) -> "Pair":
        """The pair on the studies where both have a value; the others become undefined in both.

        Args:
            first: Of the one system, n studies.
            second: Of the other, the same studies.
            values: Values of studies, [n] each; by default those that a mean is made of.

        Raises:
            InvalidStatistics: Other numbers of studies.
        """
        if len(first) != len(second):
            raise InvalidStatistics(f"a and b: expected the same studies, got {len(first)} and {len(second)}")
        both = first.defined & second.defined
        if values is None and first.is_mean and second.is_mean:
            values = (first.statistics[:, 0], second.statistics[:, 0])
        if values is not None and not (both & ~np.isnan(values[0]) & ~np.isnan(values[1])).any():
            values = None
        return cls(_only(first, both), _only(second, both), values)

    @property
    def both(self) -> Flags:
        """Studies that both have a value of, [n]."""
        return self.first.defined

    @property
    def differences(self) -> Floats:
        """Differences of the studies' own values, [n]; 0 where only rounding differs, nan where one is undefined."""
        if self.values is None:
            return np.full(len(self.first), np.nan)
        left, right = self.values
        found = np.where(self.both, left - right, np.nan)
        return np.where(np.abs(found) <= _ROUNDING * (np.abs(left) + np.abs(right)), 0.0, found)

    @property
    def difference(self) -> Sample:
        """The difference of the scores as a score of its own, so that it is drawn like any other."""
        if self.first.is_mean and self.second.is_mean:
            return Sample.of_values(
                np.where(self.both, self.first.statistics[:, 0] - self.second.statistics[:, 0], np.nan)
            )
        width = self.first.statistics.shape[1]
        left, right = self.first.formula, self.second.formula
        statistics = np.concatenate([self.first.statistics, self.second.statistics], axis=1)
        range_ = _difference_of(self.first.range, self.second.range)
        return Sample(statistics, lambda sums: left(sums[:, :width]) - right(sums[:, width:]), range=range_)


def paired_test(
    a: ArrayLike | Sample,
    b: ArrayLike | Sample,
    resamples: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
    test: Test = "randomisation",
    confidence: float = 0.95,
) -> Paired:
    """Compare one score of two systems on the same studies.

    Args:
        a: One value a study, [n], nan where undefined; or a sample of a corpus score.
        b: The same studies of the other system.
        resamples: Draws of the test, and resamples of the intervals.
        seed: Seed of both.
        groups: Group of each study (its patient), [n]; whole groups are swapped and drawn. None: single studies.
        test: ``randomisation`` or ``bootstrap``.
        confidence: Of the intervals, between 0 and 1.

    Returns:
        The comparison; differences are those of `a` minus `b`.

    Raises:
        InvalidStatistics: Wrong shapes or options, or infinite values.
    """
    first, second = (
        one if isinstance(one, Sample) else Sample.of_values(floats(name, one, 1)) for name, one in (("a", a), ("b", b))
    )
    return paired_tests([Pair.of(first, second)], resamples, seed, groups, test, confidence)[0]


def paired_tests(
    pairs: Sequence[Pair],
    resamples: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
    test: Test = "randomisation",
    confidence: float = 0.95,
) -> list[Paired]:
    """Compare many scores of the same studies, all with the same draws.

    Args:
        pairs: One for each score.
        resamples: As in `paired_test`, and so the others.
        seed: Seed.
        groups: Groups.
        test: Test.
        confidence: Confidence.

    Raises:
        InvalidStatistics: Wrong shapes or options, or infinite values.
    """
    check_confidence(confidence)
    if not pairs:
        return []
    draws = Draws.of(len(pairs[0].first), resamples, seed, groups)
    options = (confidence, resamples, seed, groups)
    effects, superiorities = zip(*map(_effects, pairs), strict=True)
    ends = zip(
        intervals([pair.difference for pair in pairs], *options),
        # Draws of nearly equal differences have effects without bound, which move percentiles least.
        intervals(effects, *options, method="bca"),
        intervals(superiorities, *options),
        strict=True,
    )
    tested = _tested(pairs, draws, test)
    return [_paired(pair, draws, test, one, *three) for pair, one, three in zip(pairs, tested, ends, strict=True)]


def p_values(
    pairs: Sequence[Pair],
    resamples: int = 10_000,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
    test: Test = "randomisation",
) -> list[float | None]:
    """The p values of `paired_tests` alone, in a part of the time.

    Raises:
        InvalidStatistics: Wrong shapes or options, or infinite values.
    """
    if not pairs:
        return []
    return [one.p for one in _tested(pairs, Draws.of(len(pairs[0].first), resamples, seed, groups), test)]


def holm(p_values: Iterable[float]) -> list[float]:
    """Holm's correction of p values for the number of tests ("A simple sequentially rejective …", 1979).

    The chance of even one false finding in the family stays below the level, whatever hangs together in it.

    Args:
        p_values: Of the tests of one family.

    Returns:
        Corrected p values in the same order, at most 1.

    Raises:
        InvalidStatistics: A value that is no probability.
    """
    values = floats("p_values", list(p_values), 1)
    if not ((values >= 0) & (values <= 1)).all():
        raise InvalidStatistics("p_values: expected numbers from 0 to 1")
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(stepped, 1)
    return [float(value) for value in corrected]


@dataclass(frozen=True)
class _Tested:
    p: float | None
    draws: int
    exact: bool = False
    undefined: int = 0


def _only(sample: Sample, rows: Flags) -> Sample:
    return replace(sample, statistics=np.where(rows[:, None], sample.statistics, np.nan))


def _difference_of(left: Range | None, right: Range | None) -> Range:
    """What the difference of two scores can be."""
    (low, high), (lowest, highest) = left or (None, None), right or (None, None)
    return (
        None if low is None or highest is None else low - highest,
        None if high is None or lowest is None else high - lowest,
    )


def _effects(pair: Pair) -> tuple[Sample, Sample]:
    """Standardised mean difference and probability of superiority, as scores that can be drawn."""
    differences = pair.differences
    won = np.where(np.isnan(differences), np.nan, (np.sign(differences) + 1) / 2)
    known = differences[~np.isnan(differences)]
    # An effect has no unit, and squares of what is about 1 have no end of the floats near.
    unit = float(np.abs(known).max(initial=0.0)) or 1.0
    # Squares of what is centred lose no digits to a mean far from 0.
    centre = float(np.mean(known / unit)) if len(known) else 0.0
    centred = differences / unit - centre
    statistics = np.stack([centred, centred**2, np.where(np.isnan(centred), np.nan, 1.0)], axis=1)
    formula = _standardised(centre, float(np.mean((known / unit - centre) ** 2)) if len(known) else 0.0)
    return Sample(statistics, formula, range=(None, None)), replace(Sample.of_values(won), range=(0.0, 1.0))


def _standardised(centre: float, variance: float) -> Formula:
    """From sums of centred differences, their squares and their number to mean over standard deviation.

    Args:
        centre: What was taken off the differences.
        variance: Of all differences. What is left of it in draws of equal differences is rounding, and no spread.
    """
    least = max(_NO_SPREAD * variance, (_ROUNDING * centre) ** 2)

    def formula(sums: Floats) -> Floats:
        total, squares, number = sums.T
        with np.errstate(divide="ignore", invalid="ignore"):
            found = (squares - total**2 / number) / (number - 1)
            spread = np.sqrt(np.where(found > least, found, np.nan))
            return np.asarray((centre + total / number) / spread)

    return formula


def _paired(
    pair: Pair,
    draws: Draws,
    test: Test,
    tested: _Tested,
    ends: Interval | None,
    of_effect: Interval | None,
    of_superiority: Interval | None,
) -> Paired:
    difference, (effect, superiority) = pair.difference, _effects(pair)
    differences = pair.differences
    has_values = pair.values is not None
    error, units = standard_error(difference, draws), draws.take(pair.both).units
    if error is not None and error <= _rounding_of(pair):
        error = 0.0
    return Paired(
        difference=difference.score,
        interval=ends_of(ends),
        p=tested.p,
        scores=(pair.first.score, pair.second.score),
        test=test,
        n=int(pair.both.sum()),
        left_out=int((~pair.both).sum()),
        units=units,
        method=ends.method if ends else None,
        draws=tested.draws,
        exact=tested.exact,
        undefined_draws=tested.undefined,
        undefined_resamples=ends.undefined_draws if ends else 0,
        wins=int((differences > 0).sum()) if has_values else None,
        ties=int((differences == 0).sum()) if has_values else None,
        losses=int((differences < 0).sum()) if has_values else None,
        effect=_estimate(effect, of_effect),
        superiority=_estimate(superiority, of_superiority),
        error=error,
        detectable=None if error is None else detectable(error, units),
    )


def _estimate(sample: Sample, interval: Interval | None) -> Estimate | None:
    score = sample.score
    return None if score is None else Estimate(score, ends_of(interval), interval.undefined_draws if interval else 0)


def _tested(pairs: Sequence[Pair], draws: Draws, test: Test) -> list[_Tested]:
    if test not in TESTS:
        raise InvalidStatistics(f"test: expected {' or '.join(TESTS)}, got {shown(test)}")
    return _randomised(pairs, draws) if test == "randomisation" else _bootstrapped(pairs, draws)


def _bootstrapped(pairs: Sequence[Pair], draws: Draws) -> list[_Tested]:
    return [_bootstrap(pair, pair.difference, draws.take(pair.both)) for pair in pairs]


def _bootstrap(pair: Pair, difference: Sample, draws: Draws) -> _Tested:
    """The test on the studies that both have a value of."""
    observed = difference.score
    if observed is None or draws.units < 2:
        return _Tested(None, 0)
    drawn = draws.scores([difference.take(pair.both)])[0]
    undefined = int(np.isnan(drawn).sum())
    if undefined == len(drawn):
        return _Tested(None, len(drawn), undefined=undefined)
    # The variance of resamples of m units is too small by a factor of (m - 1)/m.
    apart = (drawn - np.nanmean(drawn)) * np.sqrt(draws.units / (draws.units - 1))
    # Few units have few different resamples, which are no evidence beyond that of all ways of swapping them.
    least = 2.0 ** (1 - min(draws.units, 1_000))
    return _Tested(max(_p(apart, observed, pair), least), len(drawn), undefined=undefined)


def _randomised(pairs: Sequence[Pair], draws: Draws) -> list[_Tested]:
    swaps = [_Swap.of(pair, draws) for pair in pairs]
    exact = [2 ** min(swap.active, 63) - 1 <= min(draws.resamples, _MOST_WAYS) for swap in swaps]
    drawn = [swap for swap, all_ways in zip(swaps, exact, strict=True) if not all_ways]
    apart = {id(swap): np.empty(draws.resamples) for swap in drawn}
    if drawn:
        for rows, signs in _signs(draws):
            for swap in drawn:
                apart[id(swap)][rows] = swap.differences(signs)
    tested = []
    for pair, swap, all_ways in zip(pairs, swaps, exact, strict=True):
        observed = pair.difference.score
        found = swap.all_differences() if all_ways else np.abs(apart[id(swap)])
        undefined = int(np.isnan(found).sum())
        if observed is None or draws.take(pair.both).units < 2:
            tested.append(_Tested(None, len(found), all_ways, undefined))
        else:
            tested.append(_Tested(_p(found, observed, pair), len(found), all_ways, undefined))
    return tested


def _p(apart: Floats, observed: float, pair: Pair) -> float:
    """Share of draws that differ at least as much as the systems do, these included; undefined ones count too."""
    reached = int((~(np.abs(apart) < abs(observed) - _rounding_of(pair))).sum())
    return (reached + 1) / (len(apart) + 1)


def _rounding_of(pair: Pair) -> float:
    """What rounding alone may make of the difference."""
    return _ROUNDING * sum(abs(score) for score in (pair.first.score, pair.second.score) if score is not None)


@dataclass(frozen=True, eq=False)
class _Swap:
    """Sums of both systems, and what each unit adds to the one and takes from the other when it is not swapped."""

    middle: Floats
    half: Floats
    pair: Pair

    @classmethod
    def of(cls, pair: Pair, draws: Draws) -> "_Swap":
        rows = [np.where(pair.both[:, None], one.statistics, 0.0) for one in (pair.first, pair.second)]
        left, right = map(draws.sums_of_units, rows)
        return cls((left.sum(axis=0) + right.sum(axis=0)) / 2, (left - right) / 2, pair)

    @property
    def active(self) -> int:
        """Units whose swap changes anything."""
        return int(self.half.any(axis=1).sum())

    def differences(self, signs: Floats) -> Floats:
        """Differences of the scores when units with -1 are swapped, [b, units] to [b]."""
        return self._scored(signs @ self.half)

    def all_differences(self) -> Floats:
        """Sizes of the differences for each way of swapping, but the one that is there."""
        half = self.half[self.half.any(axis=1)]
        ways = np.arange(1, 2 ** len(half))
        signs = 1.0 - 2.0 * ((ways[:, None] >> np.arange(len(half))) & 1)
        return np.abs(self._scored(signs @ half))

    def _scored(self, moved: Floats) -> Floats:
        left = scored(self.pair.first.formula, self.middle + moved)
        return left - scored(self.pair.second.formula, self.middle - moved)


def _signs(draws: Draws) -> Iterator[tuple[slice, Floats]]:
    """Random signs of the units, block by block; they depend on the seed and the number of units alone."""
    generator = np.random.default_rng(np.random.SeedSequence(draws.seed, spawn_key=(0, 0)))
    size = max(1, _BLOCK_SIGNS // max(draws.units, 1))
    for start in range(0, draws.resamples, size):
        rows = min(size, draws.resamples - start)
        bits = generator.integers(0, 2, size=(rows, draws.units), dtype=np.int8)
        yield slice(start, start + rows), 1.0 - 2.0 * bits.astype(np.float64)
