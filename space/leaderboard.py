"""The page "Leaderboard": who stands where, how sure that is, and what stands behind each number."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import gradio as gr

from rexrank import __version__
from rexrank.files import write_atomically
from rexrank.hub.clock import utc_now
from space.chart import Mark, interval_chart
from space.data import BoardData, BoardStore
from space.detail import detail_html
from space.formatting import escape, is_missing
from space.links import FOLLOW_THE_VIEW, board_address, hub_link, hub_page, listed
from space.parts import PRIVATE, first_steps, freshness
from space.rules import leading_labels
from space.selection import Page, Wish, arrange_page
from space.table import BY_RANK, PLAIN_COLUMNS, Column, arranged, column_keys, counted, laid_out, to_csv

BEST, WORST = "Best first", "Worst first"
# A click on a column's head sorts by it on the server, a second one turns the order round. The table's own sorting
# takes missing values for 0, so it is switched off. The table keeps clicks to itself,
# so they are caught on their way in.
_HEADER_CLICKS = """
document.addEventListener("click", event => {
  const head = event.target.closest && event.target.closest("#lb [data-heading]");
  if (head) trigger("click", {column: Number(head.dataset.heading)});
}, true);
"""
# The table needs a moment to get its height, and moves what is below it.
_TO_DETAIL = """() => setTimeout(() => {
  const detail = document.querySelector("#lb-detail .rx-detail");
  if (detail) detail.scrollIntoView({behavior: "smooth", block: "nearest"});
}, 400)"""
# A table that has another order is moved sideways until the column that it is sorted by can be seen beside those that
# stay.
_SHOW_THE_SORTED_COLUMN = """
let order = "";
watch("value", () => {
  const link = element.querySelector("a.rx-here");
  if (!link) return;
  if (order !== link.dataset.order) setTimeout(() => {
    const heads = [...document.querySelectorAll("#lb [data-heading]")];
    const head = heads.find(one => one.dataset.heading === link.dataset.column);
    const view = document.querySelector("#lb .virtual-table-viewport");
    if (!head || !view || getComputedStyle(head).position === "sticky") return;
    const kept = heads.filter(one => getComputedStyle(one).position === "sticky");
    const left = Math.max(...kept.map(one => one.getBoundingClientRect().right));
    const [place, frame] = [head.getBoundingClientRect(), view.getBoundingClientRect()];
    if (place.right > frame.right) view.scrollLeft += place.right - frame.right;
    else if (place.left < left) view.scrollLeft -= left - place.left;
  }, 300);
  order = link.dataset.order;
});
"""


def lead_html(data: BoardData, namespace: str) -> str:
    """Say what the board is, what this host computes, and where to find the numbers and how to cite them."""
    links = (
        hub_link(hub_page(f"{namespace}/results"), "Results as a dataset"),
        '<a href="./about#cite">How to cite</a>',
        '<a href="./about">What the numbers mean</a>',
        f"rexrank {escape(__version__)}",
    )
    computed = data.host.metrics if data.host else []
    scores = f" This host computes {listed(leading_labels(computed))}." if computed else ""
    return (
        '<h1 class="rx-title">Radiology report generation</h1><p class="rx-lead">How close reports written by AI come '
        f"to the radiologist's.{scores} A score that is not computed is absent, never 0.</p>"
        f'<p class="rx-fresh">{" · ".join(links)}</p>'
    )


def heading_html(page: Page) -> str:
    """Say in a sentence or two what the table holds and by which rule it is ranked."""
    wish, how = page.wish, page.rules
    parts = [f'<p class="rx-note" role="status">{escape(note)}</p>' for note in page.notes]
    if how.provisional and how.deciding:
        parts.append(
            f'<p class="rx-provisional"><strong>Provisional ranking</strong> by {escape(how.deciding.label)}: this '
            f"host does not compute {escape(how.wanted)}, the first ranking key of {escape(how.protocol)}.</p>"
        )
    count = counted(page.rows, page.group if len(page.rows) < len(page.group) else None)
    by = f"ranked by {escape(how.deciding.heading)}" if how.deciding else "not ranked: no ranking key is computed here"
    parts.append(
        f'<p class="rx-view"><strong>{count}</strong> on {escape(wish.benchmark)}, {escape(wish.track)}; {by} '
        f"under {escape(how.protocol)}. Beside each rank the ranks that comparing the models leaves open, beneath each "
        f"score its 95 % interval; rows that miss a required score come last. {_link(page)}</p>"
    )
    if how.absent:
        parts.append(f'<p class="rx-view">Not computed on this host: {listed(how.absent)}.</p>')
    if any(row.get("is_baseline") for row in page.group):
        parts.append(
            '<p class="rx-view">A baseline sees no image: a model at or below one has not shown that it looks at '
            f"images. “Over the floor” is how much better a model is than {_floor(page)}, with its paired 95 % "
            "interval; 0 or less in it means that this is not shown.</p>"
        )
    return "".join(parts) + _nothing(page)


def _floor(page: Page) -> str:
    """The baseline that the models are set against, in words."""
    names = {str(row["floor"]) for row in page.group if row.get("floor")}
    return f"“{escape(names.pop())}”" if len(names) == 1 else "the baseline to beat"


def _nothing(page: Page) -> str:
    """Say why there is no row; the style sheet hides the table beside it."""
    if page.rows:
        return ""
    if page.group:
        said = f"No model matches “{escape(page.wish.text.strip())}”."
    else:
        wish = page.wish
        place = {"benchmark": wish.benchmark, "track": wish.track, "protocol": wish.protocol}
        address = board_address("./submit", place)
        said = f'No model yet — be the first: <a href="{address}">Submit</a>.'
    return f'<p class="rx-empty rx-none" role="status">{said}</p>'


def _link(page: Page) -> str:
    """The address of the view; what follows it in the browser is told by which column the rows stand."""
    wish = page.wish
    wanted = {"benchmark": wish.benchmark, "track": wish.track, "protocol": wish.protocol, "metric": wish.sort}
    wanted |= {"order": "" if wish.best_first else "worst", "search": wish.text.strip(), "model": wish.model}
    deciding = {page.rules.deciding.key} if page.rules.deciding else set()
    if set(wish.chosen or ()) - deciding != set(page.usual) - deciding:
        wanted["columns"] = ",".join(key for key in wish.chosen or () if key not in deciding) or "none"
    keys = column_keys(page.columns, page.plain)
    column = keys.index(wish.sort) if wish.sort in keys else 0
    return (
        f'<a class="rx-here" href="{board_address("", wanted)}" data-column="{column}" '
        f'data-order="{column}{wish.best_first}">Link to this view</a>'
    )


def chart_html(page: Page) -> str:
    """Draw the score that the table is sorted by, or else the one that ranks; best on top."""
    column = _drawn(page)
    if column is None or not page.rows:
        return ""
    marks = [
        Mark(
            name=str(row["model_name"]),
            value=float(row[column.key]),
            low=row.get(f"{column.key}_lo"),
            high=row.get(f"{column.key}_hi"),
            is_baseline=bool(row.get("is_baseline")),
        )
        for row in arranged(page.rows, column.key, page.rules.columns)
        if not is_missing(row.get(column.key))
    ]
    return interval_chart(marks, column.heading, column.direction, column.digits)


def _drawn(page: Page) -> Column | None:
    by_key = {column.key: column for column in page.rules.columns}
    return by_key.get(page.wish.sort) or page.rules.deciding or next(iter(page.rules.columns), None)


def opened_detail(page: Page, data: BoardData, namespace: str) -> str:
    """Lay out the model that the visitor has opened, or say how to open one."""
    row = page.opened
    if row is None and not page.rows:
        return ""
    if row is None:
        return '<p class="rx-quiet">Click on a row to see all scores of a model, their signatures and its files.</p>'
    ranked = sum(row.get("rank") is not None for row in page.group)
    return detail_html(row, data, page.rules, ranked, namespace)


class CsvFiles:
    """Files for the download button: one a state of a track, in a folder of this process that goes with it."""

    kept = 50

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="rexrank-board-")

    def write(self, page: Page) -> str | None:
        """Write all rows of the track, ranked.

        Returns:
            Path of the file, the same for the same content; None where there are no rows.
        """
        if not page.group:
            return None
        columns = page.rules.columns
        content = to_csv(arranged(page.group, BY_RANK, columns), columns).encode()
        folder = Path(self._folder.name) / hashlib.sha256(content).hexdigest()[:16]
        target = folder / f"rexrank-{page.wish.benchmark}-{page.wish.track}.csv"
        if not target.exists():
            self._prune()
            write_atomically(target, content)
        return str(target)

    def _prune(self) -> None:
        folders = sorted(Path(self._folder.name).iterdir(), key=lambda folder: folder.stat().st_mtime)
        for folder in folders[: -self.kept]:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class _Parts:
    """The page's components that follow from the data and the visitor's wish."""

    lead: gr.HTML
    fresh: gr.HTML
    empty: gr.HTML
    filled: gr.Column
    benchmark: gr.Dropdown
    track: gr.Dropdown
    protocol: gr.Dropdown
    sort: gr.Dropdown
    order: gr.Dropdown
    columns: gr.CheckboxGroup
    heading: gr.HTML
    table: gr.Dataframe
    download: gr.DownloadButton
    chart: gr.HTML
    detail: gr.HTML
    model: gr.State
    keys: gr.State
    results: gr.State
    version: gr.State
    searched: gr.State

    def all(self) -> list[Any]:
        """In the order in which they are declared."""
        return [getattr(self, field.name) for field in fields(self)]

    def filled_with(self, values: Mapping[str, Any]) -> list[Any]:
        """What an event returns: a value for each part."""
        return [values[field.name] for field in fields(self)]


def build(page: gr.Blocks, store: BoardStore, namespace: str, now: Callable[[], datetime] = utc_now) -> None:
    """Put the page's components and events into the open page."""
    files = CsvFiles()
    parts, text, header = _components()
    wish_inputs = [
        parts.benchmark,
        parts.track,
        parts.protocol,
        parts.sort,
        parts.order,
        text,
        parts.columns,
        parts.model,
    ]

    def render(wish: Wish) -> list[Any]:
        data = store.data
        return parts.filled_with(_values(data, arrange_page(data, wish), files, namespace, now()))

    def opened(visitor: gr.Request) -> list[Any]:
        wish = _asked(visitor.query_params)
        return [wish.text, *render(wish)]

    def changed(*values: Any) -> list[Any]:
        return render(_wish(*values))

    def other_track(*values: Any) -> list[Any]:
        # Another track has other columns, so their choice starts afresh.
        return render(replace(_wish(*values), sort="", chosen=None, model=""))

    def searched(seen: str, *values: Any) -> list[Any]:
        wish = _wish(*values)
        # What a link searches for is shown already, with what of the link could not be granted.
        return [gr.skip()] * len(parts.all()) if wish.text == seen else render(wish)

    def header_clicked(event: gr.EventData, keys: Sequence[str], *values: Any) -> list[Any]:
        wish, position = _wish(*values), event._data.get("column")
        if not isinstance(position, int) or not 0 <= position < len(keys):
            return [gr.skip()] * len(parts.all())
        key = keys[position]
        return render(replace(wish, sort=key, best_first=key != wish.sort or not wish.best_first))

    def row_clicked(event: gr.SelectData, results: Sequence[str], *values: Any) -> tuple[str, str, str]:
        data, position = store.data, event.index[0]
        result_id = results[position] if 0 <= position < len(results) else ""
        page = arrange_page(data, replace(_wish(*values), model=result_id))
        return page.wish.model, opened_detail(page, data, namespace), heading_html(page)

    def ticked(version: str, *values: Any) -> list[Any]:
        data = store.data
        if data.version != version:
            return render(_wish(*values))
        # Nothing new: only the age changes, and the visitor's place in the table stays.
        return [gr.skip(), freshness(data, now()), *[gr.skip()] * (len(parts.all()) - 2)]

    scroll: dict[str, Any] = {"fn": None, "js": _TO_DETAIL, **PRIVATE}
    page.load(opened, None, [text, *parts.all()], **PRIVATE).then(**scroll)
    choosers: tuple[Any, ...] = (parts.benchmark, parts.track, parts.protocol)
    for chooser in choosers:
        chooser.input(other_track, wish_inputs, parts.all(), **PRIVATE)
    arrangers: tuple[Any, ...] = (parts.sort, parts.order, parts.columns)
    for arranger in arrangers:
        arranger.input(changed, wish_inputs, parts.all(), **PRIVATE)
    # Not "input": for pasted text that event carries the value of before.
    text.change(searched, [parts.searched, *wish_inputs], parts.all(), trigger_mode="always_last", **PRIVATE)
    header.click(header_clicked, [parts.keys, *wish_inputs], parts.all(), **PRIVATE)
    parts.table.select(
        row_clicked, [parts.results, *wish_inputs], [parts.model, parts.detail, parts.heading], **PRIVATE
    ).then(**scroll)
    gr.Timer(store.period).tick(ticked, [parts.version, *wish_inputs], parts.all(), **PRIVATE)


