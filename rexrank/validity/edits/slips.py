"""Typing errors that every reader sees through."""

import re
from collections.abc import Sequence

from rexrank.validity.edits.cues import COMPARISON, DOUBT, NEGATION
from rexrank.validity.edits.edit import Chance, Change, Edit, Report

_MOST = 3
_WORD = re.compile(r"(?<![\w-])[A-Za-z]?[a-z]{5,}(?![\w-])")
# Words one letter of which decides; hyper and hypo are nearer to each other than a slip.
_KEPT = re.compile(r"(?:hyper|hypo|inter|intra|infra|supra)", re.IGNORECASE)


def _changes(report: Report, chance: Chance) -> Sequence[Change]:
    """One change a long word: two neighbouring letters inside it change places."""
    found = []
    for one in _WORD.finditer(report.text):
        word = one[0]
        places = [place for place in range(1, len(word) - 2) if word[place] != word[place + 1]]
        if not places or any(cue.search(word) for cue in (_KEPT, COMPARISON, DOUBT, NEGATION)):
            continue
        at = chance.choice(places)
        slip = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        found.append(Change.of(*one.span(), slip))
    return found


TYPED = Edit("typing_errors", "harmless", "Two letters inside a long word change places.", _changes, _MOST)
