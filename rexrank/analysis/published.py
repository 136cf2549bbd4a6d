"""The analyses of the ReXrank paper on its published tables, where there is one number a model and no study."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from rexrank.analysis.between import robustness_blocks
from rexrank.analysis.blocks import Block, Paragraph, Picture, Section, Table, listed
from rexrank.analysis.systems import FEWEST_SYSTEMS, SystemTable, metric_agreement, robustness
from rexrank.analysis.tracks import tracks_of_systems
from rexrank.figures import heatmap
from rexrank.figures.scales import number
from rexrank.metrics import score_keys
from rexrank.published.checks import flags
from rexrank.published.record import NEWEST, PublishedRow, declared_scores, rows
from rexrank.terms import Direction

# Ranks of the site are those of the raw mean; only newer tables print its inverse alone, which orders alike.
_RANKING = ("radcliq_v1", "inv_radcliq_v1")
_UNLIKE = 0.6


def tables(track: str = "findings", snapshot: str = NEWEST, board: str = "rexrank") -> list[SystemTable]:
    """The published tables of a snapshot as tables of systems, one a benchmark, in the order of the record.

    Args:
        track: ``findings`` or ``report``.
        snapshot: Name of a snapshot, or ``newest``.
        board: ``rexrank`` or ``cxpmrg``.

    Raises:
        UnknownTable: The record has no such track, snapshot or board.
    """
    grouped: dict[tuple[str, ...], list[PublishedRow]] = {}
    for row in rows(track=track, snapshot=snapshot, board=board):
        grouped.setdefault(row.table, []).append(row)
    return [_table(members) for members in grouped.values()]


def _table(members: Sequence[PublishedRow]) -> SystemTable:
    keys = list(dict.fromkeys(key for row in members for key in row.scores))
    ranking = [key for key in _RANKING if key in keys][:1]
    # Of a score and its inverse one is enough.
    kept = [key for key in keys if key not in _RANKING and _direction(key) != "none"]
    ordered = [*ranking, *kept]
    values = [[_number(row.scores.get(key)) for key in ordered] for row in members]
    return SystemTable(
        label=members[0].benchmark,
        names=tuple(_names()[row.model_key] for row in members),
        keys=tuple(ordered),
        labels=tuple(_label(key) for key in ordered),
        directions=tuple(_direction(key) for key in ordered),
        values=np.asarray(values, dtype=np.float64),
    )


@cache
def _names() -> dict[str, str]:
    """One spelling of each model, as tables spell some differently: the newest one of ReXrank's findings."""
    every = [*rows(board="cxpmrg"), *rows(track="report"), *rows(track="findings")]
    return {row.model_key: row.model for row in every}


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _label(key: str) -> str:
    known = score_keys().get(key)
    return known.label if known else str(declared_scores().get(key, {}).get("label", key))


def _direction(key: str) -> Direction:
    known = score_keys().get(key)
    if known:
        return known.direction
    declared = declared_scores().get(key, {}).get("direction")
    return "lower" if declared == "lower" else "higher" if declared == "higher" else "none"


def sections(track: str = "findings", snapshot: str = NEWEST) -> list[Section]:
    """Difficulty of benchmarks, agreement of metrics, ranks from benchmark to benchmark, of published tables.

    Raises:
        UnknownTable: The record has no such track or snapshot.
    """
    found = [table for table in tables(track, snapshot) if len(table.names) >= FEWEST_SYSTEMS]
    if not found:
        return [Section("Published tables", (Paragraph("There are no tables of this track and snapshot."),))]
    difficulty = _difficulty(found)
    remarks = tuple(_remarks(rows(track=track, snapshot=snapshot)))
    return [replace(difficulty, blocks=(*difficulty.blocks, *remarks)), _agreement(found), _robustness(found)]


def _remarks(shown: Sequence[PublishedRow]) -> Iterator[Paragraph]:
    """How many of the rows are odd: they are taken as they were printed, so what follows from them is too."""
    odd = sum(bool(found) for found in flags(shown))
    if odd:
        said = f"{odd} of these {len(shown)} rows look odd (“rexrank published” says why); they are taken as printed."
        yield Paragraph(said, quiet=True)


