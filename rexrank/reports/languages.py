"""Which language texts are plainly written in: by their script, else by the small words of reports.

A guess, for warnings: no score is refused by it.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rexrank.reports.scripts import outside_latin

# Words of reports that few other languages have; what two of these languages share counts for both.
_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "de": "der die das des dem den und mit ohne nicht kein keine keinen ist sind im beidseits links rechts zum zur "
        "auf bei als eine einer sowie unauffällig",
        "en": "the is are of and with without there has have been no not was this right left or to which normal",
        "es": "el la los las del de sin no con se en una por izquierdo izquierda derecho derecha ni son está",
        "fr": "le la les des du de et sans pas est au aux une un dans gauche droite droit ni sont absence",
        "it": "il lo gli della del dei di non con senza si destra sinistra sono nei alla",
        "nl": "het een van en met geen niet is zijn de links rechts zonder aan op de bij",
        "pt": "os as do da dos das de sem não com esquerda direita em são há um uma ou",
    }.items()
}
# Scripts that one language alone is written in, and those that several share.
_LANGUAGE_OF_SCRIPT = {
    "HANGUL": "ko",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "CJK": "zh",
    "GREEK": "el",
    "HEBREW": "he",
    "THAI": "th",
}
_WORD = re.compile(r"[^\W\d_]+")
# Texts looked at, evenly spread, and characters of each.
_TEXTS, _CHARACTERS = 500, 2000
# The small words of a language are this share of all words at least, and as many times those of the next language.
_FEWEST_WORDS, _FEWEST_DIFFERENT, _SHARE, _LEAD = 5, 3, 0.08, 1.3


@dataclass(frozen=True)
class Guess:
    """What texts are plainly written in.

    Attributes:
        language: ISO 639-1 code; None where the script is one that several languages share.
        script: Name of the script (``Cyrillic``); None where it is Latin.
    """

    language: str | None
    script: str | None = None


def guess(texts: Sequence[str]) -> Guess | None:
    """Which language most of the texts are in.

    Args:
        texts: Reports; 500 of them are looked at.

    Returns:
        What is plain; None where it is not: too few words, or a language that is not among the known ones.
    """
    seen = [text[:_CHARACTERS] for text in texts[:: max(1, len(texts) // _TEXTS)] if text.strip()]
    foreign = [text for text in seen if outside_latin(text)]
    if len(foreign) > len(seen) / 2:
        return _by_script(foreign)
    words = [word for text in seen for word in _WORD.findall(unicodedata.normalize("NFC", text).lower())]
    return _by_words(words)


def _by_script(texts: Sequence[str]) -> Guess:
    counts = Counter(_scripts(texts))
    script = counts.most_common(1)[0][0]
    # Japanese mixes its own syllables with Chinese characters.
    if script == "CJK" and counts["HIRAGANA"] + counts["KATAKANA"] > counts["CJK"] / 10:
        script = "HIRAGANA"
    return Guess(_LANGUAGE_OF_SCRIPT.get(script), "Chinese" if script == "CJK" else script.capitalize())


def _scripts(texts: Sequence[str]) -> Iterator[str]:
    names = (unicodedata.name(letter, "").split(" ")[0] for text in texts for letter in text if letter.isalpha())
    return (name for name in names if name not in {"", "LATIN"})


def _by_words(words: Sequence[str]) -> Guess | None:
    counts = Counter(words)
    found = sorted(((sum(counts[word] for word in own), code) for code, own in _WORDS.items()), reverse=True)
    (most, language), (next_most, _) = found[:2]
    different = sum(word in counts for word in _WORDS[language])
    is_plain = most >= max(_FEWEST_WORDS, _SHARE * len(words)) and most >= _LEAD * next_most
    is_plain = is_plain and different >= _FEWEST_DIFFERENT
    return Guess(language) if is_plain else None
