"""What an edit is: the places of a report that it could change, of which a seeded choice is changed."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from rexrank.validity.edits.sentences import Sentence, sentences

Kind = Literal["harmful", "harmless"]
Item = TypeVar("Item")
Span = tuple[int, int, str]
"""From a character, up to a character, and what comes to stand there."""


class Chance:
    """Choices that are the same in every version of Python, which promises that of `random()` alone."""

    def __init__(self, *seeds: object) -> None:
        """Equal seeds choose alike."""
        self._random = random.Random("\0".join(map(str, seeds)))

    def below(self, end: int) -> int:
        """A number from 0 to ``end`` - 1."""
        return int(self._random.random() * end)

    def choice(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Iterable[Item]) -> list[Item]:
        """The items in a random order."""
        listed = list(items)
        for last in range(len(listed) - 1, 0, -1):
            other = self.below(last + 1)
            listed[last], listed[other] = listed[other], listed[last]
        return listed


@dataclass(frozen=True)
class Change:
    """One change of meaning, or of look: spans that are replaced together, in the order of the text."""

    spans: tuple[Span, ...]

    @classmethod
    def of(cls, start: int, end: int, text: str) -> "Change":
        """The change that replaces one span."""
        return cls(((start, end, text),))


@dataclass(frozen=True)
class Report:
    """A report that is edited.

    Attributes:
        text: As it stands.
        sentences: Where its sentences are.
    """

    text: str
    sentences: tuple[Sentence, ...]

    @classmethod
    def of(cls, text: str) -> "Report":
        """Read where the sentences of a text are."""
        return cls(text, tuple(sentences(text)))

    def said(self) -> Iterator[tuple[Sentence, str]]:
        """Each sentence with its text."""
        for one in self.sentences:
            yield one, self.text[one.start : one.end]


@dataclass(frozen=True)
class Edit:
    """One kind of edit.

    Attributes:
        name: As options, tables and files have it.
        kind: ``harmful`` changes what the report says of the patient, ``harmless`` only how it is said.
        description: What is changed, in one sentence.
        changes: The places that could be changed, in the order of the text. They do not overlap.
        most: Places that are changed at most; None for all.
    """

    name: str
    kind: Kind
    description: str
    changes: Callable[[Report, Chance], Sequence[Change]]
    most: int | None = None

    def places(self, report: Report, seed: int) -> list[Change]:
        """The places that this edit may change, in a seeded order; a prefix of them is a smaller dose of the same."""
        chance = Chance(self.name, seed, report.text)
        return chance.shuffled(self.changes(report, chance))[: self.most]


def edited(text: str, changes: Iterable[Change]) -> str:
    """The text with the changes made; all positions are those of the text as it came."""
    spans = sorted(span for change in changes for span in change.spans)
    parts, done = [], 0
    for start, end, new in spans:
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])
