"""Measurement agreement: F1 of the lengths that two reports measure.

A measurement is a number, in digits or words up to ten, with mm or cm behind it ("8 mm", "1.2 x 0.9
cm" are two, "2-3 cm" is one range); all are turned into millimetres. Two measurements are the same
where they differ by no more than 1 mm or by a tenth of the larger one, whichever is more (ranges:
where they come that close), and where their sentences do not speak of different findings. Each
matches one of the other report at most; with m matches, h measurements in the prediction and r in
the reference, a study's value is 2 m / (h + r), the score the mean of studies. Range [0, 1].

A study in which neither report measures anything is null, ``no_measurement``. A blank prediction
scores 0. Of several references the one that agrees best counts. Both conventions are the same,
but that `corrected` gives 1 to identical texts also where nothing is measured. English only.
docs/audits.md states how often the rules are right.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rexrank.labels import RULE_VERSION
from rexrank.labels.sentences import sentences
from rexrank.metrics.audited import audit
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, ScoreKey
from rexrank.metrics.statements import statements
from rexrank.terms import Convention

_MILLIMETRES, _SHARE = 1.0, 0.1
_TO_TEN = "one two three four five six seven eight nine ten"
_IN_WORDS = {word: number for number, word in enumerate(_TO_TEN.split(), 1)}
_NUMBER = rf"(?:\d{{1,4}}(?:\.\d{{1,3}})?|\.\d{{1,3}}|{'|'.join(_IN_WORDS)})"
_UNIT = r"(?:mm|cm|millimet(?:er|re)s?|centimet(?:er|re)s?)"
_JOINED = rf"(?:\s?{_UNIT})?\s?(?:x|×|by|[-\u2013\u2212]|to)\s?{_NUMBER}"
_MEASUREMENT = re.compile(rf"(?<![\w.,/\u2044])({_NUMBER}(?:{_JOINED}){{0,3}})[\s-]?({_UNIT})\b")
_PIECES = re.compile(rf"({_NUMBER})(?:\s?({_UNIT}))?\s?([-\u2013\u2212]|to\b)?")


class Measurement(NamedTuple):
    """A length in a report.

    Attributes:
        low: Millimetres, the lower end of a range.
        high: The upper end; the same where it is no range.
        findings: What its sentence speaks of.
    """

    low: float
    high: float
    findings: frozenset[str]


def read_measurements(text: str) -> list[Measurement]:
    """The lengths that a report measures, in the order of the text."""
    found: list[Measurement] = []
    for sentence in sentences(text):
        if "mm" in sentence or "cm" in sentence or "met" in sentence:
            lengths = list(_lengths(" ".join(sentence.split())))
            findings = frozenset(one.finding for one in statements(sentence)) if lengths else frozenset()
            found += (Measurement(low, high, findings) for low, high in lengths)
    return found


def _lengths(sentence: str) -> Iterator[tuple[float, float]]:
    for numbers, last_unit in _MEASUREMENT.findall(sentence):
        begin: float | None = None
        for number, unit, ranged in _PIECES.findall(numbers):
            length = _number(number) * (10 if (unit or last_unit).startswith("c") else 1)
            if ranged:
                begin = length
                continue
            low, high = sorted((length if begin is None else begin, length))
            begin = None
            yield low, high


def _number(written: str) -> float:
    return float(_IN_WORDS.get(written) or written)


def _same(one: Measurement, other: Measurement) -> bool:
    apart = max(one.low - other.high, other.low - one.high, 0)
    near = apart <= max(_MILLIMETRES, _SHARE * max(one.high, other.high)) + 1e-9
    return near and not (one.findings and other.findings and one.findings.isdisjoint(other.findings))


def _matches(prediction: Sequence[Measurement], reference: Sequence[Measurement]) -> int:
    """The largest number of pairs of which no two share a measurement, by augmenting paths; equal ones are one node."""
    ours, theirs = Counter(prediction), Counter(reference)
    free, unmatched = list(ours.values()), list(theirs.values())
    beside = [[place for place, other in enumerate(theirs) if _same(one, other)] for one in ours]
    matched = [Counter[int]() for _ in theirs]
    number = 0
    while path := _augmenting(free, unmatched, beside, matched):
        for one, other, given_up in path:
            matched[other][one] += 1
            if given_up is not None:
                matched[given_up][one] -= 1
        free[path[-1][0]] -= 1
        unmatched[path[0][1]] -= 1
        number += 1
    return number


def _augmenting(
    free: Sequence[int], unmatched: Sequence[int], beside: Sequence[Sequence[int]], matched: Sequence[Counter[int]]
) -> list[tuple[int, int, int | None]]:
    """Changes by which one pair more is matched, the last one first: of ours, new partner, former one; else nothing."""
    former: dict[int, int | None] = {one: None for one, number in enumerate(free) if number}
    reached: dict[int, int] = {}
    waiting = deque(former)
    while waiting:
        one = waiting.popleft()
        for other in beside[one]:
            if other in reached:
                continue
            reached[other] = one
            if unmatched[other]:
                return _followed_back(other, reached, former)
            for partner, number in matched[other].items():
                if number and partner not in former:
                    former[partner] = other
                    waiting.append(partner)
    return []


def _followed_back(
    end: int, reached: Mapping[int, int], former: Mapping[int, int | None]
) -> list[tuple[int, int, int | None]]:
    path, other = [], end
    while True:
        one = reached[other]
        before = former[one]
        path.append((one, other, before))
        if before is None:
            return path
        other = before


def _f1(prediction: Sequence[Measurement], reference: Sequence[Measurement]) -> float:
    return 2 * _matches(prediction, reference) / (len(prediction) + len(reference))


def _agreement(prediction: Sequence[Measurement], references: Sequence[Sequence[Measurement]]) -> float | str:
    measured = [reference for reference in references if prediction or reference]
    return max((_f1(prediction, reference) for reference in measured), default="no_measurement")


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    signature = {"tol": f"{_MILLIMETRES:g}mm-or-{_SHARE:g}", "rules": RULE_VERSION}
    return {"measurements": audit(pairs, read_measurements, _agreement, "higher", signature)}


METRIC = Metric(
    name="measurements",
    version="2",
    keys=(
        ScoreKey(
            key="measurements",
            label="Measurements",
            direction="higher",
            ranges=UNIT_RANGES,
            kind="mean",
            digits=3,
            modality=("any",),
            language=("en",),
            description="F1 of the lengths in mm and cm, within 1 mm or 10 %; mean of studies.",
        ),
    ),
    compute=_compute,
    source="rexrank",
    english_only=True,
    is_audit=True,
    examples=(Example("Small nodule.", "Small nodule."),),
)
