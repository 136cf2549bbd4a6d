"""Invented device: predictions that state a device of a kind that the reference does not know.

`rexrank.labels` finds the devices of a report: tubes, lines, pacemakers, valves, hardware … A
device counts where it is stated or hedged, not where it is denied, removed or asked for. Its kind
follows from its words: airway, stomach or chest tube, vascular line, pacemaker or defibrillator,
valve, sternal wires, hardware of bones, stimulator, stent, filter, shunt, pump, recorder. A word
that can be several kinds ("tube", "catheter", "lead", "device") is each of them. A reference that
speaks of a sternotomy or a bypass knows of sternal wires.

A study's value is 1 where no kind that a device of the prediction can be is among those of the
reference, else 0; the score is the mean of studies, the share of inventions. Range [0, 1], lower
is better. Of several references all devices are known. A blank prediction scores 1, the worst.
Both conventions are the same. English only. docs/audits.md states how often the rules are right.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rexrank.labels import POSITIVE, RULE_VERSION, UNCERTAIN
from rexrank.metrics.audited import audit
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, Metric, ScoreKey
from rexrank.metrics.statements import Statement, statements
from rexrank.terms import Convention

Kinds = frozenset[str]

_KINDS_OF: Mapping[str, str] = {
    "airway": "endotracheal ett et tracheostomy tracheal tube tubes tubing cannula cannulas",
    "stomach": "nasogastric orogastric enteric feeding nasoenteric ng og nj ngt ogt gastric gastrostomy dobhoff "
    "dobbhoff peg tube tubes tubing",
    "chest": "chest pleural drainage thoracostomy pigtail drain drains tube tubes tubing catheter catheters",
    "line": "picc piccs central venous jugular ij subclavian femoral arterial dialysis hemodialysis infusion port "
    "ports portacath portacaths mediport mediports medport powerport chemoport swan sheath line lines catheter "
    "catheters cath caths",
    "pacemaker": "pacemaker pacemakers pacer pacers pacing aicd icd aicds icds defibrillator defibrillators "
    "cardioverter generator generators lead leads electrode electrodes wire wires cardiac",
    "monitor": "ekg ecg telemetry monitor monitoring lead leads electrode electrodes line lines",
    "valve": "valve valves valvular annuloplasty prosthesis prostheses prosthetic mitral tricuspid bioprosthetic",
    "sternal wires": "sternotomy sternal median cerclage wire wires suture sutures",
    "bone hardware": "fixation fusion hardware plate plates rod rods screw screws arthroplasty arthroplasties spinal "
    "orthopedic prosthesis prostheses",
    "stimulator": "stimulator stimulators vagal vagus",
    "stent": "stent stents coil coils",
    "filter": "filter filters",
    "shunt": "shunt vp",
    "pump": "lvad iabp ecmo pump assist",
    "recorder": "loop recorder",
}
_BY_WORD: Mapping[str, Kinds] = {
    word: frozenset(kind for kind, words in _KINDS_OF.items() if word in words.split())
    for words in _KINDS_OF.values()
    for word in words.split()
}
_ANY: Kinds = frozenset(_KINDS_OF)
_STERNOTOMY = re.compile(r"\b(?:sternotom(?:y|ies)|cabg|bypass)\b", re.IGNORECASE)


class Devices(NamedTuple):
    """The devices of a report.

    Attributes:
        stated: For each device the kinds that it can be.
        known: Every kind that one of them can be, and those that an operation left behind.
    """

    stated: tuple[Kinds, ...]
    known: Kinds


def read_devices(text: str) -> Devices:
    """The devices that a report states or suspects."""
    stated = tuple(
        _kinds(one)
        for one in statements(text)
        if one.mention.name == "Support Devices" and one.mention.status in (POSITIVE, UNCERTAIN)
    )
    left = frozenset({"sternal wires"}) if _STERNOTOMY.search(text) else frozenset()
    return Devices(stated, left.union(*stated))


def _kinds(device: Statement) -> Kinds:
    """The kinds that fit the most of its words; all kinds where none says anything."""
    found = [kinds for word in device.mention.phrase.split() if (kinds := _BY_WORD.get(word))]
    common = frozenset.intersection(*found) if found else _ANY
    return common or frozenset.union(*found)


def _judge(prediction: Devices, references: Sequence[Devices]) -> float:
    known = frozenset[str]().union(*(one.known for one in references))
    return float(any(kinds.isdisjoint(known) for kinds in prediction.stated))


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    return {"invented_device": audit(pairs, read_devices, _judge, "lower", {"rules": RULE_VERSION})}


METRIC = Metric(
    name="invented_device",
    version="1",
    keys=(
        ScoreKey(
            key="invented_device",
            label="Invented device",
            direction="lower",
            ranges=UNIT_RANGES,
            kind="mean",
            digits=3,
            modality=("any",),
            language=("en",),
            description="Share of predictions that state a device of a kind that the reference does not know.",
        ),
    ),
    compute=_compute,
    source="rexrank",
    english_only=True,
    is_audit=True,
)
