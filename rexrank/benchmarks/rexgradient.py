"""ReXGradient from the owner's files: the metadata of ReXGradient-160K, or ReXrank's JSON form.

Public test split of ReXGradient-160K: 10,000 studies of 6,807 patients (Zhang et al., arXiv 2505.00228, and its data
card). ReXrank's own 10,000 studies are private and held by its organisers.
"""

import os
from dataclasses import replace

from rexrank.benchmarks.benchmark import Benchmark, Licence
from rexrank.benchmarks.owned import REXRANK_NAMES, Names, OwnedFile, Published, check_owner, finished

NAME = "rexgradient"
LICENCE = Licence(
    identifier="other",
    name="rexgradient-160k-non-commercial-data-access-and-use-agreement",
    url="https://huggingface.co/datasets/rajpurkarlab/ReXGradient-160K",
    terms="non-commercial research, never passed on to anybody else, no attempt to identify anyone",
    attribution=(
        "Report texts: ReXGradient-160K. Zhang et al., ReXGradient-160K: A Large-Scale Publicly Available Dataset of "
        "Chest Radiographs with Free-text Reports, arXiv 2505.00228."
    ),
    redistribution=False,
)
PUBLISHED = Published("the public test split of ReXGradient-160K (arXiv 2505.00228)", {"report": 10_000}, 6_807)
_OWN: Names = {
    "findings": ("Findings",),
    "impression": ("Impression",),
    "indication": ("Indication",),
    "comparison": ("Comparison",),
    "image_path": ("ImagePath",),
    "view": ("ImageViewPosition",),
    "patient_id": ("PatientID",),
    "site": ("InstitutionName",),
    "sex": ("PatientSex",),
    "age": ("PatientAge",),
}
_NAMES: Names = {what: (*_OWN.get(what, ()), *REXRANK_NAMES.get(what, ())) for what in {**_OWN, **REXRANK_NAMES}}


def load(source: str | os.PathLike[str], progress: bool = False) -> Benchmark:
    """The benchmark ``rexgradient``: the test split of the owner's file.

    Args:
        source: ``test_metadata_view_position.json`` or ``test_metadata.json`` of ReXGradient-160K, ReXrank's JSON form,
            or a table with the same fields and a column ``id`` or ``study_id``.
        progress: Whether to show a bar on stderr once two seconds have passed.

    Raises:
        RefusedInput: With every fault of the file.
    """
    file = OwnedFile(source, _NAMES, ("study_id", "id"), "test", progress)
    studies = []
    for study in file.studies():
        # Paths are written as seen from the folder of the metadata.
        images = tuple(image.removeprefix("../") for image in study.image_path)
        key = study.key_image_path.removeprefix("../") if study.key_image_path else None
        studies.append(replace(study, image_path=images, key_image_path=key))
    check_owner(NAME, file, [study.study_id for study in studies])
    benchmark = Benchmark(
        name=NAME,
        title="ReXGradient, test split",
        split="test",
        studies=tuple(studies),
        licence=LICENCE,
        description="A test split of ReXGradient, built by an owner of the data. No word is changed.",
        provenance="Ids of studies and patients are those of the owner's file.",
        references="private",
        warnings=file.warnings(),
    )
    return finished(benchmark, file.reader.faults.problems(), file.reader.faults.file, PUBLISHED)
