"""Words that decide whether something may be edited, shared by several edits."""

import re
from collections.abc import Iterator

from rexrank.labels import POSITIVE, UNCERTAIN, Mention, mentions

NEGATION = re.compile(
    r"\b(?:no|not|without|none|nor|neither|never|free|absent|absence|negative|denies|cannot|n't|unlikely|excluded?|"
    r"resolved|resolution|cleared|removed|removal|rather|exclude|ruled?)\b",
    re.IGNORECASE,
)
DOUBT = re.compile(
    r"\b(?:may|might|could|would|can|possib\w*|probab\w*|likely|unlikely|suspect\w*|suspici\w*|suggest\w*|question\w*|"
    r"concern\w*|consider\w*|exclude\w*|versus|vs|equivocal|perhaps|presum\w*|apparent\w*|appear\w*|potential\w*|"
    r"differential|if|unclear|uncertain|indeterminate|consistent|compatible|seems?|felt|thought)\b|\?",
    re.IGNORECASE,
)
# Words that already compare with an earlier film.
COMPARISON = re.compile(
    r"\b(?:unchanged|stable|stably|prior|previous\w*|earlier|interval|interim|compar\w*|again|since|persist\w*|improv\w*|"
    r"wors\w*|increas\w*|decreas\w*|progress\w*|resol\w*|new|newly|chang\w*|now|still|remain\w*|redemonstrat\w*|"
    r"old|develop\w*|larger|smaller|more|less|clear(?:ed|ing)|continu\w*|known|history|status\s+post)\b",
    re.IGNORECASE,
)


def present(sentence: str) -> list[Mention]:
    """The findings that a sentence says are there, or may be."""
    return [one for one in mentions(sentence) if one.status in (POSITIVE, UNCERTAIN)]


def states(sentence: str) -> bool:
    """Whether a sentence is sure of a finding."""
    return any(one.status == POSITIVE for one in mentions(sentence))


def denied_before(text: str, position: int) -> bool:
    """Whether a negation stands before a position, in a list that goes on up to it."""
    clause = re.split(r";|\b(?:but|with|there|however|although)\b", text[:position])[-1]
    return NEGATION.search(clause) is not None


def like(word: str, model: str) -> str:
    """A word in the case of another one: Left, LEFT, left."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Matches of a pattern that no mask of de-identification interrupts."""
    return (found for found in pattern.finditer(text) if "XXXX" not in found[0])
