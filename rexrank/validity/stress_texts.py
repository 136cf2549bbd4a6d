"""The edited reports that metrics are stressed with: every report in every kind and dose of edit."""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rexrank.errors import RexrankError
from rexrank.validity.edits import EDITS, Change, Report, edited, errors
from rexrank.validity.edits.edit import Chance
from rexrank.validity.edits.lengths import KEPT, concatenated, truncated

ONE, ALL = "one", "all"
ORIGINAL, OTHER = ("original", ""), ("other", "")
ERRORS, TRUNCATED, JOINED = "errors", "truncated", ("concatenated", "")
MOST_ERRORS = 3
DOSES = (ONE, ALL)
KINDS: Mapping[str, str] = {edit.name: edit.kind for edit in EDITS}
"""Edit to ``harmful`` or ``harmless``."""


class NothingToStress(RexrankError, ValueError):
    """Reports that cannot be edited and compared: too few, or in another language than that of the edits."""


@dataclass(frozen=True)
class Variant:
    """One edited report.

    Attributes:
        report: Position of the report that it was made of.
        name: Edit and dose; dose ``one`` place or ``all`` of them, a number of errors, or a share of words kept.
        text: The edited text.
        size: Words that the edit removed, added or replaced, by the longest common runs of words.
    """

    report: int
    name: tuple[str, str]
    text: str
    size: int


def variants(texts: Sequence[str], seed: int, tell: Callable[[int], None]) -> list[Variant]:
    """All edited reports.

    Args:
        texts: Reports, of which at least two differ.
        seed: Of all choices.
        tell: Called with the number of reports done.

    Raises:
        NothingToStress: All reports are the same, or there is none.
    """
    if (number := len(set(texts))) < 2:
        raise NothingToStress(f"the stress suite needs two different reports with text, and found {number}")
    found = []
    for position, text in enumerate(texts):
        other = _other(texts, position, seed)
        found += [
            Variant(position, name, new, 0 if name in (ORIGINAL, OTHER) else size(text, new))
            for name, new in _of_report(text, other, seed)
        ]
        tell(position + 1)
    return found


def _other(texts: Sequence[str], position: int, seed: int) -> str:
    """Another report with another text, drawn anew for each."""
    number = len(texts)
    start = position + 1 + Chance("other", seed, position).below(number - 1)
    return next(text for step in range(number) if (text := texts[(start + step) % number]) != texts[position])


def _of_report(text: str, other: str, seed: int) -> Iterator[tuple[tuple[str, str], str]]:
    report = Report.of(text)
    yield ORIGINAL, text
    yield OTHER, other
    for edit in EDITS:
        if places := edit.places(report, seed):
            yield (edit.name, ONE), edited(text, places[:1])
            yield (edit.name, ALL), edited(text, places)
    chosen = errors(report, EDITS, MOST_ERRORS, seed)
    yield from _with_errors(text, chosen)
    left = text
    for kept in KEPT:
        # Of three words two cuts leave the same, and no score could fall from the one to the other.
        if (shorter := truncated(text, kept)) and shorter != left:
            left = shorter
            yield (TRUNCATED, f"{kept:.0%}"), shorter
    if both := concatenated(text, other):
        yield JOINED, both


def _with_errors(text: str, chosen: Sequence[Change]) -> Iterator[tuple[tuple[str, str], str]]:
    """One, two and three errors, each time one more; nothing where there are not three."""
    if len(chosen) == MOST_ERRORS:
        for number in range(1, MOST_ERRORS + 1):
            yield (ERRORS, str(number)), edited(text, chosen[:number])


def size(text: str, new: str) -> int:
    """Words that differ: of each stretch that was replaced the longer side."""
    old, now = text.split(), new.split()
    blocks = difflib.SequenceMatcher(None, old, now, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for what, i1, i2, j1, j2 in blocks if what != "equal")
