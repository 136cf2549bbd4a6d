"""Ticks at a fixed pace until the process is asked to stop (rule Q28)."""

import logging
import signal
import threading
from datetime import UTC, datetime
from types import FrameType

from apscheduler.events import EVENT_JOB_MAX_INSTANCES
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from backend.worker import SecondInstance, Worker
from rexrank.hub import HubError

MISFIRE_SECONDS = 30
PREPARE_PAUSE = 5.0

_log = logging.getLogger(__name__)


def serve(worker: Worker, stop: threading.Event | None = None) -> bool:
    """Run ticks until SIGTERM, SIGINT or ``stop``; returns when the last one has ended.

    Args:
        worker: The worker; the caller stops it afterwards.
        stop: Set to end; signals of the process set it as well when this runs in the main thread.

    Returns:
        False when another process works under the worker's name, which ends this one.
    """
    stop = stop or threading.Event()
    _stop_on_signals(stop, worker)
    if not _prepared(worker, stop):
        return True
    _log.info("worker %s looks at the queue every %g s", worker.config.worker, worker.config.tick)
    second = threading.Event()
    scheduler = BackgroundScheduler(timezone=UTC, executors={"default": ThreadPoolExecutor(1)})
    scheduler.add_listener(lambda _event: _count_skip(worker), EVENT_JOB_MAX_INSTANCES)
    scheduler.add_job(
        lambda: _tick(worker, stop, second),
        "interval",
        seconds=worker.config.tick,
        next_run_time=datetime.now(UTC),
        coalesce=True,
        max_instances=1,
        misfire_grace_time=MISFIRE_SECONDS,
    )
    scheduler.start()
    try:
        stop.wait()
    finally:
        worker.interrupt()
        scheduler.shutdown(wait=True)
    return not second.is_set()


def once(worker: Worker) -> bool:
    """Claim what waits, score it to the end and publish it.

    Returns:
        Whether the last look at the queue went well.
    """
    stop = threading.Event()
    _stop_on_signals(stop, worker)
    worker.prepare()
    ok = worker.tick()
    while worker.busy and not stop.is_set():
        worker.wait(min(1.0, worker.config.tick))
        ok = worker.tick(claiming=False)
    return ok


def _tick(worker: Worker, stop: threading.Event, second: threading.Event) -> None:
    if stop.is_set():
        return
    try:
        worker.tick()
    except SecondInstance as error:
        _log.error("%s", error)
        second.set()
        stop.set()


def _prepared(worker: Worker, stop: threading.Event) -> bool:
    """Prepare the host's repos, as soon as the Hub answers."""
    while not stop.is_set():
        try:
            worker.prepare()
        except HubError as error:
            if not error.retryable:
                raise
            _log.warning("waiting for the Hub: %s", error)
            stop.wait(PREPARE_PAUSE)
        else:
            return True
    return False


def _count_skip(worker: Worker) -> None:
    worker.skipped_ticks += 1


def _stop_on_signals(stop: threading.Event, worker: Worker) -> None:
    if threading.current_thread() is not threading.main_thread():
        return

    def ask(_signal: int, _frame: FrameType | None) -> None:
        stop.set()
        worker.interrupt()

    signal.signal(signal.SIGTERM, ask)
    signal.signal(signal.SIGINT, ask)
