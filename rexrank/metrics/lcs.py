"""Lengths of longest common subsequences of many pairs at once.

The bit-parallel algorithm (Hyyrö 2004; Crochemore et al. 2001) keeps one row of
the usual table as bits. Here the rows of many pairs stand side by side in one long
Python integer, a lane a pair with a spare bit that catches the carry, so
one addition advances all of them, whatever their lengths.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rexrank.metrics.pairs import Integers, PairTokens, Rows

# Comparisons held at once: bounds memory to a few times this many bytes.
_CELLS = 1 << 22


def lcs_lengths(tokens: PairTokens) -> Integers:
    """LCS length of each pair.

    Args:
        tokens: Tokens of both sides, one reference a study.

    Returns:
        Numbers of tokens, int64 [n].
    """
    predicted, referred = tokens.predictions.lengths, tokens.references.lengths
    lengths = np.zeros(len(predicted), dtype=np.int64)
    for group in _groups(np.maximum(predicted, referred), np.minimum(predicted, referred)):
        first, second = _table(tokens.predictions, group, -1), _table(tokens.references, group, -2)
        # LCS is symmetric; the narrower side becomes the lanes.
        across, down = (first, second) if first.shape[1] <= second.shape[1] else (second, first)
        lengths[group] = _group_lengths(across, down)
    return lengths


def _groups(longer: Integers, shorter: Integers) -> Iterator[Integers]:
    """Pairs of similar length, so that padding stays small; those with an empty side are left out."""
    order = np.argsort(longer, kind="stable")
    order = order[shorter[order] > 0]
    start = 0
    while start < len(order):
        most = int(_CELLS // longer[order[start]] ** 2) + 1
        sizes = longer[order[start : start + most]] ** 2
        cells = np.arange(1, len(sizes) + 1) * sizes
        count = max(1, int(np.searchsorted(cells, _CELLS, side="right")))
        yield order[start : start + count]
        start += count


def _table(rows: Rows, chosen: Integers, padding: int) -> NDArray[np.int32]:
    """Token numbers of the chosen rows as a matrix, padded at the right."""
    lengths = rows.lengths[chosen]
    columns = np.arange(int(lengths.max(initial=0)))
    inside = columns < lengths[:, None]
    table = np.full(inside.shape, padding, dtype=np.int32)
    table[inside] = rows.ids[(rows.bounds[chosen][:, None] + columns)[inside]]
    return table


def _group_lengths(across: NDArray[np.int32], down: NDArray[np.int32]) -> Integers:
    pairs, width = across.shape
    lane = width // 8 + 1  # bytes, with at least one spare bit
    ones = np.packbits(np.arange(lane * 8) < width, bitorder="little")
    mask = int.from_bytes(np.tile(ones, pairs).tobytes(), "little")
    row = mask
    for matched in _matches(across, down, lane):
        hits = row & matched
        row = ((row + hits) | (row - hits)) & mask
    left = np.frombuffer(row.to_bytes(pairs * lane, "little"), dtype=np.uint8).reshape(pairs, lane)
    return width - np.bitwise_count(left).sum(axis=1, dtype=np.int64)


def _matches(across: NDArray[np.int32], down: NDArray[np.int32], lane: int) -> Iterator[int]:
    """For each column of `down`, the bits of `across` that equal it, all lanes in one integer."""
    pairs, width = across.shape
    step = max(1, _CELLS // (pairs * width))
    for start in range(0, down.shape[1], step):
        columns = down[:, start : start + step].T
        packed = np.zeros((len(columns), pairs, lane), dtype=np.uint8)
        bits = np.packbits(columns[:, :, None] == across, axis=2, bitorder="little")
        packed[:, :, : bits.shape[2]] = bits
        yield from (int.from_bytes(block.tobytes(), "little") for block in packed)
