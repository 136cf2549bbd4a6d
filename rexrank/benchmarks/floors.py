"""Blind floors: predictions made without seeing an image, from the training split alone.

A system that does not clearly beat them has learnt the style of the reports, not the images.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

from rexrank.benchmarks.benchmark import Benchmark, BenchmarkError, TrainingStudy
from rexrank.benchmarks.constants import best_constant
from rexrank.benchmarks.nearest import nearest

SEED = 0


@dataclass(frozen=True)
class Floor:
    """One blind floor for one track of a benchmark.

    Attributes:
        name: What the board shows.
        slug: Last part of its repo's name.
        track: Which text it predicts.
        predictions: Text by study id, in the benchmark's order.
        description: How it was made, one or two sentences.
    """

    name: str
    slug: str
    track: str
    predictions: dict[str, str]
    description: str

    def prediction_file(self) -> bytes:
        """The predictions as JSON lines of ``study_id`` and ``prediction``, UTF-8."""
        rows = ({"study_id": study, "prediction": text} for study, text in self.predictions.items())
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def build(benchmark: Benchmark, training: Sequence[TrainingStudy], track: str = "findings") -> list[Floor]:
    """The three floors of a track; the same bytes on every machine.

    Args:
        benchmark: Gives the ids and the indications of the test studies, and no other word of them.
        training: The training studies.
        track: ``findings``, ``impression`` or ``report``.

    Raises:
        BenchmarkError: No training study has a text for the track, or the benchmark lacks the track.
    """
    usable = [(study.indication, text) for study in training if (text := study.text(track))]
    if track not in benchmark.tracks or not usable:
        raise BenchmarkError(f"benchmark {benchmark.name} has no studies or no training texts for track {track!r}")
    texts = [text for _, text in usable]
    studies = [study for study in benchmark.studies if study.text(track) is not None]
    constant = best_constant(texts)
    generator = random.Random(SEED)
    # random() is the one method whose sequence Python promises to keep for a seed.
    drawn = [texts[int(generator.random() * len(texts))] for _ in studies]
    neighbours = nearest([study.indication for study in studies], [indication for indication, _ in usable])
    alike = [constant if found is None else texts[found] for found in neighbours]
    fallbacks = sum(found is None for found in neighbours)
    kinds = [
        ("constant report", [constant] * len(studies), _constant_words(track, len(texts))),
        ("random report", drawn, f"A training report per study, drawn with seed {SEED}."),
        ("nearest indication", alike, _nearest_words(fallbacks)),
    ]
    suffix = "" if track == "findings" else f"-{track}"
    return [
        Floor(
            name=f"Floor - {kind}",
            slug=f"floor-{kind.replace(' ', '-')}{suffix}",
            track=track,
            predictions={study.study_id: text for study, text in zip(studies, predictions, strict=True)},
            description=description,
        )
        for kind, predictions, description in kinds
    ]


def _constant_words(track: str, n: int) -> str:
    return f"The same text for every study: the training {track} with the best mean BLEU-2 against all {n:,} of them."


def _nearest_words(fallbacks: int) -> str:
    return (
        "The training report whose indication is most similar by TF-IDF; the constant report for the "
        f"{fallbacks} studies without an indication that shares a word with the training set."
    )
