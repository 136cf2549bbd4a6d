"""Invented results, requests and heartbeats on a real local Hub, and the board as a process beside them."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from waiting import free_port, surroundings, until

from rexrank.board.host import Host, HostBenchmark
from rexrank.board.names import name_key
from rexrank.board.requests import Claim, Failure, HistoryEntry, Progress, Request, ResultPlace, Submitter, iso
from rexrank.board.tables import LEADERBOARD, LEADERBOARD_PATH, SCORES, SCORES_PATH, checked, to_parquet
from rexrank.cli.children import answers
from rexrank.hub import Hub

ROOT = Path(__file__).resolve().parents[1]
NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
COMMIT = "0123456789abcdef0123456789abcdef01234567"
HASH = "9c41e07b52d8" + "0" * 52
METRICS = ("bleu2", "coco_bleu1", "coco_bleu4", "rouge_l")
HOST = Host(
    protocols=["rexrank@2025-09-05", "plain@1"],
    metrics=list(METRICS),
    benchmarks={
        "iu-xray": HostBenchmark(
            tracks={"findings": 590, "impression": 590}, revision=COMMIT, licence="CC-BY-NC-ND-4.0", public=True
        )
    },
)
START_SECONDS, STOP_SECONDS = 60.0, 30.0


def request_id(number: int) -> str:
    """A ULID that sorts by its number."""
    return f"01KJ{number:022d}"


def result_id(number: int) -> str:
    """Id of the result of a request."""
    return f"{request_id(number)}.{HASH[:12]}"


def board_row(number: int, model: str, rank: int | None = None, **values: Any) -> dict[str, Any]:
    """A row of the leaderboard table; scores without an interval get one of ± .01."""
    scores = {key: values.pop(key) for key in METRICS if key in values}
    ends = {
        f"{key}{end}": None if value is None else value + shift
        for key, value in scores.items()
        for end, shift in (("_lo", -0.01), ("_hi", 0.01))
    }
    return {
        "schema_version": 1,
        "result_id": result_id(number),
        "request_id": request_id(number),
        "owner": "acme",
        "model_name": model,
        "repo_id": "acme/predictions",
        "revision": COMMIT,
        "dataset": "iu-xray",
        "dataset_revision": COMMIT,
        "split": "test",
        "section": "findings",
        "protocol": "rexrank",
        "protocol_version": "2025-09-05",
        "convention": "published",
        "modality": "CXR",
        "evaluator_hash": HASH,
        "leakage": "unknown",
        "submitted_at": NOW + timedelta(minutes=number),
        "finished_at": NOW + timedelta(minutes=number + 1),
        "n_expected": 590,
        "n_studies": 590,
        "n_empty": 0,
        "coverage": 1.0,
        "complete": rank is not None,
        "stale": False,
        "is_baseline": False,
        "verified": False,
        "trained_on": [],
        "flags": [],
        "rank": rank,
        **scores,
        **ends,
        **values,
    }


def score_row(number: int, model: str, metric: str, value: float | None, **values: Any) -> dict[str, Any]:
    """A row of the scores table."""
    status = "ok" if value is not None else "not_available"
    return {
        "schema_version": 1,
        "result_id": result_id(number),
        "request_id": request_id(number),
        "owner": "acme",
        "model_name": model,
        "dataset": "iu-xray",
        "split": "test",
        "section": "findings",
        "metric": metric,
        "direction": "higher",
        "status": status,
        "metric_version": "1",
        "signature": f"{metric}|conv:published|prep:findings-ref|v:1" if value is not None else "",
        "value": value,
        "ci_low": None if value is None else value - 0.01,
        "ci_high": None if value is None else value + 0.01,
        "ci_level": None if value is None else 0.95,
        "n": 590,
        "stale": False,
        "computed_at": NOW,
        **values,
    }


def queue_request(number: int, model: str, status: str, now: datetime = NOW, **values: Any) -> Request:
    """A request in a state, with what that state requires."""
    since = now - timedelta(minutes=5)
    states: dict[str, dict[str, Any]] = {
        "RUNNING": {
            "attempt": 1,
            "claim": Claim(
                id="c1", worker="gpu-1", instance="i1", host="h", at=since, lease_until=since + timedelta(minutes=30)
            ),
            "progress": Progress(
                stage="score", metrics_done=("bleu2",), metrics_total=4, items_done=120, items_total=590, at=now
            ),
        },
        "FAILED": {
            "attempt": 1,
            "error": Failure(
                code="missing_ids", stage="validate", message="2 of 590 studies missing: q03, q31", at=now
            ),
        },
        "FINISHED": {
            "attempt": 1,
            "result": ResultPlace(
                path=f"results/acme/{result_id(number)}.json", results_revision=COMMIT, evaluator_hash=HASH
            ),
            "history": (
                HistoryEntry(op="a", at=since - timedelta(seconds=42), from_="PENDING", to="RUNNING", attempt=1),
                HistoryEntry(op="b", at=since, from_="RUNNING", to="FINISHED", attempt=1),
            ),
        },
    }
    return Request(
        **{
            "id": request_id(number),
            "repo_id": "acme/predictions",
            "path_in_repo": "iu-xray/findings.csv",
            "revision": COMMIT,
            "model_name": model,
            "name_key": name_key(model),
            "owner": "acme",
            "submitter": Submitter(name="acme", via="web"),
            "dataset": "iu-xray",
            "dataset_revision": COMMIT,
            "split": "test",
            "section": "findings",
            "settings": {"protocol": "rexrank@2025-09-05"},
            "status": status,
            "submitted_at": since - timedelta(minutes=1),
            "status_at": since,
            **states.get(status, {}),
            **values,
        }
    )


def heartbeat(name: str, last_tick: datetime) -> dict[str, Any]:
    """A worker's file in the status repo."""
    text = iso(last_tick)
    return {"worker": name, "instance": "i1", "host": "h", "version": "0.1.0", "last_tick_at": text, "last_ok_at": text}


