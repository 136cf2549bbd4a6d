"""RadEvalX: candidates of one model for 100 studies of IU X-Ray, whose errors two radiologists counted together.

Calamida et al., "Radiology-aware model-based evaluation metric for report generation", 2023; PhysioNet,
CC BY-NC-SA 4.0. Two files of counts in eight categories, clinically significant and not, and a file of scores, which
may be absent. What a blank cell means is not written down, so it is missing and never silently 0.
"""

import math
from pathlib import Path
from typing import Literal

import numpy as np

from rexrank.errors import shown
from rexrank.experts.files import count_of, id_of, number_of, rows_of
from rexrank.experts.judgements import Candidate, Floats, Judgements, Opinion, UnreadableJudgements

SIGNIFICANT = "RadEval_clinically_significant_errors.csv"
INSIGNIFICANT = "RadEval-clinically_insignificant_errors.csv"
SCORES = "metrcis_scores_m2tr.csv"
CATEGORIES = tuple("12345678")
SCORE_COLUMNS = ("bleu4", "bleu_2", "bertscore", "CheXbert", "radgraph_f1", "radcliq")
_TEXTS = ("report_id", "ground_truth", "M2Tr-Generation")
_NAME, _RATER = "M2Tr", "two radiologists together"

Blank = Literal["missing", "zero"]


def load(folder: Path, blank_cells: Blank = "missing") -> Judgements:
    """Read the folder, or that of a file in it.

    Args:
        folder: With the two files of counts, and the file of scores if it is there.
        blank_cells: What a blank cell means: ``missing``, so that its candidate has no number of errors, or ``zero``.

    Raises:
        UnreadableJudgements: A file is not of the form, names a report twice, or both have different reports.
    """
    folder = folder if folder.is_dir() else folder.parent
    candidates, significant, blanks = _counts(folder / SIGNIFICANT, blank_cells)
    others, insignificant, more_blanks = _counts(folder / INSIGNIFICANT, blank_cells)
    if different := sorted(candidates.keys() ^ others.keys()):
        raise UnreadableJudgements(
            f"{SIGNIFICANT} and {INSIGNIFICANT} have different reports, such as {shown(different[0])}; use one release"
        )
    ids = list(candidates)
    counts = [np.array([[found[one]] for one in ids]) for found in (significant, insignificant)]
    opinions = {
        "errors": Opinion("number of errors", "lower", counts[0] + counts[1]),
        "errors_significant": Opinion("number of clinically significant errors", "lower", counts[0]),
        "errors_insignificant": Opinion("number of clinically insignificant errors", "lower", counts[1]),
    }
    scores = _scores(folder / SCORES, ids) if (folder / SCORES).exists() else {}
    notes = _notes(blanks + more_blanks, int(np.isnan(opinions["errors"].values).sum()), len(ids), blank_cells)
    return Judgements("radevalx", folder.name, list(candidates.values()), [_RATER], opinions, scores, notes)


def _counts(path: Path, blank_cells: Blank) -> tuple[dict[str, Candidate], dict[str, float], int]:
    """Candidates and their numbers of errors by report, and the number of blank cells."""
    candidates: dict[str, Candidate] = {}
    totals: dict[str, float] = {}
    blanks = 0
    for line, row in rows_of(path, (*_TEXTS, *CATEGORIES)):
        place = f"{path.name}, line {line}"
        report_id = id_of(row["report_id"], f"{place}, report_id")
        if report_id in candidates:
            raise UnreadableJudgements(f"{place}: report {shown(report_id)} is there twice; keep one")
        found = [count_of(row[category], f"{place}, category {category}") for category in CATEGORIES]
        blank = sum(map(math.isnan, found))
        blanks += blank
        totals[report_id] = (
            math.nan if blank and blank_cells == "missing" else sum(n for n in found if not math.isnan(n))
        )
        candidates[report_id] = Candidate(report_id, _NAME, row["M2Tr-Generation"], row["ground_truth"])
    if not candidates:
        raise UnreadableJudgements(f"{path.name} has no report")
    return candidates, totals, blanks


def _scores(path: Path, ids: list[str]) -> dict[str, Floats]:
    rows: dict[str, list[float]] = {}
    for line, row in rows_of(path, ("report_id", "id", *SCORE_COLUMNS)):
        place = f"{path.name}, line {line}"
        report_id = id_of(row["report_id"], f"{place}, report_id")
        if report_id in rows:
            raise UnreadableJudgements(f"{place}: report {shown(report_id)} is there twice; keep one")
        rows[report_id] = [number_of(row[name], f"{place}, {name}") for name in SCORE_COLUMNS]
    if absent := [one for one in ids if one not in rows]:
        raise UnreadableJudgements(f"{path.name} has no report {shown(absent[0])}, of which errors are counted")
    return {name: np.array([rows[one][place] for one in ids]) for place, name in enumerate(SCORE_COLUMNS)}


def _notes(blanks: int, undefined: int, number: int, blank_cells: Blank) -> list[str]:
    if not blanks:
        return []
    if blank_cells == "zero":
        return [f"{blanks:,} blank cells were read as 0, as you asked"]
    return [
        f"{blanks:,} cells are blank, and the set does not say what that means, so {undefined:,} of {number:,} "
        "candidates have no number of errors; --blank-cells zero reads them as 0"
    ]
