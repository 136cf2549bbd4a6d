"""Predictions and references from any accepted source, every fault at once."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, TypeGuard

from rexrank.errors import RefusedInput
from rexrank.reports.faults import Faults
from rexrank.reports.formats import entries, list_entries, object_entries
from rexrank.reports.json_files import Entry, Fields, RepeatedFields
from rexrank.reports.problems import Problem
from rexrank.reports.sections import read_sections
from rexrank.reports.sources import Role, fetch
from rexrank.reports.studies import Limits, Predictions, References, Study, is_blank, is_encodable, whole_report
from rexrank.terms import TRACKS, Track

Source = str | os.PathLike[str] | Mapping[Any, Any] | Sequence[Any]

PREDICTION_FIELDS = ("model_prediction", "prediction", "report")
FINDINGS_FIELDS = ("findings", "section_findings")
IMPRESSION_FIELDS = ("impression", "section_impression")
REPORT_FIELDS = ("report", "reports")
# What the builders write, ReXrank's MIMIC-CXR file, and the table of CheXpert Plus.
PATIENT_FIELDS = ("patient_id", "subject_id", "deid_patient_id")
# What studies are grouped by; ReXrank's files call the views of the images frontal_lateral.
ATTRIBUTE_FIELDS = ("site", "view", "frontal_lateral", "sex", "age", "comparison", "prior")
LABEL_PREFIX = "labels_"
_SECTION_FIELDS = FINDINGS_FIELDS + IMPRESSION_FIELDS
_REFERENCE_FIELDS = _SECTION_FIELDS + REPORT_FIELDS
_REFERENCES = Fields(_REFERENCE_FIELDS, ("context", *PATIENT_FIELDS, *ATTRIBUTE_FIELDS), prefix=LABEL_PREFIX)
_ABSENT_WORDS = frozenset({"nan", "none", "null"})


def read_predictions(source: Source, limits: Limits | None = None) -> Predictions:
    """Read the model's texts.

    Args:
        source: Path, ``hf://`` address, mapping from study id to text (or to an object with ``model_prediction``,
            ``prediction`` or ``report``), list of such records, or list of texts.
        limits: What the input may hold at most.

    Returns:
        The texts, unchanged.

    Raises:
        RefusedInput: With every fault found.
    """
    predictions, problems = collect_predictions(source, Limits.checked(limits))
    if problems:
        raise RefusedInput(problems)
    return predictions


def read_references(source: Source, track: Track = "findings", limits: Limits | None = None) -> References:
    """Read the radiologists' texts.

    A record's sections are ``findings`` and ``impression`` (or ``section_…``). A record with ``report`` alone is
    split by its headers where it has any; else, like a bare text, it is the text of the asked track. NaN, null, blank
    texts and sections that consist of the word nan, none or null are absent.

    Args:
        source: As for :func:`read_predictions`; a value may also be a list of alternative references.
        track: What a text without headers is.
        limits: What the input may hold at most.

    Raises:
        RefusedInput: With every fault found.
    """
    references, problems = collect_references(source, track, Limits.checked(limits))
    if problems:
        raise RefusedInput(problems)
    return references


def collect_predictions(
    source: Source, limits: Limits, ids: tuple[str, ...] = ("study_id",)
) -> tuple[Predictions, list[Problem]]:
    """Like :func:`read_predictions`, but returns what could be read beside the faults; `ids` names the field of the id.

    An id whose text is faulty stays in the texts (as an empty one), so that it is not called missing as well.
    """
    reader = Reader(source, "predictions", Fields(PREDICTION_FIELDS, _SECTION_FIELDS, ids), limits)
    values = reader.values()
    field = _prediction_field(values, reader)
    texts = {study_id: reader.prediction(study_id, value, field) for study_id, value in values.items()}
    sha256 = reader.sha256 or _canonical_sha256(texts)
    return Predictions(texts, reader.faults.file, sha256, reader.positional), reader.faults.problems()


def collect_references(source: Source, track: Track, limits: Limits) -> tuple[References, list[Problem]]:
    """Like :func:`read_references`, but returns what could be read beside the faults."""
    if not isinstance(track, str) or track not in TRACKS:
        message = f"there is no track of that name; there are {', '.join(TRACKS)}"
        return References(), [Problem("wrong_type", None, None, "track", message)]
    reader = Reader(source, "references", _REFERENCES, limits)
    studies = {study_id: reader.study(study_id, value, track) for study_id, value in reader.values().items()}
    sha256 = reader.sha256 or _canonical_sha256({study.study_id: _canonical(study) for study in studies.values()})
    return References(studies, reader.faults.file, sha256, reader.positional), reader.faults.problems()


class Reader:
    """One source, its entries by id, and the checks of its texts.

    Attributes:
        positional: Whether its ids are positions in a list of texts.
        sha256: Of the file's bytes, once it has been read; empty for objects.
        faults: Every fault found so far.
        broken: Whether it could not be read to its end.

    Args:
        source: As for :func:`read_predictions`.
        role: What it is for, which names it in messages where it is no file.
        fields: What is read of each record.
        limits: What it may hold at most.
    """

    def __init__(self, source: Source, role: Role, fields: Fields, limits: Limits) -> None:
        self.positional = _is_list(source) and not _has_records(source)
        self.sha256 = ""
        self.broken = False
        self._source = source
        self._role: Role = role
        self._fields = fields
        self._limits = limits
        self._characters = 0
        self.faults = Faults(role, limits.listed_problems)

    def values(self, through: Callable[[Iterator[Entry]], Iterable[Entry]] = iter) -> dict[str, Any]:
        """Values by study id, in order; what follows an unreadable place is not there.

        Args:
            through: Passes the entries on, all or some of them: a bar of progress, a split.
        """
        values: dict[str, Any] = {}
        first: dict[str, tuple[str, int]] = {}
        try:
            for number, entry in enumerate(through(self._entries())):
                if number == self._limits.studies:
                    raise self.faults.fatal("file_too_large", f"it has more than {number:,} studies, which are read")
                study_id = self._checked_id(entry)
                if study_id is None:
                    continue
                if study_id in values:
                    self.faults.add("duplicate_key", _duplicate(entry, *first[study_id]), study_id)
                    continue
                values[study_id], first[study_id] = entry.value, (entry.place, entry.number)
                self._count(entry.value)
        except RefusedInput as refused:
            self.broken = True
            for problem in refused.problems:
                self.faults.add(problem.code, problem.message, problem.study_id, problem.field)
        return values

    def _entries(self) -> Iterator[Entry]:
        if _is_address(self._source):
            try:
                content = fetch(self._source, self._role, self._limits)
            except RefusedInput as refused:
                self.faults.file = refused.problems[0].file or self._role
                raise
            self.faults.file = content.name
            self.sha256 = content.sha256
            return entries(content, self._fields, self._limits, self.faults)
        if isinstance(self._source, Mapping):
            return object_entries(self._source, self._fields)
        if _is_list(self._source):
            return list_entries(self._source, self._fields, self.faults)
        kind = type(self._source).__name__
        hint = '; give dict(zip(df["study_id"], df["report"]))' if kind == "DataFrame" else ""
        raise self.faults.fatal("not_an_object", f"expected a path, a mapping or a list, got {kind}{hint}")

    def _count(self, value: object) -> None:
        fields = value.values() if isinstance(value, Mapping) else [value]
        texts = (text for one in fields for text in (one if isinstance(one, list | tuple) else [one]))
        self._characters += sum(len(text) for text in texts if isinstance(text, str))
        if self._characters > self._limits.unpacked_bytes:
            limit = f"{self._limits.unpacked_bytes:,}"
            raise self.faults.fatal("file_too_large", f"its texts hold more than {limit} characters together")

    def _checked_id(self, entry: Entry) -> str | None:
        study_id, at = entry.study_id, f"{entry.place}: " if entry.place else ""
        if not isinstance(study_id, str):
            message = f"{at}expected text as study id, got {kind_of(study_id)}; write ids in quotes"
        elif not study_id:
            message = f"{at}the study id is empty"
        elif len(study_id) > self._limits.id_characters:
            message = (
                f"{at}the study id has {len(study_id):,} characters; at most {self._limits.id_characters} are read"
            )
        elif not study_id.isprintable():
            message = f"{at}the study id holds a character that cannot be shown, such as a line break"
        else:
            return study_id
        self.faults.add("wrong_type", message, field=self._fields.ids[0])
        return None

    def prediction(self, study_id: str, value: object, field: str | None) -> str:
        """The text of one prediction; an empty one stands in for a faulty one."""
        if isinstance(value, Mapping):
            self.check_repeated(study_id, value)
            if field is None:
                return ""
            if field not in value:
                self.faults.add("wrong_type", f'it has no "{field}"', study_id, field)
                return ""
            value = value[field]
        else:
            field = None
        if isinstance(value, list | tuple) and len(value) == 1:
            value = value[0]
        return self.text(study_id, value, field) or ""

    def study(self, study_id: str, value: object, track: Track) -> Study:
        """One study's references; absent where a text is absent or faulty."""
        if isinstance(value, Mapping):
            self.check_repeated(study_id, value)
            return self._recorded(study_id, value, track)
        alternatives = list(value) if isinstance(value, list | tuple) else [value]
        texts = [self.section(study_id, text, None) for text in alternatives]
        present = [text for text in texts if text is not None]
        if not present:
            return Study(study_id)
        return _study(study_id, track, present[0], tuple(present[1:]))

    def _recorded(self, study_id: str, value: Mapping[str, Any], track: Track) -> Study:
        if not any(name in value for name in _REFERENCE_FIELDS):
            names = ", ".join(f'"{name}"' for name in _REFERENCE_FIELDS)
            self.faults.add("wrong_type", f"it has none of the fields {names}", study_id)
            return Study(study_id)
        reports = [text for text in self._texts(study_id, value, REPORT_FIELDS) if text]
        context = value.get("context")
        context = context if isinstance(context, str) and context.strip() else None
        further: dict[str, Any] = {"patient_id": _patient(value), "attributes": _attributes(value)}
        if any(name in value for name in _SECTION_FIELDS):
            findings = self._texts(study_id, value, FINDINGS_FIELDS)
            impressions = self._texts(study_id, value, IMPRESSION_FIELDS)
            if track == "report" and not reports:
                # By reader, of whom each may have left out another section.
                readers = [both for both in zip_longest(findings, impressions) if any(both)]
                further["alternatives"] = tuple(filter(None, (whole_report(*both) for both in readers[1:])))
                findings, impressions = ([both[side] for both in readers[:1]] for side in (0, 1))
            else:
                sections: dict[str, Sequence[str | None]] = {"findings": findings, "impression": impressions}
                several = sections.get(track, reports)
                further["alternatives"] = tuple([text for text in several if text][1:])
            finding, impression, report = (next(filter(None, one), None) for one in (findings, impressions, reports))
            return Study(study_id, finding, impression, report, context, **further)
        split = [_split(study_id, report, context, track) for report in reports] or [Study(study_id, context=context)]
        split.sort(key=lambda one: not one.has(track))
        further["alternatives"] = tuple(text for one in split[1:] for text in one.texts(track))
        return replace(split[0], **further)

    def _texts(self, study_id: str, value: Mapping[str, Any], fields: Sequence[str]) -> list[str | None]:
        """The texts of the first field that is there: one, or a list by reader, None where one has none."""
        field = next((name for name in fields if name in value), None)
        if field is None:
            return []
        given = value[field]
        return [self.section(study_id, one, field) for one in (given if isinstance(given, list | tuple) else [given])]

    def section(self, study_id: str, value: object, field: str | None) -> str | None:
        """A section's text, or None where it is absent or faulty."""
        if value is None or _is_nan(value):
            return None
        text = self.text(study_id, value, field)
        return None if text is None or is_absent(text) else text

    def text(self, study_id: str, value: object, field: str | None) -> str | None:
        """A text as it is written, or None where it is faulty."""
        limit = self._limits.report_characters
        if not isinstance(value, str):
            self.faults.add("wrong_type", f"expected text, got {kind_of(value)}", study_id, field)
        elif len(value) > limit:
            message = f"the text has {len(value):,} characters; at most {limit:,} are read"
            self.faults.add("text_too_long", message, study_id, field)
        elif not is_encodable(value):
            message = "the text holds half of a surrogate pair, which is not Unicode; write it again"
            self.faults.add("bad_encoding", message, study_id, field)
        else:
            return value
        return None

    def check_repeated(self, study_id: str, value: Mapping[str, Any]) -> None:
        """Note fields that a record holds twice."""
        if isinstance(value, RepeatedFields):
            for name in sorted(value.repeated):
                self.faults.add("duplicate_key", "the field occurs twice; keep one", study_id, name)


