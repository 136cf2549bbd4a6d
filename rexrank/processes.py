"""Processes that do not outlive whoever started them."""

import os
import signal
import threading

FOLLOW_PARENT = "REXRANK_FOLLOW_PARENT"


def follow_parent(poll_seconds: float = 1.0) -> None:
    """End this process (SIGTERM) soon after its parent is gone, where ``REXRANK_FOLLOW_PARENT`` is set.

    Whoever starts a process that must not be left behind sets that variable to its own process id; a
    kill -9 of the parent, which no handler sees, then takes the child along.

    Args:
        poll_seconds: How often to look.
    """
    expected = os.environ.get(FOLLOW_PARENT)
    if not expected:
        return
    watcher = threading.Thread(target=_watch, args=(int(expected), poll_seconds), name="follow-parent", daemon=True)
    watcher.start()


def _watch(parent: int, poll_seconds: float) -> None:
    pause = threading.Event()
    while os.getppid() == parent:
        pause.wait(poll_seconds)
    os.kill(os.getpid(), signal.SIGTERM)
