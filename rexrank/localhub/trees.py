"""The files of a repository at one commit."""

import hashlib
import json
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rexrank.localhub.blobs import git_blob_id, lfs_pointer


@dataclass(frozen=True, slots=True)
class Entry:
    """One file.

    Attributes:
        oid: Git id of the file, or of its pointer where it is large.
        sha256: Hash of the content, its name in the blob store.
        size: Bytes of the content.
        lfs: Whether clients see it as a large file.
        commit: Number of the commit that last changed the file.
    """

    oid: str
    sha256: str
    size: int
    lfs: bool
    commit: int = 0

    @property
    def etag(self) -> str:
        """What ``resolve`` answers as the file's ETag, and preupload as its id (H13)."""
        return self.sha256 if self.lfs else self.oid

    @property
    def pointer_size(self) -> int:
        """Bytes of the pointer that stands for a large file in git."""
        return len(lfs_pointer(self.sha256, self.size))

    def at(self, commit: int) -> "Entry":
        """The same file as changed by another commit."""
        return replace(self, commit=commit)


def large_entry(sha256: str, size: int) -> Entry:
    """Entry of a file that is stored through LFS."""
    return Entry(git_blob_id(lfs_pointer(sha256, size)), sha256, size, lfs=True)


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder: an id over all that it holds, and the newest commit that changed any of it."""

    oid: str
    commit: int


class Tree:
    """An immutable map from path to entry, with folders derived from the paths."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.entries = entries

    @cached_property
    def paths(self) -> list[str]:
        """All file paths, sorted."""
        return sorted(self.entries)

    @cached_property
    def folders(self) -> dict[str, Folder]:
        """All folders that hold a file, however deep; the root is the empty path."""
        hashes = {"": hashlib.sha1(usedforsecurity=False)}
        newest = {"": 0}
        for path in self.paths:
            entry = self.entries[path]
            line = f"{path}\0{entry.oid}\n".encode()
            for folder in ("", *parents(path)):
                if folder not in hashes:
                    hashes[folder] = hashlib.sha1(usedforsecurity=False)
                hashes[folder].update(line)
                newest[folder] = max(newest.get(folder, 0), entry.commit)
        return {folder: Folder(hashed.hexdigest(), newest[folder]) for folder, hashed in hashes.items()}

    def below(self, folder: str) -> list[str]:
        """Paths of the files in ``folder`` and its folders, sorted."""
        if not folder:
            return self.paths
        # "0" is the character after "/".
        return self.paths[bisect_left(self.paths, folder + "/") : bisect_left(self.paths, folder + "0")]

    def listing(self, folder: str, recursive: bool) -> list[tuple[str, Entry | Folder]]:
        """Files and folders in ``folder``, sorted by path."""
        found: dict[str, Entry | Folder] = {}
        for path in self.below(folder):
            ancestors = [parent for parent in parents(path) if len(parent) > len(folder)]
            if not recursive:
                ancestors = ancestors[:1]
            for ancestor in ancestors:
                found[ancestor] = self.folders[ancestor]
            if recursive or not ancestors:
                found[path] = self.entries[path]
        return sorted(found.items())


def parents(path: str) -> Iterator[str]:
    """Folders above ``path``, outermost first, without the root."""
    position = path.find("/")
    while position >= 0:
        yield path[:position]
        position = path.find("/", position + 1)


Changes = Mapping[str, Entry | None]


def pack(changes: Changes) -> bytes:
    """Encode entries (None: the file is gone) for the database."""
    rows = {
        path: entry and [entry.oid, entry.sha256, entry.size, int(entry.lfs), entry.commit]
        for path, entry in changes.items()
    }
    return zlib.compress(json.dumps(rows, separators=(",", ":"), ensure_ascii=False).encode())


def unpack(packed: bytes) -> dict[str, Entry | None]:
    """Decode what ``pack`` encoded."""
    rows: dict[str, list[Any] | None] = json.loads(zlib.decompress(packed))
    return {path: Entry(row[0], row[1], row[2], bool(row[3]), row[4]) if row else None for path, row in rows.items()}


def changed(entries: Mapping[str, Entry], changes: Changes) -> dict[str, Entry]:
    """``entries`` after ``changes``."""
    result = dict(entries)
    for path, entry in changes.items():
        if entry is None:
            result.pop(path, None)
        else:
            result[path] = entry
    return result
