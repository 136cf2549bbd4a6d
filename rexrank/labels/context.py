"""From the phrases of a sentence to what it says of each finding.

A sentence is cut into clauses; within a clause each cue acts up to the clause's end or to what ends its list, and each
part (the heart) gets the judgement (normal, enlarged) that stands with it. Every step walks over the phrases once or
twice, so the time is linear in the length of the sentence.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rexrank.labels.names import BLANK, NAMES, NEGATIVE, POSITIVE, UNCERTAIN
from rexrank.labels.phrases import Found, Meaning
from rexrank.labels.roles import Role

_DEVICES = NAMES.index("Support Devices")
_JUDGED_LARGE = frozenset({NAMES.index("Lung Opacity")})
_PREDICATES = frozenset({Role.NORMAL, Role.LARGE, Role.PROMINENT, Role.BORDERLINE})
# What a list of causes explains: "opacity, atelectasis or pneumonia".
_EXPLAINED = frozenset({"opacity", "airspace disease", "nodular opacity"})
# Findings of age, which end a list of absent things as "stable" does.
_STEADY = frozenset({"aorta", "calcification", "granuloma", "spine"})
# What is harmless, a granuloma, where it is calcified.
_CALCIFYING = frozenset({"nodule", "nodular opacity", "opacity"})
_GAP = 8  # judgements of one part at most
_REACH = 3  # words between an adjective, or "calcified", and its noun


@dataclass(slots=True)
class Item:
    """A phrase while its clause is read.

    Attributes:
        role: What it does.
        label: Position of its class in ``NAMES``; -1 where it has none.
        concept: Which finding or part.
        start: First word.
        end: Word after its last.
        starts_anew: Whether a positive remark begins with it.
        status: Code of a label; BLANK where nothing is said of the present.
        cue: Role of what decided the status, or "or" in a list of alternatives; None where nothing did.
        cue_words: Words ``(start, end)`` of that cue.
    """

    role: Role
    label: int
    concept: str
    start: int
    end: int
    starts_anew: bool
    status: int = POSITIVE
    cue: Role | None = None
    cue_words: tuple[int, int] = (0, 0)

    def decide(self, status: int, cue: "Item") -> None:
        """Take a status from a cue."""
        self.status, self.cue, self.cue_words = status, cue.role, (cue.start, cue.end)


def read(found: Sequence[Found]) -> list[Item]:
    """The findings and judged parts of a sentence with their status."""
    if not any(_speaks(phrase.meaning) for phrase in found):
        return []
    items = [
        Item(*meaning, start, end, starts_anew)
        for meaning, start, end, starts_anew in found
        if meaning.role is not Role.NOTHING
    ]
    decided: list[Item] = []
    for clause in _clauses(items):
        if any(map(_speaks, clause)):
            _look_ahead(clause)
            _look_back(clause)
            _read_alternatives(clause)
            _read_calcified(clause)
            _judge_parts(clause)
            decided += filter(_speaks, clause)
    return decided


def _speaks(phrase: Meaning | Item) -> bool:
    """Whether it is a finding, or a part that stands for one."""
    return phrase.role is Role.FINDING or (phrase.role is Role.PART and phrase.label >= 0)


# ---- clauses


@dataclass(slots=True)
class _Ahead:
    """What stands between a comma, conjunction or break and the next one."""

    verb: bool = False
    subject: bool = False
    judged: bool = False
    part_first: bool = False


def _ahead(items: Sequence[Item]) -> list[_Ahead]:
    looks: list[_Ahead] = [_Ahead()] * len(items)
    look = _Ahead()
    for position in range(len(items) - 1, -1, -1):
        role = items[position].role
        if role in (Role.COMMA, Role.AND, Role.OR, Role.BREAK):
            looks[position], look = look, _Ahead()
        elif role is Role.VERB:
            look.verb = True
        elif role in _PREDICATES:
            look.judged = True
        elif role is not Role.NEW_START:
            look.part_first = role is Role.PART
            look.subject = look.subject or role in (Role.PART, Role.FINDING, Role.ANYTHING)
    return looks


def _clauses(items: Sequence[Item]) -> Iterator[list[Item]]:
    looks = _ahead(items)
    clause: list[Item] = []
    verb = complete = False
    for position, item in enumerate(items):
        role, look = item.role, looks[position]
        if role in (Role.COMMA, Role.AND) and not _joined(items, position):
            new_subject = look.part_first and (look.verb or look.judged)
            if (verb and look.verb) or (complete and new_subject):
                role = Role.BREAK
        # "The heart is hard to see but enlarged" is one clause: what follows has no subject of its own.
        if role is Role.BREAK and (look.subject or item.role is not Role.BREAK):
            yield clause
            clause, verb, complete = [], False, False
            continue
        clause.append(item)
        verb = verb or role is Role.VERB
        complete = complete or role in _PREDICATES or role in (Role.VERB, Role.ABSENT_AFTER, Role.FINDING)
    yield clause


def _joined(items: Sequence[Item], position: int) -> bool:
    """Whether a conjunction follows at once, which then speaks for the comma."""
    following = items[position + 1 : position + 2]
    return bool(following) and following[0].role in (Role.AND, Role.OR) and following[0].start == items[position].end


# ---- cues


def _look_ahead(clause: Sequence[Item]) -> None:
    """Let the cues that act on what follows decide, up to what ends their list."""
    last_or = max((position for position, item in enumerate(clause) if item.role is Role.OR), default=-1)
    _turn_either(clause)
    absent = doubt = past = borderline = None
    covered = general = False
    for position, item in enumerate(clause):
        role = item.role
        if role is Role.ABSENT_AFTER:
            absent, covered, general = item, False, False
        elif role is Role.DOUBT_AFTER:
            doubt, covered = item, covered and absent is not None
        elif role is Role.PAST_AFTER:
            past = item
        elif role is Role.BREAK or (role is Role.PART and covered and _begins_sentence(clause, position)):
            absent = doubt = past = None
        elif role is Role.ANYTHING:
            covered = general = True
        elif role is Role.WITH and covered:
            absent = doubt = past = None
        elif role in (Role.COMMA, Role.AND) and covered and position > last_or:
            anew = _starts_anew(clause, position)
            absent = None if general or anew else absent
            doubt = None if anew and role is Role.COMMA else doubt
            past = None if anew else past
        elif role is Role.FINDING or role in _PREDICATES:
            near = borderline is not None and item.start - borderline.end < _REACH
            _decide(item, absent, doubt or (borderline if near else None), past)
            borderline = item if role is Role.BORDERLINE else borderline
            covered = covered or role is Role.FINDING
            general = general and role is not Role.FINDING


def _begins_sentence(clause: Sequence[Item], position: int) -> bool:
    """Whether a verb or a judgement follows a part: without punctuation, a sentence of its own."""
    return position + 1 < len(clause) and clause[position + 1].role in (Role.VERB, *_PREDICATES)


def _ends_sentence(clause: Sequence[Item], position: int) -> bool:
    """Whether a judgement stands behind a part or its verb."""
    before = [item.role for item in clause[max(0, position - 2) : position]]
    return before[-1:] == [Role.PART] or before == [Role.PART, Role.VERB]


def _turn_either(clause: Sequence[Item]) -> None:
    """Give a cue that can stand on either side its side, and turn "possible" round where it ends its clause."""
    finding_before = False
    turned = {
        Role.ABSENT_EITHER: (Role.ABSENT_AFTER, Role.ABSENT_BEFORE),
        Role.DOUBT_EITHER: (Role.DOUBT_AFTER, Role.DOUBT_BEFORE),
    }
    for item in clause:
        if item.role in turned:
            item.role = turned[item.role][finding_before]
        finding_before = finding_before or item.role in (Role.FINDING, Role.ANYTHING)
    for item, earlier in zip(reversed(clause), reversed(clause[:-1]), strict=False):
        if item.role is Role.DOUBT_AFTER and earlier.role is Role.FINDING and earlier.end == item.start:
            item.role = Role.DOUBT_BEFORE
        if item.role is not Role.NEW_START:
            break


def _decide(item: Item, absent: Item | None, doubt: Item | None, past: Item | None) -> None:
    if past is not None and item.label != _DEVICES:
        item.decide(BLANK, past)
    elif absent is not None:
        item.decide(NEGATIVE, absent)
    elif doubt is not None and item.label != _DEVICES:
        item.decide(UNCERTAIN, doubt)


def _starts_anew(clause: Sequence[Item], position: int) -> bool:
    """Whether a word follows at once with which no list of absent things goes on."""
    if position + 1 == len(clause) or clause[position + 1].start != clause[position].end:
        return False
    following = clause[position + 1]
    return following.starts_anew or following.role is Role.DOUBT_AFTER or following.concept in _STEADY


def _look_back(clause: Sequence[Item]) -> None:
    """Let the cues that act on what stands before decide, back to where their list begins."""
    cue: Item | None = None
    reached = conjunction = broken = False
    for item in reversed(clause):
        role = item.role
        if role in (Role.ABSENT_BEFORE, Role.DOUBT_BEFORE):
            cue, reached, conjunction, broken = item, False, False, False
        elif cue is None:
            continue
        elif role is Role.BREAK:
            broken = True
        elif role in (Role.AND, Role.OR):
            conjunction = True
        elif (
            role is Role.WITH or (role is Role.COMMA and not (conjunction or broken)) or (role is Role.VERB and reached)
        ):
            cue = None if reached or role is Role.COMMA else cue
        elif role is Role.FINDING:
            reached = True
            # "No large effusion, but a small one cannot be excluded."
            if item.status not in (BLANK, NEGATIVE) or (broken and item.status == NEGATIVE):
                item.decide(NEGATIVE if cue.role is Role.ABSENT_BEFORE else UNCERTAIN, cue)


def _read_alternatives(clause: Sequence[Item]) -> None:
    """Findings joined by "or" that nothing else decided are uncertain, and so are those of the list before them."""
    for position, item in enumerate(clause):
        if item.role is not Role.OR:
            continue
        after = next((other for other in clause[position + 1 : position + 3] if other.role is not Role.NEW_START), None)
        before = _list_before(clause, position)
        if after is None or not before or not _open(after):
            continue
        for finding in [*before, after]:
            finding.decide(UNCERTAIN, item)


def _list_before(clause: Sequence[Item], position: int) -> list[Item]:
    listed: list[Item] = []
    for item in reversed(clause[max(0, position - 8) : position]):
        if _open(item) and not (listed and item.concept in _EXPLAINED):
            listed.append(item)
        elif item.role not in (Role.COMMA, Role.NEW_START, Role.OR):
            break
    return listed


def _open(item: Item) -> bool:
    return item.role is Role.FINDING and item.label != _DEVICES and (item.cue is None or item.cue is Role.OR)


def _read_calcified(clause: Sequence[Item]) -> None:
    """Take a calcified nodule, or a nodule that is calcified, out of the lesions."""
    nearby: Item | None = None
    for item in clause:
        if item.role is Role.FINDING:
            pair = {} if nearby is None or item.start - nearby.end > _REACH else {x.concept: x for x in (nearby, item)}
            if "calcification" in pair:
                for concept in _CALCIFYING & pair.keys():
                    pair[concept].label, pair[concept].concept = -1, f"calcified {concept}"
            nearby = item
        elif item.role not in (Role.NEW_START, Role.PART, Role.VERB, *_PREDICATES):
            nearby = None


# ---- parts


def _judge_parts(clause: Sequence[Item]) -> None:
    """Give each part the judgement before it, else the first one after it, else that of the part before it."""
    before = [_belongs_to_next(clause, position) for position in range(len(clause))]
    own: list[Item] = []
    inherited: list[Item] = []
    following = _predicates_after(clause, before)
    for position, item in enumerate(clause):
        if item.role in _PREDICATES and before[position]:
            own.append(item)
        elif item.role is Role.PART:
            judged = own or following[position] or inherited
            if own:
                inherited = own
            own = []
            _judge(item, judged)
        elif item.role is Role.FINDING:
            own = []


def _belongs_to_next(clause: Sequence[Item], position: int) -> bool:
    """Whether a judgement is an adjective of the finding or part that follows it."""
    item = clause[position]
    if item.role not in _PREDICATES:
        return False
    for place in range(position + 1, min(position + 4, len(clause))):
        other = clause[place]
        if other.role is Role.PART and _ends_sentence(clause, position) and _begins_sentence(clause, place):
            return False  # "lungs are clear heart is enlarged"
        if other.role in (Role.FINDING, Role.PART):
            return other.start - item.end <= _REACH
        if other.role is not Role.NEW_START and other.role not in _PREDICATES:
            return False
    return False


def _predicates_after(clause: Sequence[Item], before: Sequence[bool]) -> list[list[Item]]:
    """For each place, the judgements in the first gap after it that has any."""
    gaps: list[list[Item]] = [[] for _ in clause]
    current: list[Item] = []
    gap_open = False
    for position in range(len(clause) - 1, -1, -1):
        item = clause[position]
        gaps[position] = current
        if item.role in _PREDICATES and not before[position]:
            if not gap_open:
                current, gap_open = [], True
            # Every part before the gap looks at the whole of it, so it is kept short.
            current = [*current[1 - _GAP :], item]
        elif item.role is Role.PART:
            gap_open = False
    return gaps


def _judge(part: Item, predicates: Sequence[Item]) -> None:
    part.status = BLANK
    rank = {BLANK: 0, NEGATIVE: 1, POSITIVE: 2, UNCERTAIN: 3}
    for predicate in predicates:
        status = _verdict(part, predicate)
        if rank[status] > rank[part.status]:
            part.decide(status, predicate)
            if predicate.cue is not None and predicate.status == UNCERTAIN:
                part.cue, part.cue_words = predicate.cue, predicate.cue_words


def _verdict(part: Item, predicate: Item) -> int:
    if predicate.role is Role.NORMAL:
        return BLANK if predicate.status == BLANK else NEGATIVE
    if predicate.status != POSITIVE:
        return predicate.status
    if predicate.role is Role.LARGE or (predicate.role is Role.PROMINENT and part.label in _JUDGED_LARGE):
        return POSITIVE
    return UNCERTAIN
