"""The scoring processes of one worker: start, watch, end, and what each of them found."""

import contextlib
import json
import multiprocessing
import os
import shutil
import signal
import time
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from typing import Any

from backend import child
from backend.child import Job
from backend.config import Config
from backend.failures import Reason
from rexrank.board.host import HostBenchmark
from rexrank.board.requests import Request

STOP_SECONDS = 5.0
# The process watches its own time; this is for one that cannot even do that any more.
TIME_GRACE = 5.0


@dataclass(frozen=True)
class Outcome:
    """How one attempt ended.

    Attributes:
        request: The request as it was claimed.
        claim_id: The claim under which it was scored.
        result: Content of the result file, None without one.
        per_study: Content of the per-study table, None for hidden benchmarks.
        samples: What ranges of ranks are made of, study by study; of a hidden benchmark nobody but the host sees it.
        reason: Why there is no result.
        trace: Places a fault went through, for the worker's own log.
    """

    request: Request
    claim_id: str
    result: bytes | None = None
    per_study: bytes | None = None
    samples: bytes | None = None
    reason: Reason | None = None
    trace: tuple[str, ...] = ()


class Scorer:
    """One scoring process."""

    def __init__(self, request: Request, claim_id: str, job: Job) -> None:
        self.request = request
        self.claim_id = claim_id
        self._job = job
        job.folder.mkdir(parents=True, mode=0o700)
        self._process: SpawnProcess = multiprocessing.get_context("spawn").Process(
            target=child.main, args=(job,), name=f"score-{request.id}"
        )
        self._process.start()
        self._end = time.monotonic() + job.time_limit + TIME_GRACE

    @property
    def alive(self) -> bool:
        """Whether it still works; one that is far over its time is ended here."""
        if self._process.is_alive() and time.monotonic() > self._end:
            self._kill()
        return self._process.is_alive()

    @property
    def pid(self) -> int | None:
        """Process id."""
        return self._process.pid

    def progress(self) -> dict[str, Any] | None:
        """What the process last told."""
        with contextlib.suppress(OSError, ValueError):
            found: dict[str, Any] = json.loads((self._job.folder / child.PROGRESS).read_text(encoding="utf-8"))
            return found
        return None

    def wait(self, seconds: float) -> None:
        """Wait until it ends, at most this long."""
        self._process.join(seconds)

    def outcome(self) -> Outcome:
        """What it found, once it has ended."""
        folder = self._job.folder
        try:
            told = json.loads((folder / child.OUTCOME).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return Outcome(self.request, self.claim_id, reason=self._silent_end())
        if told["ok"]:
            per_study = folder / child.PER_STUDY
            return Outcome(
                self.request,
                self.claim_id,
                result=(folder / child.RESULT).read_bytes(),
                per_study=per_study.read_bytes() if per_study.exists() else None,
                samples=(folder / child.SAMPLES).read_bytes(),
            )
        reason = Reason(told["code"], told["message"], told["stage"], told["field"], told["wait"])
        return Outcome(self.request, self.claim_id, reason=reason, trace=tuple(told["trace"]))

    def stop(self) -> None:
        """End the process and remove its folder, texts included."""
        if self._process.is_alive():
            self._kill()
        self._process.close()
        shutil.rmtree(self._job.folder, ignore_errors=True)

    def _kill(self) -> None:
        if self._process.pid is not None:
            # Its group holds the programs it started; before it has made one there is only the process.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join(STOP_SECONDS)

    def _silent_end(self) -> Reason:
        code = self._process.exitcode
        if code == child.EXIT_TIME or time.monotonic() > self._end:
            return Reason("timeout", f"scoring took more than {self._job.time_limit:.0f} seconds")
        if code == child.EXIT_MEMORY:
            limit = self._job.memory_bytes // 2**20
            return Reason("out_of_memory", f"scoring took more than {limit} MB of memory")
        return Reason("worker_lost", f"the scoring process ended without a result (exit {code})")


class Crew:
    """All scoring processes of a worker, by request id."""

    def __init__(self, config: Config, endpoint: str, token: str | None, git_sha: str | None) -> None:
        self._config = config
        self._endpoint = endpoint
        self._token = token
        self._git_sha = git_sha
        self.scorers: dict[str, Scorer] = {}
        # What an earlier, killed process of this worker left behind holds texts.
        shutil.rmtree(config.folder, ignore_errors=True)
        config.folder.mkdir(parents=True, mode=0o700)

    def start(self, request: Request, claim_id: str, repo: str, benchmark: HostBenchmark | None) -> None:
        """Start scoring a request.

        Args:
            request: What to score.
            claim_id: Of this worker's claim.
            repo: Dataset repo of the references.
            benchmark: What the host says of it; None where it offers it no longer.

        Raises:
            OSError: No process can be started.
        """
        job = Job(
            request=request.to_bytes(),
            folder=self._config.folder / f"{request.id}-{claim_id[:12]}",
            endpoint=self._endpoint,
            token=self._token,
            benchmark=repo,
            public=bool(benchmark and benchmark.public),
            modality=benchmark.modality if benchmark else None,
            language=benchmark.language if benchmark else None,
            metrics=self._config.metrics,
            git_sha=self._git_sha,
            time_limit=self._config.time_limit,
            memory_bytes=self._config.memory_bytes,
            parent=os.getpid(),
        )
        self.scorers[request.id] = Scorer(request, claim_id, job)

    def collect(self) -> list[Outcome]:
        """Outcomes of those that have ended since the last call; their folders are gone afterwards."""
        ended = [scorer for scorer in self.scorers.values() if not scorer.alive]
        outcomes = [scorer.outcome() for scorer in ended]
        for scorer in ended:
            self.drop(scorer.request.id)
        return outcomes

    def drop(self, request_id: str) -> None:
        """End the scoring of a request, if it is still going on."""
        scorer = self.scorers.pop(request_id, None)
        if scorer is not None:
            scorer.stop()

    def drop_all(self) -> list[Scorer]:
        """End all scoring and say what was going on."""
        scorers = list(self.scorers.values())
        for scorer in scorers:
            self.drop(scorer.request.id)
        return scorers
