"""Words in columns, for a terminal and for Markdown, and names that neither takes for its own signs."""

import re
from collections.abc import Collection, Sequence

# Marks that turn the order of what is read around (Unicode property Bidi_Control), so that one name looks like another.
TURNING_MARKS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
NOTHING = "–"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#])")


def columns(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Lines of a table for a terminal.

    Args:
        rows: Of equally many cells, at least one.
        left: Which columns stand to the left; the others stand to the right.
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            f"{cell:<{width}}" if column in left else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def pipes(rows: Sequence[Sequence[str]], names: int = 0) -> list[str]:
    """Lines of a table of Markdown.

    Args:
        rows: The first one is its head.
        names: Which column stands to the left; the others stand to the right.
    """
    rule = ["---" if column == names else "---:" for column in range(len(rows[0]))]
    head, *body = [[escaped(cell.strip()) for cell in row] for row in rows]
    return [f"| {' | '.join(line)} |" for line in (head, rule, *body)]


def escaped(text: str) -> str:
    """Words on one line, without anything that Markdown would read as its own."""
    return _MARKDOWN.sub(r"\\\1", plain(text))


def plain(name: str) -> str:
    """A name that a terminal can show without being moved by it."""
    return "".join(character if character.isprintable() else "?" for character in name)


def rounded(share: float) -> str:
    """A share in whole percent; a rare thing is not told to be none, nor a frequent one to be all."""
    if 0 < share < 0.01:
        return "less than 1%"
    return "more than 99%" if 0.99 < share < 1 else f"{share:.0%}"


def percent(share: float) -> str:
    """A share with the digits that it was given with: ``95%``, ``99.9%``."""
    return f"{100 * share:.10g}%"


def number(value: float | None, form: str) -> str:
    """A number, or a dash."""
    return NOTHING if value is None else f"{value:{form}}"


def ends(interval: tuple[float, float] | None, form: str) -> str:
    """An interval, or a dash."""
    return NOTHING if interval is None else f"{interval[0]:{form}} … {interval[1]:{form}}"
