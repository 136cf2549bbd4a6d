"""Labels of reports: the words of each class, and what their clauses say of them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rexrank.errors import WrongType
from rexrank.labels import phrases
from rexrank.labels.context import Item, read
from rexrank.labels.names import BLANK, NAMES, NEGATIVE, POSITIVE, UNCERTAIN
from rexrank.labels.sentences import END, sentences, words

_DEVICES, _NO_FINDING = NAMES.index("Support Devices"), NAMES.index("No Finding")
_COLUMNS = len(NAMES) + 2
_OTHER, _SAYS_SOMETHING = len(NAMES), len(NAMES) + 1
# Of several mentions the most telling counts; statuses are kept as ranks until the end.
_RANK = {BLANK: 0, NEGATIVE: 1, UNCERTAIN: 2, POSITIVE: 3}
_CODE = np.array([BLANK, NEGATIVE, UNCERTAIN, POSITIVE], dtype=np.int8)
_REMEMBERED = 1 << 15
_REMEMBERED_CHARACTERS = 400


class Mention(NamedTuple):
    """One place where a report speaks of a finding.

    Attributes:
        name: Its class; None for a finding outside the fourteen.
        concept: Which of the findings of the class.
        status: Code of a label; 0 where it is history, asked for, or a part of which nothing is said.
        phrase: The words that name it, lower-case.
        cue: The words that decided its status; empty where nothing did.
    """

    name: str | None
    concept: str
    status: int
    phrase: str
    cue: str


class Sentence(NamedTuple):
    """One sentence of a report and the findings that it speaks of.

    Attributes:
        words: Its words, lower-case, with commas, colons, slashes and question marks.
        mentions: Its mentions, from left to right.
        places: First word of each mention's phrase and the word after its last.
    """

    words: tuple[str, ...]
    mentions: tuple[Mention, ...]
    places: tuple[tuple[int, int], ...]


def label(texts: Iterable[str]) -> npt.NDArray[np.int8]:
    """Label reports with CheXpert's fourteen classes by rules.

    Of several mentions of a class a positive one counts before an uncertain one, and that before a negative one. No
    Finding is positive where nothing but devices is positive or uncertain, findings outside the classes included; a
    text without a word has no label at all.

    Args:
        texts: English reports of chest radiographs. Where one has headers, its findings and impression are read.

    Returns:
        int8 [n, 14] in the order of ``NAMES``: 0 blank, 1 positive, 2 negative, 3 uncertain; No Finding is 0 or 1.

    Raises:
        WrongType: Not a list of texts.
    """
    checked = _checked(texts)
    rows: list[bytes] = []
    starts: list[int] = []
    for text in checked:
        starts.append(len(rows))
        rows += map(_ranks, sentences(text))
        rows.append(bytes(_COLUMNS))
    if not checked:
        return np.zeros((0, len(NAMES)), dtype=np.int8)
    ranks = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, _COLUMNS)
    ranks = np.maximum.reduceat(ranks, starts, axis=0)
    labels = _CODE[ranks[:, : len(NAMES)]]
    found = ranks[:, : len(NAMES) + 1] >= _RANK[UNCERTAIN]
    found[:, _DEVICES] = False
    labels[:, _NO_FINDING] = np.where(~found.any(axis=1) & (ranks[:, _SAYS_SOMETHING] > 0), POSITIVE, BLANK)
    return labels


def mentions(text: str) -> list[Mention]:
    """Every mention of a finding in a report, in the order of the text: why its labels are what they are.

    Raises:
        WrongType: Not a text.
    """
    return [mention for sentence in read_sentences(text) for mention in sentence.mentions]


def read_sentences(text: str) -> list[Sentence]:
    """The sentences of a report with the place of each mention, for what depends on the words around it.

    Raises:
        WrongType: Not a text.
    """
    if not isinstance(text, str):
        raise WrongType(f"text: expected str, got {type(text).__name__}")
    return list(map(_sentence, sentences(text)))


def _sentence(sentence: str) -> Sentence:
    return _kept_sentence(sentence) if len(sentence) <= _REMEMBERED_CHARACTERS else _read_sentence(sentence)


def _read_sentence(sentence: str) -> Sentence:
    tokens = [*words(sentence), END]
    items = read(phrases.find(_tree(), tokens))
    return Sentence(
        words=tuple(tokens[:-1]),
        mentions=tuple(_mention(item, tokens) for item in items),
        places=tuple((item.start, item.end) for item in items),
    )


def _mention(item: Item, tokens: Sequence[str]) -> Mention:
    start, end = item.cue_words
    return Mention(
        name=NAMES[item.label] if item.label >= 0 else None,
        concept=item.concept,
        status=item.status,
        phrase=" ".join(tokens[item.start : item.end]),
        cue=" ".join(tokens[start:end]),
    )


_tree = cache(phrases.tree)
_kept_sentence = lru_cache(maxsize=_REMEMBERED)(_read_sentence)


def _ranks(sentence: str) -> bytes:
    """Rank of every class in a sentence, of the findings outside the classes, and whether there is a word."""
    # Reports repeat each other's sentences; only those of a usual length are kept, so memory stays bounded.
    return _kept_ranks(sentence) if len(sentence) <= _REMEMBERED_CHARACTERS else _read_ranks(sentence)


def _read_ranks(sentence: str) -> bytes:
    tokens = words(sentence)
    ranks = bytearray(_COLUMNS)
    ranks[_SAYS_SOMETHING] = any(map(str.isalpha, tokens))
    tokens.append(END)
    for item in read(phrases.find(_tree(), tokens)):
        column = item.label if item.label >= 0 else _OTHER
        ranks[column] = max(ranks[column], _RANK[item.status])
    return bytes(ranks)


_kept_ranks = lru_cache(maxsize=_REMEMBERED)(_read_ranks)


def _checked(texts: Any) -> list[str]:
    if isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Iterable):
        raise WrongType(f"texts: expected a list of texts, got {type(texts).__name__}; put a single text into a list")
    listed = list(texts)
    for position, text in enumerate(listed):
        if not isinstance(text, str):
            raise WrongType(f"texts[{position}]: expected str, got {type(text).__name__}")
    return listed
