"""Finds the handler for a request on the undecoded path.

Clients quote revisions and paths whole (``refs%2Fpr%2F1``, ``a%2Fb``). Decoding
before matching would tear them into parts, so parts are decoded afterwards.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from starlette.responses import Response

from rexrank.localhub.calls import Call
from rexrank.localhub.errors import HubFault, bad_request

Handler = Callable[[Call], Response]
StreamHandler = Callable[[Call], Awaitable[Response]]

_PARTS = {
    "kind": r"(?P<kind>models|datasets|spaces)",
    "prefix": r"(?!api/)(?:(?P<kind>datasets|spaces)/)?",
    "id": r"(?P<ns>[^/]+)/(?P<name>[^/]+)",
    "bare": r"(?P<name>[^/]+)",
    # Typed by hand, a special ref comes with its slashes.
    "rev": r"(?P<rev>refs/(?:pr|heads|tags|convert)/[^/]+|[^/]+)",
    "path": r"(?P<path>.*)",
    "ref": r"(?P<ref>[^/]+)",
    "ticket": r"(?P<ticket>[^/]+)",
}


@dataclass(frozen=True)
class Route:
    """One address: methods, pattern of the raw path, and who answers.

    Attributes:
        streams: The handler is a coroutine that reads the body itself.
    """

    methods: frozenset[str]
    pattern: re.Pattern[str]
    handler: Handler | StreamHandler
    streams: bool = False


def route(methods: str, template: str, handler: Handler | StreamHandler, streams: bool = False) -> Route:
    """Build a route from a template such as ``/api/{kind}/{id}/refs``."""
    pattern = re.sub(r"\{(\w+)\}", lambda match: _PARTS[match[1]], template.replace(".", r"\."))
    return Route(frozenset(methods.split()), re.compile(pattern), handler, streams)


def match(routes: list[Route], method: str, path: str) -> tuple[Route, Mapping[str, str]]:
    """The first route for a request, with the decoded parts of its address.

    Raises:
        HubFault: 404 unknown address, 405 wrong method, 400 an address that is not UTF-8.
    """
    allowed: set[str] = set()
    for candidate in routes:
        found = candidate.pattern.fullmatch(path)
        if found is None:
            continue
        if method in candidate.methods:
            return candidate, {name: _decode(value) for name, value in found.groupdict().items() if value is not None}
        allowed |= candidate.methods
    if allowed:
        raise HubFault(405, "This address does not take that method.", headers={"Allow": ", ".join(sorted(allowed))})
    raise HubFault(404, "This Hub does not provide that address.")


def _decode(part: str) -> str:
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise bad_request("The address is not valid UTF-8.") from None
