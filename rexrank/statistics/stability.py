"""How much of an order of systems is left when other studies, or other metrics, had been chosen.

Kendall's tau-b says how alike a resampled order is to the observed one: 1 is the same, 0 is no relation. Resampled
studies show what the size of the set leaves open; resampled metrics show what the choice of metrics leaves open.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from rexrank.errors import shown
from rexrank.statistics.correlation import kendall_tau_b_of_rows
from rexrank.statistics.inputs import InvalidStatistics, check_resamples, check_seed, floats
from rexrank.statistics.ranks import resampled
from rexrank.statistics.sample import Floats, Sample
from rexrank.terms import Direction

if TYPE_CHECKING:
    from rexrank.statistics.draws import Draws

_LOW = 0.025
_SIGNS: Mapping[Direction, float] = {"higher": 1.0, "lower": -1.0, "none": 0.0}


@dataclass(frozen=True)
class Stability:
    """How alike resampled orders are to the observed one.

    Attributes:
        tau: Mean of Kendall's tau-b over the resamples, -1 to 1.
        tau_low: What 97.5 % of the resamples reach.
        same_first: Share of the resamples in which a system that comes first comes first again, 0 to 1.
        resamples: Number of resamples that have an order.
    """

    tau: float
    tau_low: float
    same_first: float
    resamples: int


def under_studies(samples: Sequence[Sample], direction: Direction, draws: "Draws") -> Stability | None:
    """Stability of the order by one score when studies (or patients) are resampled.

    Args:
        samples: The score of each system on the same studies, in the same order.
        direction: Which values are better.
        draws: Resamples of those studies, or of their patients.

    Returns:
        The stability; None for fewer than two systems, or where all have the same score.

    Raises:
        InvalidStatistics: As `rexrank.statistics.ranks.rank_ranges`.
    """
    observed, drawn, _ = resampled(samples, direction, draws)
    return _stability(observed, drawn.T)


def under_metrics(
    scores: ArrayLike, directions: Sequence[Direction], resamples: int = 2_000, seed: int = 0
) -> Stability | None:
    """Stability of the order by mean rank over metrics when metrics are resampled.

    Args:
        scores: Score of each system by each metric, [m, k]; a metric that lacks one of them is left out.
        directions: Which values of each metric are better, [k]; one that judges nothing is left out.
        resamples: Number of resamples, each with as many metrics as there are.
        seed: Seed of the draws.

    Returns:
        The stability; None for fewer than two systems or metrics, or where all have the same mean rank.

    Raises:
        InvalidStatistics: Shapes that do not fit, or options out of range.
    """
    check_resamples(resamples)
    check_seed(seed)
    table = floats("scores", scores, 2)
    if table.shape[1] != len(directions):
        raise InvalidStatistics(
            f"scores: expected one column for each of {len(directions)} metrics, got {shown(table.shape)}"
        )
    if unknown := [direction for direction in directions if direction not in _SIGNS]:
        raise InvalidStatistics(f"directions: expected higher, lower or none, got {shown(unknown[0])}")
    signs = np.array([_SIGNS[direction] for direction in directions])
    kept = (signs != 0) & ~np.isnan(table).any(axis=0)
    columns = table[:, kept] * signs[kept]
    systems, metrics = columns.shape
    if systems < 2 or metrics < 2:
        return None
    # Mean ranks, so that systems with equal scores are neither of them put in front.
    behind = (columns[:, None, :] < columns[None, :, :]).sum(axis=1)
    level = (columns[:, None, :] == columns[None, :, :]).sum(axis=1)
    places = -(behind + (level - 1) / 2)
    drawn = np.random.default_rng(seed).integers(0, metrics, size=(resamples, metrics))
    tallies = (drawn[:, :, None] == np.arange(metrics)).sum(axis=1)
    # Halves are exact, so equal sums are equal to the last bit.
    return _stability(places.sum(axis=1), tallies.astype(np.float64) @ places.T)


def _stability(observed: Floats, drawn: Floats) -> Stability | None:
    """From scores of all, [m], and of resamples, [b, m]; higher is better."""
    if len(observed) < 2:
        return None
    taus = kendall_tau_b_of_rows(observed, drawn)
    ordered = ~np.isnan(taus)
    if not ordered.any():
        return None
    first = observed == observed.max()
    leading = drawn == drawn.max(axis=1, keepdims=True)
    again = (leading & first).any(axis=1)
    return Stability(
        tau=float(taus[ordered].mean()),
        tau_low=float(np.quantile(taus[ordered], _LOW)),
        same_first=float(again.mean()),
        resamples=int(ordered.sum()),
    )
