"""Metrics of report quality: texts or features in, one number a study and an aggregate out.

One file is one metric; `registry` finds it and `compute` runs it. Nothing here
loads a model, opens a file or uses the network. Names are fetched on first use,
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
    "KeyScores": "rexrank.metrics.computation",
    "Metric": "rexrank.metrics.registry",
    "ScoreKey": "rexrank.metrics.registry",
    "compute": "rexrank.metrics.computation",
    "metric_of": "rexrank.metrics.registry",
    "metrics": "rexrank.metrics.registry",
    "score_keys": "rexrank.metrics.registry",
}

__all__ = [
    "Convention",
    "InvalidCall",
    "KeyScores",
    "Metric",
    "ScoreKey",
    "compute",
    "metric_of",
    "metrics",
    "score_keys",
]

if TYPE_CHECKING:
    from rexrank.metrics.computation import KeyScores, compute
    from rexrank.metrics.inputs import InvalidCall
    from rexrank.metrics.registry import Metric, ScoreKey, metric_of, metrics, score_keys
    from rexrank.terms import Convention

__getattr__ = names_of(__name__, _HOMES)
