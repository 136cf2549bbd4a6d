"""RadEval expert set: three candidates for each of 208 sections of reports, whose errors a radiologist counted.

Xu et al., "RadEval: A framework for radiology text evaluation", EMNLP 2025 (demonstrations); the Hub's
``IAMJB/RadEvalExpertDataset``. The form rests on public descriptions: one CSV, in which an annotation is a text with
the two headings ``clinically significant`` and ``clinically insignificant`` errors and below each a numbered line
a category that ends in its count. What cannot be read so is undefined and counted, never 0.
"""

import math
import re
from collections.abc import Iterable
from pathlib import Path

from rexrank.experts.files import id_of, rows_of
from rexrank.experts.judgements import Candidate, Judgements, Opinion, UnreadableJudgements, filled

_NUMBERS = "123"
_COLUMNS = (
    *("annotator", "type", "ground_truth", "images_path"),
    *(f"{what}{number}" for what in ("prediction", "annotation") for number in _NUMBERS),
)
_HEADING = re.compile(r"\W*(?:clinically\s+)?(?P<not>in|non-?\s?)?significant(?:\s+errors?)?\W*", re.IGNORECASE)
_LINE = re.compile(r"\W*(?P<category>\d{1,2})\s*[.):]\s*(?:.*?[:=]\s*)?(?P<count>\d{1,3})\s*[.;]?\s*", re.DOTALL)
_NUMBERED = re.compile(r"\W*(?P<category>\d{1,2})\s*[.):]")
# Sets of studies with several studies a patient, by the folder of the patient in a path.
_PATIENT = re.compile(r"(?:^|/)(p\d{8}|patient\d+)(?:/|$)")

Cell = tuple[bool, str]


def load(path: Path) -> Judgements:
    """Read the file.

    Raises:
        UnreadableJudgements: It is not of the form, has a row twice, or no annotation can be read.
    """
    candidates: dict[tuple[str, str, str], Candidate] = {}
    cells: dict[tuple[tuple[str, str, str], str], dict[Cell, float]] = {}
    studies: dict[tuple[str, ...], str] = {}
    for line, row in rows_of(path, _COLUMNS):
        place = f"{path.name}, line {line}"
        rater = id_of(row["annotator"], f"{place}, annotator")
        picture = id_of(row["images_path"], f"{place}, images_path")
        section = (picture, row["type"], row["ground_truth"])
        study_id = studies.setdefault(section, f"line {line}")
        patient = _PATIENT.search(picture)
        for number in _NUMBERS:
            text = row[f"prediction{number}"]
            key = (study_id, number, text)
            if (key, rater) in cells:
                raise UnreadableJudgements(
                    f"{place} repeats {study_id} with the same annotator and prediction{number}; keep one"
                )
            group = patient[1] if patient else picture
            candidates[key] = Candidate(study_id, f"prediction{number}", text, row["ground_truth"], group)
            cells[key, rater] = _cells(row[f"annotation{number}"])
    return _judgements(path, candidates, cells)


def _judgements(
    path: Path,
    candidates: dict[tuple[str, str, str], Candidate],
    cells: dict[tuple[tuple[str, str, str], str], dict[Cell, float]],
) -> Judgements:
    raters = sorted({rater for _, rater in cells})
    known = {cell for found in cells.values() for cell in found}
    if not any(significant for significant, _ in known):
        raise UnreadableJudgements(
            f"{path.name}: no annotation can be read; expected the heading 'Clinically significant errors:' and below "
            "it a line a category such as '1. False finding: 0'"
        )

    def opinion(label: str, significance: Iterable[bool]) -> Opinion:
        wanted = [cell for cell in known if cell[0] in significance]
        given = {key: math.fsum(found.get(cell, math.nan) for cell in wanted) for key, found in cells.items()}
        return Opinion(label, "lower", filled(list(candidates), raters, given))

    opinions = {"errors_significant": opinion("number of clinically significant errors", (True,))}
    if any(not significant for significant, _ in known):
        opinions["errors"] = opinion("number of errors", (True, False))
        opinions["errors_insignificant"] = opinion("number of clinically insignificant errors", (False,))
    unreadable = sum(any(math.isnan(found.get(cell, math.nan)) for cell in known) for found in cells.values())
    notes = [f"{unreadable:,} of {len(cells):,} annotations lack counts that can be read"] if unreadable else []
    notes.append("patients are drawn as a whole where the path of the images names them, else all rows of one path")
    return Judgements("radeval", path.name, list(candidates.values()), raters, opinions, notes=notes)


def _cells(annotation: str) -> dict[Cell, float]:
    """Counts by significance and category; nan where a line has no readable count or a category comes twice."""
    significant: bool | None = None
    found: dict[Cell, float] = {}
    for line in annotation.splitlines():
        if heading := _HEADING.fullmatch(line):
            significant = heading["not"] is None
        elif significant is not None and (numbered := _NUMBERED.match(line)):
            cell = significant, numbered["category"]
            counted = _LINE.fullmatch(line)
            found[cell] = math.nan if cell in found or counted is None else int(counted["count"])
    return found
