"""Floors for people, in a terminal."""

import textwrap

from rexrank.metrics import score_keys
from rexrank.scoring.table import ARROWS, by_reason, counted, listed
from rexrank.validity.floors import Floors

_WIDTH = 79
_BEST = "*"


def table(floors: Floors) -> str:
    """Each score with its floors, those that a system has to beat marked; then how floors were made."""
    card = floors.floors[0].card
    head = (
        f"{floors.set_name} · {card.protocol}@{card.protocol_version} · track {floors.track} · {card.convention} · "
        f"{counted(card.n, 'study')}"
    )
    chosen = f"{_BEST} the floor to beat: best on {counted(floors.n_chosen_on, 'training report')}"
    blocks = [[head], [*_scores(floors), chosen], _made(floors), _absent(floors)]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines)


def _scores(floors: Floors) -> list[str]:
    cells = [["score", "", "floor", "", "training", "test", "95% interval"]]
    for key in floors.chosen:
        known, digits = score_keys()[key], score_keys()[key].digits + 1
        able = [one for one in floors.floors if key in one.card.summary]
        for place, one in enumerate(able):
            ends = one.card.intervals.get(key)
            cells.append(
                [
                    key if place == 0 else "",
                    ARROWS[known.direction] if place == 0 else "",
                    one.name.removeprefix("Floor - "),
                    _BEST if one.slug == floors.chosen[key] else "",
                    f"{one.train[key]:.{digits}f}" if key in one.train else "–",
                    f"{one.card.summary[key]:.{digits}f}",
                    "–" if ends is None else f"{ends[0]:.{digits}f} … {ends[1]:.{digits}f}",
                ]
            )
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return [
        "  ".join(
            f"{cell:<{width}}" if column < 4 else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _made(floors: Floors) -> list[str]:
    lines = [f"{one.name.removeprefix('Floor - ')}: {one.description}" for one in floors.floors]
    ways: dict[str, list[str]] = {}
    for key, words in floors.how.items():
        ways.setdefault(words, []).append(key)
    lines += [f"constant for {listed(keys)}: {words}" for words, keys in ways.items()]
    return [part for line in lines for part in textwrap.wrap(line, _WIDTH, subsequent_indent="  ")]


def _absent(floors: Floors) -> list[str]:
    lines = [f"  {listed(keys)}: {why}" for why, keys in by_reason(floors.absent).items()]
    return ["no floor:", *lines] if lines else []
