"""The pieces of a report's words, and how they stand before RadGraph's encoder.

As radgraph 0.1.18 does it with its copy of AllenNLP: each word is taken apart alone, and the pieces of a report are cut
into parts that are encoded one by one, each between two marks and from position 0 on, without regard to words.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rexrank.encoders.encoder import EncoderFailure
from rexrank.encoders.radgraph_words import encoded_word

Integers = NDArray[np.int64]
Pieces = Sequence[int]


class Marks(NamedTuple):
    """Tokens at both ends of what is encoded together.

    Attributes:
        first: Id of the one in front.
        last: Id of the one behind.
        written: Whether they are there at all. The original asks the tokenizer to put them, and a tokenizer without a
            class of its own, as that of ModernBERT, puts none; yet it looks for each piece behind one.
    """

    first: int
    last: int
    written: bool


class Layout(NamedTuple):
    """How a report stands before the encoder.

    Attributes:
        rows: Token ids of each part.
        places: Where the vector of each piece stands, int64 [pieces]: row times the most tokens of a row, plus column.
        lengths: Number of these pieces of each word, int64 [words].
    """

    rows: list[list[int]]
    places: Integers
    lengths: Integers


def pieces_of(tokenizer: Any, words: Iterable[str]) -> dict[str, list[int]]:
    """Ids of the pieces of words; of some there are none.

    Args:
        tokenizer: Of transformers.
        words: As the graph shows them.
    """
    known = list(dict.fromkeys(words))
    if not known:
        return {}
    # Half a surrogate pair is no character, and counts for nothing as control characters do.
    encoded = tokenizer(
        [encoded_word(word).encode("utf-8", "surrogatepass").decode("utf-8", "replace") for word in known],
        add_special_tokens=False,
        padding=False,
        truncation=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    return dict(zip(known, encoded["input_ids"], strict=True))


def marks_of(tokenizer: Any, repo: str) -> Marks:
    """The marks that a tokenizer puts around a text.

    Args:
        tokenizer: Of transformers.
        repo: Where it is from, for messages.

    Raises:
        EncoderFailure: It puts something else than one token at each end.
    """
    from transformers import PreTrainedTokenizerFast

    bare, marked = (tokenizer("a", add_special_tokens=put)["input_ids"] for put in (False, True))
    if marked[1:-1] != bare or len(marked) != len(bare) + 2:
        raise EncoderFailure(f"the tokenizer of {repo} puts no mark at each end of a text; get the published files")
    return Marks(marked[0], marked[-1], written=type(tokenizer) is not PreTrainedTokenizerFast)


def tokens_in(words: Sequence[Pieces], marks: Marks, max_length: int) -> int:
    """Tokens that the encoder reads of a report."""
    pieces = sum(map(len, words))
    return pieces + 2 * math.ceil(pieces / (max_length - 2)) if marks.written else pieces


def lay_out(words: Sequence[Pieces], marks: Marks, max_length: int) -> Layout:
    """Lay out the pieces of a report.

    Args:
        words: Ids of the pieces of each word.
        marks: Of the tokenizer.
        max_length: Most tokens of a row, with the marks.
    """
    pieces = list(chain.from_iterable(words))
    tokens = pieces
    if marks.written:
        room = max_length - 2
        parts = (pieces[start : start + room] for start in range(0, len(pieces), room))
        tokens = [token for part in parts for token in (marks.first, *part, marks.last)]
    rows = [tokens[start : start + max_length] for start in range(0, len(tokens), max_length)]
    places = _places(len(pieces), len(tokens), max_length)
    word_of_piece = np.repeat(np.arange(len(words)), [len(word) for word in words])[: len(places)]
    return Layout(rows, places, np.bincount(word_of_piece, minlength=len(words)))


def _places(pieces: int, tokens: int, max_length: int) -> Integers:
    """Where the vectors of pieces stand among the tokens of all rows, one row after another.

    The original leaves out the first and the last vector of each row, but keeps the very first and the very last, and
    takes the vector at i + 1 of these for piece i. Without marks that is the vector of another piece, and there is none
    for the last pieces, which then are left out here too.
    """
    last = tokens - 2 * math.ceil(tokens / max_length) + 1
    numbers = np.arange(max(min(pieces, last), 0))
    room = max_length - 2
    places = numbers // room * max_length + 1 + numbers % room
    places[numbers + 1 == last] = tokens - 1
    return places
