"""Uncertainty of scores: seeded bootstrap intervals.

Names are fetched on first use, so importing this package does not import numpy.
"""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "InvalidStatistics": "rexrank.statistics.inputs",
    "corpus_interval": "rexrank.statistics.bootstrap",
    "holm": "rexrank.statistics.paired",
    "interval": "rexrank.statistics.bootstrap",
    "paired_test": "rexrank.statistics.paired",
}

__all__ = ["InvalidStatistics", "corpus_interval", "holm", "interval", "paired_test"]

if TYPE_CHECKING:
    from rexrank.statistics.bootstrap import corpus_interval, interval
    from rexrank.statistics.inputs import InvalidStatistics
    from rexrank.statistics.paired import holm, paired_test

__getattr__ = names_of(__name__, _HOMES)
