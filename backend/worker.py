"""One worker: at every tick it publishes what has ended, writes the queue once, and starts what it claimed.

Everything it knows it can learn again from the Hub, so it may be stopped at any moment.
"""

import logging
import shutil
import subprocess
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TextIO

from backend import rules, setup
from backend.config import Config
from backend.crew import Crew, Outcome
from backend.failures import Reason, trace
from backend.publishing import Publisher
from backend.queue import Ending, Held, Queue, Turn
from rexrank import __version__
from rexrank.board import host as hosts
from rexrank.board import requests
from rexrank.board.host import Host
from rexrank.board.requests import Evaluator, Request, ResultPlace, iso
from rexrank.board.results import Result
from rexrank.errors import RexrankError
from rexrank.files import json_bytes
from rexrank.hub import Clock, Contention, Hub, HubError, View, converge
from rexrank.processes import hold_lock

GIT_SECONDS = 5.0
STOP_DEADLINE = 10.0
LEAST_FREE_BYTES = 32 * 2**20

_log = logging.getLogger(__name__)


class SecondInstance(RexrankError):
    """Another process works under this worker's name."""


class Worker:
    """A worker process; use as a context manager, which holds the worker's lock on this machine."""

    def __init__(self, hub: Hub, config: Config, clock: Clock | None = None) -> None:
        self.config = config
        self.skipped_ticks = 0
        self._hub = hub
        self._interrupted = threading.Event()
        self._clock = clock or Clock(sleep=self._pause)
        self._queue = Queue(hub, hosts.repo("requests", config.namespace), config, self._clock)
        results_repo = hosts.repo("results", config.namespace)
        self._publisher = Publisher(hub, results_repo, __version__, self._clock, config.metrics)
        self._host = Host()
        self._outcomes: dict[str, Outcome] = {}
        self._tables_due = False
        self._full = False
        self._waiting = 0
        self._started_at = self._clock.now()
        self._beat_at: datetime | None = None
        self._ok_at: datetime | None = None
        self._lock = _lock(config)
        self._crew = Crew(config, hub.endpoint, hub.token, _git_sha())

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def busy(self) -> bool:
        """Whether something is being scored, or a finished score still has to be written."""
        return bool(self._crew.scorers or self._outcomes)

    @property
    def scoring(self) -> Mapping[str, int | None]:
        """Process id of each scoring process by request id."""
        return {request_id: scorer.pid for request_id, scorer in self._crew.scorers.items()}

    def progress(self, request_id: str) -> dict[str, Any] | None:
        """What the scoring of a request last told: stage, items done, items in all."""
        scorer = self._crew.scorers.get(request_id)
        return scorer.progress() if scorer else None

    def prepare(self) -> None:
        """Make the host's repos and bring them up to date; needed once before the first tick.

        Raises:
            HubError: The Hub cannot be read or written.
            SecondInstance: Another machine works under this worker's name.
        """
        self._host = setup.ensure_repos(self._hub, self.config, self._clock)
        self._beat(self._clock.now())

    def tick(self, claiming: bool = True) -> bool:
        """Do everything that is due now.

        Args:
            claiming: Whether new requests are taken.

        Returns:
            Whether all went well; what did not is tried again at the next tick.

        Raises:
            SecondInstance: Another process works under this worker's name; this one must stop.
        """
        now = self._clock.now()
        try:
            self._host = setup.refresh_host(self._hub, self.config, self._clock)
            self._gather()
            turn = self._write(claiming)
            self._start(turn)
            self._ok_at = now
        except HubError as error:
            _log.warning("this tick ends early, the next one goes on: %s", error)
            return False
        except Exception as error:
            # Without its words: an unforeseen error may quote its input.
            _log.error("this tick failed, the next one goes on: %s", " > ".join(trace(error)))
            return False
        # Whichever way the clock was set: a sign of life from the future says nothing.
        if self._beat_at is None or abs(now - self._beat_at) >= timedelta(seconds=self.config.heartbeat):
            self._beat(now)
        return True

    def wait(self, seconds: float) -> None:
        """Wait until a scoring process ends, at most this long."""
        for scorer in list(self._crew.scorers.values())[:1]:
            scorer.wait(seconds)

    def interrupt(self) -> None:
        """Cut short whatever waits for the Hub, so that the worker can be stopped at once; safe in a signal handler."""
        self._interrupted.set()

    def stop(self) -> None:
        """End all scoring and give the requests back; where the Hub does not answer, recovery will."""
        # Giving back has a short deadline of its own, within which it may wait for other writers.
        self._interrupted.clear()
        held = {scorer.request.id: Held(scorer.claim_id) for scorer in self._crew.drop_all()}
        if held:
            _log.info("giving %d requests back", len(held))
            try:
                self._queue.turn(held, [], 0, self._find, frozenset(held), STOP_DEADLINE)
            except RexrankError as error:
                _log.warning("requests could not be given back, the next start does it: %s", error)
        self._lock.close()

    def _pause(self, seconds: float) -> None:
        if self._interrupted.wait(seconds):
            raise Contention("the worker is being stopped")

    def _gather(self) -> None:
        for outcome in self._crew.collect():
            self._outcomes[outcome.request.id] = outcome
            reason = outcome.reason
            if reason is not None:
                _log.warning("request %s: %s %s", outcome.request.id, reason.code, reason.message)
                if outcome.trace:
                    _log.warning("request %s went through %s", outcome.request.id, " > ".join(outcome.trace))

    def _write(self, claiming: bool) -> Turn:
        """Results first, then the queue (rule Q16)."""
        done = [outcome for outcome in self._outcomes.values() if outcome.result is not None]
        published = self._publisher.publish(self._still_held(done))
        self._tables_due = self._tables_due or bool(published)
        self._rebuild_tables()
        endings = [
            ending for outcome in self._outcomes.values() if (ending := self._ending(outcome, published)) is not None
        ]
        held = {
            request_id: Held(scorer.claim_id, scorer.progress()) for request_id, scorer in self._crew.scorers.items()
        }
        capacity = max(0, self.config.claim_batch - len(held)) if claiming and self._has_room() else 0
        turn = self._queue.turn(held, endings, capacity, self._find)
        for ending in endings:
            if ending.place is not None:
                _log.info("request %s is done: %s", ending.outcome.request.id, ending.place.path)
        self._outcomes.clear()
        self._waiting = turn.waiting
        return turn

    def _find(self, request: Request) -> ResultPlace | None:
        """Where the result of a request already is; whoever wrote it may have ended before the tables followed."""
        place = self._publisher.find(request)
        self._tables_due = self._tables_due or place is not None
        return place

    def _has_room(self) -> bool:
        """Whether there is disk for files to score; else what waits keeps waiting, instead of failing here."""
        try:
            free = shutil.disk_usage(self.config.folder).free
        except OSError:
            free = 0
        full = free < LEAST_FREE_BYTES
        if full and not self._full:
            _log.warning("nothing is claimed while %s has less than %d MB", self.config.folder, LEAST_FREE_BYTES >> 20)
        self._full = full
        return not full

    def _still_held(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Those whose claim is still this process's; the others belong to somebody else by now (rule Q13)."""
        return [outcome for outcome in outcomes if self._queue.holds(outcome.request.id, outcome.claim_id)]

    def _rebuild_tables(self) -> None:
        if not self._tables_due:
            return
        try:
            self._publisher.rebuild()
            self._tables_due = False
        except RexrankError as error:
            # The results are safe; the tables follow at the next tick.
            _log.warning("the tables are not rebuilt yet: %s", error)

    def _ending(self, outcome: Outcome, published: Mapping[str, Any]) -> Ending | None:
        if outcome.reason is not None:
            return Ending(outcome)
        if outcome.request.id not in published:
            return None
        place, result = published[outcome.request.id]
        return Ending(outcome, place, {"file_sha256": result.file_sha256, "evaluator": _evaluator(result)})

    def _start(self, turn: Turn) -> None:
        for request_id in turn.stop:
            _log.info("request %s is no longer this worker's", request_id)
            self._crew.drop(request_id)
        for request in turn.claimed:
            self._start_one(request)
        if turn.quarantined:
            _log.warning("%d unreadable request files went into quarantine", turn.quarantined)

    def _start_one(self, request: Request) -> None:
        if request.claim is None or request.id in self._crew.scorers:
            return
        _log.info("request %s: attempt %d of %d", request.id, request.attempt, request.max_attempts)
        benchmark = self._host.benchmarks.get(request.dataset)
        repo = hosts.repo(request.dataset, self.config.namespace)
        try:
            self._crew.start(request, request.claim.id, repo, benchmark)
        except OSError as error:
            # Told like any other end, so that it is tried again later and not at once.
            message = f"the worker cannot start scoring ({error.strerror or type(error).__name__})"
            reason = Reason("internal", message, "start")
            self._outcomes[request.id] = Outcome(request, request.claim.id, reason=reason)
            _log.warning("request %s: %s", request.id, message)

    def _beat(self, now: datetime) -> None:
        """Leave a sign of life, and find out whether another machine uses this worker's name (rules Q18, Q21)."""
        path = f"{requests.WORKERS}{self.config.worker}.json"
        repo = hosts.repo("status", self.config.namespace)

        def wanted(head: str) -> dict[str, bytes | None]:
            self._refuse_second(self._hub.view(repo, [path], head), path)
            return {path: self._sign_of_life(now)}

        try:
            converge(self._hub, repo, wanted, f"{self.config.worker} is alive", clock=self._clock)
            self._beat_at = now
        except HubError as error:
            _log.warning("no sign of life could be left: %s", error)

    def _refuse_second(self, view: View, path: str) -> None:
        """Of two live processes with one name the later one stops.

        The other is alive when it wrote after this one had: at the start of this one it may have been killed.
        """
        if self._beat_at is None or path not in view.files:
            return
        other = requests.document(view.files[path])
        try:
            earlier = other["instance"] != self.config.instance and other["started_at"] < iso(self._started_at)
        except (KeyError, TypeError):
            return
        if earlier:
            raise SecondInstance(
                f"another process works as {self.config.worker} (on {other.get('host')}); "
                "give this one another name with REXRANK_WORKER"
            )

    def _sign_of_life(self, now: datetime) -> bytes:
        sign = {
            "schema_version": 1,
            "worker": self.config.worker,
            "instance": self.config.instance,
            "host": self.config.host,
            "version": __version__,
            "started_at": iso(self._started_at),
            "last_tick_at": iso(now),
            "last_ok_at": iso(self._ok_at) if self._ok_at else None,
            "running": sorted(self._crew.scorers),
            "queue_depth": self._waiting,
            "skipped_ticks": self.skipped_ticks,
            "capabilities": {"metrics": rules.computed(self.config), "protocols": rules.offered(self.config)},
        }
        return json_bytes(sign, ascii_only=True)


def _evaluator(result: Result) -> Evaluator:
    metrics = {
        key: {
            "version": found.metric_version,
            "module_revision": found.module_revision,
            "weights_sha256": found.weights_sha256,
        }
        for key, found in result.metrics.items()
        if found.status == "ok"
    }
    evaluator = result.evaluator
    return Evaluator(version=evaluator.version, git_sha=evaluator.git_sha, packages=evaluator.packages, metrics=metrics)


def _lock(config: Config) -> TextIO:
    """Hold the worker's name on this machine.

    Raises:
        SecondInstance: Another process holds it.
    """
    config.folder.parent.mkdir(parents=True, exist_ok=True)
    lock = hold_lock(config.folder.parent / f"{config.folder.name}.lock")
    if lock is None:
        raise SecondInstance(
            f"another process on this machine works as {config.worker}; give this one another name with REXRANK_WORKER"
        )
    return lock


def _git_sha() -> str | None:
    """Commit of the checkout this runs from, if it is one."""
    root = Path(__file__).resolve().parents[1]
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, timeout=GIT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip()
