"""A local Hub for the tests of every part: real server, real clients, invented names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from rexrank.localhub import accounts


@dataclass(frozen=True)
class HubServer:
    """A Hub that runs for the whole test session; every test uses names of its own."""

    url: str
    root: Path

    def user(self, name: str, role: str = "write") -> str:
        """Add the user where it is missing, and return a new token."""
        accounts.add_user(self.root, name, exist_ok=True)
        return accounts.create_token(self.root, name, role)

    def organisation(self, name: str, members: Mapping[str, str]) -> None:
        """Add an organisation; its members are users with a role each."""
        accounts.add_organisation(self.root, name, members, exist_ok=True)


@pytest.fixture(scope="session")
def hub_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    """A running local Hub."""
    # The server's packages are loaded only by the tests that need them.
    from rexrank.localhub import running

    with running(tmp_path_factory.mktemp("hub")) as hub:
        yield HubServer(hub.url, hub.root)
