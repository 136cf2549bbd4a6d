"""From a visitor's wish to the rows and columns of the leaderboard; no page here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rexrank.board.names import name_key
from rexrank.metrics import metrics
from space.data import BoardData
from space.rules import Rules, has_value, rules, with_inverses
from space.table import (
    ABOVE,
    BY_RANK,
    DEFAULT_PLAIN_COLUMNS,
    PLAIN_COLUMNS,
    TEXT_COLUMNS,
    Column,
    Row,
    arranged,
    search,
)

# Of a name from an address that the board does not know, no more is repeated.
SAID_LENGTH = 40


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
        model: Result id, or name of the model, whose details are open.
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
        notes: What of the wish could not be granted, one sentence each.
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
    notes: list[str]

    @property
    def opened(self) -> Row | None:
        """The row whose details are open."""
        return next((row for row in self.rows if row["result_id"] == self.wish.model), None)

    @property
    def usual(self) -> tuple[str, ...]:
        """Keys of the columns that are shown where nobody has chosen any."""
        return _usual(self.rules, self.group)


def arrange_page(data: BoardData, wish: Wish) -> Page:
    """Work out what the page shows.

    Args:
        data: What the board knows.
        wish: What the visitor wants; what does not exist falls back to the first offer.
    """
    host = data.host
    wish = replace(wish, model=_result_of(data, wish))
    linked = linked_row(data, wish.model)
    wish = _completed(wish, linked)
    filled = {str(row["dataset"]) for row in data.leaderboard}
    benchmarks, benchmark = _offers(wish.benchmark, host.benchmarks if host else (), filled)
    rows = [row for row in data.leaderboard if row["dataset"] == benchmark]
    offered = host.benchmarks.get(benchmark) if host else None
    tracks, track = _offers(wish.track, offered.tracks if offered else (), {str(row["section"]) for row in rows})
    rows = [row for row in rows if row["section"] == track]
    protocols, protocol = _offers(wish.protocol, host.protocols if host else (), set(map(protocol_of, rows)))
    group = [row for row in rows if protocol_of(row) == protocol]
    how = rules(protocol, host, group, benchmark)
    group = [with_inverses(row, how.columns) for row in group]
    keys = [column.key for column in how.columns]
    chosen = _usual(how, group) if wish.chosen is None else wish.chosen
    sort = wish.sort if wish.sort in (BY_RANK, *TEXT_COLUMNS, *keys, *PLAIN_COLUMNS) else BY_RANK
    shown = arranged(search(group, wish.text), sort, how.columns, wish.best_first)
    model = str(linked["result_id"]) if linked else ""
    granted = Wish(benchmark, track, protocol, sort, wish.best_first, wish.text, chosen, model)
    notes = _unmet(wish, granted)
    if all(row["result_id"] != model for row in group):
        notes += _elsewhere(wish.model, linked)
    elif model != wish.model and linked:
        notes.append(f"The linked result of {linked['model_name']} was replaced; the later one is shown.")
    if all(row["result_id"] != model for row in shown):
        granted = replace(granted, model="")
    return Page(
        wish=granted,
        benchmarks=benchmarks,
        tracks=tracks,
        protocols=protocols,
        rules=how,
        group=group,
        rows=shown,
        columns=[
            column
            for column in how.columns
            if column is how.deciding
            or (column.key in chosen and (column.key not in how.extra or has_value(shown, column.key)))
        ],
        plain=[key for key in PLAIN_COLUMNS if key in chosen],
        notes=notes,
    )


def _usual(how: Rules, rows: Sequence[Row]) -> tuple[str, ...]:
    """The protocol's columns, and of each other metric that a row has a value for its first score."""
    leading = {metric.keys[0].key for metric in metrics().values() if metric.keys[0].direction != "none"}
    shown = (column.key for column in how.columns if column.key not in how.extra or column.key in leading)
    plain = (key for key in DEFAULT_PLAIN_COLUMNS if key != ABOVE or has_value(rows, key))
    return (*shown, *plain)


