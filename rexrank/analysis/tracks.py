"""The section on findings against whole reports: study by study of cards, system by system of tables."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from rexrank.analysis.blocks import Block, Paragraph, Picture, Section, Table, listed
from rexrank.analysis.cards import CardSet
from rexrank.analysis.studies import Estimate, difference
from rexrank.analysis.study_table import digits_of, direction_of, label_of
from rexrank.analysis.systems import FEWEST_SYSTEMS, Matrix, SystemTable
from rexrank.comparison.cards import aligned
from rexrank.figures import Figure, Row, heatmap, intervals
from rexrank.figures.scales import number
from rexrank.statistics.correlation import spearman

TITLE = "Findings or whole report"


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
    title = f"{TITLE} · {left.benchmark}"
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


def tracks_of_systems(findings: Sequence[SystemTable], reports: Sequence[SystemTable]) -> Section:
    """How scores of whole systems differ between findings and whole reports, where single studies are not known.

    Args:
        findings: Tables of the track findings, one a benchmark.
        reports: Tables of whole reports; those of the same label are compared, on the systems that both have.
    """
    every = [_shared(left, right) for left in findings for right in reports if left.label == right.label]
    pairs = [pair for pair in every if len(pair[0].names) >= FEWEST_SYSTEMS]
    known = findings[0].keys if pairs else ()
    keys = [key for key in known if all(_has(table, key) for pair in pairs for table in pair)]
    if not keys:
        why = f"it takes {FEWEST_SYSTEMS} systems that stand on both tracks of a benchmark, with a score in common"
        return Section(TITLE, (Paragraph(f"Not computed: {why}."),))
    labels = [findings[0].labels[findings[0].keys.index(key)] for key in keys]
    matrix: Matrix = [[spearman(_column(left, key), _column(right, key)) for key in keys] for left, right in pairs]
    names = [left.label for left, _ in pairs]
    blocks: tuple[Block, ...] = (
        Table(
            ("Benchmark", "Systems", f"{labels[0]}, findings", "Whole report"),
            tuple(_means(left, right, keys[0]) for left, right in pairs),
            "Means over the systems that stand on both tracks.",
        ),
        Picture(
            lambda: heatmap(names, matrix, "Agreement of findings and whole reports", labels),
            "How alike the two tracks order these systems, by each score (Spearman): 1 is the same order.",
        ),
    )
    return Section(TITLE, blocks)


def _shared(left: SystemTable, right: SystemTable) -> tuple[SystemTable, SystemTable]:
    names = [name for name in left.names if name in right.names]
    return left.take(names), right.take(names)


def _has(table: SystemTable, key: str) -> bool:
    return key in table.keys and not np.isnan(_column(table, key)).all()


def _column(table: SystemTable, key: str) -> np.ndarray:
    return np.asarray(table.quality[:, table.keys.index(key)])


def _means(left: SystemTable, right: SystemTable, key: str) -> tuple[str, ...]:
    values = [table.values[:, table.keys.index(key)] for table in (left, right)]
    both = ~np.isnan(values[0]) & ~np.isnan(values[1])
    means = [number(float(one[both].mean()), digits_of(key)) if both.any() else "–" for one in values]
    return (left.label, f"{both.sum():,}", *means)
