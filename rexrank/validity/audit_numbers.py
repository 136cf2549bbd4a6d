"""Sections of the page of an audit that hold scores: beside floors, on abnormal studies, all of them, by groups."""

from functools import partial

from rexrank.analysis.blocks import Block, Folded, Paragraph, Picture, Points, Section, Table
from rexrank.analysis.study_table import digits_of, direction_of, label_of
from rexrank.comparison.words import p_number
from rexrank.figures import Figure, InvalidFigure
from rexrank.figures import Row as Drawn
from rexrank.figures import intervals as forest
from rexrank.layout import NOTHING, ends, number
from rexrank.scoring.table import ARROWS, counted
from rexrank.validity import strata_tables
from rexrank.validity.audit import Audit, shown_floor, single_errors
from rexrank.validity.audit_answers import (
    above_the_floor,
    on_abnormal,
    section,
    side,
)
from rexrank.validity.strata import Estimate, Strata

_STANDING = {"better": "better", "worse": "worse", "open": "level"}
# Divisions whose groups do not say themselves what they are groups of.
_NAMED = frozenset({"site", "view", "age"})


def floors(found: Audit) -> Section:
    """The system beside blind floors."""
    said = above_the_floor(found)
    blocks: list[Block] = []
    if found.floors.found is not None:
        pictures = [Picture(partial(_floor_picture, found, key), _see_floors(found, key)) for key in found.leading]
        blocks = [*pictures, _above_table(found), _floor_table(found)]
    return section(said, blocks)


def _floor_picture(found: Audit, key: str) -> Figure:
    """The system's score above those of the floors, and the floor that counts as a line."""
    floors = found.floors.found
    if floors is None:
        raise InvalidFigure("there are no floors to draw")
    low, high = found.card.intervals.get(key, (None, None))
    rows = [Drawn(found.name, found.card.summary[key], low, high)]
    ordered = sorted(
        (floor for floor in floors.floors if key in floor.card.summary),
        key=lambda floor: floor.card.summary[key],
        reverse=direction_of(key) == "higher",
    )
    for floor in ordered:
        low, high = floor.card.intervals.get(key, (None, None))
        rows.append(Drawn(shown_floor(floor.name), floor.card.summary[key], low, high, is_baseline=True))
    counts = floors.of(key)
    line = counts.card.summary.get(key) if counts else None
    title = f"{label_of(key)} of {found.name} and of blind floors"
    return forest(rows, title, direction_of(key), reference_line=line, digits=digits_of(key))


def _see_floors(found: Audit, key: str) -> str:
    floor = found.floors.found.of(key) if found.floors.found else None
    line = f" The dashed line is the floor that counts, {shown_floor(floor.name)}." if floor else ""
    return f"{label_of(key)}, {direction_of(key)} is better. Hollow dots saw no image.{line}"


def _above_table(found: Audit) -> Table:
    rows = []
    for key in found.qualities:
        row = found.over.found.row(key) if found.over.found else None
        above = found.above(key)
        if row is None or above is None:
            continue
        form = f".{digits_of(key)}f"
        rows.append(
            (
                f"{label_of(key)} {ARROWS[direction_of(key)]}",
                number(row.paired.scores[0], form),
                number(row.paired.scores[1], form),
                _with_ends(above, form),
                _stands(key, above),
                shown_floor(row.floor),
            )
        )
    head = ("Score", found.name, "Floor", "Difference (95% interval)", "So it is", "Which floor")
    caption = (
        "Which floor counts was decided on the training split, for each score. Intervals draw the same studies for "
        "both and are not corrected for the number of scores; level: 0 lies inside."
    )
    return Table(head, tuple(rows), caption)


def _stands(key: str, above: Estimate) -> str:
    return _STANDING[side(key, above)] if above.interval else NOTHING


def _floor_table(found: Audit) -> Folded:
    floors = found.floors.found
    described = [] if floors is None else [f"{shown_floor(one.name)}: {one.description}" for one in floors.floors]
    return Folded("What the floors are", (Points(tuple(described)),))


