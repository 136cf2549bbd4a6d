"""Records of recent texts in memory, in front of the store on disk."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rexrank.encoders.encoder import Record
from rexrank.encoders.packing import text_key

if TYPE_CHECKING:
    from rexrank.encoders.store import Store

RECENT_BYTES = 2**29


class Records(Protocol):
    """What keeps the records of texts, by shelf and text."""

    def missing(self, shelf: str, texts: Sequence[str]) -> list[int]:
        """Positions of those texts that have no record."""

    def get(self, shelf: str, text: str) -> Record | None:
        """The record of a text, or None where there is none."""

    def put(self, shelf: str, records: Iterable[tuple[str, Record]]) -> None:
        """Keep records of texts."""

    def close(self) -> None:
        """Let go of all."""


class Recent:
    """Keeps what was made lately in memory, and on disk only what is made of texts that come again.

    A model in training writes thousands of texts a minute, and hardly one of them twice; their references come again
    in every epoch. Not for several threads at once.
    """

    def __init__(self, store: "Store | None", limit_bytes: int = RECENT_BYTES) -> None:
        """Stand before a store.

        Args:
            store: Takes the records of lasting texts; None where nothing goes to disk.
            limit_bytes: What may stay in memory between two calls of `trim`.
        """
        self._store = store
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[tuple[str, bytes], Record] = OrderedDict()
        self._bytes = 0
        self._lasting: frozenset[str] = frozenset()

    def begin(self, lasting: Iterable[str]) -> None:
        """Name the texts whose records go to disk too, until the next call."""
        self._lasting = frozenset(lasting)

    def missing(self, shelf: str, texts: Sequence[str]) -> list[int]:
        """Positions of those texts that have no record in either place."""
        absent = [at for at, text in enumerate(texts) if (shelf, text_key(text)) not in self._kept]
        if self._store is None or not absent:
            return absent
        return [absent[at] for at in self._store.missing(shelf, [texts[at] for at in absent])]

    def get(self, shelf: str, text: str) -> Record | None:
        """The record of a text, or None where there is none."""
        place = shelf, text_key(text)
        if place in self._kept:
            self._kept.move_to_end(place)
            return self._kept[place]
        record = self._store.get(shelf, text) if self._store else None
        if record is not None:
            self._keep(place, record)
        return record

    def put(self, shelf: str, records: Iterable[tuple[str, Record]]) -> None:
        """Keep records of texts, those of lasting ones on disk too."""
        passing = self._passing(shelf, records)
        if self._store is not None:
            self._store.put(shelf, passing)
        for _ in passing:  # where there is no store, all are for memory alone
            pass

    def _passing(self, shelf: str, records: Iterable[tuple[str, Record]]) -> Iterator[tuple[str, Record]]:
        """Keep each record, and hand on those of lasting texts."""
        for text, record in records:
            self._keep((shelf, text_key(text)), record)
            if text in self._lasting:
                yield text, record

    def _keep(self, place: tuple[str, bytes], record: Record) -> None:
        # A view would hold the arrays of its whole batch in memory.
        own = {name: np.array(values) for name, values in record.items()}
        self._bytes += _size(own) - _size(self._kept.pop(place, {}))
        self._kept[place] = own

    def trim(self) -> None:
        """Let go of the records that were not used for longest, down to the limit.

        It is for the caller to say when, so that no record goes while a score still reads it.
        """
        while self._bytes > self._limit_bytes:
            self._bytes -= _size(self._kept.popitem(last=False)[1])

    def close(self) -> None:
        """Let go of all."""
        self._kept.clear()
        self._bytes = 0
        if self._store is not None:
            self._store.close()


def _size(record: Record) -> int:
    return sum(values.nbytes for values in record.values())