def _components() -> tuple[_Parts, gr.Textbox, gr.HTML]:
    lead = gr.HTML(elem_id="lb-title")
    fresh = gr.HTML(elem_id="lb-fresh")
    empty = gr.HTML(elem_id="lb-empty", visible=False)
    with gr.Column(elem_id="lb-filled") as filled:
        with gr.Row(elem_classes="rx-controls"):
            narrow: dict[str, Any] = {"min_width": 140, "filterable": False}
            benchmark = gr.Dropdown(label="Benchmark", elem_id="lb-benchmark", **narrow)
            track = gr.Dropdown(label="Track", elem_id="lb-track", **narrow)
            protocol = gr.Dropdown(label="Protocol", elem_id="lb-protocol", min_width=190, filterable=False)
            sort = gr.Dropdown(label="Sort by", elem_id="lb-sort", **narrow)
            order = gr.Dropdown([BEST, WORST], value=BEST, label="Order", elem_id="lb-order", **narrow)
            text = gr.Textbox(
                label="Search", placeholder="Model or team", max_lines=1, elem_id="lb-search", min_width=140
            )
        heading = gr.HTML(elem_id="lb-heading", js_on_load=FOLLOW_THE_VIEW + _SHOW_THE_SORTED_COLUMN)
        table = gr.Dataframe(
            interactive=False,
            show_label=False,
            pinned_columns=3,
            max_height=640,
            wrap=True,
            buttons=["copy", "fullscreen"],
            elem_id="lb",
        )
        with gr.Accordion("Columns", open=False, elem_id="lb-choose"):
            columns = gr.CheckboxGroup(show_label=False, show_select_all=True, container=False, elem_id="lb-columns")
        download = gr.DownloadButton("Download CSV", size="sm", elem_id="lb-download")
        chart = gr.HTML(elem_id="lb-chart")
        detail = gr.HTML(elem_id="lb-detail")
    header = gr.HTML("", js_on_load=_HEADER_CLICKS, elem_id="lb-header-clicks", elem_classes="rx-hidden")
    first = {"model": "", "keys": [], "results": [], "version": "", "searched": ""}
    states = {name: gr.State(value) for name, value in first.items()}
    parts = _Parts(
        lead,
        fresh,
        empty,
        filled,
        benchmark,
        track,
        protocol,
        sort,
        order,
        columns,
        heading,
        table,
        download,
        chart,
        detail,
        **states,
    )
    return parts, text, header


