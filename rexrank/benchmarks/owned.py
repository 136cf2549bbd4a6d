"""Files that the owner of a data set has, read into the studies of a benchmark with every fault named.

A builder says under which names its data set keeps what a benchmark holds; nothing is downloaded, and ids of studies
and patients stay as they are written.
"""

import os
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

    def records(self) -> dict[str, Mapping[str, Any]]:
        """Records of the split by id, in the order of the file."""
        records = {}
        for record_id, record in self.reader.values(self._through).items():
            if isinstance(record, Mapping):
                self.reader.check_repeated(record_id, record)
                records[record_id] = record
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
        indication, comparison = (self.section(study_id, record, name) for name in ("indication", "comparison"))
        report = self.section(study_id, record, "report")
        images = self._list(study_id, record, "image_path")
        return BenchmarkStudy(
            study_id=study_id,
            findings=findings,
            impression=impression,
            indication=indication,
            comparison=comparison,
            image_path=images,
            key_image_path=self._key_image(study_id, record, images),
            given_context=self._context(study_id, record, indication or comparison),
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

    def _context(self, study_id: str, record: Mapping[str, Any], is_written: object) -> str | None:
        """The context as it is given; empty where there is nothing to write one from either."""
        field = self._field(record, "context")
        if field is None:
            return None if is_written else ""
        return self.reader.section(study_id, record[field], field) or ""

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
