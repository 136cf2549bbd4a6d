"""The published tables of ReXrank and CXPMRG-Bench, row by row, as they were printed.

Values are copied, never corrected: what looks wrong in them is flagged by
`rexrank.published.checks`. The data are CSV files beside this module, their
sources and numbers of cases stand in ``sources.yaml``.
"""

import csv
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field

from rexrank.errors import RexrankError, shown

Board = Literal["rexrank", "cxpmrg"]
BOARDS: tuple[Board, ...] = get_args(Board)
# `vqa`: questions about images, which are no track of reports.
PublishedTrack = Literal["findings", "report", "vqa"]
PUBLISHED_TRACKS: tuple[PublishedTrack, ...] = get_args(PublishedTrack)
NEWEST = "newest"

_TABLES: Mapping[Board, tuple[str, ...]] = {"rexrank": ("rexrank.csv", "rexvqa.csv"), "cxpmrg": ("cxpmrg.csv",)}
# A trailing mark said, until November 2024, that a model was trained on the benchmark's training part.
_TRAINED = "*"
_BLANK = "-"
_BETWEEN_NOTES = " | "

Https = Annotated[str, Field(pattern=r"^https://[\w.-]+(/\S*)?$", max_length=300)]


class UnknownTable(RexrankError, ValueError):
    """A board, benchmark, track or snapshot that the record does not have."""


class Snapshot(BaseModel):
    """One published state: of ReXrank the site at a date, of CXPMRG-Bench a table of a paper.

    Attributes:
        board: Which record it belongs to.
        name: A date, also without day or month where these are not known; or the name of a table.
        source: Where the numbers were copied from.
        url: Address of that.
        ranking: Score keys; the first that a table prints ranks it.
        partial: Whether only a few rows of it are known.
        note: What else a reader has to know.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    board: Board
    name: str
    source: str
    url: Https
    ranking: tuple[str, ...]
    partial: bool = False
    note: str


class PublishedRow(BaseModel):
    """What was printed of one model in one table.

    Attributes:
        board: ``rexrank`` or ``cxpmrg``.
        snapshot: Name of the snapshot (`Snapshot.name`).
        benchmark: Name of the test set, as rexrank names it.
        split: Part of it, as the source names it; None where it says nothing.
        track: Text that was compared; None where the source does not say.
        file_order: Position in the source's file, which is not the rank shown there.
        model: Name as printed, without the mark of training.
        trained_on_benchmark: True where the source marks the model as trained on this benchmark; None where it says
            nothing, which is all since November 2024.
        institution: Who made it.
        venue: Where it was published.
        year: When.
        url: Its page.
        kind: ``algorithm``, ``proposed``, ``llm``, ``vlm`` or ``reproduction`` (CXPMRG-Bench).
        encoder: Image encoder.
        decoder: Text decoder.
        minutes: Printed time; the paper does not say of what.
        tuned_millions: Printed number of tuned parameters, in millions.
        scores: Values of the columns that the table has, by score key; None where the cell is blank.
        source: Where the row was copied from.
        source_url: Address of that.
        n: Number of cases behind the row; None where it is not published.
        n_said: What those cases are, or why their number is not known.
        notes: Oddities known of this row that follow from no check.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    board: Board
    snapshot: str
    benchmark: str
    split: str | None = None
    track: PublishedTrack | None = None
    file_order: int | None = None
    model: str
    trained_on_benchmark: bool | None = None
    institution: str | None = None
    venue: str | None = None
    year: int | None = None
    url: Https | None = None
    kind: str | None = None
    encoder: str | None = None
    decoder: str | None = None
    minutes: float | None = None
    tuned_millions: float | None = None
    scores: dict[str, float | None]
    source: str
    source_url: Https | None = None
    n: int | None = None
    n_said: str
    notes: tuple[str, ...] = ()

    @property
    def model_key(self) -> str:
        """Name that is the same over tables which spell the model differently."""
        return key_of(self.model)

    @property
    def table(self) -> tuple[str, ...]:
        """What rows share that stand in one table; only those may be ranked together."""
        return (self.board, self.snapshot, self.benchmark, self.split or "", self.track or "")


def key_of(model: str) -> str:
    """The spelling of a model's name by which tables are joined."""
    return model.casefold().strip().replace("_", "-").replace(" ", "-")


