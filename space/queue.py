"""The page "Queue": what waits, runs, failed and why, and whether a worker is alive."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any

import gradio as gr

from rexrank.board.requests import SHOWN as STATES
from rexrank.board.requests import Request, ResultPlace, Status
from rexrank.hub.clock import utc_now
from space.data import BoardData, BoardStore, Document
from space.formatting import age, duration, escape, moment, parse_time
from space.links import board_address
from space.parts import PRIVATE, freshness
from space.selection import linked_row

SILENT_SECONDS = 15 * 60
LISTED = 50
_SECTIONS: tuple[tuple[Status, str, str], ...] = (
    ("RUNNING", "Running", "Nothing is being scored right now."),
    ("PENDING", "Pending", "Nothing is pending."),
    ("FAILED", "Failed", "Nothing has failed."),
    ("FINISHED", "Done", "Nothing has been scored yet."),
    ("CANCELLED", "Cancelled", ""),
)


def in_order(requests: Sequence[Request], state: Status) -> list[Request]:
    """Return the entries of a state: those that wait in the order of their turn, all others latest first."""
    chosen = [request for request in requests if request.status == state]
    if state == "PENDING":
        return sorted(chosen, key=lambda request: (request.priority, request.submitted_at, request.id))
    return sorted(chosen, key=lambda request: (request.status_at, request.id), reverse=True)


def workers_html(data: BoardData, now: datetime) -> str:
    """Say for each worker when it last ran, with a warning after a quarter of an hour."""
    if not data.workers:
        return (
            '<p class="rx-worker rx-late" role="status"><i class="rx-dot" aria-hidden="true"></i><span>No worker has '
            "reported yet; what is submitted waits. <code>python -m backend serve</code> starts one.</span></p>"
        )
    return "".join(_worker(worker, now) for worker in data.workers)


def _worker(worker: Document, now: datetime) -> str:
    last = parse_time(worker.get("last_tick_at"))
    late = last is None or (now - last).total_seconds() > SILENT_SECONDS
    ran = f"last run {age(last, now)} ago" if last else "has not run yet"
    note = "; it seems to have stopped, and what is submitted waits until it is back" if late else ""
    version = f", rexrank {escape(worker.get('version'))}" if worker.get("version") else ""
    return (
        f'<p class="rx-worker{" rx-late" if late else ""}" role="status"><i class="rx-dot" aria-hidden="true"></i>'
        f"<span>Worker <strong>{escape(worker.get('worker'))}</strong>: {ran}{version}{note}</span></p>"
    )


def queue_html(data: BoardData, now: datetime, asked: str = "") -> str:
    """Lay the whole queue out.

    Args:
        data: What the board knows.
        now: Present moment, for ages.
        asked: Id of a request to put on top, from the address of the page.
    """
    by_state = {state: in_order(data.requests, state) for state, _, _ in _SECTIONS}
    places = {request.id: place for place, request in enumerate(by_state["PENDING"], start=1)}
    done = by_state["FINISHED"]
    replaced = _replaced(data, [*done[:LISTED], *(request for request in done[LISTED:] if request.id == asked)])
    parts = [_asked(data, now, asked, places, replaced)] if asked else []
    for state, title, empty in _SECTIONS:
        requests = by_state[state]
        if not requests and not empty:
            continue
        entries = "".join(_entry(request, now, places, replaced) for request in requests[:LISTED])
        hidden = len(requests) - LISTED
        more = f'<p class="rx-quiet">and {hidden} more in the requests repo</p>' if hidden > 0 else ""
        body = entries + more if requests else f'<p class="rx-quiet">{empty}</p>'
        parts.append(f'<section class="rx-section"><h3>{title} <span>{len(requests)}</span></h3>{body}</section>')
    return "".join(parts) + _set_aside(data.set_aside)


def _replaced(data: BoardData, done: Sequence[Request]) -> set[str]:
    """Ids of those requests whose result is not on the leaderboard, because a later one of the model is."""
    shown = {row["request_id"] for row in data.leaderboard}
    absent = [request for request in done if request.id not in shown]
    return {one.id for one in absent if one.result and linked_row(data, _result_id(one.result))}


def _result_id(place: ResultPlace) -> str:
    return place.path.rsplit("/", 1)[-1].removesuffix(".json")


def _asked(data: BoardData, now: datetime, asked: str, places: dict[str, int], replaced: Collection[str]) -> str:
    mine = data.request(asked)
    if mine is None:
        return (
            f'<p class="rx-note" role="status">Request <code>{escape(asked)}</code> is not in the queue that was read '
            "last; this page looks again by itself.</p>"
        )
    return f'<section class="rx-section rx-mine"><h3>Your request</h3>{_entry(mine, now, places, replaced)}</section>'


def _set_aside(count: int) -> str:
    if not count:
        return ""
    files = "1 request file cannot be read and is" if count == 1 else f"{count} request files cannot be read and are"
    return f'<p class="rx-note" role="status">{files} set aside; the others are not affected.</p>'


def entry_html(data: BoardData, request: Request, now: datetime) -> str:
    """One request as it stands in the queue."""
    places = {one.id: place for place, one in enumerate(in_order(data.requests, "PENDING"), start=1)}
    return _entry(request, now, places, _replaced(data, [request]))


def _entry(request: Request, now: datetime, places: dict[str, int], replaced: Collection[str]) -> str:
    # Of an unpublished submission visitors see state and position, nothing else.
    hidden = request.visibility == "private"
    name = "unpublished submission" if hidden else request.model_name
    rest = "" if hidden else _facts(request) + _body(request, now, request.id in replaced)
    state = STATES[request.status]
    baseline = ' <span class="rx-chip">baseline</span>' if request.kind == "baseline" and not hidden else ""
    return (
        f'<article class="rx-entry" data-request="{request.id}" data-state="{state}"><header>'
        f'<span class="rx-name">{escape(name)}</span> <span class="rx-chip rx-chip-{state}">{state}</span>{baseline}'
        f"<time>{_when(request, now, places)}</time></header>{rest}</article>"
    )


def _facts(request: Request) -> str:
    facts = [escape(request.owner), f"{escape(request.dataset)}, {escape(request.section)}"]
    if request.attempt:
        facts.append(f"attempt {request.attempt} of {request.max_attempts}")
    if request.cancel_requested and request.status == "RUNNING":
        facts.append("will be cancelled")
    facts.append(f"<code>{request.id}</code>")
    return f'<p class="rx-facts">{" · ".join(facts)}</p>'


def _when(request: Request, now: datetime, places: dict[str, int]) -> str:
    since = moment(request.status_at)
    if request.status == "PENDING":
        return f'<span title="{since}">number {places[request.id]} in line, {age(request.submitted_at, now)}</span>'
    if request.status == "RUNNING":
        started = request.claim.at if request.claim else request.status_at
        return f'<span title="{moment(started)}">for {age(started, now)}</span>'
    return f'<span title="{since}">{age(request.status_at, now)} ago</span>'


def _body(request: Request, now: datetime, replaced: bool) -> str:
    if request.status == "PENDING":
        return _next_attempt(request, now)
    if request.status == "RUNNING":
        return _progress(request)
    if request.status == "FAILED":
        return _reason(request)
    return _outcome(request, replaced) if request.status == "FINISHED" else ""


def _next_attempt(request: Request, now: datetime) -> str:
    if request.not_before is None or request.not_before <= now:
        return ""
    reason = f" after <code>{escape(request.error.code)}</code>" if request.error else ""
    return f'<p class="rx-facts">next attempt in {duration((request.not_before - now).total_seconds())}{reason}</p>'


def _progress(request: Request) -> str:
    progress = request.progress
    where = f" on {escape(request.claim.worker)}" if request.claim else ""
    if progress is None:
        return f'<progress aria-label="progress"></progress><p class="rx-facts">starting{where}</p>'
    said = [escape(progress.stage)]
    if progress.metrics_total:
        said.append(f"{len(progress.metrics_done)} of {progress.metrics_total} metrics")
    filled = ""
    if progress.items_total:
        filled = f' max="{progress.items_total}" value="{min(progress.items_done, progress.items_total)}"'
        said.append(f"{progress.items_done} of {progress.items_total} studies")
    return f'<progress aria-label="progress"{filled}></progress><p class="rx-facts">{", ".join(said)}{where}</p>'


def _reason(request: Request) -> str:
    error = request.error
    if error is None:
        return ""
    stage = f" in stage {escape(error.stage)}" if error.stage else ""
    return f'<div class="rx-reason"><code>{escape(error.code)}</code>{stage}<p>{escape(error.message)}</p></div>'


def scores_address(request: Request) -> str:
    """Address of the table that holds a done request's scores, with its details open; empty before there are any."""
    if request.result is None:
        return ""
    place = {"benchmark": request.dataset, "track": request.section, "protocol": request.protocol}
    return board_address("./", {**place, "model": _result_id(request.result)})


