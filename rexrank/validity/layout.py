"""Rows of words in columns, for a terminal and for Markdown."""

import re
from collections.abc import Sequence

NOTHING = "–"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#])")


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table for a terminal, the first column to the left and the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            [f"{row[0]:<{widths[0]}}", *(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in rows
    ]


def pipes(rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown, the first row its head."""
    lines = [f"| {' | '.join(escaped(cell.strip()) for cell in row)} |" for row in rows]
    ruler = f"| --- |{' ---: |' * (len(rows[0]) - 1)}"
    return "\n".join([lines[0], ruler, *lines[1:]])


def escaped(text: str) -> str:
    """Words without anything that Markdown would read as its own."""
    return _MARKDOWN.sub(r"\\\1", text)


def number(value: float | None, form: str) -> str:
    """A number, or a dash."""
    return NOTHING if value is None else f"{value:{form}}"


def ends(interval: tuple[float, float] | None, form: str) -> str:
    """An interval, or a dash."""
    return NOTHING if interval is None else f"{interval[0]:{form}} … {interval[1]:{form}}"


def percent(share: float) -> str:
    """A share with the digits that it was given with: ``95%``, ``99.9%``."""
    return f"{100 * share:.10g}%"
