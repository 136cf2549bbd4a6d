"""One commit on the requests repo: outcomes, renewals, recovery, quarantine and claims (specs/hub.md 4.4, 4.5)."""

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from backend.config import Config
from backend.crew import Outcome
from rexrank.board import requests
from rexrank.board.requests import Claim, Failure, Progress, Request, RequestError, ResultPlace, transition
from rexrank.files import json_bytes
from rexrank.hub import Clock, Hub, HubError, View, swap

CLAIMED_KINDS = frozenset({"predictions", "baseline", "rescore"})
CLOCK_TOLERANCE = timedelta(seconds=60)
QUARANTINED_BYTES = 64 * 1024
LONGEST_WAIT = timedelta(hours=1)
# Every write stays in the history for ever, so progress is told at this pace only.
PROGRESS_AGE = timedelta(minutes=5)

FindResult = Callable[[Request], ResultPlace | None]


@dataclass(frozen=True)
class Held:
    """A request that this process works on, and how far it is."""

    claim_id: str
    progress: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Ending:
    """An outcome that is ready to be written: with the place of its result, or with the reason there is none."""

    outcome: Outcome
    place: ResultPlace | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Turn:
    """What one look at the queue came to.

    Attributes:
        claimed: Requests to start now, each with this process's claim.
        stop: Ids whose scoring must end: the claim is gone or the owner cancelled.
        waiting: Number of requests that wait.
        quarantined: Number of files found unreadable now.
    """

    claimed: list[Request] = field(default_factory=list)
    stop: set[str] = field(default_factory=set)
    waiting: int = 0
    quarantined: int = 0


class Queue:
    """The requests repo as one worker sees it."""

    def __init__(self, hub: Hub, repo: str, config: Config, clock: Clock) -> None:
        self._hub = hub
        self._repo = repo
        self._config = config
        self._clock = clock

    def turn(
        self,
        held: Mapping[str, Held],
        endings: Sequence[Ending],
        capacity: int,
        find_result: FindResult,
        given_back: frozenset[str] = frozenset(),
        deadline: float = 120.0,
    ) -> Turn:
        """Write what is due and claim what can be started.

        Args:
            held: What this process works on, by request id; ``endings`` are not in it.
            endings: Attempts that have ended.
            capacity: How many requests can be started now.
            find_result: Looks for a result that is already on the results repo.
            given_back: Held requests that this process gives up in good order.
            deadline: Seconds.

        Returns:
            What to start and what to stop.

        Raises:
            HubError: Nothing was decided, or the outcome is unknown; the next call sorts it out.
        """
        turns: list[Turn] = []
        ended = {ending.outcome.request.id: ending for ending in endings}

        def decide(view: View, op: str) -> dict[str, bytes | None]:
            plan = _Plan(self._config, self._clock.now(), op, held, ended, given_back, find_result)
            plan.look(view)
            plan.claim(capacity)
            turns[:] = [plan.turn]
            return plan.files

        paths = [requests.FOLDER, requests.QUARANTINE]
        change = swap(
            self._hub, self._repo, paths, decide, f"Tick of {self._config.worker}", deadline=deadline, clock=self._clock
        )
        turn = turns[0]
        if change is not None:
            turn.claimed = _claimed(change.files, change.op)
        return turn

    def holds(self, request_id: str, claim_id: str) -> bool:
        """Whether the request is still claimed under this id (rule Q13).

        Raises:
            HubError: The Hub cannot be read.
        """
        path = requests.path_of(request_id)
        content = self._hub.view(self._repo, [path]).files.get(path)
        try:
            claim = requests.read(content, path).claim if content is not None else None
        except RequestError:
            # Somebody has spoiled the file; it goes into quarantine, and nobody holds it.
            return False
        return claim is not None and claim.id == claim_id