def _result_of(data: BoardData, wish: Wish) -> str:
    """The result that a link names by its model, as people write links by hand; else what the link says."""
    asked_key = name_key(wish.model)
    # So on most renders, which need not go through the whole table.
    if not asked_key:
        return wish.model
    places = (("dataset", wish.benchmark), ("section", wish.track))
    for row in data.leaderboard:
        fits = all(not asked or row[field] == asked for field, asked in places)
        if fits and wish.protocol in ("", protocol_of(row)) and name_key(str(row["model_name"])) == asked_key:
            return str(row["result_id"])
    return wish.model


def linked_row(data: BoardData, result_id: str) -> Row | None:
    """The row of a result, or of the later result of the same model that has taken its place.

    Args:
        data: What the board knows.
        result_id: Id of a result; rows of a model hold its latest one only.
    """
    if not result_id:
        return None
    row = data.row(result_id)
    if row is not None:
        return row
    asked = data.request(result_id.partition(".")[0])
    if asked is None or asked.visibility != "public":
        return None
    return next(
        (
            row
            for row in data.leaderboard
            if (row["owner"], row["dataset"], row["section"]) == (asked.owner, asked.dataset, asked.section)
            and name_key(str(row["model_name"])) == asked.name_key
            and asked.protocol in (protocol_of(row), row["protocol"])
        ),
        None,
    )


def _completed(wish: Wish, linked: Row | None) -> Wish:
    """What a link to a model leaves open is where that model is."""
    if linked is None:
        return wish
    return replace(
        wish,
        benchmark=wish.benchmark or str(linked["dataset"]),
        track=wish.track or str(linked["section"]),
        protocol=wish.protocol or protocol_of(linked),
    )


def _unmet(wish: Wish, granted: Wish) -> list[str]:
    """Say which wishes name something that is not there."""
    notes = []
    if wish.benchmark and granted.benchmark and wish.benchmark != granted.benchmark:
        notes.append(f"This board has no benchmark {_said(wish.benchmark)}; {granted.benchmark} is shown.")
    elif wish.track and granted.track and wish.track != granted.track:
        notes.append(f"{granted.benchmark} has no track {_said(wish.track)}; {granted.track} is shown.")
    if wish.protocol and granted.protocol and wish.protocol not in (granted.protocol, granted.protocol.split("@")[0]):
        notes.append(f"This board has no protocol {_said(wish.protocol)}; {granted.protocol} is shown.")
    if wish.sort and wish.sort != granted.sort:
        notes.append(f"There is no column {_said(wish.sort)} to sort by; the rows stand by their rank.")
    return notes


def _said(name: str) -> str:
    return f"“{name if len(name) <= SAID_LENGTH else name[:SAID_LENGTH] + '…'}”"


def _elsewhere(asked: str, linked: Row | None) -> list[str]:
    if not asked:
        return []
    if linked is None:
        return ["The linked model is not on this board: its result was taken back, or the link is not complete."]
    place = f"{linked['dataset']}, {linked['section']}, {protocol_of(linked)}"
    return [f"{linked['model_name']} is not in this table; it stands under {place}."]


def _offers(wanted: str, hosted: Iterable[str], filled: set[str]) -> tuple[list[str], str]:
    """What there is to choose from, and what of it is chosen.

    Args:
        wanted: What the visitor wants; a protocol's name will do for one of its versions.
        hosted: What the host offers, which comes first.
        filled: What has rows.

    Returns:
        The offers; and the wanted one, else the first that has rows, else the first, else an empty string.
    """
    offers = list(dict.fromkeys([*hosted, *sorted(filled)]))
    if wanted in offers:
        return offers, wanted
    close = [offer for offer in offers if wanted and offer.partition("@")[0] == wanted] or offers
    return offers, next((offer for offer in close if offer in filled), close[0] if close else "")


def protocol_of(row: Row) -> str:
    """Return the rule book of a row as ``name@version``."""
    return f"{row['protocol']}@{row['protocol_version']}"
