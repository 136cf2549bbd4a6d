"""Laterality agreement: of the findings that both reports place on a side, how far the sides agree.

`rexrank.labels` names the findings of a report; a finding that is stated or hedged, not denied,
has the sides that its part of the sentence names (left, right; bilateral is both; the lingula
is left, the middle lobe right). Names of one thing count as one finding: an infiltrate, an
opacity, a consolidation and a pneumonia; a nodule and a mass. For each finding with a side in
the prediction and in the reference, agreement is the number of common sides over the number of
sides of either, so bilateral against left is 1/2; a study's value is the mean over these
findings, the score the mean of studies. Range [0, 1].

A study without such a finding is null, ``no_common_side``: findings that are missing or
invented are not this score's business. A blank prediction scores 0. Of several references the
sides are taken together. Both conventions are the same, but that `corrected` gives 1 to
identical texts also where they name no side. English only. docs/audits.md states how often the
rules are right.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rexrank.labels import POSITIVE, RULE_VERSION, UNCERTAIN
from rexrank.metrics.audited import audit
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, ScoreKey
from rexrank.metrics.statements import statements
from rexrank.terms import Convention

Sides = dict[str, frozenset[str]]

_THERE = (POSITIVE, UNCERTAIN)
# Left and right of the heart are its chambers; devices go through both sides.
_WITHOUT_SIDES = ("Cardiomegaly", "Enlarged Cardiomediastinum", "Support Devices")
_UNJUDGED = frozenset({"spine", "aorta", "other part"})
_ALIKE: Mapping[str, str] = {
    **dict.fromkeys(("opacity", "infiltrate", "consolidation", "pneumonia"), "opacity"),
    **dict.fromkeys(("nodule", "mass", "lesion", "tumour"), "nodule"),
    **dict.fromkeys(("atelectasis", "collapse"), "atelectasis"),
}


def read_sides(text: str) -> Sides:
    """The sides of each finding that a report places on one."""
    found: Sides = {}
    for statement in statements(text):
        mention = statement.mention
        judged = mention.name not in _WITHOUT_SIDES and statement.finding not in _UNJUDGED
        if judged and statement.sides and mention.status in _THERE:
            finding = _ALIKE.get(statement.finding, statement.finding)
            found[finding] = found.get(finding, frozenset()) | statement.sides
    return found


def _agreement(prediction: Sides, references: Sequence[Sides]) -> float | str:
    shares = []
    for finding, sides in prediction.items():
        referred = frozenset[str]().union(*(one.get(finding, frozenset()) for one in references))
        if referred:
            shares.append(len(sides & referred) / len(sides | referred))
    return sum(shares) / len(shares) if shares else "no_common_side"


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    return {"laterality": audit(pairs, read_sides, _agreement, "higher", {"rules": RULE_VERSION})}


METRIC = Metric(
    name="laterality",
    version="2",
    keys=(
        ScoreKey(
            key="laterality",
            label="Laterality",
            direction="higher",
            ranges=UNIT_RANGES,
            kind="mean",
            digits=3,
            modality=("any",),
            language=("en",),
            description="Agreement of left and right, over the findings that both reports place on a side; mean of "
            "studies.",
        ),
    ),
    compute=_compute,
    source="rexrank",
    english_only=True,
    is_audit=True,
    examples=(Example("The lungs are clear.", "The lungs are clear."),),
)
