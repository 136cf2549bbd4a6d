"""Ranges of the ranks on the board: which rows can be compared, and what is said where they cannot."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rexrank.board import samples
from rexrank.board.ranking import Key
from rexrank.board.results import Result
from rexrank.board.samples import Kept
from rexrank.statistics.draws import Draws
from rexrank.statistics.inputs import InvalidStatistics
from rexrank.statistics.ranks import LEAST_UNITS, RankRange, rank_ranges
from rexrank.statistics.stability import under_studies

# Enough for ends of ranges; a board of hundreds of rows is drawn anew with each result.
RESAMPLES = 2_000
# Shares of resamples are not known better than this.
_DIGITS = 3
_REMEMBERED_GROUPS = 256

# For results of one group and a score key: what is kept of each, or in words why nothing is.
Source = Callable[[Sequence[Result], str], Sequence[Kept | str]]


@dataclass(frozen=True)
class Place:
    """The range of one row's rank, or why it has none.

    Attributes:
        low: Best rank that is not ruled out; None without a range.
        high: Worst rank that is not ruled out.
        p_first: Share of resamples in which the row comes first; None where some ranked row cannot be resampled.
        tau: Mean of Kendall's tau-b between the order of the group and its resampled orders; the same for all its rows.
        note: Why the range is absent, or wider than its studies make it, or what it leaves out; None where there is
            nothing to say.
    """

    low: int | None = None
    high: int | None = None
    p_first: float | None = None
    tau: float | None = None
    note: str | None = None


class Ranges:
    """Ranges of the ranks of groups. A group whose ranked rows are those of before is not drawn again."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._known: OrderedDict[tuple[object, ...], list[Place]] = OrderedDict()

    def of(self, results: Sequence[Result], ranks: Sequence[int], key: Key) -> list[Place]:
        """Ranges of the ranked rows of one group.

        Args:
            results: The ranked rows.
            ranks: Their ranks.
            key: What they are ranked by.

        Returns:
            One place a row. It depends on the results alone, and not on their order.
        """
        ordered = sorted(range(len(results)), key=lambda position: results[position].result_id)
        group = (key.name, key.direction, *((results[row].result_id, ranks[row]) for row in ordered))
        if group not in self._known:
            rows = [results[row] for row in ordered]
            self._known[group] = _places(rows, [ranks[row] for row in ordered], key, self._source)
        self._known.move_to_end(group)
        while len(self._known) > _REMEMBERED_GROUPS:
            self._known.popitem(last=False)
        places = dict(zip(ordered, self._known[group], strict=True))
        return [places[row] for row in range(len(results))]


def nothing_kept(results: Sequence[Result], key: str) -> Sequence[Kept | str]:
    """A source without anything, for tables of results whose single studies are not at hand."""
    return ["the scores of its single studies are not at hand"] * len(results)


def _places(results: Sequence[Result], ranks: Sequence[int], key: Key, source: Source) -> list[Place]:
    if len(results) < 2:
        return [Place(note="no other row is ranked here") for _ in results]
    found = list(source(results, key.name))
    rows = [row for row, kept in enumerate(found) if isinstance(kept, Kept) and kept.sample.score is not None]
    places = [Place(note=kept if isinstance(kept, str) else "no study has a score") for kept in found]
    if len(rows) < 2:
        for row in rows:
            places[row] = Place(note="no other ranked row has scores of single studies to compare with")
        return places
    compared = _compared([kept for row in rows if isinstance(kept := found[row], Kept)], key)
    if isinstance(compared, str):
        for row in rows:
            places[row] = Place(note=compared)
        return places
    found_ranges, tau = compared
    unknown = len(results) - len(rows)
    for row, one in zip(rows, found_ranges, strict=True):
        places[row] = _place(one, ranks[row], unknown, tau)
    return places


def _compared(kept: Sequence[Kept], key: Key) -> tuple[list[RankRange], float | None] | str:
    """The ranges and Kendall's tau, or why there are none."""
    columns, patients = samples.together(kept)
    draws = Draws.of(len(columns[0]), RESAMPLES, groups=patients)
    if draws.units < LEAST_UNITS:
        return f"fewer than {LEAST_UNITS} {'studies' if patients is None else 'patients'} are too few for a range"
    try:
        stability = under_studies(columns, key.direction, draws)
        return rank_ranges(columns, key.direction, draws), stability.tau if stability else None
    except InvalidStatistics:
        return "too few studies have a score in every row"


def _place(found: RankRange, rank: int, unknown: int, tau: float | None) -> Place:
    """The range around the rank that the board shows, which may differ where hidden values are rounded to a tie.

    A row that cannot be compared may stand on either side.
    """
    low, high = min(found.low, rank), max(found.high + unknown, rank)
    lost = found.undefined_draws
    notes = [f"{lost:,} of {RESAMPLES:,} resamples lack the score of a row and are left out"] if lost else []
    if not unknown:
        shares = round(found.p_first, _DIGITS), None if tau is None else round(tau, _DIGITS)
        return Place(low, high, *shares, note="; ".join(notes) or None)
    rows = "1 ranked row" if unknown == 1 else f"{unknown} ranked rows"
    notes.append(f"{rows} without scores of single studies may stand on either side")
    return Place(low, high, note="; ".join(notes))
