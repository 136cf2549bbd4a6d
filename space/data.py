"""What the board knows: one consistent look at the results, request and status repos, refreshed in the background."""

import base64
import hashlib
import json
import logging
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from rexrank.board.host import PATH as HOST
from rexrank.board.host import Host
from rexrank.board.host import parse as parse_host
from rexrank.board.requests import FOLDER, QUARANTINE, WORKERS, Request, RequestError
from rexrank.board.requests import document as sign_of_life
from rexrank.board.requests import read as read_request
from rexrank.board.results import per_study_path
from rexrank.board.tables import LEADERBOARD_PATH, SCORES_PATH
from rexrank.errors import RexrankError
from rexrank.files import parquet_table, write_atomically
from rexrank.hub import Hub
from rexrank.hub.clock import utc_now
from space.formatting import parse_time

_LOGGER = logging.getLogger(__name__)
TABLE_BYTES = 200 * 2**20
PER_STUDY_BYTES = 20 * 2**20
SHORTEST_PERIOD = 2.0
STOP_SECONDS = 15.0
# A long queue takes longer than this to read anew; the board is there before it has been.
FIRST_LOOK_SECONDS = 10.0

Origin = Literal["hub", "copy", "nothing"]
Document = Mapping[str, Any]


@dataclass(frozen=True)
class BoardData:
    """One look at the three repos.

    Attributes:
        leaderboard: Rows of the leaderboard table.
        scores: Rows of the scores table (result × score key).
        host: Protocols, metrics and benchmarks of this host; None before its first start.
        requests: Entries of the queue, by id; unpublished ones are in it and are masked by the view.
        workers: Heartbeats of the workers.
        set_aside: How many request files cannot be read.
        revisions: Commit id of each repo that was read, by its short name.
        origin: Where this look came from.
        read_at: When the Hub last confirmed that this is its present content; None where it never did.
        problem: Why the latest look at the Hub failed; None when it did not.
    """

    leaderboard: tuple[Document, ...] = ()
    scores: tuple[Document, ...] = ()
    host: Host | None = None
    requests: tuple[Request, ...] = ()
    workers: tuple[Document, ...] = ()
    set_aside: int = 0
    revisions: Mapping[str, str] = field(default_factory=dict)
    origin: Origin = "nothing"
    read_at: datetime | None = None
    problem: str | None = None

    @property
    def version(self) -> str:
        """Changes whenever something else is to be shown."""
        return ",".join(f"{name}={commit}" for name, commit in sorted(self.revisions.items()))

    def request(self, request_id: str) -> Request | None:
        """The entry of the queue with this id, or None where there is none."""
        return next((request for request in self.requests if request.id == request_id), None)

    def row(self, result_id: str) -> Document | None:
        """The leaderboard's row of this result, or None where there is none."""
        return next((row for row in self.leaderboard if row["result_id"] == result_id), None)


@dataclass(frozen=True)
class RawRepos:
    """Bytes as they lie in the repos, at the commits of ``revisions``.

    Attributes:
        revisions: Commit id by repo name.
        tables: ``data/*.parquet`` by path.
        documents: JSON files by ``repo/path``.
        quarantined: Names of the request files that the backend has set aside.
    """

    revisions: Mapping[str, str]
    tables: Mapping[str, bytes]
    documents: Mapping[str, bytes]
    quarantined: tuple[str, ...] = ()


