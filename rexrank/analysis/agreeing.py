"""The section on whether scores order reports, and systems, alike."""

from collections.abc import Callable, Sequence
from functools import partial

from rexrank.analysis.blocks import Block, Paragraph, Picture, Section
from rexrank.analysis.studies import Estimate, mean_correlations, mean_matrix
from rexrank.analysis.study_table import StudyTable, label_of
from rexrank.analysis.systems import FEWEST_SYSTEMS, SystemTable, metric_agreement
from rexrank.figures import Figure, Row, heatmap, intervals
from rexrank.figures.scales import number

# Below this, a score orders reports so differently that a conclusion can hang on it.
_UNLIKE = 0.5
TITLE = "Do the scores agree?"
_READING = (
    "1: two scores put the reports in the same order; 0: they have nothing to do with each other; below 0: what one "
    "calls better the other calls worse. All scores are turned so that higher is better."
)


def agreement(
    studies: StudyTable, systems: SystemTable | None = None, report: Callable[[], object] | None = None
) -> Section:
    """Whether scores order reports, and systems, alike.

    Args:
        studies: Values of single studies; reference points are left out where there are models.
        systems: Scores of whole systems, for the same question about these; None where it is not asked.
        report: Called before each system.
    """
    if len(studies.keys) < 2:
        return Section(TITLE, (Paragraph("Not computed: it takes two scores with a value for each study."),))
    qualities = [studies.qualities(index) for index in studies.models]
    first, *others = map(label_of, studies.keys)
    estimates = mean_correlations(qualities, studies.groups, report)
    name = studies.names[studies.models[0]]
    of_whom = f"of {name}" if len(qualities) == 1 else f"within a system, mean of {len(qualities)}"
    title = f"study by study, {studies.label}"
    blocks: list[Block] = [
        Paragraph(_READING, quiet=True),
        Picture(
            partial(correlation_rows, others, estimates, f"Agreement with {first}, {title}"),
            f"How each score goes with {first} over the studies {of_whom} (Spearman).",
        ),
        Picture(
            lambda: heatmap([first, *others], mean_matrix(qualities), f"Agreement of scores, {title}"),
            "The same for each two scores: the darker a cell, the more alike they put the studies in order.",
        ),
        *(agreement_of_systems(systems, studies.label) if systems else ()),
    ]
    return Section(TITLE, tuple(blocks), told=_told(first, others, estimates))


def correlation_rows(
    names: Sequence[str], estimates: Sequence[Estimate], title: str, baselines: frozenset[str] = frozenset()
) -> Figure:
    """Correlations with their intervals, and the line of none."""
    rows = [
        Row(name, one.value, one.low, one.high, name in baselines) for name, one in zip(names, estimates, strict=True)
    ]
    return intervals(rows, title, reference_line=0.0, digits=2)


def agreement_of_systems(table: SystemTable, label: str) -> list[Block]:
    """Whether scores put whole systems in the same order.

    Args:
        table: Their scores.
        label: What the set of studies is called.
    """
    if len(table.names) < FEWEST_SYSTEMS or len(table.keys) < 2:
        few = f"from {FEWEST_SYSTEMS} systems on, baselines not counted"
        return [Paragraph(f"Whether scores put whole systems in the same order is shown {few}.", quiet=True)]
    return [
        Picture(
            lambda: heatmap(table.labels, metric_agreement(table), f"Agreement of scores on systems, {label}"),
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
