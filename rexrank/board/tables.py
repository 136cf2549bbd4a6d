"""The tables that readers download, rebuilt as a whole from the single result files.

Types come from the schemas here, never from what the values look like: a
column that is null in one file and a number in the next would make
``load_dataset`` fail. Equal results give equal bytes.
"""

import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from rexrank.board import ranking
from rexrank.board.gaps import Gap, Gaps
from rexrank.board.ranges import Place, Ranges, nothing_kept
from rexrank.board.results import PER_STUDY_FOLDER, Result
from rexrank.errors import RexrankError
from rexrank.metrics import registry

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

SCHEMA_VERSION = 1
LEADERBOARD_PATH, SCORES_PATH = "data/leaderboard.parquet", "data/scores.parquet"
# load_dataset fails on a config without any file, so a table of no rows stands there from the start.
NO_STUDIES_PATH = f"{PER_STUDY_FOLDER}none.parquet"

_MOMENT = pa.timestamp("us", tz="UTC")
_STRINGS = pa.list_(pa.string())


def _columns(kind: pa.DataType, names: str) -> list[pa.Field]:
    return [pa.field(name.rstrip("?"), kind, nullable=name.endswith("?")) for name in names.split()]


def leaderboard_schema(keys: Collection[str]) -> pa.Schema:
    """Columns of ``data/leaderboard.parquet`` for a set of score keys: value, and low and high end of the interval.

    ``rank_lo`` and ``rank_hi`` are the ranks that paired comparisons leave open, ``p_first`` is the share of resamples
    in which the row comes first, ``rank_tau`` the mean of Kendall's tau-b between the order of the row's group and its
    resampled orders; ``rank_note`` says why they are null, or wider than the row's studies make them. ``over_floor``
    is how much better the row is than ``floor``, a baseline, in the score that ranks (`rexrank.board.gaps`).
    """
    scores = [f"{key}{suffix}?" for key in keys for suffix in ("", "_lo", "_hi")]
    return pa.schema(
        [
            *_columns(pa.int32(), "schema_version"),
            *_columns(pa.string(), "result_id request_id owner model_name repo_id revision dataset dataset_revision"),
            *_columns(
                pa.string(), "split section protocol protocol_version convention modality evaluator_hash leakage"
            ),
            *_columns(pa.string(), "organization? model_url? paper_url? code_url? license?"),
            *_columns(_MOMENT, "submitted_at finished_at"),
            *_columns(pa.int32(), "n_expected n_studies n_empty"),
            *_columns(pa.float64(), "coverage"),
            *_columns(pa.bool_(), "complete stale is_baseline verified"),
            *_columns(_STRINGS, "trained_on flags"),
            *_columns(pa.int32(), "rank? rank_lo? rank_hi?"),
            *_columns(pa.float64(), "p_first? rank_tau?"),
            *_columns(pa.string(), "rank_note? floor?"),
            *_columns(pa.float64(), "over_floor? over_floor_lo? over_floor_hi?"),
            *_columns(pa.float64(), " ".join(scores)),
        ]
    )


LEADERBOARD = leaderboard_schema(registry.score_keys())
SCORES = pa.schema(
    [
        *_columns(pa.int32(), "schema_version"),
        *_columns(pa.string(), "result_id request_id owner model_name dataset split section metric direction status"),
        *_columns(pa.string(), "metric_version signature reason? module_revision? weights_sha256? ci_method?"),
        *_columns(pa.float64(), "value? ci_low? ci_high? ci_level?"),
        *_columns(pa.int32(), "n"),
        *_columns(pa.bool_(), "stale"),
        *_columns(_MOMENT, "computed_at"),
    ]
)
PER_STUDY = pa.schema(
    [
        *_columns(pa.int32(), "schema_version"),
        *_columns(pa.string(), "result_id study_id metric"),
        *_columns(pa.float64(), "value?"),
        *_columns(_STRINGS, "flags"),
    ]
)


