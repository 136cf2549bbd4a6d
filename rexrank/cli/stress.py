"""Edit reports on purpose and see which scores notice.

Every report is edited in one place and everywhere: harmful edits change what it
says (left for right, a "no" deleted, a finding left out …), harmless ones only
how it says it (other words, capitals, a slip of the pen …). Each edited report
is scored against itself as it was. A score that means something ranks harmful
edits below harmless ones of the same size. docs/stress.md explains the edits,
their error rates and every number.

The reports are invented ones unless --reports or --benchmark names others. No
report text is printed or written.

Examples:
  rexrank stress
  rexrank stress --metrics bleu2,rouge_l,f1labels_micro_14 --n 50
  rexrank stress --metrics radgraph,bertscore --n 50 --device cuda
  rexrank stress --benchmark iu-xray --n 200 --json > stress.json
  rexrank stress --reports references.json --markdown --plot stress.svg

Exit codes: 0 done, 1 refused (reports that cannot be read, or too few), 2 wrong
usage, 3 no score could be stressed.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from rexrank.cli import DONE, NOTHING_COMPUTED, WRONG_USAGE
from rexrank.cli.cards import add_encoders, add_output, add_track, draw, show
from rexrank.terms import CONVENTIONS

if TYPE_CHECKING:
    from rexrank.validity.stress import Stress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank stress``."""
    parser.add_argument(
        "--metrics",
        metavar="A,B",
        help="score keys or metric names, or 'all' (default: the first score of every metric that reads texts alone)",
    )
    reports = parser.add_mutually_exclusive_group()
    reports.add_argument("--reports", metavar="FILE", help="references whose texts are edited")
    reports.add_argument(
        "--benchmark", metavar="B", help="iu-xray, or the folder of a benchmark, to edit its references"
    )
    add_track(parser, "edited")
    parser.add_argument("--n", metavar="N", type=int, default=200, help="reports at most, drawn (default: 200)")
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="seed of reports, edits and draws (default: 0)"
    )
    parser.add_argument(
        "--convention", default="published", choices=CONVENTIONS, help="of the scores (default: published)"
    )
    parser.add_argument(
        "--resamples", metavar="N", type=int, default=2000, help="resamples of the intervals (default: 2000)"
    )
    add_encoders(parser)
    add_output(parser, "edits by scores")


def run(arguments: argparse.Namespace) -> int:
    """Edit, score and print.

    Raises:
        RexrankError: Reports that cannot be read, too few of them, or a picture that cannot be drawn or written.
    """
    from rexrank.metrics import InvalidCall
    from rexrank.statistics import InvalidStatistics
    from rexrank.validity.stress_tables import markdown, picture, table

    try:
        found = _stressed(arguments)
    except (InvalidCall, InvalidStatistics) as error:
        print(f"rexrank stress: {error}", file=sys.stderr)
        return WRONG_USAGE
    show(found, arguments, table, markdown)
    if not found.scores:
        return NOTHING_COMPUTED
    # Printed first, so that a picture that cannot be drawn does not cost the numbers.
    if arguments.plot:
        draw(lambda: picture(found), arguments.plot, arguments.quiet)
    return DONE


def _stressed(arguments: argparse.Namespace) -> "Stress":
    from rexrank.scoring.scope import Scope
    from rexrank.validity.stress import stress
    from rexrank.validity.stress_reports import chosen

    scope = Scope.of(None, None, arguments.benchmark or arguments.reports)
    texts, source = chosen(arguments.benchmark, arguments.reports, arguments.track, arguments.n, arguments.seed)
    return stress(
        texts,
        arguments.metrics,
        arguments.seed,
        arguments.convention,
        source,
        arguments.resamples,
        progress=not arguments.quiet,
        modality=scope.modality,
        language=scope.language,
        device=arguments.device,
        weights=arguments.weights,
        download=not arguments.no_download,
    )
