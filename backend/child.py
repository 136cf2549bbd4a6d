"""Scores one request in a process of its own.

Submitted files are parsed and scored here and nowhere else, so that a bad one
can exhaust or crash this process only. It ends by itself when its time or
memory is used up and when the worker that started it is gone. What it found
lies in its folder when it ends: ``outcome.json``, and for a success
``result.json``, ``samples.parquet`` and, of a public benchmark,
``per_study.parquet``. None of them holds report text.
"""

import ctypes
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from rexrank.files import write_atomically

if TYPE_CHECKING:
    from backend.failures import Reason
    from rexrank.board.requests import Request
    from rexrank.reports import References, Track
    from rexrank.scoring.card import ScoreCard

OUTCOME, RESULT, PROGRESS = "outcome.json", "result.json", "progress.json"
PER_STUDY, SAMPLES = "per_study.parquet", "samples.parquet"
EXIT_TIME, EXIT_MEMORY, EXIT_ORPHAN = 70, 71, 72
WATCH_SECONDS = 0.5
PROGRESS_SECONDS = 1.0
PARENT_DEATH_SIGNAL = 1


@dataclass(frozen=True)
class Job:
    """Everything the process needs; it reads nothing else.

    Attributes:
        request: The request file's content.
        folder: A folder of its own.
        endpoint: The Hub.
        token: The worker's token.
        benchmark: Dataset repo of the references.
        public: Whether the benchmark's ids and per-study scores may be seen by everyone.
        modality: What the benchmark's images show; None where that is not known.
        language: Language of its texts, likewise.
        metrics: Score keys that the host computes, None for all that are built.
        git_sha: Commit of the checkout, or None.
        time_limit: Seconds.
        memory_bytes: Resident memory.
        parent: Process id of the worker.
    """

    request: bytes
    folder: Path
    endpoint: str
    token: str | None
    benchmark: str
    public: bool
    modality: str | None
    language: str | None
    metrics: tuple[str, ...] | None
    git_sha: str | None
    time_limit: float
    memory_bytes: int
    parent: int


def main(job: Job) -> None:
    """Entry point of the process."""
    _keep_quiet()
    _watch(job)
    from backend.failures import Reason, trace
    from rexrank.board import requests
    from rexrank.hub import HubError
    from rexrank.protocols.protocol import UnknownProtocol

    run = _Run(job, requests.read(job.request))
    try:
        run.score()
        return
    except _Refusal as refusal:
        run.fail(refusal.reason)
    except HubError as error:
        # Only the references are fetched outside of a _Refusal, and their absence is no fault of the submission.
        run.fail(Reason("hub_unavailable", f"the benchmark cannot be read: {error}"[: requests.MESSAGE_LENGTH]))
    except UnknownProtocol:
        run.fail(Reason("metric_unavailable", f"this worker does not know the protocol {run.request.protocol}"))
    except MemoryError:
        run.fail(Reason("out_of_memory", "scoring took more memory than this worker has"))
    except Exception as error:
        run.fail_internally(trace(error))


class _Refusal(Exception):
    """The submission cannot be scored as it is."""

    def __init__(self, reason: "Reason") -> None:
        super().__init__(reason.code)
        self.reason = reason


