"""A host on a real Hub: its repos, an invented benchmark, submitters and workers."""

import csv
import io
import json
import random
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from localhub_fixtures import HubServer

from backend.config import Config
from backend.worker import Worker
from rexrank.board import requests, results
from rexrank.board.requests import Request
from rexrank.board.results import Result
from rexrank.board.submission import current, submit
from rexrank.board.tables import LEADERBOARD_PATH
from rexrank.hub import Clock, Hub, connect
from rexrank.protocols import load

WORDS = (
    "heart",
    "lungs",
    "clear",
    "normal",
    "effusion",
    "mild",
    "edema",
    "left",
    "right",
    "base",
    "opacity",
    "no",
    "is",
)
TICK = 0.2


def sentences(n: int, seed: int = 0, words: int = 12) -> dict[str, str]:
    """Invented reports by study id."""
    generator = random.Random(seed)
    return {f"study-{number:05d}": " ".join(generator.choices(WORDS, k=words)) for number in range(n)}


@dataclass
class HandClock:
    """Time that passes only when somebody waits or it is moved by hand."""

    moment: datetime = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)

    def clock(self) -> Clock:
        return Clock(now=lambda: self.moment, monotonic=lambda: self.seconds, sleep=self.move)

    def move(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds
        self.moment += timedelta(seconds=seconds)


@dataclass
class Hosted:
    """One namespace of a Hub with everything a submission needs."""

    url: str
    root: Path
    folder: Path
    namespace: str
    worker_token: str
    user_token: str
    user: str

    @property
    def hub(self) -> Hub:
        """The Hub as the worker sees it."""
        return connect(self.url, self.worker_token)

    @property
    def user_hub(self) -> Hub:
        """The Hub as the submitter sees it."""
        return connect(self.url, self.user_token)

    def repo(self, name: str) -> str:
        return f"{self.namespace}/{name}"

    def benchmark(
        self, name: str, references: Mapping[str, str], public: bool = True, private_repo: bool = False
    ) -> str:
        """Publish a benchmark with the track findings."""
        table = pa.table(
            {
                "study_id": list(references),
                "findings": list(references.values()),
                "impression": pa.array([None] * len(references), pa.string()),
            }
        )
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        described = {
            "name": name,
            "tracks": {"findings": len(references)},
            "split": "test",
            "licence": "cc0-1.0",
            "references": "public" if public else "private",
            "modality": "CXR",
        }
        self.hub.ensure_repo(self.repo(name), private=private_repo)
        files: dict[str, bytes | None] = {
            "data/test.parquet": buffer.getvalue(),
            "benchmark.yaml": yaml.safe_dump(described).encode(),
        }
        return self.hub.commit(self.repo(name), files, "A benchmark")

    def config(self, worker: str = "w1", **changes: Any) -> Config:
        config = Config(
            namespace=self.namespace,
            worker=worker,
            folder=self.folder / "scratch" / worker,
            tick=TICK,
            # Not all: METEOR's Java takes its time to start in every scoring process.
            metrics=load("plain").metrics,
            claim_batch=2,
            retry=timedelta(seconds=0.1),
        )
        return replace(config, **changes)

    def worker(self, worker: str = "w1", clock: Clock | None = None, **changes: Any) -> Worker:
        return Worker(self.hub, self.config(worker, **changes), clock)

    def predictions(self, texts: Mapping[str, str], name: str = "model.json") -> Path:
        path = self.folder / name
        path.write_text(json.dumps(texts), encoding="utf-8")
        return path

    def submit(self, texts: Mapping[str, str], model_name: str, benchmark: str = "toy", **fields: Any) -> Request:
        path = self.predictions(texts, f"{model_name}.json")
        return submit(self.user_hub, path, benchmark, model_name=model_name, namespace=self.namespace, **fields)

    def request(self, request_id: str) -> Request:
        return current(self.hub, request_id, self.namespace)

    def requests(self) -> list[Request]:
        files = self.hub.view(self.repo("requests"), [requests.FOLDER]).files
        return [requests.read(content, path) for path, content in sorted(files.items())]

    def results(self) -> list[Result]:
        files = self.hub.view(self.repo("results"), [results.FOLDER]).files
        return [results.read(content) for _, content in sorted(files.items())]

    def leaderboard(self) -> list[dict[str, Any]]:
        content = self.hub.view(self.repo("results"), [LEADERBOARD_PATH]).files[LEADERBOARD_PATH]
        rows: list[dict[str, Any]] = pq.read_table(io.BytesIO(content)).to_pylist()
        return rows

    def put_request(self, request: Request) -> None:
        """Write a request file as it is."""
        self.hub.commit(self.repo("requests"), {request.path: request.to_bytes()}, "By hand")

    def everything(self, *repos: str) -> dict[str, bytes]:
        """Every file of the named repos."""
        found = {}
        for repo in repos:
            head = self.hub.head(self.repo(repo))
            for path in self.hub.list_files(self.repo(repo), head):
                found[f"{repo}/{path}"] = self.hub.read(self.repo(repo), path, head)
        return found


def write_predictions(path: Path, texts: Mapping[str, str], more: Iterable[tuple[str, str]] = ()) -> None:
    """Write predictions as CSV; ``more`` are further rows, which may repeat an id."""
    with path.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows([("study_id", "report"), *texts.items(), *more])


_counter = iter(range(10_000))


def host(url: str, root: Path, folder: Path) -> Hosted:
    """A fresh namespace with a worker and a submitter of its own on a running Hub."""
    number = next(_counter)
    namespace, worker, user = f"host-{number}", f"worker-{number}", f"acme-{number}"
    server = HubServer(url, root)
    worker_token, user_token = server.user(worker), server.user(user)
    server.organisation(namespace, {worker: "admin", user: "write"})
    return Hosted(url, root, folder, namespace, worker_token, user_token, user)


def together(n: int, action: Callable[[int], Any]) -> list[Any]:
    """Run an action in n threads that start at the same moment; an exception is returned in place of a value."""
    barrier = threading.Barrier(n)
    found: list[Any] = [None] * n

    def run(number: int) -> None:
        barrier.wait(timeout=30)
        try:
            found[number] = action(number)
        except Exception as error:
            found[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=200)
    return found


def request(number: int = 0, **changes: Any) -> Request:
    """An invented request that waits."""
    moment = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
    values: dict[str, Any] = {
        "id": f"01KJ{number:022d}",
        "repo_id": "acme/preds",
        "path_in_repo": "preds.json",
        "revision": "a" * 40,
        "model_name": f"Acme {number}",
        "name_key": f"acme {number}",
        "owner": "acme",
        "submitter": requests.Submitter(name="acme", via="cli"),
        "dataset": "toy",
        "dataset_revision": "b" * 40,
        "split": "test",
        "section": "findings",
        "settings": {"protocol": "plain@2"},
        "status": "PENDING",
        "submitted_at": moment,
        "status_at": moment,
        "history": (requests.entered("op-0", moment, None, "PENDING"),),
    }
    return Request(**{**values, **changes})
