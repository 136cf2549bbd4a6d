"""The parts of one local Hub, put together."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from rexrank.localhub import cards
from rexrank.localhub.accounts import iso, open_database
from rexrank.localhub.blobs import BlobStore
from rexrank.localhub.history import History
from rexrank.localhub.limits import Limits
from rexrank.localhub.repositories import Repositories
from rexrank.localhub.tickets import Tickets
from rexrank.localhub.trees import Entry, Tree

Now = Callable[[], datetime]
_README_BYTES = 2**20


def utc_now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)


class LocalHub:
    """Store, records and settings behind the HTTP interface.

    Args:
        root: Folder of the store; made when missing.
        public_url: Address that answers name in absolute links; None takes the one that the request came to.
        clock: Source of the time.
        limits: How much one request may carry.
    """

    def __init__(
        self, root: Path, public_url: str | None = None, clock: Now | None = None, limits: Limits | None = None
    ) -> None:
        self.public_url = public_url.rstrip("/") if public_url else None
        self.clock = clock or utc_now
        self.limits = limits or Limits()
        self.database = open_database(root)
        self.blobs = BlobStore(root)
        self.history = History(self.database)
        self.repositories = Repositories(self.database, self.history)
        self.tickets = Tickets(self.database)
        self._card_of_blob = lru_cache(maxsize=512)(self._read_card)

    def now(self) -> str:
        """The time now as the Hub writes it."""
        return iso(self.clock())

    def card(self, tree: Tree) -> dict[str, object]:
        """Metadata of the card of a repository; empty where it has none or a broken one."""
        readme = tree.entries.get("README.md")
        return dict(self._card_of_blob(readme)) if readme is not None else {}

    def _read_card(self, readme: Entry) -> dict[str, object]:
        if readme.size > _README_BYTES:
            return {}
        try:
            return cards.metadata(self.blobs.read(readme.sha256).decode("utf-8", "replace"))
        except cards.CardError:
            return {}

    def close(self) -> None:
        """Close the records."""
        self.database.close()
