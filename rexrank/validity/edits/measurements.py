"""Another number before mm or cm."""

import re
from collections.abc import Sequence

from rexrank.validity.edits.edit import Chance, Change, Edit, Report

_TIMES = 3
_ARTICLE = re.compile(r"\b(an?)\s+$")
# Numbers that begin with a vowel when they are read aloud.
_EIGHT = re.compile(r"8|1[18](?!\d)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# No run of blanks is tried twice, and no list of numbers is followed far.
_MEASURE = re.compile(
    r"(?<![\w./-])\d+(?:\.\d+)?(?:\s*+(?:(?:mm|cm)\s*+)?(?:x|×|by|to|-)\s*+\d+(?:\.\d+)?){0,5}\s*+(?:-\s*+)?"
    r"(?:mm|cm|millimet(?:er|re)s?|centimet(?:er|re)s?)\b",
    re.IGNORECASE,
)


def _changes(report: Report, chance: Chance) -> Sequence[Change]:
    """One change a measure, all numbers of which grow threefold."""
    found = []
    for one in _MEASURE.finditer(report.text):
        new = _NUMBER.sub(lambda number: _grown(number[0]), one[0])
        article = _ARTICLE.search(report.text, 0, one.start())
        fitting = "an" if _EIGHT.match(new) else "a"
        spans = ((*article.span(1), fitting),) if article and article[1] != fitting else ()
        found.append(Change((*spans, (*one.span(), new))))
    return found


def _grown(number: str) -> str:
    digits = len(number.partition(".")[2])
    return f"{float(number) * _TIMES:.{digits}f}"


CHANGED = Edit("measurement_changed", "harmful", f"The numbers of a measure grow {_TIMES}-fold.", _changes)
