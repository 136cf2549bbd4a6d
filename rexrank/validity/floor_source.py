"""From what a reader names on the command line to floors: stored ones, one card, or a benchmark that has training."""

import os
from collections.abc import Sequence

from rexrank.benchmarks import BenchmarkError
from rexrank.errors import shown
from rexrank.files import user_path
from rexrank.reports.reading import Source
from rexrank.scoring.card import CARD_FILE, ScoreCard
from rexrank.scoring.encoding import EncoderSettings
from rexrank.scoring.progress import Progress
from rexrank.terms import DESCRIPTION_FILE, Track
from rexrank.validity.floor_store import is_stored, load, of_benchmark
from rexrank.validity.floors import Floors, build_floors
from rexrank.validity.sets import EvaluationSet, open_set

Found = Floors | ScoreCard | EvaluationSet


def find(
    asked: str | os.PathLike[str], references: Source, training: Source | None = None, track: Track = "findings"
) -> Found:
    """What was named: floors, a card, or a set of which floors have to be built.

    Args:
        asked: A folder of `rexrank floor … --out`, a score card's folder, a benchmark's folder, or ``iu-xray``.
        references: What the system is scored against; built floors are scored against the same.
        training: A file of training studies; None for the benchmark's own.
        track: Which text is compared.

    Raises:
        BenchmarkError: It is nothing of these, or a set without training studies.
        UnreadableFloors: Stored floors cannot be read.
        UnreadableCard: A card cannot be read.
        RefusedInput: References or training cannot be read.
    """
    folder = user_path(asked)
    if is_stored(folder):
        return load(folder)
    if (folder / CARD_FILE).is_file():
        return ScoreCard.load(folder)
    if is_stored(of_benchmark(folder, track)):
        return load(of_benchmark(folder, track))
    if folder.is_dir() and not (folder / DESCRIPTION_FILE).is_file():
        raise BenchmarkError(
            f"{shown(str(asked))} holds no floors, no score card and no benchmark; `rexrank floor … --out DIR` makes "
            "a folder of floors"
        )
    known = open_set(asked, references, training, track)
    if not known.training:
        raise BenchmarkError(f"no training reports of {known.name} are known here; give a file of them with --train")
    return known


def texts_of(known: EvaluationSet) -> list[str]:
    """The training texts of a set's track."""
    return [text for study in known.training if (text := study.text(known.track))]


def settled(
    found: Found, card: ScoreCard, settings: EncoderSettings | None = None, progress: bool | Progress = False
) -> Floors | ScoreCard:
    """The floors for a card; of a set they are built by the rules that the card was scored by.

    Raises:
        BenchmarkError: As in `rexrank.validity.floors.build_floors`.
    """
    if not isinstance(found, EvaluationSet):
        return found
    keys: Sequence[str] = list(card.summary)
    return build_floors(
        found,
        keys,
        f"{card.protocol}@{card.protocol_version}",
        "corrected" if card.convention == "corrected" else "published",
        settings=settings,
        progress=progress,
        text_preparation=str(card.text_preparation["option"]),
    )
