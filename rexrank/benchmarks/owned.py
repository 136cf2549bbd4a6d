"""Files that the owner of a data set has, read into the studies of a benchmark with every fault named.

A builder says under which names its data set keeps what a benchmark holds; nothing is downloaded, and ids of studies
and patients stay as they are written.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rexrank.benchmarks.benchmark import Benchmark, BenchmarkStudy
from rexrank.errors import RefusedInput
from rexrank.files import user_path
from rexrank.reports.json_files import Entry, Fields
from rexrank.reports.problems import Problem
from rexrank.reports.reading import Reader, kind_of
from rexrank.reports.studies import Limits, whole_report

# CheXpert Plus is one CSV file of all its images.
LIMITS = Limits(file_bytes=4 * 2**30, unpacked_bytes=8 * 2**30)
# From here on not every whole number is a float, which numbers of JSON are read as.
_EXACT = 2**53

Names = Mapping[str, tuple[str, ...]]
"""For each thing a benchmark holds, the fields in which a data set keeps it; the first one that is there counts."""

# Files in ReXrank's form do not say whose they are, but the ids of these data sets do.
_ID_FORMS: Mapping[str, re.Pattern[str]] = {
    "mimic-cxr": re.compile(r"s?5[0-9]{7}"),
    "chexpert-plus": re.compile(r"patient[0-9]+_study[0-9]+"),
    "iu-xray": re.compile(r"CXR[0-9]+_(?:IM-)?[0-9].*"),
}

# The form in which ReXrank gives MIMIC-CXR, CheXpert Plus, IU X-ray and ReXGradient.
REXRANK_NAMES: Names = {
    "findings": ("section_findings", "findings"),
    "impression": ("section_impression", "impression"),
    "report": ("report", "reports"),
    "context": ("context",),
    "image_path": ("image_path",),
    "key_image_path": ("key_image_path",),
    "view": ("frontal_lateral",),
    "patient_id": ("subject_id",),
    "sex": ("sex",),
    "age": ("age",),
    "split": ("split",),
}


@dataclass(frozen=True)
class Published:
    """What others say a split holds.

    Attributes:
        source: Whose numbers these are.
        tracks: Number of studies of each track, as far as it is known.
        patients: Number of patients, where it is known.
    """

    source: str
    tracks: Mapping[str, int]
    patients: int | None = None


class OwnedFile:
    """One file of an owner.

    Args:
        path: JSON, JSONL, CSV, TSV or Parquet.
        names: Where it keeps what.
        ids: Fields of which one holds the id of a record.
        split: Records of another split are left out; a record that names none counts as one of it.
        progress: Whether to show a bar on stderr once two seconds have passed.

    Attributes:
        reader: Collects the faults.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        names: Names,
        ids: tuple[str, ...] = ("study_id",),
        split: str | None = None,
        progress: bool = False,
    ) -> None:
        texts = names["findings"] + names["impression"] if "findings" in names else names["split"]
        others = (name for what in names.values() for name in what if name not in texts)
        self.reader = Reader(user_path(path), "references", Fields(texts, tuple(dict.fromkeys(others)), ids), LIMITS)
        self._names = names
        self._split = split
        self._progress = progress
        self._found: set[str] = set()

    @property
    def is_joinable(self) -> bool:
        """Whether every id of the file is known, so that a study that it lacks is no consequence of another fault."""
        return not self.reader.broken and all(fault.study_id is not None for fault in self.reader.faults.problems())

    def warnings(self) -> tuple[str, ...]:
        """Sections that no record of the file has a field for."""
        lacking = [what for what in ("findings", "impression") if self._found.isdisjoint(self._names[what])]
        return tuple(
            f"{self.reader.faults.file} has no column or field {what} ({' or '.join(self._names[what])}), "
            f"so no study has its {what}"
            for what in lacking
        )

    def records(self) -> dict[str, Mapping[str, Any]]:
        """Records of the split by id, in the order of the file."""
        records = {}
        for record_id, record in self.reader.values(self._through).items():
            if isinstance(record, Mapping):
                self.reader.check_repeated(record_id, record)
                records[record_id] = record
                self._found.update(record)
            else:
                message = f"expected an object of fields, got {kind_of(record)}"
                self.reader.faults.add("not_an_object", message, record_id)
        return records

    def studies(self) -> Iterator[BenchmarkStudy]:
        """One study of each record."""
        for study_id, record in self.records().items():
            yield self.study(study_id, record)

    def study(self, study_id: str, record: Mapping[str, Any]) -> BenchmarkStudy:
        """The study that a record holds; what is faulty is absent from it."""
        findings, impression = self.section(study_id, record, "findings"), self.section(study_id, record, "impression")
        report = self.section(study_id, record, "report")
        images = self._list(study_id, record, "image_path")
        return BenchmarkStudy(
            study_id=study_id,
            findings=findings,
            impression=impression,
            indication=self.section(study_id, record, "indication"),
            comparison=self.section(study_id, record, "comparison"),
            image_path=images,
            key_image_path=self._key_image(study_id, record, images),
            given_context=self._context(study_id, record),
            report=None if report == whole_report(findings, impression) else report,
            patient_id=self.word(study_id, record, "patient_id"),
            site=self.word(study_id, record, "site"),
            view=self._list(study_id, record, "view"),
            sex=self.word(study_id, record, "sex"),
            age=self.word(study_id, record, "age"),
        )

    def section(self, study_id: str, record: Mapping[str, Any], what: str) -> str | None:
        """A text of a record: of its fields the first one that holds any, or None where none does."""
        fields = (name for name in self._names.get(what, ()) if name in record)
        texts = (self.reader.section(study_id, record[field], field) for field in fields)
        return next(filter(None, texts), None)

    def word(self, study_id: str, record: Mapping[str, Any], what: str) -> str | None:
        """An id, a sex, an age: text as it is written, a whole number without a decimal point."""
        field = self._field(record, what)
        value = record[field] if field else None
        if isinstance(value, bool) or not isinstance(value, int | float) or value % 1:
            return self.section(study_id, record, what)
        if isinstance(value, float) and abs(value) >= _EXACT:
            message = "the number has more digits than are read exactly; write it in quotes"
            self.reader.faults.add("wrong_type", message, study_id, field)
            return None
        return str(int(value))

    def _context(self, study_id: str, record: Mapping[str, Any]) -> str:
        """The context as it is given, or written from indication and comparison as ReXrank writes it."""
        field = self._field(record, "context")
        if field is not None:
            return self.reader.section(study_id, record[field], field) or ""
        indication, comparison = (self._said(study_id, record, what) for what in ("indication", "comparison"))
        if not indication and not comparison:
            return ""
        return f"{f'Indication: {indication} ' if indication else ''}Comparison: {comparison or 'None'}"

    def _said(self, study_id: str, record: Mapping[str, Any], what: str) -> str | None:
        """A section, or the word none as the file writes it, which says to a model that there was nothing."""
        if text := self.section(study_id, record, what):
            return text.strip()
        texts = (record.get(name) for name in self._names.get(what, ()))
        words = (text.strip() for text in texts if isinstance(text, str))
        return next((word for word in words if word.rstrip(".").lower() == "none"), None)

    def _key_image(self, study_id: str, record: Mapping[str, Any], images: Sequence[str]) -> str | None:
        given = self.word(study_id, record, "key_image_path")
        if given is not None and given not in images:
            message = "it is none of the study's images; name one of them"
            self.reader.faults.add("wrong_type", message, study_id, self._field(record, "key_image_path"))
        return given or (images[0] if images else None)

    def _list(self, study_id: str, record: Mapping[str, Any], what: str) -> tuple[str, ...]:
        """Names of images, or their views, of which one may be unknown (and is then empty)."""
        field = self._field(record, what)
        value = record[field] if field else None
        if value is None or value != value:
            return ()
        items = value if isinstance(value, list | tuple) else [value]
        if what == "view":
            items = ["" if item is None or item != item else item for item in items]
        texts = [self.reader.text(study_id, item, field) for item in items]
        good = tuple(text for text in texts if text is not None)
        return good if len(good) == len(texts) and any(good) else ()

    def _field(self, record: Mapping[str, Any], what: str) -> str | None:
        return next((name for name in self._names.get(what, ()) if name in record), None)

    def _through(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        for entry in shown_progress(entries, self._progress):
            record = entry.value if isinstance(entry.value, Mapping) else {}
            field = self._field(record, "split")
            found = record[field] if field else None
            named = "" if found is None or found != found else str(found).strip()
            if not self._split or named in ("", self._split):
                yield entry


def shown_progress(items: Iterable[Any], progress: bool) -> Iterable[Any]:
    """The same items with a bar on stderr once two seconds have passed, where a terminal is there to show it."""
    from tqdm import tqdm

    return tqdm(items, unit=" records", delay=2, file=sys.stderr, leave=False, disable=None if progress else True)


def check_owner(name: str, file: OwnedFile, study_ids: Sequence[str]) -> None:
    """Note where most ids have the form of another data set, whose texts would get the wrong licence.

    Args:
        name: Of the benchmark that is built.
        file: Where the studies stand.
        study_ids: Their ids.
    """
    for other, form in _ID_FORMS.items():
        if other != name and 2 * sum(form.fullmatch(study_id) is not None for study_id in study_ids) > len(study_ids):
            message = f"most of its study ids are those of {other}; build that benchmark from it"
            file.reader.faults.add("extra_ids", message, field="study_id")


def finished(benchmark: Benchmark, problems: Sequence[Problem], file: str, published: Published | None) -> Benchmark:
    """The benchmark with its notes, without studies that have no text.

    Args:
        benchmark: With every study that was read.
        problems: Faults of the files.
        file: The file to name where no study has a text.
        published: What the split should hold.

    Raises:
        RefusedInput: There are faults, or nothing that could be compared.
    """
    if problems:
        raise RefusedInput(problems)
    kept = tuple(study for study in benchmark.studies if study.text("report"))
    if not kept:
        message = f"none of its {len(benchmark.studies):,} studies of the split {benchmark.split} has a text"
        raise RefusedInput([Problem("missing_ids", file, None, None, message)])
    left_out = len(benchmark.studies) - len(kept)
    notes = [f"left out, with neither findings nor impression: {left_out:,}"] if left_out else []
    built = replace(benchmark, studies=kept)
    return replace(built, notes=(*benchmark.notes, *notes, *(_differences(built, published) if published else ())))


def _differences(benchmark: Benchmark, published: Published) -> Iterator[str]:
    for track, expected in published.tracks.items():
        found = benchmark.tracks.get(track, 0)
        if found != expected:
            yield f"{track}: {found:,} here, {expected:,} in {published.source}"
    patients = {study.patient_id for study in benchmark.studies if study.patient_id}
    if published.patients is not None and patients and len(patients) != published.patients:
        yield f"patients: {len(patients):,} here, {published.patients:,} in {published.source}"
