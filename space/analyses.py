"""The page "Analyses": whether metrics agree and orders hold, on this board's results and on published tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import gradio as gr
import numpy as np
import pyarrow as pa

from rexrank.analysis import published
from rexrank.analysis.agreeing import TITLE as AGREEMENT
from rexrank.analysis.agreeing import agreement, agreement_of_systems
from rexrank.analysis.between import robustness_blocks
from rexrank.analysis.blocks import Block, Paragraph, Picture, Points, Section, safely
from rexrank.analysis.page import section_html
from rexrank.analysis.spreading import spread
from rexrank.analysis.study_table import StudyTable
from rexrank.analysis.systems import SystemTable, robustness
from rexrank.analysis.tracks import TITLE as TRACKS
from rexrank.analysis.tracks import tracks_of_systems
from rexrank.board.names import name_key
from rexrank.board.ranking import Direction
from rexrank.figures import Figure, intervals
from rexrank.figures import Row as Mark
from rexrank.metrics.outcome import Floats
from rexrank.published.record import NEWEST
from space.across import View, arrange
from space.data import BoardData, BoardStore
from space.formatting import escape, is_missing
from space.parts import PRIVATE
from space.rules import Rules
from space.table import Column, Row, counted

OWN, RECORD = "This board", "Published tables of ReXrank"
_RECORD_TRACKS = ["findings", "report"]
# Pictures with more systems or scores than these are no longer read.
_SYSTEMS, _SCORES, _LOADED = 40, 8, 8
_KEPT_PAGES = 32
# Gradio reads these signs in what it is given; in a page they mean the same written so.
_ENTITIES = str.maketrans({sign: f"&#{ord(sign)};" for sign in "${}`"})
_LEAD = (
    '<p class="rx-view">The questions of the ReXrank paper: do metrics agree on which models are better, and does an '
    "order on one benchmark hold on another? <code>rexrank analyse</code> makes the same of your own score cards.</p>"
)


def own_sections(view: View) -> list[Section]:
    """The analyses of this board's results of one protocol and track.

    Args:
        view: The rows of each benchmark, and how they are ranked.
    """
    names = _names(view)
    sections = []
    for benchmark, rows in view.groups.items():
        how = view.how[benchmark]
        sections.append(safely(f"Scores on {benchmark}", partial(_scores, benchmark, rows, how, names)))
        title = f"{AGREEMENT} · {benchmark}"
        sections.append(safely(title, partial(_agreement, title, benchmark, rows, how, names)))
    if len(view.groups) > 1:
        sections.append(safely("From benchmark to benchmark", partial(_robustness, view, names)))
    return sections


def _names(view: View) -> dict[tuple[str, str], str]:
    """What each model is called: its name, and its owner beside it where two owners have one of that name."""
    models = {_model(row): str(row["model_name"]) for rows in view.groups.values() for row in rows}
    taken = Counter(name for _, name in models)
    return {model: name if taken[model[1]] == 1 else f"{name} ({model[0]})" for model, name in models.items()}


def _model(row: Row) -> tuple[str, str]:
    return str(row["owner"]), name_key(str(row["model_name"]))


def _scores(benchmark: str, rows: Sequence[Row], how: Rules, names: Mapping[tuple[str, str], str]) -> Section:
    title = f"Scores on {benchmark}"
    if how.deciding is None:
        return Section(title, (Paragraph("No ranking score is computed on this host."),))
    column = how.deciding
    valued = _ordered([row for row in rows if not is_missing(row.get(column.key))], column.key, column.direction)
    if not valued:
        return Section(title, (Paragraph(f"No model has {column.label} here."),))
    shown = valued[:_SYSTEMS]
    see = (
        f"{column.label} of {counted(shown)}, best on top, with 95% intervals. Where lines overlap "
        "widely, the order is open. Hollow dots are blind baselines."
    )
    return Section(title, (Picture(partial(_forest, shown, column, benchmark, names), see),))


def _ordered(rows: Sequence[Row], key: str, direction: Direction) -> list[Row]:
    return sorted(rows, key=lambda row: (row[key] if direction == "lower" else -row[key], str(row["model_name"])))


def _forest(rows: Sequence[Row], column: Column, benchmark: str, names: Mapping[tuple[str, str], str]) -> Figure:
    marks = [
        Mark(
            names[_model(row)],
            row[column.key],
            row.get(f"{column.key}_lo"),
            row.get(f"{column.key}_hi"),
            bool(row["is_baseline"]),
        )
        for row in rows
    ]
    return intervals(marks, f"{column.label} on {benchmark}", column.direction, digits=column.digits)


def _agreement(
    title: str, benchmark: str, rows: Sequence[Row], how: Rules, names: Mapping[tuple[str, str], str]
) -> Section:
    table = _table(benchmark, _models(rows), how, names)
    return Section(title, tuple(agreement_of_systems(table, benchmark)))


def _models(rows: Sequence[Row]) -> list[Row]:
    """Rows that are no baselines: these would hold an order together that models do not."""
    return [row for row in rows if not row["is_baseline"]]


def _tables_of_models(view: View, names: Mapping[tuple[str, str], str]) -> list[SystemTable]:
    return [_table(name, _models(rows), view.how[name], names) for name, rows in view.groups.items()]


def _table(label: str, rows: Sequence[Row], how: Rules, names: Mapping[tuple[str, str], str]) -> SystemTable:
    """Scores of a benchmark's models, the deciding one first."""
    columns = [one for one in how.columns if not one.inverse_of and one.direction != "none"][:_SCORES]
    values = [[np.nan if is_missing(row.get(one.key)) else row[one.key] for one in columns] for row in rows]
    return SystemTable(
        label=label,
        names=tuple(names[_model(row)] for row in rows),
        keys=tuple(one.key for one in columns),
        labels=tuple(one.label for one in columns),
        directions=tuple(one.direction for one in columns),
        values=np.asarray(values, dtype=np.float64).reshape(len(rows), len(columns)),
    )