@dataclass(frozen=True)
class Ranking:
    """What one version of a protocol asks of a row: ranking keys in order, and score keys that must have a value."""

    keys: tuple[str, ...]
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class Standard:
    """What rows are measured against.

    Attributes:
        computed: Score keys that the host computes.
        rankings: What each protocol asks, by ``(name, version)``.
        revisions: Present data revision of each benchmark; rows of another one are stale.
        computed_of: Those of `computed` that are made for a benchmark's images and language, where these are not all.
        floors: Of a dataset, section, protocol with version and convention the name of the floor of each score key,
            chosen on the training split; empty where the host has stored none.
    """

    computed: frozenset[str]
    rankings: Mapping[tuple[str, str], Ranking]
    revisions: Mapping[str, str]
    computed_of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    floors: Mapping[tuple[str, ...], Mapping[str, str]] = field(default_factory=dict)


def leaderboard(
    results: Sequence[Result], standard: Standard, ranges: Ranges | None = None, gaps: Gaps | None = None
) -> pa.Table:
    """The rows of the board: of each model the latest result in each group, ranked within the group.

    Args:
        results: All results, in any order.
        standard: What rows are measured against.
        ranges: Gives the ranges of ranks, from what is kept of single studies; None where nothing is at hand.
        gaps: Gives the gaps to the floors, likewise.

    Returns:
        A table with the schema ``LEADERBOARD``, best row of each group first.
    """
    shown = _latest(results)
    groups: dict[tuple[str, ...], list[Result]] = {}
    for result in shown:
        groups.setdefault(group_of(result), []).append(result)
    ranges, gaps = ranges or Ranges(nothing_kept), gaps or Gaps(nothing_kept)
    rows = [row for group in sorted(groups) for row in _group_rows(groups[group], standard, ranges, gaps)]
    return checked(rows, LEADERBOARD)


def scores(results: Sequence[Result], standard: Standard) -> pa.Table:
    """One row for each result and metric, with the schema ``SCORES``, in order of result id and metric."""
    rows = []
    for result in sorted(results, key=lambda result: result.result_id):
        for metric, found in sorted(result.metrics.items()):
            rows.append(
                {
                    "schema_version": SCHEMA_VERSION,
                    **_named(result, "result_id request_id owner model_name dataset split section"),
                    "metric": metric,
                    **_named(found, "direction status metric_version signature reason module_revision"),
                    **_named(found, "weights_sha256 ci_method value ci_low ci_high ci_level n"),
                    "stale": is_stale(result, standard, metric),
                    "computed_at": result.finished_at,
                }
            )
    return checked(rows, SCORES)


def per_study(result_id: str, card: "ScoreCard") -> pa.Table:
    """One row for each study and metric of a score card, with the schema ``PER_STUDY``. Scores only, no text."""
    table = card.per_study
    studies = table.column("study_id").to_pylist()
    columns = {key: table.column(key).to_pylist() for key in table.column_names if key in card.summary}
    rows = [
        {
            "schema_version": SCHEMA_VERSION,
            "result_id": result_id,
            "study_id": study,
            "metric": key,
            "value": values[position],
            "flags": [],
        }
        for position, study in enumerate(studies)
        for key, values in columns.items()
    ]
    return checked(rows, PER_STUDY)


