"""Unpacking of checkpoints that are published as one archive, into a folder from which they are then read.

An archive comes from the net, so nothing in it is trusted: only plain files of expected names and sizes are taken, and
one that reaches for a path outside, or holds a link or a device, is refused as a whole.
"""

import gzip
import hashlib
import os
import shutil
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Self

from rexrank.encoders.digests import sha256_of
from rexrank.encoders.encoder import EncoderFailure
from rexrank.files import sync_folder
from rexrank.processes import hold_lock

_PIECE = 1 << 20
# Published archives have fewer than ten; more would only keep us busy.
_MOST_MEMBERS = 1000
# What stands before a file, such as a long name, and is read as a whole; and zeros behind the last.
_MOST_AROUND = 1 << 20
_POLL_SECONDS = 0.1
_UNPACKED, _PART = "unpacked", ".part"
# Beside the files: a line of digest and path for each, behind the digest of these lines.
_DIGESTS = ".digests"


def unpack(archive: Path, sha256: str, folder: Path, limits: Mapping[str, int], name: str) -> Path:
    """Unpack an archive, or find what an earlier call made of the same bytes.

    Several processes may ask at once; one of them works. After a kill, or where a file is no longer what it was, the
    next call begins anew.

    Args:
        archive: A gzipped tar file.
        sha256: Its digest in hex, under which the result is kept.
        folder: Where results of all archives lie; made when missing.
        limits: Patterns of the paths that are taken (``vocabulary/*.txt``), and the bytes that each file may have.
        name: Repo and file, for messages.

    Returns:
        A folder with the files that were taken.

    Raises:
        EncoderFailure: It is damaged, holds what it must not, or there is no place for it.
    """
    target = folder / sha256
    try:
        if not _is_whole(target / _UNPACKED):
            target.mkdir(parents=True, exist_ok=True)
            _locked(target / "lock", lambda: _unpack_once(archive, target, limits, name))
    except OSError as error:
        # No path: the sentence is published with results.
        raise EncoderFailure(
            f"{name} cannot be unpacked beside the features ({error.strerror or type(error).__name__}); make room "
            "there, or set REXRANK_CACHE to a folder that can be written"
        ) from None
    return target / _UNPACKED


def _locked(lock: Path, work: Callable[[], None]) -> None:
    while (handle := hold_lock(lock)) is None:
        time.sleep(_POLL_SECONDS)
    with handle:
        work()


def _unpack_once(archive: Path, target: Path, limits: Mapping[str, int], name: str) -> None:
    if _is_whole(target / _UNPACKED):  # by the process that held the lock before
        return
    _remove_parts(target)
    part = Path(tempfile.mkdtemp(dir=target, suffix=_PART))
    try:
        _note_digests(part, _take_files(archive, part, limits, name))
        part.chmod(0o755)
        if (target / _UNPACKED).is_dir():
            os.replace(target / _UNPACKED, tempfile.mkdtemp(dir=target, suffix=_PART))
        os.replace(part, target / _UNPACKED)
        sync_folder(target)
        _remove_parts(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _remove_parts(target: Path) -> None:
    """Remove what a kill left, and damaged files in whose place others are."""
    for part in target.glob(f"*{_PART}"):
        shutil.rmtree(part)


def _note_digests(folder: Path, digests: Mapping[str, str]) -> None:
    lines = "".join(f"{digest} {path}\n" for path, digest in digests.items())
    (folder / _DIGESTS).write_text(f"{hashlib.sha256(lines.encode()).hexdigest()}\n{lines}", encoding="utf-8")


def _is_whole(folder: Path) -> bool:
    """Whether an unpacked archive is there with each file as it was taken."""
    try:
        digest, _, lines = (folder / _DIGESTS).read_text(encoding="utf-8").partition("\n")
        listed = (line.split(" ", 1) for line in lines.splitlines())
        return digest == hashlib.sha256(lines.encode()).hexdigest() and all(
            sha256_of(folder / path) == known for known, path in listed
        )
    except (OSError, ValueError):
        return False


def _take_files(archive: Path, folder: Path, limits: Mapping[str, int], name: str) -> dict[str, str]:
    """Take the wanted files; their digests by path."""
    try:
        # Not "r|gz", which passes over the checksum at the end.
        with gzip.open(archive) as plain:
            with tarfile.open(fileobj=plain, mode="r|", tarinfo=_Member) as opened:
                digests = _take_members(opened, folder, limits, name)
            if len(plain.read(_MOST_AROUND)) == _MOST_AROUND:  # the end is reached, or there is too much before it
                raise _too_much(name)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise _damaged(name, error) from None
    except OSError as error:
        if error.errno is not None:  # the disk's; gzip's own have no number
            raise
        raise _damaged(name, error) from None
    return digests


def _take_members(opened: tarfile.TarFile, folder: Path, limits: Mapping[str, int], name: str) -> dict[str, str]:
    size, digests = 0, {}
    for number, member in enumerate(opened):
        size += member.size
        if number >= _MOST_MEMBERS or size > sum(limits.values()):
            raise _too_much(name)
        path = _checked(member, name)
        if path and (limit := _limit(path, limits)) is not None:
            digests[str(path)] = _take(opened, member, folder / path, limit, name)
    return digests


class _Member(tarfile.TarInfo):
    """Refuses what would fill the memory before a name is known."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        found = super().frombuf(buf, encoding, errors)
        if not found.isreg() and found.size > _MOST_AROUND:
            raise tarfile.ReadError("too long")
        return found


def _too_much(name: str) -> EncoderFailure:
    return EncoderFailure(f"{name} holds more than a checkpoint, so nothing of it is taken")


def _damaged(name: str, error: Exception) -> EncoderFailure:
    return EncoderFailure(f"{name} is not a whole archive ({type(error).__name__}); fetch it again")


def _checked(member: tarfile.TarInfo, name: str) -> PurePosixPath | None:
    """The path of a file inside the archive; None for a folder."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts or "\\" in member.name:
        raise EncoderFailure(f"{name} reaches for a path outside its folder, so nothing of it is taken")
    if not (member.isfile() or member.isdir()):
        raise EncoderFailure(f"{name} holds a link or a device, so nothing of it is taken")
    return path if member.isfile() else None


def _limit(path: PurePosixPath, limits: Mapping[str, int]) -> int | None:
    """Bytes that a file may have; None where it is not taken, as those that macOS puts beside each (``._name``)."""
    if path.name.startswith("."):
        return None
    return next((limit for pattern, limit in limits.items() if _is_like(path, PurePosixPath(pattern))), None)


def _is_like(path: PurePosixPath, pattern: PurePosixPath) -> bool:
    return len(path.parts) == len(pattern.parts) and path.match(str(pattern))


def _take(opened: tarfile.TarFile, member: tarfile.TarInfo, path: Path, limit: int, name: str) -> str:
    """Write a file; its digest."""
    if member.size > limit:
        raise EncoderFailure(f"{name}: {path.name} in it is larger than the {limit:,} bytes that it may have")
    if path.exists():
        raise EncoderFailure(f"{name} holds {path.name} twice")
    content = opened.extractfile(member)
    assert content is not None  # it is a plain file
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with content, path.open("xb") as handle:
        while piece := content.read(_PIECE):
            digest.update(piece)
            handle.write(piece)
        handle.flush()
        os.fsync(handle.fileno())
    return digest.hexdigest()
