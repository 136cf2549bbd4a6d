"""Files that are either whole or absent, also after a kill, and the one form of those that hold JSON."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexrank.errors import WrongType, shown

if TYPE_CHECKING:
    import pyarrow


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


def json_bytes(document: Mapping[str, Any], *, sort_keys: bool = False, ascii_only: bool = False) -> bytes:
    """A JSON file as people and programs read it: indented, in UTF-8, with a closing newline.

    Args:
        document: The content.
        sort_keys: Whether the fields stand in the order of the alphabet instead of the document's own.
        ascii_only: Whether all other characters are escaped, which also takes text that is not valid Unicode.

    Raises:
        ValueError: It holds a number that is not finite.
    """
    text = json.dumps(document, indent=2, sort_keys=sort_keys, ensure_ascii=ascii_only, allow_nan=False)
    return f"{text}\n".encode()


def parquet_table(data: bytes) -> "pyarrow.Table":
    """Read a Parquet file without a thread of pyarrow's own, which can abort a process that ends soon after.

    ``read_table`` reads ahead in threads whatever it is told, and so does any read of a Python file.

    Raises:
        pyarrow.ArrowException: It is damaged or of another format.
        OSError: It is cut off.
    """
    import pyarrow
    from pyarrow import parquet

    table: pyarrow.Table = parquet.ParquetFile(pyarrow.BufferReader(data)).read(use_threads=False)
    return table


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Make a rename in ``folder`` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
