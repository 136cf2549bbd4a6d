"""What tests do that start something beside themselves: find it a port, and wait until it has come so far."""

import socket
import subprocess
import time
from collections.abc import Callable
from typing import Any


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
