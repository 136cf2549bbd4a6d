"""Clipped n-gram matches of many pairs at once.

An n-gram is a whole number (its tokens' numbers in one positional system), so a
chunk of pairs is one sort: equal n-grams of a pair lie side by side, prediction
first, and the run lengths are the counts.
"""

from collections.abc import Iterator

import numpy as np

from rexrank.metrics.pairs import Integers, PairTokens, Rows

# Tokens a chunk: small enough for the sorts to stay in the processor's cache.
_CHUNK_TOKENS = 1 << 15
_LARGEST = 1 << 62


def ngram_totals(rows: Rows, orders: int) -> Integers:
    """Number of n-grams of each text, int64 [texts, orders]."""
    return np.maximum(rows.lengths[:, None] - np.arange(orders), 0)


def clipped_matches(tokens: PairTokens, orders: int) -> Integers:
    """Count the n-grams that a prediction shares with its references.

    Each n-gram of the prediction counts at most as often as in the reference
    that has it most often.

    Args:
        tokens: Tokens of both sides.
        orders: Longest n-gram.

    Returns:
        Matches for n = 1 … `orders`, int64 [n, orders].
    """
    matches = np.zeros((len(tokens.predictions.lengths), orders), dtype=np.int64)
    for start, stop in _chunks(tokens):
        matches[start:stop] = _chunk_matches(tokens, start, stop, orders)
    return matches


def _chunks(tokens: PairTokens) -> Iterator[tuple[int, int]]:
    ends = tokens.predictions.bounds[1:] + tokens.references.bounds[tokens.first_reference[1:]]
    start = 0
    while start < len(ends):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + _CHUNK_TOKENS, side="right")))
        yield start, stop
        start = stop


def _cut(rows: Rows, first: int, last: int) -> tuple[Integers, Integers, Integers]:
    """Token numbers of some texts, the row of each, and how many tokens its text has from there on."""
    bounds = rows.bounds[first : last + 1]
    row = np.repeat(np.arange(last - first), np.diff(bounds))
    left = bounds[1:][row] - np.arange(bounds[0], bounds[-1])
    return rows.ids[bounds[0] : bounds[-1]], row, left


def _chunk_matches(tokens: PairTokens, start: int, stop: int, orders: int) -> Integers:
    first, last = tokens.first_reference[start], tokens.first_reference[stop]
    prediction_ids, prediction_row, prediction_left = _cut(tokens.predictions, start, stop)
    reference_ids, reference_row, reference_left = _cut(tokens.references, int(first), int(last))
    owner = tokens.owners[first:last] - start
    side = 1 + np.arange(last - first) - (tokens.first_reference[start:stop] - first)[owner]
    ids = np.concatenate([prediction_ids, reference_ids])
    pair = np.concatenate([prediction_row, owner[reference_row]])
    sides = np.concatenate([np.zeros_like(prediction_row), side[reference_row]])
    left = np.concatenate([prediction_left, reference_left])

    size = tokens.vocabulary
    pairs, width = stop - start, 1 + int(side.max(initial=0))
    if size * size * pairs * width >= _LARGEST:
        ids, size = _ranked(ids)
    codes, base, at = ids, size, np.arange(len(ids))
    matches = np.empty((pairs, orders), dtype=np.int64)
    for order in range(1, orders + 1):
        if order > 1:
            if base * size * pairs * width >= _LARGEST:
                codes, base = _ranked(codes)
            kept = left[at] >= order
            at = at[kept]
            codes, base = codes[kept] * size + ids[at + order - 1], base * size
        keys = (pair[at] * base + codes) * width + sides[at]
        matches[:, order - 1] = _matches(np.sort(keys), width, base, pairs)
    return matches


def _ranked(codes: Integers) -> tuple[Integers, int]:
    distinct, ranks = np.unique(codes, return_inverse=True)
    return ranks.astype(np.int64, copy=False), max(1, len(distinct))


def _matches(keys: Integers, width: int, base: int, pairs: int) -> Integers:
    """Clipped matches of each pair, from sorted keys: pair, n-gram, then side (0 for the prediction)."""
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))[: len(keys)]
    counts = np.diff(starts, append=len(keys))
    ngrams, sides = np.divmod(keys[starts], width)
    # Where a run of the prediction is followed by the same n-gram, that is a reference's.
    shared = np.flatnonzero((sides[:-1] == 0) & (ngrams[1:] == ngrams[:-1]))
    most = counts[shared + 1]
    for further in range(2, width):
        run = np.minimum(shared + further, len(ngrams) - 1)
        most = np.where(ngrams[run] == ngrams[shared], np.maximum(most, counts[run]), most)
    clipped = np.minimum(counts[shared], most)
    return np.bincount(ngrams[shared] // base, weights=clipped, minlength=pairs).astype(np.int64)
