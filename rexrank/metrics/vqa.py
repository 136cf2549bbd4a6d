"""Accuracy of answers to questions about images, as ReXVQA asks them: one answer a question.

A question is right where the answer read from the prediction is the one read from a
reference. ``vqa_accuracy_micro`` is the share of right answers over all questions (ReXVQA's
overall accuracy since 2026), ``vqa_accuracy_macro`` the unweighted mean over the categories
of the shares within each (until 2025; option `categories`, without it unavailable). A category
in which no question has a score is left out, never 0. Range [0, 1].

How an answer is read: a reference that is one letter, or the option `choices`, makes a question
multiple choice, and its answer a letter. Else the whole text is the answer.

- `published`: ``A``, ``A.``, ``(A)``, ``Answer: A``, or the text of a choice, with or without
  its letter; white space around it does not matter, case does. A whole text has to be equal.
- `corrected`: in any case and Unicode form, and also ``a)``, ``[A]``, ``The answer is A.``, ``**A**``,
  TeX's box around ``A``, or a letter with its mark before further words (``B. No effusion``), unless choices are
  given and the words do not begin with that choice's. Where the whole text is no answer, its first and its last
  line are read, and count unless they name two letters. Of texts the full stop at the end does not matter.

An answer that cannot be read, a blank one too, is wrong, 0, and counted in ``n_unparsed``. Of several
references each is right. Definition: ReXVQA (github.com/rajpurkarlab/ReXrank).
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rexrank.metrics.inputs import InvalidCall, check_choice, check_texts
from rexrank.metrics.outcome import Flags, Floats, Formula, Outcome
from rexrank.metrics.pairs import Integers, Pairs, canonical
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, Option, ScoreKey
from rexrank.reports.studies import is_blank
from rexrank.terms import CONVENTIONS, Convention

# The categories of ReXVQA in the order of its table.
CATEGORIES = (
    "Differential Diagnosis",
    "Geometric Information Assessment",
    "Location and Distribution Assessment",
    "Negation Assessment",
    "Presence Assessment",
)

# Each costs two numbers a question; ids of questions given as categories would fill the memory.
_MOST_CATEGORIES = 200

_PUBLISHED_LETTER = re.compile(r"(?:Answer:\s*)?(?:([A-Z])\.?|\(([A-Z])\))")
_LEAD = r"(?:(?:the\s+)?(?:(?:correct|final|best)\s+)?(?:answer|option|choice)(?:\s+is)?\s*:?\s*)?"
# How programs and their fonts set an answer off: Markdown, TeX, tags.
_MARKS = re.compile(r"[*`]+|</?(?:final_)?answer>|\\(?:boxed|text|textbf|mathrm)\{([^{}]*)\}")
_NESTED = 2
_LETTER = re.compile(rf"{_LEAD}(?:([a-z])|\(([a-z])\)|\[([a-z])\])[.):]*")
_LETTER_AND_WORDS = re.compile(rf"{_LEAD}(?:([a-z])[.):]|\(([a-z])\)|\[([a-z])\])\s*(\S.*)", re.DOTALL)
_CHOICE = re.compile(r"\(?([A-Za-z])[.):]\s*(\S.*)", re.DOTALL)


class CategoryAccuracy(NamedTuple):
    """Accuracy within one category.

    Attributes:
        category: Its name.
        accuracy: Share of right answers, in [0, 1]; None without a question that has a score.
        n: Number of questions that have a score.
        n_unparsed: Number of predictions without an answer that can be read.
    """

    category: str
    accuracy: float | None
    n: int
    n_unparsed: int


def accuracies(
    predictions: Sequence[str],
    references: Sequence[str | Sequence[str]],
    categories: Sequence[str],
    convention: Convention,
    choices: Sequence[Sequence[str]] | None = None,
    names: Sequence[str] | None = None,
) -> list[CategoryAccuracy]:
    """Accuracy of each category.

    Args:
        predictions: One answer a question.
        references: The right answer of each question, or several.
        categories: Category of each question.
        convention: ``published`` or ``corrected``; in `corrected` a question without a right answer has no score.
        choices: The choices of each question, ``["A. …", "B. …"]``.
        names: Categories to report, in order (`CATEGORIES` are ReXVQA's); None for those that occur, in order of
            their first question.

    Raises:
        InvalidCall: Arguments of a wrong type or length; never quotes a text.
    """
    check_choice("convention", convention, CONVENTIONS)
    answers, right = check_texts(predictions, references)
    of_question = _checked_categories(categories, len(answers))
    reported = of_question if names is None else _checked_names("names", names)
    graded = _grade(Pairs(answers, right), convention, _checked_choices(choices, len(answers)))
    scored = np.ones(len(answers), dtype=bool)
    if convention == "corrected":
        scored = np.array([not all(map(is_blank, texts)) for texts in right], dtype=bool)
    rows = []
    for name in dict.fromkeys(reported):
        own = np.array([category == name for category in of_question]) & scored
        accuracy = float(graded.correct[own].mean()) if own.any() else None
        rows.append(CategoryAccuracy(name, accuracy, int(own.sum()), int((graded.unparsed & own).sum())))
    return rows


@dataclass(frozen=True)
class _Graded:
    """Which answers are right, and which cannot be read, [n]."""

    correct: Flags
    unparsed: Flags


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    choices = _checked_choices(options.get("choices"), len(pairs))
    graded = _grade(pairs, convention, choices)
    signature = {"choices": "none" if choices is None else "given"}
    found: dict[str, Outcome] = {}
    if "vqa_accuracy_micro" in keys:
        found["vqa_accuracy_micro"] = _outcome(graded, signature)
    if "vqa_accuracy_macro" in keys:
        numbers = _numbered(_checked_categories(options["categories"], len(pairs)))
        parts = {"categories": str(int(numbers.max()) + 1), **signature}
        found["vqa_accuracy_macro"] = _outcome(graded, parts, _by_category(graded, numbers))
    return found


def _outcome(graded: _Graded, signature: Mapping[str, str], statistics: Floats | None = None) -> Outcome:
    seen = np.ones(len(graded.correct), dtype=bool)
    return Outcome(
        values=graded.correct.astype(np.float64),
        signature=signature,
        prediction_content=seen,
        reference_content=seen,
        statistics=statistics,
        formula=None if statistics is None else _mean_of_categories,
        counts={"n_unparsed": int(graded.unparsed.sum())},
        counts_of=None if statistics is None else _number_of_categories,
    )


def _formula_of(key: str, parts: Mapping[str, str]) -> Formula | None:
    return _mean_of_categories if key == "vqa_accuracy_macro" else None


def _numbered(categories: Sequence[str]) -> Integers:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(categories))}
    return np.array([numbers[name] for name in categories], dtype=np.int64)


def _by_category(graded: _Graded, numbers: Integers) -> Floats:
    """Right answers and questions of each category, [n, 2 · categories]."""
    member = np.eye(numbers.max() + 1)[numbers]
    return np.concatenate([member * graded.correct[:, None], member], axis=1)


def _mean_of_categories(sums: Floats) -> Floats:
    right, asked = np.split(sums, 2, axis=1)
    shares = np.divide(right, asked, out=np.zeros_like(right), where=asked > 0)
    number = (asked > 0).sum(axis=1)
    return np.divide(shares.sum(axis=1), number, out=np.full(len(sums), np.nan), where=number > 0)


def _number_of_categories(sums: Floats) -> dict[str, int]:
    return {"n_categories": int((np.split(sums, 2, axis=1)[1] > 0).sum())}


def _grade(pairs: Pairs, convention: Convention, choices: Sequence[Sequence[str]] | None) -> _Graded:
    correct = np.zeros(len(pairs), dtype=bool)
    unparsed = np.zeros(len(pairs), dtype=bool)
    for position, (prediction, references) in enumerate(zip(pairs.predictions, pairs.references, strict=True)):
        offered = None if choices is None else _offered(choices[position], convention)
        read = partial(_letter, offered=offered, convention=convention)
        letters = [letter for letter in map(read, references) if letter is not None]
        if letters:
            letter = read(prediction)
            unparsed[position] = letter is None
            correct[position] = letter in letters
        else:
            said, *right = (_normalised(text, convention) for text in (prediction, *references))
            unparsed[position] = is_blank(prediction)
            correct[position] = said in right and not is_blank(prediction)
    if convention == "corrected":
        correct |= pairs.identical
        unparsed &= ~pairs.identical
    return _Graded(correct, unparsed)


def letters(
    texts: Sequence[str], choices: Sequence[Sequence[str]], convention: Convention = "published"
) -> list[str | None]:
    """The letter of the choice that each text names; None where it cannot be read.

    Args:
        texts: One answer a question.
        choices: The choices of each question, ``["A. …", "B. …"]``; those without letters get them by their place.
        convention: How answers are read.

    Raises:
        InvalidCall: Arguments of a wrong type or length; never quotes a text.
    """
    check_choice("convention", convention, CONVENTIONS)
    answers = _listed("texts", texts)
    offered = _checked_choices(_listed("choices", choices), len(answers)) or []
    return [_letter(text, _offered(own, convention), convention) for text, own in zip(answers, offered, strict=True)]


def repeats_a_letter(choices: Sequence[str]) -> bool:
    """Whether every choice of a question has a letter, and two have the same, so that nobody knows which is meant."""
    marked = [match[1].upper() for choice in choices if (match := _CHOICE.fullmatch(choice.strip()))]
    return len(set(marked)) < len(marked) == len(choices)


def lettered(choices: Sequence[str]) -> dict[str, str]:
    """Letter of each choice of a question, and its text without the letter."""
    marked = [_CHOICE.fullmatch(choice.strip()) for choice in choices]
    found = {match[1].upper(): match[2] for match in marked if match}
    if len(found) == len(choices):
        return found
    return {chr(ord("A") + place): choice for place, choice in enumerate(choices)}


def _offered(choices: Sequence[str], convention: Convention) -> dict[str, str]:
    return {letter: _normalised(choice, convention) for letter, choice in lettered(choices).items()}


def _normalised(text: str, convention: Convention) -> str:
    return text.strip() if convention == "published" else _folded(text)


def _folded(text: str) -> str:
    """A text in the form in which equal answers are equal: case, Unicode, white space, marks around it."""
    text = unicodedata.normalize("NFKC", text).casefold()
    for _ in range(_NESTED):
        text = _MARKS.sub(r"\1", text)
    return canonical(text).strip("_\"' ").removesuffix(".").rstrip()


def _letter(text: str, offered: Mapping[str, str] | None, convention: Convention) -> str | None:
    """The letter that a text names, or None."""
    whole = _letter_of(_normalised(text, convention), offered, convention)
    if whole is not None or convention == "published":
        return whole
    lines = [line for line in text.splitlines() if not is_blank(line)]
    if len(lines) < 2:
        return None
    ends = {_letter_of(_folded(line), offered, convention) for line in (lines[0], lines[-1])} - {None}
    return ends.pop() if len(ends) == 1 else None


def _letter_of(text: str, offered: Mapping[str, str] | None, convention: Convention) -> str | None:
    """The letter that a normalised text names, or None."""
    pattern = _PUBLISHED_LETTER if convention == "published" else _LETTER
    if match := pattern.fullmatch(text):
        letter = next(filter(None, match.groups())).upper()
        return letter if offered is None or letter in offered else None
    pattern = _CHOICE if convention == "published" else _LETTER_AND_WORDS
    if match := pattern.fullmatch(text):
        *marked, words = match.groups()
        letter = next(filter(None, marked)).upper()
        if _are_its_words(words, letter, offered, convention):
            return letter
    letters = [letter for letter, choice in (offered or {}).items() if choice == text]
    return letters[0] if len(letters) == 1 else None


def _are_its_words(words: str, letter: str, offered: Mapping[str, str] | None, convention: Convention) -> bool:
    """Whether the words behind a letter are those of its choice."""
    if offered is None:
        return convention == "corrected"
    choice = offered.get(letter)
    if not choice or words == choice:
        return words == choice
    # Reasons may follow: "B. No effusion. The angles are sharp."
    return convention == "corrected" and words.startswith(choice) and not words[len(choice)].isalnum()


def _checked_categories(categories: Any, expected: int) -> list[str]:
    names = _checked_names("categories", categories)
    _check_length("categories", names, expected)
    if (number := len(set(names))) > _MOST_CATEGORIES:
        raise InvalidCall(
            f"categories: expected the few kinds of questions, at most {_MOST_CATEGORIES}, got {number} different names"
        )
    return names


def _checked_names(argument: str, value: Any) -> list[str]:
    names = _listed(argument, value)
    for position, name in enumerate(names):
        if not isinstance(name, str) or is_blank(name):
            raise InvalidCall(f"{argument}[{position}]: expected the name of a category")
    return names


def _checked_choices(choices: Any, expected: int) -> list[list[str]] | None:
    if choices is None:
        return None
    listed = _listed("choices", choices)
    _check_length("choices", listed, expected)
    for position, own in enumerate(listed):
        if not isinstance(own, list | tuple) or not own or not all(isinstance(choice, str) for choice in own):
            raise InvalidCall(f"choices[{position}]: expected a list of texts, one a choice")
    return [list(own) for own in listed]


def _listed(argument: str, value: Any) -> list[Any]:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray):
        raise InvalidCall(f"{argument}: expected a list, got {type(value).__name__}")
    return list(value)


def _check_length(argument: str, items: Sequence[Any], expected: int) -> None:
    if len(items) != expected:
        raise InvalidCall(f"{argument} has {len(items)} items, and there are {expected} questions; give one a question")


def _key(key: str, label: str, kind: Any, description: str, requires: tuple[str, ...] = ()) -> ScoreKey:
    return ScoreKey(
        key=key,
        label=label,
        direction="higher",
        ranges=UNIT_RANGES,
        kind=kind,
        digits=4,
        modality=("any",),
        language=("any",),
        description=description,
        requires=requires,
    )


METRIC = Metric(
    name="vqa",
    version="2",
    keys=(
        _key(
            "vqa_accuracy_macro",
            "VQA accuracy, mean of categories",
            "corpus",
            "Share of right answers of each category; mean of the categories.",
            ("categories",),
        ),
        _key("vqa_accuracy_micro", "VQA accuracy", "mean", "Share of right answers; mean of the questions."),
    ),
    compute=_compute,
    formula_of=_formula_of,
    source="github.com/rajpurkarlab/ReXrank (ReXVQA)",
    options=(
        Option("categories", "a list of names, one a question", "none", "Category of each question."),
        Option("choices", "a list of lists of texts, one a question", "none", "What each question offers to choose."),
    ),
    task="vqa",
    examples=(
        Example("The answer is B.", "B", options={"categories": ["Presence Assessment"]}),
        Example("No effusion.", "no effusion", options={"categories": ["Negation Assessment"]}),
    ),
    faults=(
        "ReXVQA's overall accuracy is the mean of the categories in the tables of 2025, and the share over all "
        "questions in those of 2026.",
    ),
)
