"""RadPref: two candidate reports a study, rated from 1 to 5 by three radiologists, with their errors.

From the repository of CRIMSON (rajpurkarlab/CRIMSON at 07e3331): ``preference_data.json`` with the reports and
``user_1.json`` … with the judgements. Errors are weighed by significance as CRIMSON weighs them (docs/metrics.md).
"""

import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from rexrank.errors import shown
from rexrank.experts.files import id_of, json_of, number_of, object_of, text_of
from rexrank.experts.judgements import Candidate, Judgements, Opinion, UnreadableJudgements, filled, refuse_missing

REPORTS, JUDGED = "preference_data.json", "user_*.json"
NAMES = ("C1", "C2")
_STUDY_NEEDS = ("id", "ground_truth_report", "C1_report", "C2_report")
_STUDY_HAS = (
    *("ground_truth_findings", "C1_findings", "C1_source", "C2_findings", "C2_source"),
    *("PatientAge", "PatientSex", "Indication"),
)
_USER_NEEDS = ("user_id", "annotations")
_SAID_HAS = ("finding_errors", "missing_findings", "rating", "rating_explanation")
_ERROR_HAS = ("error_type", "clinical_significance", "explanation", "attributes")
_LEAST, _MOST = 1, 5
_WEIGHTS = {"urgent": 1.0, "actionable_not_urgent": 0.5, "not_actionable_not_urgent": 0.25, "benign_expected": 0.0}
_OTHER_WEIGHT = 0.25

Place = tuple[str, str]


@dataclass(frozen=True)
class _Said:
    """What one rater said of one candidate: numbers, nan where nothing is said."""

    rating: float
    errors: float
    weighted: float
    without_level: int


def load(folder: Path, allow_missing: bool = False) -> Judgements:
    """Read the folder, or that of a file in it.

    Args:
        folder: With ``preference_data.json`` and ``user_1.json`` …
        allow_missing: Whether raters may have left candidates out.

    Raises:
        UnreadableJudgements: A file is not of the form, names something twice, or a rater left a candidate out.
    """
    folder = folder if folder.is_dir() else folder.parent
    candidates = _candidates(folder / REPORTS)
    places = [(one.study_id, one.name) for one in candidates]
    files = sorted(folder.glob(JUDGED), key=lambda file: (len(file.name), file.name))
    if not files:
        raise UnreadableJudgements(f"{shown(folder.name)} has no user_1.json; put the raters' files beside {REPORTS}")
    raters: list[str] = []
    said: dict[tuple[Place, str], _Said] = {}
    for file in files:
        rater, judged = _rater(file, set(places))
        if rater in raters:
            raise UnreadableJudgements(f"{file.name}: another file is of {shown(rater)} too; keep one of them")
        raters.append(rater)
        said.update({(place, rater): one for place, one in judged.items()})
    opinions = {
        "rating": _opinion("rating from 1 to 5", True, places, raters, {key: one.rating for key, one in said.items()}),
        "errors": _opinion("number of errors", False, places, raters, {key: one.errors for key, one in said.items()}),
        "errors_weighted": _opinion(
            "sum of errors weighed by significance",
            False,
            places,
            raters,
            {key: one.weighted for key, one in said.items()},
        ),
    }
    if not allow_missing:
        refuse_missing(folder.name, candidates, raters, opinions["rating"].values == opinions["rating"].values)
    return Judgements("radpref", folder.name, candidates, raters, opinions, notes=_notes(said.values()))


def _opinion(
    label: str, rises: bool, places: list[Place], raters: list[str], given: dict[tuple[Place, str], float]
) -> Opinion:
    return Opinion(label, "higher" if rises else "lower", filled(places, raters, given))


def _candidates(path: Path) -> list[Candidate]:
    records = json_of(path)
    if not isinstance(records, list):
        raise UnreadableJudgements(f"{path.name}: expected a list of studies, got {shown(records)}")
    candidates: dict[Place, Candidate] = {}
    for number, record in enumerate(records, start=1):
        study = object_of(record, f"{path.name}, study {number}", _STUDY_NEEDS, _STUDY_HAS)
        study_id = id_of(study["id"], f"{path.name}, study {number}, id")
        if (study_id, NAMES[0]) in candidates:
            raise UnreadableJudgements(f"{path.name} has study {shown(study_id)} twice; keep one")
        place = f"{path.name}, study {shown(study_id)}"
        reference = text_of(study["ground_truth_report"], f"{place}, ground_truth_report")
        for name in NAMES:
            text = text_of(study[f"{name}_report"], f"{place}, {name}_report")
            candidates[study_id, name] = Candidate(study_id, name, text, reference)
    return list(candidates.values())


def _rater(path: Path, places: Collection[Place]) -> tuple[str, dict[Place, _Said]]:
    """The rater of a file, and what was said of each candidate."""
    user = object_of(json_of(path), path.name, _USER_NEEDS)
    annotations = user["annotations"]
    if not isinstance(annotations, dict):
        raise UnreadableJudgements(f"{path.name}, annotations: expected an object by study, got {shown(annotations)}")
    said: dict[Place, _Said] = {}
    for study_id, judged in annotations.items():
        place = f"{path.name}, study {shown(study_id)}"
        if (study_id, NAMES[0]) not in places:
            raise UnreadableJudgements(f"{place} is not in {REPORTS}; take it out, or use the file that has it")
        for name, one in object_of(judged, place, (), (*NAMES, "new_finding_indices")).items():
            if name in NAMES:
                said[study_id, name] = _said(one, f"{place}, {name}")
    return id_of(user["user_id"], f"{path.name}, user_id"), said


def _said(value: object, place: str) -> _Said:
    said = object_of(value, place, (), _SAID_HAS)
    rating = number_of(said.get("rating"), f"{place}, rating", _LEAST, _MOST)
    weights: list[float | None] = []
    for kind in ("finding_errors", "missing_findings"):
        if said.get(kind) is None:
            return _Said(rating, math.nan, math.nan, 0)
        entries = said[kind]
        if not isinstance(entries, dict):
            raise UnreadableJudgements(f"{place}, {kind}: expected an object by number, got {shown(entries)}")
        weights += [_weight(entry, f"{place}, {kind}") for entry in entries.values()]
    known = [_OTHER_WEIGHT if weight is None else weight for weight in weights]
    return _Said(rating, len(known), sum(known), weights.count(None))


def _weight(entry: object, place: str) -> float | None:
    """The weight of an error; None where no level of significance is given."""
    level = object_of(entry, place, (), _ERROR_HAS).get("clinical_significance")
    if level is None or level == "":
        return None
    return _WEIGHTS.get(re.sub(r"\W+", "_", text_of(level, f"{place}, clinical_significance").lower()), _OTHER_WEIGHT)


def _notes(said: Iterable[_Said]) -> list[str]:
    everything = list(said)
    notes = []
    if number := sum(one.without_level for one in everything):
        notes.append(f"{number:,} errors have no level of significance; errors_weighted counts each {_OTHER_WEIGHT}")
    if number := sum(math.isnan(one.errors) for one in everything):
        notes.append(f"{number:,} judgements have no lists of errors and no number of them")
    return notes
