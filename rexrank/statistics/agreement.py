"""How well scores agree with experts, and which scores can be told apart by that.

Everything is turned so that higher is better, so a positive value means that a score ranks candidates as the experts
do. Studies are drawn with replacement and bring all of their candidates along; every score meets the same draws, so
differences are paired. Intervals are percentile bootstrap intervals (Efron and Tibshirani, 1993, chapter 13); p of a
difference is two-sided, (k + 1) / (resamples + 1) with k draws on the other side of 0, and corrected for all pairs of
scores (Holm, 1979). Scores that no test tells apart form a group, as in compact letter displays (Piepho, "An algorithm
for a letter-based representation of all-pairwise comparisons", 2004).
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rexrank.statistics.correlation import Coefficient, correlation, resampled_correlation
from rexrank.statistics.draws import Draws
from rexrank.statistics.inputs import InvalidStatistics
from rexrank.statistics.paired import holm

Floats = NDArray[np.float64]
Measure = Literal["kendall", "spearman", "pearson", "preference"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

# A score that does not choose between two candidates is right half of the time.
_TIE_CREDIT = 0.5
# By so much a perfect order may seem less than that.
_ROUNDING = 1e-12
# Of a mean of raters: decimal ratings are no exact floats, and their ties would depend on the order of raters.
_MEAN_DIGITS = 12


@dataclass(frozen=True)
class Estimate:
    """One coefficient with its uncertainty.

    Attributes:
        value: The coefficient; from -1 to 1, a preference accuracy from 0 to 1. None where it is undefined.
        interval: Lower and upper limit; None where there is none, as for a perfect correlation.
        n: Candidates that it rests on; of a preference accuracy the pairs of candidates.
        undefined_draws: Resamples in which it is undefined; the interval is of the others.
        ties: Of a preference accuracy: ``experts``, pairs that the experts hold for equal, which are left out, and
            ``score``, pairs that the score holds for equal, each half right.
    """

    value: float | None
    interval: tuple[float, float] | None
    n: int
    undefined_draws: int = 0
    ties: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Difference:
    """How much better one score agrees than another.

    Attributes:
        better: The score with the higher coefficient on the candidates that both have.
        worse: The other.
        difference: Of the coefficients on the candidates that both have; never negative.
        interval: Lower and upper limit, not corrected for the number of pairs.
        p: Two-sided.
        p_holm: The same, corrected for all pairs of scores.
    """

    better: str
    worse: str
    difference: float
    interval: tuple[float, float]
    p: float
    p_holm: float


@dataclass(frozen=True)
class Comparison:
    """All scores by one coefficient.

    Attributes:
        estimates: Score to its coefficient, the best one first, undefined ones last.
        differences: Of all pairs of scores that can be compared.
        groups: Scores that cannot be told apart, each group as large as can be, in the order of `estimates`; a score
            can be in several.
    """

    estimates: dict[str, Estimate]
    differences: list[Difference]
    groups: list[list[str]]


@dataclass(frozen=True)
class BetweenRaters:
    """How well raters agree with one another, by one coefficient.

    Attributes:
        pairs: Two raters to their agreement.
        mean: Of all pairs.
        against_others: Rater to the agreement with the mean of the other raters, where there are at least three: what
            a score that is compared with a mean of raters can be held against.
        mean_against_others: Of all raters, or None.
    """

    pairs: dict[tuple[str, str], Estimate]
    mean: Estimate
    against_others: dict[str, Estimate]
    mean_against_others: Estimate | None


@dataclass(frozen=True)
class _Drawn:
    """A coefficient and what it is in every resample."""

    estimate: Estimate
    draws: Floats


class Resampling:
    """Candidates of studies, drawn by whole studies; each coefficient is computed once.

    Args:
        studies: Study of each candidate, [n]; preferences are between candidates of one study.
        groups: What is drawn as a whole, [n], such as the patient of each candidate; None for the study.
        confidence: Share of the resampled coefficients inside an interval, between 0 and 1.
        resamples: Number of resamples.
        seed: Seed of the random draws.

    Raises:
        InvalidStatistics: No candidate, or options out of their range.
    """

    def __init__(
        self,
        studies: Sequence[Hashable],
        groups: Sequence[Hashable] | None = None,
        confidence: float = 0.95,
        resamples: int = 10_000,
        seed: int = 0,
    ) -> None:
        if not len(studies):
            raise InvalidStatistics("studies: expected the study of each candidate, got none")
        if not 0 < confidence < 1:
            raise InvalidStatistics(f"confidence: expected a number between 0 and 1, got {confidence}")
        self._codes = _numbered(studies)
        drawn = studies if groups is None else groups
        draws = Draws.of(len(self._codes), resamples, seed, groups=drawn)
        self._units = _numbered(drawn)
        self.units = draws.units
        self.confidence, self.resamples = confidence, resamples
        self._weights = np.concatenate([tallies for _, tallies in draws.tallies()]).astype(np.float32)
        self._pairs = _pairs_within(self._codes)

    def compare(self, measure: Measure, scores: Mapping[str, ArrayLike], expert: ArrayLike) -> Comparison:
        """Hold scores against experts, and against each other.

        Args:
            measure: Which coefficient.
            scores: Name to one value a candidate, [n]; higher is better, nan where undefined.
            expert: What the experts say of each candidate, [n]; higher is better, nan where they say nothing.

        Raises:
            InvalidStatistics: Wrong shapes, or infinite values.
        """
        columns = {name: self._column(name, values) for name, values in scores.items()}
        truth = self._column("experts", expert)
        drawn = {name: self._drawn(measure, column, truth) for name, column in columns.items()}
        order = sorted(drawn, key=lambda name: _descending(drawn[name].estimate.value))
        differences = self._differences(measure, {name: columns[name] for name in order}, truth, drawn)
        defined = [name for name in order if drawn[name].estimate.value is not None]
        apart = [(one.better, one.worse) for one in differences if one.p_holm < 1 - self.confidence]
        return Comparison({name: drawn[name].estimate for name in order}, differences, _groups(defined, apart))

    def between(self, measure: Measure, raters: Mapping[str, ArrayLike]) -> BetweenRaters | None:
        """Hold raters against each other.

        Args:
            measure: Which coefficient.
            raters: Rater to one judgement a candidate, [n]; higher is better, nan where there is none.

        Returns:
            None where no two raters judged the same candidates.

        Raises:
            InvalidStatistics: Wrong shapes, or infinite values.
        """
        columns = {name: self._column(name, values) for name, values in raters.items()}
        pairs = {
            pair: self._drawn(measure, columns[pair[0]], columns[pair[1]])
            for pair in combinations(columns, 2)
            if (~np.isnan(columns[pair[0]]) & ~np.isnan(columns[pair[1]])).any()
        }
        if not pairs:
            return None
        others = {}
        if len(columns) > 2:
            means = {name: _mean_without(name, columns) for name in columns}
            others = {name: self._drawn(measure, columns[name], mean) for name, mean in means.items()}
        return BetweenRaters(
            {pair: one.estimate for pair, one in pairs.items()},
            self._mean(list(pairs.values())),
            {name: one.estimate for name, one in others.items()},
            self._mean(list(others.values())) if others else None,
        )

    def _column(self, name: str, values: ArrayLike) -> Floats:
        column = np.asarray(values, dtype=np.float64)
        if column.shape != self._codes.shape:
            raise InvalidStatistics(f"{name}: expected {len(self._codes)} values, got an array of {column.shape}")
        if np.isinf(column).any():
            raise InvalidStatistics(f"{name}: a value is infinite; nan marks an undefined one")
        return column

    def _drawn(self, measure: Measure, score: Floats, expert: Floats) -> _Drawn:
        if measure == "preference":
            return self._preference(score, expert)
        value, draws = self._correlation(measure, score, expert)
        both = int((~np.isnan(score) & ~np.isnan(expert)).sum())
        return _Drawn(self._estimate(value, draws, both), draws)

    def _correlation(self, measure: Coefficient, score: Floats, expert: Floats) -> tuple[float | None, Floats]:
        value = correlation(measure, score, expert)
        if value is None:
            return None, np.full(self.resamples, np.nan)
        return value, resampled_correlation(measure, score, expert, self._weights)

    def _preference(self, score: Floats, expert: Floats) -> _Drawn:
        first, second = self._pairs
        theirs, its = expert[first] - expert[second], score[first] - score[second]
        both = ~np.isnan(theirs) & ~np.isnan(its)
        chosen = both & (theirs != 0)
        credit = np.where(its == 0, _TIE_CREDIT, np.sign(its) == np.sign(theirs))[chosen]
        weights = self._weights[:, first[chosen]]
        with np.errstate(invalid="ignore"):
            draws = (weights @ credit) / weights.sum(axis=1)
        value = float(credit.mean()) if len(credit) else None
        ties = {"experts": int((both & (theirs == 0)).sum()), "score": int((chosen & (its == 0)).sum())}
        estimate = self._estimate(value, draws, len(credit), ties)
        if value in (0.0, 1.0) and self.units > 1:
            estimate = replace(estimate, interval=self._all_alike(value, len(np.unique(self._units[first[chosen]]))))
        return _Drawn(estimate, draws)

    def _all_alike(self, value: float, units: int) -> tuple[float, float]:
        """The exact interval where all pairs are right, or all wrong, and no resample differs.

        Clopper and Pearson, "The use of confidence or fiducial limits", Biometrika 26, 1934, with units for trials.
        """
        least = ((1 - self.confidence) / 2) ** (1 / units)
        return (least, 1.0) if value else (0.0, 1 - least)

    def _estimate(self, value: float | None, draws: Floats, n: int, ties: Mapping[str, int] | None = None) -> Estimate:
        if value is None:
            return Estimate(None, None, n, ties=ties or {})
        # A perfect order is perfect in every resample, which says nothing of how sure it is.
        interval = self._interval(draws) if abs(value) < 1 - _ROUNDING else None
        return Estimate(value, interval, n, int(np.isnan(draws).sum()), ties or {})

    def _interval(self, draws: Floats) -> tuple[float, float] | None:
        defined = draws[~np.isnan(draws)]
        # Every resample of one unit is that unit.
        if self.units < 2 or not len(defined):
            return None
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(defined, [tail, 1 - tail])
        return float(low), float(high)

    def _mean(self, parts: Sequence[_Drawn]) -> Estimate:
        """The mean of coefficients that are defined; undefined where one is not, in every resample too."""
        values = [one.estimate.value for one in parts]
        draws = np.mean([one.draws for one in parts], axis=0)
        value = None if None in values else float(np.mean([value for value in values if value is not None]))
        return self._estimate(value, draws, min(one.estimate.n for one in parts))

    def _differences(
        self, measure: Measure, columns: Mapping[str, Floats], expert: Floats, drawn: Mapping[str, _Drawn]
    ) -> list[Difference]:
        found: list[tuple[str, str, float, tuple[float, float], float]] = []
        for names in combinations(columns, 2):
            pair = self._on_common(measure, names, columns, expert, drawn)
            ordered = sorted(zip(names, pair, strict=True), key=lambda one: _descending(one[1].estimate.value))
            (better, first), (worse, second) = ordered
            draws = first.draws - second.draws
            interval = self._interval(draws)
            if first.estimate.value is None or second.estimate.value is None or interval is None:
                continue
            difference = first.estimate.value - second.estimate.value
            found.append((better, worse, difference, interval, _two_sided(draws)))
        corrected = holm([one[-1] for one in found])
        return [Difference(*one, p_holm=p_holm) for one, p_holm in zip(found, corrected, strict=True)]

    def _on_common(
        self,
        measure: Measure,
        names: tuple[str, str],
        columns: Mapping[str, Floats],
        expert: Floats,
        drawn: Mapping[str, _Drawn],
    ) -> list[_Drawn]:
        """Two scores on the candidates for which both have a value."""
        missing = np.isnan(columns[names[0]]), np.isnan(columns[names[1]])
        if (missing[0] == missing[1]).all():
            return [drawn[name] for name in names]
        truth = np.where(missing[0] | missing[1], np.nan, expert)
        return [self._drawn(measure, columns[name], truth) for name in names]


def _numbered(names: Sequence[Hashable]) -> NDArray[np.int64]:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names])


def _pairs_within(codes: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of candidates of the same study, by position."""
    order = np.argsort(codes, kind="stable")
    pairs = [
        pair
        for members in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
        for pair in combinations(members.tolist(), 2)
    ]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return first, second


def _mean_without(name: str, columns: Mapping[str, Floats]) -> Floats:
    """Mean of the other raters, nan for a candidate that one of them did not judge: raters differ in severity."""
    means = np.mean([column for other, column in columns.items() if other != name], axis=0)
    return np.asarray(np.round(means, _MEAN_DIGITS))


def _descending(value: float | None) -> float:
    return float("inf") if value is None else -value


def _two_sided(draws: Floats) -> float:
    defined = draws[~np.isnan(draws)]
    beyond = min(int((defined <= 0).sum()), int((defined >= 0).sum()))
    return min(1.0, 2 * (beyond + 1) / (len(defined) + 1))


def _groups(names: Sequence[str], apart: Sequence[tuple[str, str]]) -> list[list[str]]:
    """The largest sets without a pair that is told apart: one set is split by each pair, and parts of others go."""
    sets = [frozenset(names)]
    for first, second in apart:
        both = frozenset((first, second))
        split = [part for one in sets for part in ([one - {first}, one - {second}] if both <= one else [one])]
        sets = [one for one in dict.fromkeys(split) if not any(one < other for other in split)]
    ordered = [[name for name in names if name in one] for one in sets if one]
    return sorted(ordered, key=lambda group: [names.index(name) for name in group])
