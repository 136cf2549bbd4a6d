"""Addresses: the board's own, which say what is shown, and those of the Hub's pages behind it."""

import html
from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlencode

from rexrank import environment
from space.formatting import escape

# For an HTML component that holds a link of class "rx-here": the page's address is always that of the view, so that a
# reload, a bookmark and a shared address show the same. What the page's surroundings put into the address (a theme, a
# Space's signature) stays.
FOLLOW_THE_VIEW = """
watch("value", () => {
  const link = element.querySelector("a.rx-here");
  if (!link) return;
  const address = new URL(link.href);
  for (const [name, value] of new URLSearchParams(location.search))
    if (name.startsWith("__")) address.searchParams.set(name, value);
  history.replaceState(history.state, "", address);
});
"""


def board_address(path: str, values: Mapping[str, str]) -> str:
    """Address of a page of the board, safe inside an attribute.

    Args:
        path: Relative address of the page, ``./`` for the leaderboard; empty for the present one.
        values: Query parameters; empty ones are left out.
    """
    asked = urlencode({name: value for name, value in values.items() if value})
    return html.escape(f"{path}?{asked}", quote=True)


def hub_page(repo_id: str, revision: str | None = None) -> str:
    """Address of a dataset's page on the Hub in use, at a revision where one is given."""
    page = f"{environment.endpoint()}/datasets/{quote(repo_id)}"
    return f"{page}/tree/{quote(revision, safe='')}" if revision else page


def hub_file(repo_id: str, path: str, revision: str = "main") -> str:
    """Address of one file of a dataset."""
    return f"{hub_page(repo_id)}/resolve/{quote(revision, safe='')}/{quote(path)}"


def hub_link(address: str, label: str) -> str:
    """A link to the Hub; the Hub opens in a tab of its own, because the board may stand in a frame."""
    return f'<a href="{html.escape(address, quote=True)}" target="_blank" rel="noopener">{escape(label)}</a>'


def listed(names: Iterable[str]) -> str:
    """Names in one line, each harmless."""
    return ", ".join(escape(name) for name in names)
