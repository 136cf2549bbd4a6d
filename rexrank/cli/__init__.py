"""The command line: ``rexrank <command>``, one file a command.

A command's file holds ``add_arguments(parser)`` and ``run(arguments) -> int``.
Only the file of the command that was asked for is imported.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from importlib import import_module

from rexrank import __version__
from rexrank.cli.streams import discard_stdout, prepare_streams
from rexrank.environment import prepare_libraries, use_local_hub
from rexrank.errors import RefusedInput, RexrankError
from rexrank.reports.problems import Unlisted

DONE, REFUSED, WRONG_USAGE, NOTHING_COMPUTED = 0, 1, 2, 3

COMMANDS = {
    "score": "score a file of predictions and print a score card",
    "validate": "check a file of predictions without scoring it",
    "metrics": "list the metrics and what each needs",
    "weights": "list the checkpoints that metrics need, and fetch them",
    "audit": "make one page that says what the scores of a file mean",
    "compare": "say which of several score cards is better, and how sure",
    "analyse": "make one page of score cards: spread, ranks, agreement",
    "floor": "build the blind floors of a benchmark and score them",
    "strata": "score groups of studies: normal and abnormal, by finding …",
    "stress": "edit reports on purpose and see which metrics notice",
    "reliance": "measure whether a model's reports depend on its images",
    "ceiling": "score one radiologist's report against another's",
    "agree": "measure how well metrics agree with radiologists",
    "vqa": "score answers to questions about images",
    "published": "show the published tables, ranked and checked",
    "submit": "send predictions to the queue of a Hub",
    "benchmark": "build a benchmark's test set and push it to a Hub",
    "up": "run a Hub, the backend and the board on this machine",
    "hub": "serve a Hub of your own and manage its users",
    "verify": "compare with the original packages, number by number",
    "modules": "publish the evaluate modules to a Hub",
}

# These bring a Hub of their own or want the public one; the others use that of a running `rexrank up` where the
# environment names none.
OWN_HUB = frozenset({"up", "hub", "weights"})
SHOWN_OF_A_KIND = 20

EXAMPLES = """Examples:
  rexrank score predictions.csv --references references.json
  rexrank validate predictions.csv --references references.json
  rexrank submit predictions.csv --benchmark iu-xray --track findings
  rexrank up

`rexrank COMMAND --help` says what a command takes.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: Words after the program's name; those of the process by default.

    Returns:
        0 done, 1 refused input, 2 wrong usage, 3 nothing could be computed.
    """
    prepare_streams()
    prepare_libraries()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        arguments = _parser(words).parse_args(words)
    except RexrankError as error:
        # A setting of the environment that is a command's default.
        print(f"rexrank: {error}", file=sys.stderr)
        return WRONG_USAGE
    except KeyboardInterrupt:  # Importing a command takes long enough to be interrupted.
        print("rexrank: stopped", file=sys.stderr)
        return 130
    try:
        if words[0] not in OWN_HUB:
            use_local_hub()
        code = int(arguments.run(arguments))
        sys.stdout.flush()
        return code
    except RefusedInput as refused:
        print_problems(refused)
        return REFUSED
    except RexrankError as error:
        silent = getattr(error, "code", None) == "hub_unavailable"
        next_step = "; `rexrank up` starts a Hub here, HF_ENDPOINT names another" if silent else ""
        print(f"rexrank: {error}{next_step}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("rexrank: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        discard_stdout()
        return DONE
    except OSError as error:
        discard_stdout()
        place = f"{error.filename}: " if error.filename else ""
        print(f"rexrank: {place}{error.strerror or type(error).__name__}", file=sys.stderr)
        return REFUSED


def print_problems(refused: RefusedInput) -> None:
    """Every fault on its own line of stderr; of many of one kind the first ones and their number."""
    printed: Counter[str] = Counter()
    hidden: Counter[str] = Counter()
    for problem in refused.problems:
        if printed[problem.code] < SHOWN_OF_A_KIND and not isinstance(problem, Unlisted):
            printed[problem.code] += 1
            print(f"refused: {problem.code}: {problem}", file=sys.stderr)
        else:
            hidden[problem.code] += problem.number if isinstance(problem, Unlisted) else 1
    for code, count in hidden.items():
        print(f"refused: {code}: and {count:,} more of this kind", file=sys.stderr)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rexrank",
        description="Score AI-written radiology reports; run a submission queue and a leaderboard.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rexrank {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        module = import_module(f"rexrank.cli.{name}") if name == asked else None
        command = subparsers.add_parser(
            name,
            help=summary,
            description=module.__doc__ if module else summary,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if module:
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser
