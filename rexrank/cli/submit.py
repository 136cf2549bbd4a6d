"""Send predictions to the queue of a Hub, to be scored and shown on its board.

A file is checked here first, with every fault named, and uploaded to a dataset
repo of yours. A repo on the Hub is taken at its present commit. The token is
that of HF_TOKEN; beside a running `rexrank up` the local user's is taken.
docs/submit.md explains the states and the error codes.

Examples:
  rexrank submit predictions.csv --benchmark iu-xray
  rexrank submit p.csv --benchmark iu-xray --model-name "Acme CXR 2" --wait
  rexrank submit acme/preds --file iu-xray/findings.json --benchmark iu-xray

Exit codes: 0 in the queue (with --wait: scored), 1 refused or failed, 2 wrong
usage.
"""

import argparse
import sys
import time
from typing import TYPE_CHECKING

from rexrank.cli import DONE
from rexrank.cli.cards import add_track

if TYPE_CHECKING:
    from rexrank.board.requests import Request
    from rexrank.hub import Hub

FAILED = 1
# Small files on a Hub nearby are done in seconds; a long run on the public Hub must not use up its request limits.
FIRST_PAUSE, PAUSE_GROWTH, LONGEST_PAUSE = 1.0, 1.2, 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("source", metavar="FILE|REPO", help="prediction file, or owner/name[@revision] on the Hub")
    parser.add_argument("--benchmark", required=True, metavar="B", help="what is scored against, for example iu-xray")
    add_track(parser)
    parser.add_argument("--model-name", metavar="N", help="name on the board (default: from the file or repo)")
    parser.add_argument("--file", metavar="PATH_IN_REPO", help="the file inside REPO, where it holds several")
    parser.add_argument("--protocol", metavar="P", help="rule book, for example rexrank (default: the host's first)")
    parser.add_argument("--organization", metavar="NAME", help="institution shown on the board")
    parser.add_argument("--model-url", metavar="URL", help="https link to the model")
    parser.add_argument("--paper-url", metavar="URL", help="https link to the paper")
    parser.add_argument("--code-url", metavar="URL", help="https link to the code")
    parser.add_argument("--license", metavar="L", help="licence of the predictions, for example cc-by-4.0")
    parser.add_argument("--wait", action="store_true", help="stay until it is scored and print the scores")


def run(arguments: argparse.Namespace) -> int:
    """Submit, and say what to do next."""
    from rexrank.board.requests import SHOWN
    from rexrank.board.submission import submit
    from rexrank.hub import connect

    hub = connect()
    request = submit(
        hub,
        arguments.source,
        arguments.benchmark,
        arguments.track,
        arguments.model_name,
        arguments.file,
        arguments.protocol,
        organization=arguments.organization,
        model_url=arguments.model_url,
        paper_url=arguments.paper_url,
        code_url=arguments.code_url,
        license=arguments.license,
    )
    print(f'request {request.id}: "{request.model_name}" is {SHOWN[request.status]}')
    if request.supersedes:
        print(f"it takes the place of request {request.supersedes} on the board once it is done")
    print(f"file {request.path_in_repo} of {request.repo_id} at {request.revision}")
    if arguments.wait:
        return _follow(hub, request)
    print("it is scored at one of the next ticks: see the board's queue page, or submit with --wait")
    return DONE


def _follow(hub: "Hub", request: "Request") -> int:
    """Say what happens until the request is done, failed or cancelled."""
    from rexrank.board.requests import SHOWN
    from rexrank.board.submission import current

    shown = _state(request)
    pause = FIRST_PAUSE
    while request.status in ("PENDING", "RUNNING"):
        time.sleep(pause)
        pause = min(pause * PAUSE_GROWTH, LONGEST_PAUSE)
        request = current(hub, request.id)
        if _state(request) != shown:
            shown = _state(request)
            print(shown, file=sys.stderr)
    if request.status == "FINISHED":
        _print_scores(hub, request)
        return DONE
    why = f": {request.error.code}: {request.error.message}" if request.error else ""
    print(f"request {request.id} {SHOWN[request.status]}{why}", file=sys.stderr)
    return FAILED


def _state(request: "Request") -> str:
    from rexrank.board.requests import SHOWN

    line = f"{SHOWN[request.status]}, attempt {request.attempt} of {request.max_attempts}"
    if request.status == "PENDING":
        return SHOWN["PENDING"] if request.attempt == 0 else f"{SHOWN['PENDING']} after attempt {request.attempt}"
    if request.progress is not None:
        line += f", {request.progress.stage} {request.progress.items_done}/{request.progress.items_total}"
    return line


def _print_scores(hub: "Hub", request: "Request") -> None:
    """Print the row: every score with its interval, and why the others are missing."""
    from rexrank.board import host, results
    from rexrank.hub import patiently
    from rexrank.metrics import registry

    place = request.result
    if place is None:
        return
    repo = host.repo("results")
    content = patiently(lambda: hub.read(repo, place.path, place.results_revision), repo)
    result = results.read(content)
    print(f"{result.model_name} on {result.dataset}, {result.section}, {result.protocol}@{result.protocol_version}:")
    known = registry.score_keys()
    column = max(map(len, result.metrics), default=0)
    for key, found in result.metrics.items():
        digits = known[key].digits if key in known else 3
        if found.value is None:
            print(f"  {key:<{column}} —  {found.reason}")
            continue
        interval = f"  [{found.ci_low:.{digits}f}, {found.ci_high:.{digits}f}]" if found.ci_low is not None else ""
        print(f"  {key:<{column}} {found.value:.{digits}f}{interval}  {found.signature}")
