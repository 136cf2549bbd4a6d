"""Scores with their intervals, drawn as rows of dots and lines: the forest plot of clinical papers."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

from rexrank.board.ranking import Direction
from space.formatting import escape, interval, is_missing, number

_LOGGER = logging.getLogger(__name__)
_TICK_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
SHOWN = 30
_BETTER = {"higher": "; further right is better", "lower": "; further left is better", "none": ""}


@dataclass(frozen=True)
class Mark:
    """One row of the chart.

    Attributes:
        name: Display name of the model, as the submitter wrote it.
        value: The score.
        low: Lower end of its interval, or None.
        high: Upper end of its interval, or None.
        is_baseline: Whether it is a reference point and not a submission.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    is_baseline: bool = False


def interval_chart(marks: Sequence[Mark], title: str, direction: Direction, digits: int = 3) -> str:
    """Draw scores and intervals on one axis, best first as given.

    Args:
        marks: The rows in their order from top to bottom; the first 30 are drawn.
        title: What the axis shows.
        direction: Which values are better; said above the axis.
        digits: Decimals of the printed values.

    Returns:
        HTML that scales with its container; a sentence where there is nothing to draw or drawing failed.
    """
    drawable = [mark for mark in marks if not is_missing(mark.value)][:SHOWN]
    if not drawable:
        return '<p class="rx-quiet">Nothing to draw yet: no model has this score.</p>'
    try:
        return _draw(drawable, title, direction, digits)
    except Exception:
        # A chart must never take the table beside it down.
        _LOGGER.exception("the chart of %s could not be drawn", title)
        return '<p class="rx-quiet">The chart could not be drawn; the table holds the same numbers.</p>'


def _draw(marks: Sequence[Mark], title: str, direction: Direction, digits: int) -> str:
    ticks = _ticks(marks)
    start, end = ticks[0], ticks[-1]
    lines = "".join(f'<i style="left:{_place(tick, start, end)}"></i>' for tick in ticks)
    digits_of_step = _digits(ticks[1] - ticks[0])
    labels = "".join(
        f'<span style="left:{_place(tick, start, end)}">{number(tick, digits_of_step)}</span>' for tick in ticks
    )
    return (
        f'<figure class="rx-chart rx-panel" aria-label="{escape(title)} with intervals">'
        f"<figcaption>{escape(title)} <small>dot: score, line: 95 % interval{_BETTER[direction]}</small></figcaption>"
        f'<div class="rx-plot"><div class="rx-mark rx-grid" aria-hidden="true"><span></span><span>{lines}</span></div>'
        f"{''.join(_row(mark, start, end, digits) for mark in marks)}"
        f'<div class="rx-mark rx-axis" aria-hidden="true"><span></span><span>{labels}</span></div></div></figure>'
    )


def _digits(step: float) -> int:
    """Decimals that a step of 1, 2, 2.5 or 5 times a power of ten needs."""
    return next(digits for digits in range(13) if math.isclose(step, round(step, digits), rel_tol=1e-9))


def _row(mark: Mark, start: float, end: float, digits: int) -> str:
    whisker = ""
    if mark.low is not None and mark.high is not None and not is_missing(mark.low) and not is_missing(mark.high):
        width = 100 * (mark.high - mark.low) / (end - start)
        whisker = f'<b style="left:{_place(mark.low, start, end)};width:{width:.3f}%"></b>'
    kind = "rx-mark rx-mark-baseline" if mark.is_baseline else "rx-mark"
    spread = interval(mark.low, mark.high, digits)
    tip = f"{mark.name}: {number(mark.value, digits)}" + (f" ({spread})" if spread else "")
    return (
        f'<div class="{kind}" title="{escape(tip)}"><span class="rx-mark-name">{escape(mark.name)}</span>'
        f'<span class="rx-track">{whisker}<u style="left:{_place(mark.value, start, end)}"></u></span>'
        f'<span class="rx-mark-value">{number(mark.value, digits)}</span></div>'
    )


def _place(value: float, start: float, end: float) -> str:
    return f"{100 * (value - start) / (end - start):.3f}%"


def _ticks(marks: Sequence[Mark]) -> list[float]:
    """Choose four to seven round axis values that enclose every mark and interval."""
    ends = [
        end for mark in marks for end in (mark.value, mark.low, mark.high) if end is not None and not is_missing(end)
    ]
    low, high = min(ends), max(ends)
    if math.isclose(low, high, abs_tol=1e-12):
        margin = abs(low) * 0.1 or 0.1
        low, high = low - margin, high + margin
    raw = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * size for factor in _TICK_STEPS if factor * size >= raw)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(index * step, 12) for index in range(first, last + 1)]
