"""An audit in plain words: four questions, each with a verdict and the numbers behind it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from rexrank.analysis.blocks import Block, Paragraph, Section, listed
from rexrank.analysis.study_table import digits_of, direction_of, label_of
from rexrank.benchmarks.floors import FREQUENT, RANDOM
from rexrank.metrics import score_keys
from rexrank.scoring.diversity import flags
from rexrank.scoring.table import counted
from rexrank.terms import Convention
from rexrank.validity.audit import NORMAL, Audit, shown_floor
from rexrank.validity.strata import Estimate, Row
from rexrank.validity.stress import Sight, Stressed
from rexrank.validity.stress_texts import ALL as ALL_PLACES

FLOOR_QUESTION = "Is it better than a system that sees no image?"
ABNORMAL_QUESTION = "On abnormal studies too?"
TEXTS_QUESTION = "How many different texts does it write?"
NEGATION_QUESTION = "Which scores cannot see negation?"
DELETED, ADDED = "negation_deleted", "negation_added"
_UNKNOWN = "Not known"
_TOO_FEW = "With so few studies, or patients, there is no interval to judge the difference by."
_NEAREST = "nearest "
_ON_ABNORMAL = {"better": "better on the latter", "worse": "worse on the latter", "open": "no clear difference"}
_SEEN = {"yes": "sees", "barely": "barely sees", "unsure": "may see", None: "may see"}
_FURTHER_SIGHTS = (
    ("yes", "See both a “no” taken out and one put in"),
    ("barely", "Notice both, one of them barely"),
    ("unsure", "Too few reports to tell"),
)


@dataclass(frozen=True)
class Answer:
    """The answer to one question.

    Attributes:
        question: The question.
        verdict: One or a few words, without a full stop.
        reasons: Sentences with the numbers behind it.
    """

    question: str
    verdict: str
    reasons: tuple[str, ...]

    @property
    def title(self) -> str:
        """Question and verdict, as a heading."""
        return f"{self.question} {self.verdict}"


def answers(found: Audit) -> tuple[Answer, ...]:
    """The four answers, in order."""
    return (above_the_floor(found), on_abnormal(found), texts(found), negation(found))


def above_the_floor(found: Audit) -> Answer:
    """Whether the system is better than the best blind floor."""
    keys = [key for key in found.qualities if found.above(key)]
    if not keys:
        why = found.floors.why or found.over.why or "no floor has a score of the system"
        return Answer(FLOOR_QUESTION, _UNKNOWN, (f"There is no floor to compare with: {why}.",))
    standing = {key: side(key, one) for key in keys if (one := found.above(key)) and one.interval}
    reasons = [_beside_floor(found, keys[0])]
    if not standing:
        return Answer(FLOOR_QUESTION, _UNKNOWN, (*reasons, _TOO_FEW))
    if len(standing) > 1:
        reasons.append(f"Over {counted(len(standing), 'score')}: {_by_standing(standing)}.")
    reasons += _higher_floors(found, [key for key, one in standing.items() if one == "better"])
    return Answer(FLOOR_QUESTION, _verdict(list(standing.values())), tuple(reasons))


def on_abnormal(found: Audit) -> Answer:
    """Whether the system is better than the floor, and as good as elsewhere, on abnormal studies."""
    rows = {key: one.row(key, "abnormal", NORMAL) for key, one in (found.against.found or {}).items()}
    shown = {key: row for key, row in rows.items() if row is not None and row.difference is not None}
    if not shown:
        told = [f"The floor cannot be compared on abnormal studies: {_why_no_groups(found)}.", *_fall(found)]
        return Answer(ABNORMAL_QUESTION, _UNKNOWN, tuple(told))
    standing = {
        key: side(key, row.difference) for key, row in shown.items() if row.difference and row.difference.interval
    }
    lead = next(iter(shown))
    reasons = [_on_group(lead, shown[lead], found)]
    if not standing:
        return Answer(ABNORMAL_QUESTION, _UNKNOWN, (*reasons, _TOO_FEW))
    if len(standing) > 1:
        reasons.append(f"Over {counted(len(standing), 'score')}, on abnormal studies alone: {_by_standing(standing)}.")
    return Answer(ABNORMAL_QUESTION, _verdict(list(standing.values())), (*reasons, *_fall(found)))


def texts(found: Audit) -> Answer:
    """How many distinct texts the system writes."""
    known = found.card.diversity.get("predictions")
    if not known:
        return Answer(TEXTS_QUESTION, _UNKNOWN, ("The score card does not say how various its texts are.",))
    beside = found.card.diversity["references"]
    verdict = f"{known['distinct']:,} for {counted(known['n'], 'study')}"
    reasons = [
        f"It wrote {counted(known['distinct'], 'different text')} for {counted(known['n'], 'study')}; "
        f"{_repeats(known)}. Radiologists wrote {beside['distinct']:,} for the same studies; {_repeats(beside)}."
    ]
    if flags(found.card.diversity):
        reasons.append("So few texts are templates: the scores say how well templates fit, not what the system sees.")
    if beside["in_training"]:
        reasons.append(
            f"{beside['in_training_share']:.0%} of the reference texts stand word for word in the training split, and "
            f"{known['in_training_share']:.0%} of the system's."
        )
    return Answer(TEXTS_QUESTION, verdict, tuple(reasons))


def _repeats(known: Mapping[str, Any]) -> str:
    """How often the most frequent text of one side stands there."""
    times = known["most_frequent"]
    return (
        f"one of them stands {times:,} times ({known['most_frequent_share']:.0%})" if times > 1 else "none is repeated"
    )


def negation(found: Audit) -> Answer:
    """Which scores do not notice a deleted or an added "no"."""
    known = found.stressed.found
    keys = [] if known is None else [key for key in found.qualities if key in known.scores]
    if known is None or not keys:
        why = found.stressed.why or "no score of this page could be stressed"
        return Answer(NEGATION_QUESTION, _UNKNOWN, (f"The stress suite did not run: {why}.",))
    seen = {key: (known.scores[key].sees(DELETED), known.scores[key].sees(ADDED)) for key in keys}
    blind = [key for key, sights in seen.items() if "no" in sights]
    reasons = [f"{_missed(key, seen[key])}.{_left(key, known.scores[key], found.card.convention)}" for key in blind]
    for sights, words in _FURTHER_SIGHTS:
        names = [key for key in keys if key not in blind and _weakest(seen[key]) == sights]
        if names:
            reasons.append(f"{words}: {_names(names)}.")
    return Answer(NEGATION_QUESTION, _names(blind) or "None of them is blind to it", tuple(reasons))


def _missed(key: str, sights: tuple[Sight | None, Sight | None]) -> str:
    deleted, added = (sight == "no" for sight in sights)
    if deleted and added:
        return (
            f"{label_of(key)} notices neither a “no” taken out nor one put in: it falls no more than by harmless edits"
        )
    missed, other = ("taken out", "put in") if deleted else ("put in", "taken out")
    return f"{label_of(key)} does not notice a “no” {missed}, and {_SEEN[sights[deleted]]} one {other}"


def _weakest(sights: tuple[Sight | None, Sight | None]) -> str:
    if None in sights or "unsure" in sights:
        return "unsure"
    return "barely" if "barely" in sights else "yes"


def section(said: Answer, blocks: Sequence[Block]) -> Section:
    """A part of the page: the answer heads it, its reasons go to the summary, and here where nothing else stands."""
    return Section(said.title, tuple(blocks) or tuple(map(Paragraph, said.reasons)), said.reasons, level=2)


def side(key: str, above: Estimate | None) -> str:
    """``better``, ``worse`` or ``open``, by whether the interval of a difference leaves out 0."""
    ends, direction = above.interval if above else None, direction_of(key)
    if ends is None or direction == "none" or ends[0] <= 0 <= ends[1]:
        return "open"
    return "better" if (ends[0] > 0) == (direction == "higher") else "worse"


def _verdict(sides: Sequence[str]) -> str:
    if "better" not in sides:
        return "No" if "worse" in sides else "Not beyond chance"
    return "Yes" if set(sides) == {"better"} else "In part"


def _by_standing(standing: Mapping[str, str]) -> str:
    """How many scores stand on which side of the floor, with their names."""
    said = []
    sides = (("better", "better than its floor in"), ("worse", "worse in"), ("open", "no difference beyond chance in"))
    for place, words in sides:
        names = [label_of(key) for key, one in standing.items() if one == place]
        if names:
            said.append(f"{words} {len(names)} ({listed(names, 8)})")
    return ", ".join(said)


def _higher_floors(found: Audit, keys: Sequence[str]) -> Iterator[str]:
    """Floors that do better on these studies than the system, though training did not choose them."""
    floors = found.floors.found.floors if found.floors.found else ()
    for key in keys:
        sign = -1.0 if direction_of(key) == "lower" else 1.0
        able = [floor for floor in floors if key in floor.card.summary]
        best = max(able, key=lambda floor: sign * floor.card.summary[key], default=None)
        if best is not None and sign * best.card.summary[key] > sign * found.card.summary[key]:
            yield (
                f"In {label_of(key)} another blind floor, {shown_floor(best.name)}, happens to be ahead of it on these "
                f"studies, with {_number(key, best.card.summary[key])}."
            )


def _beside_floor(found: Audit, key: str) -> str:
    row = found.over.found.row(key) if found.over.found else None
    if row is None:
        return f"{label_of(key)} has no floor."
    return (
        f"In {label_of(key)} ({row.direction} is better) it has {_value(found, key)}, and the best blind floor "
        f"({_meaning(row.floor)}) {_number(key, row.paired.scores[1])}: {_apart(key, found.above(key))}."
    )


def _meaning(floor: str) -> str:
    """What a floor says, for those who meet its name for the first time."""
    name = shown_floor(floor)
    if name.startswith(_NEAREST):
        return f"the training report with the most similar {name.removeprefix(_NEAREST)}"
    if name == RANDOM:
        return "a training report drawn at random for each study"
    return f"{name}: one training text for every study" if name == FREQUENT else "one training text for every study"


def _on_group(key: str, row: Row, found: Audit) -> str:
    floor, mine = (one.value for one in row.scores)
    return (
        f"On {counted(row.n or 0, 'abnormal study')} it has {_number(key, mine)} in {label_of(key)}, and the same "
        f"floor {_number(key, floor)}: {_apart(key, row.difference)}."
    )


def _fall(found: Audit) -> Iterator[str]:
    """How much worse the leading score is on abnormal studies than on normal ones."""
    groups = found.groups.found
    if groups is None:
        return
    for key in groups.keys[:1]:
        normal, abnormal = (groups.row(key, group, NORMAL) for group in ("normal", "abnormal"))
        if normal is None or abnormal is None or not normal.scores or not abnormal.scores:
            continue
        first, second = normal.scores[0].value, abnormal.scores[0].value
        if first is None or second is None:
            continue
        apart = abnormal.contrast.estimate if abnormal.contrast else None
        verdict = _ON_ABNORMAL[side(key, apart)]
        yield (
            f"{label_of(key)} is {_number(key, first)} on {normal.n:,} normal and {_number(key, second)} on "
            f"{abnormal.n:,} abnormal studies ({normal.source}): {verdict}."
        )


def _why_no_groups(found: Audit) -> str:
    if found.against.why:
        return found.against.why
    groups = found.groups.found
    if groups is not None and NORMAL in groups.absent:
        return groups.absent[NORMAL]
    return "there are too few of them, or too few of the others, to be shown"


def _left(key: str, one: Stressed, convention: str) -> str:
    """What a score leaves of a report after every "no" is gone."""
    cell, best = one.cell(DELETED, ALL_PLACES), score_keys()[key].best(cast("Convention", convention))
    if cell is None or cell.score.value is None or best != 1.0:
        return ""
    return f" With every “no” deleted a report still scores {cell.score.value:.2f} of 1 against itself as it was."


def _names(keys: Sequence[str]) -> str:
    return listed([label_of(key) for key in keys], 8)


def _value(found: Audit, key: str) -> str:
    value, ends = found.card.summary[key], found.card.intervals.get(key)
    confidence = f"{found.card.interval.get('confidence', 0.95):.0%} interval"
    limits = "" if ends is None else f" ({confidence} {_number(key, ends[0])} to {_number(key, ends[1])})"
    return f"{_number(key, value)}{limits}"


def _apart(key: str, above: Estimate | None) -> str:
    """A difference in words."""
    if above is None or above.value is None:
        return "the difference is undefined"
    standing = side(key, above)
    if above.interval is None:
        return f"a difference of {above.value:+.{digits_of(key)}f}"
    low, high = sorted(map(abs, above.interval)) if standing != "open" else above.interval
    limits = f" ({_number(key, low)} to {_number(key, high)})"
    if standing == "open":
        return f"they cannot be told apart, difference {above.value:+.{digits_of(key)}f}{limits}"
    return f"{standing} by {_number(key, abs(above.value))}{limits}"


def _number(key: str, value: float | None) -> str:
    return "undefined" if value is None else f"{value:.{digits_of(key)}f}"
