"""What scores of whole systems say: how alike metrics order them, and how steady their ranks are between benchmarks.

The questions are those of the ReXrank paper (Zhang et al., arXiv 2411.15122): do metrics agree on the order of
models, and does an order on one benchmark hold on another? Nothing here averages raw scores of different benchmarks:
these differ in difficulty, so only ranks are set side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rexrank.metrics.outcome import Floats
from rexrank.statistics.correlation import spearman
from rexrank.terms import Direction

# With fewer systems an order has so few forms that agreement says nothing.
FEWEST_SYSTEMS = 4

Matrix = list[list[float | None]]


@dataclass(frozen=True, eq=False)
class SystemTable:
    """Scores of systems on one set of studies.

    Attributes:
        label: What the set is called.
        names: Of the systems.
        keys: Score keys, the ranking one first.
        labels: Their names for readers.
        directions: Which values of each are better.
        values: Scores, float64 [systems, keys]; nan where a system has none.
    """

    label: str
    names: tuple[str, ...]
    keys: tuple[str, ...]
    labels: tuple[str, ...]
    directions: tuple[Direction, ...]
    values: Floats

    @property
    def quality(self) -> Floats:
        """The scores turned so that higher is better, [systems, keys]."""
        return turned(self.values, self.directions)

    def take(self, names: Sequence[str]) -> "SystemTable":
        """The same scores of some systems, in the order of their names."""
        rows = [self.names.index(name) for name in names]
        return SystemTable(self.label, tuple(names), self.keys, self.labels, self.directions, self.values[rows])


def turned(values: Floats, directions: Sequence[Direction]) -> Floats:
    """Values, [..., keys], turned so that higher is better."""
    return np.asarray(values * np.array([-1.0 if direction == "lower" else 1.0 for direction in directions]))


def metric_agreement(table: SystemTable) -> Matrix:
    """Spearman's correlation of the orders in which each two scores put the systems, all turned to higher is better.

    Returns:
        ``[keys][keys]``; None where fewer than two systems have both scores, or all have the same one.
    """
    columns = table.quality.T
    return [[spearman(left, right) for right in columns] for left in columns]


def ranks(values: Floats) -> list[int | None]:
    """Places by values where higher is better, [n]: equal ones share a place; None for nan."""
    return [None if np.isnan(value) else 1 + int((values > value).sum()) for value in values]


@dataclass(frozen=True)
class Spread:
    """Ranks of one system over several benchmarks.

    Attributes:
        name: Of the system.
        ranks: Its place in each, among the systems that all have.
    """

    name: str
    ranks: tuple[int, ...]

    @property
    def mean(self) -> float:
        """Mean place. No page shows it: two benchmarks that ask for the same would count twice."""
        return sum(self.ranks) / len(self.ranks)

    @property
    def way(self) -> int:
        """How far its best and its worst place lie apart."""
        return max(self.ranks) - min(self.ranks)


@dataclass(frozen=True)
class Robustness:
    """How the order of systems holds from benchmark to benchmark.

    Attributes:
        benchmarks: Labels of the tables.
        spreads: Of the systems that are ranked in every table, in the order of the first one.
        agreement: Spearman's correlation of the orders on each two benchmarks, ``[benchmarks][benchmarks]``.
        left_out: Systems that some table lacks.
    """

    benchmarks: tuple[str, ...]
    spreads: tuple[Spread, ...]
    agreement: Matrix
    left_out: tuple[str, ...]


def robustness(tables: Sequence[SystemTable], key: str) -> Robustness:
    """Set the ranks of systems on several benchmarks side by side.

    Args:
        tables: One a benchmark; each has the key.
        key: Score that ranks.
    """
    columns = [
        dict(zip(table.names, table.quality[:, table.keys.index(key)].tolist(), strict=True)) for table in tables
    ]
    every = list(dict.fromkeys(name for table in tables for name in table.names))
    shared = [name for name in every if all(not np.isnan(column.get(name, np.nan)) for column in columns)]
    values = [np.array([column[name] for name in shared]) for column in columns]
    placed = [ranks(column) for column in values]
    spreads = [Spread(name, tuple(places[index] or 0 for places in placed)) for index, name in enumerate(shared)]
    return Robustness(
        benchmarks=tuple(table.label for table in tables),
        spreads=tuple(sorted(spreads, key=lambda one: (one.ranks, one.name))),
        agreement=[[spearman(left, right) for right in values] for left in values],
        left_out=tuple(name for name in every if name not in shared),
    )
