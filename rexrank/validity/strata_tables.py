"""Scores of groups for people: in a terminal, in Markdown, in words, and as a picture."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rexrank.analysis.study_table import direction_of
from rexrank.comparison.words import p_number, p_text
from rexrank.figures import Row as Drawn
from rexrank.figures import intervals
from rexrank.layout import NOTHING, columns, ends, escaped, number, percent, pipes
from rexrank.metrics import score_keys
from rexrank.scoring.table import ARROWS, by_reason, counted, listed
from rexrank.statistics.power import ALPHA
from rexrank.validity.strata import ALL, Estimate, Row, Strata

if TYPE_CHECKING:
    from rexrank.figures import Figure

_DIGITS = 3
# Columns on a group against the others.
_TESTED = 3


def table(found: Strata) -> str:
    """For a terminal: one table a score, what is not shown and why, and sentences."""
    blocks = [[head(found)]]
    for key in found.keys:
        first, *further = _parts(_cells(found, key), len(found.systems))
        blocks.append([f"{key} {ARROWS[direction_of(key)]}".rstrip(), *columns(first)])
        blocks += [columns(part) for part in further]
        blocks.append(sentences(found, key))
    hint = ["--min-studies N shows groups of fewer studies"] if any(row.hidden == "small" for row in found.rows) else []
    return "\n\n".join("\n".join(lines) for lines in [*blocks, [*notes(found), *hint], _absent(found)] if lines)


def markdown(found: Strata) -> str:
    """As Markdown: sentences, one table a score, notes."""
    blocks = [escaped(head(found))]
    for key in found.keys:
        blocks += [f"### {escaped(key)}", "\n".join(pipes(_cells(found, key)))]
        blocks += [escaped(line) for line in sentences(found, key)]
    blocks.append("\n".join(f"- {escaped(line.strip())}" for line in (*notes(found), *_absent(found))))
    return "\n\n".join(blocks) + "\n"


def picture(found: Strata, key: str | None = None) -> "Figure":
    """The score in each group that is shown; with two systems, how much the second differs from the first.

    Raises:
        InvalidFigure: There is nothing to draw.
        MissingPlots: matplotlib is not installed.
    """
    key = key or next(iter(found.keys), "")
    rows = [row for row in found.of(key) if not row.hidden]
    drawn = []
    for row in rows:
        one = row.difference or (row.scores[0] if row.scores else Estimate(None))
        low, high = one.interval or (None, None)
        drawn.append(Drawn(_with_number(row), one.value, low, high, is_baseline=row.division == ALL))
    two = len(found.systems) > 1
    total = None if two or not drawn else drawn[0].value
    label = score_keys()[key].label if key in score_keys() else key
    what = f"{label}: {found.systems[1]} minus {found.systems[0]}" if two else f"{label} of {found.systems[0]}"
    title = f"{what}, by groups of studies, with {percent(found.settings.confidence)} intervals"
    return intervals(drawn, title, direction_of(key), reference_line=0.0 if two else total, digits=_digits(key))


def head(found: Strata) -> str:
    """What was scored and how, in one line."""
    drawn = "patients" if found.unit == "patient" else "studies"
    chosen = found.settings
    return (
        f"{found.set_name} · track {found.track} · {counted(found.n, 'study')} · {' and '.join(found.systems)} · "
        f"{chosen.resamples:,} resamples of {drawn}, seed {chosen.seed}"
    )


def sentences(found: Strata, key: str) -> list[str]:
    """What the score says of normal and abnormal studies, in a sentence to quote; nothing where that is hidden."""
    normal, abnormal = (found.row(key, name, "normal") for name in ("normal", "abnormal"))
    if normal is None or abnormal is None or normal.hidden or abnormal.hidden or abnormal.contrast is None:
        return []
    apart = abnormal.contrast
    clear = apart.p_holm is not None and apart.p_holm <= ALPHA
    p = f"p {p_text(apart.p_holm)}" + (f", corrected for {apart.family} groups" if apart.family > 1 else "")
    if len(found.systems) == 1:
        verdict = f", which is {_judged(key, apart.estimate)}" if clear else "; these cannot be told apart"
        return [
            f"{key} of {found.systems[0]} is {_said(normal.scores[0], key)} on {_studies(normal)} and "
            f"{_said(abnormal.scores[0], key)} on {_studies(abnormal)}{verdict} ({p})."
        ]
    if abnormal.difference is None or normal.difference is None:
        return []
    verdict = "the two differ" if clear else "the two cannot be told apart"
    return [
        f"{key}, {found.systems[1]} minus {found.systems[0]}, is {_said(normal.difference, key, '+')} on "
        f"{_studies(normal)} and {_said(abnormal.difference, key, '+')} on {_studies(abnormal)}; {verdict} ({p})."
    ]


def _judged(key: str, apart: Estimate) -> str:
    direction, higher = direction_of(key), (apart.value or 0) > 0
    if direction == "none":
        return "higher" if higher else "lower"
    return "better" if higher == (direction == "higher") else "worse"


def _studies(row: Row) -> str:
    return f"{row.n:,} {row.stratum} {'study' if row.n == 1 else 'studies'}"


def _said(one: Estimate, key: str, sign: str = "") -> str:
    form = f"{sign}.{_digits(key)}f"
    if one.value is None:
        return "undefined"
    limits = "" if one.interval is None else f" ({one.interval[0]:{form}} to {one.interval[1]:{form}})"
    return f"{one.value:{form}}{limits}"


def notes(found: Strata) -> list[str]:
    """What the columns mean, where groups come from, and what stays hidden."""
    if not found.rows:
        return []
    chosen = found.settings
    sources: dict[str, list[str]] = {}
    for row in found.rows:
        if row.division != ALL and row.division not in sources.setdefault(row.source, []):
            sources[row.source].append(row.division)
    lines = [f"{' and '.join(names)}: {source}" for source, names in sources.items()]
    what = "the score"
    if len(found.systems) > 1:
        what = "the difference"
        lines.append(f"difference: {found.systems[1]} minus {found.systems[0]}")
    lines.append(f"to others: {what} in the group minus {what} in all other studies")
    family = max((row.contrast.family for row in found.rows if row.contrast), default=0)
    if family:
        again = "; further scores are not corrected for" if len(found.keys) > 1 else ""
        lines.append(
            f"Holm p: paired bootstrap, corrected for the {counted(family, 'group')} tested in one score{again}"
        )
    lines.append(f"intervals: {percent(chosen.confidence)}, each for its own group, not corrected")
    lines += [*_undefined_resamples(found), *_hidden(found)]
    undefined = {key: missing for key in found.keys if (missing := _undefined(found, key))}
    lines += [f"{key}: {counted(missing, 'study')} without a value left out" for key, missing in undefined.items()]
    return lines


def _hidden(found: Strata) -> Iterator[str]:
    small = dict.fromkeys(row.stratum for row in found.rows if row.hidden == "small")
    if small:
        yield f"hidden, fewer than {counted(found.minimum, 'study')}: {', '.join(small)}"
    beside = dict.fromkeys(row.stratum for row in found.rows if row.hidden == "complement")
    if beside:
        yield f"hidden, as a small group could be computed from it: {', '.join(beside)}"


def _undefined_resamples(found: Strata) -> Iterator[str]:
    own = max((one.undefined_resamples for row in found.rows for one in row.scores), default=0)
    tested = max((row.contrast.estimate.undefined_resamples for row in found.rows if row.contrast), default=0)
    if own:
        yield f"up to {own:,} resamples of a group have no score; its interval leaves them out"
    if tested:
        yield f"to others: up to {tested:,} resamples have no score; intervals omit them, tests count them against it"


def _undefined(found: Strata, key: str) -> int:
    everyone = found.row(key)
    return (everyone.n_undefined or 0) if everyone else 0


def _absent(found: Strata) -> list[str]:
    lines = [f"  by {listed(names)}: {why}" for why, names in by_reason(found.absent).items()]
    lines += [f"  {listed(keys)}: {why}" for why, keys in by_reason(found.not_scored).items()]
    return ["not there:", *lines] if lines else []


def _cells(found: Strata, key: str) -> list[list[str]]:
    """Rows of one score; findings that stay hidden are named in the notes alone."""
    form, signed = f".{_digits(key)}f", f"+.{_digits(key)}f"
    two = len(found.systems) > 1
    middle = [*found.systems, "difference", "interval"] if two else [found.systems[0], "interval"]
    cells = [["studies", "n", *middle, "to others", "interval", "Holm p"]]
    before = ALL
    for row in found.of(key):
        if row.division == "finding" and row.hidden:
            continue
        if row.division != before:
            cells.append([f"by {row.division}", *[""] * (len(cells[0]) - 1)])
            before = row.division
        name = row.stratum if row.division == ALL else f"  {row.stratum}"
        if row.hidden:
            size = f"<{found.minimum}" if row.hidden == "small" else "hidden"
            cells.append([name, size, *[NOTHING] * (len(cells[0]) - 2)])
            continue
        numbers = [number(one.value, form) for one in row.scores]
        numbers += _with_ends(row.difference, signed) if two else [ends(row.scores[0].interval, form)]
        contrast = row.contrast
        tested = [*_with_ends(contrast.estimate if contrast else None, signed), _p(row)]
        cells.append([name, f"{row.n:,}", *numbers, *(tested if row.division != ALL else [""] * _TESTED)])
    return cells


def _with_number(row: Row) -> str:
    return f"{row.stratum} ({row.n:,})"


def _digits(key: str) -> int:
    known = score_keys().get(key)
    return known.digits + 1 if known else _DIGITS


def _parts(cells: list[list[str]], systems: int) -> list[list[list[str]]]:
    """The table of two systems in two, which fit a terminal: scores with their difference, and the tests."""
    if systems == 1:
        return [cells]
    without_all = [cells[0], *cells[2:]]
    return [[row[:-_TESTED] for row in cells], [[row[0], *row[-_TESTED:]] for row in without_all]]


def _p(row: Row) -> str:
    return p_number(row.contrast.p_holm if row.contrast else None)


def _with_ends(one: Estimate | None, form: str) -> list[str]:
    return [NOTHING, NOTHING] if one is None else [number(one.value, form), ends(one.interval, form)]
