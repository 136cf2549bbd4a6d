"""A folder for the files that visitors send: nobody else on the machine reads it, and none outlives its board."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "uploads-"


@contextlib.contextmanager
def private_folder(parent: Path) -> Iterator[Path]:
    """Give a folder of this process's own, and clear away what killed boards have left behind.

    Args:
        parent: Where it is made; the system's folder for temporary files where that cannot be written.
    """
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _clear(parent)
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="rexrank-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _clear(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not _lives(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
