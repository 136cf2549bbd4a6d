"""Uncertainty of scores: seeded bootstrap intervals.

Names are fetched on first use, so importing this package does not import numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "InvalidStatistics": "rexrank.statistics.bootstrap",
    "corpus_interval": "rexrank.statistics.bootstrap",
    "interval": "rexrank.statistics.bootstrap",
}

__all__ = ["InvalidStatistics", "corpus_interval", "interval"]

if TYPE_CHECKING:
    from rexrank.statistics.bootstrap import InvalidStatistics, corpus_interval, interval


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rexrank.statistics' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
