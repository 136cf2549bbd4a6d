"""One score of one system on one set of studies, in the form that every resampling needs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Formula = Callable[[Floats], Floats]
Range = tuple[float | None, float | None]


@dataclass(frozen=True, eq=False)
class Sample:
    """What each study adds to a score, and how the sums make the score.

    A resample draws rows and never scores a text again.

    Attributes:
        statistics: Additive sufficient statistics, float64 [n, k]; a study without a value has a row with nan.
        formula: From sums, [b, k], to scores, [b]; nan or infinite where sums have none (no study,
            a class without positives).
        is_mean: Whether the score is the mean of values of studies, which `statistics` then holds in its first column.
        range: Lowest and highest possible score, None where unbounded, beyond which no interval reaches; None where
            nothing is known of it, and an interval then stays within the resampled scores.
    """

    statistics: Floats
    formula: Formula
    is_mean: bool = False
    range: Range | None = None

    @classmethod
    def of_values(cls, values: ArrayLike) -> "Sample":
        """The sample of a score that is the mean of its studies' values, [n]; nan marks an undefined one.

        Its range is that of the values: no mean of them lies beyond.
        """
        column = np.asarray(values, dtype=np.float64)
        statistics = np.stack([column, np.where(np.isnan(column), np.nan, 1.0)], axis=1)
        known = column[~np.isnan(column)]
        ends = (float(known.min()), float(known.max())) if len(known) else None
        return cls(statistics, mean, is_mean=True, range=ends)

    def __len__(self) -> int:
        return len(self.statistics)

    @property
    def defined(self) -> Flags:
        """Which studies have a value, [n]."""
        return np.asarray(~np.isnan(self.statistics).any(axis=1))

    @property
    def score(self) -> float | None:
        """The score of all studies that have a value, or None."""
        defined = self.defined
        if not defined.any():
            return None
        value = float(scored(self.formula, self.statistics[defined].sum(axis=0, keepdims=True))[0])
        return None if np.isnan(value) else value

    def take(self, rows: NDArray[Any]) -> "Sample":
        """The same score on some of the studies, by position or by flag."""
        return replace(self, statistics=self.statistics[rows])


def scored(formula: Formula, sums: Floats) -> Floats:
    """Scores from sums, [b, k] to [b]; nan where the formula has none, or an infinite one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.asarray(formula(sums), dtype=np.float64)
    return np.where(np.isinf(scores), np.nan, scores)


def mean(sums: Floats) -> Floats:
    """Means from sums of values and numbers of studies, [b, 2] to [b]; nan without a study."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums[:, 0] / sums[:, 1])