class Repos:
    """The three repos of a namespace, and what of them the board reads."""

    # Looked at in this order: a request that says FINISHED then always finds its row.
    names = ("requests", "results", "status")

    def __init__(self, hub: Hub, namespace: str) -> None:
        self._hub = hub
        self._namespace = namespace

    def heads(self) -> dict[str, str]:
        """Commit id of each repo's ``main``.

        Raises:
            HubError: A repo is absent or the Hub does not answer.
        """
        return {name: self._hub.head(self._id(name)) for name in self.names}

    def read(self, heads: Mapping[str, str]) -> RawRepos:
        """Read every file of the board at these commits.

        Raises:
            HubError: The Hub does not answer, or a table is too large.
        """
        requests = self._hub.view(self._id("requests"), [FOLDER], heads["requests"])
        quarantine = self._hub.list_files(self._id("requests"), heads["requests"], QUARANTINE)
        results = self._hub.view(self._id("results"), [HOST], heads["results"])
        status = self._hub.view(self._id("status"), [WORKERS], heads["status"])
        documents = {
            f"{name}/{path}": content
            for name, view in (("requests", requests), ("results", results), ("status", status))
            for path, content in view.files.items()
            if path.endswith(".json")
        }
        return RawRepos(dict(heads), self._tables(heads["results"]), documents, tuple(sorted(quarantine)))

    def per_study(self, result_id: str, commit: str) -> pa.Table:
        """Values of single studies of a result of a public benchmark.

        Raises:
            HubError: There are none, they are too large, or the Hub does not answer.
            pyarrow.ArrowException: The file is damaged.
        """
        return parquet_table(self._hub.read(self._id("results"), per_study_path(result_id), commit, PER_STUDY_BYTES))

    def _tables(self, commit: str) -> dict[str, bytes]:
        there = self._hub.list_files(self._id("results"), commit, "data/")
        tables = {}
        with tempfile.TemporaryDirectory(prefix="rexrank-board-") as folder:
            for path in (LEADERBOARD_PATH, SCORES_PATH):
                if path in there:
                    target = Path(folder) / Path(path).name
                    self._hub.download(self._id("results"), path, commit, target, TABLE_BYTES)
                    tables[path] = target.read_bytes()
        return tables

    def _id(self, name: str) -> str:
        return f"{self._namespace}/{name}"


def parse(raw: RawRepos, origin: Origin, read_at: datetime | None) -> BoardData:
    """Turn the repos' bytes into rows; one unreadable file never hides the others."""
    requests, unreadable = _requests(raw.documents)
    set_aside = {path.rsplit("/", 1)[-1] for path in raw.quarantined} | unreadable
    return BoardData(
        leaderboard=_rows(raw.tables.get(LEADERBOARD_PATH)),
        scores=_rows(raw.tables.get(SCORES_PATH)),
        host=_host(raw.documents.get(f"results/{HOST}")),
        requests=requests,
        workers=_workers(raw.documents),
        set_aside=len(set_aside),
        revisions=raw.revisions,
        origin=origin,
        read_at=read_at,
    )


def _requests(documents: Mapping[str, bytes]) -> tuple[tuple[Request, ...], set[str]]:
    found, unreadable = [], set()
    for path, content in sorted(documents.items()):
        repo, _, inside = path.partition("/")
        if repo != "requests":
            continue
        try:
            found.append(read_request(content, inside))
        except RequestError:
            unreadable.add(inside.rsplit("/", 1)[-1])
    return tuple(found), unreadable


def _host(content: bytes | None) -> Host | None:
    if content is None:
        return None
    try:
        return parse_host(content)
    except RexrankError as error:
        _LOGGER.warning("%s", error)
        return None


def _workers(documents: Mapping[str, bytes]) -> tuple[Document, ...]:
    found = []
    for path in sorted(documents):
        if not path.startswith(f"status/{WORKERS}"):
            continue
        found.append(sign_of_life(documents[path]))
    return tuple(heartbeat for heartbeat in found if heartbeat)


def _rows(table: bytes | None) -> tuple[Document, ...]:
    return () if table is None else tuple(parquet_table(table).to_pylist())


