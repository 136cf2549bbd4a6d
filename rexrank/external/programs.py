"""Programs that answer one line with one line, driven so that nothing waits for them without end.

Several copies of a program serve one call, in one thread, with a limit of time
for every answer. A copy that died, stayed silent or said something unexpected is
killed and replaced, so that no answer is ever taken for that of another line. The
copies stay for later calls. They end with this process however it ends: they are
killed at a normal exit, and after a kill -9 find their input closed.
"""

import atexit
import math
import os
import selectors
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from rexrank.errors import RexrankError

Answer = TypeVar("Answer")

_TRIES = 2
_FAILED_STARTS = 2
_LOST_COPIES = 10
_LONGEST_ANSWER = 1 << 16
_REAP_SECONDS = 1.0


class ProgramFailed(RexrankError, RuntimeError):
    """A program that cannot be started here or keeps ending; says what to look at."""


@dataclass(frozen=True)
class Program(Generic[Answer]):
    """How a program is started and understood.

    Attributes:
        name: Name for messages.
        command: The command and its arguments.
        folder: Working folder.
        greeting: A line that it answers as soon as it is ready.
        read: Takes an answer to its value; raises ValueError where it is none.
        advice: What to do where it does not start, as the end of a sentence.
        unset: Environment variables that it must not see.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    greeting: str
    read: Callable[[str], Answer]
    advice: str
    unset: tuple[str, ...] = ()


@dataclass(frozen=True)
class TimeLimits:
    """How long to wait at most, in seconds.

    Attributes:
        start: For the answer to the greeting.
        answer: For any other answer.
        turn: For a copy while other threads use all of them.
    """

    start: float = 180.0
    answer: float = 300.0
    turn: float = 3600.0


class _Lost(Exception):
    """The copy is dead or out of step."""


class _Copy:
    """One running copy of a program, which owes at most one answer.

    Attributes:
        task: Number of the line that it works on; None for the greeting.
        owes: Whether an answer is outstanding.
        deadline: When that is late, by the monotonic clock; infinite where nothing is owed.
    """

    def __init__(self, program: Program[Any], limits: TimeLimits) -> None:
        self.process = subprocess.Popen(
            program.command,
            cwd=program.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name not in program.unset},
            bufsize=0,
            start_new_session=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout
        for pipe in (self.input, self.output):
            os.set_blocking(pipe.fileno(), False)
        self._unsent = memoryview(b"")
        self._received = b""
        self.task: int | None = None
        self.owes = False
        self.deadline = math.inf
        self.ask(None, program.greeting, limits.start)

    @property
    def sending(self) -> bool:
        """Whether a part of the line waits for room in the pipe."""
        return len(self._unsent) > 0

    def ask(self, task: int | None, line: str, seconds: float) -> None:
        """Begin to send a line."""
        self.task, self.owes, self.deadline = task, True, time.monotonic() + seconds
        self._unsent = memoryview(f"{line}\n".encode())

    def send(self) -> None:
        """Send as much as the pipe takes now.

        Raises:
            _Lost: Nobody reads any more.
        """
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self.input.fileno(), self._unsent) :]
        except BlockingIOError:
            return
        except OSError:
            raise _Lost from None

    def receive(self) -> str | None:
        """The answer, once all of it is there; it stays owed until `settle`.

        Raises:
            _Lost: The copy has ended, or has said something that nobody asked for.
        """
        try:
            part = os.read(self.output.fileno(), _LONGEST_ANSWER)
        except BlockingIOError:
            return None
        self._received += part
        line, end, more = self._received.partition(b"\n")
        if not part or more or not self.owes or self.sending or len(line) > _LONGEST_ANSWER:
            raise _Lost
        return line.decode("ascii", "replace").strip() if end else None

    def settle(self) -> None:
        """Note that the answer is one."""
        self._received, self.owes, self.deadline = b"", False, math.inf

    def kill(self) -> None:
        """End it and all that it started."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.let_go()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_REAP_SECONDS)

    def let_go(self) -> None:
        """Close this process's ends of the pipes."""
        self.input.close()
        self.output.close()

    def disown(self) -> None:
        """Forget, in a forked child, a copy that serves the parent."""
        self.let_go()
        self.process.returncode = 0  # not a child of this process, so there is nothing to wait for