def tables(rows: Sequence[Mapping[str, Any]], scores: Sequence[Mapping[str, Any]] = ()) -> dict[str, bytes]:
    """The results repo's tables in their published schemas."""
    return {
        LEADERBOARD_PATH: to_parquet(checked(rows, LEADERBOARD)),
        SCORES_PATH: to_parquet(checked(scores, SCORES)),
    }


def request_files(requests: Sequence[Request]) -> dict[str, bytes]:
    """The requests repo's files."""
    return {request.path: request.to_bytes() for request in requests}


def worker_files(workers: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """The status repo's files."""
    return {f"workers/{worker['worker']}.json": json.dumps(dict(worker)).encode() for worker in workers}


def publish(hub: Hub, namespace: str, **repos: Mapping[str, bytes]) -> None:
    """Write files into the namespace's repos, making those that are not there."""
    for name in ("requests", "results", "status"):
        hub.ensure_repo(f"{namespace}/{name}")
        files: dict[str, bytes | None] = dict(repos.get(name, {}))
        if files:
            hub.commit(f"{namespace}/{name}", files, f"Write {name}")


@dataclass(frozen=True)
class RunningBoard:
    """The board as a process of its own."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path


@contextmanager
def running_board(home: Path, endpoint: str, namespace: str, **variables: str) -> Iterator[RunningBoard]:
    """Start ``python app.py`` and wait until it answers; end it with SIGTERM."""
    port = free_port()
    home.mkdir(parents=True, exist_ok=True)
    environment = {
        **surroundings("REXRANK_", "HF_TOKEN"),
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(home / "hf"),
        "REXRANK_HOME": str(home),
        "REXRANK_NAMESPACE": namespace,
        "REXRANK_BOARD_PORT": str(port),
        "REXRANK_TICK_SECONDS": "2",
        **variables,
    }
    log = home / "board.log"
    with log.open("wb") as handle:
        process = subprocess.Popen(
            [sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=handle, stderr=subprocess.STDOUT
        )
    try:
        url = f"http://127.0.0.1:{port}"
        until(lambda: answers(url), START_SECONDS, process, lambda: _not_started(log), pause=0.2)
        yield RunningBoard(url, process, log)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_SECONDS)


def _not_started(log: Path) -> str:
    return f"the board did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-4000:]}"
