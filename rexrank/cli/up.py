"""Run a Hub, the scoring backend and the board on this machine, offline.

Everything is kept under --home (default ./.rexrank). The first start builds the
IU X-ray benchmark from the installed Open-i reports and scores three blind
floors through the queue; a later start goes on where the last one stopped.
Ctrl-C stops everything.

Examples:
  rexrank up
  REXRANK_BOARD_PORT=8080 rexrank up --home /data/rexrank

Exit codes: 0 stopped by you, 1 refused or a part died, 2 wrong usage.
"""

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from rexrank import environment
from rexrank.cli.children import Child, require_free
from rexrank.errors import RefusedInput, RexrankError
from rexrank.files import write_atomically
from rexrank.processes import hold_lock

if TYPE_CHECKING:
    from rexrank.hub import Hub

LOCAL_USER, WORKER_USER = "local", "worker"
PARTS = {
    "uvicorn": "backend",
    "starlette": "backend",
    "apscheduler": "backend",
    "gradio": "space",
}
START_SECONDS = 90.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "--home",
        type=Path,
        metavar="DIR",
        help="folder of the store, caches and logs (default: REXRANK_HOME, else ./.rexrank)",
    )
    parser.add_argument(
        "--port", type=int, metavar="N", help="port of the board (default: REXRANK_BOARD_PORT, else 7860)"
    )
    parser.add_argument(
        "--hub-port", type=int, metavar="N", help="port of the Hub (default: REXRANK_HUB_PORT, else 7861)"
    )
    parser.add_argument("--no-floors", action="store_true", help="do not score the three blind floors")


def run(arguments: argparse.Namespace) -> int:
    """Start everything and stay until stopped or until a part dies."""
    _take_options(arguments)
    checkout = _require_checkout()
    _require_parts()
    home = environment.home()
    try:
        _run(home, checkout, _Stop(), with_floors=not arguments.no_floors)
    except OSError as error:
        raise RexrankError(
            f"{error.filename or home}: {error.strerror or type(error).__name__}; "
            "see that the folder can be written and has room, or choose another with --home."
        ) from None
    print("stopped; `rexrank up` goes on from here.", file=sys.stderr)
    return 0


class _Stop:
    """Ctrl-C or SIGTERM, remembered: code below Python may turn the interrupt into an error of its own, or lose it."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGTERM, self._ask)
        # A shell that starts a command in the background lets it ignore Ctrl-C, which is meant for others.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._ask)

    def _ask(self, _signal: int, _frame: FrameType | None) -> NoReturn:
        self.asked = True
        raise KeyboardInterrupt

    def hear_no_more(self) -> None:
        """Ignore further signals: a second Ctrl-C must not cut the orderly stop short and leave a child behind."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def _run(home: Path, checkout: Path, stop: _Stop, with_floors: bool) -> None:
    """Start everything and watch it; whatever ends that, all children are stopped in order."""
    with _only_one(home), contextlib.ExitStack() as children:
        machine = _Machine(home, checkout, children, stop)
        try:
            machine.start(with_floors)
            machine.watch()
        except BaseException:
            stop.hear_no_more()
            if not stop.asked:
                raise
            # CPython keeps in mind that Ctrl-C cut off a piece of source text, such as a dataclass in the making, and
            # would end this process by SIGINT after all; running any other piece makes it forget.
            eval("None")
            _say("\nstopping …")


@dataclass(frozen=True)
class _Account:
    """A user of the local Hub with a working token."""

    user: str
    token: str


class _Machine:
    """The three processes and what they need, in the order in which they depend on each other."""

    def __init__(self, home: Path, checkout: Path, children: contextlib.ExitStack, stop: _Stop) -> None:
        self.home = home
        self.checkout = checkout
        self.children: list[Child] = []
        self._stack = children
        self._stop = stop
        self.hub_url = f"http://127.0.0.1:{environment.hub_port()}"
        self.board_url = f"http://127.0.0.1:{environment.board_port()}"

    def start(self, with_floors: bool) -> None:
        require_free(environment.hub_port(), "Hub", "REXRANK_HUB_PORT")
        require_free(environment.board_port(), "board", "REXRANK_BOARD_PORT")
        _say("starting the Hub …")
        port = str(environment.hub_port())
        hub = self._launch(
            "hub", "Hub", ["-m", "rexrank", "hub", "serve", "--root", str(self.home / "hub"), "--port", port]
        )
        hub.wait_for(f"{self.hub_url}/healthz", START_SECONDS)
        self._point_libraries_at_the_hub()
        local, worker = self._accounts()
        _say("publishing the benchmark and the metric modules …")
        self._publish(worker)
        self._launch_backend(worker)
        _say("starting the board …")
        board = self._launch_board(local)
        board.wait_for(self.board_url, START_SECONDS)
        print(f"\nrexrank is running: {self.board_url}\n", flush=True)
        _say("Ctrl-C stops everything; another shell can `rexrank submit` as the user «local» now.")
        if with_floors:
            self._score_floors(worker)

    def watch(self) -> NoReturn:
        """Stay until a child dies, which ends everything, or until Ctrl-C."""
        while True:
            self.require_alive()
            time.sleep(0.5)

    def require_alive(self) -> None:
        if self._stop.asked:
            raise KeyboardInterrupt  # the one that was lost
        for child in self.children:
            child.require_alive()

    def _launch(self, log: str, name: str, command: list[str], variables: dict[str, str] | None = None) -> Child:
        child = Child(name, command, variables or {}, self.home / "logs" / f"{log}.log", self.checkout)
        self._stack.callback(child.stop)
        self.children.append(child)
        return child

    def _accounts(self) -> tuple[_Account, _Account]:
        from rexrank.localhub import accounts

        root = self.home / "hub"
        for user in (LOCAL_USER, WORKER_USER):
            accounts.add_user(root, user, exist_ok=True)
        members = {LOCAL_USER: "write", WORKER_USER: "admin"}
        accounts.add_organisation(root, environment.namespace(), members, exist_ok=True)
        return self._account(LOCAL_USER), self._account(WORKER_USER)

    def _account(self, user: str) -> _Account:
        """The user's token of an earlier start, or a fresh one where that no longer works."""
        from rexrank.localhub import accounts

        path = self.home / f"{user}.json"
        account = None
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RexrankError):
            known = _Account(user, json.loads(path.read_text(encoding="utf-8"))["token"])
            if self._hub(known).whoami().name == user:
                account = known
        if account is None:
            account = _Account(user, accounts.create_token(self.home / "hub", user, role="write", label="rexrank up"))
        kept = {"endpoint": self.hub_url, "namespace": environment.namespace(), "user": user, "token": account.token}
        write_atomically(path, json.dumps(kept).encode(), mode=0o600)
        return account

    def _point_libraries_at_the_hub(self) -> None:
        """Set what the libraries read at their import and at the first request, so before either."""
        os.environ["HF_ENDPOINT"] = self.hub_url
        os.environ["HF_HOME"] = str(self.home / "cache" / "huggingface")
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
        os.environ["NO_PROXY"] = "127.0.0.1,localhost"

    def _hub(self, account: _Account) -> "Hub":
        from rexrank.hub import connect

        return connect(self.hub_url, account.token)

    def _publish(self, worker: _Account) -> None:
        from rexrank.benchmarks import iu_xray, push
        from rexrank.board import host
        from rexrank.modules.publish import publish

        hub = self._hub(worker)
        push(hub, iu_xray.load(), host.repo(iu_xray.NAME))
        publish(hub, environment.namespace())

    def _launch_backend(self, worker: _Account) -> None:
        self._launch(
            "backend",
            "backend",
            ["-m", "backend", "serve"],
            {
                "HF_TOKEN": worker.token,
                "REXRANK_HOME": str(self.home),
                "REXRANK_WORKER": os.environ.get("REXRANK_WORKER", "this-machine"),
                "REXRANK_TICK_SECONDS": os.environ.get("REXRANK_TICK_SECONDS", "2"),
                "REXRANK_HEARTBEAT_SECONDS": os.environ.get("REXRANK_HEARTBEAT_SECONDS", "30"),
            },
        )

    def _launch_board(self, local: _Account) -> Child:
        return self._launch(
            "board",
            "board",
            ["app.py"],
            {
                "HF_TOKEN": local.token,
                "REXRANK_HOME": str(self.home),
                "REXRANK_LOCAL_USER": local.user,
                "REXRANK_LOCAL_TOKEN": local.token,
                "REXRANK_TICK_SECONDS": os.environ.get("REXRANK_TICK_SECONDS", "2"),
            },
        )

    def _score_floors(self, worker: _Account) -> None:
        """Send the blind floors that no earlier start has sent, and say how each ends."""
        from rexrank.board import submission
        from rexrank.board.requests import SHOWN

        hub = self._hub(worker)
        waiting = self._submit_floors(hub)
        while waiting:
            self.require_alive()
            time.sleep(1)
            for request in [submission.current(hub, request_id) for request_id in waiting]:
                if request.status not in ("PENDING", "RUNNING"):
                    waiting.remove(request.id)
                    reason = f": {request.error.message}" if request.error else ""
                    _say(f"{request.model_name}: {SHOWN[request.status]}{reason}")

    def _submit_floors(self, hub: "Hub") -> list[str]:
        from rexrank.benchmarks import floors, iu_xray, push_floor
        from rexrank.board import host
        from rexrank.board.submission import submit

        self._wait_for_the_offer(hub)
        benchmark = iu_xray.load()
        waiting = []
        for floor in floors.build(benchmark, iu_xray.training()):
            self.require_alive()
            repo_id = host.repo(floor.slug)
            push_floor(hub, floor, benchmark, repo_id)
            try:
                request = submit(
                    hub,
                    repo_id,
                    benchmark.name,
                    track="findings",
                    model_name=floor.name,
                    description=floor.description,
                    kind="baseline",
                )
            except RefusedInput as refused:
                if {problem.code for problem in refused.problems} != {"duplicate_submission"}:
                    raise
            else:
                waiting.append(request.id)
        return waiting

    def _wait_for_the_offer(self, hub: "Hub") -> None:
        """Wait until the backend has said on the Hub that it scores the benchmark."""
        from rexrank.benchmarks import iu_xray
        from rexrank.board import host

        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            self.require_alive()
            with contextlib.suppress(RexrankError):
                if iu_xray.NAME in host.load(hub).benchmarks:
                    return
            time.sleep(0.5)
        raise RexrankError(f"the backend did not offer {iu_xray.NAME} within {START_SECONDS:.0f} seconds; see its log.")


