"""Annotation files of R2Gen's family, and what their splits share.

R2Gen (Chen et al., EMNLP 2020), R2GenGPT and CXPMRG-Bench (arXiv 2410.00379) keep a data set as
``{"train": […], "val": […], "test": […]}`` with items ``{"id", "report", "image_path"}``. An item is an image, or a
study of several; where items are images, images of one study, with the same report, may stand on both sides of a split.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, TypeVar

from rexrank.benchmarks.owned import LIMITS, shown_progress
from rexrank.errors import RefusedInput
from rexrank.files import user_path
from rexrank.layout import columns, plain
from rexrank.reports.faults import Faults
from rexrank.reports.formats import check_utf8
from rexrank.reports.json_files import SPLITS, TEST, TRAIN, Fields, SplitItem, split_items
from rexrank.reports.problems import Problem, shown_id
from rexrank.reports.reading import Reader, kind_of
from rexrank.reports.sources import read_file

T = TypeVar("T")
_SHOWN_IMAGES = 5
# Folders of CheXpert Plus and of MIMIC-CXR, which name patient and study.
_FOLDERS = (
    re.compile(r"(?:^|/)(?P<patient>patient\d+)/(?P<study>study\d+)/"),
    re.compile(r"(?:^|/)(?P<patient>p\d{8})/(?P<study>s\d{8})(?:/|$)"),
)


@dataclass(frozen=True, slots=True)
class Item:
    """One item of an annotation file.

    Attributes:
        item_id: Opaque id.
        report: Its text, as it is written.
        image_path: Names of its images, relative to a folder of the owner's, or absolute.
        study: Id of its study; None where the file does not tell.
        patient: Id of its patient; None where the file does not tell.
    """

    item_id: str
    report: str
    image_path: tuple[str, ...]
    study: str | None = None
    patient: str | None = None

    def to_json(self, split: str) -> dict[str, Any]:
        """The item as an annotation file holds it."""
        known = {"study_id": self.study, "subject_id": self.patient}
        return {
            "id": self.item_id,
            "report": self.report,
            "image_path": list(self.image_path),
            "split": split,
            **{name: value for name, value in known.items() if value is not None},
        }


@dataclass(frozen=True)
class Annotation:
    """A data set in its splits.

    Attributes:
        name: Of the file, for messages.
        splits: Items of ``train``, ``val`` and ``test``, in the order of the file.
    """

    name: str
    splits: Mapping[str, Sequence[Item]]

    def to_bytes(self) -> bytes:
        """The annotation file: UTF-8, one item a line."""
        parts = [
            f"{json.dumps(split)}: [\n"
            + ",\n".join(json.dumps(item.to_json(split), ensure_ascii=False) for item in items)
            + "\n]"
            for split, items in self.splits.items()
        ]
        return ("{" + ",\n".join(parts) + "}\n").encode()


def place_of(path: str) -> tuple[str | None, str | None]:
    """Study and patient by the folders of an image; None where they do not tell."""
    for form in _FOLDERS:
        if found := form.search(path):
            return f"{found['patient']}_{found['study']}", found["patient"]
    return None, None


def read_annotation(source: str | os.PathLike[str], progress: bool = False) -> Annotation:
    """Read an annotation file.

    Of an item without ``study_id`` or ``subject_id`` the folders of its first image tell study and patient, where they
    are named as in CheXpert Plus or MIMIC-CXR; an item of several images is a study of its own.

    Args:
        source: JSON file.
        progress: Whether to show a bar on stderr once two seconds have passed.

    Raises:
        RefusedInput: With every fault: splits that are not there, ids that stand twice in a split, items without text.
    """
    path = user_path(source)
    reader = Reader(path, "references", Fields(("report",)), LIMITS)
    faults = reader.faults
    faults.file = path.name
    splits: dict[str, dict[str, Item]] = {split: {} for split in SPLITS}
    try:
        data = read_file(path, path.name, LIMITS)
        check_utf8(data, faults)
        for found in shown_progress(split_items(data, LIMITS, faults), progress):
            _add(found, splits[found.split], reader)
    except RefusedInput as refused:
        raise RefusedInput([*faults.problems(), *refused.problems]) from None
    for split, items in splits.items():
        if not items and not faults.problems():
            faults.add("missing_ids", f'its split "{split}" has no item', field=split)
    if problems := faults.problems():
        raise RefusedInput(problems)
    return Annotation(path.name, {split: tuple(items.values()) for split, items in splits.items()})


def _add(found: SplitItem, items: dict[str, Item], reader: Reader) -> None:
    item_id, fields = found.item_id, found.fields
    if not isinstance(item_id, str) or not item_id:
        what = kind_of(item_id) if item_id != "" else "an empty text"
        reader.faults.add("wrong_type", f"{found.place}: expected text as id, got {what}", field="id")
        return
    if item_id in items:
        reader.faults.add("duplicate_key", f"{found.place}: duplicate id; keep one", item_id)
        return
    if "report" not in fields:
        reader.faults.add("wrong_type", 'it has no "report"', item_id, "report")
        return
    text = reader.text(item_id, fields["report"], "report")
    images = _images(item_id, fields.get("image_path"), reader.faults)
    if text is not None and images is not None:
        study, patient = place_of(images[0]) if images else (None, None)
        if study is None and len(images) > 1:
            study = item_id
        named = _named(fields.get("study_id")), _named(fields.get("subject_id"))
        items[item_id] = Item(item_id, text, images, named[0] or study, named[1] or patient)


def _images(item_id: str, value: object, faults: Faults) -> tuple[str, ...] | None:
    paths = [value] if isinstance(value, str) else [] if value is None else value
    if isinstance(paths, list) and all(isinstance(path, str) for path in paths):
        return tuple(paths)
    faults.add("wrong_type", f"expected a list of names of images, got {kind_of(value)}", item_id, "image_path")
    return None


def _named(value: object) -> str | None:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) and value.strip() else None


@dataclass(frozen=True)
class SplitCount:
    """What one split holds.

    Attributes:
        items: Number of items.
        images: Number of different images.
        studies: Number of different studies; None where no item tells its study.
        patients: Number of different patients; None where no item tells its patient.
        texts: Number of different reports.
        without_study: Items that do not tell their study.
        without_patient: Items that do not tell their patient.
    """

    items: int
    images: int
    studies: int | None
    patients: int | None
    texts: int
    without_study: int
    without_patient: int


@dataclass(frozen=True)
class Overlap:
    """What two splits share.

    Attributes:
        splits: Their names.
        items: Ids that stand in both.
        images: Images that stand in both.
        studies: Studies that stand in both; None where one of them does not tell.
        patients: Patients that stand in both; None where one of them does not tell.
    """

    splits: tuple[str, str]
    items: int
    images: int
    studies: int | None
    patients: int | None


@dataclass(frozen=True)
class Leakage:
    """What the splits of an annotation file hold and share.

    Attributes:
        name: Of the file.
        counts: By split.
        overlaps: Of each two splits.
        copied: Items of the test split whose report stands word for word in the training split.
        missing_images: Number of images that are not in the owner's folder; None where none was named.
        first_missing: Names of the first of these.
    """

    name: str
    counts: Mapping[str, SplitCount]
    overlaps: tuple[Overlap, ...]
    copied: int
    missing_images: int | None = None
    first_missing: tuple[str, ...] = ()

    @property
    def copied_share(self) -> float:
        """Share of the test items whose report stands word for word in the training split, 0 to 1."""
        return self.copied / self.counts[TEST].items

    def to_json(self) -> dict[str, Any]:
        """The report for programs; what is not told is None."""
        return {
            "name": self.name,
            "splits": {split: asdict(count) for split, count in self.counts.items()},
            "overlaps": [asdict(overlap) for overlap in self.overlaps],
            "test_texts_in_train": {"items": self.copied, "share": self.copied_share},
            "missing_images": self.missing_images,
            "first_missing_images": list(self.first_missing),
        }

    def table(self) -> str:
        """The report for people."""
        names = ("items", "images", "studies", "patients")
        rows: list[tuple[str, ...]] = [(self.name, *names, "different texts")]
        for split, count in self.counts.items():
            rows.append((split, *(_shown(getattr(count, name)) for name in names), _shown(count.texts)))
        for overlap in self.overlaps:
            rows.append((" and ".join(overlap.splits), *(_shown(getattr(overlap, name)) for name in names), ""))
        return "\n".join([*columns(rows), "", *self._sentences()])

    def _sentences(self) -> list[str]:
        n = self.counts[TEST].items
        told = [
            f"{self.copied:,} of {n:,} test texts ({self.copied_share:.1%}) stand word for word in the training split."
        ]
        for what in ("study", "patient"):
            unknown = sum(getattr(count, f"without_{what}") for count in self.counts.values())
            if unknown:
                told.append(f"Items that do not tell their {what}: {unknown:,}; an overlap among these is not seen.")
        if self.missing_images is not None:
            more = ", …" if self.missing_images > len(self.first_missing) else ""
            first = f" ({', '.join(map(plain, self.first_missing))}{more})" if self.first_missing else ""
            told.append(f"Images that are not in the folder: {self.missing_images:,}{first}")
        return told


def leakage(annotation: Annotation, images: str | os.PathLike[str] | None = None) -> Leakage:
    """Count what splits hold and share.

    Args:
        annotation: The data set.
        images: Folder to which the names of images are relative; None to look for none.
    """
    counts = {split: _count(items) for split, items in annotation.splits.items()}
    overlaps = tuple(_overlap(annotation, first, second) for first, second in combinations(list(annotation.splits), 2))
    known = {item.report for item in annotation.splits[TRAIN]}
    copied = sum(item.report in known for item in annotation.splits[TEST])
    if images is None:
        return Leakage(annotation.name, counts, overlaps, copied)
    missing = _missing(annotation, images)
    return Leakage(annotation.name, counts, overlaps, copied, len(missing), tuple(missing[:_SHOWN_IMAGES]))


def _missing(annotation: Annotation, images: str | os.PathLike[str]) -> list[str]:
    """Names of images that are not there, in order, each once.

    Raises:
        RefusedInput: The folder is none.
    """
    folder = user_path(images)
    if not folder.is_dir():
        message = "there is no such folder of images"
        raise RefusedInput([Problem("file_missing", shown_id(folder.name), None, None, message)])
    names = dict.fromkeys(path for items in annotation.splits.values() for item in items for path in item.image_path)
    return [name for name in names if not os.path.isfile(folder / name)]


def _count(items: Sequence[Item]) -> SplitCount:
    without_study = sum(item.study is None for item in items)
    without_patient = sum(item.patient is None for item in items)
    return SplitCount(
        items=len(items),
        images=len(_of(items, "image_path")),
        studies=None if without_study == len(items) else len(_studies(items, _tell_patients(items))),
        patients=None if without_patient == len(items) else len(_of(items, "patient")),
        texts=len(_of(items, "report")),
        without_study=without_study,
        without_patient=without_patient,
    )


def _of(items: Sequence[Item], what: str) -> set[str]:
    """Different values of one attribute, those that are not told aside."""
    if what == "image_path":
        return {path for item in items for path in item.image_path}
    return {value for item in items if (value := getattr(item, what)) is not None}


def _tell_patients(items: Sequence[Item]) -> bool:
    return all(item.patient is not None for item in items)


def _studies(items: Sequence[Item], by_patient: bool) -> set[tuple[str | None, str]]:
    """Different studies: where all patients are told, each patient's own, as ids such as ``study1`` repeat."""
    return {(item.patient if by_patient else None, item.study) for item in items if item.study is not None}


def _overlap(annotation: Annotation, first: str, second: str) -> Overlap:
    sides = annotation.splits[first], annotation.splits[second]
    by_patient = all(map(_tell_patients, sides))
    return Overlap(
        splits=(first, second),
        items=_shared(*(_of(items, "item_id") for items in sides)) or 0,
        images=_shared(*(_of(items, "image_path") for items in sides)) or 0,
        studies=_shared(*(_studies(items, by_patient) for items in sides)),
        patients=_shared(*(_of(items, "patient") for items in sides)),
    )


def _shared(one: Set[T], other: Set[T]) -> int | None:
    """How much two sides share; None where one of them does not tell."""
    return len(one & other) if one and other else None


def _shown(number: int | None) -> str:
    return "not told" if number is None else f"{number:,}"
