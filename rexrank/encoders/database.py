"""The SQLite file of the store: whole after kill -9, renewed when damaged, and never waited for without end."""

import contextlib
import mmap
import os
import re
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeVar
from urllib.parse import quote

T = TypeVar("T")

Reason = Literal["busy", "full", "unusable"]
Row = tuple[bytes, bytes, bytes]
"""Key of a text, checksum and packed record."""

LARGEST_RECORD = 2**28
# Whether a record is in use is noted no more often than this, so that reading writes nothing.
COARSE_SECONDS = 3600

_VERSION = 1
_FILE = re.compile(rf"features-v{_VERSION}-(\d{{1,9}})\.sqlite3")
_BESIDE = ("", "-wal", "-shm", "-journal")
_PAGE_BYTES = 16384
_CACHE_KIB = 16384
_JOURNAL_BYTES = 2**26
_ASKED_AT_ONCE = 500
_EVICTED_AT_ONCE = 2000
_FREED_AT_ONCE = 2**26
# More than a file without records takes.
_NOTHING_BYTES = 2**20
# Evicting goes a little beyond the limit, so that not every run has to.
_SPARED = 0.9
_STEPS_BETWEEN_LOOKS = 20_000
_RETRY_SECONDS = 0.05
_MOST_TRIES = 4
_DAY_SECONDS = 86400
_TABLES = (
    "CREATE TABLE payloads (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)",
    "CREATE TABLE entries (shelf TEXT NOT NULL, text BLOB NOT NULL, payload INTEGER NOT NULL, size INTEGER NOT NULL, "
    "checksum BLOB NOT NULL, used_at INTEGER NOT NULL, PRIMARY KEY (shelf, text)) WITHOUT ROWID",
    "CREATE INDEX entries_by_use ON entries (used_at)",
)
_COLUMNS = (
    "SELECT shelf, text, payload, size, checksum, used_at FROM entries LIMIT 0",
    "SELECT id, bytes FROM payloads LIMIT 0",
)
_OF_TEXT = "shelf = ? AND text = ?"
# Their memory lies in the network, where the pages that WAL shares between processes do not reach the other machines.
_SHARED_FILE_SYSTEMS = ("nfs", "cifs", "smb", "9p", "lustre", "beegfs", "gpfs", "ceph", "fuse", "afs", "gfs", "ocfs")

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_PROTOCOL}
_DAMAGED = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_FORMAT,
}
_SHORT_READ = {sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS}


class Unavailable(Exception):
    """The file cannot be used now.

    Attributes:
        reason: ``busy``: others hold it for too long; ``full``: no room; ``unusable``: anything else.
    """

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class _Damaged(Exception):
    """The file is not ours, or no longer."""


