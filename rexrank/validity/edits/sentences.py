"""Where the sentences of a report stand, by position, so that nothing else of the text is touched."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# A full stop before white space ends a sentence, but not that of an abbreviation or of "1."; so does an empty line.
_END = re.compile(r"(?<!\bvs)(?<!\b[Dd]r)(?<!\be\.g)(?<!\bi\.e)(?<!\bapprox)(?<!\b\d)[.!?]+(?=\s|$)|(?<!\s)\s*\n\s*\n")
# Words that point to the sentence before, which therefore stays where it is.
_POINTS_BACK = re.compile(
    r"(?:(?:the\s+)?(?:this|these|those|that|it|its|they|them|he|she|both|such|however|otherwise|additionally|also|"
    r"again|other|another|remaining|remainder|rest|although|but|and|or|further(?:more)?|similar(?:ly)?|specifically|"
    r"in\s+addition|there\s+(?:is|are)\s+also|no\s+other|no\s+additional|same|former|latter|above|following|second|"
    r"finding|findings|constellation|correlat\w+|recommend\w*|consider|clinical\s+correlation|followup|follow-?up|"
    r"compared|as\s+compared|unchanged|stable)\b|\d+\s*[.)]|[^A-Za-z])",
    re.IGNORECASE,
)
# Words in the middle of a sentence that lean on the one before.
_LEANS = re.compile(
    r"\b(?:this|these|those|other|another|also|again|as\s+well|otherwise|elsewhere|above|additional\w*|helpful|unclear|"
    r"further|suggested|recommend\w*|advis\w+|correlat\w+|evaluat\w+|follow-?up|remain(?:der|ing)\s+of|"
    r"the\s+(?:opacity|nodule|finding|lesion|mass|effusion|tube|catheter))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sentence:
    """One sentence.

    Attributes:
        start: Position of its first character.
        end: Position behind its last one, the full stop included.
        leans: Whether it points to the sentence before ("This may be …"), and has to stay behind it.
    """

    start: int
    end: int
    leans: bool


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences in the order of the text, without the white space between them."""
    start = 0
    for found in _END.finditer(text):
        end = found.start() if found[0].isspace() else found.end()
        yield from _sentence(text, start, end)
        start = found.end()
    yield from _sentence(text, start, len(text))


def _sentence(text: str, start: int, end: int) -> Iterator[Sentence]:
    said = text[start:end]
    if stripped := said.strip():
        first = start + len(said) - len(said.lstrip())
        leans = bool(_POINTS_BACK.match(stripped) or _LEANS.search(stripped))
        yield Sentence(first, first + len(stripped), leans)
