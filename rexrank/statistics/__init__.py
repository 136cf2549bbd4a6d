"""Uncertainty of scores: seeded bootstrap intervals.

Names are fetched on first use, so importing this package does not import numpy.
"""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "InvalidStatistics": "rexrank.statistics.inputs",
    "corpus_interval": "rexrank.statistics.bootstrap",
    "interval": "rexrank.statistics.bootstrap",
}

__all__ = ["InvalidStatistics", "corpus_interval", "interval"]

if TYPE_CHECKING:
    from rexrank.statistics.bootstrap import corpus_interval, interval
    from rexrank.statistics.inputs import InvalidStatistics

__getattr__ = names_of(__name__, _HOMES)
