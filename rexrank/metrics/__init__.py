"""Metrics of report quality: texts or features in, one number a study and an aggregate out.

One file is one metric; `registry` finds it and `compute` runs it. Nothing here
loads a model or uses the network; METEOR alone runs a program (`rexrank.external`). Names are fetched on first use,
so importing this package does not import numpy.

Example:
    >>> from rexrank.metrics import compute
    >>> scores = compute(["bleu2"], ["Small left effusion."], ["Small right effusion."])
    >>> scores["bleu2"].aggregate
    0.5
"""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "Convention": "rexrank.terms",
    "InvalidCall": "rexrank.metrics.inputs",
    "Features": "rexrank.metrics.features",
    "KeyScores": "rexrank.metrics.computation",
    "Metric": "rexrank.metrics.registry",
    "ScoreKey": "rexrank.metrics.registry",
    "TextFeatures": "rexrank.metrics.features",
    "Unavailable": "rexrank.metrics.inputs",
    "compute": "rexrank.metrics.computation",
    "metric_of": "rexrank.metrics.registry",
    "metrics": "rexrank.metrics.registry",
    "options_of": "rexrank.metrics.computation",
    "score_keys": "rexrank.metrics.registry",
    "why_unavailable": "rexrank.metrics.registry",
}

__all__ = [
    "Convention",
    "Features",
    "InvalidCall",
    "KeyScores",
    "Metric",
    "ScoreKey",
    "TextFeatures",
    "Unavailable",
    "compute",
    "metric_of",
    "metrics",
    "options_of",
    "score_keys",
    "why_unavailable",
]

if TYPE_CHECKING:
    from rexrank.metrics.computation import KeyScores, compute, options_of
    from rexrank.metrics.features import Features, TextFeatures
    from rexrank.metrics.inputs import InvalidCall, Unavailable
    from rexrank.metrics.registry import Metric, ScoreKey, metric_of, metrics, score_keys, why_unavailable
    from rexrank.terms import Convention

__getattr__ = names_of(__name__, _HOMES)