def _duplicate(entry: Entry, place: str, number: int) -> str:
    """What is wrong with an entry whose id stood at another place, or as another record of one line, before."""
    if entry.place == place and number:
        return f"{place}, record {entry.number}: duplicate study id, first in record {number}; keep one"
    lead, first = (f"{entry.place}: ", f", first on {place}") if place else ("", "")
    return f"{lead}duplicate study id{first}; keep one"


def is_absent(text: str) -> bool:
    """Whether a reference section is blank or holds only the word nan, none or null."""
    return is_blank(text) or text.strip().rstrip(".").lower() in _ABSENT_WORDS


def _prediction_field(values: Mapping[str, Any], reader: Reader) -> str | None:
    """The one field of a file's records that holds the predictions.

    ``report`` in a record that also has sections is the reference of ReXrank's own form, never a prediction.
    """
    found = {name for value in values.values() if isinstance(value, Mapping) for name in value}
    is_reference = not found.isdisjoint(_SECTION_FIELDS)
    for name in PREDICTION_FIELDS:
        if name in found and not (name == "report" and is_reference):
            return name
    records = [study_id for study_id, value in values.items() if isinstance(value, Mapping)]
    if records:
        wanted = ", ".join(f'"{name}"' for name in PREDICTION_FIELDS)
        why = "these are references" if is_reference else "its records hold no text that is known"
        reader.faults.add("wrong_columns", f"{why}; wanted: one of the fields {wanted}")
    return None


