"""What commands on score cards have in common: names, folders, lists of words, pictures."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rexrank.errors import RexrankError

if TYPE_CHECKING:
    from rexrank.figures import Figure

_CARD = "card.json"


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
