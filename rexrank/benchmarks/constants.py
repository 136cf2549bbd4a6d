"""The one text that, given as the answer to every study, has the best mean BLEU-2; and the most frequent text.

Every training text is tried against all of them. An inverted index makes that fast: a clipped n-gram match is a match
between "the k-th occurrence of this n-gram" on both sides, so counting matches is adding up posting lists.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from rexrank.metrics.tokenizers import rexrank_tokens

_NO_BIGRAM = 0.1


def mean_bleu2(candidates: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """Mean BLEU-2 (ReXrank, published) of each candidate as the constant prediction for all references.

    Args:
        candidates: Texts to try; equal texts are computed once.
        references: Texts to compare with, one a study.

    Returns:
        float64 [candidates] in [0, 1]; equal to ``rexrank.metrics.compute`` to rounding of the mean.
    """
    weights = Counter(references)
    texts = [rexrank_tokens(text) for text in weights]
    lengths = np.array([len(tokens) for tokens in texts], dtype=np.int64)
    share = np.array(list(weights.values()), dtype=np.float64) / max(1, len(references))
    indexes = [_Index([_numbered_ngrams(tokens, order) for tokens in texts]) for order in (1, 2)]
    means = {}
    for text in dict.fromkeys(candidates):
        tokens = rexrank_tokens(text)
        ones, twos = (index.matches(_numbered_ngrams(tokens, order)) for order, index in enumerate(indexes, start=1))
        means[text] = float(np.dot(_bleu2(ones, twos, len(tokens), lengths), share))
    return np.array([means[text] for text in candidates])


def best_constant(texts: Sequence[str]) -> str:
    """The text with the best mean BLEU-2 against all ``texts``; the first of equals.

    Raises:
        ValueError: There are no texts.
    """
    if not texts:
        raise ValueError("no texts to choose a constant report from")
    means = mean_bleu2(texts, texts)
    # Equal texts up to rounding of a sum count as equal, so that the choice is the same on every machine.
    return texts[int(np.flatnonzero(means >= means.max() - 1e-12)[0])]


def most_frequent(texts: Sequence[str]) -> tuple[str, int]:
    """The text that stands there most often, the first of equals, and how often; texts are taken letter by letter.

    Raises:
        ValueError: There are no texts.
    """
    if not texts:
        raise ValueError("no texts of which one could be the most frequent")
    return Counter(texts).most_common(1)[0]


class _Index:
    """Which texts hold an item, for counting shared items with all texts at once."""

    def __init__(self, items: Sequence[Sequence[tuple[object, ...]]]) -> None:
        postings: dict[tuple[object, ...], list[int]] = {}
        for position, found in enumerate(items):
            for item in found:
                postings.setdefault(item, []).append(position)
        self._postings = {item: np.array(places, dtype=np.int64) for item, places in postings.items()}
        self._size = len(items)

    def matches(self, items: Sequence[tuple[object, ...]]) -> np.ndarray:
        """Number of ``items`` in each text, int64 [texts]."""
        lists = [self._postings[item] for item in items if item in self._postings]
        return np.bincount(np.concatenate(lists), minlength=self._size) if lists else np.zeros(self._size, np.int64)


def _numbered_ngrams(tokens: Sequence[str], order: int) -> list[tuple[object, ...]]:
    """The n-grams, each with the number of its occurrence, so that no two are equal."""
    seen: Counter[tuple[str, ...]] = Counter()
    numbered: list[tuple[object, ...]] = []
    for start in range(len(tokens) - order + 1):
        ngram = tuple(tokens[start : start + order])
        numbered.append((ngram, seen[ngram]))
        seen[ngram] += 1
    return numbered


def _bleu2(ones: np.ndarray, twos: np.ndarray, length: int, reference_lengths: np.ndarray) -> np.ndarray:
    if length == 0:
        return np.zeros(len(ones))
    precision1 = ones / length
    precision2 = np.where(twos > 0, twos, _NO_BIGRAM) / max(1, length - 1)
    brevity = np.exp(np.minimum(0.0, 1.0 - reference_lengths / length))
    return brevity * np.sqrt(precision1 * precision2)
