"""Compare systems on the same studies: which is better, and how sure that is.

A card is a folder that `rexrank score … --out DIR` wrote. The first one is the
baseline. Cards must be of the same references, protocol, track, convention and
text preparation; others are refused with the reason and the way out.

The table has the difference with its interval, p, p corrected for the number of
systems (Holm), wins, ties and losses by study, effect sizes, and the smallest
difference that so many studies can show. The last line is a sentence to quote.
docs/compare.md explains each number.

Examples:
  rexrank compare baseline/ mine/
  rexrank compare baseline/ mine/ theirs/ --keys bleu2,radcliq_v1
  rexrank compare a/ b/ --baseline b --test bootstrap
  rexrank compare a/ b/ --names old,new --markdown > table.md
  rexrank compare a/ b/ --json > comparison.json
  rexrank compare a/ b/ --keys bleu2 --plot differences.svg
  rexrank compare a/ b/ --studies 2000

Exit codes: 0 done, 1 refused (cards that cannot be read, or may not be
compared), 2 wrong usage, 3 nothing could be compared.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from rexrank.cli import DONE, NOTHING_COMPUTED, WRONG_USAGE
from rexrank.cli.cards import add_draws, add_output, draw, folder_of, show, system_names, words_of

if TYPE_CHECKING:
    from rexrank.comparison.compare import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank compare``."""
    parser.add_argument("cards", metavar="CARD", nargs="+", help="folder of a score card; at least two")
    parser.add_argument(
        "--baseline", metavar="NAME", help="card that the others are compared with (default: the first)"
    )
    parser.add_argument("--names", metavar="A,B", help="what the cards are called (default: their folders' names)")
    parser.add_argument(
        "--keys",
        metavar="A,B",
        help="score keys or metric names, the one to quote first (default: every score that judges quality and that "
        "both cards have, the protocol's ranking keys first)",
    )
    parser.add_argument(
        "--test",
        default="randomisation",
        metavar="T",
        choices=("randomisation", "bootstrap"),
        help="randomisation (default) or bootstrap",
    )
    parser.add_argument(
        "--family",
        default="models",
        metavar="F",
        choices=("models", "table"),
        help="tests that Holm's correction counts together: of all systems in one score (models, default), or of the "
        "whole table",
    )
    parser.add_argument("--studies", metavar="N", type=int, help="also say which difference so many studies could show")
    add_draws(parser)
    add_output(parser, "the differences in the first score")


def run(arguments: argparse.Namespace) -> int:
    """Read, compare and print.

    Raises:
        CardsDiffer: The cards may not be compared.
        RexrankError: A card cannot be read, or the picture cannot be drawn or written.
    """
    from rexrank.comparison.compare import compare
    from rexrank.comparison.tables import markdown, picture, table
    from rexrank.metrics import InvalidCall
    from rexrank.scoring.card import ScoreCard
    from rexrank.statistics import InvalidStatistics

    try:
        folders = [folder_of(card) for card in arguments.cards]
        names = system_names(arguments.names, folders)
        settings = _settings(arguments)
        cards = dict(zip(names, map(ScoreCard.load, folders), strict=True))
        found = compare(cards, arguments.baseline, words_of(arguments.keys), settings, progress=not arguments.quiet)
    except (InvalidCall, InvalidStatistics) as error:
        print(f"rexrank compare: {error}", file=sys.stderr)
        return WRONG_USAGE
    show(found, arguments, table, markdown)
    if not found.rows:
        return NOTHING_COMPUTED
    # Printed first, so that a picture that cannot be drawn does not cost the numbers.
    if arguments.plot:
        draw(lambda: picture(found), arguments.plot, arguments.quiet)
    return DONE


def _settings(arguments: argparse.Namespace) -> "Settings":
    from rexrank.comparison.compare import Settings

    return Settings(
        test=arguments.test,
        resamples=arguments.resamples,
        seed=arguments.seed,
        confidence=arguments.confidence,
        family=arguments.family,
        planned=arguments.studies,
    )
