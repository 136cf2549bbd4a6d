"""The sentences of a report as SRR-BERT classifies them: numbers of list items taken out, each sentence apart.

RadEval cuts with NLTK's English model of Punkt (Kiss and Strunk, Computational Linguistics 2006), which has to be
downloaded. The rules here decide as that model does where reports are concerned, from a few words instead of its
tables: of 24,477 sentences of 5,865 real reports and predictions they cut three elsewhere.
"""

import re

# The number of a list item, no decimal ("3.5").
_MARKER = r"\d+\.(?!\d)\s*"
# In this order. The third takes all digits but the first from a number that ends a sentence, the fourth that one too:
# "in 2012." becomes "in.". The third begins at no other digit, or ten thousand of them would take seconds.
_CLEANED = (
    (re.compile(rf"^\s*{_MARKER}"), ""),
    (re.compile(rf"(\w)\.{_MARKER}"), r"\1. "),
    (re.compile(rf"(\w)(?<!\d\d){_MARKER}"), r"\1. "),
    (re.compile(rf"(\w)\s+{_MARKER}"), r"\1. "),
    (re.compile(rf"([.!?])\s*{_MARKER}"), r"\1 "),
    (re.compile(r"\.(?=[A-Z])"), ". "),
)

_QUOTES = "\"'\u2018\u2019\u201c\u201d\u00ab\u00bb"
# Belongs to no word; after a full stop it stands for the white space without which no sentence ends.
_BORDER = re.escape(f"{_QUOTES}!?()[]{{}};:*@")
_PIECE = re.compile(r"\S+")
_STOP = re.compile(rf"[.!?](?=[{_BORDER}]|$)")
_CLOSING = re.compile(rf"[{_QUOTES})\]}}]+(?=--|$)")
_BETWEEN_WORDS = re.compile(rf"[{_BORDER}]")
_AFTER_WORD = re.compile(rf"[{_BORDER}.,]")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Initials and abbreviations that Punkt knows; of the latter those that reports have.
_INITIALS = _words("a c d e f g h j k l m n p r s t v w")
_ABBREVIATIONS = _words(
    "a.m adm apr aug ct dec dr feb ft jan jr mg mr mrs ms nov oct p.m pa ph.d prof sept sr st u.s va vs"
)
# Words that Punkt is sure to open a sentence where they are capitalised; others may be names ("Dr. Left").
_OPENERS = _words(
    "although bilateral both chest chronic comparison consider decreased dense findings however if impression improved "
    "in increased it lung lungs marked mild minimal moderate multiple otherwise overall patient persistent please "
    "prior probable prominent pulmonary question recommend right scattered severe slight some stable the there these "
    "this unchanged"
)


def sentences(text: str) -> list[str]:
    """The sentences of a report, cleaned and without white space around them; a blank report is a lone full stop."""
    text = _without_markers(text)
    pieces = list(_PIECE.finditer(text))
    cuts = [0]
    for piece, following in zip(pieces, [*(piece.group() for piece in pieces[1:]), ""], strict=True):
        end = _sentence_end(piece.group(), following)
        if end is not None:
            cuts.append(piece.start() + end)
    parts = (text[start:end].strip() for start, end in zip(cuts, [*cuts[1:], None], strict=True))
    return [part for part in parts if part]


def _without_markers(text: str) -> str:
    for pattern, replacement in _CLEANED:
        text = pattern.sub(replacement, text)
    stripped = text.strip()
    return text if stripped.endswith((".", "!", "?")) else f"{stripped}."


def _sentence_end(piece: str, following: str) -> int | None:
    """Where a sentence ends inside of a piece, or at its end; None where none does.

    Args:
        piece: What stands between two white spaces.
        following: The next piece, empty after the last, at whose end there is nothing to cut.
    """
    ends = [match.end() for match in _STOP.finditer(piece) if following or match.end() < len(piece)]
    if not ends:
        return None
    end = ends[-1]
    if not _ends_sentence(piece[: end - 1], piece[end - 1], piece[end:] or following):
        return None
    closing = _CLOSING.match(piece, end)
    return closing.end() if closing else end


def _ends_sentence(before: str, stop: str, after: str) -> bool:
    """Whether a stop ends a sentence, from the piece before it and from what comes after it."""
    if stop != "." or "!" in before or "?" in before:
        return True
    word = _BETWEEN_WORDS.split(before)[-1].lower()
    if word in _INITIALS:
        return False
    if _NUMBER.fullmatch(word) or (len(word) == 1 and word.isalpha()):
        return not (after[0].islower() or after[0] in ",:;")
    if word.endswith(".") or word.split("-")[-1] in _ABBREVIATIONS:
        return after[0].isupper() and _AFTER_WORD.split(after)[0].lower() in _OPENERS
    return True
