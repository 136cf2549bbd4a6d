"""Make one HTML report of score cards: ranks, spread, agreement, lengths.

A card is the folder that `rexrank score --out DIR` writes. Cards of several
benchmarks, tracks and protocols may go into one report; those that may be
compared stand side by side. A system is known by its folder's name, so that
iu/ours and mimic/ours are the same one on two benchmarks.

The report is one file. It needs no network and no script, it prints, and it
holds no report text.

Examples:
  rexrank analyse card/ --out report.html
  rexrank analyse iu/* mimic/* --out report.html
  rexrank analyse iu/* --baseline constant --out report.html
  rexrank analyse a/ b/ --names ours,theirs --out report.html
  rexrank analyse iu/* --benchmark references.json=iu-xray --out report.html
  rexrank analyse --published newest --out published.html

Exit codes: 0 done, 1 refused input, 2 wrong usage.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from rexrank.cli import DONE, WRONG_USAGE
from rexrank.cli.cards import folder_of, words_of
from rexrank.errors import RexrankError, shown
from rexrank.files import user_path, write_atomically

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

_ENDINGS = (".html", ".htm")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank analyse``."""
    parser.add_argument("cards", metavar="CARD", nargs="*", help="folder of a score card")
    parser.add_argument("--out", required=True, metavar="FILE", help="where the report is written (.html)")
    parser.add_argument("--names", metavar="A,B", type=words_of, help="names of the systems, in the order of the cards")
    parser.add_argument(
        "--baseline",
        metavar="A,B",
        type=words_of,
        default=[],
        help="names of the systems that are reference points and no models, such as blind floors",
    )
    parser.add_argument(
        "--benchmark",
        metavar="REFS=NAME",
        action="append",
        type=_pair,
        default=[],
        help="what the benchmark with these references (file name, or start of their sha256) is called (repeatable)",
    )
    parser.add_argument(
        "--texts",
        metavar="FILE",
        nargs="+",
        default=[],
        help="scored files of predictions and references, for the length of texts where cards do not hold it",
    )
    parser.add_argument(
        "--published",
        metavar="SNAPSHOT",
        help="also the analyses of ReXrank's published tables: 'newest', or the date of a snapshot",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Read the cards, make the report and write it.

    Raises:
        RexrankError: A card or file cannot be read, names clash, or the report cannot be written.
    """
    if fault := _wrong_usage(arguments):
        print(f"rexrank analyse: {fault}", file=sys.stderr)
        return WRONG_USAGE
    from rexrank.analysis.lengths import count
    from rexrank.analysis.report import report
    from rexrank.scoring.card import ScoreCard

    folders = [folder_of(card) for card in arguments.cards]
    cards = [ScoreCard.load(folder) for folder in folders]
    html = report(
        cards,
        arguments.names or _names(folders, cards),
        dict(arguments.benchmark),
        arguments.baseline,
        count(arguments.texts, cards),
        arguments.published,
        progress=not arguments.quiet,
    )
    _write(arguments.out, html)
    if not arguments.quiet:
        print(f"written: {arguments.out}", file=sys.stderr)
    return DONE


def _names(folders: list[str], cards: "list[ScoreCard]") -> list[str]:
    """Names of systems: their folders', and as much of the path as tells cards of one set apart."""
    from rexrank.comparison.names import folder_names

    sets = [(card.inputs["references"]["sha256"], card.track, card.protocol, card.convention) for card in cards]
    return folder_names(folders, sets)


def _wrong_usage(arguments: argparse.Namespace) -> str | None:
    if not arguments.cards and not arguments.published:
        return "name the folder of at least one score card, or give --published newest"
    if arguments.names and len(arguments.names) != len(arguments.cards):
        return f"--names has {len(arguments.names)} names for {len(arguments.cards)} cards"
    if not arguments.out.lower().endswith(_ENDINGS):
        return f"--out {shown(arguments.out)}: the report is a page; end its name with .html"
    return None


def _write(out: str, html: str) -> None:
    try:
        write_atomically(user_path(out), html.encode())
    except OSError as error:
        raise RexrankError(f"{out} cannot be written: {error.strerror or 'unknown reason'}") from None


def _pair(words: str) -> tuple[str, str]:
    source, marked, name = words.partition("=")
    if not marked or not source or not name.strip():
        raise argparse.ArgumentTypeError(f"expected REFS=NAME, got {shown(words)}")
    return source, name.strip()
