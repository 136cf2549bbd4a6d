"""Score cards side by side: which system is better, and how sure that is.

Names are fetched on first use, so importing this package does not import numpy.
"""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "Aligned": "rexrank.comparison.cards",
    "CardsDiffer": "rexrank.comparison.cards",
    "Comparison": "rexrank.comparison.compare",
    "Comparisons": "rexrank.comparison.compare",
    "Settings": "rexrank.comparison.compare",
    "aligned": "rexrank.comparison.cards",
}

__all__ = ["Aligned", "CardsDiffer", "Comparison", "Comparisons", "Settings", "aligned"]

if TYPE_CHECKING:
    from rexrank.comparison.cards import Aligned, CardsDiffer, aligned
    from rexrank.comparison.compare import Comparison, Comparisons, Settings

__getattr__ = names_of(__name__, _HOMES)
