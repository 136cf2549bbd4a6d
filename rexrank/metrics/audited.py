"""What the audits of single studies have in common: how texts are read, and what becomes of blank ones. No metric."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.reports.studies import is_blank
from rexrank.terms import Direction

Read = TypeVar("Read")
# The judgement of one study: its value, or the reason why it has none.
Judge = Callable[[Read, Sequence[Read]], float | str]


def audit(
    pairs: Pairs,
    read: Callable[[str], Read],
    judge: Judge[Read],
    direction: Direction,
    signature: dict[str, str],
) -> Outcome:
    """Judge every study.

    A blank prediction gets the worst value whatever its reference says, so that silence is never the best answer.

    Args:
        pairs: The texts.
        read: What is taken from a text; each distinct text is read once.
        judge: Takes what was read in the prediction and in the references that are not blank.
        direction: Of the score, whose values lie between 0 and 1.
        signature: Parts of the signature.
    """
    known: dict[str, Read] = {}

    def reading(text: str) -> Read:
        if text not in known:
            known[text] = read(text)
        return known[text]

    values, reasons = np.full(len(pairs), np.nan), {}
    for position, (prediction, references) in enumerate(zip(pairs.predictions, pairs.references, strict=True)):
        if pairs.blank_predictions[position]:
            values[position] = 0.0 if direction == "higher" else 1.0
            continue
        found = judge(reading(prediction), [reading(text) for text in references if not is_blank(text)])
        if isinstance(found, str):
            reasons[position] = found
        else:
            values[position] = found
    seen = np.ones(len(pairs), dtype=bool)
    return Outcome(values, signature, seen, seen, reasons=reasons)
