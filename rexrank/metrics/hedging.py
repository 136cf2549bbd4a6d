"""Hedging agreement: of the findings that both reports speak of, how many they state, hedge or deny alike.

`rexrank.labels` reads whether a finding is stated ("there is an effusion"), hedged ("possible
effusion") or denied ("no effusion"); of several places a stated one counts before a hedged one,
and that before a denied one. A study's value is the share of the findings with one of the three
in the prediction and in the reference for which it is the same; the score is the mean of
studies. Range [0, 1].

A study without a common finding is null, ``no_common_finding``: findings that one report alone
speaks of are not this score's business. Devices do not count. A blank prediction scores 0. Of
several references all places are taken together. Both conventions are the same, but that
`corrected` gives 1 to identical texts also where they speak of no finding. English only.
docs/audits.md states how often the rules are right.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rexrank.labels import NEGATIVE, POSITIVE, RULE_VERSION, UNCERTAIN
from rexrank.metrics.audited import audit
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, ScoreKey
from rexrank.metrics.statements import statements
from rexrank.terms import Convention

_STRENGTH = {NEGATIVE: 1, UNCERTAIN: 2, POSITIVE: 3}
Strengths = dict[str, int]


def read_strengths(text: str) -> Strengths:
    """For each finding that a report speaks of: 1 denied, 2 hedged, 3 stated."""
    found: Strengths = {}
    for statement in statements(text):
        mention = statement.mention
        strength = _STRENGTH.get(mention.status, 0)
        if strength and mention.name != "Support Devices":
            found[statement.finding] = max(found.get(statement.finding, 0), strength)
    return found


def _agreement(prediction: Strengths, references: Sequence[Strengths]) -> float | str:
    same = []
    for finding, strength in prediction.items():
        referred = max((one.get(finding, 0) for one in references), default=0)
        if referred:
            same.append(strength == referred)
    return sum(same) / len(same) if same else "no_common_finding"


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    return {"hedging": audit(pairs, read_strengths, _agreement, "higher", {"rules": RULE_VERSION})}


METRIC = Metric(
    name="hedging",
    version="1",
    keys=(
        ScoreKey(
            key="hedging",
            label="Hedging",
            direction="higher",
            ranges=UNIT_RANGES,
            kind="mean",
            digits=3,
            modality=("any",),
            language=("en",),
            description="Share of the findings that both reports speak of which both state, hedge or deny; mean of "
            "studies.",
        ),
    ),
    compute=_compute,
    source="rexrank",
    english_only=True,
    is_audit=True,
    examples=(Example("Old granulomatous exposure.", "Old granulomatous exposure."),),
)
