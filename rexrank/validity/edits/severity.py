"""Mild for severe, large for small."""

import re
from collections.abc import Sequence

from rexrank.validity.edits.cues import denied_before, like, matches
from rexrank.validity.edits.edit import Chance, Change, Edit, Report

_OTHER = {
    "mild": "severe", "mildly": "severely", "minimal": "marked", "minimally": "markedly", "slight": "marked",
    "slightly": "markedly", "moderate": "minimal", "moderately": "minimally", "severe": "mild", "severely": "mildly",
    "marked": "minimal", "markedly": "minimally", "massive": "small", "extensive": "minimal", "large": "small",
    "small": "large", "tiny": "large", "trace": "large",
}  # fmt: skip
_DEGREE = re.compile(rf"\b(?:{'|'.join(_OTHER)})\b(?![-/])", re.IGNORECASE)
# "small bowel" is no size, "mild rotation" no finding, and of "mild to moderate" one word alone would make no sense.
_NOT_A_FINDING = re.compile(
    r"\b(?:bowel|colon|rotat\w+|habitus|body|breasts?|motion|obliqu\w+|limited|technique|inspiration|inspiratory|hypo\w+|"
    r"underinflat\w+|low|patient|amount|airways?|caliber|upper\s+normal|normal)\b",
    re.IGNORECASE,
)
_WORDS_AFTER = 40


def _changes(report: Report, chance: Chance) -> Sequence[Change]:
    """One change a word of degree that stands with a finding and is not denied."""
    found = []
    for sentence, said in report.said():
        for one in matches(_DEGREE, said):
            before, after = said[: one.start()], said[one.end() :]
            ranged = re.search(r"\b(?:to|or)\s*$", before) or re.match(r"\s*(?:to|or|-)\s", after)
            if ranged or denied_before(said, one.start()) or _NOT_A_FINDING.search(after[:_WORDS_AFTER]):
                continue
            start = sentence.start + one.start()
            found.append(Change.of(start, start + len(one[0]), like(_OTHER[one[0].lower()], one[0])))
    return found


CHANGED = Edit("severity_changed", "harmful", "A word of degree is turned: mild to severe, large to small.", _changes)
