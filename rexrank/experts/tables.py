"""The agreement of metrics with radiologists as people read it: a table for the terminal, and one for a paper."""

import statistics
import textwrap
from collections.abc import Mapping, Sequence

from rexrank.experts.agreement import NAMES, Agreement
from rexrank.layout import escaped, pipes, plain
from rexrank.statistics.agreement import BetweenRaters, Comparison, Estimate, Measure
from rexrank.terms import Direction

ARROWS: Mapping[Direction, str] = {"higher": "↑", "lower": "↓", "none": " "}
_SIGNS: Mapping[Measure, str] = {"kendall": "τ-b", "spearman": "ρ", "pearson": "r", "preference": "preference"}
_TITLES: Mapping[str, str] = {
    "radpref": "RadPref",
    "rexval": "ReXVal",
    "radevalx": "RadEvalX",
    "radeval": "RadEval expert set",
    "table": "Judgements",
}
_WIDTH = 79
# Of an interval; what is narrower is rounding.
_NO_WIDTH = 1e-9
_DIGITS = 3
_NOTHING = "–"
_SHOWN_PAIRS, _SHOWN_PARTS = 6, 6
_PAIRS, _OTHERS = "radiologists, two at a time", "radiologists, each with the others"


def text(agreement: Agreement) -> str:
    """A block a coefficient, and below each in words which metrics can be told apart."""
    blocks = [[part for line in _sentences(agreement) for part in _wrapped(line)]]
    for measure, comparison in agreement.comparisons.items():
        blocks.append(_block(agreement, measure, comparison, agreement.between[measure]))
    blocks.append([line for note in _all_notes(agreement) for line in _wrapped(note)])
    blocks.append([line for sentence in _absent(agreement) for line in _wrapped(sentence)])
    return "\n\n".join("\n".join(lines) for lines in blocks if lines)


def markdown(agreement: Agreement) -> str:
    """One table, a row a metric and two columns a coefficient: its value, and the letters of its groups."""
    measures = list(agreement.comparisons)
    head = ["metric", *(f"{_SIGNS[measure]} ({agreement.confidence:.0%} interval)" for measure in measures), "groups"]
    letters = {measure: _letters(comparison) for measure, comparison in agreement.comparisons.items()}
    rows = [head]
    for name in agreement.comparisons[measures[0]].estimates:
        cells = [_cell(agreement.comparisons[measure].estimates[name]) for measure in measures]
        rows.append([_named(agreement, name), *cells, _letters_of(name, letters)])
    rows += [[title, *cells, ""] for title, cells in _rater_cells(agreement, measures)]
    said = [
        f"{NAMES[measure]}: {' '.join(words)}"
        for measure, one in agreement.comparisons.items()
        if (words := _words(agreement, one, agreement.between[measure]))
    ]
    below = [*_sentences(agreement)[1:], *said, *_all_notes(agreement), *_absent(agreement)]
    title = f"**{escaped(_title(agreement))}**"
    return "\n".join([title, "", *pipes(rows), "", *(f"- {escaped(line)}" for line in below)])


def told_apart(agreement: Agreement, comparison: Comparison) -> list[str]:
    """In sentences: which metrics cannot be told apart, which are better, and what so many studies can show."""
    if len(comparison.estimates) < 2:
        return []
    sentences = []
    if together := [_listed(group) for group in comparison.groups if len(group) > 1]:
        sentences.append(f"Cannot be told apart: {_first(together, 'group')}.")
    level = 1 - agreement.confidence
    apart = [one for one in comparison.differences if one.p_holm < level]
    if apart:
        better = {one.better: [other.worse for other in apart if other.better == one.better] for one in apart}
        words = _first([f"{name} than {_listed(worse)}" for name, worse in better.items()], "metric")
        surest = max(one.p_holm for one in apart)
        sentences.append(f"Better: {words} ({_p(surest)} after Holm's correction for all pairs).")
    # Of two scores that order alike, or perfectly, every resample has the same difference, which shows no reach.
    reaches = [
        (one.interval[1] - one.interval[0]) / 2
        for one in comparison.differences
        if one.p_holm >= level and one.interval[1] - one.interval[0] > _NO_WIDTH
    ]
    if reaches:
        reach = statistics.median(reaches)
        sentences.append(
            f"Not told apart does not mean equal: {agreement.units:,} {_unit(agreement)} show such a difference to "
            f"about ±{reach:.2f}."
        )
    return sentences


def _title(agreement: Agreement) -> str:
    raters = f"{agreement.raters} radiologist{'s' if agreement.raters > 1 else ''}"
    return (
        f"{_TITLES[agreement.kind]} ({plain(agreement.source)}): {agreement.n_candidates:,} candidates of "
        f"{agreement.n_studies:,} studies, {raters}"
    )


def _sentences(agreement: Agreement) -> list[str]:
    mean = "mean " if agreement.raters > 1 else ""
    return [
        _title(agreement),
        f"against: {mean}{agreement.label} ({agreement.direction} is better)",
        f"{agreement.confidence:.0%} percentile intervals, {agreement.resamples:,} resamples of {agreement.units:,} "
        f"{_unit(agreement)} with all of their candidates, seed {agreement.seed}",
        "plus means agreement: metrics marked ↓, and numbers of errors, are turned round",
    ]


def _unit(agreement: Agreement) -> str:
    return "studies" if agreement.units == agreement.n_studies else "groups of studies"


