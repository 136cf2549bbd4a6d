"""Two values of each study or system as a cloud of points."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from rexrank.figures.canvas import ACCENT, INK, LINE, QUIET, SMALL, WIDTH, Canvas, plain, wrapped
from rexrank.figures.figure import Figure, InvalidFigure
from rexrank.figures.scales import Scale, number

_LEFT, _HEIGHT = 46.0, 240.0
# Above this number, points are gathered: thousands of circles are slow to show and hide each other.
_MOST = 1_000
_CELLS = 48
# Names beside points stay readable up to here.
_NAMED = 12


def scatter(
    x: ArrayLike,
    y: ArrayLike,
    title: str,
    labels: tuple[str, str],
    names: Sequence[str] | None = None,
) -> Figure:
    """Draw pairs of values; from 1,000 on, those close to each other become one dot, larger the more there are.

    Args:
        x: Values across, [n]; a pair with nan is left out.
        y: Values upwards, [n].
        title: What is shown.
        labels: Names of the two axes, across first.
        names: Of the points, [n]; written beside up to 12 of them.

    Raises:
        InvalidFigure: No pair is whole, or lengths differ.
        MissingPlots: matplotlib is not installed.
    """
    across, upwards = (np.asarray(values, dtype=np.float64).ravel() for values in (x, y))
    if len(across) != len(upwards) or (names is not None and len(names) != len(across)):
        raise InvalidFigure(f"{plain(title)}: expected as many values across as upwards, and a name for each")
    whole = np.isfinite(across) & np.isfinite(upwards)
    if not whole.any():
        raise InvalidFigure(f"{plain(title)}: there is no value to draw")
    across, upwards = across[whole], upwards[whole]
    top = 10.0
    horizontal = Scale.around(across.tolist(), _LEFT, WIDTH - 12)
    vertical = Scale.around(upwards.tolist(), top + _HEIGHT, top + 14)
    canvas = Canvas(top + _HEIGHT + 38)
    for tick, label in zip(horizontal.ticks, horizontal.labels, strict=True):
        canvas.line([horizontal(tick)] * 2, [top + 14, top + _HEIGHT], LINE, 0.8)
        canvas.text(horizontal(tick), top + _HEIGHT + 9, label, SMALL, QUIET, "center")
    for tick, label in zip(vertical.ticks, vertical.labels, strict=True):
        canvas.line([_LEFT, WIDTH - 12], [vertical(tick)] * 2, LINE, 0.8)
        canvas.text(_LEFT - 6, vertical(tick), label, SMALL, QUIET, "right")
    canvas.text(0, top - 2, plain(f"↑ {labels[1]}"), SMALL, INK)
    canvas.text(WIDTH - 12, top + _HEIGHT + 26, plain(f"{labels[0]} →"), SMALL, INK, "right")
    places = [(horizontal(float(a)), vertical(float(b))) for a, b in zip(across, upwards, strict=True)]
    _draw(canvas, places, is_named=names is not None)
    if names is not None and len(places) <= _NAMED:
        kept = [name for name, is_whole in zip(names, whole, strict=True) if is_whole]
        for (place_x, place_y), name in zip(places, kept, strict=True):
            is_right = place_x > WIDTH * 0.6
            line = wrapped(name, 150, SMALL, most=1)[0]
            offset = -7 if is_right else 7
            canvas.text(place_x + offset, place_y, line, SMALL, INK, "right" if is_right else "left")
    return canvas.figure(title, _said(across.tolist(), upwards.tolist(), labels))


def _draw(canvas: Canvas, places: Sequence[tuple[float, float]], is_named: bool) -> None:
    if is_named or len(places) <= _MOST:
        size, alpha = (8.0, 0.9) if is_named else (5.0, 0.4)
        canvas.dots([x for x, _ in places], [y for _, y in places], ACCENT, size, alpha=alpha)
        return
    cell = (WIDTH - _LEFT) / _CELLS
    gathered = Counter((round(x / cell), round(y / cell)) for x, y in places)
    most = max(gathered.values())
    for size in range(1, 9):
        chosen = [place for place, count in gathered.items() if _size(count, most) == size]
        canvas.dots([x * cell for x, _ in chosen], [y * cell for _, y in chosen], ACCENT, float(size), alpha=0.7)


def _size(count: int, most: int) -> int:
    """Diameter of a dot, 1 to 8, so that its area follows the number of points."""
    return max(1, min(8, round(8 * (count / most) ** 0.5)))


def _said(across: Sequence[float], upwards: Sequence[float], labels: tuple[str, str]) -> str:
    ends = [
        f"{label} from {number(min(values))} to {number(max(values))}"
        for label, values in zip(labels, (across, upwards), strict=True)
    ]
    return f"{len(across):,} points: {ends[0]}, {ends[1]}."
