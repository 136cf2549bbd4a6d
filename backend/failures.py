"""Why a request failed, in words that its owner can act on and that hold no report text.

Ids come from the submitted file, where a mixed-up column may hold whole
reports, so a long one is described instead of quoted.
"""

import re
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rexrank.board.requests import MESSAGE_LENGTH
from rexrank.hub import HubError
from rexrank.reports.problems import Problem

NAMED_IDS = 10
QUOTED_ID = re.compile(r"[\w./:+@-]{1,64}")
NEAR_MISS = re.compile(r"which differs only in ([a-z ]+)$")
KINDS: Mapping[str, str] = {
    "missing_ids": "{n} of {total} studies missing",
    "extra_ids": "{studies} not in the track",
    "duplicate_key": "{studies} given twice",
}
RETRYABLE = frozenset({"hub_unavailable", "rate_limited", "out_of_memory", "timeout", "worker_lost", "internal"})


@dataclass(frozen=True)
class Reason:
    """Why an attempt ended without a result.

    Attributes:
        code: One of specs/hub.md 4.6.
        message: Up to 500 characters without report text.
        stage: What was being done.
        field: Field concerned, if one is.
        wait: Seconds that the Hub asked to wait.
    """

    code: str
    message: str
    stage: str | None = None
    field: str | None = None
    wait: float | None = None

    @property
    def retryable(self) -> bool:
        """Whether another try may succeed."""
        return self.code in RETRYABLE


def of_problems(problems: Sequence[Problem], total: int, public_ids: bool) -> Reason:
    """Put all faults of a prediction file into one message, every kind named.

    Args:
        problems: What validation found; not empty.
        total: Number of studies of the track.
        public_ids: Whether ids of the track may be named; else only counts are.
    """
    kinds: dict[tuple[str, str | None], list[Problem]] = {}
    for problem in problems:
        kinds.setdefault((problem.code, problem.field), []).append(problem)
    budget = MESSAGE_LENGTH // len(kinds) - len("; ")
    parts = [_part(code, field, found, total, public_ids, budget) for (code, field), found in kinds.items()]
    fields = {field for _, field in kinds if field}
    return Reason(
        next(iter(kinds))[0], "; ".join(parts)[:MESSAGE_LENGTH], "validate", fields.pop() if len(fields) == 1 else None
    )


def of_hub(error: HubError, stage: str) -> Reason:
    """Why something could not be fetched."""
    code = error.code if error.code not in ("unauthorized", "forbidden") else "gated"
    known = {"repo_not_found", "revision_not_found", "file_missing", "gated", "file_too_large", "rate_limited"}
    return Reason(
        code if code in known else "hub_unavailable", str(error)[:MESSAGE_LENGTH], stage, wait=error.retry_after
    )


def trace(error: BaseException) -> list[str]:
    """The places a fault went through, without the fault's own words, which may quote its input."""
    frames = traceback.extract_tb(error.__traceback__)
    return [*(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames), type(error).__name__]


def _part(code: str, field: str | None, problems: Sequence[Problem], total: int, public_ids: bool, budget: int) -> str:
    named = [problem for problem in problems if problem.study_id is not None]
    if code not in KINDS or field or not named:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        place = f'study "{_shown(named[0])}": ' if named and public_ids else ""
        return f"{code}: {place}{problems[0].message}"[: budget - len(more)] + more
    text = KINDS[code].format(n=len(named), studies=_studies(len(named)), total=total)
    if not public_ids and code == "missing_ids":
        return text[:budget]
    return _with_ids(text, [_shown(problem, hint=public_ids) for problem in named], budget)


def _studies(n: int) -> str:
    return "1 study" if n == 1 else f"{n} studies"


def _with_ids(text: str, ids: Sequence[str], budget: int) -> str:
    """As many ids as fit, up to ten, and a sign that there are more."""
    named: list[str] = []
    for study_id in ids[:NAMED_IDS]:
        if len(f"{text}: {', '.join([*named, study_id])}, …") > budget:
            break
        named.append(study_id)
    more = ", …" if named and len(named) < len(ids) else ""
    return f"{text}: {', '.join(named)}{more}" if named else text


def _shown(problem: Problem, hint: bool = False) -> str:
    """The problem's id, and how it differs from the id that was probably meant."""
    study_id = problem.study_id or ""
    shown = study_id if QUOTED_ID.fullmatch(study_id) else f"(an id of {len(study_id)} characters)"
    near = NEAR_MISS.search(problem.message) if hint else None
    return f"{shown} (differs only in {near[1]})" if near else shown