def _block(agreement: Agreement, measure: Measure, comparison: Comparison, between: BetweenRaters | None) -> list[str]:
    letters = _letters(comparison)
    rows = [
        (f"{_named(agreement, name)}", *_columns(one), letters.get(name, ""))
        for name, one in comparison.estimates.items()
    ]
    if between:
        rows.append((_PAIRS, *_columns(between.mean), ""))
        if between.mean_against_others:
            rows.append((_OTHERS, *_columns(between.mean_against_others), ""))
    rows.insert(0, (NAMES[measure], "value", "interval", "n", "group" if letters else ""))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}  {row[4]}".rstrip()
        for row in rows
    ]
    words = _words(agreement, comparison, between)
    return lines + [part for sentence in words for part in _wrapped(f"  {sentence}")]


def _words(agreement: Agreement, comparison: Comparison, between: BetweenRaters | None) -> list[str]:
    """What stands below the numbers of a coefficient."""
    return [*told_apart(agreement, comparison), *_undefined(comparison), *_ties(comparison), *_pairs(between)]


def _undefined(comparison: Comparison) -> list[str]:
    names = [name for name, one in comparison.estimates.items() if one.value is None]
    return [f"No value, with fewer than two candidates or the same for all: {_listed(names)}."] if names else []


def _ties(comparison: Comparison) -> list[str]:
    """How preferences that are none were counted."""
    tied = {name: one.ties for name, one in comparison.estimates.items() if one.ties}
    experts = max((ties["experts"] for ties in tied.values()), default=0)
    sentences = []
    if experts:
        sentences.append(
            f"Left out: {experts:,} pair{'s' if experts != 1 else ''} that the radiologists hold for equal."
        )
    if undecided := [f"{name} {ties['score']:,}" for name, ties in tied.items() if ties["score"]]:
        sentences.append(f"Half right: pairs that a metric holds for equal ({', '.join(undecided)}).")
    return sentences


def _pairs(between: BetweenRaters | None) -> list[str]:
    """The agreement of single pairs of radiologists."""
    values = [one.value for one in between.pairs.values() if one.value is not None] if between else []
    if len(values) < 2:
        return []
    if len(values) > _SHOWN_PAIRS:
        lowest, highest = f"{min(values):.{_DIGITS}f}", f"{max(values):.{_DIGITS}f}"
        return [f"Pairs of radiologists: {lowest} to {highest}, {len(values)} pairs."]
    return [f"Pairs of radiologists: {_listed([f'{value:.{_DIGITS}f}' for value in values])}."]


def _letters(comparison: Comparison) -> dict[str, str]:
    """Metrics with a letter in common cannot be told apart."""
    if len(comparison.estimates) < 2:
        return {}
    letters: dict[str, str] = {}
    for number, group in enumerate(comparison.groups):
        for name in group:
            letters[name] = letters.get(name, "") + _letter(number)
    return letters


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"[{number + 1}]"


def _letters_of(name: str, letters: Mapping[Measure, Mapping[str, str]]) -> str:
    return "; ".join(f"{_SIGNS[measure]} {known[name]}" for measure, known in letters.items() if name in known)


def _named(agreement: Agreement, name: str) -> str:
    return f"{name} {ARROWS[agreement.scores[name].direction]}".rstrip()


def _columns(one: Estimate) -> tuple[str, str, str]:
    if one.value is None:
        return _NOTHING, _NOTHING, f"{one.n:,}"
    ends = f"{one.interval[0]:.{_DIGITS}f} … {one.interval[1]:.{_DIGITS}f}" if one.interval else _NOTHING
    return f"{one.value:.{_DIGITS}f}", ends, f"{one.n:,}"


def _cell(one: Estimate) -> str:
    if one.value is None:
        return _NOTHING
    ends = f" ({one.interval[0]:.{_DIGITS}f} to {one.interval[1]:.{_DIGITS}f})" if one.interval else ""
    return f"{one.value:.{_DIGITS}f}{ends}"


def _rater_cells(agreement: Agreement, measures: Sequence[Measure]) -> list[tuple[str, list[str]]]:
    found = [agreement.between[measure] for measure in measures]
    pairs = [_cell(one.mean) if one else _NOTHING for one in found]
    others = [_cell(one.mean_against_others) if one and one.mean_against_others else _NOTHING for one in found]
    return [row for row in ((_PAIRS, pairs), (_OTHERS, others)) if set(row[1]) != {_NOTHING}]


def _all_notes(agreement: Agreement) -> list[str]:
    notes = [f"note: {note}" for note in agreement.notes]
    given = [name for name, one in agreement.scores.items() if one.source == "given"]
    if given:
        notes.append(f"note: given by a file, not computed here: {', '.join(given)}")
    if undrawn := _undefined_draws(agreement):
        notes.append(f"note: resamples without a value, left out of intervals: {undrawn}")
    return notes


def _absent(agreement: Agreement) -> list[str]:
    """Metrics without a number, those that lack the same thing together."""
    reasons: dict[str, list[str]] = {}
    for name, why in agreement.unavailable.items():
        reasons.setdefault(why.removeprefix(f"{name} "), []).append(name)
    return [f"not computed: {_listed(names)}: {why}" for why, names in reasons.items()]


def _undefined_draws(agreement: Agreement) -> str:
    return ", ".join(
        f"{name} {one.undefined_draws:,} ({_SIGNS[measure]})"
        for measure, comparison in agreement.comparisons.items()
        for name, one in comparison.estimates.items()
        if one.undefined_draws
    )


def _p(value: float) -> str:
    return "p < .001" if value < 0.001 else f"p at most {value:.3f}".replace("0.", ".")


def _first(parts: Sequence[str], noun: str) -> str:
    """The first parts of a sentence, and how many there are more."""
    more = len(parts) - _SHOWN_PARTS
    rest = f"; and {more} more {noun}{'s' if more > 1 else ''}, in --json" if more > 0 else ""
    return "; ".join(parts[:_SHOWN_PARTS]) + rest


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, _WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
