"""Running one original under another interpreter: a process of its own, with a limit of time."""

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rexrank.errors import RexrankError

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
"""What the environment of the originals holds, as pip reads it."""

_SCRIPT = Path(__file__).with_name("originals.py")
_PROGRESS = "@progress"
_LONGEST_REASON = 200


class OriginalFailed(RexrankError):
    """An original that gave no answer; the sentence says why."""


def run_original(
    python: Path,
    job: Mapping[str, Any],
    limit_s: float,
    note: Callable[[int, int], None] = lambda done, of: None,
) -> dict[str, Any]:
    """Run one original on texts.

    Args:
        python: Interpreter of the environment that holds the original.
        job: What `originals.py` reads.
        limit_s: Seconds after which it is killed.
        note: Called with the number of items done and of all, as it goes on.

    Returns:
        What `originals.py` prints.

    Raises:
        OriginalFailed: It cannot be started, fails or takes too long.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as asked, tempfile.TemporaryFile() as answered:
        json.dump(job, asked)
        asked.seek(0)
        try:
            # Isolated: neither this folder, whose files have common names, nor PYTHONPATH may hide a package of it.
            process = subprocess.Popen(
                [python, "-I", _SCRIPT],
                stdin=asked,
                stdout=answered,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                # A group of its own, so that what a wrapper of an interpreter starts ends with it.
                start_new_session=True,
            )
        except OSError as error:
            raise OriginalFailed(f"{python} cannot be started ({error.strerror or type(error).__name__})") from None
        last = _attended(process, limit_s, note)
        if process.returncode != 0:
            raise OriginalFailed(_reason(last, process.returncode))
        answered.seek(0)
        try:
            return dict(json.load(answered))
        except (TypeError, ValueError):
            raise OriginalFailed(
                f"{python} gave no answer; name the interpreter of the originals' environment"
            ) from None


def _reason(last: str, code: int) -> str:
    """Why a process failed, from the last line that it wrote to stderr."""
    if last.startswith("ModuleNotFoundError"):
        return f"{last}; `rexrank verify --requirements` prints what belongs into the environment of --python"
    return last or f"it ended with the code {code}"


def _attended(process: "subprocess.Popen[str]", limit_s: float, note: Callable[[int, int], None]) -> str:
    """Wait for the end of a process.

    Returns:
        The last line that it wrote to stderr.

    Raises:
        OriginalFailed: The time is over; the process is killed.
    """
    late = threading.Event()

    def kill() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(min(limit_s, threading.TIMEOUT_MAX), kill)
    timer.start()
    last = ""
    assert process.stderr is not None
    try:
        for line in process.stderr:
            word, *numbers = line.split() or [""]
            if word == _PROGRESS:
                note(int(numbers[0]), int(numbers[1]))
            elif word:
                last = line.strip()[:_LONGEST_REASON]
        process.wait()
    finally:
        timer.cancel()
        _kill(process)
        process.wait()
        process.stderr.close()
    if late.is_set():
        raise OriginalFailed(f"it took longer than {limit_s:g} s")
    return last


def _kill(process: "subprocess.Popen[str]") -> None:
    """End a process and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
