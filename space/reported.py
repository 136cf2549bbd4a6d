"""The page "Reported": what other boards and papers have printed, with its source, its oddities and its history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import gradio as gr

from rexrank.published.layout import cell, described, heading, told
from rexrank.published.record import BOARDS, NEWEST, rows, snapshots, title
from rexrank.published.scores import printed_score
from rexrank.published.standings import NO_MEAN, NO_RANGE, Place, PublishedTable, across, history, model_names, tables
from space.data import BoardData, BoardStore, Document
from space.formatting import MISSING, escape, external_link, is_missing, number
from space.links import FOLLOW_THE_VIEW, board_address
from space.parts import PRIVATE

NO_TRACK = "not stated"
# Of an address, no more than a name can have is looked up.
_NAME_LENGTH, _SAID_LENGTH = 100, 40
_LEAD = (
    "Numbers that others have printed, copied from their source; none of them was computed here. What cannot be, or "
    "hardly can, is flagged. "
)


@dataclass(frozen=True)
class Choice:
    """What a visitor wants to see; empty strings stand for "the first offer".

    Attributes:
        board: ``rexrank`` or ``cxpmrg``.
        benchmark: Name of a test set.
        track: Text that is compared, or `NO_TRACK`.
        snapshot: Name of a snapshot of the board.
        model: Name of a model whose history is shown.
    """

    board: str = ""
    benchmark: str = ""
    track: str = ""
    snapshot: str = ""
    model: str = ""


@dataclass(frozen=True)
class Offers:
    """What the choosers offer, and what of it is chosen.

    Attributes:
        choice: The choice with every blank filled in, and what does not exist replaced by the first offer.
        benchmarks: Test sets of the board.
        tracks: Tracks of the benchmark.
        snapshots: Snapshots that have a table of both, newest first.
        models: Names of all models of ReXrank.
        tables: The tables that are shown.
        notes: What of the choice could not be granted, one sentence each.
    """

    choice: Choice
    benchmarks: list[str]
    tracks: list[str]
    snapshots: list[str]
    models: list[str]
    tables: list[PublishedTable]
    notes: list[str]


def offers(choice: Choice) -> Offers:
    """Work out what the page shows for a choice."""
    board = _first(choice.board, BOARDS)
    there = _record(board)
    benchmarks = list(dict.fromkeys(table.benchmark for table in there))
    benchmark = _first(choice.benchmark, ["iu-xray", *benchmarks] if "iu-xray" in benchmarks else benchmarks)
    there = [table for table in there if table.benchmark == benchmark]
    tracks = sorted({table.track or NO_TRACK for table in there})
    track = _first(choice.track, tracks)
    there = [table for table in there if (table.track or NO_TRACK) == track]
    names = [state.name for state in snapshots(board)]
    # A site's newest state comes first, a paper's tables in their order.
    ordered = list(reversed(names)) if board == "rexrank" else names
    filled = [name for name in ordered if any(table.snapshot.name == name for table in there)]
    snapshot = _first(choice.snapshot, filled)
    models = sorted(model_names(rows()).values(), key=str.casefold)
    model = choice.model if choice.model in models else ""
    granted = Choice(board, benchmark, track, snapshot, model)
    return Offers(
        choice=granted,
        benchmarks=sorted(benchmarks),
        tracks=tracks,
        snapshots=filled,
        models=models,
        tables=[table for table in there if table.snapshot.name == snapshot],
        notes=_unmet(choice, granted),
    )


def _unmet(choice: Choice, granted: Choice) -> list[str]:
    """Say which of the wishes name something that is not there, and what is shown instead."""
    wishes = ((name, str(value), str(vars(granted)[name])) for name, value in vars(choice).items())
    return [
        f"There is no {name} “{wanted[:_SAID_LENGTH]}” here; {found or 'none'} is shown."
        for name, wanted, found in wishes
        if wanted and wanted != found
    ]


def _first(wanted: str, offered: Sequence[str]) -> str:
    return wanted if wanted in offered else offered[0]


@cache
def _record(board: str) -> list[PublishedTable]:
    """All tables of a board; they never change while the page is served."""
    return tables(rows(board=board))


def heading_html(shown: Offers) -> str:
    """Say what is shown, and link to it."""
    asked = {name: value for name, value in vars(shown.choice).items() if value}
    link = f'<a class="rx-here" href="{board_address("./reported", asked)}">Link to this view</a>'
    notes = "".join(f'<p class="rx-note" role="status">{escape(note)}</p>' for note in shown.notes)
    return f'{notes}<p class="rx-view">{_LEAD}{escape(NO_RANGE)} {link}</p>'


def tables_html(shown: Offers) -> str:
    """Lay the chosen tables out."""
    return "".join(_table(table) for table in shown.tables)


def _table(table: PublishedTable) -> str:
    said = "".join(f'<p class="rx-facts">{escape(line)}</p>' for line in described(table)[2:])
    heads = "".join(f"<th>{_head(name)}</th>" for name in ("Rank", "Model", *map(heading, table.columns)))
    body = "".join(_row(place, table) for place in table.places)
    return (
        f'<section class="rx-section"><h3>{escape(table.name)}</h3>'
        f'<p class="rx-facts">{escape(described(table)[0])} {_source(table)}</p>{said}'
        f'<div class="rx-wide rx-scores rx-reported"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody>'
        "</table></div></section>"
    )


def _head(name: str) -> str:
    """A heading that breaks at spaces alone, and never before its arrow."""
    label, between, arrow = name.rpartition(" ")
    return escape(f"{label}\N{NO-BREAK SPACE}{arrow}" if between else name).replace("&#45;", "\N{NON-BREAKING HYPHEN}")


def _source(table: PublishedTable) -> str:
    link = external_link(table.snapshot.url, table.snapshot.source)
    return f"Source: {link}."


def _row(place: Place, table: PublishedTable) -> str:
    rank = MISSING if place.rank is None else str(place.rank)
    cells = "".join(
        f'<td data-label="{escape(printed_score(key).label)}">{cell(place.row, key)}</td>' for key in table.columns
    )
    return f'<tr><td data-label="Rank">{rank}</td><th scope="row">{_model(place, table)}</th>{cells}</tr>'


def _model(place: Place, table: PublishedTable) -> str:
    """Name, the mark that the row is reported, what the source says of the model, and what is flagged."""
    row = place.row
    own = row.source != table.snapshot.source
    source = f"source: {row.source}" if own else "source"
    links = [external_link(row.url, "model"), external_link(row.source_url, source) or (escape(source) if own else "")]
    facts = " · ".join([*(escape(fact) for fact in told(row)), *filter(None, links)])
    flags = f"<br>{_flags(place)}" if place.flags else ""
    return (
        f'<span class="rx-name">{escape(row.model)}</span> <span class="rx-chip">reported</span>'
        f"<br><small>{facts}</small>{flags}"
    )


def _flags(place: Place) -> str:
    return "<br>".join(f'<small><span class="rx-late">{escape(flag.message)}</span></small>' for flag in place.flags)


def own_html(data: BoardData, shown: Offers) -> str:
    """What this board has computed on the same benchmark and track, apart from what is reported.

    Args:
        data: What the board knows.
        shown: What the page shows.
    """
    choice = shown.choice
    own = [row for row in data.leaderboard if _is_beside(row, choice)]
    head = f"<h3>Computed by this board: {escape(choice.benchmark)}, {escape(choice.track)}</h3>"
    if not own:
        none = '<p class="rx-quiet">This board has no result of its own here.</p>'
        return f'<section class="rx-section">{head}{none}</section>'
    keys = [key for key in (shown.tables[0].columns if shown.tables else ()) if any(_own(row, key) for row in own)]
    heads = "".join(f"<th>{_head(name)}</th>" for name in ("Model", "Studies", *map(heading, keys)))
    body = "".join(_own_row(row, keys) for row in own)
    place = {"benchmark": choice.benchmark, "track": choice.track}
    return (
        f'<section class="rx-section">{head}<p class="rx-facts">These rows have another origin than those above: other '
        "code, other weights, perhaps other studies. They are not ranked with them. "
        f'<a href="{board_address("./", place)}">Their ranks and intervals</a></p>'
        f'<div class="rx-wide rx-scores"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
        "</section>"
    )


def _is_beside(row: Document, choice: Choice) -> bool:
    """Whether a row of this board follows the same rule book on the same texts."""
    return (row["protocol"], row["dataset"], row["section"]) == (choice.board, choice.benchmark, choice.track)


def _own(row: Document, key: str) -> str:
    """A score of this board, empty where there is none; an inverse is one over the mean, where that is positive."""
    value = row.get(key)
    raw = row.get(key.removeprefix("inv_")) if key.startswith("inv_") else None
    if is_missing(value) and raw is not None and not is_missing(raw) and raw > 0:
        value = 1 / raw
    return "" if value is None or is_missing(value) else number(float(value), printed_score(key).digits)


def _own_row(row: Document, keys: Sequence[str]) -> str:
    chip = ' <span class="rx-chip">baseline</span>' if row.get("is_baseline") else ""
    cells = "".join(
        f'<td data-label="{escape(printed_score(key).label)}">{_own(row, key) or MISSING}</td>' for key in keys
    )
    return (
        f'<tr><th scope="row"><span class="rx-name">{escape(row["model_name"])}</span>{chip}<br>'
        f"<small>{escape(row['protocol'])}@{escape(row['protocol_version'])}</small></th>"
        f'<td data-label="Studies">{row["n_studies"]}</td>{cells}</tr>'
    )


def history_html(shown: Offers) -> str:
    """All places of the chosen model, oldest first, or how to choose one."""
    if not shown.choice.model:
        return '<p class="rx-quiet">Choose a model to see where it stood in each snapshot.</p>'
    lines = "".join(_moment(table, place) for table, place in history(shown.choice.model))
    heads = "".join(f"<th>{name}</th>" for name in ("Snapshot", "Benchmark", "Track", "Rank", "Ranked by", "Flags"))
    return f'<div class="rx-wide rx-scores"><table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>'


def _moment(table: PublishedTable, place: Place) -> str:
    split = f" ({table.split})" if table.split else ""
    by = f"{heading(table.deciding)} {cell(place.row, table.deciding)}" if table.deciding else MISSING
    rank = f"{MISSING if place.rank is None else place.rank} of {len(table.places)}"
    cells: Mapping[str, str] = {
        "Benchmark": escape(f"{table.benchmark}{split}"),
        "Track": escape(table.track),
        "Rank": rank,
        "Ranked by": escape(by),
        "Flags": _flags(place),
    }
    rest = "".join(f'<td data-label="{name}">{value}</td>' for name, value in cells.items())
    return f'<tr><th scope="row">{escape(table.snapshot.name)}</th>{rest}</tr>'


def across_html(shown: Offers) -> str:
    """Ranks of each model of ReXrank on all benchmarks of the chosen snapshot and track, side by side."""
    choice = shown.choice
    if choice.board != "rexrank":
        return '<p class="rx-quiet">The papers behind CXPMRG-Bench share too few models.</p>'
    found = across(choice.track, choice.snapshot or NEWEST)
    names = list(dict.fromkeys(name for places in found.values() for name in places))
    heads = "".join(f"<th>{escape(name)}</th>" for name in ("Model", *names))
    body = "".join(
        f'<tr><th scope="row"><span class="rx-name">{escape(model)}</span></th>'
        + "".join(f'<td data-label="{escape(name)}">{_rank(places.get(name))}</td>' for name in names)
        + "</tr>"
        for model, places in found.items()
    )
    return (
        f'<p class="rx-facts">{escape(choice.snapshot)}, {escape(choice.track)}. {escape(NO_MEAN)}</p>'
        f'<div class="rx-wide rx-scores"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _rank(place: Place | None) -> str:
    return MISSING if place is None or place.rank is None else str(place.rank)


def build(page: gr.Blocks, store: BoardStore) -> None:
    """Put the page's components and events into the open page."""
    gr.HTML('<h1 class="rx-title">Reported</h1>', elem_id="reported-title")
    narrow: dict[str, Any] = {"min_width": 140, "filterable": False}
    with gr.Row(elem_classes="rx-controls"):
        board = gr.Dropdown([(title(name), name) for name in BOARDS], label="Board", elem_id="reported-board", **narrow)
        benchmark = gr.Dropdown(label="Benchmark", elem_id="reported-benchmark", **narrow)
        track = gr.Dropdown(label="Track", elem_id="reported-track", **narrow)
        snapshot = gr.Dropdown(label="Snapshot", elem_id="reported-snapshot", **narrow)
    head = gr.HTML(elem_id="reported-heading", js_on_load=FOLLOW_THE_VIEW)
    found = gr.HTML(elem_id="reported-tables")
    own = gr.HTML(elem_id="reported-own")
    with gr.Accordion("Ranks on all benchmarks", open=False, elem_id="reported-across-open"):
        side_by_side = gr.HTML(elem_id="reported-across")
    with gr.Accordion("History of a model of ReXrank", open=False, elem_id="reported-history-open") as past:
        model = gr.Dropdown(label="Model", elem_id="reported-model", min_width=140)
        moments = gr.HTML(elem_id="reported-history")
    choosers: list[Any] = [board, benchmark, track, snapshot, model]
    parts: list[Any] = [*choosers, head, found, own, side_by_side, moments]

    def render(choice: Choice) -> list[Any]:
        shown = offers(choice)
        granted = shown.choice
        return [
            granted.board,
            gr.Dropdown(choices=shown.benchmarks, value=granted.benchmark),
            gr.Dropdown(choices=shown.tracks, value=granted.track),
            gr.Dropdown(choices=shown.snapshots, value=granted.snapshot),
            gr.Dropdown(choices=shown.models, value=granted.model or None),
            heading_html(shown),
            tables_html(shown),
            own_html(store.data, shown),
            across_html(shown),
            history_html(shown),
        ]

    def opened(visitor: gr.Request) -> list[Any]:
        asked = {name: str(visitor.query_params.get(name, ""))[:_NAME_LENGTH] for name in vars(Choice())}
        choice = Choice(**asked)
        return [*render(choice), gr.Accordion(open=bool(choice.model))]

    def changed(*values: Any) -> list[Any]:
        return render(Choice(*(str(value or "") for value in values)))

    def other_table(*values: Any) -> list[Any]:
        # Another benchmark or track has other snapshots, of which the newest is meant.
        return render(replace(Choice(*(str(value or "") for value in values)), snapshot=""))

    page.load(opened, None, [*parts, past], **PRIVATE)
    for chooser in (board, benchmark, track):
        chooser.input(other_table, choosers, parts, **PRIVATE)
    for chooser in (snapshot, model):
        chooser.input(changed, choosers, parts, **PRIVATE)