def _take_options(arguments: argparse.Namespace) -> None:
    chosen = {
        "REXRANK_HOME": arguments.home,
        "REXRANK_BOARD_PORT": arguments.port,
        "REXRANK_HUB_PORT": arguments.hub_port,
    }
    os.environ.update({name: str(value) for name, value in chosen.items() if value is not None})


def _require_checkout() -> Path:
    root = Path(__file__).resolve().parents[2]
    if not (root / "backend" / "__main__.py").is_file() or not (root / "app.py").is_file():
        raise RexrankError(
            "`rexrank up` runs from a checkout of the repository, which holds the backend and the board; "
            "the installed library holds neither. Clone the repository and run `make run` there."
        )
    return root


def _require_parts() -> None:
    missing = {module: extra for module, extra in PARTS.items() if find_spec(module) is None}
    if missing:
        extras = ",".join(sorted(set(missing.values())))
        raise RexrankError(
            f"{', '.join(missing)} cannot be imported: run `make run`, or `pip install -e '.[{extras}]'` here."
        )


@contextlib.contextmanager
def _only_one(home: Path) -> Iterator[None]:
    """Hold the lock of ``home``."""
    # Tokens, logs and submissions in there are the user's own business.
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = hold_lock(home / "up.lock")
    if lock is None:
        raise RexrankError(
            f"rexrank is already running on {home}: open its board, stop it with Ctrl-C where it runs, "
            "or use another folder with --home."
        )
    with lock:
        yield


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