class Database:
    """One SQLite file in a folder, shared with other processes.

    A file that turns out damaged is never written over, since others may have it open: the next number is taken, and
    the old one removed. Whoever still has it open notices at the next call.
    """

    def __init__(self, folder: Path, patience_seconds: float, renewed: Callable[[], None]) -> None:
        """Name a file; it is opened by the first call.

        Args:
            folder: A folder that exists.
            patience_seconds: How long one call may wait for other processes, and how long it may work.
            renewed: Called when a damaged file was replaced.
        """
        self._folder = folder
        self._patience = patience_seconds
        self._renewed = renewed
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[Path, int] | None = None
        self._deadline = 0.0
        self._lock = threading.RLock()

    def open(self) -> None:
        """Open the file, made when missing.

        Raises:
            Unavailable: It cannot be used now.
        """
        self._run(lambda connection: None)

    def used_at(self, shelf: str, keys: Sequence[bytes]) -> dict[bytes, int]:
        """When each text that has a record was last used, in seconds since 1970 and an hour too early at most."""

        def work(connection: sqlite3.Connection) -> dict[bytes, int]:
            found: dict[bytes, int] = {}
            for start in range(0, len(keys), _ASKED_AT_ONCE):
                asked = keys[start : start + _ASKED_AT_ONCE]
                marks = ",".join("?" * len(asked))
                query = f"SELECT text, used_at FROM entries WHERE shelf = ? AND text IN ({marks})"
                found.update(connection.execute(query, (shelf, *asked)))
            return found

        return self._run(work)

    def touch(self, shelf: str, keys: Sequence[bytes]) -> None:
        """Note that records are in use."""
        now = int(time.time())
        rows = [(now, shelf, key) for key in keys]
        self._write(lambda connection: connection.executemany(f"UPDATE entries SET used_at = ? WHERE {_OF_TEXT}", rows))

    def read(self, shelf: str, key: bytes) -> tuple[bytes, bytes] | None:
        """Checksum and packed record of a text, unverified; None where there is none."""
        query = f"SELECT checksum, bytes FROM entries LEFT JOIN payloads ON id = payload WHERE {_OF_TEXT}"

        def work(connection: sqlite3.Connection) -> tuple[object, object] | None:
            found: tuple[object, object] | None = connection.execute(query, (shelf, key)).fetchone()
            return found

        row = self._run(work)
        if row is None:
            return None
        checksum, packed = row
        return (checksum, packed) if isinstance(checksum, bytes) and isinstance(packed, bytes) else (b"", b"")

    def write(self, shelf: str, rows: Sequence[Row]) -> None:
        """Keep records, in place of those that the texts have; all of them or none."""
        now = int(time.time())

        def work(connection: sqlite3.Connection) -> None:
            for key, checksum, packed in rows:
                _drop(connection, shelf, key)
                number = connection.execute("INSERT INTO payloads (bytes) VALUES (?)", (packed,)).lastrowid
                entry = (shelf, key, number, len(packed), checksum, now)
                connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", entry)

        self._write(work)

    def remove(self, shelf: str, key: bytes) -> None:
        """Let a record go."""
        self._write(lambda connection: _drop(connection, shelf, key))

    def size(self) -> int:
        """Bytes that the records take, without what is free inside the file."""
        return self._run(_bytes_in_use)

    def shrink(self, limit_bytes: int, before: float, deadline: float) -> None:
        """Bring the file within a limit, by letting go of what was not used for longest.

        Args:
            limit_bytes: What the file may take.
            before: Records used since then stay, in seconds since 1970.
            deadline: When to stop, on the clock of `time.monotonic`; what is left to do is left to the next run.
        """
        if self.size() > limit_bytes:
            self._write(_forget_the_future)
            target = int(limit_bytes * _SPARED)
            while time.monotonic() < deadline and self._write(lambda connection: _evict(connection, target, before)):
                self._run(_checkpoint)
        while time.monotonic() < deadline and self._run(lambda connection: _vacuum(connection, limit_bytes)):
            self._run(_checkpoint)
        self._run(_checkpoint)

    def renew(self) -> None:
        """Go on with a new file, or with that which another process has made since.

        Raises:
            Unavailable: None can be made.
        """
        with self._lock:
            self._renew()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    connection.close()

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def transaction(connection: sqlite3.Connection) -> T:
            connection.execute("BEGIN IMMEDIATE")
            result = work(connection)
            connection.execute("COMMIT")
            return result

        return self._run(transaction)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do something with the file, anew where it was damaged or replaced by another process meanwhile."""
        with self._lock:
            for _ in range(_MOST_TRIES):
                try:
                    return self._attempt(work)
                except _Damaged:
                    self._renew()
        raise Unavailable("unusable", "it is damaged again and again")

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            connection = self._connected()
            self._deadline = time.monotonic() + 2 * self._patience
            return work(connection)
        except sqlite3.ProgrammingError:  # ours, not the file's
            raise
        except sqlite3.Error as error:
            self._roll_back()
            reason = self._reason_of(error)
            raise Unavailable(reason, str(error)) from None
        except OSError as error:
            raise Unavailable("unusable", error.strerror or type(error).__name__) from None
        except UnicodeDecodeError:  # a message of SQLite that quotes a damaged name
            raise _Damaged from None
        except BaseException:
            self._roll_back()
            raise

    def _reason_of(self, error: sqlite3.Error) -> Reason:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        if code & 0xFF in _DAMAGED or code in _SHORT_READ or not self._is_current():
            raise _Damaged from None
        if code & 0xFF in _BUSY:
            return "busy"
        return "full" if code & 0xFF == sqlite3.SQLITE_FULL else "unusable"

    def _roll_back(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def _connected(self) -> sqlite3.Connection:
        if self._connection is not None and not self._is_current():
            self.close()
        if self._connection is None:
            path = self._current() or self._make(1)
            self._file = path, path.stat().st_ino
            self._connection = self._connect(path)
        return self._connection

    def _connect(self, path: Path) -> sqlite3.Connection:
        if not os.access(path, os.R_OK | os.W_OK):
            raise PermissionError(0, "it may not be written")
        address = f"file:{quote(os.fsencode(path))}?mode=rw"
        connection = sqlite3.connect(
            address, uri=True, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_RECORD + _PAGE_BYTES)
            connection.set_progress_handler(lambda: time.monotonic() > self._deadline, _STEPS_BETWEEN_LOOKS)
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the tables of a new file; several processes may try at once, and SQLite does not always wait."""
        until = time.monotonic() + self._patience
        self._deadline = until + self._patience
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", f"cache_size = -{_CACHE_KIB}"):
            connection.execute(f"PRAGMA {setting}")
        while True:
            try:
                return _prepare(connection, self._folder)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > until:
                    raise
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                time.sleep(_RETRY_SECONDS)

    def _is_current(self) -> bool:
        """Whether the file that is open still is the one of its name."""
        if self._file is None:
            return True
        path, number = self._file
        try:
            return path.stat().st_ino == number
        except FileNotFoundError:
            return False

    def _files(self) -> dict[int, Path]:
        named = ((_FILE.fullmatch(path.name), path) for path in self._folder.iterdir())
        return {int(match[1]): path for match, path in named if match}

    def _current(self) -> Path | None:
        files = self._files()
        return files[max(files)] if files else None

    def _make(self, number: int) -> Path:
        path = self._folder / f"features-v{_VERSION}-{number}.sqlite3"
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            return path
        try:
            os.fchmod(descriptor, _mode_in(self._folder))
        finally:
            os.close(descriptor)
        return path

    def _renew(self) -> None:
        opened, is_current = self._file, self._is_current()
        self.close()
        self._file = None
        if opened is None or not is_current:
            return
        number = int(_FILE.fullmatch(opened[0].name)[1])  # type: ignore[index]
        try:
            if max(self._files(), default=number) <= number:
                self._make(number + 1)
                self._renewed()
            for end in _BESIDE:
                opened[0].with_name(opened[0].name + end).unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable("unusable", error.strerror or type(error).__name__) from None


