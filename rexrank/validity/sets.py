"""The studies that a score is judged on: texts, what is known of each study, and the training split."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rexrank.benchmarks import BenchmarkError, TrainingStudy
from rexrank.errors import shown
from rexrank.files import user_path
from rexrank.reports import read_references
from rexrank.reports.known import attributes_of
from rexrank.reports.reading import Source
from rexrank.reports.studies import Study
from rexrank.terms import DESCRIPTION_FILE, REFERENCE_FILE, Track


@dataclass(frozen=True)
class EvaluationSet:
    """One track of one set of studies.

    Attributes:
        name: Of the benchmark, or of the file of references.
        track: Which text is compared.
        studies: References by study id, those without a text of the track included.
        training: Studies of the training split; empty where none is known.
        attributes: Study id to what is known of the study: ``site``, ``view``, ``sex``, ``age``, ``prior`` (``yes`` or
            ``no``; absent where nobody said) and ``labels_…``.
        public: Whether ids and scores of single studies may be shown to everyone.
        references: What to give `rexrank.score` as references.
        notes: What a reader should know of the set, one sentence each.
    """

    name: str
    track: Track
    studies: Mapping[str, Study]
    training: Sequence[TrainingStudy]
    attributes: Mapping[str, Mapping[str, str]]
    public: bool
    references: Source
    notes: tuple[str, ...] = field(default=())


def open_set(
    benchmark: str | os.PathLike[str] | None = None,
    references: Source | None = None,
    training: Source | None = None,
    track: Track = "findings",
) -> EvaluationSet:
    """Open the studies that are judged on.

    Args:
        benchmark: ``iu-xray``, which is read from the installed package; or a folder that
            ``rexrank benchmark build … --out FOLDER`` made.
        references: A file of references instead, or in the place of the benchmark's.
        training: A file of training studies, in the form of references; None for the benchmark's own, where it has any.
        track: ``findings``, ``impression`` or ``report``.

    Raises:
        BenchmarkError: There is no such benchmark, or neither benchmark nor references are given.
        RefusedInput: A file cannot be read; with every fault.
    """
    own: list[TrainingStudy] = []
    # Nobody has said of a file of one's own that it is public.
    name, public, source = "references", False, references
    if benchmark is not None:
        name, public, built, own = _benchmark(benchmark)
        public = public and references is None
        source = built if references is None else references
    if source is None:
        raise BenchmarkError("name a benchmark, or a file of references")
    studies = read_references(source, track).studies
    return EvaluationSet(
        name=name if benchmark is not None else _named(source),
        track=track,
        studies=studies,
        training=own if training is None else _training(training, track),
        attributes={study_id: attributes_of(study) for study_id, study in studies.items()},
        public=public,
        references=source,
    )


def _benchmark(asked: str | os.PathLike[str]) -> tuple[str, bool, Source, list[TrainingStudy]]:
    """Name, whether it is public, references, and training studies."""
    from rexrank.benchmarks import iu_xray
    from rexrank.benchmarks.repository import table

    if asked == iu_xray.NAME:
        built = iu_xray.load()
        return built.name, built.references == "public", table(built).to_pylist(), iu_xray.training()
    folder = user_path(asked)
    if not (folder / DESCRIPTION_FILE).is_file():
        raise BenchmarkError(
            f"there is no benchmark {shown(str(asked))} here; give {iu_xray.NAME}, a folder that `rexrank benchmark "
            "build … --out FOLDER` made, or a file of references"
        )
    described = _described(folder)
    name, public = str(described.get("name")), described.get("references") == "public"
    return name, public, str(folder / REFERENCE_FILE), _known_training(name)


def _known_training(name: str) -> list[TrainingStudy]:
    """The training studies of a benchmark whose texts an installed package has; none of others."""
    from rexrank.benchmarks import iu_xray

    if name != iu_xray.NAME:
        return []
    try:
        return iu_xray.training()
    except BenchmarkError:
        return []


def _described(folder: Path) -> Mapping[str, Any]:
    import yaml

    try:
        found = yaml.safe_load((folder / DESCRIPTION_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        found = None
    if not isinstance(found, Mapping):
        raise BenchmarkError(f"{folder.name}/{DESCRIPTION_FILE} cannot be read; build the benchmark again")
    return found


def _training(source: Source, track: Track) -> list[TrainingStudy]:
    studies = read_references(source, track).studies.values()
    return [TrainingStudy(one.study_id, one.findings, one.impression, one.context, one.report) for one in studies]


def _named(source: Source) -> str:
    return Path(source).name if isinstance(source, str | os.PathLike) else "references"
