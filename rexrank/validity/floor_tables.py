"""Floors for people, in a terminal."""

import textwrap

from rexrank.layout import columns, ends, number
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
        known, form = score_keys()[key], f".{score_keys()[key].digits + 1}f"
        able = [one for one in floors.floors if key in one.card.summary]
        for place, one in enumerate(able):
            cells.append(
                [
                    key if place == 0 else "",
                    ARROWS[known.direction] if place == 0 else "",
                    one.name.removeprefix("Floor - "),
                    _BEST if one.slug == floors.chosen[key] else "",
                    number(one.train.get(key), form),
                    number(one.card.summary[key], form),
                    ends(one.card.intervals.get(key), form),
                ]
            )
    return columns(cells, left=range(4))


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
