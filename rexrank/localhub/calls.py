"""One request as the handlers see it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rexrank.localhub.accounts import Caller
from rexrank.localhub.errors import HubFault, bad_request
from rexrank.localhub.faults import raw_path
from rexrank.localhub.hub import LocalHub
from rexrank.localhub.names import KINDS
from rexrank.localhub.repositories import Repo

_MAX_FIELDS = 60_000
# Half of a surrogate pair passes the JSON parser but cannot be stored or answered as UTF-8.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class Call:
    """A request that matched a route.

    Attributes:
        hub: The Hub that serves it.
        request: Starlette's view, for headers and the body's stream.
        caller: Who asks.
        groups: Named parts of the address, decoded.
        body: The whole body; empty for streamed requests.
    """

    hub: LocalHub
    request: Request
    caller: Caller
    groups: Mapping[str, str]
    body: bytes = b""

    @property
    def base_url(self) -> str:
        """Address of this Hub for links, without a trailing slash."""
        return self.hub.public_url or f"{self.request.url.scheme}://{self.request.url.netloc}"

    @property
    def revision(self) -> str:
        """The revision of the address; ``main`` where it names none."""
        return self.groups.get("rev") or "main"

    def repo(self) -> Repo:
        """The repository of the address, where the caller may see it."""
        kind = self.groups.get("kind") or ""
        return self.hub.repositories.find(
            self.caller, KINDS.get(kind, "model"), self.groups.get("ns") or "", self.groups["name"]
        )

    def writable_repo(self) -> Repo:
        """The repository of the address, where the caller may change it."""
        repo = self.repo()
        self.hub.repositories.require_write(self.caller, repo)
        return repo

    def flag(self, name: str) -> bool:
        """A yes-or-no field of the query; clients write ``true``, ``True`` or ``1``."""
        return truthy(self.request.query_params.get(name))

    def number(self, name: str, default: int, highest: int) -> int:
        """A positive whole number of the query."""
        text = self.request.query_params.get(name)
        if text is None or not text:
            return default
        if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < 1:
            raise bad_request(f"{name} is a positive whole number.")
        return min(int(text), highest)

    def values(self, name: str) -> list[str]:
        """All values of a query field, also where it is written ``name[]``."""
        query = self.request.query_params
        return [*query.getlist(name), *query.getlist(name + "[]")]

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; an empty body is an empty object."""
        if not self.body.strip():
            return {}
        parsed = parse_json(self.body)
        if not isinstance(parsed, dict):
            raise bad_request("The body must be a JSON object.")
        return parsed

    def fields(self) -> dict[str, list[str]]:
        """The body as fields with one or more values each, from a form or a JSON object."""
        if "json" in self.request.headers.get("content-type", ""):
            return {
                name: [str(item) for item in (value if isinstance(value, list) else [value])]
                for name, value in self.json().items()
            }
        try:
            return parse_qs(self.body.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict")
        except ValueError:
            raise bad_request("The body is not a form in UTF-8, or has too many fields.") from None

    def link_to_next(self, **changes: object) -> dict[str, str]:
        """``Link`` header to the next page: this address with some query fields changed."""
        kept = [(name, value) for name, value in self.request.query_params.multi_items() if name not in changes]
        query = urlencode([*kept, *((name, str(value)) for name, value in changes.items())])
        path = quote(raw_path(self.request.scope), safe="/%:@!$&'()*+,;=~")
        return {"Link": f'<{self.base_url}{path}?{query}>; rel="next"'}


def truthy(text: str | None) -> bool:
    """Whether a field says yes."""
    return (text or "").strip().lower() in ("true", "1", "yes", "on")


def parse_json(text: bytes) -> Any:
    """Parse JSON; 400 without quoting any of it.

    Raises:
        HubFault: 400.
    """
    try:
        parsed = json.loads(text.decode())
        if _SURROGATE.search(text):
            json.dumps(parsed, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise bad_request("The body is not valid JSON in UTF-8.") from None
    return parsed


def answer(body: object, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer."""
    return JSONResponse(body, headers=dict(headers or {}))


def error_answer(fault: HubFault) -> Response:
    """A refusal in the form that the clients parse."""
    headers = {"X-Error-Message": fault.message.encode("ascii", "replace").decode(), **fault.headers}
    if fault.code is not None:
        headers["X-Error-Code"] = fault.code
    return JSONResponse({"error": fault.message, **fault.fields}, fault.status, headers=headers)
