"""Pieces that every page has: navigation, age of the data, first steps of an empty board."""

from datetime import datetime
from typing import Any

import gradio as gr

from space.data import BoardData
from space.formatting import age, escape, moment

# Settings of every event of a page: programs are not offered it, and Gradio's own sign of progress is not shown.
PRIVATE: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}


def navigation(page: str) -> None:
    """Put the bar with all pages on top of a page."""
    gr.Navbar(main_page_name="Leaderboard", elem_id=f"{page}-nav")


def freshness(data: BoardData, now: datetime) -> str:
    """Say how old the data are, and plainly when the Hub does not answer.

    Args:
        data: What is shown.
        now: Present moment.
    """
    if data.origin == "nothing":
        return f'<p class="rx-fresh rx-late" role="status">Nothing read yet: {escape(data.problem or "starting")}.</p>'
    if data.problem:
        return (
            f'<p class="rx-fresh rx-late" role="status">The Hub cannot be read ({escape(data.problem)}). '
            f"Showing what it held {age(data.read_at, now)} ago, at {moment(data.read_at)}.</p>"
        )
    return f'<p class="rx-fresh" role="status">Read from the Hub {age(data.read_at, now)} ago</p>'


def first_steps(data: BoardData, namespace: str) -> str:
    """Say how a board without any result gets its first one."""
    if data.host:
        return (
            '<div class="rx-empty" role="status"><h3>No model yet — be the first</h3>'
            '<p>Put predictions in on the page <a href="./submit">Submit</a>, or from a shell:</p>'
            "<pre>rexrank submit predictions.csv --benchmark iu-xray --track findings</pre>"
            '<p>The page <a href="./queue">Queue</a> shows how far they are.</p></div>'
        )
    return (
        '<div class="rx-empty" role="status"><h3>This board has not been set up yet</h3>'
        f"<p>It reads <code>{escape(namespace)}/results</code>, <code>{escape(namespace)}/requests</code> and "
        f"<code>{escape(namespace)}/status</code>; the backend makes them at its first start:</p>"
        "<pre>python -m backend serve</pre><p>On one machine <code>rexrank up</code> starts Hub, backend and board "
        "together. This page looks again by itself.</p></div>"
    )
