"""Positions in a list as one word for an address."""

import base64
import json

from rexrank.localhub.errors import bad_request


def write_cursor(position: list[str]) -> str:
    """Encode a position."""
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode()


def read_cursor(cursor: str, length: int) -> list[str]:
    """Decode a position of so many parts.

    Raises:
        HubFault: 400 where ``write_cursor`` did not write it.
    """
    try:
        position = json.loads(base64.urlsafe_b64decode(cursor))
    except (ValueError, RecursionError):
        position = None
    if not isinstance(position, list) or len(position) != length or not all(isinstance(part, str) for part in position):
        raise bad_request("The cursor is not one of this Hub's.")
    return position
