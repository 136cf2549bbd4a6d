"""How the values of studies spread: one hill a column of values, with its middle half and its median."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rexrank.figures.canvas import ACCENT, BASE, INK, LINE, QUIET, SIZE, SMALL, WIDTH, Canvas, plain, wrapped
from rexrank.figures.figure import Figure, InvalidFigure
from rexrank.figures.scales import Scale, number

_NAMES, _VALUES, _HEIGHT, _BINS = 138.0, 52.0, 46.0, 40


@dataclass(frozen=True, eq=False)
class Column:
    """Values of one system or score.

    Attributes:
        name: For readers.
        values: One a study, [n]; nan and None are left out and counted.
        is_baseline: Whether it is a reference point, drawn in grey.
    """

    name: str
    values: ArrayLike
    is_baseline: bool = False


def distributions(columns: Sequence[Column], title: str, digits: int = 3) -> Figure:
    """Draw how values spread, all columns on one axis.

    A hill shows where the studies of its column lie. Each is as tall as the others, as one column whose values are all
    alike would press those beside it flat. The bar holds the middle half of the studies, and the dark dot on it and the
    number beside it are the median.

    Args:
        columns: From top to bottom.
        title: What the axis shows.
        digits: Decimals of the printed medians.

    Raises:
        InvalidFigure: No column has a value.
        MissingPlots: matplotlib is not installed.
    """
    values = [_numbers(column.values) for column in columns]
    if not any(len(one) for one in values):
        raise InvalidFigure(f"{plain(title)}: there is no value to draw")
    everything = np.concatenate(values)
    scale = Scale.around(
        [float(everything.min()), float(everything.max())], _NAMES + 10, WIDTH - _VALUES - 8, intervals=4
    )
    edges = np.linspace(scale.ticks[0], scale.ticks[-1], _BINS + 1)
    counts = [np.histogram(one, edges)[0] for one in values]
    bottom = 8 + _HEIGHT * len(columns)
    canvas = Canvas(bottom + 36)
    for tick, label in zip(scale.ticks, scale.labels, strict=True):
        canvas.line([scale(tick)] * 2, [4, bottom], LINE, 0.8)
        canvas.text(scale(tick), bottom + 9, label, SMALL, QUIET, "center")
    canvas.text((scale.start + scale.end) / 2, bottom + 25, "hill: studies; bar: middle half", SMALL, QUIET, "center")
    for index, column in enumerate(columns):
        floor = 8 + _HEIGHT * (index + 1) - 12
        canvas.lines(0, floor - 8, wrapped(column.name, _NAMES))
        if not len(values[index]):
            canvas.text(WIDTH, floor - 8, "–", SIZE, QUIET, "right")
            continue
        colour = BASE if column.is_baseline else ACCENT
        _hill(canvas, edges, counts[index] / counts[index].max(), scale, floor, colour)
        _middle(canvas, values[index], scale, floor + 4, colour)
        canvas.text(WIDTH, floor - 8, number(float(np.median(values[index])), digits), SIZE, INK, "right")
    return canvas.figure(title, f"{'; '.join(_said(*pair, digits) for pair in zip(columns, values, strict=True))}.")


def _numbers(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[np.isfinite(array)]


def _hill(
    canvas: Canvas, edges: NDArray[np.float64], heights: NDArray[np.float64], scale: Scale, floor: float, colour: str
) -> None:
    xs = [scale(float(edge)) for edge in np.repeat(edges, 2)]
    tops = floor - np.concatenate([[0.0], np.repeat(heights, 2), [0.0]]) * (_HEIGHT - 16)
    canvas.area(xs, tops.tolist(), colour, 0.35)


def _middle(canvas: Canvas, values: NDArray[np.float64], scale: Scale, height: float, colour: str) -> None:
    low, median, high = (float(value) for value in np.quantile(values, [0.25, 0.5, 0.75]))
    canvas.line([scale(low), scale(high)], [height, height], colour, 4.0)
    canvas.dots([scale(median)], [height], INK, 6.0)


def _said(column: Column, values: NDArray[np.float64], digits: int) -> str:
    if not len(values):
        return f"{column.name}: no value"
    low, median, high = (number(float(value), digits) for value in np.quantile(values, [0.25, 0.5, 0.75]))
    return f"{column.name}: median {median}, middle half {low} to {high}, {len(values):,} studies"
