"""Other words, and abbreviations, for the same thing."""

import re
from collections.abc import Sequence

from rexrank.validity.edits.cues import like, matches
from rexrank.validity.edits.edit import Chance, Change, Edit, Report

_SAME = {
    "right upper lobe": "RUL", "right middle lobe": "RML", "right lower lobe": "RLL", "left upper lobe": "LUL",
    "left lower lobe": "LLL", "RUL": "right upper lobe", "RML": "right middle lobe", "RLL": "right lower lobe",
    "LUL": "left upper lobe", "LLL": "left lower lobe", "pneumothorax": "PTX", "endotracheal tube": "ETT",
    "nasogastric tube": "NG tube", "NG tube": "nasogastric tube", "chronic obstructive pulmonary disease": "COPD",
    "COPD": "chronic obstructive pulmonary disease", "congestive heart failure": "CHF",
    "CHF": "congestive heart failure", "pleural effusion": "pleural fluid collection",
    "pleural effusions": "pleural fluid collections", "cardiomegaly": "cardiac enlargement",
    "cardiac silhouette": "heart shadow", "heart size": "cardiac size", "cardiac size": "heart size",
    "within normal limits": "normal", "unremarkable": "normal", "osseous": "bony", "bony": "osseous",
    "airspace": "air space", "air space": "airspace", "visualized": "seen", "identified": "seen",
    "bilaterally": "on both sides", "pulmonary vascularity": "lung vascularity",
    "pulmonary vasculature": "lung vasculature", "pulmonary nodule": "lung nodule",
    "pulmonary nodules": "lung nodules", "examination": "exam", "exam": "examination", "thoracic spine": "T-spine",
    "costophrenic angle": "costophrenic sulcus", "costophrenic angles": "costophrenic sulci",
    "bibasilar": "bibasal", "radiograph": "X-ray film", "radiographs": "X-ray films", "infiltrate": "infiltration",
    "infiltrates": "infiltrations", "hyperexpanded": "overinflated", "hyperinflated": "overinflated",
    "mediastinal contour": "mediastinal outline", "mediastinal contours": "mediastinal outlines",
    "cardiomediastinal silhouette": "cardiomediastinal contour",
}  # fmt: skip
_LOWER = {known.lower(): same for known, same in _SAME.items()}
_KNOWN = re.compile(rf"\b(?:{'|'.join(sorted(_LOWER, key=len, reverse=True))})\b(?!-)", re.IGNORECASE)
# "No nodule is visualized" ends with it; before a noun ("the visualized bones") it is another word.
_ENDS = re.compile(r"\s*(?:[.,;]|$|in\b|on\b|within\b)")
_ARTICLE = re.compile(r"\b(a|an)\s+$", re.IGNORECASE)
# Letters whose names begin with a vowel: an LLL opacity.
_SOUNDS_AS_VOWEL = set("aeiouAEIOFHLMNRSX")


def _changes(report: Report, chance: Chance) -> Sequence[Change]:
    """One change a word or group of words."""
    found = []
    for one in matches(_KNOWN, report.text):
        same = _LOWER[one[0].lower()]
        after = report.text[one.end() :]
        if report.text[: one.start()].endswith("-") or (same == "seen" and not _ENDS.match(after)):
            continue
        new = same if same.isupper() or same[:2].isupper() else like(same, one[0])
        spans = [(*one.span(), new)]
        article = _ARTICLE.search(report.text, 0, one.start())
        if article and (fitting := like(_article(new), article[1])) != article[1]:
            spans.insert(0, (*article.span(1), fitting))
        found.append(Change(tuple(spans)))
    return found


def _article(word: str) -> str:
    abbreviated = word[:2].isupper()
    vowel = word[0] in _SOUNDS_AS_VOWEL if abbreviated else word[0].lower() in "aeiou"
    return "an" if vowel or word.startswith("X-") else "a"


REPLACED = Edit(
    "synonyms", "harmless", "A word is replaced by another for the same thing, or by its usual abbreviation.", _changes
)
