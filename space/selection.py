"""From a visitor's wish to the rows and columns of the leaderboard; no page here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from space.data import BoardData
from space.rules import Rules, rules, with_inverses
from space.table import BY_RANK, DEFAULT_PLAIN_COLUMNS, PLAIN_COLUMNS, TEXT_COLUMNS, Column, Row, arranged, search


@dataclass(frozen=True)
class Wish:
    """What a visitor wants to see; empty strings stand for "the board decides".

    Attributes:
        benchmark: Name of the benchmark.
        track: Text that is compared.
        protocol: Rule book as ``name@version``.
        sort: Key of a column.
        best_first: Order.
        text: Words to search for.
        chosen: Keys of the chosen columns; None for the default.
        model: Result id whose details are open.
    """

    benchmark: str = ""
    track: str = ""
    protocol: str = ""
    sort: str = ""
    best_first: bool = True
    text: str = ""
    chosen: tuple[str, ...] | None = None
    model: str = ""


@dataclass(frozen=True)
class Page:
    """Everything the page shows, worked out from the data and a wish.

    Attributes:
        wish: The wish with every blank filled in.
        benchmarks: Offered benchmarks.
        tracks: Offered tracks of the benchmark.
        protocols: Offered protocols of the track.
        rules: How the track is shown.
        group: All rows of the track.
        rows: Those that are shown, in order.
        columns: The score columns that are shown.
        plain: The other columns that are shown.
    """

    wish: Wish
    benchmarks: list[str]
    tracks: list[str]
    protocols: list[str]
    rules: Rules
    group: list[Row]
    rows: list[Row]
    columns: list[Column]
    plain: list[str]


def arrange_page(data: BoardData, wish: Wish) -> Page:
    """Work out what the page shows.

    Args:
        data: What the board knows.
        wish: What the visitor wants; what does not exist falls back to the first offer.
    """
    host = data.host
    benchmarks = _united(host.benchmarks if host else (), (str(row["dataset"]) for row in data.leaderboard))
    benchmark = _pick(wish.benchmark, benchmarks, {str(row["dataset"]) for row in data.leaderboard})
    rows = [row for row in data.leaderboard if row["dataset"] == benchmark]
    offered = host.benchmarks.get(benchmark) if host else None
    tracks = _united(offered.tracks if offered else (), (str(row["section"]) for row in rows))
    track = _pick(wish.track, tracks, {str(row["section"]) for row in rows})
    rows = [row for row in rows if row["section"] == track]
    protocols = _united(host.protocols if host else (), map(protocol_of, rows))
    protocol = _pick(wish.protocol, protocols, set(map(protocol_of, rows)))
    group = [row for row in rows if protocol_of(row) == protocol]
    how = rules(protocol, host, group)
    group = [with_inverses(row, how.columns) for row in group]
    keys = [column.key for column in how.columns]
    chosen = (*keys, *DEFAULT_PLAIN_COLUMNS) if wish.chosen is None else wish.chosen
    sort = wish.sort if wish.sort in (BY_RANK, *TEXT_COLUMNS, *keys, *PLAIN_COLUMNS) else BY_RANK
    return Page(
        wish=Wish(benchmark, track, protocol, sort, wish.best_first, wish.text, chosen, wish.model),
        benchmarks=benchmarks,
        tracks=tracks,
        protocols=protocols,
        rules=how,
        group=group,
        rows=arranged(search(group, wish.text), sort, how.columns, wish.best_first),
        columns=[column for column in how.columns if column.key in chosen or column is how.deciding],
        plain=[key for key in PLAIN_COLUMNS if key in chosen],
    )


def _united(first: Iterable[str], more: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*first, *sorted(set(more))]))


def _pick(wanted: str, offers: Sequence[str], filled: set[str]) -> str:
    """The wanted offer, else the first that has rows, else the first."""
    if wanted in offers:
        return wanted
    return next((offer for offer in offers if offer in filled), offers[0] if offers else "")


def protocol_of(row: Row) -> str:
    """Return the rule book of a row as ``name@version``."""
    return f"{row['protocol']}@{row['protocol_version']}"
