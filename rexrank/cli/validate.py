"""Check a file of predictions against references without scoring it.

Every fault is named at once, with its code, file, study and field; no report
text is shown.

Examples:
  rexrank validate predictions.csv --references references.json
  rexrank validate predictions.json --references references.json --track report
  rexrank validate predictions.csv --references hf://datasets/rexrank/iu-xray
  rexrank validate p.json --references r.json --json

Exit codes: 0 no fault, 1 refused (every fault on stderr), 2 wrong usage.
"""

import argparse
from dataclasses import asdict

from rexrank.cli import DONE, REFUSED, print_problems
from rexrank.cli.cards import add_track
from rexrank.cli.streams import print_json
from rexrank.errors import RefusedInput
from rexrank.reports.validation import read_pair


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank validate``."""
    parser.add_argument("predictions", metavar="PREDICTIONS", help="file or hf:// address of the model's texts")
    parser.add_argument("--references", required=True, metavar="REFS", help="file or hf:// address of the references")
    add_track(parser)
    parser.add_argument(
        "--json", action="store_true", help="print the faults as a JSON list, and nothing else, on stdout"
    )


def run(arguments: argparse.Namespace) -> int:
    """Check and print."""
    try:
        predictions, references = read_pair(arguments.predictions, arguments.references, arguments.track)
    except RefusedInput as refused:
        if arguments.json:
            print_json([asdict(problem) for problem in refused.problems])
        print_problems(refused)
        return REFUSED
    if arguments.json:
        print("[]")
        return DONE
    n = sum(study.has(arguments.track) for study in references.studies.values())
    left_out = len(references) - n
    studies = "its only study" if n == 1 else f"all {n:,} studies"
    also = f"; {left_out:,} more {'has' if left_out == 1 else 'have'} no text for this track" if left_out else ""
    print(f"no fault: {predictions.source} covers {studies} of the track {arguments.track}{also}")
    return DONE
