"""How this worker behaves, from the environment.

| variable | default | meaning |
| --- | --- | --- |
| ``REXRANK_NAMESPACE`` | rexrank | owner of the host's repos |
| ``REXRANK_WORKER`` | the machine's name | name of this worker; each running worker needs its own |
| ``REXRANK_TICK_SECONDS`` | 60 | time between two looks at the queue |
| ``REXRANK_LEASE_SECONDS`` | 1800 | how long a claim holds without a sign of life |
| ``REXRANK_CLAIM_BATCH`` | 8, or the number of cores | requests scored at the same time |
| ``REXRANK_TIME_LIMIT_SECONDS`` | 21600 | time for scoring one request |
| ``REXRANK_MEMORY_MB`` | 80 % of the machine's | memory for scoring one request |
| ``REXRANK_RETRY_SECONDS`` | 60 | pause before a second try |
| ``REXRANK_HEARTBEAT_SECONDS`` | 300 | time between two signs of life in the status repo |
| ``REXRANK_METRICS`` | all that are built | score keys this host computes, separated by commas |
| ``REXRANK_PROTOCOLS`` | rexrank,plain | rule books this host offers, the default first |
| ``REXRANK_BENCHMARK_WEIGHTS`` | none | weight of each benchmark in a mean rank, ``iu-xray=.5,mimic-cxr=.5`` |
"""

import math
import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from rexrank import environment
from rexrank.board import names
from rexrank.environment import positive_number
from rexrank.errors import WrongSetting

MEMORY_SHARE = 0.8


@dataclass(frozen=True)
class Config:
    """Settings of one worker process.

    Attributes:
        namespace: Owner of the host's repos.
        worker: Stable name of this worker.
        instance: Random at every start.
        host: Name of the machine.
        folder: Scratch space of this worker; emptied at every start.
        tick: Seconds between two looks at the queue.
        lease: How long a claim holds.
        claim_batch: Requests scored at the same time.
        time_limit: Seconds for one request.
        memory_bytes: Resident memory for one request.
        retry: Pause before a second try.
        metrics: Score keys this host computes, None for all that are built.
        protocols: Rule books this host offers, the default first.
        heartbeat: Seconds between two signs of life in the status repo.
        weights: Weight of each benchmark in a mean of ranks; without any the board shows no mean.
    """

    namespace: str
    worker: str
    folder: Path
    host: str = field(default_factory=socket.gethostname)
    instance: str = field(default_factory=lambda: secrets.token_hex(8))
    tick: float = 60.0
    lease: timedelta = timedelta(minutes=30)
    claim_batch: int = 8
    time_limit: float = 6 * 3600.0
    memory_bytes: int = 2**62
    retry: timedelta = timedelta(minutes=1)
    metrics: tuple[str, ...] | None = None
    protocols: tuple[str, ...] = ("rexrank", "plain")
    heartbeat: float = 300.0
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.tick > self.lease.total_seconds() / 3:
            raise WrongSetting("REXRANK_LEASE_SECONDS must be at least three times REXRANK_TICK_SECONDS")
        try:
            names.slug(self.worker)
        except ValueError as error:
            raise WrongSetting(f"REXRANK_WORKER: {error}") from None


def from_environment() -> Config:
    """Read the settings.

    Raises:
        WrongSetting: A value makes no sense.
    """
    memory = positive_number("REXRANK_MEMORY_MB", _machine_memory() * MEMORY_SHARE / 2**20, least=1)
    worker = os.environ.get("REXRANK_WORKER") or socket.gethostname().replace("--", "-")
    return Config(
        namespace=environment.namespace(),
        worker=worker,
        folder=environment.home() / "backend" / worker,
        tick=environment.tick_seconds(),
        lease=timedelta(seconds=positive_number("REXRANK_LEASE_SECONDS", Config.lease.total_seconds())),
        claim_batch=int(positive_number("REXRANK_CLAIM_BATCH", min(Config.claim_batch, os.cpu_count() or 1), least=1)),
        time_limit=positive_number("REXRANK_TIME_LIMIT_SECONDS", Config.time_limit),
        memory_bytes=int(memory) * 2**20,
        retry=timedelta(seconds=positive_number("REXRANK_RETRY_SECONDS", Config.retry.total_seconds())),
        metrics=_words("REXRANK_METRICS") or None,
        protocols=_words("REXRANK_PROTOCOLS") or Config.protocols,
        heartbeat=positive_number("REXRANK_HEARTBEAT_SECONDS", Config.heartbeat),
        weights=_weights("REXRANK_BENCHMARK_WEIGHTS"),
    )


def _words(variable: str) -> tuple[str, ...]:
    return tuple(word for word in os.environ.get(variable, "").replace(" ", "").split(",") if word)


def _weights(variable: str) -> dict[str, float]:
    """Positive numbers by benchmark; only their ratios matter."""
    found: dict[str, float] = {}
    for word in _words(variable):
        name, _, number = word.partition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = 0.0
        if names.SLUG.fullmatch(name) is None or name in found or not 0 < weight < math.inf:
            raise WrongSetting(
                f"{variable}: expected each benchmark once with a number above 0, such as iu-xray=.5,mimic-cxr=.5"
            )
        found[name] = weight
    return found


def _machine_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
