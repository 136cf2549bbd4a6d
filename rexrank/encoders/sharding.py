"""Encoding of texts into a store, on one device in this process or on several in a process each."""

import heapq
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import Pipe
from typing import Any

from rexrank.encoders import find
from rexrank.encoders.encoder import EncoderFailure, Model, Record
from rexrank.encoders.recent import Records
from rexrank.encoders.store import Store
from rexrank.encoders.weights import Located
from rexrank.encoders.worker import Job, Progress
from rexrank.processes import FOLLOW_PARENT

SILENCE_SECONDS = 1800.0
LEAST_TEXTS = 100

# Not ``-m``, by which the worker's classes would have another name there than here.
_PROGRAM = "from rexrank.encoders.worker import main; main()"
_END_SECONDS = 30.0
_LOOK_SECONDS = 5.0
# What a text costs beside its length, in characters.
_COST_OF_A_TEXT = 20

_log = logging.getLogger(__name__)


def encode_here(
    model: Model, texts: Sequence[str], store: Records, shelf: str, done: Callable[[int], None]
) -> list[int]:
    """Encode texts in this process; records go to the store as they come, and few are in memory at a time.

    Args:
        model: A model that is loaded.
        texts: All different.
        store: Takes the records.
        shelf: The store's shelf.
        done: Called with a number of texts whenever that many more are through, failed ones included.

    Returns:
        Positions of those texts for which the model gave nothing, in order.

    Raises:
        EncoderFailure: No text can be encoded.
    """
    failed: list[int] = []
    model.keep_parts_in(store, shelf)

    def records() -> Iterator[tuple[str, Record]]:
        for position, record in model.encode(texts):
            if record is None:
                failed.append(position)
            else:
                yield texts[position], record
            done(1)

    store.put(shelf, records())
    return sorted(failed)


def loader(feature: str, options: Mapping[str, Any], located: Sequence[Located]) -> Callable[[str], Model]:
    """What `encode` loads a model with, here or in another process.

    Args:
        feature: As of `rexrank.encoders.find`.
        options: As of `rexrank.encoders.find`; plain values alone, since they travel to other processes.
        located: Files of the encoder's checkpoints, as its `locate` gives them.

    Returns:
        Takes a device and gives the model; it can be pickled.
    """
    return partial(_load, feature, dict(options), tuple(located))


