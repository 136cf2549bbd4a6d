"""Score answers to questions about images, and look into them.

FILE holds one record a question, as ReXVQA's files do: question, options,
correct_answer, category, and the model's answer as model_prediction; or the
answers alone, with the questions in a file of their own.

Prints the accuracy over all questions and over categories, how many answers
cannot be read, how often the opposite of the right answer is chosen, whether a
question and its negation get the same answer, and which letters are chosen more
often than they are right. docs/vqa.md explains each number.

Examples:
  rexrank vqa answered.json
  rexrank vqa answers.csv --questions questions.json
  rexrank vqa answered.json --convention corrected --out card/
  rexrank vqa answered.json --json > vqa.json

Exit codes: 0 done, 1 refused input (every fault on stderr), 2 wrong usage,
3 nothing could be computed.
"""

import argparse
import sys

from rexrank.cli import DONE, NOTHING_COMPUTED
from rexrank.cli.streams import print_json
from rexrank.errors import RexrankError
from rexrank.terms import CONVENTIONS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank vqa``."""
    parser.add_argument("file", metavar="FILE", help="file or hf:// address of questions with answers, or of answers")
    parser.add_argument("--questions", metavar="FILE", help="the questions, where FILE holds the answers alone")
    parser.add_argument(
        "--convention",
        default="published",
        choices=CONVENTIONS,
        help="how answers are read: published (default), or corrected, which reads more forms",
    )
    parser.add_argument("--out", metavar="DIR", help="also write a score card, card.json and per_study.parquet")
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else, on stdout")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Score and print.

    Raises:
        RefusedInput: A file cannot be scored; with every fault.
        RexrankError: The card cannot be written.
    """
    from rexrank.scoring.question_table import table
    from rexrank.scoring.questions import score_questions

    found = score_questions(arguments.file, arguments.questions, arguments.convention, progress=not arguments.quiet)
    if arguments.json:
        print_json(found.to_json())
    else:
        print(table(found))
    # Printed first, so that a folder that cannot be written does not cost the scores.
    if arguments.out:
        try:
            found.card.save(arguments.out)
        except OSError as error:
            raise RexrankError(f"{arguments.out} cannot be written: {error.strerror or 'unknown reason'}") from None
        if not arguments.quiet:
            print(f"written: {arguments.out}", file=sys.stderr)
    return DONE if found.card.summary else NOTHING_COMPUTED
