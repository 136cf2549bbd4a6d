"""How sure the rank of a system is: the ranks that its studies leave open, and how often it comes first.

A range holds every rank that paired comparisons do not rule out: a system stands at best behind those that are
surely better, and at worst before those that are surely worse (Mogstad, Romano, Shaikh and Wilhelm, "Inference for
Ranks", Review of Economic Studies, 2024). "Surely" is by one bound for all comparisons of the system, the quantile of
the largest studentised difference over the resamples, so the range of one system holds its true rank with at least
the asked confidence. The middle of the resampled ranks does not where systems are close: those that happen to stand on
top are drawn there again and again, and their ranks then look better known than they are (docs/ranks.md has figures).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rexrank.errors import shown
from rexrank.statistics.inputs import InvalidStatistics, check_confidence
from rexrank.statistics.sample import Floats, Sample
from rexrank.terms import Direction

if TYPE_CHECKING:
    from rexrank.statistics.draws import Draws

Counts = NDArray[np.int64]

CONFIDENCE = 0.95
# Of fewer studies (or patients) ranges hold the true rank less often than they say, so no page shows them
# (docs/ranks.md).
LEAST_UNITS = 10
# Differences of equal columns may be off by rounding; their variance is this small beside that of the columns.
_NO_VARIANCE = 1e-12
_ROUNDING = 1e-12
_CHUNK = 1 << 18


@dataclass(frozen=True)
class RankRange:
    """The rank of one system and what is known of it.

    Attributes:
        rank: Place among the systems, from 1; equal scores share a place and the next one is skipped (1, 2, 2, 4).
        low: Best rank that is not ruled out.
        high: Worst rank that is not ruled out.
        p_first: Share of the resamples in which the system comes first, 0 to 1; systems that share the first place of
            a resample share it here too, so the shares of all systems add up to 1.
        undefined_draws: Resamples left out because a system has no score in them.
    """

    rank: int
    low: int
    high: int
    p_first: float
    undefined_draws: int = 0


def rank_ranges(
    samples: Sequence[Sample], direction: Direction, draws: "Draws", confidence: float = CONFIDENCE
) -> list[RankRange]:
    """Rank systems by one score, with the range of each rank.

    Args:
        samples: The score of each system on the same studies, in the same order.
        direction: Which values are better, ``higher`` or ``lower``.
        draws: Resamples of those studies, or of their patients; the same ones for every system.
        confidence: Probability with which the range of a system holds its true rank.

    Returns:
        One range a system, in the order of the samples.

    Raises:
        InvalidStatistics: Fewer than two studies, different numbers of studies, a system without a score, a direction
            that judges nothing, no resample in which every system has a score, or a confidence out of range.
    """
    check_confidence(confidence)
    if not samples:
        return []
    observed, drawn, undefined = resampled(samples, direction, draws)
    before, not_before = _surely(observed, drawn, confidence)
    first = _shares_of_first(drawn)
    return [
        RankRange(
            rank=1 + int((observed > observed[system]).sum()),
            low=1 + int(before[system]),
            high=len(samples) - int(not_before[system]),
            p_first=float(first[system]),
            undefined_draws=undefined,
        )
        for system in range(len(samples))
    ]


def resampled(samples: Sequence[Sample], direction: Direction, draws: "Draws") -> tuple[Floats, Floats, int]:
    """Scores of all studies, [m], and of the resamples, [m, b], turned so that higher is better.

    Returns:
        Both, and the number of resamples left out because a system has no score in them.

    Raises:
        InvalidStatistics: As `rank_ranges` says.
    """
    if direction not in ("higher", "lower"):
        raise InvalidStatistics(f"direction: expected higher or lower, got {shown(direction)}; nothing else has a rank")
    if not samples:
        return np.zeros(0), np.zeros((0, draws.resamples)), 0
    studies = {len(sample) for sample in samples}
    if len(studies) > 1 or min(studies) < 2:
        counts = " and ".join(map(str, sorted(studies)))
        raise InvalidStatistics(f"samples: expected the same two or more studies for every system, got {counts}")
    scores = [sample.score for sample in samples]
    if None in scores:
        raise InvalidStatistics(f"samples[{scores.index(None)}]: the system has no score; leave it out")
    sign = 1.0 if direction == "higher" else -1.0
    drawn = sign * draws.scores(samples)
    defined = ~np.isnan(drawn).any(axis=0)
    if not defined.any():
        raise InvalidStatistics("samples: no resample has a score of every system; there are too few defined studies")
    return sign * np.asarray(scores, dtype=np.float64), drawn[:, defined], int((~defined).sum())


def _surely(observed: Floats, drawn: Floats, confidence: float) -> tuple[Counts, Counts]:
    """How many systems surely stand before each one, and how many surely not, by its own bound, [m] each.

    A system whose difference is 0 in every resample is the same to this score; it shares the place.
    """
    systems = len(observed)
    before, not_before = np.zeros(systems, dtype=np.int64), np.zeros(systems, dtype=np.int64)
    centred = drawn - observed[:, None]
    errors = _standard_errors(centred)
    varying = errors > 0
    weights = np.divide(1.0, errors, out=np.zeros_like(errors), where=varying)
    for system in range(systems):
        bound = np.quantile(_largest(centred, system, weights[system]), confidence)
        # A difference that is the same in every resample is no matter of chance, unless it is none but for rounding.
        limits = np.where(varying[system], bound * errors[system], _ROUNDING * np.abs(observed[system]))
        gaps = observed - observed[system]
        same = ~varying[system] & (np.abs(gaps) <= limits)
        before[system] = (gaps > limits).sum()
        # The system itself is among those that are the same.
        not_before[system] = (gaps < -limits).sum() + same.sum() - 1
    return before, not_before


def _largest(centred: Floats, system: int, weights: Floats) -> Floats:
    """Largest studentised difference of one system from the others in each resample, [b]."""
    largest = np.empty(centred.shape[1])
    size = max(1, _CHUNK // len(centred))
    for start in range(0, len(largest), size):
        columns = centred[:, start : start + size]
        largest[start : start + size] = (np.abs(columns - columns[system]) * weights[:, None]).max(axis=0)
    return largest


def _standard_errors(centred: Floats) -> Floats:
    """Of the difference of each pair of systems, [m, m]; 0 where it never varies."""
    spread = centred - centred.mean(axis=1, keepdims=True)
    products = spread @ spread.T / spread.shape[1]
    own = np.diag(products)
    variances = own[:, None] + own[None, :] - 2 * products
    variances[variances <= _NO_VARIANCE * (own[:, None] + own[None, :])] = 0.0
    return np.asarray(np.sqrt(variances))


def _shares_of_first(drawn: Floats) -> Floats:
    leading = drawn == drawn.max(axis=0)
    return np.asarray((leading / leading.sum(axis=0)).mean(axis=1))
