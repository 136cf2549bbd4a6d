"""All pages put together, and the settings under which they are served."""

from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from space import about, across, analyses, api, leaderboard, queue, reported, submit
from space.absent import answer
from space.data import BoardStore
from space.guard import Guard
from space.parts import navigation
from space.style import CSS, THEME

UPLOAD_LIMIT = "200mb"
CACHE_SECONDS = 3600
LOOPBACK = "127.0.0.1"


def pages(store: BoardStore, submitters: submit.Submitters) -> gr.Blocks:
    """Build the board.

    Args:
        store: What the pages show.
        submitters: Where submissions go.
    """
    with gr.Blocks(title="rexrank", analytics_enabled=False, delete_cache=(CACHE_SECONDS, CACHE_SECONDS)) as board:
        navigation("lb")
        leaderboard.build(board, store, submitters.namespace)
        api.build(store)
    with board.route("Submit", "submit"):
        navigation("submit")
        submit.build(board, store, submitters)
    with board.route("Queue", "queue"):
        navigation("queue")
        queue.build(board, store)
    with board.route("Across benchmarks", "across"):
        navigation("across")
        across.build(board, store)
    with board.route("Reported", "reported"):
        navigation("reported")
        reported.build(board, store)
    with board.route("Analyses", "analyses"):
        navigation("analyses")
        analyses.build(board, store)
    with board.route("About", "about"):
        navigation("about")
        about.build(board, store, submitters.namespace)
    return board.queue(default_concurrency_limit=16, max_size=256)


def launch_settings(host: str, port: int) -> dict[str, Any]:
    """Arguments of ``Blocks.launch``: quiet, offline, without a run history that would keep report texts.

    On the loopback address the board also refuses whatever pages of other sites send to it.
    """
    return {
        "server_name": host,
        "server_port": port,
        "prevent_thread_lock": True,
        "share": False,
        "ssr_mode": False,
        "quiet": True,
        "run_history": False,
        "show_error": False,
        "enable_monitoring": False,
        "mcp_server": False,
        "pwa": False,
        "max_file_size": UPLOAD_LIMIT,
        "footer_links": ["api"],
        "app_kwargs": {
            "middleware": [Middleware(Guard, local=host == LOOPBACK)],
            "exception_handlers": {404: answer},
        },
        "theme": THEME,
        "css": CSS,
    }
