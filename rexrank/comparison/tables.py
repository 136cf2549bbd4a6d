"""Comparisons for people: in a terminal, in Markdown, and as a picture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rexrank.comparison.compare import Comparison, Comparisons
from rexrank.comparison.words import p_number, sentence, untested
from rexrank.figures import Row, intervals
from rexrank.layout import NOTHING, columns, ends, escaped, number, percent, pipes
from rexrank.metrics import score_keys
from rexrank.scoring.table import ARROWS, by_reason, counted, listed
from rexrank.statistics.paired import FEWEST_OF_BOOTSTRAP, Estimate
from rexrank.statistics.power import ALPHA, POWER

if TYPE_CHECKING:
    from rexrank.figures import Figure

_TESTS = {"randomisation": "randomisation test", "bootstrap": "bootstrap test"}
_MOVED = {
    "randomisation": "swapped by the test, drawn for intervals",
    "bootstrap": "drawn by the test and for intervals",
}


def table(comparisons: Comparisons) -> str:
    """The comparisons for a terminal: two tables a system, notes, and the sentence at the end."""
    blocks = [[head(comparisons)]]
    for system in comparisons.systems:
        rows = comparisons.of(system)
        if rows:
            blocks.append([f"{system} against {comparisons.baseline}", *columns(_tests(comparisons, rows))])
            blocks.append(columns(_sizes(comparisons, rows)))
    blocks += [notes(comparisons), _absent(comparisons), [sentence(comparisons)]]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines)


def markdown(comparisons: Comparisons) -> str:
    """The comparisons as Markdown: the sentence, one table a system, notes."""
    blocks = [escaped(sentence(comparisons)), escaped(head(comparisons))]
    for system in comparisons.systems:
        rows = comparisons.of(system)
        if rows:
            blocks.append(f"### {escaped(system)} against {escaped(comparisons.baseline)}")
            cells = [
                left + right[1:]
                for left, right in zip(_tests(comparisons, rows), _sizes(comparisons, rows), strict=True)
            ]
            blocks.append("\n".join(pipes(cells)))
    lines = [*notes(comparisons), *_absent(comparisons)]
    blocks.append("\n".join(f"- {escaped(line.strip())}" for line in lines))
    return "\n\n".join(blocks) + "\n"


def picture(comparisons: Comparisons) -> "Figure":
    """Differences to the baseline in the score to quote.

    Raises:
        InvalidFigure: No score could be compared.
        MissingPlots: matplotlib is not installed.
    """
    rows = [row for row in comparisons.rows if row.key == comparisons.quoted]
    drawn = [Row(comparisons.baseline, 0.0, is_baseline=True)]
    drawn += [Row(row.system, row.paired.difference, *(row.paired.interval or (None, None))) for row in rows]
    label = score_keys()[rows[0].key].label if rows else "score"
    direction = rows[0].direction if rows else "none"
    digits = rows[0].digits if rows else 3
    title = f"{label}: difference to {comparisons.baseline}, with {percent(comparisons.settings.confidence)} intervals"
    return intervals(drawn, title, direction, reference_line=0.0, digits=digits)


def head(comparisons: Comparisons) -> str:
    """What was compared and how, in one line."""
    chosen, shared = comparisons.settings, comparisons.shared
    what = f"{shared['protocol']} · track {shared['track']} · {shared['convention']} · {shared['text_preparation']}"
    units = f" of {counted(comparisons.units, 'patient')}" if comparisons.unit == "patient" else ""
    draws = f"{_TESTS[chosen.test]}, {chosen.resamples:,} draws, seed {chosen.seed}"
    return f"{what} · {counted(comparisons.n, 'study')}{units} · {draws}"


def notes(comparisons: Comparisons) -> list[str]:
    """What the columns mean, and what a reader has to know of this comparison."""
    rows, chosen = comparisons.rows, comparisons.settings
    if not rows:
        return []
    whole = "whole patients are" if comparisons.unit == "patient" else "each study is"
    lines = [
        f"difference: system minus {comparisons.baseline}; {whole} {_MOVED[chosen.test]}",
        "superiority: share of studies where the system is better, ties half",
        "effect: mean of the studies' differences over their standard deviation, above 0 where the system is better",
        f"detectable: smallest true difference that a test at {ALPHA:.0%} finds {POWER:.0%} of the time",
    ]
    if any(row.family > 1 for row in rows):
        over = "of one score, one a system" if chosen.family == "models" else "of the whole table"
        lines.append(f"Holm p: corrected for the {max(row.family for row in rows)} tests {over}")
    left_out: dict[int, list[str]] = {}
    for row in rows:
        if row.paired.left_out:
            left_out.setdefault(row.paired.left_out, []).append(row.key)
    lines += [
        f"{listed(list(dict.fromkeys(keys)))}: {counted(number, 'study')} without a value of both left out"
        for number, keys in left_out.items()
    ]
    lines += list(dict.fromkeys(line for row in rows for line in _of_row(row)))
    lost = {f"{row.key} of {row.system}": row.effect.undefined_draws for row in rows if row.effect}
    if any(lost.values()):
        named = listed([f"{name} {count:,}" for name, count in lost.items() if count])
        lines.append(f"effect: resamples whose differences are all equal have none and are left out: {named}")
    fewest = min(row.paired.units for row in rows)
    if chosen.test == "bootstrap" and fewest < FEWEST_OF_BOOTSTRAP:
        drawn = counted(fewest, comparisons.unit)
        lines.append(f"careful: of {drawn} a bootstrap test finds too much; --test randomisation does not")
    return [*lines, *([f"careful: {comparisons.warning}"] if comparisons.warning else [])]


def _of_row(row: Comparison) -> list[str]:
    one, name, lines = row.paired, f"{row.key} of {row.system}", []
    if row.verdict == "untested":
        lines.append(f"{name}: no test, as {untested(row)}")
    if one.undefined_draws:
        share = f"{one.undefined_draws:,} of {one.draws:,} draws"
        lines.append(f"{name}: undefined in {share} of the test, which count against the difference")
    if one.undefined_resamples:
        lines.append(f"{name}: undefined in {one.undefined_resamples:,} resamples of the interval")
    return lines


def _tests(comparisons: Comparisons, rows: Sequence[Comparison]) -> list[list[str]]:
    corrected = any(row.family > 1 for row in comparisons.rows)
    between = f"{percent(comparisons.settings.confidence)} interval"
    titles = ["score", "", "baseline", "system", "difference", between, "p"]
    cells = [titles + (["Holm p"] if corrected else [])]
    for row in rows:
        one, digits = row.paired, row.digits
        values = [number(one.scores[1], f".{digits}f"), number(one.scores[0], f".{digits}f")]
        values += [number(one.difference, f"+.{digits}f"), ends(one.interval, f"+.{digits}f"), p_number(one.p)]
        cells.append([row.key, ARROWS[row.direction], *values, *([p_number(row.p_holm)] if corrected else [])])
    return cells


def _sizes(comparisons: Comparisons, rows: Sequence[Comparison]) -> list[list[str]]:
    planned = comparisons.settings.planned
    titles = ["score", "wins/ties/losses", "superiority", "effect", "detectable"]
    cells = [titles + ([f"with {planned:,}"] if planned else [])]
    for row in rows:
        tally = NOTHING if row.tally is None else "/".join(f"{count:,}" for count in row.tally)
        form = f".{row.digits}f"
        values = [row.key, tally, _with_range(row.superiority, ".2f"), _with_range(row.effect, "+.2f")]
        values.append(number(row.detectable, form))
        cells.append(values + ([number(row.detectable_planned, form)] if planned else []))
    return cells


def _absent(comparisons: Comparisons) -> list[str]:
    lines = [
        f"  {'' if len(comparisons.systems) == 1 else f'{system}, '}{listed(keys)}: {why}"
        for system, absent in comparisons.absent.items()
        for why, keys in by_reason(absent).items()
    ]
    return ["not compared:", *lines] if lines else []


def _with_range(estimate: Estimate | None, form: str) -> str:
    if estimate is None:
        return NOTHING
    between = "" if estimate.interval is None else f" ({ends(estimate.interval, form)})"
    return f"{estimate.value:{form}}{between}"
