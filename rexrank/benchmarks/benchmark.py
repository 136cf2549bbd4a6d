"""What a benchmark is: the studies of one test split and the terms under which their texts may travel."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from rexrank.errors import RexrankError
from rexrank.reports.studies import whole_report
from rexrank.terms import TRACKS

# In the order of the data file.
REQUIRED = ("study_id", "findings", "impression", "context", "image_path", "key_image_path")
OPTIONAL = ("report", "patient_id", "site", "view", "sex", "age")
# What people say of a study; one column each (``labels_normal``).
LABEL_PREFIX = "labels_"


class BenchmarkError(RexrankError):
    """A benchmark cannot be built, or may not go where it was asked to go."""


class WrongCall(BenchmarkError):
    """What was asked for builds no benchmark, whatever the files hold: a file is not named, or a name is impossible."""


@dataclass(frozen=True)
class Licence:
    """The terms of a benchmark's texts.

    Attributes:
        identifier: The Hub's name of the licence, for example ``cc-by-nc-nd-4.0``.
        name: The licence's name for readers.
        url: Address of its text.
        terms: What it asks for, in a few words.
        attribution: The sentence that every copy must carry.
        redistribution: Whether pushing the texts to a public Hub is allowed without asking anyone.
    """

    identifier: str
    name: str
    url: str
    terms: str
    attribution: str
    redistribution: bool


@dataclass(frozen=True)
class _Study:
    study_id: str
    findings: str | None
    impression: str | None
    indication: str | None

    def text(self, track: str) -> str | None:
        """The study's text for a track, or None when it has none."""
        if track == "report":
            return whole_report(self.findings, self.impression)
        return {"findings": self.findings, "impression": self.impression}[track]


@dataclass(frozen=True)
class TrainingStudy(_Study):
    """One training study; a section is None where the report has none.

    Attributes:
        study_id: Opaque id.
        findings: The radiologist's findings.
        impression: The radiologist's impression.
        indication: Why the images were taken, or the whole context as a file of references has it.
        report: The whole report as the source has it, where that is not what its sections give.
    """

    report: str | None = None

    def text(self, track: str) -> str | None:
        """The study's text for a track, or None when it has none."""
        return self.report if track == "report" and self.report else super().text(track)


@dataclass(frozen=True)
class BenchmarkStudy(_Study):
    """One test study; a section is None where the report has none.

    Attributes:
        study_id: Opaque id.
        findings: The radiologist's findings.
        impression: The radiologist's impression.
        indication: Why the images were taken.
        comparison: What they were compared with.
        image_path: Names of the study's images, relative to an image root.
        key_image_path: The image for models that take one; None where there is no image.
        given_context: The context as the source has it, where it has one.
        report: The whole report as the source has it, where that is not what its sections give.
        patient_id: Opaque id of the patient.
        site: Where the study was made.
        view: View of each image, as the source names it.
        sex: As the source writes it.
        age: As the source writes it.
        labels: What people found in the study: finding, or ``normal``, to 1 where it is there, 0 where it is not, -1
            where they were not sure. Empty where nobody labelled it.
    """

    comparison: str | None
    image_path: tuple[str, ...]
    key_image_path: str | None
    given_context: str | None = None
    report: str | None = None
    patient_id: str | None = None
    site: str | None = None
    view: tuple[str, ...] = ()
    sex: str | None = None
    age: str | None = None
    labels: Mapping[str, int] = field(default_factory=dict, hash=False)

    def text(self, track: str) -> str | None:
        """The study's text for a track, or None when it has none."""
        return self.report if track == "report" and self.report else super().text(track)

    def value(self, column: str) -> Any:
        """What the study has in a column of the data file."""
        if column.startswith(LABEL_PREFIX):
            return self.labels.get(column.removeprefix(LABEL_PREFIX))
        return getattr(self, column)

    @property
    def context(self) -> str:
        """What a model may read beside the images, word for word as in ReXrank's file.

        That file leaves an absent indication out and writes "None" for an absent comparison; no metric reads it.
        """
        if self.given_context is not None:
            return self.given_context
        indication = f"Indication: {self.indication}" if self.indication else ""
        return f"{indication} Comparison: {self.comparison or 'None'}"


@dataclass(frozen=True)
class Benchmark:
    """The test split of a dataset.

    Attributes:
        name: The name by which submissions ask for it, for example ``iu-xray``.
        title: The name for readers.
        split: Name of the split.
        studies: The studies in the split's own order.
        licence: The terms of the texts.
        description: What the set is and where it comes from.
        provenance: Where split, ids and image names come from, for the card.
        references: Who may see the references: ``public`` or ``private``.
        modality: What the images show, as requests name it.
        language: Language of the texts (ISO 639-1).
        notes: What its host should know, such as a number of studies that differs from the published one.
        warnings: What in its files may be a mistake, such as a column that is not there.
    """

    name: str
    title: str
    split: str
    studies: tuple[BenchmarkStudy, ...]
    licence: Licence
    description: str
    provenance: str = ""
    references: Literal["public", "private"] = "public"
    modality: str = "CXR"
    language: str = "en"
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @cached_property
    def tracks(self) -> Mapping[str, int]:
        """Number of studies of each track that has any."""
        counts = {track: sum(study.text(track) is not None for study in self.studies) for track in TRACKS}
        return {track: n for track, n in counts.items() if n}

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Columns of the data file: those of every benchmark, and of the others those that hold anything."""
        optional = tuple(name for name in OPTIONAL if any(getattr(study, name) for study in self.studies))
        labels = dict.fromkeys(f"{LABEL_PREFIX}{name}" for study in self.studies for name in study.labels)
        return REQUIRED + optional + tuple(labels)

    @cached_property
    def content_sha256(self) -> str:
        """Hash of everything in the data file, whatever library version wrote it."""
        rows = [[study.value(name) for name in self.columns] for study in self.studies]
        return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()