def encode(
    load: Callable[[str], Model],
    texts: Sequence[str],
    devices: Sequence[str],
    store: Store,
    shelf: str,
    done: Callable[[int], None],
    silence_seconds: float = SILENCE_SECONDS,
    least_texts: int = LEAST_TEXTS,
) -> list[int]:
    """Encode texts on one or several devices.

    With one device the model is loaded in this process. With several, a new process each encodes a share and writes
    to the store itself; what a process leaves that dies or hangs, this process does on the first device.

    Args:
        load: From `loader`.
        texts: All different; they reach the processes through a pipe alone.
        devices: From `rexrank.encoders.devices.devices`.
        store: Takes the records.
        shelf: The store's shelf.
        done: Called with a number of texts whenever that many more are through, failed ones included; in the end
            with as many as there are texts, all calls together.
        silence_seconds: A process that tells nothing for so long is taken for hanging, and ended.
        least_texts: A process is not worth its start for fewer.

    Returns:
        Positions of those texts for which the model gave nothing, in order.

    Raises:
        EncoderFailure: The model cannot be loaded, or no text can be encoded.
    """
    worthwhile = devices[: max(1, len(texts) // max(1, least_texts))]
    failed: list[int] = []
    left: Sequence[int] = range(len(texts))
    if len(worthwhile) > 1 and sys.executable:
        left, failed = _encode_elsewhere(load, texts, worthwhile, store, shelf, done, silence_seconds)
    if left:
        rest = [texts[position] for position in left]
        failed += [left[position] for position in encode_here(load(devices[0]), rest, store, shelf, done)]
    return sorted(failed)


def _load(feature: str, options: Mapping[str, Any], located: Sequence[Located], device: str) -> Model:
    encoder = find(feature, options)
    if encoder is None:
        raise EncoderFailure(f"no encoder makes {feature}")
    return encoder.load(located, device)


class _Process:
    """A worker with its share, seen from its parent."""

    def __init__(self, job: Job, positions: Sequence[int], others: int, heard: "queue.Queue[_Heard]") -> None:
        self.device = job.device
        self.positions = positions
        self.last_heard = time.monotonic()
        self._pipe, end = Pipe()
        environment = {
            # Processes that share the processor do not take all of it each.
            "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // (others + 1))),
            **os.environ,
            FOLLOW_PARENT: str(os.getpid()),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        command = [sys.executable, "-P", "-c", _PROGRAM, str(end.fileno())]
        with end, _without_ctrl_c():
            self.process = subprocess.Popen(
                command,
                env=environment,
                pass_fds=[end.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        threading.Thread(target=self._listen, args=(job, heard), name="encoding", daemon=True).start()

    def end(self, grace_seconds: float = 0.0) -> None:
        """End the process, if it does not end by itself."""
        try:
            self.process.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _listen(self, job: Job, heard: "queue.Queue[_Heard]") -> None:
        """Send the job and pass on what is told; a thread, so that nobody waits for a process that stops midway."""
        try:
            with suppress(EOFError, OSError), self._pipe:
                self._pipe.send(job)
                while True:
                    progress = self._pipe.recv()
                    self.last_heard = time.monotonic()
                    heard.put((self, progress))
        finally:
            heard.put((self, None))


_Heard = tuple[_Process, Progress | None]


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach, from their first moment; it reaches this one, which ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _encode_elsewhere(
    load: Callable[[str], Model],
    texts: Sequence[str],
    devices: Sequence[str],
    store: Store,
    shelf: str,
    done: Callable[[int], None],
    silence_seconds: float,
) -> tuple[list[int], list[int]]:
    """Encode in a process a device; the positions that are left, and those for which the model gave nothing."""
    left, failed = set(range(len(texts))), set[int]()
    heard: queue.Queue[_Heard] = queue.Queue()
    running: list[_Process] = []
    try:
        for device, positions in zip(devices, _shares(texts, len(devices)), strict=True):
            share = [texts[at] for at in positions]
            job = Job(load, device, share, store.folder, store.limit_bytes, store.patience_seconds, shelf)
            with suppress(OSError):  # where no process can be started, its share is left
                running.append(_Process(job, positions, len(devices) - 1, heard))
        while running:
            for process in running:
                if time.monotonic() - process.last_heard > silence_seconds:
                    process.end()
            try:
                process, progress = heard.get(timeout=min(_LOOK_SECONDS, silence_seconds))
            except queue.Empty:
                continue
            if progress is None:
                running.remove(process)
                process.end(_END_SECONDS)
                _tell_end(process, left)
                continue
            through = _take(process, progress, texts, store, shelf)
            failed.update(process.positions[at] for at in progress.failed)
            left -= through
            done(len(through))
    finally:
        for process in running:
            process.end()
    return sorted(left), sorted(failed)


def _take(process: _Process, progress: Progress, texts: Sequence[str], store: Store, shelf: str) -> set[int]:
    """Keep what a process could not; positions of all that it is through with."""
    if progress.fault:
        _log.warning("encoding on %s failed: %s", process.device, progress.fault)
    store.put(shelf, ((texts[process.positions[at]], record) for at, record in progress.records.items()))
    return {process.positions[at] for at in (*progress.kept, *progress.failed, *progress.records)}


def _tell_end(process: _Process, left: set[int]) -> None:
    if count := len(left.intersection(process.positions)):
        code = process.process.returncode
        _log.warning(
            "a process that encoded on %s ended (%s); what it left, %d texts, is encoded in this one",
            process.device,
            f"signal {-code}" if code < 0 else f"exit code {code}",
            count,
        )


def _shares(texts: Sequence[str], count: int) -> list[list[int]]:
    """Positions of texts, spread so that each share is about as long as the others, in characters."""
    shares: list[list[int]] = [[] for _ in range(count)]
    sums = [(0, share) for share in range(count)]
    for position in sorted(range(len(texts)), key=lambda at: len(texts[at]), reverse=True):
        length, share = sums[0]
        shares[share].append(position)
        heapq.heapreplace(sums, (length + _COST_OF_A_TEXT + len(texts[position]), share))
    return shares
