"""Contradiction: the share of predictions that both state and deny one finding.

`rexrank.labels` reads what a report states, hedges and denies. A report contradicts itself where
it states a finding in one place and denies it in another, unless

- both places name sides and these are different ("left effusion … no right effusion");
- what is denied is of one kind ("no large effusion", "no acute fracture") and what is stated is not
  said to be of that kind;
- what is stated is old, healed or calcified, or what is denied is only nearly so ("heart size at the
  upper limits of normal");
- what is denied or stated is so of another examination, or both stand in one sentence ("no effusion but a very
  small one").

A hedged finding contradicts nothing. A study's value is 1 with a contradiction and 0 without;
the score is the mean of studies. Range [0, 1], lower is better. The reference is not looked at.

A prediction that speaks of no finding is null, ``no_finding_named``. A blank prediction scores 1,
the worst. Both conventions are the same, but that `corrected` gives 0 to a prediction that is
identical to a reference. English only. docs/audits.md states how often the rules are right.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rexrank.labels import NEGATIVE, POSITIVE, RULE_VERSION
from rexrank.metrics.audited import audit
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, ScoreKey
from rexrank.metrics.statements import Statement, statements
from rexrank.terms import Convention

# A denial with one of these is of that kind of the finding alone.
_KINDS_WORDS = (
    "large larger big sizable sizeable significant new acute acutely focal other another additional further definite "
    "discrete suspicious dominant gross confluent overt frank obvious convincing measurable layering displaced tension "
    "active residual recurrent interval increasing increased worsening enlarging developing lobar segmental dense "
    "patchy noncalcified calcified spiculated substantial marked appreciable more change typical specific superimposed "
    "aggressive destructive bony osseous rib vertebral spinal compression pulmonary cardiac hilar mediastinal "
    "interstitial alveolar consolidative nodular pleural cavitary associated pathologic unstable"
)
_KINDS = frozenset(_KINDS_WORDS.split())
# A finding with one of these is one that a general denial leaves out.
_LEFT_OUT_WORDS = "old healed healing remote chronic prior previous calcified granulomatous postsurgical"
_LEFT_OUT = frozenset(_LEFT_OUT_WORDS.split())
# Concepts that hold several things, and what a broken screw shares its name with.
_UNJUDGED = frozenset({"device", "spine", "aorta", "chronic lung disease", "other part"})
_OF_METAL_WORDS = "screw screws wire wires plate plates hardware fixation lead"
_OF_METAL = frozenset(_OF_METAL_WORDS.split())
# Sentences of another examination, and what they ask for.
_ELSEWHEN_WORDS = "recent earlier reviewed evaluation evaluate question unknown"
_ELSEWHEN = frozenset(_ELSEWHEN_WORDS.split())
_COMPARING = frozenset({"prior", "previous", "previously"})
_DENYING = frozenset({"no", "not", "without", "nor", "negative"})
_NEARLY = frozenset({"upper", "top", "limits", "limit", "borderline"})
_REACH, _FAR = 4, 7


def contradictions(text: str) -> list[str]:
    """The findings that a report both states and denies, each once."""
    return _judged(statements(text))


def _judged(found: Sequence[Statement]) -> list[str]:
    judged = [one for one in found if one.finding not in _UNJUDGED and (_OF_METAL | _ELSEWHEN).isdisjoint(one.words)]
    by_finding: dict[str, list[Statement]] = {}
    for one in judged:
        here = _LEFT_OUT.isdisjoint(_around(one)) and _DENYING.isdisjoint(_around(one, _FAR))
        if one.mention.status == POSITIVE and here:
            by_finding.setdefault(one.finding, []).append(one)
    denied = (one for one in judged if one.mention.status == NEGATIVE and _is_plain(one))
    opposed = (one.finding for one in denied if any(_opposed(one, x) for x in by_finding.get(one.finding, ())))
    return list(dict.fromkeys(opposed))


def _is_plain(denial: Statement) -> bool:
    """Whether it is said of this examination, and the finding not said to be nearly there."""
    return _COMPARING.isdisjoint(denial.words) and _NEARLY.isdisjoint(denial.mention.cue.split())


def _opposed(denial: Statement, statement: Statement) -> bool:
    if denial.words == statement.words:
        return False
    if denial.sides and statement.sides and not denial.sides & statement.sides:
        return False
    return _KINDS & set(_around(denial)) <= set(_around(statement))


def _around(statement: Statement, reach: int = _REACH) -> tuple[str, ...]:
    """The words just before a finding, and its own."""
    return statement.words[max(0, statement.start - reach) : statement.end]


def _read(text: str) -> bool | None:
    found = statements(text)
    return bool(_judged(found)) if found else None


def _judge(prediction: bool | None, references: Sequence[bool | None]) -> float | str:
    return "no_finding_named" if prediction is None else float(prediction)


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    return {"contradiction": audit(pairs, _read, _judge, "lower", {"rules": RULE_VERSION})}


METRIC = Metric(
    name="contradiction",
    version="1",
    keys=(
        ScoreKey(
            key="contradiction",
            label="Contradiction",
            direction="lower",
            ranges=UNIT_RANGES,
            kind="mean",
            digits=3,
            modality=("any",),
            language=("en",),
            description="Share of predictions that state a finding in one place and deny it in another.",
        ),
    ),
    compute=_compute,
    source="rexrank",
    english_only=True,
    examples=(
        Example("Small left effusion. No effusion.", "Small left effusion. No effusion."),
        Example("Thank you.", "Thank you."),
    ),
)
