"""The smallest difference that a set of studies can show.

A two-sided test at level alpha finds a true difference with probability `power` where the
difference is (t(1 - alpha/2) + t(power)) standard errors (Bloom, "Minimum detectable effects",
Evaluation Review 19(5), 1995). The standard error is the delete-one jackknife over studies, or
over whole groups (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 11);
for a mean of studies it is the textbook one. A score of sums that few studies carry hardly feels
the loss of a single one, so there the bootstrap's error stands where it is the larger. For another
number of studies the error shrinks with the root of that number: spread and group sizes are taken to
stay as they are.
"""

import numpy as np

from rexrank.errors import shown
from rexrank.statistics.draws import Draws
from rexrank.statistics.inputs import Floats, InvalidStatistics
from rexrank.statistics.quantiles import t_quantile
from rexrank.statistics.sample import Sample, scored

ALPHA, POWER = 0.05, 0.8
# Quantiles of Student's t are good from here on.
_FEWEST_UNITS = 5


def standard_error(sample: Sample, draws: Draws) -> float | None:
    """Standard error of a score.

    Args:
        sample: The score; often the difference of two.
        draws: Says which studies are drawn together.

    Returns:
        The standard error, or None with fewer than two units or without a score.
    """
    defined = sample.defined
    some, known = draws.take(defined), sample.take(defined)
    if some.units < 2 or known.score is None:
        return None
    units = some.sums_of_units(known.statistics)
    scores = scored(known.formula, units.sum(axis=0) - units)
    errors = [np.sqrt(len(scores) - 1) * _deviation(scores)]
    if not known.is_mean:
        drawn = some.scores([known])[0]
        errors.append(np.sqrt(some.units / (some.units - 1)) * _deviation(drawn[~np.isnan(drawn)]))
    found = [error for error in errors if not np.isnan(error)]
    return float(max(found)) if found else None


def _deviation(scores: Floats) -> float:
    """Standard deviation, also where squares are beyond all floats; nan without scores."""
    if not len(scores):
        return float("nan")
    moves = scores - scores.mean()
    largest = float(np.abs(moves).max())
    return largest * float(np.sqrt(np.mean((moves / largest) ** 2))) if largest else 0.0


def detectable(
    error: float, units: int, planned: float = 1.0, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """The smallest true difference that a two-sided test finds with a given probability.

    Args:
        error: Standard error of the difference.
        units: Studies, or groups, that it comes from.
        planned: How many times as many units there will be.
        alpha: Level of the test, between 0 and 1.
        power: Probability to find the difference, between 0 and 1.

    Returns:
        The difference, in units of the score; None with fewer than five units, now or planned, or without any error,
        as nothing is known of the spread then.

    Raises:
        InvalidStatistics: `alpha` or `power` is not between 0 and 1.
    """
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise InvalidStatistics(f"{name}: expected a number between 0 and 1, got {shown(value)}")
    number = units * planned
    if min(units, number) < _FEWEST_UNITS or error <= 0:
        return None
    freedom = round(number) - 1
    return float(error / np.sqrt(planned) * (t_quantile(1 - alpha / 2, freedom) + t_quantile(power, freedom)))