def rows(
    benchmark: str | None = None,
    track: str | None = None,
    snapshot: str | None = None,
    board: str | None = "rexrank",
) -> list[PublishedRow]:
    """Rows of the record, snapshot by snapshot, oldest first, in the order of the source's file.

    Args:
        benchmark: Only this benchmark (``iu-xray``).
        track: Only this track: ``findings``, ``report`` or ``vqa``.
        snapshot: Only the snapshot of this name; ``newest`` for the newest complete one that has such rows.
        board: ``rexrank``, ``cxpmrg``, or None for both.

    Returns:
        The rows; none where these exist but not together.

    Raises:
        UnknownTable: The record has no such board, benchmark, track or snapshot at all.
    """
    found = [row for one in _boards(board) for row in _record(one)]
    _require("benchmark", benchmark, {row.benchmark for row in found})
    _require("track", track, {row.track for row in found if row.track})
    found = [row for row in found if benchmark in (None, row.benchmark) and track in (None, row.track)]
    if snapshot is None:
        return found
    states = [state for one in _boards(board) for state in snapshots(one)]
    if snapshot != NEWEST:
        _require("snapshot", snapshot, {state.name for state in states})
        return [row for row in found if row.snapshot == snapshot]
    filled = {row.snapshot for row in found}
    names = [state.name for state in states if state.name in filled and not state.partial]
    return [row for row in found if row.snapshot == names[-1]] if names else []


def snapshots(board: str | None = "rexrank") -> list[Snapshot]:
    """The published states of a board: of ReXrank oldest first, of CXPMRG-Bench table by table.

    Args:
        board: ``rexrank``, ``cxpmrg``, or None for both.

    Raises:
        UnknownTable: There is no such board.
    """
    return [
        Snapshot(board=one, name=name, **fields)
        for one in _boards(board)
        for name, fields in _sources()[one]["snapshots"].items()
    ]


def title(board: str) -> str:
    """Name of a board for readers.

    Raises:
        UnknownTable: There is no such board.
    """
    return str(_sources()[_boards(board)[0]]["title"])


def declared_scores() -> Mapping[str, Mapping[str, str]]:
    """Label and direction of those printed scores that rexrank itself does not compute, by score key."""
    scores: Mapping[str, Mapping[str, str]] = _sources()["scores"]
    return scores


def _boards(board: str | None) -> tuple[Board, ...]:
    if board is None:
        return BOARDS
    _require("board", board, set(BOARDS))
    return tuple(one for one in BOARDS if one == board)


def _require(what: str, given: str | None, known: set[str]) -> None:
    if given is not None and given not in known:
        raise UnknownTable(f"the published record has no {what} {shown(given)}; there are {', '.join(sorted(known))}")


@cache
def _sources() -> dict[str, Any]:
    text = files("rexrank.published").joinpath("sources.yaml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.safe_load(text)
    return content


@cache
def _record(board: Board) -> tuple[PublishedRow, ...]:
    order = [state.name for state in snapshots(board)]
    states = {state.name: state for state in snapshots(board)}
    sets = {(one["benchmark"], one.get("split"), one.get("track")): one for one in _sources()[board]["sets"]}
    found = [_row(board, line, states, sets) for name in _TABLES[board] for line in _lines(name)]
    return tuple(sorted(found, key=lambda row: order.index(row.snapshot)))


def _lines(name: str) -> Iterator[dict[str, str]]:
    text = files("rexrank.published").joinpath(name).read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines(), strict=True)


def _row(
    board: Board, line: Mapping[str, str], states: Mapping[str, Snapshot], sets: Mapping[Any, Mapping[str, Any]]
) -> PublishedRow:
    """A row from a line of its file: columns that are no field are scores."""
    filled = {name: text for name, text in line.items() if text}
    fields = {name: text for name, text in filled.items() if name in PublishedRow.model_fields}
    scores = {name: None if text == _BLANK else float(text) for name, text in filled.items() if name not in fields}
    state = states[fields["snapshot"]]
    cases = sets[fields["benchmark"], fields.get("split"), fields.get("track")]
    own_source = "source" in fields
    known: dict[str, Any] = {
        "source": state.source,
        "source_url": None if own_source else state.url,
        **fields,
        "board": board,
        "model": fields["model"].removesuffix(_TRAINED),
        "trained_on_benchmark": True if fields["model"].endswith(_TRAINED) else None,
        "scores": scores,
        # Papers that took the numbers over do not say on how many cases they computed their own.
        "n": None if own_source else cases.get("n"),
        "n_said": "not published" if own_source else cases["said"],
        "notes": tuple(fields.get("notes", "").split(_BETWEEN_NOTES)) if "notes" in fields else (),
    }
    return PublishedRow(**known)
