"""Who may talk to the board: on one machine only its own pages and programs, never a page from elsewhere.

Under `rexrank up` the form submits in the name of the local user, and a browser sends along requests that any page it
has open makes to 127.0.0.1. Two things betray such a page: the name by which it reached the board (a name that its
owner lets point to 127.0.0.1), and the origin that the browser adds to what a page sends.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
READING = frozenset({"GET", "HEAD", "OPTIONS"})
# Gradio's own: a plain link that makes the server write a file which nothing here needs.
CLOSED_PATHS = ("/gradio_api/deep_link",)


class Guard:
    """ASGI middleware around the whole board.

    Args:
        app: What it guards.
        local: Whether the board is for this machine alone.
    """

    def __init__(self, app: ASGIApp, local: bool) -> None:
        self._app = app
        self._local = local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it in one sentence."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reason = self._refusal(scope)
        if reason is not None:
            await PlainTextResponse(reason, status_code=403)(scope, receive, send)
            return

        async def hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"
                if self._local:
                    # A Space is shown in a frame of the Hub's pages; a local board is in nobody's frame.
                    headers["Content-Security-Policy"] = "frame-ancestors 'none'"
            await send(message)

        await self._app(scope, receive, hardened)

    def _refusal(self, scope: Scope) -> str | None:
        if scope["path"].rstrip("/").startswith(CLOSED_PATHS):
            return "This address is not in use here."
        if not self._local:
            return None
        headers = Headers(scope=scope)
        if _host_name(headers.get("host", "")) not in LOOPBACK_NAMES:
            return "This board serves its own machine only: open it as http://127.0.0.1 with its port."
        if scope["method"] not in READING and _is_foreign(headers):
            return "This request comes from a page that is not the board's."
        return None


def _is_foreign(headers: Headers) -> bool:
    """Whether a browser says that another site's page made the request; programs that are no browsers say nothing."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


def _host_name(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None
