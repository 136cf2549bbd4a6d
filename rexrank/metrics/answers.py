"""What judges answered, read study by study, and JSON in the forms in which judges write it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from rexrank.metrics.encoded import FAILED
from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.outcome import Flags, Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.terms import Convention

UNPARSED = "unparsed"
STRICT = "strict"
TOLERANT = "tolerant"
PARSERS = (STRICT, TOLERANT)

Reading = TypeVar("Reading")
ObjectMaker = Callable[[list[tuple[str, Any]]], Any]
ConstantMaker = Callable[[str], Any]

# What crimson-score tries, in its order. Each pattern reads a text once from left to right: no run of blanks or of
# letters is tried twice.
_CURLY_QUOTES = str.maketrans({"\u201c": '\\"', "\u201d": '\\"', "\u2018": "\\'", "\u2019": "\\'"})
_LIST_WITH_EMPTY_KEY = re.compile(r'\[""\s*+:\s*+\[')
_KEY_WITHOUT_FIRST_QUOTE = re.compile(r'((?:[\]}"0-9]\s*+,|\{)\s*+)([A-Za-z_][A-Za-z0-9_]*+")')
_KEY_WITHOUT_VALUE = re.compile(r',\s*+"[^"]*+"\s*+(?=[,}])')
_FIRST_KEY_WITHOUT_VALUE = re.compile(r'(?<=\{)\s*+"[^"]*+"\s*+,\s*+(?=")')
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrtu])')
_MOST_QUOTE_REPAIRS = 50
_QUOTE_SEARCH = 5


def strict_json(text: str) -> Any:
    """Read JSON as its standard has it; None where the text is something else.

    A key given twice, NaN and Infinity are refused too: nobody can say what was meant.
    """
    return read_json(text, _unique, refuse_constant)


def read_json(text: str, pairs: ObjectMaker | None = None, constant: ConstantMaker | None = None) -> Any:
    """Read JSON; None where the text is something else, or nested deeper than can be read.

    Args:
        text: What should be JSON.
        pairs: Makes an object of its keys and values; without it the last of equal keys wins.
        constant: Makes a value of ``NaN`` and ``Infinity``; without it they are numbers.
    """
    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError):
        return None


def first_of_equal_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `read_json`: an object in which the first of equal keys wins."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        found.setdefault(key, value)
    return found


def repaired_json(
    text: str, pairs: ObjectMaker | None = first_of_equal_keys, constant: ConstantMaker | None = None
) -> Any:
    """Read JSON after the repairs of crimson-score 0.2.0; None where they do not help.

    Curly quotes become escaped ones, ``["":[`` becomes ``[``, and keys get a missing first quote. Then, each tried
    on its own until the text can be read: strings that stand where a key should are removed, wrong escapes are
    escaped, and quotes inside strings are escaped one after the other.

    Args:
        text: What should be JSON.
        pairs: As for `read_json`; crimson-score takes the first of equal keys.
        constant: As for `read_json`.
    """
    text = text.translate(_CURLY_QUOTES)
    text = _LIST_WITH_EMPTY_KEY.sub("[", text)
    text = _KEY_WITHOUT_FIRST_QUOTE.sub(r'\1"\2', text)
    without_orphans = _FIRST_KEY_WITHOUT_VALUE.sub("", _KEY_WITHOUT_VALUE.sub("", text))
    escaped = _BAD_ESCAPE.sub(r"\\\\", text)
    for candidate in (text, without_orphans, escaped):
        if (found := read_json(candidate, pairs, constant)) is not None:
            return found
    for candidate in (text, escaped):
        if (found := _with_escaped_quotes(candidate, pairs, constant)) is not None:
            return found
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def refuse_constant(constant: str) -> Any:
    """For `read_json`: NaN and Infinity make a text unreadable."""
    raise ValueError(f"{constant} is no JSON")


def _with_escaped_quotes(text: str, pairs: ObjectMaker | None, constant: ConstantMaker | None) -> Any:
    """Escape quotes inside strings: where reading stops, the nearest quote before that cannot end a string."""
    for _ in range(_MOST_QUOTE_REPAIRS):
        try:
            return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
        except json.JSONDecodeError as error:
            found = [at for at in range(error.pos, max(0, error.pos - _QUOTE_SEARCH) - 1, -1) if _is_inner(text, at)]
        except (ValueError, RecursionError):
            return None
        if not found:
            return None
        text = f"{text[: found[0]]}\\{text[found[0] :]}"
    return None


def _is_inner(text: str, at: int) -> bool:
    """Whether the character is a quote that belongs to the words of a string, not to the form of the JSON."""
    if text[at : at + 1] != '"' or (at and text[at - 1] == "\\"):
        return False
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if (before and before in ":[{") or (after and after in ":]}"):
        return False
    if before == ",":
        return not _begins_or_ends(text[at - 2 : at - 1], '"]}')
    return after != "," or not _begins_or_ends(text[at + 2 : at + 3], '"[{')


def _begins_or_ends(character: str, marks: str) -> bool:
    return character != "" and (character in marks or character.isdigit())


@dataclass(frozen=True)
class Answers(Generic[Reading]):
    """Answers of a judge about the studies of a call.

    Attributes:
        readings: What each answer says; None where it cannot be read or no score depends on it.
        reasons: Why there is none, by position, of the studies whose score depends on it: ``failed`` without an
            answer, ``unparsed`` with one that cannot be read.
        counts: ``n_failed`` and ``n_unparsed``, the numbers of these reasons.
    """

    readings: Sequence[Reading | None]
    reasons: Mapping[int, str]
    counts: Mapping[str, int]


def read_answers(
    pairs: Pairs,
    name: str,
    kinds: tuple[type, ...],
    read: Callable[[Any, str, str], Reading | None],
    needed: Flags,
) -> Answers[Reading]:
    """Read the answers of a judge.

    Args:
        pairs: The texts with their features.
        name: Name of the feature.
        kinds: Types of an answer; None stands for a judge that failed.
        read: Takes an answer, the prediction and the answer's place in the call; None where it cannot be read.
        needed: Which studies depend on their answer, [n], as from `needed_answers`; the others are not read.

    Raises:
        InvalidCall: An answer has another type.
    """
    readings: list[Reading | None] = []
    reasons: dict[int, str] = {}
    for position, answer in enumerate(pairs.pair_features(name)):
        where = f"features[{name!r}]{pairs.place(position)}"
        if answer is not None and not isinstance(answer, kinds):
            expected = " or ".join(kind.__name__.lower() for kind in kinds)
            found = type(answer).__name__
            raise InvalidCall(f"{where}: expected {expected}, or None, got {found}")
        is_read = answer is not None and needed[position]
        readings.append(read(answer, pairs.predictions[position], where) if is_read else None)
        if needed[position] and readings[-1] is None:
            reasons[position] = FAILED if answer is None else UNPARSED
    counts = {f"n_{reason}": list(reasons.values()).count(reason) for reason in (FAILED, UNPARSED)}
    return Answers(readings, reasons, counts)


def needed_answers(pairs: Pairs, convention: Convention, reads_all_scripts: bool) -> Flags:
    """Which studies a judge is needed for, [n]: in `corrected` the policy settles the others without it.

    Args:
        pairs: The texts.
        convention: ``published`` needs an answer for every study.
        reads_all_scripts: Whether texts outside the Latin script are compared like all others.
    """
    if convention == "published":
        return np.ones(len(pairs), dtype=bool)
    settled = pairs.blank_predictions | pairs.blank_references | pairs.identical
    if not reads_all_scripts:
        settled = settled | pairs.foreign_predictions | pairs.foreign_references
    return ~settled


def judged(
    values: Sequence[float | None],
    answers: Answers[Any],
    signature: Mapping[str, str],
    counts: Mapping[str, int] | None = None,
) -> Outcome:
    """The outcome of a judge, which sees something in every text.

    Args:
        values: One value a study, [n]; None where there is none.
        answers: Where they come from.
        signature: Parts of the signature.
        counts: Further counts.
    """
    column = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    seen = np.ones(len(column), dtype=bool)
    return Outcome(
        values=column,
        signature=signature,
        prediction_content=seen,
        reference_content=seen,
        counts={**answers.counts, **(counts or {})},
        reasons=answers.reasons,
    )
