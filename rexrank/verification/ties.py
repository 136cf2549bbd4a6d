"""RaTEScore where an entity is as near to several others: the original takes any of them, as its last digits fall."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from rexrank.metrics.ratescore import AFFINITIES, TYPES, Affinity, Entity

# Cosines of equal vectors in single precision differ by less.
_EQUAL = 1e-6
_MOST_CHOICES = 4096


def can_score(score: float, one: Sequence[Entity], other: Sequence[Entity], table: str, tolerance: float) -> bool:
    """Whether a choice among entities that are equally near gives a score.

    Args:
        score: What the original gives for two reports.
        one: Entities of one report, in the order of the text.
        other: Entities of the other.
        table: Name of the affinities.
        tolerance: Difference that counts as none.

    Returns:
        False where no choice does, or where there are too many to be tried.
    """
    if not one or not other:
        return False
    affinity = AFFINITIES[table]
    cosines = _units(one) @ _units(other).T
    precisions = _directed(cosines, _types(one), _types(other), affinity)
    recalls = _directed(cosines.T, _types(other), _types(one), affinity)
    return any(
        abs(2 * precision * recall / (precision + recall) - score) <= tolerance
        for precision, recall in product(precisions, recalls)
        if precision + recall
    )


def _units(entities: Sequence[Entity]) -> NDArray[np.float64]:
    vectors = np.array([entity.vector for entity in entities], dtype=np.float64)
    units: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def _types(entities: Sequence[Entity]) -> list[int]:
    return [TYPES.index(entity.type) for entity in entities]


def _directed(
    cosines: NDArray[np.float64], own: Sequence[int], others: Sequence[int], affinity: Affinity
) -> set[float]:
    """Every score of one direction, for each choice of the type that an entity meets."""
    choices = []
    for row, kind in zip(cosines, own, strict=True):
        met = sorted({others[int(at)] for at in np.flatnonzero(row >= row.max() - _EQUAL)})
        weights = affinity.weights[kind, met]
        choices.append(list(zip(row.max() * weights * affinity.factors[kind, met], weights, strict=True)))
    if math.prod(map(len, choices)) > _MOST_CHOICES:
        return set()
    sums = [np.sum(chosen, axis=0) for chosen in product(*choices)]
    return {float(gain / weight) for gain, weight in sums}
