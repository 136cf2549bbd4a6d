"""Faults on demand, so that tests can show what a client does when the Hub fails."""

import asyncio
import json
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Literal

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request.

    Attributes:
        status: Answer with this status instead of the real one; None leaves the answer as it is.
        when: Whether the request is applied first (``after``) or never (``before``).
        delay: Seconds to wait before the request is looked at.
        cut: Break the connection in the middle of the answer; the client cannot know what happened.
        retry_after: Value of a ``Retry-After`` header, in seconds.
        message: Text of the error.
    """

    status: int | None = None
    when: Literal["before", "after"] = "before"
    delay: float = 0.0
    cut: bool = False
    retry_after: int | None = None
    message: str = "Fault asked for by a test."


FaultHook = Callable[[str, str], Fault | None]
"""Gets method and raw path of each request; returns the fault for it, or None."""


class FaultMiddleware:
    """Asks the hook about every request and does what it says."""

    def __init__(self, app: ASGIApp, hook: FaultHook) -> None:
        self._app = app
        self._hook = hook

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or spoil it."""
        fault = self._hook(scope["method"], raw_path(scope)) if scope["type"] == "http" else None
        if fault is None:
            await self._app(scope, receive, send)
            return
        if fault.delay:
            await asyncio.sleep(fault.delay)
        if fault.status is None and not fault.cut:
            await self._app(scope, receive, send)
            return
        if fault.when == "after":
            await self._app(scope, receive, _discard)
        await _spoil(fault, send)


async def _discard(_message: Message) -> None:
    return None


async def _spoil(fault: Fault, send: Send) -> None:
    body = json.dumps({"error": fault.message}).encode()
    headers = [(b"content-type", b"application/json"), (b"x-error-message", fault.message.encode("ascii", "replace"))]
    if fault.retry_after is not None:
        headers.append((b"retry-after", str(fault.retry_after).encode()))
    # A body shorter than promised makes the server drop the connection.
    promised = len(body) + 1 if fault.cut else len(body)
    headers.append((b"content-length", str(promised).encode()))
    await send({"type": "http.response.start", "status": fault.status or 200, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": fault.cut})


def raw_path(scope: MutableMapping[str, Any]) -> str:
    """Path of a request as it was sent, still percent-encoded, without the query."""
    raw = scope.get("raw_path") or scope["path"].encode()
    return bytes(raw).split(b"?", 1)[0].decode("latin-1")
