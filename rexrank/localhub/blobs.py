"""File contents by their SHA-256, each written once and never changed."""

import hashlib
import os
import secrets
import time
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from rexrank.files import sync_folder

_LEFTOVER_SECONDS = 24 * 3600


class BlobStore:
    """Contents in ``blobs/ab/cdef…``; paths of repositories never become file names here."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "blobs"
        self.incoming = root / "incoming"
        self.incoming.mkdir(parents=True, exist_ok=True)
        for shard in range(256):
            (self.folder / f"{shard:02x}").mkdir(parents=True, exist_ok=True)
        sync_folder(self.folder)
        sync_folder(root)
        self._remove_leftovers()

    def _remove_leftovers(self) -> None:
        """Delete uploads that a killed process left behind; young ones may belong to a running one."""
        limit = time.time() - _LEFTOVER_SECONDS
        for leftover in self.incoming.iterdir():
            try:
                if leftover.stat().st_mtime < limit:
                    leftover.unlink()
            except FileNotFoundError:
                continue

    def path(self, sha256: str) -> Path:
        """Where the content with that hash lies, if it does."""
        return self.folder / sha256[:2] / sha256[2:]

    def contains(self, sha256: str) -> bool:
        """Whether the content is stored, whole."""
        return self.path(sha256).is_file()

    def size(self, sha256: str) -> int:
        """Length in bytes; ``FileNotFoundError`` where the content is not stored."""
        return self.path(sha256).stat().st_size

    def read(self, sha256: str) -> bytes:
        """The whole content; meant for small files."""
        return self.path(sha256).read_bytes()

    def open(self, sha256: str) -> BinaryIO:
        """The content as an open file."""
        return self.path(sha256).open("rb")

    def writer(self) -> "BlobWriter":
        """A file under construction; nothing is visible before ``keep``."""
        return BlobWriter(self)

    def put(self, content: bytes) -> str:
        """Store ``content`` durably and return its SHA-256."""
        with self.writer() as writer:
            writer.write(content)
            return writer.keep()


class BlobWriter:
    """Takes the bytes of one content, then keeps or drops them."""

    def __init__(self, store: BlobStore) -> None:
        self._store = store
        self._path = store.incoming / f"{os.getpid()}-{secrets.token_hex(8)}"
        self._file = self._path.open("xb")
        self._hash = hashlib.sha256()
        self.size = 0

    def __enter__(self) -> "BlobWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.drop()

    @property
    def sha256(self) -> str:
        """Hash of what was written so far."""
        return self._hash.hexdigest()

    def write(self, chunk: bytes) -> None:
        """Append ``chunk``."""
        self._file.write(chunk)
        self._hash.update(chunk)
        self.size += len(chunk)

    def keep(self) -> str:
        """Make the content visible under its hash, durably, and return the hash."""
        sha256 = self.sha256
        target = self._store.path(sha256)
        if not target.is_file():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.chmod(self._path, 0o444)
            os.replace(self._path, target)
        # Also for a content that another process has just put there: its rename may not be on disk yet.
        sync_folder(target.parent)
        return sha256

    def drop(self) -> None:
        """Close, and forget what was not kept."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def git_blob_id(content: bytes) -> str:
    """Object id that git gives to ``content``."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def lfs_pointer(sha256: str, size: int) -> bytes:
    """The small text that stands for a large file in a git repository (git-lfs specification, version 1)."""
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()
