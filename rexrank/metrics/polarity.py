"""Whether two short texts say the same and its opposite: "There is no effusion" and "Effusion is present".

A text is cut into its core, the words without those that deny and without those that only say that something is
there, and into whether anything denies. Two texts are opposites where the cores are equal, word for word in their
order, and one of them denies. Our own rule; nothing about it was published.
"""

import re
import unicodedata
from typing import NamedTuple

# No core changes by these: articles, forms of "to be", and words for something that is there or is seen.
_FILLERS = frozenset(
    word
    for words in (
        "a an the is are was were be been has have does do did there this that it any some of sign signs evidence seen",
        "present presence visible identified noted demonstrated shown show shows detected",
    )
    for word in words.split()
)
_DENYING = frozenset(
    ("no", "not", "without", "absent", "absence", "none", "nor", "neither", "never", "free", "negative", "cannot")
)
# Words that deny what another word says.
_OPPOSITES = {"abnormal": "normal", "invisible": ""}
_WORD = re.compile(r"[^\W_]+")
_CONTRACTED = re.compile(r"n[’']t\b")
_YES, _NO = "yes", "no"


class Polarity(NamedTuple):
    """A text without its polarity, and the polarity.

    Attributes:
        core: Words that say what it is about, in lower case.
        denies: Whether it says that this is not so.
    """

    core: tuple[str, ...]
    denies: bool

    def is_opposite(self, other: "Polarity") -> bool:
        """Whether both are about the same, and exactly one denies it."""
        return self.core == other.core and self.denies != other.denies


def polarity(text: str) -> Polarity:
    """Take a short English text apart: an option without its letter, or a question.

    A "yes" or "no" before a sentence does not count beside what the sentence says; alone it is a whole answer, with an
    empty core.
    """
    plain = _CONTRACTED.sub(" not", unicodedata.normalize("NFKC", text).casefold())
    words = _WORD.findall(plain)
    if len(words) > 1 and words[0] in (_YES, _NO) and re.match(r"\s*\w+\s*[,.;:–—-]", plain):
        words = words[1:]
    denies = any(word in _DENYING or word in _OPPOSITES for word in words)
    said = (_OPPOSITES.get(word, word) for word in words if word not in _DENYING and word not in _FILLERS)
    return Polarity(tuple(word for word in said if word and word != _YES), denies)
