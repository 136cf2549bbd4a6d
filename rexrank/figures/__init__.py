"""Pictures of scores: intervals, spreads, ranks, correlations, as SVG for pages and as files.

They need matplotlib (``pip install 'rexrank[plots]'``), which is imported with the first picture. It draws on a
canvas of its own, so no window, no global figure and no setting of the caller's is touched.
"""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "Column": "rexrank.figures.ridges",
    "Figure": "rexrank.figures.figure",
    "InvalidFigure": "rexrank.figures.figure",
    "MissingPlots": "rexrank.figures.figure",
    "Row": "rexrank.figures.forest",
    "distributions": "rexrank.figures.ridges",
    "heatmap": "rexrank.figures.matrix",
    "intervals": "rexrank.figures.forest",
    "rank_shifts": "rexrank.figures.slopes",
    "scatter": "rexrank.figures.points",
}

__all__ = [
    "Column",
    "Figure",
    "InvalidFigure",
    "MissingPlots",
    "Row",
    "distributions",
    "heatmap",
    "intervals",
    "rank_shifts",
    "scatter",
]

if TYPE_CHECKING:
    from rexrank.figures.figure import Figure, InvalidFigure, MissingPlots
    from rexrank.figures.forest import Row, intervals
    from rexrank.figures.matrix import heatmap
    from rexrank.figures.points import scatter
    from rexrank.figures.ridges import Column, distributions
    from rexrank.figures.slopes import rank_shifts

__getattr__ = names_of(__name__, _HOMES)