def between_tracks(snapshot: str = NEWEST) -> Section:
    """Findings against whole reports, on the models that the published tables have on both.

    Raises:
        UnknownTable: The record has no such snapshot.
    """
    return tracks_of_systems(tables("findings", snapshot), tables("report", snapshot))


def _difficulty(found: Sequence[SystemTable]) -> Section:
    keys = _shared(found)
    labels = [found[0].labels[found[0].keys.index(key)] for key in keys]
    lines = tuple(
        (label, *(_mean_and_deviation(table, key) for table in found)) for label, key in zip(labels, keys, strict=True)
    )
    head = ("Score", *(f"{table.label} ({len(table.names)} models)" for table in found))
    blocks: tuple[Block, ...] = (
        Table(head, lines, "Mean ± standard deviation over the published models."),
        Paragraph(
            "Benchmarks differ in difficulty, so a score on one is no yardstick for a score on another.", quiet=True
        ),
    )
    return Section("How hard the benchmarks are", blocks)


def _mean_and_deviation(table: SystemTable, key: str) -> str:
    values = table.values[:, table.keys.index(key)]
    digits = score_keys()[key].digits if key in score_keys() else 3
    return f"{number(float(np.nanmean(values)), digits)} ± {number(float(np.nanstd(values, ddof=1)), digits)}"


def _shared(found: Sequence[SystemTable]) -> list[str]:
    """Scores that at least two models of every table have."""
    return [key for key in found[0].keys if all(_is_filled(table, key) for table in found)]


def _is_filled(table: SystemTable, key: str) -> bool:
    return key in table.keys and int((~np.isnan(table.values[:, table.keys.index(key)])).sum()) > 1


def _agreement(found: Sequence[SystemTable]) -> Section:
    first = found[0]
    keys = _shared(found)
    if len(keys) < 2:
        return Section("Do the metrics agree?", (Paragraph("These tables print one score only."),))
    labels = [first.labels[first.keys.index(key)] for key in keys]
    matrix = [_with_ranking(table, keys) for table in found]
    told = _told(found, labels, matrix)
    caption = f"How alike each metric and {labels[0]} order the models (Spearman): 1 is the same order."
    blocks: list[Block] = [
        Picture(
            lambda: heatmap([table.label for table in found], matrix, f"Agreement with {labels[0]}", labels[1:]),
            caption,
        ),
        Paragraph(
            "Of published tables only the mean of each model is known, so these numbers have no interval.", quiet=True
        ),
    ]
    return Section("Do the metrics agree?", tuple(blocks), told=told)


def _with_ranking(table: SystemTable, keys: Sequence[str]) -> list[float | None]:
    agreement = metric_agreement(table)[table.keys.index(keys[0])]
    return [agreement[table.keys.index(key)] for key in keys[1:]]


def _told(
    found: Sequence[SystemTable], labels: Sequence[str], matrix: Sequence[Sequence[float | None]]
) -> tuple[str, ...]:
    odd: dict[str, list[str]] = {}
    for table, row in zip(found, matrix, strict=True):
        for label, value in zip(labels[1:], row, strict=True):
            if value is not None and value < _UNLIKE:
                odd.setdefault(table.label, []).append(f"{label} ({number(value, 2)})")
    if not odd:
        return (f"Every metric orders the models much as {labels[0]} does.",)
    said = "; ".join(f"{listed(names)} on {benchmark}" for benchmark, names in odd.items())
    return (f"Some metrics order the models otherwise than {labels[0]} (1: the same): {said}.",)


def _robustness(found: Sequence[SystemTable]) -> Section:
    title = "From benchmark to benchmark"
    shared = _shared(found)
    if len(found) < 2 or not shared:
        return Section(title, (Paragraph("Tables of at least two benchmarks with the same score are needed."),))
    label = found[0].labels[found[0].keys.index(shared[0])]
    return Section(title, *robustness_blocks(robustness(found, shared[0]), label))