def _wish(
    benchmark: str | None,
    track: str | None,
    protocol: str | None,
    sort: str | None,
    order: str | None,
    text: str | None,
    chosen: Sequence[str] | None,
    model: str,
) -> Wish:
    """Read the controls; before the first look at the Hub they are empty."""
    columns = tuple(chosen) if chosen is not None and benchmark else None
    return Wish(benchmark or "", track or "", protocol or "", sort or "", order != WORST, text or "", columns, model)


def _asked(query: Mapping[str, str]) -> Wish:
    """Read the page's address, as `_link` writes it."""
    columns = query.get("columns")
    return Wish(
        benchmark=query.get("benchmark") or query.get("dataset") or "",
        track=query.get("track") or query.get("section") or "",
        protocol=query.get("protocol") or "",
        sort=query.get("metric") or "",
        best_first=query.get("order") != "worst",
        text=query.get("search") or "",
        chosen=tuple(columns.split(",")) if columns else None,
        model=query.get("model") or "",
    )


def _values(data: BoardData, page: Page, files: CsvFiles, namespace: str, now: datetime) -> dict[str, Any]:
    """What each of the page's parts shows."""
    wish, how = page.wish, page.rules
    layout = laid_out(page.rows, page.columns, page.plain, wish.sort, how.provisional)
    sorts = [
        ("Rank", BY_RANK),
        ("Model", "model_name"),
        *((column.heading, column.key) for column in how.columns),
        *((label, key) for key, label in PLAIN_COLUMNS.items()),
    ]
    choices = [
        *((column.heading, column.key) for column in how.columns if column is not how.deciding),
        *((label, key) for key, label in PLAIN_COLUMNS.items()),
    ]
    offered = {key for _, key in choices}
    path = files.write(page)
    return {
        "lead": lead_html(data, namespace),
        "fresh": freshness(data, now),
        "empty": gr.HTML(first_steps(data, namespace), visible=not data.leaderboard),
        "filled": gr.Column(visible=bool(data.leaderboard)),
        "benchmark": gr.Dropdown(choices=page.benchmarks, value=wish.benchmark),
        "track": gr.Dropdown(choices=page.tracks, value=wish.track),
        "protocol": gr.Dropdown(choices=page.protocols, value=wish.protocol, visible=len(page.protocols) > 1),
        "sort": gr.Dropdown(choices=sorts, value=wish.sort),
        "order": gr.Dropdown(value=BEST if wish.best_first else WORST),
        "columns": gr.CheckboxGroup(choices=choices, value=[key for key in wish.chosen or () if key in offered]),
        "heading": heading_html(page),
        "table": gr.Dataframe(value=layout.value, datatype=layout.kinds, column_widths=layout.widths),
        "download": gr.DownloadButton(value=path, interactive=path is not None),
        "chart": chart_html(page),
        "detail": opened_detail(page, data, namespace),
        "model": wish.model,
        "keys": layout.keys,
        "results": layout.result_ids,
        "version": data.version,
        "searched": wish.text,
    }