def _robustness(view: View, names: Mapping[tuple[str, str], str]) -> Section:
    title = "From benchmark to benchmark"
    deciding = {how.deciding.key: how.deciding.label for how in view.how.values() if how.deciding}
    if len(deciding) != 1:
        return Section(title, (Paragraph("The benchmarks are not ranked by the same score."),))
    ((key, label),) = deciding.items()
    tables = _tables_of_models(view, names)
    why = (
        "Ranks among the models that every benchmark here has. Ranks among all models, with the ranges that their "
        "studies leave open, stand on the page “Across benchmarks”."
    )
    return Section(title, *robustness_blocks(robustness(tables, key), label, why=why))


def _between_tracks(data: BoardData, view: View) -> list[Section]:
    """Findings against whole reports, where the board has results of both."""
    if not {"findings", "report"} <= set(view.tracks):
        return []
    sides = [arrange(data, view.protocol, track) for track in ("findings", "report")]
    tables = [_tables_of_models(one, _names(one)) for one in sides]
    return [safely(TRACKS, partial(tracks_of_systems, *tables))]


def page_html(data: BoardData, source: str, protocol: str = "", track: str = "") -> str:
    """The analyses of one source.

    Args:
        data: What the board knows.
        source: `OWN` or `RECORD`.
        protocol: Rule book of the board's own results.
        track: Text that is compared.
    """
    if source == RECORD:
        return _record_html(track if track in _RECORD_TRACKS else _RECORD_TRACKS[0])
    view = arrange(data, protocol, track)
    if not view.groups:
        return (
            '<p class="rx-empty" role="status">No model yet. The analyses stand here as soon as some are scored; those '
            "of the published tables do already.</p>"
        )
    return sections_html([*own_sections(view), *_between_tracks(data, view)])


@lru_cache(maxsize=_KEPT_PAGES)
def _record_html(track: str) -> str:
    """The analyses of the newest published tables, which never change while the page is served."""
    said = Paragraph(
        "Numbers that ReXrank has published, copied and computed by nobody here. The page “Reported” has the tables, "
        "their sources and what is odd in them.",
        quiet=True,
    )
    return sections_html(
        [Section("Published tables", (said,)), *published.sections(track, NEWEST), published.between_tracks()]
    )


def sections_html(sections: Sequence[Section]) -> str:
    """Sections below each other, what they tell on top, harmless for Gradio's own reading of signs."""
    told = tuple(sentence for section in sections for sentence in section.told)
    summary = [Section("In short", (Points(told),))] if told else []
    html = "".join(section_html(section) for section in [*summary, *sections])
    return f'<div class="rx-analyses">{html.translate(_ENTITIES)}</div>'


def studies_html(store: BoardStore, protocol: str, track: str, benchmark: str) -> str:
    """Spread and agreement of single studies of the best results of one public benchmark.

    Args:
        store: Fetches the values of single studies.
        protocol: Rule book.
        track: Text that is compared.
        benchmark: Name of the benchmark.
    """
    view = arrange(store.data, protocol, track)
    how = view.how.get(benchmark)
    if how is None or how.deciding is None:
        return '<p class="rx-quiet">There is nothing here that could be shown study by study.</p>'
    key, direction = how.deciding.key, how.deciding.direction
    ranked = _ordered([row for row in view.groups[benchmark] if not is_missing(row.get(key))], key, direction)[:_LOADED]
    loaded = [(row, table) for row in ranked if (table := store.per_study(str(row["result_id"]))) is not None]
    if not loaded:
        return (
            f'<p class="rx-quiet">No values of single studies of {escape(benchmark)} can be read: its references are '
            "hidden, or the Hub does not answer.</p>"
        )
    table = study_table(loaded, view, benchmark, _names(view))
    of_whom = f"The best results whose values are public ({len(loaded)}), on the {table.n:,} studies that all have."
    blocks: tuple[Block, ...] = (Paragraph(of_whom, quiet=True),)
    return sections_html(
        [
            Section(f"Single studies · {benchmark}", blocks),
            safely("Spread over single studies", partial(spread, table)),
            safely(AGREEMENT, partial(agreement, table)),
        ]
    )


