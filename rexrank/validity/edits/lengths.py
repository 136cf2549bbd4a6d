"""Reports that end too early, and reports that hold another one."""

from rexrank.validity.edits.edit import Report

KEPT = (0.75, 0.5, 0.25)
"""Shares of the words that are kept, in the order in which a score should fall."""


def truncated(text: str, kept: float) -> str | None:
    """The first words of a text, as it stands.

    Args:
        text: The report.
        kept: Share of its words that is kept, more than 0 and less than 1.

    Returns:
        The beginning, of at least one word; None where it would be the whole text.
    """
    words = text.split()
    number = max(1, round(len(words) * kept))
    if number >= len(words):
        return None
    position = 0
    for word in words[:number]:
        position = text.index(word, position) + len(word)
    return text[:position]


def concatenated(text: str, other: str) -> str | None:
    """The text and another report behind it; None where there is no word in one of them."""
    return f"{text.rstrip()} {other.strip()}" if Report.of(text).sentences and other.strip() else None
