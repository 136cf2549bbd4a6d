"""Files that are either whole or absent, also after a kill."""

import os
import tempfile
from pathlib import Path

from rexrank.errors import WrongType, shown


def user_path(path: str | os.PathLike[str]) -> Path:
    """The path with a leading ``~`` replaced by the home folder, which a shell leaves alone in ``--out=~/card``.

    Raises:
        WrongType: It is no path.
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise WrongType(f"expected a path, got {shown(path)}")
    plain = Path(os.fsdecode(path))
    try:
        return plain.expanduser()
    except RuntimeError:  # a user that does not exist
        return plain


def write_atomically(path: str | os.PathLike[str], data: bytes, mode: int = 0o644) -> None:
    """Write ``data`` so that no reader and no crash ever sees a part of it.

    Args:
        path: Destination; its folder is made when missing.
        data: The whole content.
        mode: Permission bits of the new file.

    Raises:
        OSError: The folder cannot be written or the disk is full; the old file, if any, is untouched.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Make a rename in ``folder`` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
