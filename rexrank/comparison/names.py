"""What cards are called: their folders' names, made distinct."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rexrank.files import user_path


def card_names(folders: Sequence[str]) -> list[str]:
    """Names of cards: the folder's own; where two are alike, with as many folders above it as tell them apart.

    Args:
        folders: Folders of cards, as given.

    Returns:
        One name each, all different; the same folder twice gets a number.
    """
    parts = [_parts(folder) for folder in folders]
    depth = [1] * len(parts)
    names = _joined(parts, depth)
    while alike := [place for place, name in enumerate(names) if names.count(name) > 1]:
        longer = [place for place in alike if depth[place] < len(parts[place])]
        if not longer:
            break
        for place in longer:
            depth[place] += 1
        names = _joined(parts, depth)
    seen: Counter[str] = Counter()
    for place, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            names[place] = f"{name} ({seen[name]})"
    return names


def plain(name: str) -> str:
    """A name that a terminal can show without being moved by it."""
    return "".join(character if character.isprintable() else "?" for character in name)


def _parts(folder: str) -> tuple[str, ...]:
    """Names of the folders of an absolute path; links stay as they are called."""
    return tuple(map(plain, Path(os.path.abspath(user_path(folder))).parts[1:])) or ("/",)


def _joined(parts: Sequence[tuple[str, ...]], depth: Sequence[int]) -> list[str]:
    return ["/".join(one[-number:]) for one, number in zip(parts, depth, strict=True)]
