"""Studies, references and predictions as the rest of rexrank sees them."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from rexrank.errors import WrongType, shown
from rexrank.terms import Track


def is_blank(text: str) -> bool:
    """Whether nothing is left of a text without white space, zero-width and control characters."""
    return all(character.isspace() or unicodedata.category(character) in ("Cc", "Cf") for character in text)


def is_encodable(text: str) -> bool:
    """Whether a text can be written as UTF-8: half of a surrogate pair cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def whole_report(findings: str | None, impression: str | None) -> str | None:
    """``Findings: … Impression: …`` of the sections that exist, as ReXrank's script writes it; None without any."""
    headed = {"Findings": findings, "Impression": impression}
    return " ".join(f"{header}: {text}" for header, text in headed.items() if text) or None


@dataclass(frozen=True)
class Limits:
    """What a file may hold at most; checked before or while it is parsed.

    Attributes:
        report_characters: Characters of one report.
        file_bytes: Bytes of one file as it lies on disk.
        unpacked_bytes: Characters of all texts together; a Parquet file of few bytes can hold many.
        studies: Entries of a file.
        entry_characters: Characters of one study's whole entry in a JSON or JSONL file, ignored fields included.
            A field of a CSV or TSV file ends at ``csv.field_size_limit()`` (131,072).
        id_characters: Characters of a study id.
        listed_problems: Faults of one file that are named one by one; the rest is counted.
        download_seconds: Time for fetching a file from a Hub.
    """

    report_characters: int = 20_000
    file_bytes: int = 200 * 2**20
    unpacked_bytes: int = 2**30
    studies: int = 2_000_000
    entry_characters: int = 4 * 2**20
    id_characters: int = 200
    listed_problems: int = 1_000
    download_seconds: float = 600.0

    @classmethod
    def checked(cls, given: "Limits | None") -> "Limits":
        """What was given, or the defaults.

        Raises:
            WrongType: Something else than limits was given.
        """
        if given is None:
            return cls()
        if not isinstance(given, cls):
            raise WrongType(f"limits: expected rexrank.reports.Limits, got {shown(given)}")
        return given


@dataclass(frozen=True, slots=True)
class Study:
    """One study's reference texts; None where a text is absent.

    Attributes:
        study_id: Opaque id.
        findings: Findings section.
        impression: Impression section.
        report: Whole report as the file gives it.
        context: Indication, comparison and the like, never compared.
        alternatives: Further references of the same track, after the first.
        patient_id: Opaque id of the patient, where the file has one.
        attributes: What else the file says of the study: ``site``, ``view``, ``sex``, ``age``, ``comparison``,
            ``prior`` and ``labels_…``, as text; those that are blank are not there.
    """

    study_id: str
    findings: str | None = None
    impression: str | None = None
    report: str | None = None
    context: str | None = None
    alternatives: tuple[str, ...] = ()
    patient_id: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)

    def has(self, track: Track) -> bool:
        """Whether there is a text to compare with on this track; of a report one section is enough."""
        if track == "report":
            return bool(self.report or self.findings or self.impression)
        return bool(self.findings if track == "findings" else self.impression)

    def texts(self, track: Track) -> list[str]:
        """All references of a track, as the file has them; none where the study has no text of it."""
        if track == "report":
            first = self.report or whole_report(self.findings, self.impression)
        else:
            first = self.findings if track == "findings" else self.impression
        return [text for text in (first, *self.alternatives) if text]


@dataclass(frozen=True)
class Predictions:
    """The model's texts, keyed by study id in the order of the file.

    Attributes:
        texts: Study id to text; an empty text is a prediction.
        source: Name of the file, Hub address, or ``predictions`` for objects.
        sha256: Of the file's bytes, or of a canonical JSON for objects.
        positional: True when two lists were given and ids are positions.
    """

    texts: Mapping[str, str]
    source: str
    sha256: str
    positional: bool = False

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class References:
    """The radiologists' texts, keyed by study id in the order of the file.

    Attributes:
        studies: Study id to study, also those without a text on the track.
        source: Name of the file, Hub address, or ``references`` for objects.
        sha256: Of the file's bytes, or of a canonical JSON for objects.
        positional: True when two lists were given and ids are positions.
    """

    studies: Mapping[str, Study] = field(default_factory=dict)
    source: str = "references"
    sha256: str = ""
    positional: bool = False

    def __len__(self) -> int:
        return len(self.studies)
