"""The order of the leaderboard: rules Q38 to Q44, and ReXrank's ranking as rexrank repairs it."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rexrank.terms import Direction


@dataclass(frozen=True)
class Key:
    """What rows are ranked by.

    Attributes:
        name: Score key.
        direction: Which values are better.
        provisional: Whether the protocol names an earlier key that this host does not compute.
    """

    name: str
    direction: Direction
    provisional: bool


@dataclass(frozen=True)
class Standing:
    """What decides the place of one row.

    Attributes:
        group: Rows are ranked only within one group (dataset, split, section, protocol, version, convention).
        value: Raw value of the ranking key; None where there is none.
        complete: Whether every required metric has a value.
        stale: Whether an outdated metric or reference stands behind it.
        submitted_at: Earlier ones come first among equals.
        name: Then in this order.
    """

    group: Hashable
    value: float | None
    complete: bool
    stale: bool
    submitted_at: datetime
    name: str

    @property
    def ranked(self) -> bool:
        """Whether the row takes part at all."""
        return self.complete and not self.stale and self.value is not None


def choose(ranking: Sequence[str], computed: Collection[str], directions: Mapping[str, Direction]) -> Key | None:
    """Pick the ranking key: the first of the protocol's that the host computes.

    Args:
        ranking: The protocol's ranking keys, the main one first.
        computed: Score keys that the host computes.
        directions: Direction of each known score key.

    Returns:
        The key, or None when the host computes none of them.
    """
    for position, name in enumerate(ranking):
        if name in computed and directions.get(name, "none") != "none":
            return Key(name, directions[name], provisional=position > 0)
    return None


def ranks(rows: Sequence[Standing], direction: Direction) -> list[int | None]:
    """Rank rows within their groups.

    Equal values at full precision share a rank and the next rank is skipped (1, 2, 2, 4).

    Returns:
        One rank a row, in the order of the rows; None for rows that are incomplete, stale or without a value.
    """
    values: dict[Hashable, list[float]] = {}
    for row in rows:
        if row.ranked and row.value is not None:
            values.setdefault(row.group, []).append(row.value)
    found: list[int | None] = []
    for row in rows:
        if not row.ranked or row.value is None:
            found.append(None)
            continue
        better = sum(_better(other, row.value, direction) for other in values[row.group])
        found.append(better + 1)
    return found


def order(rows: Sequence[Standing], direction: Direction, best_first: bool = True) -> list[int]:
    """Sort rows for display.

    Rows without a value come last in both directions; of the others the complete ones come first. Among equals the
    earlier submission comes first, then the name. A number that judges nothing stands with the largest first.

    Returns:
        Positions in ``rows``, in the order to show.
    """
    descending = (direction != "lower") == best_first

    def place(position: int) -> tuple[bool, bool, float, datetime, str]:
        row = rows[position]
        missing = row.value is None
        value = 0.0 if row.value is None else (-row.value if descending else row.value)
        return (missing, not row.complete or row.stale, value, row.submitted_at, row.name)

    return sorted(range(len(rows)), key=place)


def _better(other: float, value: float, direction: Direction) -> bool:
    return other > value if direction == "higher" else other < value
