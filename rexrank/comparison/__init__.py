"""Score cards side by side: which system is better, and how sure that is.

Names are fetched on first use, so importing this package does not import numpy.
"""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "Aligned": "rexrank.comparison.cards",
    "CardsDiffer": "rexrank.comparison.cards",
    "aligned": "rexrank.comparison.cards",
}

__all__ = ["Aligned", "CardsDiffer", "aligned"]

if TYPE_CHECKING:
    from rexrank.comparison.cards import Aligned, CardsDiffer, aligned

__getattr__ = names_of(__name__, _HOMES)
