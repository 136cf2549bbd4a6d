"""Blind floors: predictions made without seeing an image, from the training split alone.

A system that does not clearly beat them has learnt the style of the reports, not the images. There is one text for
every study (the best constant, the most frequent report), a random report for each, and the report of the training
study whose indication, or any other text of its context, is most similar.
"""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rexrank.benchmarks.benchmark import Benchmark, BenchmarkError, TrainingStudy
from rexrank.benchmarks.constants import best_constant, most_frequent
from rexrank.benchmarks.nearest import context_fields, nearest, nearest_other
from rexrank.scoring.table import counted

SEED = 0
INDICATION = "indication"
CONSTANT, FREQUENT, RANDOM = "constant report", "most frequent report", "random report"
_NEAREST = "nearest "
_COMPARISONS = ("Comparison:", "COMPARISON:")
# What `rexrank up` sends through the queue.
STANDARD = (CONSTANT, RANDOM, f"{_NEAREST}{INDICATION}")


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


@dataclass(frozen=True)
class Trained:
    """What a blind system knows of the training split.

    Attributes:
        track: Which text it predicts.
        texts: Text of each training study that has one.
        fields: Fields of the context of each, by name.
        constant: The one text for every study where a rule of its own finds none.
        n_chosen_on: Training texts by which the constant was chosen; None for all of them.
    """

    track: str
    texts: tuple[str, ...]
    fields: tuple[Mapping[str, str], ...]
    constant: str
    n_chosen_on: int | None = None

    @classmethod
    def of(cls, training: Sequence[TrainingStudy], track: str, constant: str | None = None) -> "Trained":
        """The training studies that have a text for the track.

        Args:
            training: The training studies.
            track: ``findings``, ``impression`` or ``report``.
            constant: The text for every study; None for that with the best mean BLEU-2.

        Raises:
            BenchmarkError: None has a text for the track.
        """
        usable = [(study, text) for study in training if (text := study.text(track))]
        if not usable:
            raise BenchmarkError(f"no training study has a text for the track {track}; give a file of training reports")
        texts = tuple(text for _, text in usable)
        fields = tuple(fields_of(study.indication) for study, _ in usable)
        return cls(track, texts, fields, best_constant(texts) if constant is None else constant)

    @property
    def field_names(self) -> list[str]:
        """Fields that any training study has, by how many have them."""
        counts: dict[str, int] = {}
        for fields in self.fields:
            for name in fields:
                counts[name] = counts.get(name, 0) + 1
        return sorted(counts, key=lambda name: (-counts[name], name))

    def predict(self, kind: str, fields: Sequence[Mapping[str, str]]) -> tuple[list[str], str]:
        """What a floor says of other studies.

        Args:
            kind: ``constant report``, ``most frequent report``, ``random report``, or ``nearest FIELD``.
            fields: Fields of the context of each study, see `rexrank.benchmarks.nearest.context_fields`.

        Returns:
            A text a study, and in words how they were made.
        """
        if kind.startswith(_NEAREST):
            name = kind.removeprefix(_NEAREST)
            found = nearest([known.get(name) for known in fields], [known.get(name) for known in self.fields])
            return self._answers(found), _nearest_words(name, sum(one is None for one in found))
        if kind == RANDOM:
            return _drawn(self.texts, len(fields)), f"A training report per study, drawn with seed {SEED}."
        text, words = self._one_text(kind)
        return [text] * len(fields), words

    def predict_training(self, kind: str) -> list[str]:
        """What a floor would say of each training study, had it all others to learn from: to choose a floor by."""
        if kind.startswith(_NEAREST):
            name = kind.removeprefix(_NEAREST)
            return self._answers(nearest_other([known.get(name) for known in self.fields]))
        if kind == RANDOM:
            return _drawn_others(self.texts)
        return [self._one_text(kind)[0]] * len(self.texts)

    def _one_text(self, kind: str) -> tuple[str, str]:
        if kind == CONSTANT:
            return self.constant, _constant_words(self.track, len(self.texts), self.n_chosen_on)
        text, times = most_frequent(self.texts)
        often = f"which stands {counted(times, 'time')}"
        return text, f"The same text for every study: the most frequent training {self.track}, {often}."

    def _answers(self, found: Sequence[int | None]) -> list[str]:
        return [self.constant if place is None else self.texts[place] for place in found]


