"""Measure how well one radiologist's report scores against another's.

Where studies have several references, each of them is scored against the others
of its study, as if a model had written it: the human ceiling. With predictions,
the model is scored against the same references, so against as many, and the
paired difference says whether it stands below a radiologist. Also shown is how
much the model's score of a study changes with the reference alone.

REFERENCES hold a list of texts a study: {"s1": ["…", "…"], …} in JSON.
docs/several-references.md explains each number.

Examples:
  rexrank ceiling --references references.json
  rexrank ceiling --references refs.json --predictions mine.csv --metrics bleu2
  rexrank ceiling --references refs.json --predictions mine.csv --json

Exit codes: 0 done, 1 refused (files that cannot be read, or references without
a second one for any study), 2 wrong usage, 3 nothing could be computed.
"""

import argparse
import sys
from typing import TYPE_CHECKING, cast

from rexrank.cli import DONE, NOTHING_COMPUTED, WRONG_USAGE
from rexrank.cli.cards import add_draws, add_encoders, add_output, show, words_of

if TYPE_CHECKING:
    from rexrank.terms import Convention, Track
    from rexrank.validity.ceiling import Ceiling


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--references", metavar="FILE", required=True, help="file with several references a study")
    parser.add_argument("--predictions", metavar="FILE", help="a model's reports of the same studies")
    parser.add_argument("--metrics", metavar="A,B", help="score keys or metric names (default: the protocol's)")
    parser.add_argument("--protocol", default="rexrank", metavar="P", help="rule book of scores (default: rexrank)")
    parser.add_argument(
        "--track", default="findings", metavar="T", help="text compared: findings (default), impression or report"
    )
    parser.add_argument("--convention", metavar="C", help="published or corrected (default: the protocol's)")
    parser.add_argument(
        "--several",
        metavar="RULE",
        help="what counts of several references in metrics that compare with one: best (default) or mean",
    )
    add_encoders(parser, weights=False)
    add_draws(parser)
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print.

    Raises:
        RexrankError: Files cannot be read, or hold no second reference.
    """
    from rexrank.encoders.devices import UnknownDevice
    from rexrank.metrics import InvalidCall
    from rexrank.protocols import UnknownProtocol
    from rexrank.statistics import InvalidStatistics
    from rexrank.validity.ceiling_tables import markdown, table

    try:
        found = _found(arguments)
    except (InvalidCall, InvalidStatistics, UnknownDevice, UnknownProtocol) as error:
        print(f"rexrank ceiling: {error}", file=sys.stderr)
        return WRONG_USAGE
    show(found, arguments, table, markdown)
    return DONE if found.rows else NOTHING_COMPUTED


def _found(arguments: argparse.Namespace) -> "Ceiling":
    from rexrank.metrics.inputs import check_choice
    from rexrank.terms import TRACKS
    from rexrank.validity.ceiling import ceiling

    return ceiling(
        arguments.references,
        arguments.predictions,
        metrics=words_of(arguments.metrics),
        protocol=arguments.protocol,
        track=cast("Track", check_choice("track", arguments.track, TRACKS)),
        convention=cast("Convention | None", arguments.convention),
        confidence=arguments.confidence,
        resamples=arguments.resamples,
        seed=arguments.seed,
        progress=not arguments.quiet,
        rule=arguments.several,
        device=arguments.device,
        download=not arguments.no_download,
    )
