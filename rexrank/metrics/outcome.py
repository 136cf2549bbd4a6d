"""What a metric hands back before the policy for blank and identical texts is applied."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Formula = Callable[[Floats], Floats]

# Why a study has no value, for readers; every reason that a metric or the policy gives stands here.
REASONS: Mapping[str, str] = {
    "empty_reference": "The reference is blank.",
    "empty_prediction": "The prediction is blank, and `on_empty_prediction=undefined` was asked for.",
    "both_empty": "Prediction and reference are blank.",
    "no_content": "The reference says nothing that the metric knows, and in most metrics the prediction neither: no "
    "token, entity or label was found.",
    "unsupported_language": "The metric knows English alone, and the reference is in another script.",
    "original_fails": "The original fails or divides 0 by 0 here, or the value is no finite number.",
    "failed": "An encoder, a judge or a program gave nothing for this study.",
    "unparsed": "The judge's answer cannot be read.",
    "no_finding_listed": "The judge lists no finding on the side that the score is about.",
    "no_significance": "The judge does not say what each finding means for the patient.",
    "no_findings": "GREEN's judge found neither a match nor an error.",
    "undefined_component": "RadCliQ lacks one of its components.",
    "zero_vector": "A vector has the length 0, so that it has no cosine.",
    "no_temporal_terms": "Neither text has a word that speaks of change.",
    "no_common_side": "No finding has a side in both texts.",
    "no_common_finding": "No finding is spoken of in both texts.",
    "no_measurement": "Neither text measures anything in mm or cm.",
    "no_finding_named": "The prediction speaks of no finding that the rules know.",
    "prior_known": "An earlier study is known, so that comparing with it is no fault.",
    "no_positive_label": "Neither side has one of the labels that are counted.",
    "degenerate_reference_statistics": "The references of the set are too few or too alike for document frequencies; "
    "every study is concerned.",
    "only_together": "Only the whole set has such a score, never a study.",
}


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
        worst: The value of a report that says nothing, where options make it another than the key's; else None.
        nearness: How near each prediction is to its reference, the higher the nearer, float64 [n], where `values` do
            not say that: it chooses among several references of a study (`rexrank.metrics.several`).
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
    worst: float | None = None
    nearness: Floats | None = None
    counts_of: Callable[[Floats], Mapping[str, int]] | None = None
