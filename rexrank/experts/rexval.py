"""ReXVal: four candidates a study, whose errors six radiologists counted in six categories.

Yu et al., "Evaluating progress in automatic chest X-ray radiology report generation", Patterns 4, 2023; PhysioNet,
credentialed. The form rests on public descriptions: ``50_samples_gt_and_candidates.csv`` with the reports and
``6_valid_raters_per_rater_error_categories.csv`` with one count a rater, candidate, category and significance.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from rexrank.errors import shown
from rexrank.experts.files import count_of, id_of, rows_of
from rexrank.experts.judgements import Candidate, Judgements, Opinion, UnreadableJudgements, filled, refuse_missing

REPORTS = "50_samples_gt_and_candidates.csv"
COUNTS = "6_valid_raters_per_rater_error_categories.csv"
NAMES = ("radgraph", "bertscore", "s_emb", "bleu")
_COUNT_COLUMNS = (
    "study_number",
    "candidate_type",
    "error_category",
    "clinically_significant",
    "rater_index",
    "num_errors",
)
_TRUE, _FALSE = frozenset({"true", "1", "1.0", "yes"}), frozenset({"false", "0", "0.0", "no"})

Place = tuple[str, str]
Cell = tuple[str, bool]


def load(folder: Path, allow_missing: bool = False) -> Judgements:
    """Read the folder, or that of a file in it.

    Args:
        folder: With the two files.
        allow_missing: Whether a rater may lack counts; the candidate then has no number of this rater.

    Raises:
        UnreadableJudgements: A file is not of the form, names something twice, or a count is missing.
    """
    folder = folder if folder.is_dir() else folder.parent
    candidates = _candidates(folder / REPORTS)
    counts, note = _counts(folder / COUNTS, candidates)
    raters = sorted({rater for _, rater in counts}, key=lambda rater: (len(rater), rater))
    cells = {cell for given in counts.values() for cell in given}
    places = [(one.study_id, one.name) for one in candidates]

    def opinion(label: str, significance: Sequence[bool]) -> Opinion:
        wanted = [cell for cell in cells if cell[1] in significance]
        given = {key: math.fsum(found.get(cell, math.nan) for cell in wanted) for key, found in counts.items()}
        return Opinion(label, "lower", filled(places, raters, given))

    opinions = {
        "errors": opinion("number of errors", (True, False)),
        "errors_significant": opinion("number of clinically significant errors", (True,)),
        "errors_insignificant": opinion("number of clinically insignificant errors", (False,)),
    }
    if not allow_missing:
        refuse_missing(folder.name, candidates, raters, opinions["errors"].values == opinions["errors"].values)
    return Judgements("rexval", folder.name, candidates, raters, opinions, notes=[note])


def _candidates(path: Path) -> list[Candidate]:
    candidates: dict[Place, Candidate] = {}
    for line, row in rows_of(path, ("study_id", "gt_report", *NAMES)):
        study_id = id_of(row["study_id"], f"{path.name}, line {line}, study_id")
        if (study_id, NAMES[0]) in candidates:
            raise UnreadableJudgements(f"{path.name}, line {line}: study {shown(study_id)} is there twice; keep one")
        for name in NAMES:
            candidates[study_id, name] = Candidate(study_id, name, row[name], row["gt_report"])
    if not candidates:
        raise UnreadableJudgements(f"{path.name} has no study")
    return list(candidates.values())


def _counts(path: Path, candidates: Sequence[Candidate]) -> tuple[dict[tuple[Place, str], dict[Cell, float]], str]:
    """Counts of each candidate and rater by category and significance, and how studies were found."""
    rows = list(rows_of(path, _COUNT_COLUMNS))
    if not rows:
        raise UnreadableJudgements(f"{path.name} has no count")
    studies = list(dict.fromkeys(one.study_id for one in candidates))
    numbers = [id_of(row["study_number"], f"{path.name}, line {line}, study_number") for line, row in rows]
    ids, note = _ids_of_numbers(path, set(numbers), studies)
    counts: dict[tuple[Place, str], dict[Cell, float]] = defaultdict(dict)
    for (line, row), number in zip(rows, numbers, strict=True):
        place = f"{path.name}, line {line}"
        if row["candidate_type"] not in NAMES:
            raise UnreadableJudgements(
                f"{place}: candidate_type {shown(row['candidate_type'])} is none of {', '.join(NAMES)}"
            )
        rater = f"rater_{id_of(row['rater_index'], f'{place}, rater_index')}"
        category = id_of(row["error_category"], f"{place}, error_category")
        cell = category, _is_significant(row["clinically_significant"], place)
        found = counts[(ids[number], row["candidate_type"]), rater]
        if cell in found:
            raise UnreadableJudgements(
                f"{place}: {rater} has counted category {shown(category)} there before; keep one"
            )
        found[cell] = count_of(row["num_errors"], f"{place}, num_errors")
    return counts, note


def _ids_of_numbers(path: Path, numbers: set[str], studies: Sequence[str]) -> tuple[dict[str, str], str]:
    """Which study a number means: an id, or else the place in the file of reports, counted from 0 or from 1."""
    if numbers <= set(studies):
        return {number: number for number in numbers}, "study_number was read as study_id"
    for first in (0, 1):
        places = {str(place): study for place, study in enumerate(studies, start=first)}
        if numbers == set(places):
            return places, f"study_number was read as the place of a study in {REPORTS}, from {first} on"
    raise UnreadableJudgements(
        f"{path.name}: study_number names neither ids of {REPORTS} nor the places of its {len(studies):,} studies"
    )


def _is_significant(word: str, place: str) -> bool:
    plain = word.strip().lower()
    if plain not in _TRUE | _FALSE:
        raise UnreadableJudgements(f"{place}, clinically_significant: expected True or False, got {shown(word)}")
    return plain in _TRUE
