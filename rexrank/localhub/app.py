"""The Hub's HTTP interface as a Starlette application."""

import errno
import logging
import sqlite3
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.types import Message, Receive, Scope, Send

from rexrank.localhub import api_account, api_commit, api_files, api_lfs, api_refs, api_repos, pages
from rexrank.localhub.accounts import ANONYMOUS, Caller, authenticate
from rexrank.localhub.calls import Call, error_answer
from rexrank.localhub.database import StoreBusy
from rexrank.localhub.errors import HubFault, unknown_token
from rexrank.localhub.faults import FaultHook, FaultMiddleware, raw_path
from rexrank.localhub.hub import LocalHub, Now
from rexrank.localhub.limits import Limits
from rexrank.localhub.routing import Route, match, route

log = logging.getLogger(__name__)

# Unread rest of a refused request: reading a little of it lets the client see the answer instead of a reset.
_DRAINED_BYTES = 8 * 2**20

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_STORE_FULL = (sqlite3.SQLITE_FULL,)
_STORE_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

ROUTES = [
    route("GET", "/healthz", api_account.health),
    route("GET", "/api/agent-harnesses", api_account.agent_harnesses),
    route("GET", "/api/whoami-v2", api_account.whoami),
    route("POST", "/api/validate-yaml", api_account.validate_yaml),
    route("POST", "/api/repos/create", api_repos.create),
    route("DELETE", "/api/repos/delete", api_repos.delete),
    route("POST", "/api/repos/move", api_repos.move),
    route("GET", "/api/{kind}", api_repos.index),
    route("PUT", "/api/{kind}/{id}/settings", api_repos.settings),
    route("GET", "/api/{kind}/{id}/tree/{rev}", api_files.tree),
    route("GET", "/api/{kind}/{id}/tree/{rev}/{path}", api_files.tree),
    route("POST", "/api/{kind}/{id}/paths-info/{rev}", api_files.paths_info),
    route("GET", "/api/{kind}/{id}/refs", api_refs.refs),
    route("GET", "/api/{kind}/{id}/commits/{rev}", api_refs.commits),
    route("POST", "/api/{kind}/{id}/preupload/{rev}", api_commit.preupload),
    route("POST", "/api/{kind}/{id}/commit/{rev}", api_commit.commit, streams=True),
    route("POST", "/api/{kind}/{id}/branch/{ref}", api_refs.create_branch),
    route("DELETE", "/api/{kind}/{id}/branch/{ref}", api_refs.delete_branch),
    route("POST", "/api/{kind}/{id}/tag/{rev}", api_refs.create_tag),
    route("DELETE", "/api/{kind}/{id}/tag/{ref}", api_refs.delete_tag),
    route("GET", "/api/{kind}/{id}/auth-check", api_repos.auth_check),
    route("GET", "/api/{kind}/{id}/auth-check/write", api_repos.auth_check_write),
    route("GET POST", "/api/{kind}/{id}/discussions", api_account.not_yet),
    route("GET POST", "/api/{kind}/{id}/discussions/{path}", api_account.not_yet),
    route("POST", "/api/{kind}/{id}/super-squash/{ref}", api_account.no_squash),
    route("GET", "/api/{kind}/{id}/revision/{rev}", api_repos.info),
    route("GET", "/api/{kind}/{bare}/revision/{rev}", api_repos.info),
    route("GET", "/api/{kind}/{id}", api_repos.info),
    route("GET", "/api/{kind}/{bare}", api_repos.info),
    route("POST", "/{prefix}{id}.git/info/lfs/objects/batch", api_lfs.batch),
    route("PUT", "/lfs/upload/{ticket}", api_lfs.upload, streams=True),
    route("POST", "/lfs/verify/{ticket}", api_lfs.verify),
    route("GET HEAD", "/{prefix}{id}/resolve/{rev}/{path}", api_files.resolve),
    route("GET HEAD", "/{prefix}{bare}/resolve/{rev}/{path}", api_files.resolve),
    route("GET HEAD", "/", pages.index),
    route("GET HEAD", "/{prefix}{id}", pages.card),
    route("GET HEAD", "/{prefix}{id}/tree/{rev}", pages.card),
]


