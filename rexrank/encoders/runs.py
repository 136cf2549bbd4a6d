"""Which runs use a store now, so that none takes another's records away, and what killed ones left."""

import contextlib
import math
import os
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from rexrank.processes import hold_lock

_FOLDER = "runs"
_NAME = re.compile(r"(\d{1,12})-[0-9a-f]{32}")
_PREFIX = "rexrank-features-"
_MOST_TRIES = 5
# A run that hangs shall not keep the store from its limit for ever.
_LONGEST_SECONDS = 86400
# A folder so young may belong to a process that is about to lock it.
_YOUNG_SECONDS = 600


class Run:
    """This process's use of a store: a file, locked until the run ends, in whatever way the process does."""

    def __init__(self, folder: Path) -> None:
        """Make it known.

        Args:
            folder: The store's.

        Raises:
            OSError: The folder cannot be written.
        """
        runs = folder / _FOLDER
        with contextlib.suppress(FileExistsError):
            runs.mkdir()
            runs.chmod(folder.stat().st_mode & 0o777)
        for _ in range(_MOST_TRIES):
            self._path = runs / f"{int(time.time())}-{uuid.uuid4().hex}"
            self._handle = hold_lock(self._path)
            # Another process may have looked at the file before it was locked, and have swept it away.
            if self._handle is not None and self._path.exists():
                return
            self.end()

    def end(self) -> None:
        """Take it back."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
        if self._handle is not None:
            self._handle.close()
            self._handle = None


def oldest_run(folder: Path) -> float:
    """When the oldest run that uses a store began, in seconds since 1970; infinity where there is none."""
    started = [start for start, path in _runs(folder) if not _is_over(path)]
    return max(time.time() - _LONGEST_SECONDS, min(started, default=math.inf))


def temporary_folder() -> Path:
    """A new folder for a store of one run.

    Raises:
        OSError: There is no room for it.
    """
    return Path(tempfile.mkdtemp(prefix=_PREFIX))


def sweep_temporary() -> None:
    """Remove what runs that were killed left in the temporary folder."""
    with contextlib.suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            with contextlib.suppress(OSError):
                about, runs = folder.lstat(), [path for _, path in _runs(folder)]
                is_old = time.time() - about.st_mtime > (_YOUNG_SECONDS if runs else _LONGEST_SECONDS)
                if is_old and about.st_uid == os.getuid() and all(map(_is_over, runs)):
                    shutil.rmtree(folder, ignore_errors=True)


def _runs(folder: Path) -> Iterator[tuple[int, Path]]:
    with contextlib.suppress(OSError):
        for path in (folder / _FOLDER).iterdir():
            if match := _NAME.fullmatch(path.name):
                yield int(match[1]), path


def _is_over(path: Path) -> bool:
    """Whether the run of a file has ended; the file is then removed."""
    try:
        handle = hold_lock(path)
    except OSError:
        return False
    if handle is None:
        return False
    path.unlink(missing_ok=True)
    handle.close()
    return True
