"""CheXpert Plus from the owner's files: ReXrank's JSON file, or the published table of all images.

The test set of ReXrank is the official validation split: 200 studies, of which 62 have findings.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from rexrank.benchmarks.benchmark import Benchmark, BenchmarkStudy, Licence
from rexrank.benchmarks.owned import REXRANK_NAMES, Names, OwnedFile, Published, check_owner, finished
from rexrank.files import user_path

NAME = "chexpert-plus"
SPLIT = "valid"
LICENCE = Licence(
    identifier="other",
    name="stanford-university-dataset-research-use-agreement",
    url="https://stanfordaimi.azurewebsites.net/datasets/5158c524-d3ab-4e02-96e9-6ee9efc110a1",
    terms="non-commercial research, never passed on to anybody else, no attempt to identify anyone",
    attribution=(
        "Report texts: CheXpert Plus. Chambon et al., CheXpert Plus: Augmenting a Large Chest X-ray Dataset with Text "
        "Radiology Reports, Patient Demographics and Additional Image Formats, arXiv 2405.19538."
    ),
    redistribution=False,
)
PUBLISHED = Published("ReXrank's file", {"findings": 62, "impression": 200, "report": 200})
_ID = "path_to_image"
_TABLE: Names = {
    "findings": ("section_findings",),
    "impression": ("section_impression",),
    "indication": ("section_clinical_history", "section_history"),
    "comparison": ("section_comparison",),
    "image_path": (_ID,),
    "view": ("frontal_lateral",),
    "patient_id": ("deid_patient_id",),
    "sex": ("sex",),
    "age": ("age",),
    "split": ("split",),
}
_SECTIONS = ("findings", "impression", "indication", "comparison", "patient_id")


def load(source: str | os.PathLike[str], progress: bool = False) -> Benchmark:
    """The benchmark ``chexpert-plus``: the official validation split of the owner's file.

    Args:
        source: ReXrank's ``ReXRank_CheXpertPlus.json``, or the table ``df_chexpert_plus_240401.csv``.
        progress: Whether to show a bar on stderr once two seconds have passed.

    Raises:
        RefusedInput: With every fault of the file.
    """
    is_table = user_path(source).suffix.lower() in {".csv", ".tsv", ".parquet"}
    if is_table:
        file = OwnedFile(source, _TABLE, (_ID,), SPLIT, progress)
        studies = tuple(_of_images(file))
    else:
        # ReXrank's file is this split and nothing else.
        file = OwnedFile(source, REXRANK_NAMES, progress=progress)
        studies = tuple(
            replace(study, patient_id=study.patient_id or _patient(study.study_id)) for study in file.studies()
        )
    check_owner(NAME, file, [study.study_id for study in studies])
    benchmark = Benchmark(
        name=NAME,
        title="CheXpert Plus, official validation split",
        split=SPLIT,
        studies=studies,
        licence=LICENCE,
        description=(
            "The official validation split of CheXpert Plus, which ReXrank takes as test set, built by an owner of the "
            "data. No word is changed."
        ),
        provenance="A study's id is `<patient>_<study>` of the paths of its images, as in ReXrank's file.",
        references="private",
        warnings=file.warnings(),
    )
    return finished(benchmark, file.reader.faults.problems(), file.reader.faults.file, PUBLISHED)


def _patient(study_id: str) -> str | None:
    patient, marked, _ = study_id.rpartition("_")
    return patient if marked and patient else None


def _of_images(file: OwnedFile) -> Iterator[BenchmarkStudy]:
    """One study of the rows of its images, which repeat its report."""
    of_study: dict[str, list[Mapping[str, Any]]] = {}
    for path, row in file.records().items():
        parts = PurePosixPath(path).parts
        if len(parts) < 3:
            message = "expected a path of the form split/patient/study/image"
            file.reader.faults.add("wrong_type", message, path, _ID)
            continue
        of_study.setdefault(f"{parts[-3]}_{parts[-2]}", []).append({**row, _ID: path})
    for study_id, rows in of_study.items():
        images = [file.study(study_id, row) for row in rows]
        for name in _SECTIONS:
            if len({getattr(image, name) for image in images}) > 1:
                message = f"its {len(rows)} rows differ in it; the rows of one study repeat its report"
                file.reader.faults.add("duplicate_key", message, study_id, _TABLE[name][0])
        first = images[0]
        yield replace(
            first,
            image_path=tuple(path for image in images for path in image.image_path),
            view=tuple(view for image in images for view in image.view or ("",)),
            patient_id=first.patient_id or _patient(study_id),
        )
