"""Records of texts on disk, so that no text is encoded twice."""

import logging
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from rexrank.encoders.database import COARSE_SECONDS, LARGEST_RECORD, Database, Reason, Row, Unavailable
from rexrank.encoders.encoder import EncoderFailure, Record
from rexrank.encoders.packing import Damaged, checksum, pack, text_key, unpack
from rexrank.encoders.runs import Run, oldest_run, sweep_temporary, temporary_folder
from rexrank.environment import positive_number
from rexrank.files import user_path

DEFAULT_LIMIT_BYTES = 20 * 2**30
PATIENCE_SECONDS = 30.0

_GIBIBYTE = 2**30
_BATCH_BYTES = 2**26
_BATCH_SECONDS = 10.0
# What stays free on the disk: the score card has to be written too.
_LEFT_FREE_BYTES = 2**28
_MEMORY_BYTES = 2**30
# How far beyond its limit a store may grow before it is brought back during a run.
_MUCH = 1.25
_CLOSING_SECONDS = 120.0
# After the others have kept the file too long, they are given this time before they are asked again.
_BACK_OFF = 4
_NEVER = float("inf")
_MOST_DAMAGED = 10
_WHY: dict[Reason, str] = {
    "busy": "other processes hold it",
    "full": "no room is left",
    "unusable": "it cannot be used",
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Batch:
    """Records that were put together.

    Attributes:
        texts: Their texts.
        on_disk: Whether every process that opens the store can read them; otherwise this one alone, if any.
    """

    texts: Sequence[str]
    on_disk: bool


class Store:
    """Records by shelf and text; safe under several processes and kill -9, bounded, and never trusted blindly.

    A shelf is one encoder with its files. Only digests of texts are kept, never a text. Nothing that befalls the disk
    ends a run: what cannot be written is kept elsewhere until `close`, and what cannot be read is missing.

    Attributes:
        folder: Where it lies.
        limit_bytes: What it may hold.
        patience_seconds: How long a call may wait for other processes.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
        patience_seconds: float = PATIENCE_SECONDS,
        keeps_elsewhere: bool = True,
    ) -> None:
        """Open a store.

        Args:
            folder: Where it lies, made when missing; None for one that is gone when it is closed.
            limit_bytes: What it may hold; the records that were not used for longest go first, those that a run
                needs that is still going on never.
            patience_seconds: How long a call may wait for other processes.
            keeps_elsewhere: Whether what cannot be written is kept in the temporary folder or in memory.

        Raises:
            OSError: The folder cannot be written.
        """
        self._is_temporary = folder is None
        self._is_closed = False
        self.limit_bytes = limit_bytes
        self._keeps_elsewhere = keeps_elsewhere
        self.patience_seconds = patience_seconds
        self._lock = threading.RLock()
        self._spare: Store | None = None
        self._memory: dict[tuple[str, bytes], bytes] = {}
        self._memory_bytes = 0
        self._reads_from = self._writes_from = 0.0
        self._damaged = 0
        self._warned: set[str] = set()
        wanted = Path(tempfile.gettempdir()) if folder is None else user_path(folder)
        try:
            self.folder = self._made(None if folder is None else wanted)
            self._run = Run(self.folder)
            self._database = Database(self.folder, patience_seconds, self._say_renewed)
            self._open()
        except OSError as error:
            reason = error.strerror or str(error)
            raise OSError(
                f"features cannot be kept in {wanted} ({reason}); name a folder of yours (--cache-dir, REXRANK_CACHE)"
            ) from None

    def missing(self, shelf: str, texts: Sequence[str]) -> list[int]:
        """Positions of those texts that have no record; the records of the others are kept until `close`."""
        with self._lock:
            keys = [text_key(text) for text in texts]
            found = self._used_at(shelf, keys)
            old = time.time() - COARSE_SECONDS
            self._touch(
                shelf, [key for key, used_at in found.items() if not (isinstance(used_at, int) and used_at > old)]
            )
            absent = [at for at, key in enumerate(keys) if key not in found and (shelf, key) not in self._memory]
            if self._spare is None or not absent:
                return absent
            return [absent[at] for at in self._spare.missing(shelf, [texts[at] for at in absent])]

    def get(self, shelf: str, text: str) -> Record | None:
        """The record of a text, or None where there is none or it is damaged: also where `missing` did not name it."""
        with self._lock:
            key = text_key(text)
            packed = self._memory.get((shelf, key)) or self._read(shelf, key)
            if packed is not None:
                try:
                    return unpack(packed)
                except Damaged:
                    self._remove(shelf, key)
            return self._spare.get(shelf, text) if self._spare else None

    def put(self, shelf: str, records: Iterable[tuple[str, Record]]) -> None:
        """Keep records of texts; all of them are on disk when it returns, or where that cannot be, in this process.

        Args:
            shelf: Where.
            records: Text and record; taken one after another, and written in batches, so that few are in memory.
        """
        for _ in self.put_in_batches(shelf, records):
            pass

    def put_in_batches(self, shelf: str, records: Iterable[tuple[str, Record]]) -> Iterator[Batch]:
        """Keep records of texts, as `put`, and tell of each batch when it is kept.

        Where `records` fails, those that it gave are kept first.

        Yields:
            The batches, in the order of the records.
        """
        texts: list[str] = []
        rows: list[Row] = []
        size, since = 0, time.monotonic()
        try:
            for text, record in records:
                packed, key = pack(record), text_key(text)
                texts.append(text)
                rows.append((key, checksum(shelf, key, packed), packed))
                size += len(packed)
                if size >= _BATCH_BYTES or time.monotonic() - since >= _BATCH_SECONDS:
                    batch, texts, kept, rows = texts, [], rows, []
                    yield Batch(batch, self._keep(shelf, kept))
                    size, since = 0, time.monotonic()
        except BaseException:
            if rows:
                self._keep(shelf, rows)
            raise
        if rows:
            yield Batch(texts, self._keep(shelf, rows))

    def close(self) -> None:
        """Bring the store within its limit and let go of it; what was kept elsewhere is gone."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._run.end()
            if not self._is_temporary and time.monotonic() >= self._writes_from:
                self._shrink(self.limit_bytes, time.monotonic() + _CLOSING_SECONDS)
            self._database.close()
            if self._is_temporary:
                self._remove_temporary()
            if self._spare is not None:
                self._spare.close()
                self._spare = None
            self._memory.clear()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _made(self, folder: Path | None) -> Path:
        if folder is None:
            sweep_temporary()
            made = temporary_folder()
            self._remove_temporary = weakref.finalize(self, shutil.rmtree, made, ignore_errors=True)
        else:
            made = folder
            made.mkdir(mode=0o700, parents=True, exist_ok=True)
        return made.resolve()

    def _open(self) -> None:
        try:
            self._database.open()
        except Unavailable as unavailable:
            if unavailable.reason != "busy":
                self._run.end()
                raise OSError(str(unavailable)) from None
            self._note(unavailable)

    def _used_at(self, shelf: str, keys: Sequence[bytes]) -> dict[bytes, int]:
        if time.monotonic() < self._reads_from:
            return {}
        try:
            return self._database.used_at(shelf, keys)
        except Unavailable as unavailable:
            self._note(unavailable)
            return {}

    def _touch(self, shelf: str, keys: Sequence[bytes]) -> None:
        if keys and time.monotonic() >= self._writes_from:
            try:
                self._database.touch(shelf, keys)
            except Unavailable as unavailable:
                self._note(unavailable, writing=True)

    def _read(self, shelf: str, key: bytes) -> bytes | None:
        if time.monotonic() < self._reads_from:
            return None
        try:
            found = self._database.read(shelf, key)
        except Unavailable as unavailable:
            self._note(unavailable)
            return None
        if found is None:
            return None
        expected, packed = found
        if checksum(shelf, key, packed) == expected:
            return packed
        self._remove(shelf, key)
        return None

    def _remove(self, shelf: str, key: bytes) -> None:
        """Let go of a damaged record, or of all, where so many are that the file itself cannot be sound."""
        self._warn("damaged", "a record of %s was damaged and is made anew", self.folder)
        self._damaged += 1
        try:
            if self._damaged > _MOST_DAMAGED:
                self._damaged = 0
                self._database.renew()
            else:
                self._database.remove(shelf, key)
        except Unavailable as unavailable:
            self._note(unavailable, writing=True)

    def _keep(self, shelf: str, rows: Sequence[Row]) -> bool:
        """Keep records on disk, else in the temporary folder, else in memory; whether they are on disk."""
        with self._lock:
            if self._write(shelf, rows):
                return True
            if not self._keeps_elsewhere:
                return False
            if not self._is_temporary and self._spare is None:
                self._spare = _temporary()
            if self._spare is None or not self._spare._write(shelf, rows):
                self._remember(shelf, rows)
            return False

    def _write(self, shelf: str, rows: Sequence[Row]) -> bool:
        if time.monotonic() < self._writes_from or any(len(packed) > LARGEST_RECORD for _, _, packed in rows):
            return False
        try:
            self._check_room(sum(len(packed) for _, _, packed in rows))
            self._database.write(shelf, rows)
            if not self._is_temporary and self._database.size() > self.limit_bytes * _MUCH:
                self._shrink(self.limit_bytes, time.monotonic() + self.patience_seconds)
        except Unavailable as unavailable:
            self._note(unavailable, writing=True)
            return False
        return True

    def _check_room(self, size: int) -> None:
        try:
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            raise Unavailable("unusable", error.strerror or type(error).__name__) from None
        # The journal holds what is written a second time.
        if free < 2 * size + _LEFT_FREE_BYTES:
            raise Unavailable("full", f"{free // 2**20:,} MiB free")

    def _remember(self, shelf: str, rows: Sequence[Row]) -> None:
        for key, _, packed in rows:
            if self._memory_bytes + len(packed) > _MEMORY_BYTES:
                self._warn("memory", "features are made again when needed: neither disk nor memory has room for them")
                return
            self._memory[shelf, key] = packed
            self._memory_bytes += len(packed)

    def _shrink(self, limit_bytes: int, deadline: float) -> None:
        try:
            oldest = oldest_run(self.folder)
            self._database.shrink(limit_bytes, oldest - COARSE_SECONDS, deadline)
        except Unavailable as unavailable:
            self._note(unavailable, writing=True)

    def _note(self, unavailable: Unavailable, writing: bool = False) -> None:
        """Leave the file alone for a while, or for good, so that no call waits for what an earlier one waited for."""
        later = time.monotonic() + _BACK_OFF * self.patience_seconds
        if not writing:
            self._reads_from = later
        elif unavailable.reason == "busy":
            self._writes_from = later
        else:
            self._writes_from = _NEVER
        self._warn(
            f"{unavailable.reason} {writing}",
            "features are not %s %s: %s (%s)",
            "kept in" if writing else "taken from",
            self.folder,
            _WHY[unavailable.reason],
            unavailable,
        )

    def _say_renewed(self) -> None:
        self._warn("renewed", "the file of features in %s was damaged; it starts anew", self.folder)

    def _warn(self, about: str, message: str, *values: object) -> None:
        if about not in self._warned:
            self._warned.add(about)
            _log.warning(message, *values)


def open_store(folder: str | os.PathLike[str] | None, limit_bytes: int) -> Store:
    """The store that is asked for, or where it cannot be written, with a warning, one that is gone after the run.

    Args:
        folder: Where it lies; None for `default_folder`.
        limit_bytes: What it may hold.

    Raises:
        EncoderFailure: Not even the temporary folder can be written.
    """
    try:
        return Store(folder or default_folder(), limit_bytes)
    except OSError as error:
        _log.warning("%s", error)
    try:
        return Store(None)
    except OSError as error:
        raise EncoderFailure(str(error)) from None


def default_folder() -> Path:
    """Where features are kept, unless the caller says otherwise.

    ``REXRANK_CACHE``, else ``features`` in ``REXRANK_HOME``, else ``rexrank/features`` in the user's cache folder.

    Raises:
        OSError: None is set, and the user has no home folder.
    """
    if chosen := os.environ.get("REXRANK_CACHE"):
        return user_path(chosen)
    if home := os.environ.get("REXRANK_HOME"):
        return user_path(home) / "features"
    try:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        raise OSError("there is no home folder to keep features in; set REXRANK_CACHE to a folder") from None
    return caches / "rexrank" / "features"


def limit_from_environment() -> int:
    """Bytes that a store may hold: ``REXRANK_CACHE_LIMIT_GB``, in units of 2**30 bytes, else 20 of them.

    Raises:
        WrongSetting: It is set to something else than a positive number.
    """
    return int(positive_number("REXRANK_CACHE_LIMIT_GB", DEFAULT_LIMIT_BYTES / _GIBIBYTE) * _GIBIBYTE)


def _temporary() -> Store | None:
    """A store in the temporary folder, or None where there is no room for one."""
    try:
        return Store(None)
    except OSError:
        return None
