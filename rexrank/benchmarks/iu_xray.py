"""IU X-ray: Open-i's reports in the split of R2Gen, which ReXrank and most papers use.

The ids of the split are shipped (facts); the texts are read at run time, see :mod:`rexrank.benchmarks.openi`.
Split: Chen et al., Generating Radiology Reports via Memory-driven Transformer, EMNLP 2020.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from rexrank.benchmarks import openi
from rexrank.benchmarks.benchmark import Benchmark, BenchmarkStudy, TrainingStudy

NAME = "iu-xray"
DESCRIPTION = (
    "The 590 test studies of IU X-ray (Open-i) in the R2Gen split, two images a study, with findings and impression. "
    "Built from the 3,955 public reports; no word is changed. `labels_…` are what human indexers found."
)
PROVENANCE = (
    "Split: Chen et al., *Generating Radiology Reports via Memory-driven Transformer*, EMNLP 2020 (R2Gen). Study ids, "
    "image\nnames and `context` are those of ReXrank's file for the same studies."
)

# Headings of the indexers' terms that stand for each finding, as NegBio's gold standard has them (Peng et al., AMIA
# Joint Summits 2018, openi_gld_std14.csv); its column of hernias is empty, so there is none here. Effusions of the
# pericardium count among its effusions.
LABEL_HEADINGS: Mapping[str, frozenset[str]] = {
    "atelectasis": frozenset({"Pulmonary Atelectasis", "Atelectasis"}),
    "cardiomegaly": frozenset({"Cardiomegaly"}),
    "effusion": frozenset({"Pleural Effusion", "Pericardial Effusion"}),
    "infiltration": frozenset({"Infiltrate"}),
    "mass": frozenset({"Mass"}),
    "nodule": frozenset({"Nodule"}),
    "pneumonia": frozenset({"Pneumonia"}),
    "pneumothorax": frozenset({"Pneumothorax"}),
    "consolidation": frozenset({"Consolidation"}),
    "edema": frozenset({"Pulmonary Edema"}),
    "emphysema": frozenset({"Pulmonary Emphysema", "Emphysema"}),
    "fibrosis": frozenset({"Pulmonary Fibrosis", "Fibrosis"}),
    "pleural_thickening": frozenset({"Thickening"}),
}
_NORMAL = "normal"


@dataclass(frozen=True)
class SplitEntry:
    """One line of the shipped split.

    Attributes:
        study_id: ReXrank's id of the study.
        split: ``train``, ``val`` or ``test``.
        xml_number: Which of Open-i's files holds the report.
        key_image: Index of the image for models that take one; None outside the test split.
    """

    study_id: str
    split: str
    xml_number: int
    key_image: int | None


@lru_cache(maxsize=1)
def split() -> tuple[SplitEntry, ...]:
    """The 2,955 studies of the R2Gen split: 2,069 train, 296 val, 590 test, each in the split's own order."""
    text = files("rexrank.benchmarks").joinpath("r2gen_split.tsv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")][1:]
    return tuple(_entry(line) for line in lines)


def _entry(line: str) -> SplitEntry:
    study_id, part, number, key_image = line.split("\t")
    return SplitEntry(study_id, part, int(number), int(key_image) if key_image else None)


def load() -> Benchmark:
    """The benchmark ``iu-xray``: 590 test studies, in the order of ReXrank's file.

    Raises:
        BenchmarkError: The package with the reports is not installed; the message says how to get it.
    """
    reports = openi.read_reports(openi.archive_path())
    return Benchmark(
        name=NAME,
        title="IU X-ray (Open-i), R2Gen test split",
        split="test",
        studies=tuple(_test_studies(reports)),
        licence=openi.LICENCE,
        description=DESCRIPTION,
        provenance=PROVENANCE,
    )


def training() -> list[TrainingStudy]:
    """The 2,069 training studies, in the split's own order.

    Raises:
        BenchmarkError: The package with the reports is not installed; the message says how to get it.
    """
    reports = openi.read_reports(openi.archive_path())
    chosen = ((entry.study_id, reports[entry.xml_number]) for entry in split() if entry.split == "train")
    return [TrainingStudy(study_id, r.findings, r.impression, r.indication) for study_id, r in chosen]


def _test_studies(reports: Mapping[int, openi.OpenIReport]) -> Iterator[BenchmarkStudy]:
    for entry in split():
        if entry.split == "test":
            report = reports[entry.xml_number]
            # R2Gen kept two images of each study and named them 0.png and 1.png; ReXrank kept those names.
            images = tuple(f"{entry.study_id}/{index}.png" for index in range(2))
            yield BenchmarkStudy(
                study_id=entry.study_id,
                findings=report.findings,
                impression=report.impression,
                indication=report.indication,
                comparison=report.comparison,
                image_path=images,
                key_image_path=images[entry.key_image or 0],
                labels=labels(report.majors),
            )


def labels(majors: Sequence[str]) -> dict[str, int]:
    """What the indexers found in a study: ``normal``, then each finding, to 1 or 0.

    Args:
        majors: Their terms. Those that they gave no finding, for want of an image or of words, are not normal either.
    """
    headings = {term.partition("/")[0].strip() for term in majors}
    found = {name: int(not headings.isdisjoint(known)) for name, known in LABEL_HEADINGS.items()}
    return {_NORMAL: int(any(heading.lower() == _NORMAL for heading in headings)), **found}
