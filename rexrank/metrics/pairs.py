"""The texts of one call, and their tokens as numbers, made once for all metrics of the call."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rexrank.metrics.features import Features, PairFeatures, TextFeatures, by_reference
from rexrank.metrics.outcome import Flags
from rexrank.metrics.tokenizers import Tokenizer
from rexrank.reports.scripts import outside_latin
from rexrank.reports.studies import is_blank

Integers = NDArray[np.int64]

_DROPPED = -1


@dataclass(frozen=True)
class Rows:
    """Token numbers of many texts in one array.

    Attributes:
        ids: Token numbers of all texts, one after the other, int64 [tokens].
        bounds: Where each text begins and the last one ends, int64 [texts + 1].
    """

    ids: Integers
    bounds: Integers

    @cached_property
    def lengths(self) -> Integers:
        """Number of tokens of each text, int64 [texts]."""
        return np.diff(self.bounds)

    def take(self, chosen: Integers) -> "Rows":
        """The chosen texts, which may repeat, in the order given."""
        lengths = self.lengths[chosen]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(bounds[-1]) + np.repeat(self.bounds[chosen] - bounds[:-1], lengths)
        return Rows(self.ids[at], bounds)


@dataclass(frozen=True)
class PairTokens:
    """Tokens of every prediction and reference; equal numbers mean equal tokens.

    Attributes:
        predictions: One row a study.
        references: One row a reference; those of one study follow each other.
        first_reference: First reference row of each study and the end, int64 [n + 1].
        words: The distinct tokens, by their numbers.
    """

    predictions: Rows
    references: Rows
    first_reference: Integers
    words: tuple[str, ...]

    @property
    def vocabulary(self) -> int:
        """Number of distinct tokens."""
        return len(self.words)

    @cached_property
    def owners(self) -> Integers:
        """Study of each reference row, int64 [references]."""
        return np.repeat(np.arange(len(self.first_reference) - 1), np.diff(self.first_reference))

    @property
    def single(self) -> bool:
        """Whether every study has exactly one reference."""
        return len(self.references.lengths) == len(self.predictions.lengths)

    def by_reference(self) -> "PairTokens":
        """Each reference as a pair of its own with the prediction of its study."""
        if self.single:
            return self
        first = np.arange(len(self.owners) + 1)
        return PairTokens(self.predictions.take(self.owners), self.references, first, self.words)


class _Vocabulary(dict[str, int]):
    """Numbers tokens as they come; tokens that normalise alike share a number."""

    def __init__(self, normalise: Callable[[str], str | None] | None) -> None:
        self.normalise = normalise
        self.numbers: dict[str, int] = {}

    def __missing__(self, token: str) -> int:
        kept = self.normalise(token) if self.normalise else token
        number = _DROPPED if kept is None else self.numbers.setdefault(kept, len(self.numbers))
        self[token] = number
        return number


def _rows(texts: Iterable[str], tokenizer: Tokenizer, vocabulary: _Vocabulary) -> Rows:
    known: dict[str, list[int]] = {}
    rows: list[list[int]] = []
    for text in texts:
        row = known.get(text)
        if row is None:
            row = list(map(vocabulary.__getitem__, tokenizer.split(text)))
            if tokenizer.normalise is not None:
                row = [number for number in row if number != _DROPPED]
            known[text] = row
        rows.append(row)
    bounds = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    return Rows(np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(bounds[-1])), bounds)


def canonical(text: str) -> str:
    """NFC, every run of white space one space, none at the ends."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _identical(one: str, other: str) -> bool:
    if one == other:
        return True
    if one.isascii() and other.isascii() and one.split(None, 3)[:3] != other.split(None, 3)[:3]:
        return False  # spares most pairs the full comparison
    return canonical(one) == canonical(other)


