"""How the queue and the workers are, for a person at a terminal."""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from rexrank.board import host as hosts
from rexrank.board import requests
from rexrank.board.requests import Request
from rexrank.hub import Clock, Hub

FAILURES_SHOWN = 10


@dataclass(frozen=True)
class Status:
    """What the requests and status repos say.

    Attributes:
        at: When they were read.
        requests: Every readable request, oldest first.
        quarantined: Number of files in quarantine.
        workers: The workers' last signs of life.
    """

    at: datetime
    requests: tuple[Request, ...]
    quarantined: int
    workers: tuple[dict[str, Any], ...]

    @property
    def counts(self) -> dict[str, int]:
        """Number of requests in each state, as shown to users."""
        found = Counter(request.status for request in self.requests)
        return {requests.SHOWN[state]: found[state] for state in get_args(requests.Status)}

    def to_json(self) -> str:
        """One JSON object."""
        document = {
            "at": requests.iso(self.at),
            "requests": self.counts,
            "quarantined": self.quarantined,
            "workers": list(self.workers),
        }
        return json.dumps(document, indent=2)

    def to_text(self) -> str:
        """Lines to read."""
        lines = [", ".join(f"{n} {state}" for state, n in self.counts.items())]
        if self.quarantined:
            lines.append(f"{self.quarantined} unreadable request files are in quarantine")
        lines += [_worker_line(worker, self.at) for worker in self.workers]
        if not self.workers:
            lines.append("no worker has ever run")
        failed = [request for request in self.requests if request.status == "FAILED"]
        for request in failed[-FAILURES_SHOWN:]:
            if request.error is not None:
                lines.append(f"{request.id} {request.model_name}: {request.error.code}: {request.error.message}")
        return "\n".join(lines)


def read(hub: Hub, namespace: str | None = None) -> Status:
    """Read both repos.

    Raises:
        HubError: They cannot be read.
    """
    queue, signs = hosts.repo("requests", namespace), hosts.repo("status", namespace)
    view = hub.view(queue, [requests.FOLDER])
    quarantined = hub.list_files(queue, view.commit, requests.QUARANTINE)
    workers = hub.view(signs, [requests.WORKERS]).files
    found = tuple(requests.readable(view.files))
    seen = [requests.document(content) for _, content in sorted(workers.items())]
    return Status(Clock().now(), found, len(quarantined), tuple(worker for worker in seen if worker))


def _worker_line(worker: dict[str, Any], now: datetime) -> str:
    name, running = worker.get("worker"), worker.get("running")
    scoring = f", scoring {len(running)}" if isinstance(running, list) and running else ""
    try:
        age = now - datetime.fromisoformat(worker["last_tick_at"])
    except (KeyError, TypeError, ValueError):
        return f"worker {name}: its sign of life cannot be read"
    return f"worker {name}: last seen {age.total_seconds() / 60:.0f} min ago{scoring}"
