"""How ranks shift from column to column: one line a name."""

from collections.abc import Mapping, Sequence

from rexrank.figures.canvas import ACCENT, BASE, INK, QUIET, SMALL, WIDTH, Canvas, plain, wrapped
from rexrank.figures.figure import Figure, InvalidFigure
from rexrank.figures.scales import is_number

_NAMES, _ROW, _TOP = 132.0, 16.0, 34.0
# Lines that are told apart from the others; more would be a tangle.
_MARKED = 4


def rank_shifts(names: Sequence[str], columns: Mapping[str, Sequence[float | None]], title: str) -> Figure:
    """Draw the ranks of names in several columns, 1 on top; the lines with the longest way are the dark ones.

    Args:
        names: Of the lines.
        columns: Name of a column (a benchmark) to the rank of each name, None or nan where it has none.
        title: What ranks they are.

    Raises:
        InvalidFigure: There is no rank, lengths differ, or there is only one column.
        MissingPlots: matplotlib is not installed.
    """
    if len(columns) < 2:
        raise InvalidFigure(f"{plain(title)}: shifts need at least two columns of ranks")
    if any(len(ranks) != len(names) for ranks in columns.values()):
        raise InvalidFigure(f"{plain(title)}: expected {len(names)} ranks in each column")
    by_name = [[_rank(ranks[index]) for ranks in columns.values()] for index in range(len(names))]
    present = [rank for ranks in by_name for rank in ranks if rank is not None]
    if not present:
        raise InvalidFigure(f"{plain(title)}: there is no value to draw")
    places = _places(by_name)
    canvas = Canvas(_TOP + _ROW * max(max(present), len(names)) + 4)
    xs = [_NAMES + 14 + (WIDTH - _NAMES - 52) * index / (len(columns) - 1) for index in range(len(columns))]
    room = (xs[1] - xs[0]) - 4
    for x, column in zip(xs, columns, strict=True):
        canvas.lines(x, 14, wrapped(column, room, SMALL), SMALL, "center")
    marked = sorted(range(len(names)), key=lambda index: -_way(by_name[index]))[:_MARKED]
    marked = [index for index in marked if _way(by_name[index]) > 0]
    for index in [*(other for other in range(len(names)) if other not in marked), *marked]:
        _draw(canvas, xs, by_name[index], index in marked)
    for index, name in enumerate(names):
        y = _y(places[index])
        canvas.lines(0, y, wrapped(name, _NAMES, SMALL, most=1), SMALL)
        last = by_name[index][-1]
        if last is not None and by_name[index][0] is not None:
            canvas.text(WIDTH, _y(last), f"{last:g}", SMALL, INK if index in marked else QUIET, "right")
    return canvas.figure(title, _said(names, list(columns), by_name))


def _rank(value: float | None) -> float | None:
    return value if is_number(value) else None


def _y(rank: float) -> float:
    return _TOP + _ROW * (rank - 0.5)


def _places(by_name: Sequence[Sequence[float | None]]) -> list[float]:
    """The row of each name: in the order of the first column, those without a rank there below, no two in one row."""
    order = sorted(range(len(by_name)), key=lambda index: (by_name[index][0] is None, by_name[index][0] or 0.0))
    places = [0.0] * len(by_name)
    for row, index in enumerate(order):
        places[index] = row + 1.0
    return places


def _way(ranks: Sequence[float | None]) -> float:
    """How far the ranks lie apart."""
    present = [rank for rank in ranks if rank is not None]
    return max(present) - min(present) if len(present) > 1 else 0.0


def _draw(canvas: Canvas, xs: Sequence[float], ranks: Sequence[float | None], marked: bool) -> None:
    points = [(x, _y(rank)) for x, rank in zip(xs, ranks, strict=True) if rank is not None]
    if not points:
        return
    across, down = [point[0] for point in points], [point[1] for point in points]
    colour = ACCENT if marked else BASE
    canvas.line(across, down, colour, 2.2 if marked else 1.0, alpha=1.0 if marked else 0.55)
    canvas.dots(across, down, colour, 6.0 if marked else 4.0, alpha=1.0 if marked else 0.8)


def _said(names: Sequence[str], columns: Sequence[str], by_name: Sequence[Sequence[float | None]]) -> str:
    lines = []
    for name, ranks in zip(names, by_name, strict=True):
        told = ", ".join(
            f"{column} {'no rank' if rank is None else f'{rank:g}'}"
            for column, rank in zip(columns, ranks, strict=True)
        )
        lines.append(f"{name}: {told}")
    return f"{'; '.join(lines)}."