class _Run:
    """One pass over the stages fetch, validate, score and save."""

    def __init__(self, job: Job, request: "Request") -> None:
        from rexrank.hub import Clock, connect

        self.job = job
        self.request = request
        self.stage = "fetch"
        self._clock = Clock()
        self._hub = connect(job.endpoint, job.token)
        self._told = 0.0

    def score(self) -> None:
        """Fetch, validate, score and save."""
        from backend import rules
        from rexrank import protocols
        from rexrank.board import results, samples, tables
        from rexrank.scoring.score import score

        started = self._clock.now()
        predictions, sha256 = self._fetch_predictions()
        references = self._fetch_references()
        self.stage = "validate"
        texts = self._validate(predictions, references, sha256)
        self.stage = "score"
        declared = self.job.metrics
        protocol = rules.rules(self.request.protocol, declared)
        card = score(
            predictions,
            references,
            protocol=self.request.protocol,
            track=self.request.section,
            metrics=[key for key in protocol.metrics if declared is None or key in declared],
            progress=self._tell,
            modality=self.job.modality,
            language=self.job.language,
        )
        self.stage = "save"
        result = results.build(
            self.request,
            card,
            protocol,
            texts,
            self._evaluator(card, results.evaluator_hash(card.library_version, protocol, self.request.settings)),
            started,
            self._clock.now(),
            self.job.public,
        )
        if self.job.public:
            table = tables.per_study(result.result_id, card)
            write_atomically(self.job.folder / PER_STUDY, tables.to_parquet(table))
        kept = samples.table(card, protocols.load(self.request.protocol).ranking)
        write_atomically(self.job.folder / SAMPLES, tables.to_parquet(kept))
        write_atomically(self.job.folder / RESULT, result.to_bytes())
        self._end({"ok": True})

    def fail(self, reason: "Reason", places: list[str] | None = None) -> None:
        """Leave the reason behind; its stage is the present one unless it names another."""
        self._end(
            {
                "ok": False,
                "code": reason.code,
                "message": reason.message,
                "stage": reason.stage or self.stage,
                "field": reason.field,
                "wait": reason.wait,
                "trace": places or [],
            }
        )

    def fail_internally(self, places: list[str]) -> None:
        """Leave a reference behind by which the worker's log can be searched."""
        from backend.failures import Reason
        from rexrank.board.requests import new_id

        self.fail(Reason("internal", f"internal error in stage {self.stage} (E-{new_id()})"), places)

    def _fetch_predictions(self) -> tuple[Path, str]:
        from backend.failures import Reason, of_hub
        from rexrank.hub import HubError, patiently
        from rexrank.reports import Limits

        request = self.request
        path = self.job.folder / f"predictions{PurePosixPath(request.path_in_repo).suffix.lower()}"
        limit = Limits().file_bytes
        try:
            sha256 = patiently(
                lambda: self._hub.download(request.repo_id, request.path_in_repo, request.revision, path, limit),
                request.repo_id,
            )
        except HubError as error:
            raise _Refusal(of_hub(error, "fetch")) from None
        if request.file_sha256 not in (None, sha256):
            message = f"{request.path_in_repo} is not the file that was submitted; submit it again"
            raise _Refusal(Reason("file_missing", message))
        return path, sha256

    def _fetch_references(self) -> Path:
        from rexrank.hub import patiently
        from rexrank.reports import Limits
        from rexrank.terms import REFERENCE_FILE

        path = self.job.folder / "references.parquet"
        revision, limit = self.request.dataset_revision, Limits().file_bytes
        patiently(
            lambda: self._hub.download(self.job.benchmark, REFERENCE_FILE, revision, path, limit), self.job.benchmark
        )
        return path

    def _validate(self, predictions: Path, references: Path, sha256: str) -> Any:
        from backend.failures import of_problems
        from rexrank.board.results import Texts
        from rexrank.errors import RefusedInput
        from rexrank.reports import read_pair, read_references
        from rexrank.reports.studies import is_blank

        track = self.request.section
        try:
            found, known = read_pair(predictions, references, track)
        except RefusedInput as refused:
            # Read alone, faulty references are refused again, as no fault of the submission.
            total = len(_wanted(read_references(references, track), track))
            raise _Refusal(of_problems(refused.problems, total, self.job.public)) from None
        wanted = _wanted(known, track)
        return Texts(sha256, len(wanted), n_empty=sum(is_blank(found.texts[study_id]) for study_id in wanted))

    def _evaluator(self, card: "ScoreCard", evaluator_hash: str) -> Any:
        from rexrank.board.results import ResultEvaluator

        packages = dict(card.packages)
        return ResultEvaluator(
            hash=evaluator_hash,
            version=card.library_version,
            git_sha=self.job.git_sha,
            python=packages.pop("python"),
            packages=packages,
            device=card.device,
        )

    def _tell(self, stage: str, done: int, total: int) -> None:
        """Note how far it is, at most once a second."""
        now = time.monotonic()
        if now - self._told < PROGRESS_SECONDS:
            return
        self._told = now
        progress = {"stage": str(stage)[:64], "items_done": int(done), "items_total": int(total or 0)}
        write_atomically(self.job.folder / PROGRESS, json.dumps(progress).encode())

    def _end(self, outcome: dict[str, Any]) -> None:
        write_atomically(self.job.folder / OUTCOME, json.dumps(outcome).encode())


def _wanted(references: "References", track: "Track") -> list[str]:
    """Ids of the studies that need a prediction."""
    return [study.study_id for study in references.studies.values() if study.has(track)]


def _keep_quiet() -> None:
    """Libraries print what they like, report text included; nothing of it reaches the worker's log."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    os.close(sink)


def _watch(job: Job) -> None:
    """End this process when the worker is gone, the time is over or the memory is used up."""
    os.setsid()
    # The worker decides when to stop; Ctrl-C on its terminal must not look like a crash of the scoring.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
    end = time.monotonic() + job.time_limit
    checks: list[tuple[int, Callable[[], bool]]] = [
        (EXIT_ORPHAN, lambda: os.getppid() != job.parent),
        (EXIT_TIME, lambda: time.monotonic() > end),
        (EXIT_MEMORY, lambda: _resident_bytes() > job.memory_bytes),
    ]

    def watch() -> None:
        while True:
            for code, is_due in checks:
                if is_due():
                    os._exit(code)
            time.sleep(WATCH_SECONDS)

    threading.Thread(target=watch, name="watch", daemon=True).start()


def _resident_bytes() -> int:
    """Resident memory of this process. The address space says little: Arrow and CUDA reserve far more than they use."""
    with open("/proc/self/statm", encoding="ascii") as handle:
        return int(handle.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
