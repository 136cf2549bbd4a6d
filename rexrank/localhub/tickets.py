"""Signed permissions to upload one large file to one repository.

The client sends the bytes without its token, so the address itself carries the
permission: who, where, what and until when, with a signature.
"""

import base64
import hashlib
import hmac
import json
import secrets
from dataclasses import asdict, dataclass

from rexrank.localhub.database import Database
from rexrank.localhub.errors import HubFault


@dataclass(frozen=True)
class Ticket:
    """One upload: repository (its number), content, and the end in seconds since 1970."""

    repo: int
    sha256: str
    size: int
    expires: int


class Tickets:
    """Writes and reads tickets with a secret that all processes on one store share."""

    def __init__(self, database: Database) -> None:
        with database.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO settings VALUES ('ticket_secret', ?)", (secrets.token_hex(32),))
            row = connection.execute("SELECT value FROM settings WHERE name = 'ticket_secret'").fetchone()
        self._secret = bytes.fromhex(row["value"])

    def write(self, ticket: Ticket) -> str:
        """The ticket as one part of an address."""
        body = base64.urlsafe_b64encode(json.dumps(asdict(ticket)).encode()).decode().rstrip("=")
        return f"{body}.{self._sign(body)}"

    def read(self, text: str, now: float) -> Ticket:
        """The ticket that ``write`` wrote.

        Raises:
            HubFault: 403 where it is forged or too old.
        """
        body, _, signature = text.partition(".")
        if not hmac.compare_digest(self._sign(body).encode(), signature.encode("utf-8", "replace")):
            raise HubFault(403, "The permission for this upload is not valid; start the upload again.")
        try:
            ticket = Ticket(**json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))))
        except (ValueError, TypeError):
            raise HubFault(403, "The permission for this upload is not valid; start the upload again.") from None
        if ticket.expires < now:
            raise HubFault(403, "The permission for this upload has expired; start the upload again.")
        return ticket

    def _sign(self, body: str) -> str:
        return hmac.new(self._secret, body.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
