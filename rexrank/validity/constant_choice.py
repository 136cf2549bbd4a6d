"""The one training text that, as the answer to every study, has the best score on the training split, for any score.

BLEU-2 of `published` is exact: every text against all (`rexrank.benchmarks.constants`). For any other score that
would be millions of pairs, so texts race (successive halving): every distinct text against 16 training references
drawn with a seed, the best 64 of them against 128, and the best 8 against all. The 16 best by BLEU-2 and the 8 most
frequent texts take part in the second round whatever the first one says. The winner's score on the training split is
that against all references; that no other text has a better one is sure for BLEU-2 alone.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from rexrank.benchmarks.constants import mean_bleu2
from rexrank.metrics import KeyScores, score_keys

SEED = 0
# References of each round but the last, and how many texts go on from it.
ROUNDS = ((16, 64), (128, 8))
SEEDED_BY_BLEU2, SEEDED_BY_FREQUENCY = 16, 8
EXACT = "best of all {n:,} training texts"
RACED = "best of {n:,} training texts in a race (16, 128, then all references)"
_MOST_PAIRS = 50_000

# Scores pairs of texts: predictions, references of each.
Scorer = Callable[[Sequence[str], Sequence[Sequence[str]]], KeyScores]


def best_by_bleu2(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """Mean BLEU-2 (published) of each candidate against all references, of each study the first, float64 [n]."""
    return mean_bleu2(candidates, [texts[0] for texts in references])


def raced(
    key: str, scorer: Scorer, candidates: Sequence[str], references: Sequence[Sequence[str]], by_bleu2: np.ndarray
) -> int:
    """Position of the winner of the race.

    Args:
        key: Score key.
        scorer: Scores pairs of texts by that key.
        candidates: Text of each training study, as predictions are prepared.
        references: Texts of each training study, as references are prepared; in the same order.
        by_bleu2: What `best_by_bleu2` gives of the candidates.
    """
    first = {text: place for place, text in reversed(list(enumerate(candidates)))}
    running = sorted(first.values())
    frequent = [first[text] for text, _ in Counter(candidates).most_common(SEEDED_BY_FREQUENCY)]
    leading = [place for place in np.argsort(-by_bleu2, kind="stable") if first[candidates[place]] == place]
    seeded = [*map(int, leading[:SEEDED_BY_BLEU2]), *frequent]
    order = _shuffled(len(references))
    for used, kept in ROUNDS:
        if len(running) > kept:
            chosen = [references[place] for place in order[:used]]
            best = _best_first(key, scorer, running, candidates, chosen)[:kept]
            running = sorted({*best, *seeded})
        seeded = []
    return _best_first(key, scorer, running, candidates, references)[0]


def _best_first(
    key: str, scorer: Scorer, running: Sequence[int], candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> list[int]:
    size = max(1, _MOST_PAIRS // len(references))
    scores: dict[int, float] = {}
    for start in range(0, len(running), size):
        some = running[start : start + size]
        predictions = [candidates[place] for place in some for _ in references]
        found = scorer(predictions, list(references) * len(some))
        scores |= zip(some, _aggregates(found, len(some)), strict=True)
    sign = -1.0 if score_keys()[key].direction == "higher" else 1.0
    # A text without a score comes last, and the first of equals wins; sums that differ by rounding alone are equal.
    return sorted(running, key=lambda place: (np.isnan(scores[place]), round(sign * scores[place], 12), place))


def _aggregates(found: KeyScores, number: int) -> list[float]:
    """The score of each of several equally long parts of a call."""
    if found.statistics is not None and found.formula is not None:
        rows = found.statistics.reshape(number, -1, found.statistics.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            return [float(value) for value in found.formula(np.nansum(rows, axis=1))]
    values = found.values.reshape(number, -1)
    defined = (~np.isnan(values)).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return [float(value) for value in np.nansum(values, axis=1) / np.where(defined, defined, np.nan)]


def _shuffled(number: int) -> list[int]:
    # random() is the one method whose sequence Python promises to keep for a seed.
    draw = random.Random(SEED).random
    keys = [draw() for _ in range(number)]
    return sorted(range(number), key=keys.__getitem__)
