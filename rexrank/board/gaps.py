"""How far each row of the board is above its blind floor, in the score that ranks, with a paired interval.

The floor is a row that the host declares a baseline: the one that is best on the training split, as the floors say
that are stored beside the benchmark (`rexrank floor … --push`); without those the baseline with the best score here,
so that no row is set against an easy one.
"""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rexrank.board import samples
from rexrank.board.ranges import RESAMPLES, Source
from rexrank.board.ranking import Key
from rexrank.board.results import HIDDEN_DECIMALS, Result
from rexrank.board.samples import Kept
from rexrank.statistics.bootstrap import intervals
from rexrank.statistics.inputs import InvalidStatistics
from rexrank.statistics.paired import Pair

BASELINE = "baseline"
_REMEMBERED_GROUPS = 256


@dataclass(frozen=True)
class Gap:
    """One row beside its floor.

    Attributes:
        floor: Name of the floor's row.
        value: How much better the row is, below 0 where it is worse; in scores where lower is better floor minus row.
        low: Lower end of the 95 % interval; None where there is none.
        high: Upper end.
    """

    floor: str
    value: float
    low: float | None
    high: float | None


class Gaps:
    """Gaps of the rows of groups. A group whose rows are those of before is not drawn again."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._known: OrderedDict[tuple[object, ...], list[Gap | None]] = OrderedDict()

    def of(self, results: Sequence[Result], key: Key, chosen: str | None = None) -> list[Gap | None]:
        """The gap of each row of one group; None for baselines, and where nothing is kept of single studies.

        Args:
            results: The rows.
            key: What they are ranked by.
            chosen: Name of the floor that is best on the training split; None where nobody said.
        """
        floor = _floor(results, key, chosen)
        if floor is None:
            return [None] * len(results)
        group = (key.name, floor, *(result.result_id for result in results))
        if group not in self._known:
            self._known[group] = _gaps(results, floor, key, self._source)
        self._known.move_to_end(group)
        while len(self._known) > _REMEMBERED_GROUPS:
            self._known.popitem(last=False)
        return self._known[group]


def chosen_floors(content: bytes) -> Mapping[tuple[str, str], Mapping[str, str]]:
    """What stored floors say: protocol with version, and convention, to the name of the floor of each score key.

    Args:
        content: A ``floors.json``; one that cannot be read says nothing.
    """
    try:
        found = json.loads(content)
        names = {one["slug"]: str(one["name"]) for one in found["floors"]}
        chosen = {str(key): names[slug] for key, slug in found["chosen"].items()}
        return {(str(found["protocol"]), str(found["convention"])): chosen}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _floor(results: Sequence[Result], key: Key, chosen: str | None) -> int | None:
    """Position of the floor's row, or None."""
    able = {
        place: value
        for place, result in enumerate(results)
        if result.kind == BASELINE and (value := _value(result, key)) is not None
    }
    named = [place for place in able if results[place].model_name == chosen]
    sign = 1.0 if key.direction == "higher" else -1.0
    return named[0] if named else max(able, key=lambda place: sign * able[place], default=None)


def _gaps(results: Sequence[Result], floor: int, key: Key, source: Source) -> list[Gap | None]:
    own = [place for place, one in enumerate(results) if one.kind != BASELINE and _value(one, key) is not None]
    kept = source([results[place] for place in [floor, *own]], key.name)
    gaps: list[Gap | None] = [None] * len(results)
    base = kept[0]
    if isinstance(base, Kept):
        for place, one in zip(own, kept[1:], strict=True):
            if isinstance(one, Kept):
                gaps[place] = _gap(one, base, key, results[floor].model_name)
    return gaps


def _value(result: Result, key: Key) -> float | None:
    found = result.metrics.get(key.name)
    return found.value if found else None


def _gap(one: Kept, base: Kept, key: Key, name: str) -> Gap | None:
    columns, patients = samples.together([one, base])
    left, right = columns if key.direction == "higher" else columns[::-1]
    difference = Pair.of(left, right).difference
    try:
        (ends,) = intervals([difference], resamples=RESAMPLES, groups=patients)
    except InvalidStatistics:
        return None
    if difference.score is None:
        return None
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    return Gap(name, _rounded(difference.score), *(None if end is None else _rounded(end) for end in (low, high)))


def _rounded(value: float) -> float:
    # Scores of hidden benchmarks are published with so many decimals, and so are differences of all.
    return round(value, HIDDEN_DECIMALS)
