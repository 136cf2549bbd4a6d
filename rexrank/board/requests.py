"""One entry of the queue, as it is stored, and the only way in which it may change."""

import json
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidationError,
    model_validator,
)

from rexrank.board import names
from rexrank.errors import RexrankError
from rexrank.files import json_bytes
from rexrank.hub.clock import Clock
from rexrank.terms import Track

SCHEMA_VERSION = 1
FOLDER = "requests/"
QUARANTINE = "quarantine/"
# Each worker's sign of life, in the status repo.
WORKERS = "workers/"
ULID_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
MESSAGE_LENGTH, LICENSE_LENGTH, DESCRIPTION_LENGTH = 500, 64, 500
MOST_ATTEMPTS = 10

Status = Literal["PENDING", "RUNNING", "FINISHED", "FAILED", "CANCELLED"]
Kind = Literal["predictions", "rescore", "baseline", "model"]
Event = Literal["claim", "renew", "finish", "error", "lost", "give_back", "cancel", "reopen"]
SHOWN: Mapping[Status, str] = {
    "PENDING": "pending",
    "RUNNING": "running",
    "FINISHED": "done",
    "FAILED": "failed",
    "CANCELLED": "cancelled",
}


class RequestError(RexrankError):
    """A request file that cannot be read, or a change that its state does not allow."""


def iso(moment: datetime) -> str:
    """A moment in UTC as ISO 8601 with ``Z``; parts of a second only where there are any."""
    return moment.isoformat().replace("+00:00", "Z")


def _in_utc(moment: datetime) -> datetime:
    if moment.utcoffset() != timedelta(0):
        raise ValueError("times are in UTC and end in Z")
    return moment


