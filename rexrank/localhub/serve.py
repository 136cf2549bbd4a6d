"""Runs the Hub: in a process of its own, or in a thread for tests and embedding."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette

from rexrank.errors import RexrankError
from rexrank.localhub.accounts import has_users, open_database
from rexrank.localhub.app import create_app
from rexrank.localhub.faults import FaultHook
from rexrank.localhub.hub import Now
from rexrank.localhub.limits import Limits
from rexrank.network import is_loopback

_START_SECONDS = 30.0
_STOP_SECONDS = 5
_LOOPBACK_NAMES = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True)
class Running:
    """A Hub that answers at ``url`` and keeps its store in ``root``."""

    url: str
    root: Path


@contextmanager
def running(
    root: str | Path,
    port: int = 0,
    fault: FaultHook | None = None,
    clock: Now | None = None,
    limits: Limits | None = None,
) -> Iterator[Running]:
    """Serve a Hub on loopback in a thread of this process while the block runs.

    Args:
        root: Folder of the store; made when missing.
        port: 0 takes any free one.
        fault: Asked about every request; see ``rexrank.localhub.faults``.
        clock: Source of the time.
        limits: How much one request may carry.

    Raises:
        RexrankError: The port is taken, or the server does not start in time.
    """
    app = create_app(root, clock=clock, fault=fault, limits=limits, hosts=_LOOPBACK_NAMES)
    listener = _listen("127.0.0.1", port)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(_config(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="rexrank-hub", daemon=True)
    thread.start()
    try:
        _wait_until_started(server, thread)
        yield Running(url, Path(root))
    finally:
        server.should_exit = True
        thread.join(_STOP_SECONDS + 1)
        server.force_exit = True
        thread.join(_STOP_SECONDS)
        listener.close()


def serve(root: str | Path, host: str = "127.0.0.1", port: int = 7861, public_url: str | None = None) -> None:
    """Serve a Hub until the process is told to stop.

    Raises:
        RexrankError: The port is taken, or nobody could sign in on an address that others can reach.
    """
    folder = Path(root)
    if not is_loopback(host):
        _require_users(folder, host)
    app = create_app(folder, public_url, hosts=_hosts(host, public_url))
    listener = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    print(f"rexrank hub: {public_url or f'http://{shown}:{listener.getsockname()[1]}'}  store: {folder}", flush=True)
    if not is_loopback(host):
        print("rexrank hub: other machines can reach this address; put a server with TLS in front of it.", flush=True)
    # Ctrl-C is how a server ends; uvicorn raises it again once all is closed.
    with closing(listener), suppress(KeyboardInterrupt):
        uvicorn.Server(_config(app)).run(sockets=[listener])


def _hosts(host: str, public_url: str | None) -> set[str] | None:
    """Names that requests may use: on loopback its own and that of the public address, elsewhere any."""
    if not is_loopback(host):
        return None
    public = urlsplit(public_url).hostname if public_url else None
    return {*_LOOPBACK_NAMES, host, *([public] if public else [])}


def _require_users(root: Path, host: str) -> None:
    with closing(open_database(root)) as database:
        if not has_users(database):
            raise RexrankError(
                f"{host} can be reached from other machines and this Hub has no user yet; "
                f"add one first: rexrank hub user add NAME --root {root}"
            )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches off Nagle's delay, 40 ms an answer, only for sockets that name their protocol.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = error.strerror if isinstance(error, OSError) else "not a port"
        raise RexrankError(f"The Hub cannot listen on {host}, port {port}: {reason}. Choose another port.") from None
    return listener


def _config(app: Starlette) -> uvicorn.Config:
    # No access log: the addresses of uploads are permissions.
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RexrankError("The local Hub did not start; see its log.")
        time.sleep(0.01)
