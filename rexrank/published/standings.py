"""The published tables in order: ranks within a table, across benchmarks and over time, by the board's own rules.

A published row has no per-study scores, so no rank here has a range, and none may be given one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from rexrank.board import ranking
from rexrank.published.checks import Flag, flags
from rexrank.published.record import NEWEST, PublishedRow, Snapshot, key_of, rows, snapshots
from rexrank.published.scores import printed_score

NO_RANGE = (
    "No rank has a range: no scores of single studies were published, so how sure an order is cannot be said, and "
    "most neighbours may as well stand the other way round."
)
# rexrank.md, sections 10 and 11, of the tables of 2026-08: orders correlate at .89 and .90 within, .55 to .66 between.
NO_MEAN = (
    "No mean of ranks is given: the orders on IU-Xray and ReXGradient go together, and those on MIMIC-CXR and CheXpert "
    "Plus, so a plain mean would count each of two answers twice."
)
_NO_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Place:
    """A row where it stands.

    Attributes:
        row: What was printed.
        rank: Rank in its table, equal values sharing one; None where the deciding score is blank.
        flags: What is odd about the row.
    """

    row: PublishedRow
    rank: int | None
    flags: tuple[Flag, ...]


@dataclass(frozen=True)
class PublishedTable:
    """One printed table, ranked.

    Attributes:
        snapshot: Where it is from.
        benchmark: Name of the test set.
        split: Part of it; None where the source says nothing.
        track: Text that was compared; None where the source does not say.
        deciding: Score key that ranks; None where the table prints none of the snapshot's.
        columns: Score keys in the order of the source, the deciding one first.
        places: The rows, best first, those without a rank last.
    """

    snapshot: Snapshot
    benchmark: str
    split: str | None
    track: str | None
    deciding: str | None
    columns: tuple[str, ...]
    places: tuple[Place, ...]

    @property
    def name(self) -> str:
        """Snapshot, benchmark, track and split, for a heading."""
        split = f" ({self.split})" if self.split else ""
        return f"{self.snapshot.name}, {self.benchmark}{f', {self.track}' if self.track else ''}{split}"

    @property
    def cases(self) -> str:
        """Number of cases, or why it is not known."""
        row = self.places[0].row
        if any((place.row.n, place.row.n_said) != (row.n, row.n_said) for place in self.places):
            return "n differs between the rows or is not published"
        return f"{row.n:,} {row.n_said}" if row.n else f"n {row.n_said}"


def tables(published: Sequence[PublishedRow]) -> list[PublishedTable]:
    """Put rows together into tables and rank each.

    Args:
        published: Rows of whole tables (`rexrank.published.rows`).

    Returns:
        The tables, in the order in which their first rows come.
    """
    found: dict[tuple[str, ...], list[int]] = {}
    for position, row in enumerate(published):
        found.setdefault(row.table, []).append(position)
    flagged = flags(published)
    states = {(state.board, state.name): state for state in snapshots(None)}
    made = []
    for positions in found.values():
        first = published[positions[0]]
        state = states[first.board, first.snapshot]
        members = [published[position] for position in positions]
        made.append(_table(state, members, [flagged[position] for position in positions]))
    return made


def _table(state: Snapshot, members: Sequence[PublishedRow], flagged: Sequence[tuple[Flag, ...]]) -> PublishedTable:
    printed = list(dict.fromkeys(key for row in members for key in row.scores))
    key = ranking.choose(state.ranking, printed, {name: printed_score(name).direction for name in printed})
    direction = key.direction if key else "higher"
    standings = [_standing(row, key) for row in members]
    ranks = ranking.ranks(standings, direction)
    first = members[0]
    return PublishedTable(
        snapshot=state,
        benchmark=first.benchmark,
        split=first.split,
        track=first.track,
        deciding=key.name if key else None,
        columns=tuple(sorted(printed, key=lambda name: key is None or name != key.name)),
        places=tuple(Place(members[i], ranks[i], flagged[i]) for i in ranking.order(standings, direction)),
    )


def _standing(row: PublishedRow, key: ranking.Key | None) -> ranking.Standing:
    # A blank cell in another column costs no rank: the sites rank such rows, and it is their order that is shown.
    value = row.scores.get(key.name) if key else None
    return ranking.Standing(
        group=row.table, value=value, complete=True, stale=False, submitted_at=_NO_TIME, name=row.model
    )


def across(track: str = "findings", snapshot: str | None = None) -> dict[str, dict[str, Place]]:
    """Ranks of each model of ReXrank on each benchmark, side by side.

    Args:
        track: ``findings`` or ``report``.
        snapshot: Name of a snapshot; the newest complete one by default.

    Returns:
        Place by benchmark, by name of the model; a benchmark where the model has no row is absent. Models stand in the
        order of their ranks on the first benchmark. Where a benchmark has several splits, its test split counts.

    Raises:
        UnknownTable: There is no such track or snapshot.
    """
    found: dict[str, dict[str, Place]] = {}
    names: dict[str, str] = {}
    for table in _one_a_benchmark(tables(rows(None, track, snapshot or NEWEST))):
        for place in table.places:
            name = names.setdefault(place.row.model_key, place.row.model)
            found.setdefault(name, {})[table.benchmark] = place
    return found


def _one_a_benchmark(found: Iterable[PublishedTable]) -> list[PublishedTable]:
    chosen: dict[str, PublishedTable] = {}
    for table in found:
        if table.benchmark not in chosen or table.split == "test":
            chosen[table.benchmark] = table
    return list(chosen.values())


def history(model: str) -> list[tuple[PublishedTable, Place]]:
    """All places of a model of ReXrank, oldest first, in whichever way a table spells its name.

    Args:
        model: Name of the model, in any case.

    Returns:
        Each table with the model's place in it; empty where no table has it.
    """
    wanted = key_of(model)
    return [(table, place) for table in _record() for place in table.places if place.row.model_key == wanted]


@cache
def _record() -> tuple[PublishedTable, ...]:
    return tuple(tables(rows()))


def model_names(published: Sequence[PublishedRow]) -> Mapping[str, str]:
    """Name of each model by its key, as the newest of the rows spells it."""
    return {row.model_key: row.model for row in published}
