"""The page "Submit": predictions into the queue, with every fault named at once."""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import gradio as gr

from rexrank.board.names import LINK_LENGTH, NAME_LENGTH
from rexrank.board.requests import LICENSE_LENGTH, Request
from rexrank.board.submission import PREDICTION_SUFFIXES, submit
from rexrank.errors import RefusedInput, RexrankError
from rexrank.hub import Hub, connect
from rexrank.hub.clock import utc_now
from rexrank.reports.problems import Problem
from rexrank.terms import TRACKS, Track
from space.answers import accepted_html, failed_html, followed_html, refused_html
from space.data import BoardData, BoardStore
from space.formatting import escape
from space.links import hub_link, hub_page
from space.parts import PRIVATE, freshness

_LOGGER = logging.getLogger(__name__)
_TO_ANSWER = """() => setTimeout(() => {
  document.getElementById("submit-answer").scrollIntoView({behavior: "smooth", block: "nearest"});
}, 200)"""
SEND = "Check and submit"
TEMPLATE = """study_id,prediction
id-of-the-first-study,"The heart is normal in size. The lungs are clear."
id-of-the-second-study,"No focal consolidation, effusion or pneumothorax."
"""


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
    license: str = ""


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
        license=form.license.strip() or None,
        via="web",
        namespace=submitters.namespace,
        queue=submitters.queue,
    )


def _missing(form: Form) -> list[Problem]:
    checks = [
        (not form.benchmark, "benchmark", "choose one"),
        (form.track not in TRACKS, "track", "choose one"),
        (not form.model_name.strip(), "model name", "enter the name to show on the board"),
        (
            not form.file and not form.repo.strip(),
            "predictions",
            "choose a file, or name a dataset repo that holds one",
        ),
        (
            bool(form.file) and not Path(form.file or "").is_file(),
            "predictions",
            "the board has cleared the file away; choose it again",
        ),
        (bool(form.file) and bool(form.repo.strip()), "predictions", "give a file or a repo, not both"),
    ]
    return [Problem("wrong_value", None, None, field, message) for wrong, field, message in checks if wrong]


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


def outcome(form: Form, submitters: Submitters) -> tuple[str, Request | None]:
    """Send a form and say what became of it.

    A file that is in the queue is gone from the board at once; one that was refused stays for the next try, until the
    board clears its uploads.

    Returns:
        HTML for the visitor, and the request where it is in the queue.
    """
    try:
        request = send(form, submitters)
    except RefusedInput as refusal:
        repo = f"{submitters.namespace}/{form.benchmark}" if form.benchmark else ""
        return refused_html(refusal.problems, repo), None
    except RexrankError as error:
        return failed_html(str(error)), None
    except Exception as error:
        # Texts of other libraries' exceptions quote inputs, so only the kind is named.
        _LOGGER.error("a submission ended with %s", type(error).__name__)
        return failed_html("the board made a mistake; the host finds its kind in the log. Nothing was queued."), None
    if form.file:
        Path(form.file).unlink(missing_ok=True)
    return accepted_html(request), request


def help_html(data: BoardData, namespace: str, benchmark: str) -> str:
    """Say what a file looks like, and where the ids in it come from."""
    forms = " ".join(f"<code>{ending}</code>" for ending in PREDICTION_SUFFIXES)
    ids = ""
    if benchmark:
        repo = f"{namespace}/{benchmark}"
        entry = data.host.benchmarks.get(benchmark) if data.host else None
        source = f"<code>load_dataset({escape(chr(34) + repo + chr(34))})</code> ({hub_link(hub_page(repo), repo)})"
        gated = "" if entry and entry.public else ", which is open to those who may see its references"
        ids = f" Study ids are those in the column <code>study_id</code> of {source}{gated}."
    return (
        f"<p>One file in one of the forms {forms}: for each study of the track its <code>study_id</code> and the "
        f"model's text as <code>prediction</code>.{ids} No study may be missing, extra or double; an empty prediction "
        "counts as worst.</p>"
    )


@dataclass(frozen=True)
class _Parts:
    """The form's components that its events use."""

    fresh: gr.HTML
    benchmark: gr.Dropdown
    track: gr.Radio
    protocol: gr.Dropdown
    help: gr.HTML
    name: gr.Textbox
    organization: gr.Textbox
    file: gr.File
    repo: gr.Textbox
    inside: gr.Textbox
    license: gr.Textbox
    links: tuple[gr.Textbox, ...]
    token: gr.Textbox
    button: gr.Button
    answer: gr.HTML


