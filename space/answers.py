"""What the page "Submit" answers: every fault of a refused form, or how far an accepted request is."""

from collections.abc import Sequence
from datetime import datetime

from rexrank.board.requests import Request
from rexrank.reports.problems import Problem
from space.data import BoardData
from space.formatting import escape
from space.links import board_address, hub_link, hub_page
from space.queue import entry_html, scores_address

SHOWN = 10
ENDED = frozenset({"FINISHED", "FAILED", "CANCELLED"})
_HEADS = {
    "PENDING": "In the queue",
    "RUNNING": "Being scored",
    "FINISHED": "Done",
    "FAILED": "Failed",
    "CANCELLED": "Cancelled",
}
# How the validation says that a file and the references share no id: a fault of no single study.
_STRANGERS = ("extra_ids", None, "study_id")


def accepted_html(request: Request) -> str:
    """Say that a request is in the queue, and where to watch it."""
    return (
        f'<div class="rx-done" role="status"><strong>In the queue</strong> as request <code>{request.id}</code>: '
        f"{escape(request.model_name)}, {escape(request.dataset)}, {escape(request.section)}. "
        f"{_watch(request.id)}</div>"
    )


def followed_html(data: BoardData, request_id: str, now: datetime) -> tuple[str, bool] | None:
    """Say how far a request is.

    Args:
        data: What the board knows.
        request_id: The request that the form has put into the queue.
        now: Present moment, for ages.

    Returns:
        HTML, and whether the request has come to its end; None before the board has read the request.
    """
    request = data.request(request_id)
    if request is None:
        return None
    address = scores_address(request)
    scores = f' · <a href="{address}">See the scores</a>' if address else ""
    said = (
        f'<div class="rx-done" role="status"><strong>{_HEADS[request.status]}.</strong> {_watch(request.id)}{scores}'
        f"{entry_html(data, request, now)}</div>"
    )
    return said, request.status in ENDED


def _watch(request_id: str) -> str:
    return f'<a href="{board_address("./queue", {"request": request_id})}">Watch it on the page Queue</a>'


def refused_html(problems: Sequence[Problem], benchmark_repo: str = "") -> str:
    """List the faults by code, the first ten of each with their count.

    Args:
        problems: Every fault.
        benchmark_repo: ``owner/name`` of the benchmark, for the hint where its ids come from.
    """
    count = "1 fault" if len(problems) == 1 else f"{len(problems):,} faults"
    on_top, rest = _on_top(problems, benchmark_repo)
    groups = "".join(_group(code, rest) for code in dict.fromkeys(problem.code for problem in rest))
    return (
        f'<div class="rx-faults" role="alert"><strong>Not submitted: {count}.</strong> Nothing was put into the queue.'
        f"{on_top}{groups}</div>"
    )


def _group(code: str, problems: Sequence[Problem]) -> str:
    own = [problem for problem in problems if problem.code == code]
    shown = "".join(f"<li>{escape(str(problem))}</li>" for problem in own[:SHOWN])
    more = f"<li>and {len(own) - SHOWN:,} more</li>" if len(own) > SHOWN else ""
    return f"<section><h4><code>{escape(code)}</code> {len(own):,}</h4><ul>{shown}{more}</ul></section>"


def _on_top(problems: Sequence[Problem], benchmark_repo: str) -> tuple[str, list[Problem]]:
    """A plain sentence where no id of the file is one of the benchmark, and the single faults that follow from it."""
    first = next((one for one in problems if (one.code, one.study_id, one.field) == _STRANGERS), None)
    if first is None:
        return "", list(problems)
    where = f" of {hub_link(hub_page(benchmark_repo), benchmark_repo)}" if benchmark_repo else ""
    said = (
        f"<p>{escape(first.file)}: {escape(first.message)}. "
        f"The ids of the benchmark stand in the column <code>study_id</code>{where}.</p>"
    )
    return said, [one for one in problems if one is not first]


def failed_html(message: str) -> str:
    """Say why the Hub did not take a submission."""
    return f'<div class="rx-faults" role="alert"><strong>Not submitted.</strong> <span>{escape(message)}</span></div>'
