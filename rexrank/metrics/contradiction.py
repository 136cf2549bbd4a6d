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
from itertools import product
from typing import Any, NamedTuple

from rexrank.labels import NEGATIVE, POSITIVE, RULE_VERSION
from rexrank.metrics.audited import audit
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, ScoreKey
from rexrank.metrics.statements import Statement, statements
from rexrank.terms import Convention

# A denial with one of these is of that kind of the finding alone.
_KIND_WORDS = (
    "large larger big sizable sizeable significant new acute acutely focal other another additional further definite "
    "discrete suspicious dominant gross confluent overt frank obvious convincing measurable layering displaced tension "
    "active residual recurrent interval increasing increased worsening enlarging developing lobar segmental dense "
    "patchy noncalcified calcified spiculated substantial marked appreciable more change typical specific superimposed "
    "aggressive destructive bony osseous rib vertebral spinal compression cardiac hilar mediastinal "
    "interstitial alveolar consolidative nodular cavitary associated pathologic unstable"
)
_KINDS = frozenset(_KIND_WORDS.split())
# A finding with one of these is one that a general denial leaves out.
_OLD_WORDS = "old healed healing remote chronic prior previous calcified granulomatous postsurgical"
_OLD = frozenset(_OLD_WORDS.split())
# Concepts that hold several things, and what a broken screw shares its name with.
_UNJUDGED = frozenset({"device", "spine", "aorta", "chronic lung disease", "other part"})
_METAL_WORDS = "screw screws wire wires plate plates hardware fixation lead"
_OF_METAL = frozenset(_METAL_WORDS.split())
# Sentences of another examination, and what they ask for.
_ELSEWHEN_WORDS = "recent earlier reviewed evaluation evaluate question unknown"
_ELSEWHEN = frozenset(_ELSEWHEN_WORDS.split())
_COMPARING = frozenset({"prior", "previous", "previously"})
_DENYING = frozenset({"no", "not", "without", "nor", "negative"})
_NEARLY = frozenset({"upper", "top", "limits", "limit", "borderline"})
_REACH, _FAR = 4, 7


class _Said(NamedTuple):
    """What is left of a statement where it is compared: the same again says no more.

    Attributes:
        sentence: Number of the sentence; equal ones share a number.
        sides: Of the finding.
        kinds: What kind of the finding is meant.
    """

    sentence: int
    sides: frozenset[str]
    kinds: frozenset[str]


def contradictions(text: str) -> list[str]:
    """The findings that a report both states and denies, each once."""
    return _judged(statements(text))


def _judged(found: Sequence[Statement]) -> list[str]:
    sentences = {one.sentence: one.words for one in found}
    firsts: dict[tuple[str, ...], int] = {}
    numbers = {number: firsts.setdefault(words, number) for number, words in sentences.items()}
    metal, elsewhen, comparing = (
        {number for number, words in sentences.items() if not spoiling.isdisjoint(words)}
        for spoiling in (_OF_METAL, _ELSEWHEN, _COMPARING)
    )
    stated: dict[str, set[_Said]] = {}
    denied: dict[str, set[_Said]] = {}
    for one in found:
        if one.finding in _UNJUDGED or one.sentence in metal or one.sentence in elsewhen:
            continue
        said = _Said(numbers[one.sentence], one.sides, _KINDS & set(_around(one, _REACH)))
        if _is_stated(one):
            stated.setdefault(one.finding, set()).add(said)
        elif _is_denied(one) and one.sentence not in comparing:
            denied.setdefault(one.finding, set()).add(said)
    return [
        finding
        for finding, denials in denied.items()
        if any(_opposed(*pair) for pair in product(denials, stated.get(finding, ())))
    ]


def _is_stated(one: Statement) -> bool:
    here = _OLD.isdisjoint(_around(one, _REACH)) and _DENYING.isdisjoint(_around(one, _FAR))
    return here and one.mention.status == POSITIVE


def _is_denied(one: Statement) -> bool:
    return one.mention.status == NEGATIVE and _NEARLY.isdisjoint(one.mention.cue.split())


def _opposed(denial: _Said, statement: _Said) -> bool:
    if denial.sentence == statement.sentence:
        return False
    if denial.sides and statement.sides and not denial.sides & statement.sides:
        return False
    return denial.kinds <= statement.kinds


def _around(statement: Statement, reach: int) -> tuple[str, ...]:
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
    version="2",
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
    is_audit=True,
    examples=(
        Example("Small left effusion. No effusion.", "Small left effusion. No effusion."),
        Example("Thank you.", "Thank you."),
    ),
)
