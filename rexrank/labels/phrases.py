"""The phrases of findings.yaml and cues.yaml, and the tree in which the longest one at a place is found."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

from rexrank.labels.names import NAMES
from rexrank.labels.roles import Role

# Nodes are plain dicts from word to node; a node's meanings stand under a key that is no word.
_MEANING = ""
Node = dict[str, Any]
Slots = list[tuple[list[str], bool]]


class Meaning(NamedTuple):
    """What a phrase says.

    Attributes:
        role: What it does in its clause.
        label: Position of its class in ``NAMES``; -1 where it has none.
        concept: Which finding or part it is; empty for cues.
    """

    role: Role
    label: int = -1
    concept: str = ""


class Found(NamedTuple):
    """A phrase in a sentence.

    Attributes:
        meaning: What it says.
        start: Its first word.
        end: The word after its last.
        starts_anew: Whether its first word alone begins a positive remark ("bilateral effusions").
    """

    meaning: Meaning
    start: int
    end: int
    starts_anew: bool = False


def entries() -> Iterator[tuple[Meaning, Slots]]:
    """Every phrase of the two files: its meaning, and for each place its words and whether it may be empty."""
    findings, cues = _read("findings.yaml"), _read("cues.yaml")
    words = {f"{{{name}}}": alternatives for name, alternatives in cues["words"].items()}
    for role, phrases in cues["cues"].items():
        yield from _with_slots(Meaning(Role[role.upper()]), phrases, words)
    for key, role in (("findings", Role.FINDING), ("parts", Role.PART)):
        for name, concepts in findings[key].items():
            label = -1 if name == "none" else NAMES.index(name)
            for concept, phrases in concepts.items():
                yield from _with_slots(Meaning(role, label, concept), phrases, words)
    for concept, phrases in findings["other_findings"].items():
        yield from _with_slots(Meaning(Role.FINDING, -1, concept), phrases, words)
    yield from _with_slots(Meaning(Role.NOTHING), findings["nothing"], words)


def _read(name: str) -> dict[str, Any]:
    return yaml.safe_load(files("rexrank.labels").joinpath(name).read_text(encoding="utf-8"))


def _with_slots(
    meaning: Meaning, phrases: Sequence[str], word_lists: Mapping[str, str]
) -> Iterator[tuple[Meaning, Slots]]:
    for phrase in phrases:
        for name, alternatives in word_lists.items():
            phrase = phrase.replace(name, alternatives)
        yield meaning, [(slot.removesuffix("?").split("|"), slot.endswith("?")) for slot in phrase.split()]


def _add(node: Node, slots: Slots, meaning: Meaning) -> None:
    if not slots:
        node[_MEANING] = (*node.get(_MEANING, ()), meaning)
        return
    (words, optional), rest = slots[0], slots[1:]
    for word in words:
        _add(node.setdefault(word, {}), rest, meaning)
    if optional:
        _add(node, rest, meaning)


def tree() -> Node:
    """The tree of every phrase."""
    root: Node = {}
    for meaning, slots in entries():
        _add(root, slots, meaning)
    return root


def find(root: Mapping[str, Any], words: Sequence[str]) -> list[Found]:
    """The phrases of a sentence from left to right, the longest at each place; none shares a word with another.

    Takes time linear in the number of words: no phrase is longer than a few.
    """
    found: list[Found] = []
    position, count = 0, len(words)
    while position < count:
        node = root.get(words[position])
        start, position = position, position + 1
        if node is None:
            continue
        meanings, end, ahead = node.get(_MEANING, ()), position, position
        while ahead < count and (node := node.get(words[ahead])) is not None:
            ahead += 1
            if _MEANING in node:
                meanings, end = node[_MEANING], ahead
        if meanings:
            first = root[words[start]].get(_MEANING, ())
            starts_anew = any(meaning.role is Role.NEW_START for meaning in first)
            found += (Found(meaning, start, end, starts_anew) for meaning in meanings)
            position = end
    return found
