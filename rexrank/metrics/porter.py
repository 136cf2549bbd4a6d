"""The Porter stemmer with the departures that rouge_score inherits from NLTK.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980; the
departures are those of NLTK's default mode: a table of irregular forms, four-letter
words in -ies and -ied, -y only after a consonant, -alli before the other
rules of step 2, -fulli, -logi with the l left to the stem, and two-letter
stems of vowel and consonant counting as *o.

Written anew because ROUGE must equal rouge_score to the last digit, other Porter
packages follow other variants, and importing NLTK takes seconds.
"""

from collections.abc import Callable

_IRREGULAR = {
    "sky": "sky",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}

# Suffixes are tried in this order and the first that fits decides, whether or not its condition holds.
_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent"),
    *("ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


def stem(word: str) -> str:
    """Stem of a lower-case word; digits count as consonants."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in _STEPS:
        word = step(word)
    return word


def _shape(word: str) -> str:
    """The word in c (consonant) and v (vowel); y is a vowel after a consonant."""
    shape: list[str] = []
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and bool(shape) and shape[-1] == "c")
        shape.append("v" if vowel else "c")
    return "".join(shape)


def _measure(word: str) -> int:
    """Porter's m: how often a consonant follows a vowel."""
    return _shape(word).count("vc")


def _ends_double_consonant(word: str) -> bool:
    return len(word) >= 2 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_short(word: str) -> bool:
    """Porter's *o: consonant, vowel, consonant other than w, x and y; also a two-letter vowel and consonant."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _step_1a(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _step_1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and "v" in _shape(word[: -len(suffix)]):
            return _mend(word[: -len(suffix)])
    return word


def _mend(word: str) -> str:
    """Second half of step 1b: restore an e or a single letter after -ed and -ing are gone."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_double_consonant(word):
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_short(word) else word


def _step_1c(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c":
        return word[:-1] + "i"
    return word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2])
    for suffix, replacement in _STEP_2:
        if word.endswith(suffix):
            return _replaced(word, suffix, replacement)
    return word[:-1] if word.endswith("logi") and _measure(word[:-3]) > 0 else word


def _step_3(word: str) -> str:
    for suffix, replacement in _STEP_3:
        if word.endswith(suffix):
            return _replaced(word, suffix, replacement)
    return word


def _replaced(word: str, suffix: str, replacement: str) -> str:
    rest = word[: -len(suffix)]
    return rest + replacement if _measure(rest) > 0 else word


def _step_4(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            removable = _measure(rest) > 1 and (suffix != "ion" or rest[-1] in "st")
            return rest if removable else word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


_STEPS: tuple[Callable[[str], str], ...] = (_step_1a, _step_1b, _step_1c, _step_2, _step_3, _step_4, _step_5)
