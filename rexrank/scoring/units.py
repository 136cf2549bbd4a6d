"""What resampling draws: single studies, or patients with all of their studies."""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rexrank.errors import RefusedInput, WrongType, shown
from rexrank.reports.problems import Problem, shown_id
from rexrank.reports.reading import is_absent
from rexrank.reports.studies import References
from rexrank.statistics.inputs import is_missing

# ``patient64541_study1``, as CheXpert Plus and ReXrank name studies, also within a path; ``10000032_50414267``, the
# numbers of MIMIC-CXR.
_PATIENT_IN_ID = re.compile(
    r"(?:^|[-_/])(?P<patient>(?:patient|subject|pat|p)[-_]?\d+(?=[-_/](?:study|s))|1\d{7}(?=[-_/]s?5\d{7}))",
    re.IGNORECASE,
)
# ReXrank's MIMIC-CXR test set has 2,347 studies of 289 patients under ids that name none.
_LONG_NUMBER = re.compile(r"s?5\d{7}", re.IGNORECASE)


@dataclass(frozen=True)
class Units:
    """What is drawn as a whole.

    Attributes:
        unit: ``study`` or ``patient``.
        groups: Number of the patient of each study; None where single studies are drawn.
        warning: Why intervals may be too narrow, in one sentence, or None.
    """

    unit: Literal["study", "patient"]
    groups: list[int] | None
    warning: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The part of a score card that tells of it."""
        told: dict[str, Any] = {"unit": self.unit}
        if self.groups is not None:
            told["units"] = len(set(self.groups))
        if self.warning:
            told["warning"] = self.warning
        return told


def units(
    study_ids: Sequence[str],
    references: References,
    groups: Mapping[str, Hashable] | Literal["study"] | None = None,
) -> Units:
    """Choose what is drawn.

    Args:
        study_ids: The studies that are scored, in order.
        references: Name the patients, where they do.
        groups: Patient by study id; ``study`` to draw single studies; None for the patients of the references.

    Raises:
        WrongType: `groups` is something else.
        RefusedInput: `groups` lacks studies; names each.
    """
    if groups is None:
        patients = [references.studies[study_id].patient_id for study_id in study_ids]
        if all(patients):
            return Units("patient", _numbered(patients))
        return Units("study", None, _warning(study_ids, sum(map(bool, patients))))
    if groups == "study":
        return Units("study", None)
    if not isinstance(groups, Mapping):
        raise WrongType(f"groups: expected a mapping from study id to patient, or 'study', got {shown(groups)}")
    unfit = [study_id for study_id in study_ids if not isinstance(groups.get(study_id), Hashable)]
    if unfit:
        message = "expected the name or number of its patient"
        raise RefusedInput([Problem("wrong_type", "groups", shown_id(one), None, message) for one in unfit])
    absent = [study_id for study_id in study_ids if _is_unnamed(groups.get(study_id))]
    if absent:
        message = "it has no patient; name one for every study, or draw single studies with groups='study'"
        raise RefusedInput([Problem("missing_ids", "groups", shown_id(one), None, message) for one in absent])
    return Units("patient", _numbered([groups[study_id] for study_id in study_ids]))


def _is_unnamed(patient: Hashable) -> bool:
    """Whether it is what tables have where a patient is not known; all these studies would become one patient."""
    return is_absent(patient) if isinstance(patient, str) else is_missing(patient)


def _numbered(patients: Sequence[Hashable]) -> list[int]:
    """Patients as numbers in the order of their first study, so that no id of a patient goes into a score card."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(patient, len(numbers)) for patient in patients]


def _warning(study_ids: Sequence[str], named: int) -> str | None:
    why = "intervals draw single studies and are too narrow"
    if named:
        return f"only {named:,} of {len(study_ids):,} studies name their patient, so {why} where patients repeat"
    patients = [match["patient"] for one in study_ids if (match := _PATIENT_IN_ID.search(one))]
    if len(patients) > len(set(patients)):
        return f"ids show patients with several studies, but the references have no patient_id, so {why}"
    if len(study_ids) > 1 and all(_LONG_NUMBER.fullmatch(one) for one in study_ids):
        return f"these look like studies of MIMIC-CXR, whose patients repeat, without a subject_id, so {why}"
    return None
