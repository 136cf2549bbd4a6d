"""Which script a text is written in."""

import unicodedata
from functools import lru_cache

_FOREIGN_SHARE = 0.3


def outside_latin(text: str) -> bool:
    """Whether 30 % or more of a text's letters are of another script than Latin; False for a text without letters."""
    if text.isascii():
        return False
    letters = [character for character in text if character.isalpha()]
    return bool(letters) and sum(not _is_latin(letter) for letter in letters) >= _FOREIGN_SHARE * len(letters)


@lru_cache(maxsize=4096)
def _is_latin(letter: str) -> bool:
    # Compatibility forms (full-width letters, ordinal marks) decompose to the letter that they stand for.
    plain = unicodedata.normalize("NFKD", letter)[0]
    return unicodedata.name(plain, "").startswith("LATIN ")
