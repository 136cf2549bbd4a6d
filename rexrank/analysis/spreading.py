"""The section on how the values of single studies spread."""

from functools import partial

import numpy as np

from rexrank.analysis.blocks import Block, Folded, Paragraph, Picture, Section, Table
from rexrank.analysis.study_table import StudyTable, digits_of, label_of
from rexrank.figures import Column, Figure, distributions
from rexrank.figures.scales import number

_TITLE = "Spread over single studies"
_HALF = 0.5
_SHARES = (0.05, 0.25, _HALF, 0.75, 0.95)


def spread(studies: StudyTable) -> Section:
    """How the values of single studies are distributed."""
    if not studies.keys:
        return Section(_TITLE, (Paragraph("No score here has a value for each study."),))
    pictures = [Picture(partial(_hills, studies, key), _see(studies, key)) for key in studies.keys]
    blocks: list[Block] = [*pictures[:1], _quantiles(studies, studies.keys[0])]
    if pictures[1:]:
        blocks.append(Folded(f"Pictures of {len(pictures) - 1} more scores", tuple(pictures[1:])))
    return Section(_TITLE, tuple(blocks))


def _hills(studies: StudyTable, key: str) -> Figure:
    columns = [
        Column(name, values, name in studies.baselines)
        for name, values in zip(studies.names, studies.values[key], strict=True)
    ]
    return distributions(columns, f"{label_of(key)} of single studies, {studies.label}", digits_of(key))


def _see(studies: StudyTable, key: str) -> str:
    return (
        f"{label_of(key)} of each of the {studies.n:,} studies; dot and number: the study in the middle. "
        "Wide hills: a system writes some reports well and others badly. All hills are drawn equally tall."
    )


def _quantiles(studies: StudyTable, key: str) -> Table:
    rows = []
    for name, values in zip(studies.names, studies.values[key], strict=True):
        defined = values[~np.isnan(values)]
        cells = ["–"] * len(_SHARES)
        if len(defined):
            cells = [number(float(value), digits_of(key)) for value in np.quantile(defined, _SHARES)]
        rows.append((name, *cells, f"{len(defined):,}"))
    head = ("System", *("Median" if share == _HALF else f"{share:.0%}" for share in _SHARES), "n")
    return Table(head, tuple(rows), f"{label_of(key)}: the value that this share of the studies stays below.")