def checked(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Make a table of exactly this schema.

    Raises:
        RexrankError: A row lacks a value that must be there, or the table came out with another schema.
    """
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=schema)
    if not table.schema.equals(schema, check_metadata=True):
        raise RexrankError("a table came out with another schema than the published one")
    empty = [field.name for field in schema if not field.nullable and table.column(field.name).null_count]
    if empty:
        raise RexrankError(f"a table lacks values in column {', '.join(empty)}")
    return table


def to_parquet(table: pa.Table) -> bytes:
    """The table as a Parquet file; equal tables give equal bytes."""
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, table.schema, compression="zstd") as writer:
        # load_dataset takes its batch size from the first row group and fails on an empty one.
        if table.num_rows:
            writer.write_table(table)
    return buffer.getvalue()


def group_of(result: Result) -> tuple[str, ...]:
    """Rows are compared only within one dataset, split, section, protocol, version and convention."""
    return (
        result.dataset,
        result.split,
        result.section,
        result.protocol,
        result.protocol_version,
        result.convention,
    )


def is_stale(result: Result, standard: Standard, metric: str | None = None) -> bool:
    """Whether references or metric versions have changed since (rules Q35, Q37); one metric, or any of the row."""
    current = standard.revisions.get(result.dataset)
    if current is not None and current != result.dataset_revision:
        return True
    known = registry.score_keys()
    return any(
        key in known and found.metric_version != registry.metric_of(key).version
        for key, found in result.metrics.items()
        if found.status == "ok" and metric in (None, key)
    )


def _latest(results: Sequence[Result]) -> list[Result]:
    """Of each model in each group the result of the latest submission; of one submission the latest scoring."""
    latest: dict[tuple[str, ...], Result] = {}
    for result in sorted(results, key=lambda result: (result.request_id, result.finished_at, result.result_id)):
        latest[result.owner, result.name_key, *group_of(result)] = result
    return list(latest.values())


def _group_rows(results: Sequence[Result], standard: Standard, ranges: Ranges, gaps: Gaps) -> list[dict[str, Any]]:
    first = results[0]
    rule = standard.rankings.get((first.protocol, first.protocol_version))
    directions = {key: score_key.direction for key, score_key in registry.score_keys().items()}
    computed = standard.computed_of.get(first.dataset, standard.computed)
    key = ranking.choose(rule.keys, computed, directions) if rule else None
    required = [metric for metric in rule.metrics if metric in computed] if rule else []
    standings = [_standing(result, key, required, standard) for result in results]
    direction = key.direction if key else "higher"
    ranks = ranking.ranks(standings, direction)
    ranked = {position: rank for position, rank in enumerate(ranks) if rank is not None}
    found = ranges.of([results[i] for i in ranked], list(ranked.values()), key) if key else []
    places = dict(zip(ranked, found, strict=True))
    apart = gaps.of([results[i] for i in ranked], key, _chosen_floor(first, standard, key)) if key else []
    above = dict(zip(ranked, apart, strict=True))
    return [
        _row(results[i], standings[i], ranks[i], places.get(i, Place()), above.get(i))
        for i in ranking.order(standings, direction)
    ]


def _chosen_floor(result: Result, standard: Standard, key: ranking.Key) -> str | None:
    rules = f"{result.protocol}@{result.protocol_version}"
    known = standard.floors.get((result.dataset, result.section, rules, result.convention), {})
    return known.get(key.name)


def _standing(result: Result, key: ranking.Key | None, required: Sequence[str], standard: Standard) -> ranking.Standing:
    have = {metric for metric, found in result.metrics.items() if found.status == "ok"}
    found = result.metrics.get(key.name) if key else None
    return ranking.Standing(
        group=group_of(result),
        value=found.value if found else None,
        complete=bool(required) and have.issuperset(required) and result.n_studies == result.n_expected,
        stale=is_stale(result, standard),
        submitted_at=result.submitted_at,
        name=result.model_name,
    )


def _row(result: Result, standing: ranking.Standing, rank: int | None, place: Place, gap: Gap | None) -> dict[str, Any]:
    row = {
        "schema_version": SCHEMA_VERSION,
        **_named(result, "result_id request_id owner model_name repo_id revision dataset dataset_revision split"),
        **_named(result, "section protocol protocol_version convention modality organization model_url paper_url"),
        **_named(result, "code_url license submitted_at finished_at n_expected n_studies n_empty coverage"),
        "evaluator_hash": result.evaluator.hash,
        "leakage": result.declared.leakage,
        "complete": standing.complete,
        "stale": standing.stale,
        "is_baseline": result.kind == "baseline",
        # A file of predictions cannot prove which model wrote it; only a model that the host ran itself can.
        "verified": result.kind == "model",
        "trained_on": list(result.declared.trained_on),
        "flags": list(result.flags),
        "rank": rank,
        "rank_lo": place.low,
        "rank_hi": place.high,
        "p_first": place.p_first,
        "rank_tau": place.tau,
        "rank_note": place.note,
        **({} if gap is None else _above(gap)),
    }
    for key, found in result.metrics.items():
        if key in registry.score_keys():
            row |= {key: found.value, f"{key}_lo": found.ci_low, f"{key}_hi": found.ci_high}
    return row


def _above(gap: Gap) -> dict[str, Any]:
    return {"floor": gap.floor, "over_floor": gap.value, "over_floor_lo": gap.low, "over_floor_hi": gap.high}


def _named(source: object, names: str) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names.split()}
