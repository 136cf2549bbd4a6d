"""Measure whether a model's reports depend on its images.

Let the model report the same studies with their own images (RIGHT), each with
the image of another study (SHUFFLED), and with a blank image (BLANK). Where its
scores stay the same, there is no sign that it looks at the image; reports that
are made without the image differ by exactly 0.

Give three files of predictions, which are scored against the references; or
three folders that `rexrank score … --out DIR` wrote, which need none. Shuffle
so that no study keeps its own image. docs/reliance.md explains each number.

Examples:
  rexrank reliance right.csv shuffled.csv blank.csv --references refs.json
  rexrank reliance right.csv shuffled.csv --benchmark iu-xray --metrics bleu2
  rexrank reliance right.csv blank.csv --other blank --references refs.json
  rexrank reliance right/ shuffled/ blank/ --json

Exit codes: 0 done, 1 refused (files or cards that cannot be read, or may not be
compared), 2 wrong usage, 3 nothing could be compared.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rexrank.cli import DONE, NOTHING_COMPUTED, WRONG_USAGE
from rexrank.cli.cards import add_draws, add_encoders, add_output, folder_of, show, words_of

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard
    from rexrank.terms import Track
    from rexrank.validity.reliance import Reliance

_CARD = "card.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank reliance``."""
    parser.add_argument("right", metavar="RIGHT", help="file of predictions, or folder of a card: right images")
    parser.add_argument("other", metavar="SHUFFLED", help="the same with images of other studies")
    parser.add_argument("blank", metavar="BLANK", nargs="?", help="the same with blank images")
    parser.add_argument(
        "--other",
        dest="kind",
        metavar="KIND",
        choices=("shuffled", "blank"),
        default="shuffled",
        help="what the second file is: shuffled (default) or blank",
    )
    parser.add_argument("--references", metavar="FILE", help="file of references that files are scored against")
    parser.add_argument(
        "--benchmark", metavar="B", help="iu-xray, or a folder that `rexrank benchmark build` made, instead"
    )
    parser.add_argument("--protocol", default="rexrank", metavar="P", help="rule book of scores (default: rexrank)")
    parser.add_argument(
        "--track", default="findings", metavar="T", help="text compared: findings (default), impression or report"
    )
    parser.add_argument(
        "--metrics", metavar="A,B", help="score keys or metric names to compute (default: the protocol's)"
    )
    add_encoders(parser, weights=False)
    parser.add_argument(
        "--keys",
        metavar="A,B",
        help="score keys or metric names to compare, the one to quote first (default: every score that judges "
        "quality, the protocol's ranking keys first)",
    )
    add_draws(parser)
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Score where files were given, compare and print.

    Raises:
        RexrankError: Files or cards cannot be read, or may not be compared.
    """
    from rexrank.encoders.devices import UnknownDevice
    from rexrank.metrics import InvalidCall
    from rexrank.protocols import UnknownProtocol
    from rexrank.statistics import InvalidStatistics
    from rexrank.validity.reliance_tables import markdown, table

    try:
        found = _found(arguments)
    except (InvalidCall, InvalidStatistics, UnknownDevice, UnknownProtocol) as error:
        print(f"rexrank reliance: {error}", file=sys.stderr)
        return WRONG_USAGE
    show(found, arguments, table, markdown)
    return DONE if found.rows else NOTHING_COMPUTED


def _found(arguments: argparse.Namespace) -> "Reliance":
    from rexrank.comparison.compare import Settings
    from rexrank.metrics import InvalidCall
    from rexrank.validity.reliance import reliance

    given = {"right": arguments.right, arguments.kind: arguments.other}
    if arguments.blank is not None:
        if arguments.kind == "blank":
            raise InvalidCall("with --other blank there are two files; leave the third one out")
        given["blank"] = arguments.blank
    are_cards = {_is_card(one) for one in given.values()}
    if len(are_cards) > 1:
        raise InvalidCall("give files of predictions, or folders of score cards, and not both")
    settings = Settings(resamples=arguments.resamples, seed=arguments.seed, confidence=arguments.confidence)
    cards, same = _loaded(given) if are_cards.pop() else _scored(given, arguments)
    return reliance(
        cards["right"],
        cards.get("shuffled"),
        cards.get("blank"),
        words_of(arguments.keys),
        settings,
        same,
        progress=not arguments.quiet,
    )


def _is_card(given: str) -> bool:
    return Path(given).name == _CARD or Path(given).is_dir()


def _loaded(given: dict[str, str]) -> "tuple[dict[str, ScoreCard], dict[str, float]]":
    from rexrank.scoring.card import ScoreCard

    return {name: ScoreCard.load(folder_of(card)) for name, card in given.items()}, {}


def _scored(given: dict[str, str], arguments: argparse.Namespace) -> "tuple[dict[str, ScoreCard], dict[str, float]]":
    """A card of each file, and the share of studies whose report is the same as with the right image."""
    from rexrank.metrics import InvalidCall
    from rexrank.metrics.inputs import check_choice
    from rexrank.reports import read_predictions
    from rexrank.scoring.score import score
    from rexrank.terms import TRACKS
    from rexrank.validity.reliance import same_share
    from rexrank.validity.sets import open_set

    if arguments.references is None and arguments.benchmark is None:
        raise InvalidCall("name the --references that the files are scored against, or their --benchmark")
    track = cast("Track", check_choice("track", arguments.track, TRACKS))
    known = open_set(arguments.benchmark, arguments.references, track=track)
    cards = {
        name: score(
            file,
            known.references,
            protocol=arguments.protocol,
            track=track,
            metrics=words_of(arguments.metrics),
            device=arguments.device,
            download=not arguments.no_download,
            progress=not arguments.quiet,
        )
        for name, file in given.items()
    }
    texts = {name: _of_studies(read_predictions(file).texts, cards[name]) for name, file in given.items()}
    same = {name: same_share(texts["right"], texts[name]) for name in given if name != "right"}
    return cards, same


def _of_studies(texts: Mapping[str, str], card: "ScoreCard") -> dict[str, str]:
    """The reports that were scored."""
    return {study_id: texts[study_id] for study_id in card.per_study.column("study_id").to_pylist()}
