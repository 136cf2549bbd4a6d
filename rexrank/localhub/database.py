"""The Hub's records in one SQLite file, shared safely by threads and processes."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rexrank.errors import RexrankError

SCHEMA_VERSION = 1
BUSY_SECONDS = 30.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS accounts (
    name TEXT PRIMARY KEY COLLATE NOCASE, id TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('user', 'org')),
    created_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS members (
    org TEXT NOT NULL COLLATE NOCASE REFERENCES accounts (name) ON DELETE CASCADE,
    user TEXT NOT NULL COLLATE NOCASE REFERENCES accounts (name) ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin')),
    PRIMARY KEY (org, user)
);
CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, user TEXT NOT NULL COLLATE NOCASE REFERENCES accounts (name) ON DELETE CASCADE,
    salt BLOB NOT NULL, hash BLOB NOT NULL, role TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin')),
    label TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS repos (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, type TEXT NOT NULL,
    namespace TEXT NOT NULL COLLATE NOCASE, name TEXT NOT NULL COLLATE NOCASE,
    private INTEGER NOT NULL, gated TEXT NOT NULL DEFAULT '', sdk TEXT,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    UNIQUE (type, namespace, name)
);
CREATE TABLE IF NOT EXISTS commits (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    repo INTEGER NOT NULL REFERENCES repos (number) ON DELETE CASCADE, parent TEXT, author TEXT NOT NULL,
    title TEXT NOT NULL, message TEXT NOT NULL, created_at TEXT NOT NULL,
    links INTEGER NOT NULL, changes BLOB NOT NULL, snapshot BLOB
);
CREATE INDEX IF NOT EXISTS commits_of_repo ON commits (repo, id);
CREATE TABLE IF NOT EXISTS refs (
    repo INTEGER NOT NULL REFERENCES repos (number) ON DELETE CASCADE, ref TEXT NOT NULL, commit_id TEXT NOT NULL,
    PRIMARY KEY (repo, ref)
);
CREATE TABLE IF NOT EXISTS holdings (
    sha256 TEXT NOT NULL, repo INTEGER NOT NULL REFERENCES repos (number) ON DELETE CASCADE, size INTEGER NOT NULL,
    PRIMARY KEY (sha256, repo)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uploads (
    sha256 TEXT NOT NULL, repo INTEGER NOT NULL REFERENCES repos (number) ON DELETE CASCADE, size INTEGER NOT NULL,
    at TEXT NOT NULL, PRIMARY KEY (sha256, repo)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, user TEXT NOT NULL, action TEXT NOT NULL,
    subject TEXT NOT NULL, detail TEXT NOT NULL
);
"""


class StoreBusy(RexrankError):
    """The records could not be written in time."""


class Database:
    """A pool of connections to one SQLite file in WAL mode with full syncs.

    A transaction that returned is on disk: neither ``kill -9`` nor a power cut takes it back.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: list[sqlite3.Connection] = []
        self._pool_lock = threading.Lock()
        # SQLite lets waiting writers poll; a lock in front keeps this process's own writers in a queue.
        self._write_lock = threading.Lock()
        with self.reading() as connection:
            self._prepare(connection)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > SCHEMA_VERSION:
            raise RexrankError(f"{self.path} was written by a newer rexrank (store version {version}); update rexrank.")
        if version < SCHEMA_VERSION:
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection; every statement sees the newest committed state."""
        with self._pool_lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self._connect()
        try:
            yield connection
        except sqlite3.Error:
            connection.close()
            connection = None
            raise
        finally:
            if connection is not None:
                with self._pool_lock:
                    self._idle.append(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection inside one transaction: everything lands, or nothing where the block raises.

        Raises:
            StoreBusy: Other threads held the write lock for ``BUSY_SECONDS``.
            sqlite3.OperationalError: Another process did, or the disk is full.
        """
        if not self._write_lock.acquire(timeout=BUSY_SECONDS):
            raise StoreBusy(f"{self.path} was locked by other writers for {BUSY_SECONDS:.0f} seconds.")
        try:
            with self.reading() as connection:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
        finally:
            self._write_lock.release()

    def close(self) -> None:
        """Close the idle connections."""
        with self._pool_lock:
            while self._idle:
                self._idle.pop().close()
