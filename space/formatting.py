"""Numbers, times, names and links as the board prints them; every user's string is made harmless here."""

import html
import math
from datetime import UTC, datetime
from urllib.parse import urlsplit

from rexrank.board.names import LINK_LENGTH
from rexrank.layout import TURNING_MARKS, rounded

MISSING = "—"
_ENTITIES = {sign: f"&#{ord(sign)};" for sign in "*_`[]()#!|~\\{}$+-."}
# Zero-width characters and marks that turn the direction of reading: with them one name looks like another.
_ENTITIES |= dict.fromkeys(("\u200b", "\u2060", "\ufeff", *TURNING_MARKS), "\ufffd")
_SPREADSHEET_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def escape(text: object) -> str:
    """Make a string safe inside HTML and inside markdown.

    Args:
        text: Any user-controlled value; None gives an empty string.

    Returns:
        The text with every character that HTML or markdown reads as markup replaced by its entity.
    """
    if text is None:
        return ""
    # Sign by sign, so that an entity made for one language is never escaped again for the other.
    return "".join(_ENTITIES.get(sign) or html.escape(sign, quote=True) for sign in str(text))


def external_link(url: str | None, label: str) -> str:
    """Return a link that a submitter gave, or nothing where there is none or it is not plain https.

    Args:
        url: The address from the request or result.
        label: What the board calls it; never the submitter's own text.
    """
    if not url:
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme != "https" or not parts.hostname or parts.username or len(url) > LINK_LENGTH:
        return ""
    address = html.escape(url, quote=True)
    return f'<a href="{address}" target="_blank" rel="noopener nofollow ugc">{escape(label)}</a>'


def is_missing(value: object) -> bool:
    """Say whether a score is absent; a real 0 is not."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def number(value: float | None, digits: int = 3) -> str:
    """Return a score with a fixed count of decimals, or the sign for "not there"."""
    return MISSING if value is None or is_missing(value) else f"{value:.{digits}f}"


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Return ``low – high`` or an empty string where one end is unknown."""
    if is_missing(low) or is_missing(high):
        return ""
    return f"{number(low, digits)} – {number(high, digits)}"


def rank_range(low: int | None, high: int | None) -> str:
    """Return the ranks that are left open, ``1–4``, or the only one; an empty string where they are not known."""
    if low is None or high is None:
        return ""
    return str(low) if low == high else f"{low}–{high}"


def share(value: float) -> str:
    """Return a share of resamples in percent; a rare one is not told to be none, nor a frequent one to be all."""
    return rounded(value).replace("%", " %")


def moment(time: datetime | None) -> str:
    """Return a time in UTC to the minute."""
    return MISSING if time is None else time.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def duration(seconds: float) -> str:
    """Return a span in its one natural unit: ``12 s``, ``5 min``, ``3 h``, ``2 d``."""
    seconds = max(seconds, 0.0)
    for limit, size, unit in ((60, 1, "s"), (3600, 60, "min"), (2 * 86400, 3600, "h")):
        if seconds < limit:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds // 86400)} d"


def age(time: datetime | None, now: datetime) -> str:
    """Return how long ago a time was."""
    return MISSING if time is None else duration((now - time).total_seconds())


def parse_time(text: object) -> datetime | None:
    """Read a stored time (ISO 8601, UTC); None where it is absent or not a time."""
    if not isinstance(text, str):
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def spreadsheet_text(text: object) -> str:
    """Return a text cell that no spreadsheet takes for a formula."""
    value = "" if text is None else str(text)
    return f"'{value}" if value.startswith(_SPREADSHEET_FORMULA) else value
