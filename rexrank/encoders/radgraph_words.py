"""The words of a report as RadGraph's models see them; spans of entities are counted in these.

Rules of radgraph 0.1.18 (github.com/Stanford-AIMI/radgraph), which had them from the code of Jain et al. 2021.
"""

import re
from collections.abc import Callable
from typing import Literal

Form = Literal["v1", "xl"]

# What the package encodes in place of an empty text.
_EMPTY = "None"
# The original writes "[/,-,:,.,!?()]", where ",-," is a range from comma to comma: hyphens stay inside their word.
_APART = str.maketrans({mark: f" {mark} " for mark in "/,:.!?()"})
# Escapes that stand in the text as written characters, and what replaces them.
_ESCAPES = (("\\n", "  "), ("\\f", "  "), ("\\u2122", "      "), ("\n", " "), ('\\"', "``"))
# As in NLTK up to 3.10.0, with which all published numbers were made. Later ones compile it with another engine, to
# which "²" and "½" are no word characters and accents that stand alone are.
_RUN = re.compile(r"\w+|[^\w\s]+")
_SPLITS = ((").", ") ."), ("%.", "% ."), (".'", ". '"), ("%,", "% ,"), ("%)", "% )"))
_ENCODED_AS = {"/.": ".", "/?": "?"}


def words_of(text: str, form: Form) -> list[str]:
    """Split a report into words.

    Args:
        text: The report; an empty one is the word ``None``, as in the package.
        form: ``v1``: marks of the class ``/ , : . ! ? ( )`` stand alone, which also takes decimals apart;
            ``xl``, which the model on ModernBERT shares: runs of word characters and runs of other characters.

    Returns:
        The words; none for a text of white space, on which the package fails.
    """
    return _SPLITTERS[form](text or _EMPTY)


def encoded_word(word: str) -> str:
    """What the encoder is given for a word; the graph shows the word itself."""
    return _ENCODED_AS.get(word, word)


def _first_form(text: str) -> list[str]:
    return text.translate(_APART).split()


def _second_form(text: str) -> list[str]:
    for escape, replacement in _ESCAPES:
        text = text.replace(escape, replacement)
    joined = " ".join(_RUN.findall(text))
    for run, replacement in _SPLITS:
        joined = joined.replace(run, replacement)
    return joined.split()


_SPLITTERS: dict[str, Callable[[str], list[str]]] = {"v1": _first_form, "xl": _second_form}