def build(
    benchmark: Benchmark,
    training: Sequence[TrainingStudy],
    track: str = "findings",
    kinds: Sequence[str] = STANDARD,
) -> list[Floor]:
    """Floors of a track; the same bytes on every machine.

    Args:
        benchmark: Gives the ids and the contexts of the test studies, and no other word of them.
        training: The training studies.
        track: ``findings``, ``impression`` or ``report``.
        kinds: Which floors, as `Trained.predict` names them.

    Raises:
        BenchmarkError: No training study has a text for the track, or the benchmark lacks the track.
    """
    if track not in benchmark.tracks or not any(study.text(track) for study in training):
        raise BenchmarkError(f"benchmark {benchmark.name} has no studies or no training texts for track {track!r}")
    studies = [study for study in benchmark.studies if study.text(track) is not None]
    contexts = {study.study_id: fields_of(study.indication) for study in studies}
    return blind(contexts, Trained.of(training, track), kinds)


def blind(contexts: Mapping[str, Mapping[str, str]], trained: Trained, kinds: Sequence[str]) -> list[Floor]:
    """Floors for studies of which only the fields of their contexts are known.

    Args:
        contexts: Study id to the fields of its context by name.
        trained: What is known of the training split.
        kinds: Which floors, as `Trained.predict` names them.
    """
    return [
        floor(kind, dict(zip(contexts, texts, strict=True)), trained.track, words)
        for kind in kinds
        for texts, words in [trained.predict(kind, list(contexts.values()))]
    ]


def floor(kind: str, predictions: dict[str, str], track: str, description: str) -> Floor:
    """A floor under the name that its kind has."""
    suffix = "" if track == "findings" else f"-{track}"
    slug = f"floor-{kind.replace(' ', '-').replace('_', '-')}{suffix}"
    return Floor(f"Floor - {kind}", slug, track, predictions, description)


def fields_of(indication: str | None) -> dict[str, str]:
    """Fields of what a training or test study has as its indication: that, or a whole context with labels.

    Returns:
        As `rexrank.benchmarks.nearest.context_fields`, with ``indication``.
    """
    found = context_fields(indication)
    # ReXrank's contexts name the comparison always, if only to say that there is none.
    is_whole_context = any(word in (indication or "") for word in _COMPARISONS)
    return found if is_whole_context or not indication else {**found, INDICATION: indication}


def _drawn(texts: Sequence[str], number: int) -> list[str]:
    draw = _uniform()
    return [texts[int(draw() * len(texts))] for _ in range(number)]


def _drawn_others(texts: Sequence[str]) -> list[str]:
    """For each text another one; itself where it is the only one."""
    draw, others = _uniform(), max(1, len(texts) - 1)
    return [texts[(place + 1 + int(draw() * others)) % len(texts)] for place in range(len(texts))]


def _uniform() -> Callable[[], float]:
    # random() is the one method whose sequence Python promises to keep for a seed.
    return random.Random(SEED).random


def _constant_words(track: str, n: int, chosen_on: int | None) -> str:
    against = f"all {n:,}" if chosen_on in (None, n) else f"{chosen_on:,} drawn from the {n:,}"
    return f"The same text for every study: the training {track} with the best mean BLEU-2 against {against} of them."


def _nearest_words(name: str, fallbacks: int) -> str:
    what = "an indication" if name == INDICATION else f"a text ({name})"
    return (
        f"The training report whose {name} is most similar by TF-IDF; the constant report for the "
        f"{counted(fallbacks, 'study')} without {what} that shares a word with the training set."
    )
