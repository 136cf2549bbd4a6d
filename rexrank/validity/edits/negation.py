"""A denied finding becomes a stated one, and a stated one a denied one."""

import re
from collections.abc import Sequence

from rexrank.validity.edits.cues import DOUBT, NEGATION, states
from rexrank.validity.edits.edit import Chance, Change, Edit, Report

# Of "no no" both, as one alone would still deny.
_NO = re.compile(r"(?:\b(?:no|without)\b[ \t]*)+", re.IGNORECASE)
_IS = re.compile(
    r"\b(?:is|are)(?=\s+(?:(?:\w+ly|well|again|within)\s+)?(?:clear|normal|unremarkable|intact|enlarged|present|seen|"
    r"identified|noted|visuali[sz]ed|demonstrated|calcified|hyperinflated|hyperexpanded|elevated|tortuous|blunted|"
    r"limits|expanded|aerated|inflated|midline|preserved|maintained|sharp|symmetric)\b)",
    re.IGNORECASE,
)
_THERE = re.compile(r"\bthere\s+(?:is|are)\s+(?=\w)(?:an?\s+|some\s+)?", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|appears?|remains?|shows?|demonstrates?|may|could|can|will|would|reveals?|seen|"
    r"noted|suggests?|represents?|projects?|overl\w+|extends?|terminates?|measures?)\b",
    re.IGNORECASE,
)
_MASK = re.compile(r"X{3,}|_{2,}")


def _deleted(report: Report, chance: Chance) -> Sequence[Change]:
    """One change a word: "no" or "without" goes."""
    found = []
    for one in _NO.finditer(report.text):
        start, end = one.span()
        following = report.text[end : end + 1]
        # A sentence that began with "No" begins with a capital still.
        capital = one[0][0].isupper() and not one[0].strip().isupper() and following.isalpha()
        found.append(Change.of(start, end + capital, following.upper() if capital else ""))
    return found


def _added(report: Report, chance: Chance) -> Sequence[Change]:
    """One change a sentence that denies nothing and is sure: "is not", "there is no", or "No" before a bare noun."""
    found = []
    for sentence, said in report.said():
        if NEGATION.search(said) or DOUBT.search(said) or _MASK.search(said):
            continue
        if there := _THERE.search(said):
            if states(said):
                verb = re.match(r"there\s+(?:is|are)", there[0], re.IGNORECASE)
                end = verb.end() if verb else 0
                found.append(_at(sentence.start + there.start() + end, sentence.start + there.end(), " no "))
        elif is_ := _IS.search(said):
            found.append(_at(sentence.start + is_.end(), sentence.start + is_.end(), " not"))
        elif not _VERB.search(said) and states(said) and said[:1].isupper() and said[1:2].islower():
            found.append(_at(sentence.start, sentence.start + 1, f"No {said[0].lower()}"))
    return found


def _at(start: int, end: int, text: str) -> Change:
    return Change.of(start, end, text)


DELETED = Edit("negation_deleted", "harmful", 'A "no" or "without" is deleted.', _deleted)
ADDED = Edit("negation_added", "harmful", 'A sure sentence is denied, by "not" or "no".', _added)