class Workers(Generic[Answer]):
    """Copies of one program, started as they are needed, shared by threads."""

    def __init__(self, program: Program[Answer], most: int, limits: TimeLimits | None = None) -> None:
        """Start nothing yet.

        Args:
            program: The program.
            most: How many copies run at once at most.
            limits: Limits of time.
        """
        self.program = program
        self.limits = limits or TimeLimits()
        self._most = most
        self._closed = False
        self._all: set[_Copy] = set()
        self._idle: list[_Copy] = []
        self._changed = threading.Condition()
        _alive.add(self)

    def ask(self, lines: Sequence[str], copies: int = 1) -> list[Answer | None]:
        """Have lines answered.

        Args:
            lines: The lines, without line breaks.
            copies: How many copies of the program share the work.

        Returns:
            One answer a line; None where the program twice ended or said nonsense, or once took too long.

        Raises:
            ProgramFailed: It does not start, ends again and again, or is in use for longer than the limit.
        """
        if not lines:
            return []
        batch = _Batch(self, lines)
        try:
            self._take(max(1, min(copies, len(lines), self._most)), batch.copies)
            batch.run()
        finally:
            self._give_back(batch.copies)
        return batch.answers

    def process_ids(self) -> list[int]:
        """Process ids of the copies that run now."""
        with self._changed:
            return sorted(copy.process.pid for copy in self._all)

    def one_more(self) -> _Copy:
        """An idle copy, or a new one, which need not be ready yet.

        Raises:
            ProgramFailed: The system cannot start it.
        """
        with self._changed:
            if self._idle:
                return self._idle.pop(0)
            if self._closed:
                raise ProgramFailed(f"{self.program.name} is not started any more: this process is ending")
            try:
                copy = _Copy(self.program, self.limits)
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise ProgramFailed(
                    f"{self.program.name} cannot be started ({reason}); {self.program.advice}"
                ) from None
            self._all.add(copy)
            return copy

    def discard(self, copy: _Copy) -> None:
        """Kill a copy; another one may take its place."""
        with self._changed:
            self._all.discard(copy)
            self._changed.notify_all()
        copy.kill()

    def close(self) -> None:
        """Kill all copies for good."""
        with self._changed:
            self._closed = True
            gone, self._all, self._idle = self._all, set(), []
            self._changed.notify_all()
        for copy in gone:
            copy.kill()

    def forget(self) -> None:
        """Leave the copies to the parent, in a forked child."""
        for copy in self._all:
            copy.disown()
        self._all, self._idle = set(), []
        self._changed = threading.Condition()

    def _take(self, wanted: int, taken: list[_Copy]) -> None:
        """Lend up to so many copies, at least one; an exception leaves in the list what was lent by then."""
        end = time.monotonic() + self.limits.turn
        with self._changed:
            while True:
                try:
                    while len(taken) < wanted and (self._idle or len(self._all) < self._most):
                        taken.append(self.one_more())
                except ProgramFailed:
                    if not taken:
                        raise
                if taken:
                    return
                if not self._changed.wait(max(0.0, end - time.monotonic())) and time.monotonic() >= end:
                    raise ProgramFailed(
                        f"{self.program.name} was in use by other threads for {self.limits.turn:g} s; try again later"
                    )

    def _give_back(self, copies: Sequence[_Copy]) -> None:
        unsure = [copy for copy in copies if copy.owes and copy.task is not None]
        for copy in unsure:
            self.discard(copy)
        with self._changed:
            self._idle += [copy for copy in copies if copy in self._all]
            self._changed.notify_all()


