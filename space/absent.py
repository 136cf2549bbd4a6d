"""The answer to an address that the board does not have: a small page for people, Gradio's JSON for programs."""

import html

from fastapi.exception_handlers import http_exception_handler
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>rexrank: no such page</title>'
    '<meta name="viewport" content="width=device-width"><style>body{font:17px/1.5 system-ui,sans-serif;'
    "max-width:34rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}</style></head><body>"
    '<h1>No such page</h1><p>The board has no page at this address. <a href="HOME">Back to the leaderboard</a></p>'
    "</body></html>"
)


async def answer(request: Request, error: Exception) -> Response:
    """Answer with status 404.

    Args:
        request: What was asked for; its address is not repeated.
        error: The exception that Starlette raised, or that Gradio raised for something of its own.
    """
    wants_page = "text/html" in request.headers.get("accept", "")
    if wants_page and not request.url.path.startswith("/gradio_api"):
        home = html.escape(request.scope.get("root_path", "").rstrip("/") + "/", quote=True)
        return HTMLResponse(_PAGE.replace("HOME", home), status_code=404)
    if isinstance(error, HTTPException):
        return await http_exception_handler(request, error)
    return Response(status_code=404)
