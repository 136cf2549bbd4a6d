"""Standard streams that may be closed, full, or unable to show every character."""

import codecs
import io
import json
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

_HANDLER = "rexrank.plain"
_PLAIN = {"·": "|", "…": "-", "–": "-", "—": "-", "↑": "^", "↓": "v"}


def prepare_streams() -> None:
    """Make every print possible: no stream is missing, and characters that it cannot show are replaced.

    A missing stream is opened on the null device; else the next file that is opened would take its number, and what
    is meant for stderr would go to stdout.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or _null()
    sys.stderr = sys.stderr or _null()
    codecs.register_error(_HANDLER, _replaced)
    if type(sys.stdout) is io.TextIOWrapper and sys.stdout is sys.__stdout__:
        sys.stdout = _outlet(sys.stdout)
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_HANDLER)


def discard_stdout() -> None:
    """Drop what waits to be written to stdout, so that the interpreter does not fail on it when it ends."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as null:
        os.dup2(null.fileno(), sys.stdout.fileno())


def print_json(value: Any) -> None:
    """Print JSON and nothing else on stdout, in ASCII where stdout is not UTF-8."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(value, ensure_ascii=not unicode, allow_nan=False, indent=2))


class _Outlet(io.FileIO):
    """Stdout whose reader may leave before the end, as ``head`` does.

    What is still to be said is dropped; what is still to be done, such as writing a card, is done.
    """

    def write(self, data: Any) -> int:
        """Write, or drop what nobody reads."""
        try:
            return super().write(data)
        except BrokenPipeError:
            with open(os.devnull, "wb") as null:
                os.dup2(null.fileno(), self.fileno())
            return len(data)


def _outlet(stdout: io.TextIOWrapper) -> TextIO:
    stdout.flush()
    raw = _Outlet(stdout.fileno(), "wb", closefd=False)
    # As Python itself does under PYTHONUNBUFFERED.
    buffer: Any = raw if stdout.write_through else io.BufferedWriter(raw)
    return io.TextIOWrapper(
        buffer,
        encoding=stdout.encoding,
        errors=_HANDLER,
        line_buffering=stdout.line_buffering,
        write_through=stdout.write_through,
    )


def _null() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = error.object[error.start : error.end]
    plain = "".join(
        _PLAIN.get(character) or character.encode("ascii", "backslashreplace").decode() for character in found
    )
    return plain, error.end
