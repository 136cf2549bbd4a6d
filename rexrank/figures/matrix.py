"""Correlations as a table of coloured cells, each with its number."""

from collections.abc import Sequence

from rexrank.figures.canvas import LINE, QUIET, SIZE, SMALL, WIDTH, Canvas, plain, wrapped
from rexrank.figures.figure import Figure, InvalidFigure
from rexrank.figures.scales import is_number, number

# From -1 through 0 to 1: orange, white, blue, which every kind of colour vision tells apart. The numbers carry the
# sign where colours are printed grey.
_NEGATIVE, _POSITIVE = (180, 95, 6), (12, 74, 110)
_DARK_FROM = 0.55
# Colours of their own, which do not follow a dark page: cells are light or dark by their value.
_ON_LIGHT, _ON_DARK = "#101010", "#fefefe"
_NAMES, _GAP = 132.0, 1.5
_WIDEST_CELL, _HEADING_LETTER, _LONGEST_HEAD = 46.0, 0.62, 24
MOST = 16


def heatmap(
    names: Sequence[str],
    matrix: Sequence[Sequence[float | None]],
    title: str,
    columns: Sequence[str] | None = None,
) -> Figure:
    """Draw numbers between -1 and 1 as cells.

    Args:
        names: Of the rows.
        matrix: ``matrix[row][column]``; None and nan where undefined.
        title: What the numbers are.
        columns: Names of the columns; None where they are those of the rows, which then are numbered.

    Raises:
        InvalidFigure: There is no number, shapes differ, or there are more than 16 columns.
        MissingPlots: matplotlib is not installed.
    """
    width = len(names) if columns is None else len(columns)
    if len(matrix) != len(names) or any(len(row) != width for row in matrix):
        raise InvalidFigure(f"{plain(title)}: expected {len(names)} rows of {width} numbers")
    if not any(is_number(value) for row in matrix for value in row):
        raise InvalidFigure(f"{plain(title)}: there is no value to draw")
    if width > MOST:
        raise InvalidFigure(f"{plain(title)}: {width} columns are too many to read; choose at most {MOST}")
    heads = [str(index + 1) for index in range(width)] if columns is None else [plain(name) for name in columns]
    labels = [f"{index + 1}  {name}" if columns is None else name for index, name in enumerate(names)]
    cell = min(_WIDEST_CELL, (WIDTH - _NAMES) / width)
    height = max(22.0, min(cell, 30.0))
    letters = max(len(head) for head in heads)
    turned = letters * SMALL * _HEADING_LETTER > cell
    top = min(letters, _LONGEST_HEAD) * SMALL * _HEADING_LETTER + 12 if turned else 18.0
    canvas = Canvas(top + height * len(names) + 4, WIDTH)
    for column, head in enumerate(heads):
        x = _NAMES + cell * (column + 0.5)
        if turned:
            canvas.upwards(
                x, top - 4, head if len(head) <= _LONGEST_HEAD else head[: _LONGEST_HEAD - 1] + "…", SMALL, QUIET
            )
        else:
            canvas.text(x, top - 9, head, SMALL, QUIET, "center")
    for row, label in enumerate(labels):
        middle = top + height * (row + 0.5)
        canvas.lines(0, middle, wrapped(label, _NAMES - 4, SMALL if height < 26 else SIZE - 1, most=2))
        for column, value in enumerate(matrix[row]):
            _cell(canvas, value, _NAMES + cell * column, top + height * row, cell, height)
    return canvas.figure(title, _said(names, heads if columns else list(names), matrix))


def _cell(canvas: Canvas, value: float | None, x: float, y: float, width: float, height: float) -> None:
    size = min(SIZE, width / 2.6)
    middle = x + width / 2, y + height / 2
    if value is None or not is_number(value):
        canvas.box(x, y, width - _GAP, height - _GAP, LINE, 0.5)
        canvas.text(*middle, "–", size, QUIET, "center")
        return
    canvas.box(x, y, width - _GAP, height - _GAP, _colour(value))
    colour = _ON_DARK if abs(value) >= _DARK_FROM else _ON_LIGHT
    canvas.text(*middle, _short(value), size, colour, "center")


def _short(value: float) -> str:
    """Two decimals without the zero before them, as cells are narrow."""
    words = number(value, 2)
    return words.removesuffix(".00") if words.endswith("1.00") else words.replace("0.", ".", 1)


def _colour(value: float) -> str:
    strength = min(abs(value), 1.0)
    end = _POSITIVE if value > 0 else _NEGATIVE
    return "#" + "".join(f"{round(246 + (channel - 246) * strength):02x}" for channel in end)


def _said(names: Sequence[str], columns: Sequence[str], matrix: Sequence[Sequence[float | None]]) -> str:
    lines = []
    for name, row in zip(names, matrix, strict=True):
        cells = ", ".join(
            f"{column} {number(value, 2) if value is not None and is_number(value) else 'undefined'}"
            for column, value in zip(columns, row, strict=True)
            if column != name
        )
        lines.append(f"{name}: {cells}")
    return f"{'; '.join(lines)}."