class LocalCopy:
    """The last look at the Hub, kept on disk for a start without it.

    Everything is in one file, so the tables and the queue in it always belong together.
    """

    def __init__(self, folder: Path, endpoint: str, namespace: str) -> None:
        digest = hashlib.sha256(f"{endpoint}\n{namespace}".encode()).hexdigest()[:16]
        self.path = folder / f"{digest}.json"

    def save(self, raw: RawRepos, read_at: datetime) -> None:
        """Write the look; a disk that is full or read-only is logged and costs nothing else."""
        content = {
            "read_at": read_at.isoformat(),
            "revisions": dict(raw.revisions),
            "quarantined": list(raw.quarantined),
            "tables": {path: base64.b64encode(table).decode("ascii") for path, table in raw.tables.items()},
            "documents": {path: base64.b64encode(text).decode("ascii") for path, text in raw.documents.items()},
        }
        try:
            write_atomically(self.path, json.dumps(content).encode(), mode=0o600)
        except OSError as error:
            _LOGGER.warning("the local copy could not be written: %s", error.strerror)

    def load(self) -> BoardData | None:
        """Read the last look; None where there is none or it cannot be read."""
        try:
            content = json.loads(self.path.read_bytes())
            raw = RawRepos(
                revisions=content["revisions"],
                tables={path: base64.b64decode(text) for path, text in content["tables"].items()},
                documents={path: base64.b64decode(text) for path, text in content["documents"].items()},
                quarantined=tuple(content["quarantined"]),
            )
            return parse(raw, "copy", parse_time(content["read_at"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, pa.ArrowException):
            _LOGGER.warning("the local copy %s cannot be read and is ignored", self.path.name)
            return None


class BoardStore:
    """Holds the present look and renews it; what is shown is only ever replaced by a whole new look."""

    def __init__(
        self, repos: Repos, copy: LocalCopy, period: float = 60.0, now: Callable[[], datetime] = utc_now
    ) -> None:
        self.period = max(period, SHORTEST_PERIOD)
        self._repos = repos
        self._copy = copy
        self._now = now
        self._data = BoardData()
        self._refreshing = threading.Lock()
        self._stopped = threading.Event()
        self._looked = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def data(self) -> BoardData:
        """The present look; never waits for the Hub."""
        return self._data

    def per_study(self, result_id: str) -> pa.Table | None:
        """Values of single studies of a result, fetched from the Hub; None where nobody can have them.

        They are of the commit that is shown, and are waited for: no page may ask for them before a visitor does.
        """
        commit = self._data.revisions.get("results")
        if commit is None:
            return None
        try:
            return self._repos.per_study(result_id, commit)
        except (RexrankError, OSError, pa.ArrowException) as error:
            _LOGGER.info("no values of single studies of %s (%s)", result_id, type(error).__name__)
            return None

    def start(self) -> None:
        """Begin with the local copy, if there is one, and renew it in the background.

        Returns after the first look at the Hub, or when that takes long.
        """
        self._data = self._copy.load() or self._data
        self._thread = threading.Thread(target=self._run, name="board-refresh", daemon=True)
        self._thread.start()
        self._looked.wait(FIRST_LOOK_SECONDS)

    def stop(self) -> None:
        """End the background renewal; a look in progress gets a moment to finish."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)

    def refresh(self) -> BoardData:
        """Look at the Hub once, unless another look is in progress; on failure the old data stay.

        Returns:
            The look that is shown from now on.
        """
        if not self._refreshing.acquire(blocking=False):
            return self._data
        try:
            self._data = self._look()
        except RexrankError as error:
            self._keep(str(error))
        except Exception as error:
            # Whatever it was, what is shown stays. Without its words, which may quote what was read.
            _LOGGER.error("the repos hold something that the board cannot read (%s)", type(error).__name__)
            self._keep("the results cannot be read; the backend's next table build mends them")
        finally:
            self._refreshing.release()
        return self._data

    def _look(self) -> BoardData:
        heads = self._repos.heads()
        read_at = self._now()
        if self._data.origin != "nothing" and heads == self._data.revisions:
            return replace(self._data, origin="hub", read_at=read_at, problem=None)
        raw = self._repos.read(heads)
        data = parse(raw, "hub", read_at)
        self._copy.save(raw, read_at)
        return data

    def _keep(self, problem: str) -> None:
        if problem != self._data.problem:
            _LOGGER.warning("keeping the data shown: %s", problem)
        self._data = replace(self._data, problem=problem)

    def _run(self) -> None:
        while True:
            self.refresh()
            self._looked.set()
            if self._stopped.wait(self.period):
                return
