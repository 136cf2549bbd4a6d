"""Scores with their intervals as rows of dots and lines: the forest plot of clinical papers."""

from collections.abc import Sequence
from dataclasses import dataclass

from rexrank.figures.canvas import ACCENT, BASE, INK, LINE, QUIET, SIZE, SMALL, WIDTH, Canvas, plain, wrapped
from rexrank.figures.figure import Figure, InvalidFigure
from rexrank.figures.scales import Scale, is_number, number
from rexrank.terms import Direction

_NAMES, _VALUES, _LINE_HEIGHT = 138.0, 52.0, 13.0
_BETTER = {"higher": "further right is better", "lower": "further left is better", "none": ""}


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        name: For readers.
        value: The score; None or nan where there is none, which leaves the row without a mark.
        low: Lower end of its interval, or None.
        high: Upper end, or None.
        is_baseline: Whether it is a reference point, drawn as a hollow dot.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    is_baseline: bool = False


def intervals(
    rows: Sequence[Row],
    title: str,
    direction: Direction = "none",
    reference_line: float | None = None,
    digits: int = 3,
) -> Figure:
    """Draw scores and intervals on one axis, from top to bottom as given.

    Args:
        rows: The rows.
        title: What the axis shows.
        direction: Which values are better; said beneath the axis.
        reference_line: Value of a vertical line, such as no difference.
        digits: Decimals of the printed values.

    Raises:
        InvalidFigure: No row has a value.
        MissingPlots: matplotlib is not installed.
    """
    ends = [end for row in rows for end in (row.value, row.low, row.high, reference_line) if is_number(end)]
    if not any(is_number(row.value) for row in rows):
        raise InvalidFigure(f"{plain(title)}: there is no value to draw")
    scale = Scale.around((end for end in ends if end is not None), _NAMES + 10, WIDTH - _VALUES - 8)
    names = [wrapped(row.name, _NAMES) for row in rows]
    heights = [10 + _LINE_HEIGHT * len(lines) for lines in names]
    bottom = 6 + sum(heights)
    canvas = Canvas(bottom + (36 if _BETTER[direction] else 22))
    for tick, label in zip(scale.ticks, scale.labels, strict=True):
        canvas.line([scale(tick)] * 2, [4, bottom], LINE, 0.8)
        canvas.text(scale(tick), bottom + 9, label, SMALL, QUIET, "center")
    if is_number(reference_line) and reference_line is not None:
        canvas.line([scale(reference_line)] * 2, [4, bottom], INK, 1.0, dashed=True)
    if _BETTER[direction]:
        canvas.text((scale.start + scale.end) / 2, bottom + 25, _BETTER[direction], SMALL, QUIET, "center")
    top = 6.0
    for row, lines, height in zip(rows, names, heights, strict=True):
        _draw(canvas, row, lines, scale, top + height / 2, digits)
        top += height
    return canvas.figure(title, f"{'; '.join(_said(row, digits) for row in rows)}.")


def _draw(canvas: Canvas, row: Row, name: list[str], scale: Scale, middle: float, digits: int) -> None:
    canvas.lines(0, middle, name)
    if not is_number(row.value) or row.value is None:
        canvas.text(WIDTH, middle, "–", SIZE, QUIET, "right")
        return
    colour = BASE if row.is_baseline else ACCENT
    if row.low is not None and row.high is not None and is_number(row.low) and is_number(row.high):
        canvas.line([scale(row.low), scale(row.high)], [middle, middle], colour, 2.0)
        for end in (row.low, row.high):
            canvas.line([scale(end)] * 2, [middle - 4, middle + 4], colour, 1.6)
    canvas.dots([scale(row.value)], [middle], colour, 8.0, hollow=row.is_baseline)
    canvas.text(WIDTH, middle, number(row.value, digits), SIZE, INK, "right", bold=not row.is_baseline)


def _said(row: Row, digits: int) -> str:
    if row.value is None or not is_number(row.value):
        return f"{row.name}: no value"
    ends = ""
    if row.low is not None and row.high is not None and is_number(row.low) and is_number(row.high):
        ends = f", interval {number(row.low, digits)} to {number(row.high, digits)}"
    return f"{row.name}: {number(row.value, digits)}{ends}"