def _split(study_id: str, report: str, context: str | None, track: Track) -> Study:
    """A study whose file gives the whole report only."""
    sections = read_sections(report)
    if not sections.headers:
        return _study(study_id, track, report, (), context)
    findings, impression = (
        None if text is None or is_absent(text) else text for text in (sections.findings, sections.impression)
    )
    return Study(study_id, findings, impression, report, context)


def _study(
    study_id: str, track: Track, text: str, alternatives: tuple[str, ...] = (), context: str | None = None
) -> Study:
    if track == "findings":
        return Study(study_id, findings=text, context=context, alternatives=alternatives)
    if track == "impression":
        return Study(study_id, impression=text, context=context, alternatives=alternatives)
    return Study(study_id, report=text, context=context, alternatives=alternatives)


def _patient(value: Mapping[str, Any]) -> str | None:
    """Whose study it is; ids may be numbers, which they are in MIMIC-CXR's tables."""
    for name in PATIENT_FIELDS:
        patient = value.get(name)
        if isinstance(patient, str | int) and not isinstance(patient, bool) and not is_absent(str(patient)):
            return str(patient).strip()
        if isinstance(patient, float) and patient.is_integer():
            return str(int(patient))
    return None


def _attributes(value: Mapping[str, Any]) -> dict[str, str]:
    """What a record says of its study beside the texts, as words; several views are joined."""
    found: dict[str, str] = {}
    for name, said in value.items():
        if name not in ATTRIBUTE_FIELDS and not name.startswith(LABEL_PREFIX):
            continue
        parts = said if isinstance(said, list | tuple) else [said]
        # Radiologists write "None" where there is nothing to compare with.
        words = [word for part in parts if (word := _word(part, name == "comparison"))]
        if words:
            found["view" if name == "frontal_lateral" else name] = ", ".join(dict.fromkeys(words))
    return found


def _word(value: object, none_is_said: bool = False) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:g}"
    if not isinstance(value, str | int):
        return ""
    word = str(value).strip()
    if none_is_said and word.lower() == "none":
        return word
    return "" if word.lower() in _ABSENT_WORDS else word


def _is_address(source: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(source, str | os.PathLike)


def _is_list(source: object) -> TypeGuard[Sequence[Any]]:
    """Whether it is a list of texts or records; bytes and ranges are sequences of numbers."""
    return isinstance(source, Sequence) and not isinstance(source, str | bytes | bytearray | memoryview | range)


def _has_records(source: Sequence[Any]) -> bool:
    return any(isinstance(item, Mapping) for item in source)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and value != value


def kind_of(value: object) -> str:
    """The type of a JSON value in words; never the value."""
    if value is None:
        return "null"
    if _is_nan(value):
        return "NaN"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return "an object" if isinstance(value, Mapping) else f"a value of type {type(value).__name__}"


def _canonical(study: Study) -> dict[str, Any]:
    fields = ("findings", "impression", "report", "alternatives")
    return {name: getattr(study, name) for name in fields if getattr(study, name)}


def _canonical_sha256(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
