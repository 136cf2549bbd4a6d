"""Text options: what is done to both texts of a study alike, or to references alone, before any metric sees them.

They are asked for by their words, joined with ``+`` after the protocol's own preparation
(``sections+lower+deid-drop``), and stand in signatures with their versions (``prep:sections+deid-drop.1+lower.1``).
Whatever the order of the words, they are applied in the order of `OPTIONS`. Each looks at one text alone, and a text
that says nothing stays as it is, so a blank prediction is never made to say something.

The cleaning recipes are those of public training code: R2Gen (Chen et al., EMNLP 2020) and R2GenGPT (Wang et al.,
Meta-Radiology 2023), which CXPMRG-Bench took over. They differ in tokens, so scores after different recipes are not
comparable. The originals clean references and train their models to write cleaned text; here both sides are cleaned,
and a text that is cleaned already stays as it is.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from rexrank.reports.sections import without_headers
from rexrank.reports.studies import is_blank

DEID_WORD = "deid"
NUMBER_WORD = "num"


@dataclass(frozen=True)
class TextOption:
    """One thing that can be done to a text.

    Attributes:
        word: Name in calls and signatures.
        version: Raised whenever a treated text can change.
        concerns: What it treats; of the options that concern the same thing only one can be chosen.
        treat: From a text to the treated text.
        references_only: Whether predictions stay as they are.
    """

    word: str
    version: int
    concerns: str
    treat: Callable[[str], str]
    references_only: bool = False

    @property
    def signature(self) -> str:
        """The word with its version, as signatures show it."""
        return f"{self.word}.{self.version}"


def treat(text: str, options: Iterable[TextOption]) -> str:
    """Apply options one after the other; nothing is done to a text that is blank or has become so.

    Args:
        text: One text of either side.
        options: In the order in which they are applied.
    """
    for option in options:
        if is_blank(text):
            return text
        text = option.treat(text)
    return text


# Open-i writes XXXX (a model trained on lower-cased reports xxxx), MIMIC-CXR ___.
_DEID_MARK = re.compile(r"X{4,}|x{4,}|_{3,}")
# Blanks before a mark are looked at from their first one only, or a text of blanks would take the square of its length.
_DEID_MARKS_AND_BLANKS = re.compile(
    rf"(?:(?<![ \t])([ \t]+))?(?:{_DEID_MARK.pattern})(?:[ \t]+(?:{_DEID_MARK.pattern}))*([ \t]*)"
)


def drop_deid_marks(text: str) -> str:
    """Take out ``XXXX`` and ``___``, with the blanks that then stand at the end of a line or beside punctuation."""

    def gap(marks: re.Match[str]) -> str:
        before, after = text[marks.start() - 1 : marks.start()], text[marks.end() : marks.end() + 1]
        at_edge = before in ("", "\n", "(", "[") or after in ("", *"\n.,;:!?)]")
        return " " if (marks[1] or marks[2]) and not at_edge else ""

    return _DEID_MARKS_AND_BLANKS.sub(gap, text)


def mark_deid_marks(text: str) -> str:
    """Write every ``XXXX`` and ``___`` as the word ``deid``."""
    return _DEID_MARK.sub(DEID_WORD, text)


# A letter before the digits, also with a hyphen, makes them part of a name (T12, COVID-19); the x of 4x5 does not.
_NUMBER = re.compile(r"(?:(?<![^\W_])(?<![^\W\d_]-)|(?<=\d[xX×]))\d+(?:[.,]\d+)*(?=(?P<unit>[^\W\d_])?)")


def mark_numbers(text: str) -> str:
    """Write every number as the word ``num``; digits after a letter are part of a name (T12, COVID-19) and stay.

    A decimal point or comma belongs to its number. A unit or an ``x`` that touches a number is set apart by a blank, so
    that ``3.5cm`` and ``3.5 cm`` become alike.
    """

    def word(number: re.Match[str]) -> str:
        before = " " if number.start() and text[number.start() - 1] in "xX×" else ""
        return f"{before}{NUMBER_WORD}{' ' if number['unit'] else ''}"

    return _NUMBER.sub(word, text)


def collapse_space(text: str) -> str:
    """Every run of white space one blank, none at the ends."""
    return " ".join(text.split())


_QUOTES = str.maketrans("", "", "\"/\\'")
# R2Gen's character class holds ":-[" as a range, so that < = > @ go and the hyphen stays. One public variant writes the
# hyphen as itself, and R2GenGPT's has neither the colon nor a range.
_KEPT_OUT = ".,?;*!%^&_+()[]{}"
_DELETED = {
    "iu": str.maketrans("", "", _KEPT_OUT + ":<=>@"),
    "iu_literal_hyphen": str.maketrans("", "", _KEPT_OUT + ":-"),
    "mimic_r2gen": str.maketrans("", "", _KEPT_OUT + ":<=>@"),
    "mimic_r2gengpt": str.maketrans("", "", _KEPT_OUT),
}


_JOINED_COLON = re.compile(r"[^ ]:")


def clean(text: str, recipe: str) -> str:
    """Clean a report as R2Gen's family does.

    Plain replacements, each pass once from left to right: for the ``mimic`` recipes line breaks become blanks and runs
    of ``_`` and of blanks shrink; ``..`` becomes ``.``; list numbers from 1 to 5 go; ``mimic_r2gengpt`` sets the colon
    apart. Then the text is stripped, lower-cased and split at each full stop with a blank, of each sentence quotes,
    slashes and the recipe's characters are deleted, and the sentences are joined by `` . `` with a closing `` .``.

    Args:
        text: A report.
        recipe: ``iu``, ``mimic_r2gen``, ``mimic_r2gengpt`` or ``iu_literal_hyphen``.

    Returns:
        The cleaned report; `` .`` of an empty one. Deleted characters leave no blank, empty sentences stay.
    """
    of_mimic = recipe.startswith("mimic")
    if of_mimic:
        text = _replaced(text.replace("\n", " "), ("__", "_", 7), ("  ", " ", 6))
    text = _replaced(text, ("..", ".", 8 if of_mimic else 3), ("1. ", "", 1))
    for before in (". ", " "):
        for number in "2345":
            text = text.replace(f"{before}{number}. ", ". ")
    if recipe == "mimic_r2gengpt":
        text = text.replace(":", " :")
    deleted = _DELETED[recipe]
    sentences = [part.translate(_QUOTES).strip().translate(deleted) for part in text.strip().lower().split(". ")]
    return " . ".join(sentences) + " ."


def is_clean(text: str, recipe: str) -> bool:
    """Whether a text has the form that `clean` gives: lower-case sentences without its characters, `` .`` after each.

    Args:
        text: A report.
        recipe: As for `clean`.
    """
    if not text.endswith(" .") or text != text.lower() or (recipe.startswith("mimic") and "\n" in text):
        return False
    if recipe == "mimic_r2gengpt" and _JOINED_COLON.search(text):
        return False
    sentences = text.removesuffix(" .").split(" . ")
    return all(sentence == sentence.translate(_QUOTES).translate(_DELETED[recipe]) for sentence in sentences)


def _cleaned(text: str, recipe: str) -> str:
    """The text cleaned once.

    Models of R2Gen's family write cleaned text. Cleaning that again sets a second blank before the last full stop, on
    their side alone, and ROUGE-L, which splits at single blanks, counts it.
    """
    return text if is_clean(text, recipe) else clean(text, recipe)


def _replaced(text: str, *steps: tuple[str, str, int]) -> str:
    for old, new, passes in steps:
        for _ in range(passes):
            text = text.replace(old, new)
    return text


_WORD = re.compile(r"\S+")
_CUTS = (60, 100)


def first_words(text: str, number: int) -> str:
    """The text up to the end of a word, counted from its beginning; the whole text where it has no more.

    Args:
        text: A report.
        number: How many words stay, at least 1; white space parts words.
    """
    ends = [word.end() for word, _ in zip(_WORD.finditer(text), range(number + 1), strict=False)]
    return text if len(ends) <= number else text[: ends[number - 1]]


OPTIONS: Mapping[str, TextOption] = {
    option.word: option
    for option in (
        TextOption("headers-drop", 1, "headers", without_headers),
        TextOption("deid-drop", 1, "deid", drop_deid_marks),
        TextOption("deid-mark", 1, "deid", mark_deid_marks),
        TextOption("numbers-mark", 1, "numbers", mark_numbers),
        *(TextOption(recipe, 2, "cleaning", partial(_cleaned, recipe=recipe)) for recipe in _DELETED),
        TextOption("lower", 1, "case", str.lower),
        TextOption("collapse", 1, "white space", collapse_space),
        *(
            TextOption(f"truncate-{cut}", 1, "length", partial(first_words, number=cut), references_only=True)
            for cut in _CUTS
        ),
    )
}
"""What each does stands in docs/score.md."""
