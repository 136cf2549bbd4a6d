"""How texts become tokens. The name of a tokeniser stands in every signature that used it.

| name | what it does |
|---|---|
| `rexrank` | lower-case, a space before each full stop, split on U+0020 only (ReXrank) |
| `split` | split on white space, case kept (pycocoevalcap's BLEU) |
| `space` | split on each single U+0020, empty tokens kept, case kept (pycocoevalcap's ROUGE-L) |
| `alnum` | lower-case runs of a-z and 0-9 (rouge_score) |
| `meteor-norm` | METEOR's own Java program: lower-case words, punctuation set apart and put into one form (`-norm`) |
| `unicode` | the corrected convention: NFC, headers dropped, lower-case, words, numbers and marks of any script |
| `unicode-words` | `unicode` without punctuation |

Porter's stemmer can follow `alnum` and `unicode-words` (`alnum+porter`); signatures show it as `stem:porter`. It takes
English words of more than three letters to their stems.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from rexrank.metrics.porter import stem


@dataclass(frozen=True)
class Tokenizer:
    """A tokeniser with the name that its signature shows.

    Attributes:
        name: Name in signatures.
        split: Text to tokens.
        normalise: Applied once to each *distinct* token; gives what is compared, or None to drop the token.
    """

    name: str
    split: Callable[[str], list[str]]
    normalise: Callable[[str], str | None] | None = None


def rexrank_tokens(text: str) -> list[str]:
    """Tokens of ReXrank's BLEU-2: line breaks, tabs and no-break spaces stay inside tokens."""
    return list(filter(None, text.lower().replace(".", " .").split(" ")))


def single_space_tokens(text: str) -> list[str]:
    """Split on every single space; a run of spaces gives empty tokens, and so does the empty text."""
    return text.split(" ")


_ALNUM = re.compile("[a-z0-9]+")


def alnum_tokens(text: str) -> list[str]:
    """Lower-case ASCII letters and digits; everything else separates (rouge_score)."""
    return _ALNUM.findall(text.lower())


def porter_stem(token: str) -> str | None:
    """Stem of a token of more than three letters; None where nothing is left (rouge_score drops those)."""
    return (stem(token) if len(token) > 3 else token) or None


# Pinned here and not taken from the section parser: a header more would change scores.
_HEADER_NAMES = "|".join(
    (
        "findings?",
        "impressions?",
        "conclusions?",
        "comparisons?",
        "indications?",
        "techniques?",
        "(?:clinical )?history",
        "clinical (?:information|indication|data)",
        "exam(?:ination)?",
        "procedure",
        "results?",
        "opinion",
        "summary",
        "recommendations?",
        "reason for (?:exam(?:ination)?|study)",
        "(?:final )?report",
    )
)
_HEADERS = re.compile(
    rf"(?:\A|(?<=[.!?。\n\r]))\s*(?:(?:{_HEADER_NAMES})(?:\s*(?:and|&|/)\s*(?:{_HEADER_NAMES}))?\s*:\s*)+",
    re.IGNORECASE,
)


def drop_headers(text: str) -> str:
    """Replace section headers with a colon, at the start of the text, a sentence or a line, by one space."""
    return _HEADERS.sub(" ", text) if ":" in text else text


_CONTROL = r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
# The same as the general pattern for lower-case ASCII, a third faster because most tokens are words.
_ASCII_TOKENS = re.compile(r"[a-z_]\w*(?:[-']\w+)*|\d+(?:[.,]\d+)*|[!-/:-@\[-`{-~]", re.ASCII)
# Scripts written without spaces between words: Thai, Lao, Tibetan, Myanmar, Khmer, kana, Han and its extensions.
_SPACELESS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)


@cache
def _unicode_pattern() -> re.Pattern[str]:
    # `re` has no class for combining marks and `\w` lacks them; without them words of Indic scripts fall apart.
    marks = "".join(
        chr(code)
        for code in (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
        if unicodedata.category(chr(code))[0] == "M"
    )
    letter = rf"(?:[^\W{_SPACELESS}]|[{marks}])"
    return re.compile(
        rf"\d+(?:[.,]\d+)*|[{_SPACELESS}][{marks}]*|{letter}+(?:[-'’]{letter}+)*|[^\w\s{_CONTROL}{marks}]"
    )


@lru_cache(maxsize=4096)
def _is_format(character: str) -> bool:
    return unicodedata.category(character) == "Cf"


def unicode_tokens(text: str) -> list[str]:
    """Tokens of the corrected convention, alike for prediction and reference.

    NFC; section headers dropped; invisible format characters (soft hyphen,
    zero-width joiners) removed; lower-case; then numbers with inner points or
    commas, words with inner hyphens or apostrophes, and every other visible
    character by itself. In scripts without spaces each character is a token.
    """
    if text.isascii():
        return _ASCII_TOKENS.findall(drop_headers(text).lower())
    text = unicodedata.normalize("NFC", text)
    hidden = [character for character in set(text) if _is_format(character)]
    for character in hidden:
        text = text.replace(character, "")
    return _unicode_pattern().findall(drop_headers(text).lower())


def word(token: str) -> str | None:
    """The token itself if it holds a letter or digit, else None."""
    return token if any(character.isalnum() for character in token) else None


def stemmed_word(token: str) -> str | None:
    """The Porter stem of a word of ASCII letters, other words as they are, None for punctuation."""
    kept = word(token)
    return porter_stem(kept) if kept and kept.isascii() and kept.isalpha() else kept


REXRANK = Tokenizer("rexrank", rexrank_tokens)
SPLIT = Tokenizer("split", str.split)
SPACE = Tokenizer("space", single_space_tokens)
ALNUM = Tokenizer("alnum", alnum_tokens)
ALNUM_STEMMED = Tokenizer("alnum+porter", alnum_tokens, porter_stem)
UNICODE = Tokenizer("unicode", unicode_tokens)
UNICODE_WORDS = Tokenizer("unicode-words", unicode_tokens, word)
UNICODE_STEMMED = Tokenizer("unicode-words+porter", unicode_tokens, stemmed_word)
