"""What tests do that start something beside themselves: its surroundings, a port, and how far it has come."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def surroundings(*prefixes: str) -> dict[str, str]:
    """This process's environment without the caller's own settings, whose names start with one of ``prefixes``."""
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


def last_json(code: str, arguments: Sequence[str], cwd: Path | None, settings: Mapping[str, str], timeout: int) -> Any:
    """Run code in a new interpreter, which must end well, and return the JSON of the last line that it prints.

    Args:
        code: Python.
        arguments: What it finds in ``sys.argv``.
        cwd: Its working folder; None for the present one.
        settings: Its whole environment.
        timeout: Seconds after which the test fails.
    """
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env=settings,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def belonging_to(folder: Path) -> list[int]:
    """Process ids of everything in whose environment the folder stands."""
    found = []
    for entry in Path("/proc").iterdir():
        # A process may end while it is looked at.
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and str(folder).encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


def until(
    is_so: Callable[[], bool],
    seconds: float = 60.0,
    process: "subprocess.Popen[Any] | None" = None,
    told: Callable[[], str] = lambda: "it never came to be",
    pause: float = 0.05,
) -> None:
    """Wait until something is so.

    Args:
        is_so: Asked again and again.
        seconds: After which the test fails.
        process: Must not end meanwhile.
        told: What the failure says.
        pause: Seconds between two looks.
    """
    end = time.monotonic() + seconds
    while not is_so():
        assert process is None or process.poll() is None, f"the process ended: {told()}"
        assert time.monotonic() < end, f"waited {seconds:g} s: {told()}"
        time.sleep(pause)
