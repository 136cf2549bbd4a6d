"""The training text whose neighbour in meaning a question is, by TF-IDF over words; and what a context holds."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

WHOLE = "context"
_WORD = re.compile(r"\w+")
_NAMES = (
    r"Indication|Comparison|(?:Clinical )?[Hh]istory|Clinical (?:information|indication)|Technique|"
    r"Reason(?: for (?:exam|examination|study))?|Exam(?:ination)?|Procedure|View|Age|Sex|Site"
)
# Labels in capitals count where there are no others: "Indication: HISTORY: cough" has one field.
_LABELS = tuple(
    re.compile(rf"(?:^|(?<=\s))(?P<name>{names}):(?:\s+|$)") for names in (_NAMES, _NAMES.replace("[Hh]", "H").upper())
)
# What stands in a context where there is nothing to say.
_NOTHING = frozenset({"", "none", "n/a", "na", "nil", "nan"})


def context_fields(context: str | None) -> dict[str, str]:
    """The fields of a context by name, in lower case, that say anything.

    Args:
        context: ``Indication: … Comparison: …``, or a text without such labels.

    Returns:
        Each labelled field, and the whole context as ``context``; empty where it says nothing.
    """
    if not context or not _says(context):
        return {}
    marks = next((marks for label in _LABELS if (marks := list(label.finditer(context)))), [])
    ends = [*(mark.start() for mark in marks[1:]), *([len(context)] if marks else [])]
    found = {mark["name"].lower(): context[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)}
    return {WHOLE: context, **{name: text for name, text in found.items() if _says(text)}}


def nearest(queries: Sequence[str | None], documents: Sequence[str | None]) -> list[int | None]:
    """The most similar document of each query.

    Similarity is the cosine of term counts times ``ln((1 + n) / (1 + df)) + 1``, the smoothed form of scikit-learn.

    Args:
        queries: Texts; None where there is none.
        documents: Texts to choose from; None is never chosen.

    Returns:
        Position of the document, the first of equals; None where query and documents share no word.
    """
    return _found(queries, documents, leave_one_out=False)


def nearest_other(documents: Sequence[str | None]) -> list[int | None]:
    """Of each document the most similar other one, as `nearest` has it: how a neighbour does on the training set."""
    return _found(documents, documents, leave_one_out=True)


def _found(queries: Sequence[str | None], documents: Sequence[str | None], leave_one_out: bool) -> list[int | None]:
    counts = [Counter(_words(text)) for text in documents]
    frequency = Counter(word for words in counts for word in words)
    present = sum(bool(words) for words in counts)
    weight = {word: np.log((1 + present) / (1 + df)) + 1 for word, df in frequency.items()}
    norms = np.array([_norm(words, weight) for words in counts])
    postings: dict[str, list[tuple[int, float]]] = {}
    for position, words in enumerate(counts):
        for word, count in words.items():
            postings.setdefault(word, []).append((position, count * weight[word] / norms[position]))
    arrays = {
        word: (np.array([p for p, _ in pairs]), np.array([v for _, v in pairs])) for word, pairs in postings.items()
    }
    return [
        _nearest(Counter(_words(query)), weight, arrays, len(counts), place if leave_one_out else None)
        for place, query in enumerate(queries)
    ]


def _nearest(
    query: Counter[str],
    weight: dict[str, float],
    postings: dict[str, tuple[np.ndarray, np.ndarray]],
    size: int,
    barred: int | None,
) -> int | None:
    similarity = np.zeros(size)
    for word, count in query.items():
        if word in postings:
            positions, values = postings[word]
            similarity[positions] += count * weight[word] * values
    if barred is not None:
        similarity[barred] = 0.0
    if not similarity.any():
        return None
    # Sums that differ by rounding alone count as equal, so that the choice is the same on every machine.
    return int(np.flatnonzero(similarity >= similarity.max() * (1 - 1e-12))[0])


def _says(text: str) -> bool:
    return text.strip(" .:;,-_").lower() not in _NOTHING


def _words(text: str | None) -> list[str]:
    return _WORD.findall((text or "").lower())


def _norm(words: Counter[str], weight: dict[str, float]) -> float:
    return float(np.sqrt(sum((count * weight[word]) ** 2 for word, count in words.items())) or 1.0)
