"""What was doubted is stated, and what was stated is doubted."""

import re
from collections.abc import Sequence

from rexrank.validity.edits.cues import DOUBT, NEGATION, denied_before, like, matches, states
from rexrank.validity.edits.edit import Chance, Change, Edit, Report

_SURE = {
    "possible": "definite", "possibly": "definitely", "probable": "definite", "probably": "definitely",
    "most likely": "definitely", "likely": "definitely", "questionable": "definite", "suspected": "confirmed",
    "may represent": "must represent", "may reflect": "must reflect", "may be": "must be",
    "might represent": "must represent", "might be": "must be", "could represent": "must represent",
    "could reflect": "must reflect", "could be": "must be", "suggestive of": "diagnostic of",
    "suspicious for": "diagnostic of", "concerning for": "diagnostic of", "worrisome for": "diagnostic of",
    "suggests": "proves", "suggesting": "proving", "perhaps": "definitely", "presumably": "definitely",
    "cannot be excluded": "is certain", "cannot be entirely excluded": "is certain", "not excluded": "certain",
    "consistent with": "doubtful for", "compatible with": "doubtful for", "diagnostic of": "doubtful for",
    "definite": "questionable", "definitely": "possibly",
}  # fmt: skip
_HEDGE = re.compile(rf"\b(?:{'|'.join(sorted(_SURE, key=len, reverse=True))})\b", re.IGNORECASE)
_THERE_IS = re.compile(r"\bthere\s+(is|are)\b(?!\s+(?:also|again|now|been|likely|possib|probab))", re.IGNORECASE)


def _changes(report: Report, chance: Chance) -> Sequence[Change]:
    """One change a hedge, which is made sure; or a sentence "There is …" that states a finding, which is doubted."""
    found = []
    for sentence, said in report.said():
        hedges = [one for one in matches(_HEDGE, said) if _turns(said, one)]
        spans = [(one.start(), one.end(), like(_SURE[one[0].lower()], one[0])) for one in hedges]
        there = _THERE_IS.search(said)
        if there and not hedges and not NEGATION.search(said) and not DOUBT.search(said) and states(said):
            spans = [(*there.span(1), "may be")]
        found += [Change.of(sentence.start + start, sentence.start + end, new) for start, end, new in spans]
    return found


def _turns(said: str, hedge: re.Match[str]) -> bool:
    """Whether the hedge stands alone: not in "less likely", nor behind a negation."""
    if re.search(r"\b(?:less|more|very|not|are|is as)\s*$", said[: hedge.start()], re.IGNORECASE):
        return False
    return "exclude" in hedge[0].lower() or not denied_before(said, hedge.start())


CHANGED = Edit("certainty_changed", "harmful", "A hedge is made sure, or a stated finding doubted.", _changes)
