"""MIMIC-CXR from the owner's files: ReXrank's JSON file, or PhysioNet's split with the sectioned reports.

Sections: ``mimic_cxr_sectioned.csv``, which MIT-LCP's script ``create_section_files.py`` makes of the reports.
Split: ``mimic-cxr-2.0.0-split.csv``. Numbers: ReXrank's file, the official test split where it has findings.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from rexrank.benchmarks.benchmark import Benchmark, BenchmarkStudy, Licence, WrongCall
from rexrank.benchmarks.owned import REXRANK_NAMES, Names, OwnedFile, Published, check_owner, finished
from rexrank.files import user_path

NAME = "mimic-cxr"
LICENCE = Licence(
    identifier="other",
    name="physionet-credentialed-health-data-license-1.5.0",
    url="https://physionet.org/content/mimic-cxr/view-license/2.1.0/",
    terms="credentialed users only, never passed on to anybody else, no attempt to identify anyone",
    attribution=(
        "Report texts: MIMIC-CXR. Johnson et al., MIMIC-CXR, a de-identified publicly available database of chest "
        "radiographs with free-text reports, Scientific Data 2019, doi 10.1038/s41597-019-0322-0."
    ),
    redistribution=False,
)
PUBLISHED = Published(
    "ReXrank's file, which holds the test studies with findings", {"findings": 2_347, "impression": 1_624}, patients=289
)
_SECTIONED: Names = {
    "findings": ("findings",),
    "impression": ("impression",),
    "comparison": ("comparison",),
    # Not in the file of sections, but taken from the split.
    "image_path": ("image_path",),
    "patient_id": ("subject_id",),
}
_IMAGES: Names = {"split": ("split",), "study": ("study_id",), "patient_id": ("subject_id",)}


def load(
    source: str | os.PathLike[str], splits: str | os.PathLike[str] | None = None, progress: bool = False
) -> Benchmark:
    """The benchmark ``mimic-cxr``: the test split of the owner's files.

    Args:
        source: ReXrank's ``ReXRank_MIMICCXR_test.json``, or ``mimic_cxr_sectioned.csv`` together with `splits`.
        splits: ``mimic-cxr-2.0.0-split.csv``, which names split, patient and images of each study.
        progress: Whether to show a bar on stderr once two seconds have passed.

    Raises:
        RefusedInput: With every fault of the files.
        WrongCall: The sectioned reports were given without the split.
    """
    path = user_path(source)
    if splits is None and path.suffix.lower() == ".csv" and path.is_file():
        raise WrongCall(
            "the sectioned reports of MIMIC-CXR name neither split nor patient; give mimic-cxr-2.0.0-split.csv as well "
            "(--splits)"
        )
    names = REXRANK_NAMES if splits is None else _SECTIONED
    file = OwnedFile(source, names, ("study_id", "study"), "test", progress)
    images = None if splits is None else OwnedFile(splits, _IMAGES, ("dicom_id",), "test", progress)
    studies = tuple(file.studies() if images is None else _of_split(file, images))
    check_owner(NAME, file, [study.study_id for study in studies])
    problems = [*file.reader.faults.problems(), *(images.reader.faults.problems() if images else ())]
    benchmark = Benchmark(
        name=NAME,
        title="MIMIC-CXR, official test split",
        split="test",
        studies=studies,
        licence=LICENCE,
        description="The official test split of MIMIC-CXR, built by an owner of the data. No word is changed.",
        provenance="Ids of studies and patients are those of MIMIC-CXR, without the letters before them.",
        references="private",
        warnings=file.warnings(),
    )
    return finished(benchmark, problems, file.reader.faults.file, PUBLISHED)


def _of_split(file: OwnedFile, images: OwnedFile) -> Iterator[BenchmarkStudy]:
    """Studies of the split in its order, with their sections."""
    sections, of_study = _sections(file), _images_of_studies(images)
    if not (file.is_joinable and images.is_joinable):
        return
    if sections and of_study and sections.keys().isdisjoint(of_study):
        message = f"none of its {len(sections):,} studies is among the {len(of_study):,} of the test split"
        file.reader.faults.add("missing_ids", message, field="study")
        return
    for study_id, rows in of_study.items():
        patients = {images.word(dicom_id, row, "patient_id") for dicom_id, row in rows}
        patient = next(iter(patients))
        if patient is None or len(patients) > 1:
            message = "its rows name no patient, or more than one; an image belongs to one study of one patient"
            images.reader.faults.add("wrong_type", message, study_id, "subject_id")
            continue
        if study_id not in sections:
            message = "a study of the test split is not among the sectioned reports; make that file anew"
            file.reader.faults.add("missing_ids", message, study_id)
            continue
        folder = f"/p{patient[:2]}/p{patient}/s{study_id}"
        record = {
            **sections[study_id],
            "image_path": [f"{folder}/{dicom_id}.jpg" for dicom_id, _ in rows],
            "subject_id": patient,
        }
        yield file.study(study_id, record)


def _sections(file: OwnedFile) -> dict[str, Mapping[str, Any]]:
    """Records of sections by the study's number."""
    sections: dict[str, Mapping[str, Any]] = {}
    for written, record in file.records().items():
        study_id = written.removeprefix("s")
        if study_id in sections:
            file.reader.faults.add("duplicate_key", "the study stands there with and without the letter s", study_id)
        sections[study_id] = record
    return sections


def _images_of_studies(images: OwnedFile) -> dict[str, list[tuple[str, Mapping[str, Any]]]]:
    """Id and row of each study's images."""
    of_study: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for dicom_id, row in images.records().items():
        if named := images.word(dicom_id, row, "study"):
            of_study.setdefault(named, []).append((dicom_id, row))
        else:
            images.reader.faults.add("wrong_type", "it has no study id", dicom_id, "study_id")
    return of_study
