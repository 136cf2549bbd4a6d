"""The same words in another look: case, white space, headers, marks of de-identification."""

import re
from collections.abc import Sequence

from rexrank.validity.edits.edit import Chance, Change, Edit, Report

_GAP = re.compile(r"(?<=\S) (?=\S)")
_HEADED = re.compile(r"^[^\S\n]*[A-Z][A-Za-z ]{2,30}:", re.MULTILINE)
_MASK = re.compile(r"\bX{3,}\b|\b_{2,}\b|\[\*{2}.*?\*{2}\]")


def _case(report: Report, chance: Chance) -> Sequence[Change]:
    """One change a sentence: all capitals; small letters where it has no small ones. Units keep theirs."""
    found = []
    for one, said in report.said():
        new = said.lower() if said.isupper() else re.sub(r"(?<!\d )\b(?!(?:mm|cm)\b)[a-z]\w*|[A-Z]\w*", _upper, said)
        if new != said:
            found.append(Change.of(one.start, one.end, new))
    return found


def _upper(word: re.Match[str]) -> str:
    return word[0].upper()


def _space(report: Report, chance: Chance) -> Sequence[Change]:
    """One change a blank, which becomes two, or, between sentences, a line break."""
    ends = {one.end for one in report.sentences[:-1]}
    return [
        Change.of(one.start(), one.end(), "\n" if one.start() in ends else "  ") for one in _GAP.finditer(report.text)
    ]


def _header(report: Report, chance: Chance) -> Sequence[Change]:
    """A header before a text that has none."""
    return [] if _HEADED.search(report.text) or not report.sentences else [Change.of(0, 0, "FINDINGS: ")]


def _masks(report: Report, chance: Chance) -> Sequence[Change]:
    """One change a mark: XXXX, ___ and [** … **] for each other."""
    return [Change.of(*one.span(), "___" if one[0].startswith("X") else "XXXX") for one in _MASK.finditer(report.text)]


CASE = Edit("case", "harmless", "A sentence is written in capitals.", _case)
SPACE = Edit("white_space", "harmless", "A blank becomes two, or a line break between sentences.", _space)
HEADER = Edit("section_header", "harmless", 'The header "FINDINGS:" is put before the text.', _header)
MASKS = Edit("deid_marks", "harmless", "A mark of de-identification is written as another: XXXX as ___.", _masks)
