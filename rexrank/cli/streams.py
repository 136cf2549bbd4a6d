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
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_HANDLER)


def discard_stdout() -> None:
    """Drop what waits to be written to stdout, so that the interpreter does not fail on it when it ends."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as null:
        os.dup2(null.fileno(), sys.stdout.fileno())


def print_json(value: Any) -> None:
    """Print JSON and nothing else on stdout, in ASCII where stdout is not UTF-8."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(value, ensure_ascii=not unicode, allow_nan=False, indent=2))


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
