"""Compare-and-swap on a repo: read at a commit, decide, commit on top of it.

A commit names its parent, so of several writers one succeeds and the others
look again. An answer that is lost leaves the outcome unknown; each swap
therefore carries a fresh id in what it writes and looks for it first.
"""

import random
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from rexrank.hub.clock import Clock
from rexrank.hub.connection import SMALL_FILE_BYTES, Hub, View
from rexrank.hub.errors import Contention, HubError

BASE_SECONDS, CAP_SECONDS = 0.2, 20.0
DEADLINE_SECONDS = 120.0

Plan = Mapping[str, bytes | None]
T = TypeVar("T")


@dataclass(frozen=True)
class Change:
    """What a swap left on the Hub.

    Attributes:
        op: The id of this swap; it stands in what was written.
        commit: The commit that holds it, or the one at which it was found.
        files: The content of each path concerned.
    """

    op: str
    commit: str
    files: Plan


class _Wait:
    """Random waits that grow, within one deadline (Q12)."""

    def __init__(self, subject: str, deadline: float, clock: Clock) -> None:
        self.subject = subject
        self.clock = clock
        self.end = clock.monotonic() + deadline
        self.tries = 0

    def after(self, error: HubError) -> None:
        """Wait before the next try.

        Raises:
            HubError: ``error`` itself where another try would not help.
            Contention: The deadline would pass.
        """
        if not error.retryable:
            raise error
        cap = min(CAP_SECONDS, BASE_SECONDS * 2**self.tries)
        pause = random.uniform(0, cap) + (error.retry_after or 0.0)
        self.tries += 1
        if self.clock.monotonic() + pause >= self.end:
            raise Contention(f"{self.subject}: no success before the deadline; try again later") from error
        self.clock.sleep(pause)


def swap(
    hub: Hub,
    repo_id: str,
    paths: Iterable[str],
    decide: Callable[[View, str], Plan],
    message: str = "Update",
    deadline: float = DEADLINE_SECONDS,
    clock: Clock | None = None,
    limit_bytes: int = SMALL_FILE_BYTES,
) -> Change | None:
    """Change files of a dataset repo as if nobody else were writing.

    Args:
        hub: Where.
        repo_id: ``owner/name``.
        paths: What ``decide`` needs to see: files, and folders with a closing ``/``.
        decide: Gets the view and the id of this swap; returns new contents (None deletes), or nothing when there
            is nothing to do. At least one content must hold the id. It is called again whenever the repo has moved,
            and may raise to give up.
        message: Title of the commit.
        deadline: Seconds after which it gives up.
        clock: Source of time.
        limit_bytes: Larger files are not read; ``decide`` sees them in ``view.oversize``.

    Returns:
        The change, also when an earlier try of this call had landed and only its answer was lost; None when there
        was nothing to do.

    Raises:
        Contention: The deadline passed. A try whose answer was lost may still have landed.
        HubError: The repo is absent or this token may not write.
    """
    op = secrets.token_hex(16)
    wanted = list(paths)
    wait = _Wait(repo_id, deadline, clock or Clock())
    while True:
        try:
            view = hub.view(repo_id, wanted, limit_bytes=limit_bytes)
            landed = {path: content for path, content in view.files.items() if op.encode() in content}
            if landed:
                return Change(op, view.commit, landed)
            plan = decide(view, op)
            if not plan:
                return None
            # Unchanged content is dropped by the client, which then reports success without a commit (Q11).
            if not any(op.encode() in content for content in plan.values() if content is not None):
                raise ValueError("a swap must write its own id")
            return Change(op, hub.commit(repo_id, plan, message, view.commit), plan)
        except HubError as error:
            wait.after(error)


def converge(
    hub: Hub,
    repo_id: str,
    build: Callable[[str], Plan],
    message: str,
    deadline: float = DEADLINE_SECONDS,
    clock: Clock | None = None,
) -> str:
    """Bring a repo to a state that depends only on what it holds.

    Args:
        hub: Where.
        repo_id: ``owner/name``.
        build: Gets the commit id that is being built on; returns what has to be written on top of it, nothing
            when all is well. Called again when the repo has moved.
        message: Title of the commit.
        deadline: Seconds after which it gives up.
        clock: Source of time.

    Returns:
        A commit id at which the state holds.

    Raises:
        Contention: The deadline passed.
        HubError: The repo is absent or this token may not write.
    """
    wait = _Wait(repo_id, deadline, clock or Clock())
    while True:
        try:
            head = hub.head(repo_id)
            plan = build(head)
            return hub.commit(repo_id, plan, message, head) if plan else head
        except HubError as error:
            wait.after(error)


def patiently(call: Callable[[], T], subject: str, deadline: float = 60.0, clock: Clock | None = None) -> T:
    """Repeat a reading call while the Hub is briefly away.

    Raises:
        HubError: A lasting failure, or the last brief one when the deadline has passed.
    """
    wait = _Wait(subject, deadline, clock or Clock())
    while True:
        try:
            return call()
        except HubError as error:
            try:
                wait.after(error)
            except Contention:
                raise error from None
