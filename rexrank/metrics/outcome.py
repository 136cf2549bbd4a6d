"""What a metric hands back before the policy for blank and identical texts is applied."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Formula = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Outcome:
    """Scores of one key by its formula alone.

    Attributes:
        values: One value a study, float64 [n]; nan where the formula gives none.
        signature: Parts of the signature that belong to the metric, in order (``{"tok": "rexrank"}``).
        prediction_content: Whether the metric found anything in the prediction, [n].
        reference_content: Whether it found anything in a reference, [n].
        statistics: Additive sufficient statistics of a corpus score, float64 [n, k], or None for means.
        silent: The statistics that each study has where its prediction counts as a blank one, [n, k]; None where
            `statistics` already says so of every prediction that could.
        formula: Takes sums of statistics [b, k] to corpus values [b]; nan where 0/0.
        clamped: Whose formula lies beyond the range, so that `values` has its end, [n]; counted as ``n_clamped`` where
            the policy leaves that value. None for a metric that has no such end.
        counts: Further counts by name (``n_truncated`` …).
        counts_of: Gives further counts from the sums of the statistics of all studies that have a value, [1, k].
        reasons: Position to the reason why the formula gives nan there, where it knows one (``unparsed``).
        aggregate: Value of the whole set, for keys of the kind ``set`` alone.
        undefined: Why no study of this set has a value, identical and blank texts included
            (``degenerate_reference_statistics``); None where the studies decide for themselves.
    """

    values: Floats
    signature: Mapping[str, str]
    prediction_content: Flags
    reference_content: Flags
    statistics: Floats | None = None
    formula: Formula | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[int, str] = field(default_factory=dict)
    aggregate: float | None = None
    undefined: str | None = None
    silent: Floats | None = None
    clamped: Flags | None = None
    counts_of: Callable[[Floats], Mapping[str, int]] | None = None
