"""CheXpert labels of both sides from files of any labeller, in the place of what CheXbert would give.

R2Gen's clinical efficacy (Chen et al., EMNLP 2020) is computed from two such files, and CXPMRG-Bench (arXiv 2410.00379)
follows it. Here they have ids, so that nothing is joined by position.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rexrank.errors import RefusedInput
from rexrank.labels import NAMES
from rexrank.metrics.f1 import Codes, from_chexpert
from rexrank.metrics.features import TextFeatures
from rexrank.metrics.inputs import InvalidCall
from rexrank.reports.json_files import Fields
from rexrank.reports.problems import Problem, shown_id
from rexrank.reports.reading import Reader, Source
from rexrank.reports.sources import Role
from rexrank.reports.studies import Limits

FEATURE = "chexbert_labels"
_SHOWN_COLUMNS = 3


@dataclass(frozen=True)
class GivenLabels:
    """Labels of the studies of a run.

    Attributes:
        features: The labels, in the order of the studies.
        inputs: Source and sha256 of both files, as a score card keeps them.
    """

    features: TextFeatures
    inputs: dict[str, dict[str, str]]


def read_labels(files: tuple[Source, Source], study_ids: Sequence[str], limits: Limits | None = None) -> GivenLabels:
    """Read the label files of predictions and references.

    A file has ``study_id`` and a column for each of the 14 labels: 1 positive, 0 negative, -1 uncertain, nothing or nan
    blank. Further columns, and studies that are not scored, are ignored.

    Args:
        files: Of the predictions and of the references, in any form that these may have themselves.
        study_ids: Studies that are scored.
        limits: What a file may hold at most.

    Raises:
        RefusedInput: With every fault of both files: labels or studies that are not there, other values.
    """
    sides: tuple[Role, Role] = ("predictions", "references")
    read = [_Side(side, source, Limits.checked(limits)) for side, source in zip(sides, files, strict=True)]
    problems = [problem for side in read for problem in side.problems(study_ids)]
    if problems:
        raise RefusedInput(problems)
    predicted, referred = (side.codes(study_ids) for side in read)
    # The same references make scores comparable, whoever is labelled.
    signature = {"enc": "label-files", "max": "unknown", "w": f"unverified-{read[1].sha256[:8]}"}
    return GivenLabels(
        TextFeatures(list(predicted), [[codes] for codes in referred], signature),
        {
            f"labels_of_{side}": {"source": one.name, "sha256": one.sha256}
            for side, one in zip(sides, read, strict=True)
        },
    )


class _Side:
    def __init__(self, side: Role, source: Source, limits: Limits) -> None:
        self._reader = Reader(source, side, Fields(NAMES), limits)
        self._rows: Mapping[str, Any] = self._reader.values()
        self.name = self._reader.faults.file
        self.sha256 = self._reader.sha256 or hashlib.sha256(repr(sorted(self._rows.items())).encode()).hexdigest()

    def problems(self, study_ids: Sequence[str]) -> Iterator[Problem]:
        """Faults of the file, and what it lacks of the studies."""
        if found := self._reader.faults.problems():
            yield from found
            return
        known = [study_id for study_id in study_ids if study_id in self._rows]
        for study_id in study_ids:
            if study_id not in self._rows:
                message = f"it has no labels for it ({len(study_ids) - len(known):,} of {len(study_ids):,} missing)"
                yield Problem("missing_ids", self.name, shown_id(study_id), None, message)
        for study_id in known:
            yield from self._faults(study_id)

    def _faults(self, study_id: str) -> Iterator[Problem]:
        row = self._rows[study_id]
        if not isinstance(row, Mapping) or (absent := [name for name in NAMES if name not in row]):
            named = ", ".join(absent[:_SHOWN_COLUMNS]) if isinstance(row, Mapping) else "any"
            yield Problem("wrong_columns", self.name, shown_id(study_id), None, f"it lacks labels, such as {named}")
            return
        try:
            from_chexpert({name: [row[name]] for name in NAMES})
        except InvalidCall:
            for name in NAMES:
                if not _is_label(row[name]):
                    message = "expected 1, 0, -1 or nothing"
                    yield Problem("wrong_type", self.name, shown_id(study_id), name, message)

    def codes(self, study_ids: Sequence[str]) -> Codes:
        """Codes of the studies, int8 [n, 14]."""
        return from_chexpert({name: [self._rows[study_id][name] for study_id in study_ids] for name in NAMES})


def _is_label(value: object) -> bool:
    try:
        from_chexpert({name: [value] for name in NAMES})
    except InvalidCall:
        return False
    return True