class _Plan:
    """What one worker writes on top of one commit."""

    def __init__(
        self,
        config: Config,
        at: datetime,
        op: str,
        held: Mapping[str, Held],
        ended: Mapping[str, Ending],
        given_back: frozenset[str],
        find_result: FindResult,
    ) -> None:
        self.files: dict[str, bytes | None] = {}
        self.turn = Turn(stop=set(held))
        self._config = config
        self._at = at
        self._op = op
        self._held = held
        self._ended = ended
        self._given_back = given_back
        self._find_result = find_result
        self._candidates: list[Request] = []

    def look(self, view: View) -> None:
        """Go through all request files; nothing in one file can stop the others."""
        for path, content in sorted(view.files.items()):
            if not path.startswith(requests.FOLDER):
                continue
            try:
                request = requests.read(content, path)
                self._attend(request)
            except RequestError as error:
                self._quarantine(view, path, content, str(error))
            except HubError:
                raise
            except Exception as error:
                # Without its words, which may quote the file.
                self._quarantine(view, path, content, f"it cannot be processed ({type(error).__name__})")
        for path, size in view.oversize.items():
            if path.startswith(requests.FOLDER):
                self._quarantine(view, path, b"", f"file: {size} bytes, more than any request has")

    def claim(self, capacity: int) -> None:
        """Take the requests that are first in line: priority, then age."""
        line = sorted(self._candidates, key=lambda request: (request.priority, request.id))
        for request in line[:capacity]:
            claim = Claim(
                id=self._op,
                worker=self._config.worker,
                instance=self._config.instance,
                host=self._config.host,
                at=self._at,
                lease_until=self._at + self._config.lease,
            )
            self._write(self._moved(request, "claim", claim=claim))
        self.turn.waiting += len(line[capacity:])

    def _attend(self, request: Request) -> None:
        if request.status == "RUNNING":
            request = self._attend_running(request)
        if request.status != "PENDING" or request.visibility != "public" or request.kind not in CLAIMED_KINDS:
            return
        if request.id in self._given_back:
            return
        if request.not_before is None or request.not_before <= self._at:
            self._candidates.append(request)
        else:
            self.turn.waiting += 1

    def _attend_running(self, request: Request) -> Request:
        claim = request.claim
        assert claim is not None, "the model refuses RUNNING without a claim"
        ending = self._ended.get(request.id)
        held = self._held.get(request.id)
        if ending is not None and ending.outcome.claim_id == claim.id:
            return self._write(self._finished(request, ending))
        if held is not None and held.claim_id == claim.id:
            return self._attend_held(request, claim, held)
        mine = claim.worker == self._config.worker
        # Taken off the present and not put on the lease, which may end at the end of all time.
        if not mine and self._at - min(CLOCK_TOLERANCE, self._config.lease) <= claim.lease_until:
            return request
        return self._write(self._recovered(request, claim, mine))

    def _attend_held(self, request: Request, claim: Claim, held: Held) -> Request:
        if request.id in self._given_back or request.cancel_requested:
            return self._write(self._moved(request, "give_back", note="stopped in good order"))
        self.turn.stop.discard(request.id)
        lease = self._config.lease
        told_at = request.progress.at if request.progress else claim.at
        news = held.progress is not None and self._at - told_at >= PROGRESS_AGE
        if claim.lease_until - self._at > lease * 2 / 3 and not news:
            return request
        renewed = claim.model_copy(update={"lease_until": self._at + lease})
        progress = Progress(**held.progress, at=self._at) if held.progress else request.progress
        return self._write(self._moved(request, "renew", claim=renewed, progress=progress))

    def _finished(self, request: Request, ending: Ending) -> Request:
        if ending.place is not None:
            return self._moved(request, "finish", result=ending.place, **ending.facts)
        reason = ending.outcome.reason
        assert reason is not None, "an outcome without a result has a reason"
        failure = Failure(
            code=reason.code,
            stage=reason.stage,
            field=reason.field,
            message=reason.message,
            retryable=reason.retryable,
            at=self._at,
        )
        if reason.code in ("worker_lost", "timeout"):
            return self._moved(request, "lost", error=failure, note=reason.code)
        pause = max(self._config.retry, timedelta(seconds=reason.wait or 0))
        not_before = self._at + min(pause, LONGEST_WAIT)
        return self._moved(request, "error", error=failure, not_before=not_before, note=reason.code)

    def _recovered(self, request: Request, claim: Claim, mine: bool) -> Request:
        """A request whose worker is gone: its result may be there already, else it is tried again."""
        place = self._find_result(request)
        if place is not None:
            return self._moved(request, "finish", result=place, note="the result was already published")
        if mine and claim.instance == self._config.instance:
            # Claimed by a commit whose answer was lost; scoring never began.
            return self._moved(request, "give_back", note="claimed unknowingly")
        failure = Failure(
            code="worker_lost",
            message=f"worker {claim.worker} ended in the middle of attempt {request.attempt}",
            retryable=True,
            at=self._at,
        )
        return self._moved(request, "lost", error=failure, note="worker_lost")

    def _moved(self, request: Request, event: requests.Event, **given: Any) -> Request:
        return transition(request, event, op=self._op, at=self._at, worker=self._config.worker, **given)

    def _write(self, request: Request) -> Request:
        self.files[request.path] = request.to_bytes()
        return request

    def _quarantine(self, view: View, path: str, content: bytes, reason: str) -> None:
        target = _quarantine_path(path)
        sha256 = hashlib.sha256(content).hexdigest()
        if target in view.files and sha256.encode() in view.files[target]:
            return
        document = {
            "schema_version": requests.SCHEMA_VERSION,
            "path": path,
            "commit": view.commit,
            "sha256": sha256,
            "reason": reason,
            "at": requests.iso(self._at),
            "op": self._op,
            "content_base64": base64.b64encode(content[:QUARANTINED_BYTES]).decode(),
        }
        self.files[target] = json_bytes(document, ascii_only=True)
        self.turn.quarantined += 1


def _quarantine_path(path: str) -> str:
    """``quarantine/<id>.json``; a file whose name is no id gets a hash, so that no free text becomes a path."""
    stem = path.removeprefix(requests.FOLDER).removesuffix(".json")
    named = len(stem) == 26 and set(stem) <= set(requests.ULID_ALPHABET)
    return f"{requests.QUARANTINE}{stem if named else hashlib.sha256(path.encode()).hexdigest()[:26]}.json"


def _claimed(files: Mapping[str, bytes | None], op: str) -> list[Request]:
    found = []
    for path, content in files.items():
        if content is not None and path.startswith(requests.FOLDER):
            request = requests.read(content, path)
            if request.claim is not None and request.claim.id == op:
                found.append(request)
    return found
