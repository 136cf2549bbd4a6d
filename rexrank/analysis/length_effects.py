"""The section on what the length of reports has to do with their scores."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from rexrank.analysis.agreeing import correlation_rows
from rexrank.analysis.blocks import Block, Folded, Paragraph, Picture, Section, Table, listed
from rexrank.analysis.cards import BETTER, CardSet, Lengths
from rexrank.analysis.studies import Estimate, by_length, correlation
from rexrank.analysis.study_table import StudyTable, digits_of, direction_of, label_of
from rexrank.figures import Figure, Row, intervals, scatter
from rexrank.figures.scales import number
from rexrank.metrics.outcome import Floats

_TITLE = "Does length matter?"
_UNKNOWN = (
    "the cards do not say how long the texts are; score with report_statistics too, or give the scored files "
    "of texts with --texts"
)


def length_effects(cards: CardSet, lengths: Lengths) -> Section:
    """Whether scores follow the length of the radiologist's report."""
    words, studies = cards.words("reference", lengths), cards.studies
    if not studies.keys or words is None:
        why = _UNKNOWN if words is None else "no score has a value for each study"
        return Section(_TITLE, (Paragraph(f"Not computed: {why}."),))
    key = studies.keys[0]
    estimates = [
        correlation(words, studies.qualities(index, [key])[0], studies.groups) for index in range(len(studies.names))
    ]
    names, label, best = studies.names, label_of(key), studies.models[0]
    rows = partial(correlation_rows, names, estimates, f"{label} and length, {cards.label}", cards.baselines)
    blocks: list[Block] = [
        Picture(
            rows,
            f"Left of the dashed line: the longer the radiologist's report, the worse {label} (Spearman); right of it: "
            "the better; on it: length does not matter.",
        ),
        _lengths_table(cards, lengths, words),
        Picture(
            partial(_bins, studies, best, key, words),
            f"{label} of {names[best]} in quarters of the studies, from short to long reports of the radiologist "
            f"({BETTER[direction_of(key)]}).",
        ),
        Folded("Study by study", (_cloud(studies, best, key, words),)),
    ]
    models = [(names[index], estimates[index]) for index in studies.models]
    return Section(_TITLE, tuple(blocks), told=_told(label, models))


def _bins(studies: StudyTable, system: int, key: str, words: Floats) -> Figure:
    rows = [
        Row(f"{one.shortest}–{one.longest} words", one.score.value, one.score.low, one.score.high)
        for one in by_length(words, studies.values[key][system], studies.groups)
    ]
    title = f"{label_of(key)} of {studies.names[system]} by length, {studies.label}"
    return intervals(rows, title, direction_of(key), digits=digits_of(key))


def _cloud(studies: StudyTable, system: int, key: str, words: Floats) -> Picture:
    title = f"{label_of(key)} of {studies.names[system]} and length, {studies.label}"
    axes = ("words of the reference", label_of(key))
    return Picture(
        lambda: scatter(words, studies.values[key][system], title, axes),
        f"Each dot is one study of {studies.names[system]}; where studies are many, a larger dot is more of them.",
    )


def _lengths_table(cards: CardSet, lengths: Lengths, words: Floats) -> Table:
    rows = [("References", number(float(np.nanmean(words)), 1), number(float(np.nanmedian(words)), 0), "–")]
    for index in cards.order:
        own = cards.words("report", lengths, index)
        if own is None:
            rows.append((cards.names[index], "–", "–", "–"))
            continue
        ratio = float(np.nanmean(own)) / float(np.nanmean(words)) if np.nanmean(words) else np.nan
        share = "–" if np.isnan(ratio) else f"{ratio:.0%}"
        rows.append((cards.names[index], number(float(np.nanmean(own)), 1), number(float(np.nanmedian(own)), 0), share))
    return Table(("Reports of", "Mean words", "Median", "Of the references' length"), tuple(rows))


def _told(label: str, models: Sequence[tuple[str, Estimate]]) -> tuple[str, ...]:
    worse = [name for name, one in models if one.is_clear and (one.value or 0) < 0]
    better = [name for name, one in models if one.is_clear and (one.value or 0) > 0]
    told = []
    if worse:
        told.append(f"The longer the radiologist's report, the worse {label} gets for {listed(worse)}.")
    if better:
        told.append(f"The longer the radiologist's report, the better {label} gets for {listed(better)}.")
    if not told and any(one.low is not None for _, one in models):
        told.append(f"The length of the radiologist's report has no clear effect on {label}.")
    return tuple(told)
