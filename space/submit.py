"""The page "Submit": predictions into the queue, with every fault named at once."""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args
from urllib.parse import quote

import gradio as gr

from rexrank.board.requests import Request, Track
from rexrank.board.submission import PREDICTION_SUFFIXES, submit
from rexrank.errors import RefusedInput, RexrankError
from rexrank.hub import Hub, connect
from rexrank.hub.clock import utc_now
from rexrank.reports.problems import Problem
from space.data import BoardData, BoardStore
from space.formatting import escape
from space.parts import freshness

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Submitters:
    """Where submissions go and in whose name.

    Attributes:
        endpoint: The Hub.
        namespace: Owner of the host's repos.
        local_user: The user of `rexrank up` in whose name the form submits, or None where visitors identify themselves.
        local_token: That user's token.
        queue: The Hub with the board's own token where that may write requests, else None.
    """

    endpoint: str
    namespace: str
    local_user: str | None = None
    local_token: str | None = None
    queue: Hub | None = None

    @classmethod
    def from_environment(cls, endpoint: str, namespace: str) -> "Submitters":
        """Read REXRANK_LOCAL_USER and REXRANK_LOCAL_TOKEN; a Space, which everybody reaches, ignores them."""
        user, token = os.environ.get("REXRANK_LOCAL_USER"), os.environ.get("REXRANK_LOCAL_TOKEN")
        queue = connect(endpoint, os.environ["HF_TOKEN"]) if os.environ.get("HF_TOKEN") else None
        if not user or not token or os.environ.get("SPACE_ID"):
            user = token = None
        return cls(endpoint, namespace, user, token, queue)

    def hub(self, visitor_token: str) -> Hub:
        """The Hub in the submitter's name.

        Raises:
            RefusedInput: The visitor gave no token. The board's own is never used instead.
        """
        token = self.local_token or visitor_token.strip()
        if not token:
            message = "enter a token of yours with the right to write; the board reads your name from it"
            raise RefusedInput([Problem("unauthorized", None, None, "token", message)])
        return connect(self.endpoint, token)


@dataclass(frozen=True)
class Form:
    """What a visitor filled in."""

    benchmark: str = ""
    track: str = ""
    protocol: str = ""
    model_name: str = ""
    file: str | None = None
    repo: str = ""
    path_in_repo: str = ""
    organization: str = ""
    model_url: str = ""
    paper_url: str = ""
    code_url: str = ""
    token: str = ""


def send(form: Form, submitters: Submitters) -> Request:
    """Put a filled form into the queue.

    Raises:
        RefusedInput: With every fault of the form or the file.
        RexrankError: The Hub does not answer or refuses.
    """
    problems = _missing(form)
    if problems:
        raise RefusedInput(problems)
    # The address form can never be taken for a file on the board's own disk.
    source: str | Path = Path(form.file) if form.file else f"hf://datasets/{form.repo.strip()}"
    return submit(
        submitters.hub(form.token),
        source,
        form.benchmark,
        cast(Track, form.track),
        model_name=form.model_name.strip(),
        file=form.path_in_repo.strip() or None if not form.file else None,
        protocol=form.protocol or None,
        model_url=form.model_url.strip() or None,
        paper_url=form.paper_url.strip() or None,
        code_url=form.code_url.strip() or None,
        organization=form.organization.strip() or None,
        via="web",
        namespace=submitters.namespace,
        queue=submitters.queue,
    )


def _missing(form: Form) -> list[Problem]:
    checks = [
        (not form.benchmark, "benchmark", "choose one"),
        (form.track not in get_args(Track), "track", "choose one"),
        (not form.model_name.strip(), "model name", "enter the name to show on the board"),
        (
            not form.file and not form.repo.strip(),
            "predictions",
            "choose a file, or name a dataset repo that holds one",
        ),
        (bool(form.file) and bool(form.repo.strip()), "predictions", "give a file or a repo, not both"),
    ]
    return [Problem("wrong_value", None, None, field, message) for wrong, field, message in checks if wrong]


def accepted_html(request: Request) -> str:
    """Say that a request is in the queue, and where to watch it."""
    return (
        f'<div class="rx-done" role="status"><strong>In the queue</strong> as request <code>{request.id}</code>: '
        f"{escape(request.model_name)}, {escape(request.dataset)}, {escape(request.section)}. "
        f'<a href="./queue?request={quote(request.id)}">Watch it on the page Queue</a></div>'
    )


def refused_html(problems: list[Problem]) -> str:
    """List every fault, or the first hundred of them."""
    shown = "".join(f"<li>{escape(str(problem))}</li>" for problem in problems[:100])
    more = f"<li>and {len(problems) - 100} more</li>" if len(problems) > 100 else ""
    count = "1 fault" if len(problems) == 1 else f"{len(problems)} faults"
    return (
        f'<div class="rx-faults" role="alert"><strong>Not submitted: {count}.</strong> Nothing was put into the queue.'
        f"<ul>{shown}{more}</ul></div>"
    )


def failed_html(message: str) -> str:
    """Say why the Hub did not take a submission."""
    return f'<div class="rx-faults" role="alert"><strong>Not submitted.</strong> <span>{escape(message)}</span></div>'


