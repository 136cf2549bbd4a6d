"""The section on ranks from benchmark to benchmark."""

from collections.abc import Mapping, Sequence
from functools import partial

from rexrank.analysis.blocks import Block, Paragraph, Picture, Section, Table, listed
from rexrank.analysis.cards import CardSet
from rexrank.analysis.standings import ranges
from rexrank.analysis.study_table import label_of
from rexrank.analysis.systems import Robustness, Spread, robustness
from rexrank.figures import Figure, heatmap, rank_shifts
from rexrank.figures.scales import number
from rexrank.statistics.ranks import RankRange

# Two orders of two systems are alike or opposite; three is the least that can say more.
FEWEST_SHARED = 3
_STEADY = 2
_HOLDS, _HOLDS_LITTLE = 0.8, 0.4


def families(sets: Sequence[CardSet]) -> list[list[CardSet]]:
    """Sets of different benchmarks whose ranks may be set side by side: same rules and track."""
    grouped: dict[tuple[str, ...], list[CardSet]] = {}
    for one in sets:
        grouped.setdefault((*one.rules, one.first.track), []).append(one)
    return [family for family in grouped.values() if len(family) > 1]


def from_benchmark_to_benchmark(family: Sequence[CardSet]) -> Section:
    """How ranks shift between benchmarks that were scored by the same rules."""
    title = f"From benchmark to benchmark · {family[0].first.track}"
    keys = [key for key in family[0].keys if all(key in one.keys for one in family)]
    if not keys:
        return Section(title, (Paragraph("The benchmarks have no score in common that ranks."),))
    key = keys[0]
    found = robustness([one.table for one in family], key)
    return Section(title, *robustness_blocks(found, label_of(key), _ranges_of(family, found, key)))


def _ranges_of(family: Sequence[CardSet], found: Robustness, key: str) -> dict[tuple[str, int], RankRange]:
    """Ranges of the ranks among the systems that all benchmarks have, by name and position of the benchmark."""
    shared = [spread.name for spread in found.spreads]
    known: dict[tuple[str, int], RankRange] = {}
    for position, one in enumerate(family):
        chosen = [index for index, name in enumerate(one.names) if name in shared]
        part = CardSet(one.benchmark, tuple(one.names[i] for i in chosen), tuple(one.cards[i] for i in chosen))
        places = ranges(part, key) if len(chosen) > 1 else None
        for name, place in zip(part.names, places or [], strict=False):
            known[name, position] = place
    return known


def robustness_blocks(
    found: Robustness,
    label: str,
    known: Mapping[tuple[str, int], RankRange] | None = None,
    why: str = "Ranks have no range here, as there are no values of single studies.",
) -> tuple[tuple[Block, ...], tuple[str, ...]]:
    """What there is to say about ranks on several benchmarks, and its sentences for the summary.

    Args:
        found: The ranks.
        label: What the ranking score is called.
        known: Range of a rank by name and position of the benchmark; None where none is known.
        why: Then why.
    """
    if len(found.spreads) < FEWEST_SHARED:
        few = (
            f"Not computed: only {len(found.spreads)} systems stand on all of {listed(found.benchmarks)}; "
            f"{FEWEST_SHARED} are needed, baselines not counted. A system is recognised by its name."
        )
        return (Paragraph(few),), ()
    matrix = [list(row) for row in found.agreement]
    blocks: list[Block] = [
        Picture(
            partial(_shifts, found, label),
            f"Each line is a system and its place by {label} on each benchmark; 1 is best. The thick lines shift most.",
        ),
        _ranks_table(found, known or {}, why),
        Picture(
            lambda: heatmap(list(found.benchmarks), matrix, f"Agreement of orders by {label}"),
            f"How alike two benchmarks order the {len(found.spreads)} systems (Spearman): 1 is the same order.",
        ),
        Paragraph(
            "Nothing is averaged over benchmarks: they differ in difficulty, and similar ones would count twice.",
            quiet=True,
        ),
    ]
    if found.left_out:
        blocks.append(Paragraph(f"Not on every benchmark, so not here: {listed(found.left_out, 12)}.", quiet=True))
    return tuple(blocks), _told(found, label)


def _shifts(found: Robustness, label: str) -> Figure:
    spreads = sorted(found.spreads, key=lambda one: one.ranks)
    columns = {name: [float(one.ranks[position]) for one in spreads] for position, name in enumerate(found.benchmarks)}
    return rank_shifts([one.name for one in spreads], columns, f"Ranks by {label}")


def _ranks_table(found: Robustness, known: Mapping[tuple[str, int], RankRange], why: str) -> Table:
    rows = tuple(
        (
            one.name,
            *(_place(one, position, known) for position in range(len(found.benchmarks))),
            f"{one.way}",
        )
        for one in found.spreads
    )
    said = "Rank, in brackets the places that the studies leave open." if known else why
    return Table(("System", *found.benchmarks, "Shift"), rows, said)


def _place(one: Spread, position: int, known: Mapping[tuple[str, int], RankRange]) -> str:
    place = known.get((one.name, position))
    if place is None:
        return str(one.ranks[position])
    span = str(place.low) if place.low == place.high else f"{place.low}–{place.high}"
    return f"{one.ranks[position]} ({span})"


def _told(found: Robustness, label: str) -> tuple[str, ...]:
    pairs = [
        (value, left, right)
        for left, row in enumerate(found.agreement)
        for right, value in enumerate(row)
        if left < right and value is not None
    ]
    if not pairs:
        return ()
    least, left, right = min(pairs)
    if least >= _HOLDS:
        holds = "the order of systems holds well from benchmark to benchmark"
    elif least >= _HOLDS_LITTLE:
        holds = "the order of systems holds only in part from benchmark to benchmark"
    else:
        holds = "an order of systems on one benchmark says little about another"
    pair = f"{found.benchmarks[left]} and {found.benchmarks[right]} ({number(least, 2)}; 1: the same)"
    told = f"By {label}, {holds}; least alike are {pair}."
    widest = max(found.spreads, key=lambda one: one.way)
    if widest.way > _STEADY:
        told += f" {widest.name} shifts most, between places {min(widest.ranks)} and {max(widest.ranks)}."
    return (told,)
