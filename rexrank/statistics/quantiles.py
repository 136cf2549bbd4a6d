"""Quantiles of Student's t, without scipy."""

from statistics import NormalDist

_NORMAL = NormalDist()


def t_quantile(share: float, freedom: int) -> float:
    """Where Student's t has a share of itself below.

    The expansion 26.7.5 of Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964: within .5 % for shares
    from .005 to .995 and 4 degrees of freedom or more. With fewer it gives less than the true value, but already one
    that no resample lies beyond.

    Args:
        share: Between 0 and 1.
        freedom: Degrees of freedom, from 1.
    """
    z = _NORMAL.inv_cdf(share)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom**order for order, term in enumerate(terms, start=1))
