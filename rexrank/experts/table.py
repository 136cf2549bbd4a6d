"""A table of one's own: one row a rater and candidate, as CSV, TSV or JSON."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rexrank.errors import shown
from rexrank.experts.files import count_of, id_of, json_of, number_of, object_of, rows_of
from rexrank.experts.judgements import (
    Candidate,
    Floats,
    Judgements,
    Opinion,
    UnreadableJudgements,
    filled,
    refuse_missing,
)
from rexrank.terms import Direction

NEEDED = ("study_id", "rater")
OPTIONAL = ("candidate", "candidate_id", "reference", "patient_id")
LABELS: Mapping[str, tuple[str, Direction]] = {
    "rating": ("rating", "higher"),
    "errors": ("number of errors", "lower"),
    "errors_significant": ("number of clinically significant errors", "lower"),
    "errors_insignificant": ("number of clinically insignificant errors", "lower"),
}

Place = tuple[str, str]
# Study to the texts of its candidates without an id, each with its number.
Numbers = defaultdict[str, dict[str | None, str]]


def load(path: Path, allow_missing: bool = False, given: Sequence[str] = ()) -> Judgements:
    """Read the table.

    Args:
        path: Columns ``study_id``, ``rater``, and ``rating`` (higher is better) or numbers of errors (``errors``,
            ``errors_significant``, ``errors_insignificant``); for scoring ``candidate`` and ``reference`` with the
            reports; ``candidate_id`` where a study has several candidates and their reports do not tell them apart;
            ``patient_id`` where patients are to be drawn as a whole.
        allow_missing: Whether raters may have left candidates out.
        given: Further columns, with scores of metrics.

    Raises:
        UnreadableJudgements: It is not of the form, a rater judged a candidate twice or left one out, or rows of one
            candidate differ.
    """
    candidates: dict[Place, Candidate] = {}
    scores: dict[str, dict[Place, float]] = {name: {} for name in given}
    values: dict[str, dict[tuple[Place, str], float]] = {}
    raters: list[str] = []
    numbers: Numbers = defaultdict(dict)
    for place, row in _rows(path, given):
        key, candidate = _candidate(row, place, candidates, numbers)
        rater = id_of(row["rater"], f"{place}, rater")
        for measure in LABELS:
            if measure not in row:
                continue
            said = values.setdefault(measure, {})
            if (key, rater) in said:
                raise UnreadableJudgements(f"{place}: {shown(rater)} has judged {candidate.shown} before; keep one row")
            read = number_of if measure == "rating" else count_of
            said[key, rater] = read(row[measure], f"{place}, {measure}")
        for name in given:
            score = number_of(row[name], f"{place}, {name}")
            known = scores[name].setdefault(key, score)
            if known != score and not (math.isnan(known) and math.isnan(score)):
                raise UnreadableJudgements(
                    f"{place}: {candidate.shown} has another {name} before; a score has one value"
                )
        if rater not in raters:
            raters.append(rater)
    if not candidates:
        raise UnreadableJudgements(f"{path.name} has no row; put one a rater and candidate below the header")
    if not values:
        raise UnreadableJudgements(f"{path.name} has no column {' or '.join(LABELS)}; one of them holds the judgements")
    places = list(candidates)
    opinions = {
        measure: Opinion(label, direction, filled(places, raters, values[measure]))
        for measure, (label, direction) in LABELS.items()
        if measure in values
    }
    if not allow_missing:
        for opinion in opinions.values():
            refuse_missing(path.name, list(candidates.values()), raters, ~np.isnan(opinion.values))
    columns: dict[str, Floats] = {name: np.array([scores[name][one] for one in places]) for name in given}
    return Judgements("table", path.name, list(candidates.values()), raters, opinions, columns)


def _rows(path: Path, given: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Rows of any of the forms, each with its place for messages."""
    others = (*OPTIONAL, *LABELS)
    if path.suffix.lower() != ".json":
        for line, row in rows_of(path, (*NEEDED, *given), others):
            yield f"{path.name}, line {line}", row
        return
    records = json_of(path)
    if not isinstance(records, list):
        raise UnreadableJudgements(f"{path.name}: expected a list of records, got {shown(records)}")
    for number, record in enumerate(records, start=1):
        place = f"{path.name}, record {number}"
        yield place, object_of(record, place, (*NEEDED, *given), others)


def _candidate(
    row: Mapping[str, Any], place: str, known: dict[Place, Candidate], numbers: Numbers
) -> tuple[Place, Candidate]:
    """The candidate of a row, entered among those that are known.

    Candidates without an id are told apart by their texts, and named by their number within the study.
    """
    study_id = id_of(row["study_id"], f"{place}, study_id")
    texts = {name: row.get(name) for name in ("candidate", "reference")}
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            raise UnreadableJudgements(f"{place}, {name}: expected a text, got {shown(text)}")
    patient = id_of(row["patient_id"], f"{place}, patient_id") if "patient_id" in row else None
    if row.get("candidate_id") is None:
        name = numbers[study_id].setdefault(texts["candidate"], str(len(numbers[study_id]) + 1))
    else:
        name = id_of(row["candidate_id"], f"{place}, candidate_id")
    candidate = Candidate(study_id, name, texts["candidate"], texts["reference"], patient)
    if known.setdefault((study_id, name), candidate) != candidate:
        raise UnreadableJudgements(f"{place}: {candidate.shown} has another text, reference or patient before")
    return (study_id, name), candidate
