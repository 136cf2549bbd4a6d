"""SHA-256 of files that weigh gigabytes: computed once, and taken as known while the file stays as it was."""

import hashlib
import os
import re
import time
import zlib
from contextlib import suppress
from pathlib import Path

from rexrank.encoders.store import default_folder
from rexrank.files import write_atomically

# Below, hashing costs less than looking up.
_WORTH_KEEPING_BYTES = 2**20
# A clock of files can stand still for that long, and a file changed meanwhile would look untouched.
_SETTLED_SECONDS = 0.1
_LINE = re.compile(r"(?P<state>1(?: \d+){5}) (?P<digest>[0-9a-f]{64}) (?P<check>[0-9a-f]{8})\n?")


def sha256_of(path: Path) -> str:
    """Digest of a file, in hex.

    That of a large file is kept, in a small file of its own in the folder of the store, for as long as the file's
    path, size, times and inode stay the same. A record that cannot be written or is damaged costs time alone.

    Args:
        path: A file; where it is a link, the file that it leads to counts.

    Raises:
        OSError: It cannot be read.
    """
    real = path.resolve()
    before = real.stat()
    if before.st_size < _WORTH_KEEPING_BYTES:
        return _computed(real)
    record = _record_of(real)
    if record and (known := _kept(record, _state(before))):
        return known
    started = time.time()
    digest = _computed(real)
    if record and _state(real.stat()) == _state(before) and started - before.st_ctime > _SETTLED_SECONDS:
        with suppress(OSError):
            write_atomically(record, _line(_state(before), digest).encode())
    return digest


def _computed(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _record_of(path: Path) -> Path | None:
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
    with suppress(OSError):
        return default_folder() / "digests" / name
    return None


def _state(found: os.stat_result) -> str:
    numbers = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)
    return " ".join(map(str, (1, *numbers)))


def _line(state: str, digest: str) -> str:
    return f"{state} {digest} {zlib.crc32(f'{state} {digest}'.encode()):08x}\n"


def _kept(record: Path, state: str) -> str | None:
    try:
        line = record.read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    found = _LINE.fullmatch(line)
    whole = found is not None and _line(found["state"], found["digest"]).strip() == line.strip()
    return found["digest"] if found is not None and whole and found["state"] == state else None