def study_table(
    loaded: Sequence[tuple[Row, pa.Table]], view: View, benchmark: str, names: Mapping[tuple[str, str], str]
) -> StudyTable:
    """Values of the studies that all results have, of the scores that all have, the deciding one first."""
    values = [_by_metric(table) for _, table in loaded]
    columns = [one.key for one in view.how[benchmark].columns if not one.inverse_of and one.direction != "none"]
    keys = [key for key in columns if all(key in one for one in values)][:_SCORES]
    shared = set.intersection(*(set(one[key]) for one in values for key in keys)) if keys else set()
    studies = sorted(shared)
    return StudyTable(
        label=f"{benchmark} · {view.track}",
        names=tuple(names[_model(row)] for row, _ in loaded),
        baselines=frozenset(names[_model(row)] for row, _ in loaded if row["is_baseline"]),
        keys=tuple(keys),
        values={key: [_column(one[key], studies) for one in values] for key in keys},
    )


def _by_metric(table: pa.Table) -> dict[str, dict[str, float | None]]:
    """Value of each study by score key; scores without any value are left out."""
    found: dict[str, dict[str, float | None]] = {}
    columns = (table.column(name).to_pylist() for name in ("study_id", "metric", "value"))
    for study, metric, value in zip(*columns, strict=True):
        found.setdefault(metric, {})[study] = value
    return {metric: own for metric, own in found.items() if any(value is not None for value in own.values())}


def _column(values: Mapping[str, float | None], studies: Sequence[str]) -> Floats:
    return np.array([np.nan if values[study] is None else values[study] for study in studies], dtype=np.float64)


def build(page: gr.Blocks, store: BoardStore) -> None:
    """Put the page's components and events into the open page."""
    gr.HTML(f'<h1 class="rx-title">Analyses</h1>{_LEAD}', elem_id="analyses-title")
    narrow: dict[str, Any] = {"min_width": 140, "filterable": False}
    with gr.Row(elem_classes="rx-controls"):
        source = gr.Dropdown([OWN, RECORD], value=OWN, label="Of", elem_id="analyses-source", **narrow)
        protocol = gr.Dropdown(label="Protocol", elem_id="analyses-protocol", **narrow)
        track = gr.Dropdown(label="Track", elem_id="analyses-track", **narrow)
    shown = gr.HTML(elem_id="analyses-text")
    with gr.Accordion(
        "Single studies of public benchmarks", open=False, elem_id="analyses-open", visible=False
    ) as more:
        benchmark = gr.Dropdown(label="Benchmark", elem_id="analyses-benchmark", **narrow)
        load = gr.Button("Show", elem_id="analyses-load")
        studies = gr.HTML(elem_id="analyses-studies")
    outputs: list[Any] = [protocol, track, shown, more, benchmark, studies]

    @lru_cache(maxsize=_KEPT_PAGES)
    def drawn(version: str, of: str, rules: str, text: str) -> str:
        return page_html(store.data, of, rules, text)

    def render(of: str, rules: str | None, text: str | None) -> list[Any]:
        data = store.data
        if of == RECORD:
            chosen = text if text in _RECORD_TRACKS else _RECORD_TRACKS[0]
            return [
                gr.Dropdown(visible=False),
                gr.Dropdown(choices=_RECORD_TRACKS, value=chosen),
                drawn("", RECORD, "", chosen),
                gr.Accordion(visible=False),
                gr.skip(),
                "",
            ]
        view = arrange(data, rules or "", text or "")
        public = [name for name in view.groups if _is_public(data, name)]
        return [
            gr.Dropdown(choices=view.protocols, value=view.protocol or None, visible=True),
            gr.Dropdown(choices=view.tracks, value=view.track or None),
            drawn(data.version, OWN, view.protocol, view.track),
            gr.Accordion(visible=bool(public)),
            gr.Dropdown(choices=public, value=public[0] if public else None),
            "",
        ]

    def loaded(rules: str | None, text: str | None, name: str | None) -> str:
        return studies_html(store, rules or "", text or "", name or "")

    choosers = [source, protocol, track]
    page.load(render, choosers, outputs, **PRIVATE)
    for chooser in choosers:
        chooser.input(render, choosers, outputs, **PRIVATE)
    load.click(loaded, [protocol, track, benchmark], studies, **{**PRIVATE, "show_progress": "minimal"})


def _is_public(data: BoardData, benchmark: str) -> bool:
    known = data.host.benchmarks.get(benchmark) if data.host else None
    return known is not None and known.public