def _prepare(connection: sqlite3.Connection, folder: Path) -> None:
    version = _pragma(connection, "user_version")
    if version not in (0, _VERSION):
        raise _Damaged
    if version == 0:
        _make_tables(connection, folder)
    if _is_shared(folder):
        connection.execute("PRAGMA journal_mode = TRUNCATE")
    mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    connection.execute(f"PRAGMA synchronous = {'NORMAL' if mode == 'wal' else 'FULL'}")
    connection.execute(f"PRAGMA journal_size_limit = {_JOURNAL_BYTES}")
    for query in _COLUMNS:
        connection.execute(query)


def _make_tables(connection: sqlite3.Connection, folder: Path) -> None:
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    if not _is_shared(folder) and _can_map_files(folder):
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    if _pragma(connection, "user_version") == 0:  # nobody was faster
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    connection.execute("COMMIT")


def _drop(connection: sqlite3.Connection, shelf: str, key: bytes) -> None:
    payload = f"SELECT payload FROM entries WHERE {_OF_TEXT}"
    connection.execute(f"DELETE FROM payloads WHERE id IN ({payload})", (shelf, key))
    connection.execute(f"DELETE FROM entries WHERE {_OF_TEXT}", (shelf, key))


def _forget_the_future(connection: sqlite3.Connection) -> None:
    """Take a time that has not come, from a clock that was wrong or a damaged row, for the oldest."""
    latest = int(time.time()) + _DAY_SECONDS
    connection.execute("UPDATE entries SET used_at = 0 WHERE used_at > ?", (latest,))


def _evict(connection: sqlite3.Connection, target: int, before: float) -> bool:
    """Let go of some records; whether there may be more to do."""
    in_use = _bytes_in_use(connection)
    if in_use <= target:
        return False
    query = "SELECT shelf, text FROM entries WHERE used_at < ? ORDER BY used_at LIMIT ?"
    chosen = connection.execute(query, (before, _EVICTED_AT_ONCE)).fetchall()
    enough = max(target, in_use - _FREED_AT_ONCE)
    for shelf, text in chosen:
        _drop(connection, shelf, text)
        if _bytes_in_use(connection) <= enough:
            break
    if not chosen and in_use > _NOTHING_BYTES and _is_empty(connection):
        raise _Damaged  # nobody could ever let go of what fills the file
    return bool(chosen)


def _vacuum(connection: sqlite3.Connection, limit_bytes: int) -> bool:
    """Give free pages of a file that is too large back to the disk; whether there may be more to do."""
    page, pages, free = (_pragma(connection, name) for name in ("page_size", "page_count", "freelist_count"))
    if page * pages <= limit_bytes or not free:
        return False
    # A script, since a statement without columns is not run to its end, which is one page here.
    connection.executescript(f"PRAGMA incremental_vacuum({max(1, _FREED_AT_ONCE // page)})")
    return _pragma(connection, "page_count") < pages


def _bytes_in_use(connection: sqlite3.Connection) -> int:
    pages, free = _pragma(connection, "page_count"), _pragma(connection, "freelist_count")
    return (pages - free) * _pragma(connection, "page_size")


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM entries LIMIT 1").fetchone() is None


def _checkpoint(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _mode_in(folder: Path) -> int:
    """Permissions of a new file: the owner's, and the group's where the folder is the group's to write."""
    shared = folder.stat().st_mode & 0o060
    return 0o600 | (shared if shared & 0o020 else 0)


def _is_shared(folder: Path) -> bool:
    """Whether other machines may see the folder too, as far as this one says."""
    found, longest = "", -1
    for place, kind in _mounts():
        if folder.is_relative_to(place) and len(str(place)) >= longest:
            found, longest = kind, len(str(place))
    return found.startswith(_SHARED_FILE_SYSTEMS)


def _can_map_files(folder: Path) -> bool:
    """Whether processes can share memory through a file there, which WAL needs."""
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            file.truncate(mmap.PAGESIZE)
            mmap.mmap(file.fileno(), mmap.PAGESIZE).close()
        except OSError:
            return False
    return True


def _mounts() -> Iterator[tuple[Path, str]]:
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        _, place, kind, *_ = line.split(" ")
        yield Path(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), place)), kind
