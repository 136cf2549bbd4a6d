"""What cards are called: their folders' names, made distinct."""

import os
from collections.abc import Hashable, Sequence
from itertools import count
from pathlib import Path

from rexrank.files import user_path
from rexrank.layout import plain


def card_names(folders: Sequence[str]) -> list[str]:
    """Names of cards, as `folder_names` gives them, made all different.

    Args:
        folders: Folders of cards, as given.

    Returns:
        One name each; the same folder twice gets a number.
    """
    names = folder_names(folders)
    taken = set(names)
    for place, name in enumerate(names):
        if name in names[:place]:
            numbered = (f"{name} ({number})" for number in count(2))
            names[place] = next(one for one in numbered if one not in taken)
            taken.add(names[place])
    return names


def folder_names(folders: Sequence[str], sets: Sequence[Hashable] | None = None) -> list[str]:
    """The folder's own name; where two are alike, with as many folders above it as tell them apart.

    Args:
        folders: Folders of cards, as given.
        sets: What each card is one of; only names within one are told apart. None: all are.

    Returns:
        One name each, alike for the same folder.
    """
    parts = [_parts(folder) for folder in folders]
    kinds = [None] * len(parts) if sets is None else list(sets)
    depth = [1] * len(parts)
    while True:
        names = ["/".join(one[-number:]) for one, number in zip(parts, depth, strict=True)]
        owners: dict[Hashable, set[tuple[str, ...]]] = {}
        for kind, name, one in zip(kinds, names, parts, strict=True):
            owners.setdefault((kind, name), set()).add(one)
        longer = [
            place
            for place, one in enumerate(parts)
            if len(owners[kinds[place], names[place]]) > 1 and depth[place] < len(one)
        ]
        if not longer:
            return names
        for place in longer:
            depth[place] += 1


def _parts(folder: str) -> tuple[str, ...]:
    """Names of the folders of an absolute path; links stay as they are called."""
    return tuple(map(plain, Path(os.path.abspath(user_path(folder))).parts[1:])) or ("/",)
