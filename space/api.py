"""What programs may ask the board: typed functions under ``/gradio_api/call/…``; reading only."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any

import gradio as gr

from rexrank.board.requests import SHOWN
from rexrank.hub.clock import utc_now
from space.data import BoardStore
from space.selection import Wish, arrange_page


def build(store: BoardStore, now: Callable[[], datetime] = utc_now) -> None:
    """Offer the functions ``leaderboard``, ``result`` and ``status``."""

    def leaderboard(benchmark: str = "", track: str = "", protocol: str = "") -> list[dict[str, Any]]:
        """Rows of one track, best first; blank arguments mean the board's first offer."""
        page = arrange_page(store.data, Wish(benchmark, track, protocol))
        return [_plain(dict(row)) for row in page.rows]

    def result(result_id: str) -> dict[str, Any]:
        """One result with all its scores; empty where there is none of that id."""
        data = store.data
        row = data.row(result_id)
        if row is None:
            return {}
        scores = [_plain(dict(score)) for score in data.scores if score["result_id"] == result_id]
        return {**_plain(dict(row)), "scores": scores}

    def status() -> dict[str, Any]:
        """Counts of the queue, heartbeats of the workers, and how old the board's data are."""
        data = store.data
        counts = Counter(SHOWN[request.status] for request in data.requests)
        age = (now() - data.read_at).total_seconds() if data.read_at else None
        return {
            "queue": {name: counts.get(name, 0) for name in SHOWN.values()},
            "set_aside": data.set_aside,
            "workers": [dict(worker) for worker in data.workers],
            "results": len(data.leaderboard),
            "read_seconds_ago": age,
            "problem": data.problem,
        }

    gr.api(leaderboard, api_name="leaderboard")
    gr.api(result, api_name="result")
    gr.api(status, api_name="status")


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Times as text, everything else as it is: what JSON can hold."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
