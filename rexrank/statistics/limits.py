"""From resampled scores to the ends of an interval, in three ways.

- ``percentile``: the middle of the resampled scores. Efron and Tibshirani, "An Introduction to the
  Bootstrap", 1993, chapter 13.
- ``bca``: percentiles moved for bias and skewness. Efron, "Better bootstrap confidence intervals",
  Journal of the American Statistical Association 82, 1987. The acceleration is the jackknife's.
- ``scaled``: resampled scores are moved so that their mean is the score, and stretched so that their
  standard deviation is the jackknife's standard error; percentiles of them are taken at the BCa's
  places for skewness, with Student's t in place of the normal distribution.

Why ``scaled`` is the default: a resample loses rare cases that the set has, and never finds those that it has
not. A mean over labels is then too low in resamples, and varies too little, so that percentiles lie beside
the score and too close to each other. Moving by the bias once and stretching mend both; for means, where there
is neither, it comes to percentiles widened for few units (Hesterberg, "What teachers should know about the
bootstrap", The American Statistician 69, 2015). docs/statistics.md has the measured coverage of all three.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from rexrank.statistics.inputs import Floats
from rexrank.statistics.quantiles import t_quantile
from rexrank.statistics.sample import Range

_NORMAL = NormalDist()
_LARGEST_SKEW = 0.1


@dataclass(frozen=True)
class Resampled:
    """What an interval is made of.

    Attributes:
        scores: Scores of the resamples that have one, [b], at least one.
        score: The score itself.
        left_out: Scores without one unit each, [units]; nan where there is none.
        range: Lowest and highest possible score; None where it is not known.
    """

    scores: Floats
    score: float
    left_out: Floats
    range: Range | None = None


def percentile(resampled: Resampled, confidence: float) -> tuple[float, float]:
    """Ends of the middle of the resampled scores."""
    tail = (1 - confidence) / 2
    return _quantiles(resampled.scores, tail, 1 - tail)


def bca(resampled: Resampled, confidence: float) -> tuple[float, float]:
    """Ends at percentiles that are corrected for bias and skewness."""
    scores, score = resampled.scores, resampled.score
    below = ((scores < score).sum() + (scores <= score).sum()) / 2
    # Never all or none, which would put both ends at infinity.
    bias = _NORMAL.inv_cdf(min(max(below, 0.5), len(scores) - 0.5) / len(scores))
    skew, _ = _jackknife(resampled.left_out)
    quantile = _NORMAL.inv_cdf((1 - confidence) / 2)
    return _quantiles(scores, _place(quantile, bias, skew), _place(-quantile, bias, skew))


def scaled(resampled: Resampled, confidence: float) -> tuple[float, float]:
    """Ends of resampled scores that are centred on the score and as wide as the jackknife says."""
    scores, score = resampled.scores, resampled.score
    spread = float(scores.max() - scores.min())
    if spread == 0:
        return percentile(resampled, confidence)
    deviation = spread * float(((scores - scores.min()) / spread).std())  # squares of tiny differences would be 0
    skew, error = _jackknife(resampled.left_out)
    # Where one or two units make the score, the jackknife's skewness is their own, and would put an end at the most
    # extreme resample of all.
    skew = min(max(skew, -_LARGEST_SKEW), _LARGEST_SKEW)
    # Narrower than the percentiles never: where leaving out most units gives no score, the jackknife sees too little.
    stretch = max(1.0, error / deviation)
    quantile = t_quantile((1 - confidence) / 2, len(resampled.left_out) - 1)
    ends = _quantiles(scores, _place(quantile, skew, skew), _place(-quantile, skew, skew))
    low, high = (score + stretch * (end - float(scores.mean())) for end in ends)
    lowest, highest = resampled.range or (min(float(scores.min()), score), max(float(scores.max()), score))
    low = low if lowest is None else min(max(low, lowest), score)
    high = high if highest is None else max(min(high, highest), score)
    return low, high


def _place(quantile: float, bias: float, skew: float) -> float:
    """The share of resampled scores below an end, (6.8) of Efron 1987, from 0 to 1."""
    moved = bias + quantile
    shrunk = 1 - skew * moved
    if shrunk <= 0:
        return 0.0 if moved < 0 else 1.0
    return _NORMAL.cdf(bias + moved / shrunk)


def _quantiles(scores: Floats, low: float, high: float) -> tuple[float, float]:
    ends = np.quantile(scores, [low, high])
    return float(ends[0]), float(ends[1])


def _jackknife(left_out: Floats) -> tuple[float, float]:
    """Acceleration and standard error from the scores without one unit each."""
    known = left_out[~np.isnan(left_out)]
    if len(known) < 2:
        return 0.0, 0.0
    largest = float(np.abs(known.mean() - known).max())
    if largest == 0:
        return 0.0, 0.0
    moves = known.mean() / largest - known / largest
    units, squares = len(known), float((moves**2).sum())
    return float((moves**3).sum()) / (6 * squares**1.5), largest * ((units - 1) / units * squares) ** 0.5
