"""Score groups of studies: normal and abnormal, by finding, site, view and more.

A card is a folder that `rexrank score … --out DIR` wrote. A file of scores
that another program computed does too: CSV, TSV or Parquet with study_id and a
column of numbers for each score. With two, the first is the baseline, and each
group is tested for a lead that is larger or smaller there than elsewhere.

Groups are named by people where the set has human labels, else by rule labels
of the references; notes below the table say which. Groups of fewer than
--min-studies studies stay hidden, and what they could be computed from too.
docs/strata.md explains each number.

Examples:
  rexrank strata mine/ --benchmark iu-xray
  rexrank strata mine/ --references references.json --by normal,length
  rexrank strata baseline/ mine/ --benchmark iu-xray --keys radcliq_v1
  rexrank strata scores.csv --benchmark iu-xray --by normal --json
  rexrank strata mine/ --benchmark iu-xray --plot strata.svg

Exit codes: 0 done, 1 refused (cards, scores or references that cannot be read,
or do not fit), 2 wrong usage, 3 nothing could be computed.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rexrank.cli import DONE, NOTHING_COMPUTED, WRONG_USAGE
from rexrank.cli.cards import add_draws, add_output, draw, folder_of, show, system_names, words_of

if TYPE_CHECKING:
    from rexrank.terms import Track
    from rexrank.validity.strata import Settings, Strata


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank strata``."""
    parser.add_argument(
        "cards", metavar="CARD", nargs="+", help="folder of a score card, or file of scores; one or two"
    )
    parser.add_argument(
        "--benchmark",
        metavar="B",
        help="iu-xray, or a folder that `rexrank benchmark build` made; says what is known of the studies",
    )
    parser.add_argument(
        "--references",
        metavar="FILE",
        help="file of references with columns such as labels_normal, site, view, sex, age, comparison",
    )
    parser.add_argument(
        "--keys",
        metavar="A,B",
        help="score keys or metric names, the one to quote first; 'all' for every score (default: the protocol's "
        "ranking keys that the cards have, else the first score; of a file all columns)",
    )
    parser.add_argument(
        "--by",
        metavar="A,B",
        help="normal, finding, site, view, prior, sex, age, length (default: all that is known)",
    )
    parser.add_argument(
        "--min-studies",
        metavar="N",
        type=int,
        help="hide groups of fewer studies (default: REXRANK_MIN_STRATUM, else 20)",
    )
    parser.add_argument(
        "--track", metavar="T", help="text compared, for files of scores: findings (default), impression or report"
    )
    parser.add_argument("--names", metavar="A,B", help="what the systems are called (default: their folders' names)")
    add_draws(parser)
    add_output(parser, "the first score by groups")


def run(arguments: argparse.Namespace) -> int:
    """Read, part, score and print.

    Raises:
        RexrankError: Cards, scores or references cannot be read or do not fit, or the picture cannot be written.
    """
    from rexrank.metrics import InvalidCall
    from rexrank.statistics import InvalidStatistics
    from rexrank.validity.strata_tables import markdown, picture, table

    try:
        found = _found(arguments)
    except (InvalidCall, InvalidStatistics) as error:
        print(f"rexrank strata: {error}", file=sys.stderr)
        return WRONG_USAGE
    show(found, arguments, table, markdown)
    if not found.rows:
        return NOTHING_COMPUTED
    # Printed first, so that a picture that cannot be drawn does not cost the numbers.
    if arguments.plot:
        draw(lambda: picture(found), arguments.plot, arguments.quiet)
    return DONE


def _found(arguments: argparse.Namespace) -> "Strata":
    from rexrank.metrics import InvalidCall
    from rexrank.validity.score_tables import is_table
    from rexrank.validity.strata import Settings

    if arguments.benchmark is None and arguments.references is None:
        raise InvalidCall("name the studies' --benchmark, or their file of --references")
    if len(arguments.cards) > 2:
        raise InvalidCall(f"expected one or two cards, got {len(arguments.cards)}")
    are_tables = {is_table(card) for card in arguments.cards}
    if len(are_tables) > 1:
        raise InvalidCall("give two score cards, or two files of scores; a card's scores are in its per_study.parquet")
    settings = Settings(arguments.min_studies, arguments.confidence, arguments.resamples, arguments.seed)
    return _of_tables(arguments, settings) if are_tables.pop() else _of_cards(arguments, settings)


def _of_tables(arguments: argparse.Namespace, settings: "Settings") -> "Strata":
    from rexrank.metrics.inputs import check_choice
    from rexrank.terms import TRACKS
    from rexrank.validity.score_tables import aligned_tables
    from rexrank.validity.sets import open_set
    from rexrank.validity.strata import strata

    track = cast("Track", check_choice("track", arguments.track or "findings", TRACKS))
    wanted = None if arguments.keys == "all" else words_of(arguments.keys)
    names = system_names(arguments.names, [str(Path(table).with_suffix("")) for table in arguments.cards])
    scored = aligned_tables(arguments.cards, wanted, names)
    known = open_set(arguments.benchmark, arguments.references, track=track)
    return strata(scored, known, by=words_of(arguments.by), settings=settings, progress=not arguments.quiet)


def _of_cards(arguments: argparse.Namespace, settings: "Settings") -> "Strata":
    from rexrank.comparison.compare import expanded
    from rexrank.metrics import InvalidCall
    from rexrank.scoring.card import ScoreCard
    from rexrank.validity.sets import open_set
    from rexrank.validity.strata import strata

    folders = [folder_of(card) for card in arguments.cards]
    names = system_names(arguments.names, folders)
    cards = dict(zip(names, map(ScoreCard.load, folders), strict=True))
    track = cards[names[0]].track
    if arguments.track not in (None, track):
        raise InvalidCall(f"track: the card is of the track {track}; leave --track out")
    asked = words_of(arguments.keys)
    keys = asked if asked is None else "all" if asked == ["all"] else expanded(asked)
    known = open_set(arguments.benchmark, arguments.references, track=cast("Track", track))
    return strata(cards, known, keys, words_of(arguments.by), settings, progress=not arguments.quiet)
