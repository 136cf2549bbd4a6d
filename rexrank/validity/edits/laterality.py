"""Left for right, and right for left."""

import re
from collections.abc import Sequence

from rexrank.validity.edits.cues import like
from rexrank.validity.edits.edit import Chance, Change, Edit, Report, Span

_OTHER = {"left": "right", "right": "left", "l": "r", "r": "l"}
# "Leftward" is a direction, of a curve or a shift, and stays.
_SIDE = re.compile(r"\b(?:left|right)\b|\b[LR](?=(?:UL|LL)\b)", re.IGNORECASE)


def _changes(report: Report, chance: Chance) -> Sequence[Change]:
    """One change a sentence: all its sides, so that "left more than right" and "of the left lung base" stay sound."""
    found = []
    for sentence, said in report.said():
        spans = tuple(_span(one, sentence.start) for one in _SIDE.finditer(said))
        if spans:
            found.append(Change(spans))
    return found


def _span(found: re.Match[str], offset: int) -> Span:
    return offset + found.start(), offset + found.end(), like(_OTHER[found[0].lower()], found[0])


SWAP = Edit("laterality_swap", "harmful", "Left and right change places in a sentence.", _changes)