@dataclass
class Pairs:
    """Predictions with their references, checked, aligned by position.

    Attributes:
        predictions: One text a study.
        references: The reference texts of each study, at least one.
        features: What encoders and judges made of them, by name.
        places: Where each stands in the call, for messages (``[3][0]``); empty where that is its position.
    """

    predictions: Sequence[str]
    references: Sequence[tuple[str, ...]]
    features: Mapping[str, Features] = field(default_factory=dict, repr=False)
    places: Sequence[str] = ()
    _tokens: dict[str, PairTokens] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.predictions)

    def tokens(self, tokenizer: Tokenizer) -> PairTokens:
        """Tokens of both sides; made once for each tokeniser."""
        if tokenizer.name not in self._tokens:
            vocabulary = _Vocabulary(tokenizer.normalise)
            predictions = _rows(self.predictions, tokenizer, vocabulary)
            references = _rows(chain.from_iterable(self.references), tokenizer, vocabulary)
            self._tokens[tokenizer.name] = PairTokens(
                predictions, references, self.first_references, tuple(vocabulary.numbers)
            )
        return self._tokens[tokenizer.name]

    @cached_property
    def blank_predictions(self) -> Flags:
        """Which predictions show nothing, bool [n]."""
        return np.array([is_blank(text) for text in self.predictions], dtype=bool)

    @cached_property
    def blank_references(self) -> Flags:
        """Which studies have no visible reference, bool [n]."""
        return np.array([all(map(is_blank, texts)) for texts in self.references], dtype=bool)

    @cached_property
    def foreign_predictions(self) -> Flags:
        """Which predictions are written in another script than Latin, bool [n]."""
        return np.array([outside_latin(text) for text in self.predictions], dtype=bool)

    @cached_property
    def foreign_references(self) -> Flags:
        """Which studies have no visible reference in Latin script, bool [n]."""
        visible = [[text for text in texts if not is_blank(text)] for texts in self.references]
        return np.array([bool(texts) and all(map(outside_latin, texts)) for texts in visible], dtype=bool)

    def text_features(self, name: str) -> TextFeatures:
        """Features of each text, which `compute` has made sure to be there."""
        found = self.features[name]
        assert isinstance(found, TextFeatures)
        return found

    def pair_features(self, name: str) -> Sequence[Any]:
        """Features of each study, which `compute` has made sure to be there."""
        found = self.features[name]
        assert isinstance(found, PairFeatures)
        return found.of_single_references()

    def place(self, position: int) -> str:
        """Where a study, or one of its references, stands in the call."""
        return self.places[position] if self.places else f"[{position}]"

    @cached_property
    def first_references(self) -> Integers:
        """Number of the first reference of each study and the end, int64 [n + 1]."""
        return np.concatenate([[0], np.cumsum([len(texts) for texts in self.references], dtype=np.int64)])

    @property
    def has_several(self) -> bool:
        """Whether a study has more than one reference."""
        return int(self.first_references[-1]) > len(self)

    def by_reference(self, features: Iterable[str]) -> "Pairs":
        """Each reference as a study of its own, with the prediction of its study.

        Args:
            features: Names of the features that go along.

        Raises:
            InvalidCall: A feature of pairs has one item for a study with several references; names the first.
        """
        counts = np.diff(self.first_references).tolist()
        predictions = [text for text, count in zip(self.predictions, counts, strict=True) for _ in range(count)]
        references = [(text,) for texts in self.references for text in texts]
        carried = {name: by_reference(name, self.features[name], counts) for name in features}
        places = [
            f"[{position}]" if count == 1 else f"[{position}][{one}]"
            for position, count in enumerate(counts)
            for one in range(count)
        ]
        return Pairs(predictions, references, carried, places)

    @cached_property
    def identical(self) -> Flags:
        """Where the prediction equals a reference after canonicalisation and is not blank, bool [n]."""
        same = [
            any(_identical(p, r) for r in texts) for p, texts in zip(self.predictions, self.references, strict=True)
        ]
        return np.array(same, dtype=bool) & ~self.blank_predictions
