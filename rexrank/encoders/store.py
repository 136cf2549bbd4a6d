"""Records of texts on disk, so that no text is encoded twice."""

import os
from collections.abc import Iterable, Sequence
from types import TracebackType

from rexrank.encoders.encoder import Record

DEFAULT_LIMIT_BYTES = 20 * 2**30


class Store:
    """Records by shelf and text; safe under several processes and kill -9, bounded, and never trusted blindly.

    A shelf is one encoder with its files. Only digests of texts are kept, never a text.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        """Open a store.

        Args:
            folder: Where it lies, made when missing; None for one that is gone when it is closed.
            limit_bytes: What it may hold; the records that were not used for longest go first.

        Raises:
            OSError: The folder cannot be written.
        """
        raise NotImplementedError

    def missing(self, shelf: str, texts: Sequence[str]) -> list[int]:
        """Positions of those texts that have no record; the records of the others are kept until `close`."""
        raise NotImplementedError

    def get(self, shelf: str, text: str) -> Record | None:
        """The record of a text, or None where there is none or it is damaged."""
        raise NotImplementedError

    def put(self, shelf: str, records: Iterable[tuple[str, Record]]) -> None:
        """Keep records of texts; all of them are on disk when it returns."""
        raise NotImplementedError

    def close(self) -> None:
        """Bring the store within its limit and let go of it."""
        raise NotImplementedError

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
