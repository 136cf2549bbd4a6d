"""How far a system is above the blind floor, score by score, with the paired interval of the difference.

In each score the floor is the one that is best on the training split (`rexrank.validity.floors`), or a card that the
caller names. Studies, or whole patients, are drawn; the system and the floor on the same draws.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rexrank.comparison.cards import aligned
from rexrank.layout import columns, ends, number
from rexrank.metrics import score_keys
from rexrank.scoring.card import ScoreCard
from rexrank.scoring.table import ARROWS
from rexrank.statistics.paired import Pair, Paired, paired_tests
from rexrank.statistics.sample import Floats, Sample
from rexrank.terms import Direction
from rexrank.validity.floors import Floors

Verdict = Literal["above", "below", "undecided", "untested"]
WORDS: dict[Verdict, str] = {
    "above": "better than the floor",
    "below": "worse than the floor",
    "undecided": "not told apart from the floor",
    "untested": "no interval",
}
_SYSTEM = "the card"


@dataclass(frozen=True)
class Delta:
    """One score of a system beside its floor.

    Attributes:
        key: Score key.
        direction: Which values are better.
        floor: Name of the floor.
        paired: Differences of system minus floor.
    """

    key: str
    direction: Direction
    floor: str
    paired: Paired

    @property
    def verdict(self) -> Verdict:
        """``above`` where the whole interval is on the better side of 0, ``below`` where it is on the worse one."""
        ends = self.paired.interval
        if ends is None:
            return "untested"
        if ends[0] <= 0 <= ends[1]:
            return "undecided"
        return "above" if (ends[0] > 0) == (self.direction == "higher") else "below"

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps(…, allow_nan=False)``."""
        return {
            "score": self.key,
            "better": self.direction,
            "floor": self.floor,
            "system_score": self.paired.scores[0],
            "floor_score": self.paired.scores[1],
            "difference": self.paired.difference,
            "interval": None if self.paired.interval is None else list(self.paired.interval),
            "p": self.paired.p,
            "n": self.paired.n,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class OverFloor:
    """A card beside the floors.

    Attributes:
        rows: One a score, in the order of the card.
        absent: Score key to the reason why it is not compared.
        confidence: Of the intervals.
        is_chosen: Whether the floor of each score was chosen on the training split; else the caller named one card.
    """

    rows: tuple[Delta, ...]
    absent: dict[str, str]
    confidence: float = 0.95
    is_chosen: bool = True

    def row(self, key: str) -> Delta | None:
        """The row of a score, or None."""
        return next((row for row in self.rows if row.key == key), None)

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps(…, allow_nan=False)``."""
        return {"over_floor": [row.to_json() for row in self.rows], "no_floor": self.absent}


def over_floor(
    card: ScoreCard,
    floors: Floors | ScoreCard,
    keys: str | Iterable[str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> OverFloor:
    """Put a card beside the floors.

    Args:
        card: The system's.
        floors: The floors of the same studies; or one card, which then is the floor in every score.
        keys: Score keys, or one; None for all of the card that one value of is better.
        resamples: Of the intervals.
        seed: Of the draws.

    Raises:
        CardsDiffer: The floors were scored against other references, or by other rules.
    """
    asked = [keys] if isinstance(keys, str) else card.summary if keys is None else keys
    wanted = [key for key in asked if key in score_keys()]
    judged = [key for key in wanted if score_keys()[key].direction != "none"]
    found: dict[str, Delta] = {}
    absent: dict[str, str] = {}
    for name, floor, own in _by_floor(floors, judged, absent):
        both = aligned([floor, card], names=[name, _SYSTEM])
        absent |= {key: both.absent.get(key, "the floor lacks it") for key in own if key not in both.samples}
        kept = [key for key in own if key in both.samples]
        pairs = [_pair(both.samples[key], both.values[key]) for key in kept]
        for key, paired in zip(kept, paired_tests(pairs, resamples, seed, both.groups), strict=True):
            found[key] = Delta(key, score_keys()[key].direction, name, paired)
    rows = tuple(found[key] for key in judged if key in found)
    return OverFloor(rows, absent, is_chosen=isinstance(floors, Floors))


def table(over: OverFloor) -> str:
    """The rows for a terminal, the words at the end of each."""
    cells = [["score", "", "system", "floor", "difference", f"{over.confidence:.0%} interval", "", ""]]
    for row in over.rows:
        form, one = f".{score_keys()[row.key].digits + 1}f", row.paired
        numbers = [number(value, form) for value in one.scores]
        between = [number(one.difference, f"+{form}"), ends(one.interval, f"+{form}")]
        cells.append([row.key, ARROWS[row.direction], *numbers, *between, WORDS[row.verdict], row.floor])
    head = f"over the blind floor{' (chosen on the training split)' if over.is_chosen else ''}:"
    lines = [head, *columns(cells, left=(0, 1, 6, 7))] if over.rows else []
    lines += [f"no floor in {key}: {why}" for key, why in over.absent.items()]
    return "\n".join(lines)


def _by_floor(
    floors: Floors | ScoreCard, keys: Sequence[str], absent: dict[str, str]
) -> list[tuple[str, ScoreCard, list[str]]]:
    """Each floor with the scores in which it counts; what has none is noted."""
    if isinstance(floors, ScoreCard):
        return [("floor", floors, list(keys))]
    grouped: dict[str, list[str]] = {}
    for key in keys:
        if key in floors.chosen:
            grouped.setdefault(floors.chosen[key], []).append(key)
        else:
            absent[key] = floors.absent.get(key, "no floor was built for it")
    return [(one.name, one.card, grouped[one.slug]) for one in floors.floors if one.slug in grouped]


def _pair(samples: Sequence[Sample], values: Sequence[Floats]) -> Pair:
    return Pair.of(samples[1], samples[0], (values[1], values[0]))
