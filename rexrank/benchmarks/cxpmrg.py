"""A split of CheXpert Plus of the kind that CXPMRG-Bench uses, from the owner's table.

CXPMRG-Bench (arXiv 2410.00379) divides 57,805 images at random into 40,463, 5,780 and 11,562. So many rows of the table
``df_chexpert_plus_240401.csv`` have findings of two words or more; the parts are floor(.7 n), floor(.1 n) and the rest.
Seed and order are not published, so its split cannot be made again: what is made here has the same rule and sizes,
other images, and another name. Several images of one study have the same report, so a division of images puts one
study on both sides; the second division keeps each patient on one.
"""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from rexrank.benchmarks.cxpmrg_annotation import Annotation, Item, place_of
from rexrank.benchmarks.owned import Names, OwnedFile
from rexrank.errors import RefusedInput
from rexrank.reports.json_files import TEST, TRAIN, VAL
from rexrank.reports.problems import Problem, shown_id

By = Literal["image", "patient"]
T = TypeVar("T")
PUBLISHED = {TRAIN: 40_463, VAL: 5_780, TEST: 11_562}

_WORDS = 2
_TENTHS = {TRAIN: 7, VAL: 1}
_ID = "path_to_image"
_TABLE: Names = {"findings": ("section_findings",), "impression": (), "patient_id": ("deid_patient_id",)}


@dataclass(frozen=True)
class Division:
    """A split that was made.

    Attributes:
        annotation: The splits, under the name of the division.
        rows: Rows of the table.
        left_out: Those whose findings have fewer than two words.
    """

    annotation: Annotation
    rows: int
    left_out: int

    @property
    def notes(self) -> list[str]:
        """What its owner should know."""
        sizes = {split: len(items) for split, items in self.annotation.splits.items()}
        notes = [
            "this is not the split of CXPMRG-Bench, whose seed is not published; give this one's name with its scores"
        ]
        if sizes != PUBLISHED:
            found, published = (" / ".join(f"{number:,}" for number in one.values()) for one in (sizes, PUBLISHED))
            notes.append(f"sizes: {found} here, {published} in CXPMRG-Bench")
        return notes


def split(source: str | os.PathLike[str], by: By = "image", seed: int = 0, progress: bool = False) -> Division:
    """Divide the images of CheXpert Plus that have findings into train, val and test, 70 : 10 : 20.

    Whoever has the table gets the same split by the same seed, whatever the order of its rows.

    Args:
        source: The owner's ``df_chexpert_plus_240401.csv``, or the same as TSV or Parquet.
        by: ``image`` divides images, as CXPMRG-Bench does; ``patient`` keeps all images of a patient together, so that
            the sizes are those proportions but for some images.
        seed: Another number gives another division.
        progress: Whether to show a bar on stderr once two seconds have passed.

    Raises:
        RefusedInput: With every fault of the table; too few rows; or a patient that nothing tells.
    """
    file = OwnedFile(source, _TABLE, (_ID,), progress=progress)
    records = file.records()
    items = _with_patients([item for path, record in records.items() if (item := _item(file, path, record))])
    problems = file.reader.faults.problems()
    if by == "patient":
        problems += _without_patient(items, file.reader.faults.file)
    if not problems and len(items) < 10:
        message = f"only {len(items)} of its {len(records):,} rows have findings of two words; ten are the least"
        problems = [Problem("missing_ids", file.reader.faults.file, None, "section_findings", message)]
    if problems:
        raise RefusedInput(problems)
    divide = _by_image if by == "image" else _by_patient
    splits = divide(items, seed)
    if empty := [split for split, own in splits.items() if not own]:
        message = f'so few patients have so many images that no image is left for "{empty[0]}"; divide by image'
        raise RefusedInput([Problem("missing_ids", file.reader.faults.file, None, "deid_patient_id", message)])
    name = f"chexpert-plus-{by}-split-seed{seed}"
    return Division(Annotation(name, splits), len(records), len(records) - len(items))


def _item(file: OwnedFile, path: str, record: Mapping[str, object]) -> Item | None:
    """The item of a row; None where its findings have fewer than two words."""
    text = file.section(path, record, "findings")
    if text is None or len(text.split()) < _WORDS:
        return None
    return Item(path, text, (path,), place_of(path)[0], file.word(path, record, "patient_id"))


def _with_patients(items: Sequence[Item]) -> list[Item]:
    """The items, those without patient id called as others of the same folder, or as the folder itself."""
    called = {folder: item.patient for item in items if item.patient and (folder := place_of(item.item_id)[1])}
    told = []
    for item in items:
        folder = place_of(item.item_id)[1]
        told.append(item if item.patient or folder is None else replace(item, patient=called.get(folder, folder)))
    return told


def _without_patient(items: Sequence[Item], name: str) -> list[Problem]:
    message = "neither deid_patient_id nor the path names its patient; divide by image, or mend the row"
    return [Problem("wrong_type", name, shown_id(item.item_id), _ID, message) for item in items if item.patient is None]


def _by_image(items: Sequence[Item], seed: int) -> dict[str, Sequence[Item]]:
    ordered = tuple(_shuffled(items, seed, lambda item: item.item_id))
    first = len(items) * _TENTHS[TRAIN] // 10
    second = first + len(items) * _TENTHS[VAL] // 10
    return {TRAIN: ordered[:first], VAL: ordered[first:second], TEST: ordered[second:]}


def _by_patient(items: Sequence[Item], seed: int) -> dict[str, Sequence[Item]]:
    of_patient: dict[str, list[Item]] = {}
    for item in sorted(items, key=lambda item: item.item_id):
        of_patient.setdefault(str(item.patient), []).append(item)
    divided: dict[str, list[Item]] = {TRAIN: [], VAL: [], TEST: []}
    done = 0
    for patient in _shuffled(list(of_patient), seed, str):
        own = of_patient[patient]
        # A patient belongs where the middle of their images falls, so no split is off by more than half a patient.
        tenth = (2 * done + len(own)) * 10 / (2 * len(items))
        place = TRAIN if tenth < _TENTHS[TRAIN] else VAL if tenth < _TENTHS[TRAIN] + _TENTHS[VAL] else TEST
        divided[place] += own
        done += len(own)
    return {place: tuple(own) for place, own in divided.items()}


def _shuffled(things: Sequence[T], seed: int, name: Callable[[T], str]) -> list[T]:
    """In an order that seed and names alone decide, in every version of every library."""
    return sorted(things, key=lambda one: hashlib.sha256(f"{seed}:{name(one)}".encode()).digest())