def new_id(clock: Clock | None = None) -> str:
    """A fresh ULID: 48 bits of milliseconds, then 80 random bits, so that ids sort by age.

    Format: https://github.com/ulid/spec
    """
    moment = (clock or Clock()).now()
    number = int(moment.timestamp() * 1000) << 80 | secrets.randbits(80)
    return "".join(ULID_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


Utc = Annotated[AwareDatetime, AfterValidator(_in_utc), PlainSerializer(iso, return_type=str)]
Ulid = Annotated[str, StringConstraints(pattern=f"^[0-7][{ULID_ALPHABET}]{{25}}$")]
Name = Annotated[str, AfterValidator(names.model_name)]
Slug = Annotated[str, AfterValidator(names.slug)]
RepoId = Annotated[str, AfterValidator(names.repo_id)]
PathInRepo = Annotated[str, AfterValidator(names.path_in_repo)]
CommitId = Annotated[str, AfterValidator(names.commit_id)]
Link = Annotated[str, AfterValidator(names.link)]
Sha256 = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
Message = Annotated[str, StringConstraints(max_length=MESSAGE_LENGTH)]
Remark = Annotated[str, AfterValidator(names.remark)]
Count = Annotated[int, Field(ge=0)]


class _Model(BaseModel):
    # Unknown fields are kept, so that a worker of an earlier release does not drop what a later one wrote.
    # Numbers that are not finite cannot be written again, so a file that holds one must not be taken.
    model_config = ConfigDict(
        strict=True,
        extra="allow",
        frozen=True,
        populate_by_name=True,
        ser_json_inf_nan="null",
        allow_inf_nan=False,
    )


class Submitter(_Model):
    """Who sent the request, as the Hub vouched for it, and by which way."""

    name: Slug
    via: Literal["web", "api", "cli"]


class Declared(_Model):
    """What the submitter says about the model; nothing here is checked."""

    trained_on: tuple[Remark, ...] = ()
    leakage: Literal["none", "possible", "yes", "unknown"] = "unknown"
    uses_prior: bool | None = None
    uses_views: bool | None = None
    external_api: bool | None = None
    code_available: bool | None = None


class Claim(_Model):
    """Which process works on the request; ``id`` alone decides who holds it."""

    id: str
    worker: str
    instance: str
    host: str
    at: Utc
    lease_until: Utc


class Progress(_Model):
    """How far the scoring has come."""

    stage: str
    metrics_done: tuple[str, ...] = ()
    metrics_total: Count = 0
    items_done: Count = 0
    items_total: Count = 0
    at: Utc


class Failure(_Model):
    """Why the last attempt ended; the message holds codes, ids and counts, never report text."""

    code: str
    stage: str | None = None
    field: str | None = None
    message: Message
    retryable: bool = False
    at: Utc


class ResultPlace(_Model):
    """Where the result is."""

    path: PathInRepo
    results_revision: CommitId
    evaluator_hash: Sha256


class Evaluator(_Model):
    """What computed the result."""

    version: str
    git_sha: str | None = None
    packages: dict[str, str] = {}
    metrics: dict[str, dict[str, str | None]] = {}


class HistoryEntry(_Model):
    """One write: ``op`` is the unique id of the compare-and-swap that made it."""

    op: str
    at: Utc
    from_: Status | None = Field(alias="from")
    to: Status
    attempt: Count
    worker: str | None = None
    note: str | None = None


class Request(_Model):
    """One request file, ``requests/<id>.json`` (specs/hub.md 4.2)."""

    schema_version: Literal[1] = 1
    id: Ulid
    kind: Kind = "predictions"
    repo_id: RepoId
    repo_type: Literal["dataset", "model"] = "dataset"
    path_in_repo: PathInRepo
    revision: CommitId
    file_sha256: Sha256 | None = None
    model_name: Name
    name_key: str
    owner: Slug
    submitter: Submitter
    model_url: Link | None = None
    paper_url: Link | None = None
    code_url: Link | None = None
    organization: Name | None = None
    license: Annotated[Remark, StringConstraints(max_length=LICENSE_LENGTH)] | None = None
    description: Annotated[Remark, StringConstraints(max_length=DESCRIPTION_LENGTH)] | None = None
    dataset: Slug
    dataset_revision: CommitId
    split: Slug
    section: Track
    modality: Name = "CXR"
    metrics: tuple[str, ...] = ()
    settings: dict[str, str | int | float | bool | None] = {}
    declared: Declared = Declared()
    visibility: Literal["public", "private"] = "public"
    status: Status
    submitted_at: Utc
    status_at: Utc
    priority: int = 0
    not_before: Utc | None = None
    attempt: Count = 0
    max_attempts: Annotated[int, Field(ge=1, le=MOST_ATTEMPTS)] = 2
    claim: Claim | None = None
    cancel_requested: bool = False
    progress: Progress | None = None
    error: Failure | None = None
    result: ResultPlace | None = None
    evaluator: Evaluator | None = None
    supersedes: Ulid | None = None
    rescore_of: Ulid | None = None
    withdrawn_at: Utc | None = None
    flags: tuple[Remark, ...] = ()
    history: tuple[HistoryEntry, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> "Request":
        if self.name_key != names.name_key(self.model_name):
            raise ValueError("name_key does not belong to model_name")
        if (self.status == "RUNNING") != (self.claim is not None):
            raise ValueError("a request has a claim while it is RUNNING, and only then")
        if self.status == "FINISHED" and self.result is None:
            raise ValueError("a FINISHED request names its result")
        if self.status == "FAILED" and self.error is None:
            raise ValueError("a FAILED request names its error")
        return self

    @property
    def path(self) -> str:
        """Where the requests repo keeps it."""
        return path_of(self.id)

    @property
    def protocol(self) -> str:
        """The protocol it is scored by, as ``name@version``."""
        return str(self.settings.get("protocol") or "rexrank")

    def to_bytes(self) -> bytes:
        """The file's content: indented JSON in UTF-8 with a closing newline."""
        return json_bytes(self.model_dump(mode="json", by_alias=True))

    def updated(self, **changes: Any) -> "Request":
        """A copy with other values, checked like a file that is read."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return Request(**{**(self.model_extra or {}), **values, **changes})


def path_of(request_id: str) -> str:
    """Path of a request in the requests repo."""
    return f"{FOLDER}{request_id}.json"


def read(content: bytes, path: str | None = None) -> Request:
    """Read a request file.

    Args:
        content: The file.
        path: Where it was found; its name must be the request's id.

    Returns:
        The request; files of earlier schema versions would be migrated here.

    Raises:
        RequestError: The sentence names the fields and rules, and quotes nothing of the file.
    """
    try:
        request = Request.model_validate_json(content)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, item['loc'])) or 'file'}: {item['type']}" for item in error.errors()]
        # From None: the original quotes the input.
        raise RequestError("; ".join(faults[:10])[:MESSAGE_LENGTH]) from None
    if path is not None and path != request.path:
        raise RequestError("id: differs from the name of the file")
    return request


def readable(files: Mapping[str, bytes]) -> list[Request]:
    """The requests among the files of their repo, oldest first, without those that cannot be read."""
    found = []
    for path, content in sorted(files.items()):
        if path.startswith(FOLDER):
            try:
                found.append(read(content, path))
            except RequestError:
                continue  # The backend puts it into quarantine; it must not stop the others.
    return found


def document(content: bytes) -> dict[str, Any]:
    """Read a small JSON object of any form, such as a worker's sign of life; empty where it is none."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def entered(
    op: str,
    at: datetime,
    before: Status | None,
    after: Status,
    attempt: int = 0,
    worker: str | None = None,
    note: str | None = None,
) -> HistoryEntry:
    """An entry of the history; ``before`` is None for the submission itself."""
    values = {"op": op, "at": at, "from": before, "to": after, "attempt": attempt, "worker": worker, "note": note}
    return HistoryEntry(**values)  # type: ignore[arg-type]


TRANSITIONS: Mapping[tuple[Status, Event], Status] = {
    ("PENDING", "claim"): "RUNNING",
    ("PENDING", "cancel"): "CANCELLED",
    ("RUNNING", "renew"): "RUNNING",
    ("RUNNING", "finish"): "FINISHED",
    ("RUNNING", "error"): "FAILED",
    ("RUNNING", "lost"): "FAILED",
    ("RUNNING", "give_back"): "PENDING",
    ("RUNNING", "cancel"): "RUNNING",
    ("FAILED", "reopen"): "PENDING",
}


def transition(
    request: Request,
    event: Event,
    *,
    op: str,
    at: datetime,
    worker: str | None = None,
    claim: Claim | None = None,
    error: Failure | None = None,
    not_before: datetime | None = None,
    result: ResultPlace | None = None,
    note: str | None = None,
    **facts: Any,
) -> Request:
    """Change a request; every change of every request goes through here (specs/hub.md 4.3).

    Args:
        request: The request as stored.
        event: ``claim``; ``renew`` of the lease; ``finish`` with a result; ``error`` of an attempt, which goes
            back to PENDING while it is retryable and attempts are left; ``lost`` worker, likewise; ``give_back`` by
            a worker that stops in good order, which does not count as an attempt; ``cancel``, which takes effect
            on a running request when its attempt ends; ``reopen`` by a maintainer.
        op: Unique id of the write.
        at: Present moment.
        worker: Name of the worker that writes, if it is one.
        claim: The new or renewed claim.
        error: Why the attempt failed, for ``error`` and ``lost``.
        not_before: Earliest next try after a retryable error.
        result: Where the result is, for ``finish``.
        note: Free remark for the history, without report text.
        facts: Fields that the scoring found out (``file_sha256``, ``evaluator``, ``progress``).

    Returns:
        The new version, with one more entry in its history.

    Raises:
        RequestError: The state does not allow the event.
    """
    target = _target(request, event, error)
    changes: dict[str, Any] = {"status": target, **facts}
    if target != request.status:
        changes |= {"status_at": at, "claim": None, "not_before": None}
    match event:
        case "claim":
            changes |= {"claim": claim, "attempt": request.attempt + 1, "error": None, "progress": None}
        case "renew":
            changes |= {"claim": claim or request.claim}
        case "finish":
            changes |= {"result": result, "error": None}
        case "error":
            changes |= {"error": error, "not_before": not_before if target == "PENDING" else None}
        case "lost":
            changes |= {"error": error}
        case "give_back":
            changes |= {"attempt": max(0, request.attempt - 1)}
        case "cancel":
            changes |= {"cancel_requested": True}
        case "reopen":
            changes |= {"attempt": 0, "error": None}
    attempt = changes.get("attempt", request.attempt)
    entry = entered(op, at, request.status, target, attempt, worker, note)
    return request.updated(**changes, history=(*request.history, entry))


def _target(request: Request, event: Event, error: Failure | None) -> Status:
    target = TRANSITIONS.get((request.status, event))
    if target is None:
        raise RequestError(f"request {request.id} is {request.status}; {event} is not possible now")
    if event in ("error", "lost", "give_back") and request.cancel_requested:
        return "CANCELLED"
    again = event == "lost" or (event == "error" and error is not None and error.retryable)
    return "PENDING" if again and request.attempt < request.max_attempts else target