class _Batch(Generic[Answer]):
    """The lines of one call on their way through the copies lent to it.

    Attributes:
        answers: What has come so far.
        copies: The copies at work or ready.
    """

    def __init__(self, workers: Workers[Answer], lines: Sequence[str]) -> None:
        self._workers = workers
        self._lines = lines
        self._queue = deque(range(len(lines)))
        self._tries = [0] * len(lines)
        self._open = len(lines)
        self._failed_starts = 0
        self._lost = 0
        self.answers: list[Answer | None] = [None] * len(lines)
        self.copies: list[_Copy] = []

    def run(self) -> None:
        """Go on until every line has its answer or was given up."""
        with selectors.DefaultSelector() as self._selector:
            for copy in list(self.copies):
                self._enlist(copy)
            while self._open:
                pause = min(copy.deadline for copy in self.copies) - time.monotonic()
                for copy in {key.data: None for key, _ in self._selector.select(max(0.0, pause))}:
                    if copy in self.copies:
                        self._attend(copy)
                now = time.monotonic()
                for copy in list(self.copies):
                    if copy.deadline <= now:
                        self._lose(copy, late=True)

    def _enlist(self, copy: _Copy) -> None:
        self._selector.register(copy.output, selectors.EVENT_READ, copy)
        self._attend(copy)

    def _attend(self, copy: _Copy) -> None:
        """Send what is to be sent, take what has come, and give a copy that owes nothing its next line."""
        try:
            copy.send()
            answer = copy.receive()
            if answer is not None:
                self._accept(copy, self._workers.program.read(answer))
            if not copy.owes and self._queue:
                self._employ(copy)
        except (_Lost, ValueError):
            self._lose(copy, late=False)
        else:
            self._watch_input(copy)

    def _accept(self, copy: _Copy, value: Answer) -> None:
        copy.settle()
        if copy.task is not None:
            self.answers[copy.task] = value
            self._open -= 1

    def _employ(self, copy: _Copy) -> None:
        task = self._queue.popleft()
        self._tries[task] += 1
        copy.ask(task, self._lines[task], self._workers.limits.answer)
        copy.send()

    def _watch_input(self, copy: _Copy) -> None:
        watched = copy.input in self._selector.get_map()
        if copy.sending and not watched:
            self._selector.register(copy.input, selectors.EVENT_WRITE, copy)
        elif watched and not copy.sending:
            self._selector.unregister(copy.input)

    def _lose(self, copy: _Copy, late: bool) -> None:
        for pipe in (copy.input, copy.output):
            if pipe in self._selector.get_map():
                self._selector.unregister(pipe)
        self._workers.discard(copy)
        self.copies.remove(copy)
        self._count_loss(copy, late)
        for idle in [other for other in self.copies if not other.owes]:
            if idle in self.copies:  # the loss of one before it may have shown that it is lost as well
                self._attend(idle)
        # Where memory is short, those that run go on without the ones that do not start.
        if self._queue and (self._failed_starts < _FAILED_STARTS or not self.copies):
            self.copies.append(self._workers.one_more())
            self._enlist(self.copies[-1])

    def _count_loss(self, copy: _Copy, late: bool) -> None:
        program, limits = self._workers.program, self._workers.limits
        if copy.owes and copy.task is None:
            self._failed_starts += 1
            if self._failed_starts >= _FAILED_STARTS and not self.copies:
                how = f"was not ready after {limits.start:g} s" if late else "ended while it started"
                raise ProgramFailed(f"{program.name} {how}; {program.advice}")
            return
        self._lost += 1
        if self._lost > _LOST_COPIES:
            raise ProgramFailed(f"{program.name} ended or stayed silent {self._lost} times in one call")
        if copy.owes and copy.task is not None:
            if late or self._tries[copy.task] >= _TRIES:
                self._open -= 1
            else:
                self._queue.appendleft(copy.task)


_alive: "weakref.WeakSet[Workers]" = weakref.WeakSet()


def _close_all() -> None:
    for workers in list(_alive):
        workers.close()


def _forget_all() -> None:
    for workers in list(_alive):
        workers.forget()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_all)
