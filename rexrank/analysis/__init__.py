"""What score cards say together: spread, correlations, lengths, ranks; and the report that shows it."""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "NamesClash": "rexrank.analysis.cards",
    "SystemTable": "rexrank.analysis.systems",
    "UnknownTexts": "rexrank.analysis.lengths",
    "by_length": "rexrank.analysis.studies",
    "mean_correlations": "rexrank.analysis.studies",
    "metric_agreement": "rexrank.analysis.systems",
    "robustness": "rexrank.analysis.systems",
}

__all__ = [
    "NamesClash",
    "SystemTable",
    "UnknownTexts",
    "by_length",
    "mean_correlations",
    "metric_agreement",
    "robustness",
]

if TYPE_CHECKING:
    from rexrank.analysis.cards import NamesClash
    from rexrank.analysis.lengths import UnknownTexts
    from rexrank.analysis.studies import by_length, mean_correlations
    from rexrank.analysis.systems import SystemTable, metric_agreement, robustness

__getattr__ = names_of(__name__, _HOMES)