def build(page: gr.Blocks, store: BoardStore, submitters: Submitters, now: Callable[[], datetime] = utc_now) -> None:
    """Put the page's components and events into the open page."""
    parts = _components(submitters)
    choices = [parts.benchmark, parts.track, parts.protocol]
    offered = [parts.fresh, parts.benchmark, parts.track, parts.protocol, parts.help]
    followed = gr.State("")
    timer = gr.Timer(store.period, active=False)

    def offer(benchmark: str | None, track: str | None, protocol: str | None) -> tuple[Any, ...]:
        data = store.data
        chosen = _benchmark(data, benchmark or "")
        said = help_html(data, submitters.namespace, chosen)
        return freshness(data, now()), *offers(data, chosen, track or "", protocol or ""), said

    def opened(visitor: gr.Request) -> tuple[Any, ...]:
        asked = visitor.query_params
        return offer(asked.get("benchmark"), asked.get("track"), asked.get("protocol"))

    def pressed(*values: Any) -> tuple[Any, ...]:
        said, request = outcome(Form(*(value or "" for value in values)), submitters)
        kept = gr.skip() if request is None else None
        # The token leaves the page as soon as it has been used; a refused file stays for the next try.
        return (
            said,
            kept,
            "",
            gr.skip() if request is None else "",
            gr.Button(SEND, interactive=True),
            request.id if request else "",
            gr.Timer(active=request is not None),
        )

    def follow(request_id: str) -> tuple[Any, Any]:
        found = followed_html(store.data, request_id, now())
        return (gr.skip(), gr.skip()) if found is None else (found[0], gr.Timer(active=not found[1]))

    page.load(opened, None, offered, **PRIVATE)
    parts.benchmark.input(offer, choices, offered, **PRIVATE)
    fields = [parts.benchmark, parts.track, parts.protocol, parts.name, parts.file, parts.repo, parts.inside]
    fields += [parts.organization, *parts.links, parts.token, parts.license]
    answered = [parts.answer, parts.file, parts.token, parts.name, parts.button, followed, timer]
    # Gradio's own sign of progress says the raw key of a text that its catalogue lacks, so the button says it.
    parts.button.click(
        lambda: (gr.Button("Checking …", interactive=False), ""), None, [parts.button, parts.answer], **PRIVATE
    ).then(pressed, fields, answered, concurrency_limit=4, **PRIVATE).then(None, js=_TO_ANSWER, **PRIVATE)
    timer.tick(follow, [followed], [parts.answer, timer], **PRIVATE)


def _components(submitters: Submitters) -> _Parts:
    gr.HTML(
        '<h1 class="rx-title">Submit</h1><p class="rx-lead">One file of predictions for one track. It is checked at '
        "once and scored in turn.</p>",
        elem_id="submit-title",
    )
    fresh = gr.HTML(elem_id="submit-freshness")
    gr.HTML(identity_html(submitters), elem_id="submit-identity")
    with gr.Row(elem_classes="rx-controls"):
        benchmark = gr.Dropdown(label="Benchmark", elem_id="submit-benchmark", min_width=200)
        track = gr.Radio(label="Track", elem_id="submit-track", min_width=300, scale=2)
        protocol = gr.Dropdown(label="Protocol", elem_id="submit-protocol", min_width=200)
    with gr.Row(elem_classes="rx-controls"):
        name = gr.Textbox(label="Model name", max_length=NAME_LENGTH, elem_id="submit-name", min_width=200)
        organization = gr.Textbox(
            label="Organisation (optional)", max_length=NAME_LENGTH, elem_id="submit-organization", min_width=200
        )
    with gr.Row(elem_classes="rx-controls", equal_height=True):
        # Without file_types: Gradio would refuse other files with a message of its own beside the form's.
        file = gr.File(label="Predictions file", elem_id="submit-file", height=150, min_width=260)
        with gr.Column(min_width=260):
            repo = gr.Textbox(
                label="or a dataset repo on the Hub",
                placeholder="owner/name or owner/name@revision",
                elem_id="submit-repo",
            )
            inside = gr.Textbox(
                label="File in the repo (if it holds several)", placeholder="findings.csv", elem_id="submit-path"
            )
    with gr.Accordion("What a file looks like", open=False, elem_id="submit-help"):
        guide = gr.HTML(elem_id="submit-guide")
        gr.Code(
            TEMPLATE, label="Template (CSV)", interactive=False, buttons=["copy"], elem_id="submit-template", lines=3
        )
    with gr.Row(elem_classes="rx-controls"):
        links = tuple(
            gr.Textbox(
                label=f"{label} (https link, optional)", max_length=LINK_LENGTH, elem_id=f"submit-{key}", min_width=200
            )
            for key, label in (("model-url", "Model"), ("paper-url", "Paper"), ("code-url", "Code"))
        )
        license = gr.Textbox(
            label="Licence of the predictions (optional)",
            placeholder="cc-by-4.0",
            max_length=LICENSE_LENGTH,
            elem_id="submit-license",
            min_width=200,
        )
    token = gr.Textbox(
        label="Hub token", type="password", visible=submitters.local_user is None, elem_id="submit-token", max_lines=1
    )
    button = gr.Button(SEND, variant="primary", elem_id="submit-send")
    answer = gr.HTML(elem_id="submit-answer")
    return _Parts(
        fresh,
        benchmark,
        track,
        protocol,
        guide,
        name,
        organization,
        file,
        repo,
        inside,
        license,
        links,
        token,
        button,
        answer,
    )


def _benchmark(data: BoardData, wanted: str) -> str:
    known = data.host.benchmarks if data.host else {}
    return wanted if wanted in known else next(iter(known), "")


def offers(data: BoardData, benchmark: str, track: str, protocol: str = "") -> tuple[Any, Any, Any]:
    """Fill the three choosers with what the host offers, keeping what is chosen where it still exists."""
    known = data.host.benchmarks if data.host else {}
    benchmark = _benchmark(data, benchmark)
    tracks = list(known[benchmark].tracks.items()) if benchmark else []
    names = [name for name, _ in tracks]
    protocols = data.host.protocols if data.host else []
    return (
        gr.Dropdown(choices=list(known), value=benchmark or None),
        gr.Radio(
            choices=[(f"{name} ({count})", name) for name, count in tracks],
            value=track if track in names else next(iter(names), None),
        ),
        gr.Dropdown(
            choices=protocols,
            value=protocol if protocol in protocols else next(iter(protocols), None),
            visible=len(protocols) > 1,
        ),
    )
