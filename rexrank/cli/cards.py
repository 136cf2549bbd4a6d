"""What commands on scores have in common: encoders, track, draws, output, names, folders, lists of words, pictures."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from rexrank.cli.streams import print_json
from rexrank.errors import RexrankError
from rexrank.terms import TRACKS

if TYPE_CHECKING:
    from rexrank.figures import Figure

_CARD = "card.json"


class _Found(Protocol):
    """What a command has computed."""

    def to_json(self) -> Any:
        """Everything of it, for JSON."""


F = TypeVar("F", bound=_Found)


def add_encoders(parser: argparse.ArgumentParser, *, weights: bool = True) -> None:
    """Declare where encoders run and where their checkpoints come from.

    Args:
        parser: Of the command.
        weights: Whether the command takes a folder of checkpoints.
    """
    parser.add_argument(
        "--device",
        metavar="D",
        help="where encoders run: cpu, mps, cuda, cuda:1 or several with commas (default: REXRANK_DEVICE, else what is "
        "there)",
    )
    if weights:
        parser.add_argument(
            "--weights",
            metavar="DIR",
            help="folder with the checkpoints of encoders (default: REXRANK_WEIGHTS, else the Hub)",
        )
    parser.add_argument(
        "--no-download", action="store_true", help="fetch nothing; scores that lack their checkpoints are left out"
    )


def add_track(parser: argparse.ArgumentParser, use: str = "compared") -> None:
    """Declare which text of a study is meant.

    Args:
        parser: Of the command.
        use: What the command does with it.
    """
    parser.add_argument(
        "--track",
        default="findings",
        metavar="T",
        choices=TRACKS,
        help=f"text {use}: findings (default), impression or report",
    )


def add_draws(parser: argparse.ArgumentParser) -> None:
    """Declare how tests and intervals draw."""
    parser.add_argument(
        "--resamples", metavar="N", type=int, default=10_000, help="draws of tests and intervals (default: 10000)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the draws (default: 0)")
    parser.add_argument(
        "--confidence", metavar="C", type=float, default=0.95, help="confidence of the intervals (default: 0.95)"
    )


def add_output(parser: argparse.ArgumentParser, picture: str | None = None) -> None:
    """Declare the forms of output.

    Args:
        parser: Of the command.
        picture: What ``--plot`` draws; None where the command has no picture.
    """
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, and nothing else, on stdout")
    form.add_argument("--markdown", action="store_true", help="print Markdown, and nothing else, on stdout")
    if picture:
        parser.add_argument("--plot", metavar="FILE", help=f"draw {picture}; FILE ends in .svg, .png or .pdf")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")


def show(found: F, arguments: argparse.Namespace, table: Callable[[F], str], markdown: Callable[[F], str]) -> None:
    """Print what was found in the form that was asked for.

    Args:
        found: What was computed.
        arguments: Those of `add_output`.
        table: Lays it out for a terminal.
        markdown: Lays it out as Markdown, with the end of its last line.
    """
    if arguments.json:
        print_json(found.to_json())
    else:
        print(markdown(found) if arguments.markdown else table(found), end="" if arguments.markdown else "\n")


def folder_of(card: str) -> str:
    """The folder of a card, also where its file was named."""
    return str(Path(card).parent) if Path(card).name == _CARD else card


def system_names(given: str | None, folders: Sequence[str]) -> list[str]:
    """What systems are called: as ``--names`` says, else as their folders are.

    Raises:
        InvalidCall: Not one different name for each.
    """
    from rexrank.comparison.names import card_names
    from rexrank.layout import plain
    from rexrank.metrics import InvalidCall

    if given is None:
        return card_names(folders)
    names = [plain(name.strip()) for name in given.split(",")]
    if len(names) != len(folders) or "" in names or len(set(names)) != len(names):
        raise InvalidCall(f"names: expected {len(folders)} different names, one a card, with commas between")
    return names


def words_of(asked: str | None) -> list[str] | None:
    """Words with commas between; None where nothing was asked for."""
    return None if asked is None else [word.strip() for word in asked.split(",") if word.strip()]


def draw(picture: "Callable[[], Figure]", file: str, quiet: bool) -> None:
    """Make a picture and write it.

    Raises:
        RexrankError: It cannot be drawn or written.
    """
    try:
        picture().save(file)
    except OSError as error:
        raise RexrankError(f"{file} cannot be written: {error.strerror or 'unknown reason'}") from None
    if not quiet:
        print(f"written: {file}", file=sys.stderr)