def create_app(
    root: str | Path,
    public_url: str | None = None,
    clock: Now | None = None,
    fault: FaultHook | None = None,
    limits: Limits | None = None,
    hosts: Collection[str] | None = None,
) -> Starlette:
    """Build the application that serves the Hub in folder ``root``.

    Args:
        root: Folder of the store; made when missing. Several processes may serve the same one.
        public_url: Address used in absolute links; that of each request by default.
        clock: Source of the time, for tests.
        fault: Asked about every request, for tests of what clients do when the Hub fails.
        limits: How much one request may carry.
        hosts: Names under which requests may address this Hub; None permits all. On loopback it keeps a web page
            that points a name of its own at this machine from reading the store through the visitor's browser.

    Raises:
        RexrankError: A newer rexrank wrote the store.
        OSError: The folder cannot be written.
    """
    hub = LocalHub(Path(root), public_url, clock, limits)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        hub.close()

    middleware = [Middleware(FaultMiddleware, hook=fault)] if fault is not None else []
    return Starlette(routes=[Mount("/", app=Gateway(hub, hosts))], middleware=middleware, lifespan=lifespan)


class Gateway:
    """Takes each request through routing, sign-in, body and handler to an answer."""

    def __init__(self, hub: LocalHub, hosts: Collection[str] | None) -> None:
        self._hub = hub
        self._hosts = None if hosts is None else {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, self._impatient(receive))
        try:
            response = await self._respond(request)
        except ClientDisconnect:
            return
        except HubFault as fault:
            if fault.status != 408:
                await _drain(request)
            response = error_answer(fault)
        except Exception as error:
            log.exception("a request failed")
            response = error_answer(_failure(error))
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        await response(scope, receive, send)

    def _impatient(self, receive: Receive) -> Receive:
        """``receive`` that gives up on a sender who pauses too long."""

        async def receive_in_time() -> Message:
            try:
                with anyio.fail_after(self._hub.limits.idle_seconds):
                    return await receive()
            except TimeoutError:
                raise HubFault(408, "The request did not arrive in time.", headers={"Connection": "close"}) from None

        return receive_in_time

    async def _respond(self, request: Request) -> Response:
        self._check_host(request)
        found, groups = match(ROUTES, request.method, raw_path(request.scope))
        caller = await anyio.to_thread.run_sync(self._sign_in, request)
        call = Call(self._hub, request, caller, groups)
        if found.streams:
            return await self._streamed(found, call)
        body = await _read_body(request, self._hub.limits.json_bytes)
        return await anyio.to_thread.run_sync(self._called, found, Call(self._hub, request, caller, groups, body))

    def _check_host(self, request: Request) -> None:
        if self._hosts is not None and (request.url.hostname or "").lower() not in self._hosts:
            raise HubFault(421, "This Hub does not answer under that host name; serve it with --public-url.")

    @staticmethod
    async def _streamed(found: Route, call: Call) -> Response:
        answered = found.handler(call)
        assert not isinstance(answered, Response)
        return await answered

    @staticmethod
    def _called(found: Route, call: Call) -> Response:
        answered = found.handler(call)
        assert isinstance(answered, Response)
        return answered

    def _sign_in(self, request: Request) -> Caller:
        """The caller of a request; a token counts only in the Authorization header.

        Raises:
            HubFault: 401 where there is a token and it is unknown.
        """
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if not scheme:
            return ANONYMOUS
        caller = authenticate(self._hub.database, token.strip()) if scheme.lower() == "bearer" else None
        if caller is None:
            raise unknown_token()
        return caller


def _failure(error: Exception) -> HubFault:
    """The answer to a request that failed through no fault of its sender."""
    code = getattr(error, "sqlite_errorcode", None)
    if code in _STORE_FULL or (isinstance(error, OSError) and error.errno in _DISK_FULL):
        return HubFault(507, "The disk of the Hub is full; nothing was changed.")
    if code in _STORE_BUSY or isinstance(error, StoreBusy):
        return HubFault(503, "The Hub is busy; try again.", headers={"Retry-After": "1"})
    return HubFault(500, "The Hub failed; its log says why.")


async def _read_body(request: Request, limit: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise HubFault(413, f"The body is larger than {limit} bytes.")
    return bytes(body)


async def _drain(request: Request) -> None:
    received = 0
    try:
        async for chunk in request.stream():
            received += len(chunk)
            if received > _DRAINED_BYTES:
                return
    except (ClientDisconnect, HubFault, RuntimeError):
        # Gone, too slow, or read already.
        return
