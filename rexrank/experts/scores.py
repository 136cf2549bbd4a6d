"""Scores of candidates that a file gives, by study and candidate."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rexrank.errors import shown
from rexrank.experts.agreement import Scored
from rexrank.experts.files import id_of, json_of, number_of, rows_of
from rexrank.experts.judgements import Candidate, Floats, UnreadableJudgements
from rexrank.files import parquet_table
from rexrank.metrics import score_keys
from rexrank.terms import Direction

_PLACES = ("candidate", "candidate_id")
# Columns of published files that no score key has the name of.
_LOWER = frozenset({"radcliq"})
_SHOWN = 4


def read_scores(path: Path, candidates: Sequence[Candidate]) -> tuple[dict[str, Floats], list[str]]:
    """Columns of numbers in a CSV, TSV, JSON or Parquet file, such as the ``per_study.parquet`` of a score card.

    Args:
        path: With ``study_id``, with ``candidate`` where a study has several, and a column a metric.
        candidates: That were judged.

    Returns:
        Column to one score a candidate, [n], nan where the file has none; and how many were not found, or not used,
        in sentences.

    Raises:
        UnreadableJudgements: The file cannot be read, names a candidate twice, or has none that was judged.
    """
    known = {(one.study_id, one.name): place for place, one in enumerate(candidates)}
    single = _only_candidates(candidates)
    columns: dict[str, Floats] = {}
    seen: set[tuple[str, str]] = set()
    for place, row in _rows(path):
        key = _key(row, place, single)
        if key in seen:
            raise UnreadableJudgements(f"{place}: {shown(key[1])} of study {shown(key[0])} is there twice; keep one")
        seen.add(key)
        for name in row:
            if not name.isprintable():
                raise UnreadableJudgements(f"{path.name} has a column whose name cannot be shown; name it anew")
            if name and name not in ("study_id", *_PLACES):
                column = columns.setdefault(name, np.full(len(candidates), math.nan))
                if key in known:
                    column[known[key]] = number_of(row[name], f"{place}, {name}")
    absent = sum(one not in seen for one in known)
    if absent == len(known) or not columns:
        lacking = "none of the candidates" if columns else "no column of scores"
        names = ", ".join(dict.fromkeys(shown(one.name) for one in candidates[:_SHOWN]))
        raise UnreadableJudgements(
            f"{path.name} has {lacking}; it needs study_id, candidate (such as {names}) and a column a metric"
        )
    notes = []
    if absent:
        notes.append(f"{path.name} lacks {absent:,} of {len(known):,} candidates, whose scores are undefined")
    if unused := len(seen - known.keys()):
        notes.append(f"{unused:,} rows of {path.name} are of no candidate that was judged")
    return columns, notes


def _only_candidates(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Study to the name of its candidate; empty where a study has several."""
    names = {one.study_id: one.name for one in candidates}
    return names if len(names) == len(candidates) else {}


def _key(row: Mapping[str, Any], place: str, single: Mapping[str, str]) -> tuple[str, str]:
    study_id = id_of(row.get("study_id"), f"{place}, study_id")
    column = next((name for name in _PLACES if name in row), None)
    if column:
        return study_id, id_of(row[column], f"{place}, {column}")
    if not single:
        raise UnreadableJudgements(f"{place} has no column candidate, and studies have several; name each")
    return study_id, single.get(study_id, "")


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    ending = path.suffix.lower()
    if ending == ".parquet":
        import pyarrow

        try:
            records: Any = parquet_table(path.read_bytes()).to_pylist()
        except FileNotFoundError:
            raise UnreadableJudgements(f"{path} is not there; name a file of scores") from None
        except (pyarrow.ArrowException, OSError):
            raise UnreadableJudgements(f"{path.name} is no whole Parquet file") from None
    elif ending == ".json":
        records = json_of(path)
    else:
        for line, row in rows_of(path, ("study_id",), any_column=True):
            yield f"{path.name}, line {line}", row
        return
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise UnreadableJudgements(f"{path.name}: expected a list of records with study_id and a column a metric")
    for number, record in enumerate(records, start=1):
        yield f"{path.name}, record {number}", record


def given_scores(columns: Mapping[str, Floats], lower: Collection[str] = ()) -> tuple[dict[str, Scored], list[str]]:
    """Given scores with their directions.

    Args:
        columns: Name to scores, [n].
        lower: Names whose lower score is the better one; the others are looked up among the score keys.

    Returns:
        The scores, and in sentences which direction was only assumed.

    Raises:
        UnreadableJudgements: `lower` names no column.
    """
    if unknown := [name for name in lower if name not in columns]:
        raise UnreadableJudgements(
            f"no scores are called {', '.join(map(shown, unknown))}; there are {', '.join(columns) or 'none'}"
        )
    found: dict[str, Scored] = {}
    assumed = []
    for name, values in columns.items():
        direction: Direction = "higher"
        if name in lower or name.lower() in _LOWER:
            direction = "lower"
        elif name in score_keys():
            direction = score_keys()[name].direction
        else:
            assumed.append(name)
        found[name] = Scored(values, direction, "given")
    notes = (
        [f"higher was taken for better in {', '.join(assumed)}; --lower names those where it is not"] if assumed else []
    )
    return found, notes
