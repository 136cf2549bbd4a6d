"""What pictures are drawn on: words, lines, dots and boxes in points, from the upper left corner."""

import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from rexrank.figures.figure import Figure, settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Narrow, so that words stay readable where a phone shows the whole width.
WIDTH = 400.0
INK, QUIET, LINE, ACCENT, BASE = "#14262b", "#4e626a", "#d7e0e3", "#0f766e", "#7b8b92"
SIZE, SMALL = 11.0, 9.5
# Mean width of a letter of DejaVu Sans, the widest of the fonts that may be used, per point of its size.
_LETTER = 0.60
Align = Literal["left", "center", "right"]


class Canvas:
    """One picture in the making; y grows downwards.

    Args:
        height: In points.
        width: In points.
    """

    def __init__(self, height: float, width: float = WIDTH) -> None:
        self._height, self._width = height, width
        # Drawn together at the end: matplotlib's settings are those of the whole process.
        self._strokes: list[Callable[[Axes], object]] = []

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = SIZE,
        colour: str = INK,
        align: Align = "left",
        bold: bool = False,
    ) -> None:
        """Write one line, its middle at y."""
        weight = "bold" if bold else "normal"
        self._write(x, y, words, fontsize=size, color=colour, ha=align, va="center_baseline", weight=weight)

    def upwards(self, x: float, y: float, words: str, size: float = SIZE, colour: str = INK) -> None:
        """Write one line upwards from its lower end."""
        look = {"ha": "left", "va": "center", "rotation": 90, "rotation_mode": "anchor"}
        self._write(x, y, words, fontsize=size, color=colour, **look)

    def _write(self, x: float, y: float, words: str, **look: Any) -> None:
        # A model's name may hold a dollar, which would begin a formula.
        self._strokes.append(lambda axes: axes.text(x, y, words, parse_math=False, clip_on=False, **look))

    def lines(self, x: float, y: float, lines: Sequence[str], size: float = SIZE, align: Align = "left") -> None:
        """Write several lines around the middle y."""
        for index, line in enumerate(lines):
            self.text(x, y + (index - (len(lines) - 1) / 2) * size * 1.15, line, size, align=align)

    def line(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        colour: str = INK,
        width: float = 1.0,
        dashed: bool = False,
        alpha: float = 1.0,
    ) -> None:
        """Draw a line through points."""
        style: Any = (0, (3.0, 2.5)) if dashed else "solid"
        self._plot(xs, ys, color=colour, linewidth=width, linestyle=style, alpha=alpha)

    def dots(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        colour: str = ACCENT,
        size: float = 7.0,
        hollow: bool = False,
        alpha: float = 1.0,
    ) -> None:
        """Draw dots of a diameter."""
        look: dict[str, Any] = {"markerfacecolor": "none" if hollow else colour, "markeredgecolor": colour}
        look |= {"linestyle": "none", "marker": "o", "markersize": size, "markeredgewidth": 1.4 if hollow else 0.0}
        self._plot(xs, ys, alpha=alpha, **look)

    def _plot(self, xs: Sequence[float], ys: Sequence[float], **look: Any) -> None:
        self._strokes.append(lambda axes: axes.plot(xs, ys, clip_on=False, **look))

    def area(self, xs: Sequence[float], ys: Sequence[float], colour: str = ACCENT, alpha: float = 1.0) -> None:
        """Fill a polygon."""
        look: dict[str, Any] = {"facecolor": colour, "edgecolor": "none", "alpha": alpha, "clip_on": False}
        self._strokes.append(lambda axes: axes.fill(xs, ys, **look))

    def box(self, x: float, y: float, width: float, height: float, colour: str, alpha: float = 1.0) -> None:
        """Fill a rectangle from its upper left corner."""
        self.area([x, x + width, x + width, x], [y, y, y + height, y + height], colour, alpha)

    def figure(self, title: str, description: str) -> Figure:
        """The finished picture.

        Raises:
            MissingPlots: matplotlib is not installed.
        """
        with settings():
            from matplotlib.figure import Figure as Drawing

            drawing = Drawing(figsize=(self._width / 72, self._height / 72), dpi=72)
            axes = drawing.add_axes((0, 0, 1, 1))
            axes.set_axis_off()
            axes.set(xlim=(0, self._width), ylim=(self._height, 0), autoscale_on=False)
            for order, stroke in enumerate(self._strokes):
                _put_on_top(stroke(axes), order)
        return Figure(drawing, plain(title), plain(description))


def _put_on_top(drawn: Any, order: int) -> None:
    """Let what is drawn later hide what was drawn before, words and shapes alike."""
    for artist in drawn if isinstance(drawn, list) else [drawn]:
        artist.set_zorder(order)


def plain(words: str) -> str:
    """The words without characters that no SVG may hold or that change how others are shown."""
    return "".join(letter if letter.isprintable() else " " for letter in words)


def wrapped(words: str, width: float, size: float = SIZE, most: int = 2) -> list[str]:
    """A name in lines of a width in points; what does not fit ends in an ellipsis."""
    letters = max(4, int(width / (size * _LETTER)))
    lines = textwrap.wrap(plain(words), letters, break_on_hyphens=True) or [""]
    if len(lines) > most:
        lines = [*lines[: most - 1], lines[most - 1][: letters - 1] + "…"]
    return lines