def identity_html(submitters: Submitters) -> str:
    """Say in whose name the form submits."""
    if submitters.local_user:
        return (
            f'<p class="rx-note">This board runs on one machine: the form submits as the user '
            f"<strong>{escape(submitters.local_user)}</strong>, and so does everyone who can open this page.</p>"
        )
    return (
        f'<p class="rx-note">You submit in your own name. Your token for {escape(submitters.endpoint)} is used once, '
        "for this submission, and kept nowhere; a file is uploaded to a dataset repo of yours.</p>"
    )


def outcome(form: Form, submitters: Submitters) -> tuple[str, bool]:
    """Send a form and say what became of it.

    Returns:
        HTML for the visitor, and whether the request is in the queue.
    """
    try:
        return accepted_html(send(form, submitters)), True
    except RefusedInput as refusal:
        return refused_html(refusal.problems), False
    except RexrankError as error:
        return failed_html(str(error)), False
    except Exception as error:
        # Texts of other libraries' exceptions quote inputs, so only the kind is named.
        _LOGGER.error("a submission ended with %s", type(error).__name__)
        return failed_html("the board made a mistake; the host finds its kind in the log. Nothing was queued."), False
    finally:
        if form.file:
            Path(form.file).unlink(missing_ok=True)


def build(page: gr.Blocks, store: BoardStore, submitters: Submitters, now: Callable[[], Any] = utc_now) -> None:
    """Put the page's components and events into the open page."""
    gr.HTML(
        '<h1 class="rx-title">Submit</h1><p class="rx-lead">One file of predictions: <code>study_id</code> and '
        "<code>prediction</code> as CSV, TSV, JSON, JSONL or Parquet. It is checked at once and scored in turn.</p>",
        elem_id="submit-title",
    )
    fresh = gr.HTML(elem_id="submit-freshness")
    gr.HTML(identity_html(submitters), elem_id="submit-identity")
    with gr.Row(elem_classes="rx-controls"):
        benchmark = gr.Dropdown(label="Benchmark", elem_id="submit-benchmark", min_width=200)
        track = gr.Radio(label="Track", elem_id="submit-track", min_width=200)
        protocol = gr.Dropdown(label="Protocol", elem_id="submit-protocol", min_width=200)
    with gr.Row(elem_classes="rx-controls"):
        name = gr.Textbox(label="Model name", max_length=96, elem_id="submit-name", min_width=200)
        organization = gr.Textbox(
            label="Organisation (optional)", max_length=96, elem_id="submit-organization", min_width=200
        )
    with gr.Row(elem_classes="rx-controls", equal_height=True):
        file = gr.File(
            label="Predictions file",
            file_types=list(PREDICTION_SUFFIXES),
            elem_id="submit-file",
            height=150,
            min_width=260,
        )
        with gr.Column(min_width=260):
            repo = gr.Textbox(
                label="or a dataset repo on the Hub",
                placeholder="owner/name or owner/name@revision",
                elem_id="submit-repo",
            )
            inside = gr.Textbox(
                label="File in the repo (if it holds several)", placeholder="findings.csv", elem_id="submit-path"
            )
    with gr.Row(elem_classes="rx-controls"):
        links = [
            gr.Textbox(label=f"{label} (https link, optional)", max_length=300, elem_id=f"submit-{key}", min_width=200)
            for key, label in (("model-url", "Model"), ("paper-url", "Paper"), ("code-url", "Code"))
        ]
    token = gr.Textbox(
        label="Hub token", type="password", visible=submitters.local_user is None, elem_id="submit-token", max_lines=1
    )
    button = gr.Button("Check and submit", variant="primary", elem_id="submit-send")
    answer = gr.HTML(elem_id="submit-answer")

    def offer(benchmark_name: str | None, track_name: str | None) -> tuple[Any, ...]:
        data = store.data
        return freshness(data, now()), *offers(data, benchmark_name or "", track_name or "")

    def pressed(*values: Any) -> tuple[Any, ...]:
        form = Form(*(value or "" for value in values))
        said, queued = outcome(form, submitters)
        # The file is gone from the board either way; the token leaves the page as soon as it has been used.
        return said, None, "", gr.skip() if not queued else ""

    fields = [benchmark, track, protocol, name, file, repo, inside, organization, *links, token]
    chosen = [fresh, benchmark, track, protocol]
    private: dict[str, Any] = {"api_visibility": "private"}
    page.load(offer, [benchmark, track], chosen, show_progress="hidden", **private)
    benchmark.input(offer, [benchmark, track], chosen, show_progress="hidden", **private)
    button.click(pressed, fields, [answer, file, token, name], show_progress="minimal", concurrency_limit=4, **private)


def offers(data: BoardData, benchmark: str, track: str) -> tuple[Any, Any, Any]:
    """Fill the three choosers with what the host offers, keeping what is chosen where it still exists."""
    known = data.host.benchmarks if data.host else {}
    benchmark = benchmark if benchmark in known else next(iter(known), "")
    tracks = list(known[benchmark].tracks.items()) if benchmark else []
    names = [name for name, _ in tracks]
    protocols = data.host.protocols if data.host else []
    return (
        gr.Dropdown(choices=list(known), value=benchmark or None),
        gr.Radio(
            choices=[(f"{name} ({count})", name) for name, count in tracks],
            value=track if track in names else next(iter(names), None),
        ),
        gr.Dropdown(choices=protocols, value=protocols[0] if protocols else None, visible=len(protocols) > 1),
    )
