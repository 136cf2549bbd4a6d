"""Two small pages for people who open the Hub in a browser."""

import base64
import hashlib
from html import escape
from urllib.parse import quote

from starlette.responses import HTMLResponse, Response

from rexrank.localhub.calls import Call

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "li{margin:.2rem 0}small{color:#555}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
_HEADINGS = {"dataset": "Datasets", "model": "Models", "space": "Spaces"}


def index(call: Call) -> Response:
    """All repositories that everybody may see."""
    parts = ["<h1>rexrank hub</h1>"]
    for kind, heading in _HEADINGS.items():
        repos = call.hub.repositories.visible(call.caller, kind)
        items = [f'<li><a href="/{quote(repo.address)}">{escape(repo.full_name)}</a></li>' for repo in repos]
        parts.append(f"<h2>{heading}</h2><ul>{''.join(items) or '<li>none</li>'}</ul>")
    return _page("rexrank hub", "".join(parts))


def card(call: Call) -> Response:
    """The files of one repository at a revision, ``main`` where the address names none."""
    repo = call.repo()
    revision = call.revision
    files = call.hub.history.tree(call.hub.history.resolve(repo.number, revision))
    address = f"/{quote(repo.address)}/resolve/{quote(revision, safe='')}/"
    items = [
        f'<li><a href="{address}{quote(path)}" download>{escape(path)}</a> '
        f"<small>{files.entries[path].size:,} bytes</small></li>"
        for path in files.paths[:1000]
    ]
    more = f"<p>and {len(files.paths) - 1000:,} more</p>" if len(files.paths) > 1000 else ""
    at = "" if revision == "main" else f" at {revision[:12]}"
    title = escape(f"{repo.type} {repo.full_name}{at}")
    return _page(title, f'<p><a href="/">all repositories</a></p><h1>{title}</h1><ul>{"".join(items)}</ul>{more}')


def _page(title: str, body: str) -> Response:
    document = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body>{body}</body></html>"
    )
    return HTMLResponse(document, headers=_HEADERS)
