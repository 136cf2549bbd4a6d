"""The section on whether scores order reports, and systems, alike."""

from collections.abc import Callable, Sequence
from functools import partial

from rexrank.analysis.blocks import Block, Paragraph, Picture, Section
from rexrank.analysis.cards import CardSet, label_of
from rexrank.analysis.studies import Estimate, mean_correlations, mean_matrix
from rexrank.analysis.systems import FEWEST_SYSTEMS, metric_agreement
from rexrank.figures import Figure, Row, heatmap, intervals
from rexrank.figures.scales import number

# Below this, a score orders reports so differently that a conclusion can hang on it.
_UNLIKE = 0.5
_READING = (
    "1: two scores put the reports in the same order; 0: they have nothing to do with each other; below 0: what one "
    "calls better the other calls worse. All scores are turned so that higher is better."
)


def agreement(cards: CardSet, report: Callable[[], object] | None = None) -> Section:
    """Whether scores order reports, and systems, alike.

    Args:
        cards: The cards; reference points are left out where there are models.
        report: Called before each system.
    """
    title = "Do the scores agree?"
    keys = cards.spreading()
    if len(keys) < 2:
        return Section(title, (Paragraph("Not computed: it takes two scores with a value for each study."),))
    everyone = cards.qualities(keys)
    qualities = [everyone[index] for index in cards.models]
    labels = [label_of(key) for key in keys]
    estimates = mean_correlations(qualities, cards.aligned.groups, report)
    first = labels[0]
    of_whom = (
        f"of {cards.names[cards.models[0]]}" if len(qualities) == 1 else f"within a system, mean of {len(qualities)}"
    )
    blocks: list[Block] = [
        Paragraph(_READING, quiet=True),
        Picture(
            partial(correlation_rows, labels[1:], estimates, f"Agreement with {first}, study by study, {cards.label}"),
            f"How each score goes with {first} over the studies {of_whom} (Spearman).",
        ),
        Picture(
            lambda: heatmap(labels, mean_matrix(qualities), f"Agreement of scores, study by study, {cards.label}"),
            "The same for each two scores: the darker a cell, the more alike they put the studies in order.",
        ),
        *_of_systems(cards),
    ]
    return Section(title, tuple(blocks), told=_told(first, labels[1:], estimates))


def correlation_rows(
    names: Sequence[str], estimates: Sequence[Estimate], title: str, baselines: frozenset[str] = frozenset()
) -> Figure:
    """Correlations with their intervals, and the line of none."""
    rows = [
        Row(name, one.value, one.low, one.high, name in baselines) for name, one in zip(names, estimates, strict=True)
    ]
    return intervals(rows, title, reference_line=0.0, digits=2)


def _of_systems(cards: CardSet) -> list[Block]:
    if len(cards.cards) < FEWEST_SYSTEMS:
        few = f"Whether scores put whole systems in the same order is shown from {FEWEST_SYSTEMS} systems on."
        return [Paragraph(few, quiet=True)]
    table = cards.table
    return [
        Picture(
            lambda: heatmap(table.labels, metric_agreement(table), f"Agreement of scores on systems, {cards.label}"),
            f"How alike the scores put the {len(table.names)} systems in order (Spearman). With few systems much of it "
            "is chance.",
        )
    ]


def _told(first: str, names: Sequence[str], estimates: Sequence[Estimate]) -> tuple[str, ...]:
    known = [(one.value, name) for one, name in zip(estimates, names, strict=True) if one.value is not None]
    if not known:
        return ()
    (least, odd), (most, close) = min(known), max(known)
    hangs = " So a conclusion can hang on the choice of the score." if least < _UNLIKE else ""
    if len(known) == 1:
        return (f"{odd} orders the reports of a system as {first} does by {number(least, 2)} (1: the same).{hangs}",)
    return (
        f"{close} orders the reports of a system most like {first} ({number(most, 2)}; 1: the same), {odd} least "
        f"({number(least, 2)}).{hangs}",
    )
