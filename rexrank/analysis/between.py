"""The sections on several sets: ranks from benchmark to benchmark, and findings against whole reports."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from rexrank.analysis.blocks import Block, Paragraph, Picture, Section, Table, listed
from rexrank.analysis.cards import CardSet
from rexrank.analysis.standings import ranges
from rexrank.analysis.studies import Estimate, difference
from rexrank.analysis.study_table import digits_of, direction_of, label_of
from rexrank.analysis.systems import Robustness, Spread, robustness
from rexrank.comparison.cards import aligned
from rexrank.figures import Figure, Row, heatmap, intervals, rank_shifts
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
            f"{FEWEST_SHARED} are needed. A system is recognised by its name."
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


def track_pairs(sets: Sequence[CardSet]) -> list[tuple[CardSet, CardSet]]:
    """Sets of the same references and rules, once findings and once whole reports."""
    return [
        (left, right)
        for left in sets
        for right in sets
        if left.first.track == "findings"
        and right.first.track == "report"
        and left.rules == right.rules
        and left.first.inputs["references"]["sha256"] == right.first.inputs["references"]["sha256"]
    ]


def findings_and_report(left: CardSet, right: CardSet) -> Section:
    """How scores differ between findings and whole reports, on the studies that have both."""
    title = f"Findings or whole report · {left.benchmark}"
    shared = [left.names[index] for index in left.order if left.names[index] in right.names]
    keys = [key for key in left.keys if key in right.keys]
    if not shared or not keys:
        lacking = "no system stands on both tracks" if not shared else "the tracks have no score in common"
        return Section(title, (Paragraph(f"Not computed: {lacking}. A system is recognised by its name."),))
    key = keys[0]
    estimates = [_difference(left, right, name, key) for name in shared]
    label = label_of(key)
    better = {
        "higher": "right of the dashed line whole reports score better",
        "lower": "left of the dashed line whole reports score better",
    }.get(direction_of(key), "neither side is better")
    blocks: list[Block] = [
        Picture(
            partial(_differences, left, shared, estimates, key),
            f"{label} of whole reports minus that of findings, on the same studies; {better}.",
        ),
        Table(
            ("System", "Findings", "Whole report", "Difference (interval)", "n"),
            tuple(_track_row(left, right, name, key, one) for name, one in zip(shared, estimates, strict=True)),
        ),
    ]
    if all(
        left.cards[left.names.index(name)].inputs["predictions"]
        == right.cards[right.names.index(name)].inputs["predictions"]
        for name in shared
    ):
        same = "The same texts were scored on both tracks; a text with findings alone lacks what a whole report holds."
        blocks.append(Paragraph(same, quiet=True))
    return Section(title, tuple(blocks), told=_told_of_tracks(left, shared, estimates, key))


def _difference(left: CardSet, right: CardSet, name: str, key: str) -> Estimate:
    first = aligned([left.cards[left.names.index(name)]], [key])
    second = aligned([right.cards[right.names.index(name)]], [key])
    places = {study: place for place, study in enumerate(second.study_ids)}
    both = [place for place, study in enumerate(first.study_ids) if study in places]
    theirs = np.array([places[first.study_ids[place]] for place in both], dtype=np.int64)
    ours = np.array(both, dtype=np.int64)
    groups = None if first.groups is None else [first.groups[place] for place in both]
    return difference(first.samples[key][0].take(ours), second.samples[key][0].take(theirs), groups)


def _differences(left: CardSet, names: Sequence[str], estimates: Sequence[Estimate], key: str) -> Figure:
    rows = [
        Row(name, one.value, one.low, one.high, name in left.baselines)
        for name, one in zip(names, estimates, strict=True)
    ]
    title = f"{label_of(key)}: whole reports minus findings, {left.benchmark}"
    return intervals(rows, title, reference_line=0.0, digits=digits_of(key))


def _track_row(left: CardSet, right: CardSet, name: str, key: str, one: Estimate) -> tuple[str, ...]:
    digits = digits_of(key)
    ends = ""
    if one.low is not None and one.high is not None:
        ends = f" ({number(one.low, digits)} to {number(one.high, digits)})"
    values = [side.cards[side.names.index(name)].summary[key] for side in (left, right)]
    shift = "–" if one.value is None else f"{number(one.value, digits)}{ends}"
    return (name, *(number(value, digits) for value in values), shift, f"{one.n:,}")


def _told_of_tracks(left: CardSet, names: Sequence[str], estimates: Sequence[Estimate], key: str) -> tuple[str, ...]:
    label, sign = label_of(key), -1 if direction_of(key) == "lower" else 1
    models = [name for name in names if name not in left.baselines] or list(names)
    known = [
        (name, sign * (one.value or 0))
        for name, one in zip(names, estimates, strict=True)
        if name in models and one.is_clear
    ]
    worse, better = [name for name, value in known if value < 0], [name for name, value in known if value > 0]
    told = [f"worse for {listed(worse)}"] if worse else []
    told += [f"better for {listed(better)}"] if better else []
    if not told:
        return (f"{left.benchmark}: {label} of whole reports does not differ from that of findings beyond chance.",)
    return (f"{left.benchmark}: {label} is {' and '.join(told)} on whole reports than on findings alone.",)
