"""What a report says of each finding: stated, hedged or denied, and on which side. No metric; the audits read it.

Findings and their status come from `rexrank.labels`. A finding's side is named by the words of its own part of the
sentence: those before it ("left basal opacity"), else those after it ("opacity in the left base"). Commas, "and", "or"
and the like part a sentence; a part without a finding and without a verb belongs to the finding before it ("effusions
on the right and left"), at the beginning of a sentence to the one after it ("right and left effusions"). An alternative
without a side has that of what it stands beside ("left basal atelectasis or scarring").
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rexrank.labels import Mention, Sentence, read_sentences

_NAMED_SIDES: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("left", "lt", "leftward", "lingula", "lingular", "lul", "lll"), frozenset({"left"})),
    **dict.fromkeys(("right", "rt", "rightward", "rul", "rml", "rll"), frozenset({"right"})),
    **dict.fromkeys(
        ("bilateral", "bilaterally", "both", "bibasilar", "bibasal", "biapical", "bihilar"),
        frozenset({"left", "right"}),
    ),
}
_NO_SIDE: frozenset[str] = frozenset()
# "and" also joins the places of one finding, which the parts without a finding of their own take care of.
_PARTING_WORDS = ", : / and or but however while whereas which with without although though versus vs plus"
_PARTING = frozenset(_PARTING_WORDS.split())
_PREDICATES_WORDS = "is are was were appears appear remains remain clear normal unremarkable intact"
_PREDICATES = frozenset(_PREDICATES_WORDS.split())
# What stands behind these is another word for what stands before: "left basal atelectasis or scarring".
_OF_THE_SAME = frozenset({"or", "/", "versus", "vs", "which"})
# One finding under several concepts of the labeller.
_SAME: Mapping[str, str] = {
    "cardiomegaly": "heart",
    "widened mediastinum": "mediastinum",
    "nodular opacity": "nodule",
    "congestion": "pulmonary vessels",
    "airspace disease": "infiltrate",
}


class Statement(NamedTuple):
    """One place where a report speaks of a finding.

    Attributes:
        finding: Concept of the labeller; concepts that mean the same have one name here.
        mention: What the labeller read.
        sides: ``left``, ``right``, both or none.
        words: The words of the sentence.
        sentence: Number of the sentence in the report.
        start: First word of the finding.
        end: Word after its last.
    """

    finding: str
    mention: Mention
    sides: frozenset[str]
    words: tuple[str, ...]
    sentence: int
    start: int
    end: int


def statements(text: str) -> list[Statement]:
    """Every statement about a finding in a report, in the order of the text; linear in its length."""
    return [one for number, sentence in enumerate(read_sentences(text)) for one in _of_sentence(sentence, number)]


def _of_sentence(sentence: Sentence, number: int) -> Iterator[Statement]:
    words = sentence.words
    at = [_side(words, place) for place in range(len(words))]
    lent = _lent_sides(sentence, at) if any(at) else [_NO_SIDE] * len(sentence.mentions)
    for mention, (start, end), sides in zip(sentence.mentions, sentence.places, lent, strict=True):
        finding = _SAME.get(mention.concept, mention.concept)
        yield Statement(finding, mention, sides, words, number, start, end)


def _side(words: Sequence[str], place: int) -> frozenset[str]:
    if words[place] == "middle":  # only the right lung has a middle lobe
        return frozenset({"right"}) if words[place + 1 : place + 2] in (("lobe",), ("lobar",)) else _NO_SIDE
    return _NAMED_SIDES.get(words[place], _NO_SIDE)


class _Part(NamedTuple):
    """Words of a sentence between two that part it, and the mentions in it."""

    start: int
    end: int
    mentions: tuple[int, ...]


def _parts(sentence: Sentence) -> list[_Part]:
    inside = {place for start, end in sentence.places for place in range(start, end)}
    breaks = [place for place, word in enumerate(sentence.words) if word in _PARTING and place not in inside]
    parts: list[_Part] = []
    mention = 0
    for start, end in zip([0, *(place + 1 for place in breaks)], [*breaks, len(sentence.words)], strict=True):
        first = mention
        while mention < len(sentence.places) and sentence.places[mention][0] < end:
            mention += 1
        parts.append(_Part(start, end, tuple(range(first, mention))))
    return parts


def _lent_sides(sentence: Sentence, at: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The sides of each mention."""
    found = [_NO_SIDE] * len(sentence.mentions)
    waiting, last = _NO_SIDE, -1
    for part in _parts(sentence):
        if part.mentions:
            for number, sides in zip(part.mentions, _within(sentence, at, part), strict=True):
                found[number] = sides
            first = part.mentions[0]
            found[first] |= waiting
            if not found[first] and last >= 0 and sentence.words[part.start - 1] in _OF_THE_SAME:
                found[first] = found[last]
            waiting, last = _NO_SIDE, part.mentions[-1]
        elif not _has_predicate(sentence.words[part.start : part.end]):
            sides = _NO_SIDE.union(*at[part.start : part.end])
            if last < 0:
                waiting |= sides
            else:
                found[last] |= sides
    return found


def _has_predicate(words: Sequence[str]) -> bool:
    """Whether a part says something of its own; "there is" only leads to what comes."""
    return any(word in _PREDICATES and (not place or words[place - 1] != "there") for place, word in enumerate(words))


def _within(sentence: Sentence, at: Sequence[frozenset[str]], part: _Part) -> Iterator[frozenset[str]]:
    """The sides of the mentions of one part: before it, else after it, else those of the one before."""
    places = [sentence.places[number] for number in part.mentions]
    starts = [start for start, _ in places] + [part.end]
    begin, before = part.start, _NO_SIDE
    for number, (start, end) in enumerate(places):
        own = _NO_SIDE.union(*at[begin:start], *at[start:end])
        before = own or _NO_SIDE.union(*at[end : max(end, starts[number + 1])]) or before
        yield before
        begin = end
