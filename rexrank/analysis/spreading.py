"""The section on how the values of single studies spread."""

from functools import partial

import numpy as np

from rexrank.analysis.blocks import Block, Folded, Paragraph, Picture, Section, Table
from rexrank.analysis.cards import CardSet, digits_of, label_of
from rexrank.figures import Column, Figure, distributions
from rexrank.figures.scales import number


def spread(cards: CardSet) -> Section:
    """How the values of single studies are distributed."""
    title = "Spread over single studies"
    keys = cards.spreading()
    if not keys:
        return Section(title, (Paragraph("No score here has a value for each study."),))
    pictures = [Picture(partial(_hills, cards, key), _see_hills(cards, key)) for key in keys]
    blocks: list[Block] = [*pictures[:1], _quartiles(cards, keys[0])]
    if pictures[1:]:
        blocks.append(Folded(f"Pictures of {len(pictures) - 1} more scores", tuple(pictures[1:])))
    return Section(title, tuple(blocks))


def _hills(cards: CardSet, key: str) -> Figure:
    columns = [
        Column(cards.names[index], cards.aligned.values[key][index], cards.names[index] in cards.baselines)
        for index in cards.order
    ]
    return distributions(columns, f"{label_of(key)} of single studies, {cards.label}", digits_of(key))


def _see_hills(cards: CardSet, key: str) -> str:
    return (
        f"{label_of(key)} of each of the {cards.first.n:,} studies; dot and number: the study in the middle. "
        "Wide hills: a system writes some reports well and others badly."
    )


def _quartiles(cards: CardSet, key: str) -> Table:
    rows = []
    for index in cards.order:
        values = cards.aligned.values[key][index]
        defined = values[~np.isnan(values)]
        cells = ["–"] * 5
        if len(defined):
            cells = [
                number(float(value), digits_of(key)) for value in np.quantile(defined, [0.05, 0.25, 0.5, 0.75, 0.95])
            ]
        rows.append((cards.names[index], *cells, f"{len(defined):,}"))
    head = ("System", "5%", "25%", "Median", "75%", "95%", "n")
    return Table(head, tuple(rows), f"{label_of(key)}: the value that this share of the studies stays below.")