def _outcome(request: Request, replaced: bool) -> str:
    started = [entry.at for entry in request.history if entry.from_ == "PENDING" and entry.to == "RUNNING"]
    took = f"scored in {duration((request.status_at - started[-1]).total_seconds())}" if started else ""
    address = scores_address(request)
    label = "replaced by a later submission: see its scores" if replaced else "see the scores"
    link = f'<a href="{address}">{label}</a>' if address else ""
    return f'<p class="rx-facts">{" · ".join(part for part in (took, link) if part)}</p>'


def build(page: gr.Blocks, store: BoardStore, now: Callable[[], datetime] = utc_now) -> None:
    """Put the page's components and events into the open page."""
    gr.HTML('<h1 class="rx-title">Queue</h1>', elem_id="queue-title")
    fresh = gr.HTML(elem_id="queue-freshness")
    workers = gr.HTML(elem_id="queue-workers")
    entries = gr.HTML(elem_id="queue-entries")
    asked = gr.State("")

    def show(request_id: str) -> tuple[str, str, str]:
        data, moment_now = store.data, now()
        return freshness(data, moment_now), workers_html(data, moment_now), queue_html(data, moment_now, request_id)

    def opened(visitor: gr.Request) -> tuple[Any, ...]:
        request_id = str(visitor.query_params.get("request", ""))[:26]
        return request_id, *show(request_id)

    page.load(opened, None, [asked, fresh, workers, entries], **PRIVATE)
    gr.Timer(store.period).tick(show, [asked], [fresh, workers, entries], **PRIVATE)
