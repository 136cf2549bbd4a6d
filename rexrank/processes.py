"""Processes that do not outlive whoever started them, and of which there is only one."""

import fcntl
import os
import signal
import threading
from pathlib import Path
from typing import TextIO

FOLLOW_PARENT = "REXRANK_FOLLOW_PARENT"
_POLL_SECONDS = 1.0


def follow_parent() -> None:
    """End this process (SIGTERM) soon after its parent is gone, where ``REXRANK_FOLLOW_PARENT`` is set.

    Whoever starts a process that must not be left behind sets that variable to its own process id; a
    kill -9 of the parent, which no handler sees, then takes the child along.
    """
    expected = os.environ.get(FOLLOW_PARENT)
    if not expected:
        return
    watcher = threading.Thread(target=_watch, args=(int(expected),), name="follow-parent", daemon=True)
    watcher.start()


def hold_lock(path: Path) -> TextIO | None:
    """Hold a lock until the file returned is closed; the system lets go of it however this process ends.

    Args:
        path: The lock's file, in a folder that exists.

    Returns:
        The open file, or None where another process holds the lock.
    """
    handle = path.open("w")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        return None
    return handle


def _watch(parent: int) -> None:
    pause = threading.Event()
    while os.getppid() == parent:
        pause.wait(_POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