def abnormal(found: Audit) -> Section:
    """System and floor on normal and on abnormal studies."""
    said = on_abnormal(found)
    rows = []
    for key, one in (found.against.found or {}).items():
        for group in ("normal", "abnormal"):
            row = one.row(key, group, "normal")
            if row is None:
                continue
            form = f".{digits_of(key)}f"
            scores = [number(each.value, form) for each in row.scores] or [NOTHING, NOTHING]
            above = row.difference
            rows.append(
                (
                    f"{label_of(key)}, {group}",
                    NOTHING if row.n is None else f"{row.n:,}",
                    scores[1],
                    scores[0],
                    _with_ends(above, form),
                    _stands(key, above) if above else "hidden",
                )
            )
    head = ("Score, studies", "n", found.name, "Floor", "Difference (95% interval)", "So it is")
    table = (Table(head, tuple(rows), "Against the same floors as above."),) if rows else ()
    return section(said, table)


def scores(found: Audit) -> Section:
    """Every score with its interval."""
    card = found.card
    rows = []
    for key in card.summary:
        if key in single_errors():
            continue
        form = f".{digits_of(key)}f"
        counts = card.counts.get(key, {})
        rows.append(
            (
                f"{label_of(key)} ({key})",
                number(card.summary[key], form),
                ends(card.intervals.get(key), form),
                direction_of(key).replace("none", NOTHING),
                f"{counts.get('n', card.n) - counts.get('n_undefined', 0):,}",
            )
        )
    confidence = card.interval.get("confidence", 0.95)
    head = ("Score", "Value", f"{confidence:.0%} interval", "Better", "n")
    return Section("All scores", (Table(head, tuple(rows)),), level=2)


def groups(found: Audit) -> Section:
    """The leading scores in groups of studies."""
    known = found.groups.found
    if known is None:
        return Section("Groups of studies", (Paragraph(f"Not computed: {found.groups.why}."),), level=2)
    first, *others = known.keys
    blocks: list[Block] = [
        Picture(
            partial(strata_tables.picture, known, first),
            f"{label_of(first)} in each group; the dashed line is that of all studies.",
        ),
        _group_table(known, first),
        Points(tuple(strata_tables.notes(known))),
    ]
    if others:
        further = tuple(_group_table(known, key) for key in others)
        blocks.append(Folded(f"The same for {counted(len(others), 'more score')}", further))
    return Section("Groups of studies", tuple(blocks), level=2)


def _group_table(groups: Strata, key: str) -> Table:
    form = f".{digits_of(key)}f"
    rows = []
    for row in groups.of(key):
        if row.division == "finding" and row.hidden:
            continue
        name = f"{row.division} {row.stratum}" if row.division in _NAMED else row.stratum
        if row.hidden:
            rows.append((name, f"under {groups.minimum}" if row.hidden == "small" else "hidden", *[NOTHING] * 4))
            continue
        one, apart = row.scores[0], row.contrast
        rows.append(
            (
                name,
                f"{row.n:,}",
                number(one.value, form),
                ends(one.interval, form),
                minus(number(apart.estimate.value if apart else None, f"+{form}")),
                p_number(apart.p_holm if apart else None),
            )
        )
    head = ("Studies", "n", label_of(key), "95% interval", "To others", "p, corrected")
    return Table(head, tuple(rows), f"{label_of(key)}, {direction_of(key)} is better")


def _with_ends(one: Estimate | None, form: str) -> str:
    """A difference and its interval."""
    if one is None or one.value is None:
        return NOTHING
    limits = "" if one.interval is None else f" ({one.interval[0]:+{form}} to {one.interval[1]:+{form}})"
    return minus(f"{one.value:+{form}}{limits}")


def minus(words: str) -> str:
    """Numbers with a minus in the place of a hyphen, at which lines would break."""
    return words.replace("-", "\N{MINUS SIGN}")
