"""Faults on demand behave as a failing Hub does."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError

from rexrank.localhub import Fault, accounts, running


class Plan:
    """Gives the next fault to the next commit, and none to anything else."""

    def __init__(self) -> None:
        self.next: Fault | None = None

    def __call__(self, method: str, path: str) -> Fault | None:
        if method != "POST" or "/commit/" not in path:
            return None
        fault, self.next = self.next, None
        return fault


PLAN = Plan()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HfApi]:
    """A client of a Hub that fails as ``PLAN`` says."""
    with running(tmp_path_factory.mktemp("faulty"), fault=PLAN) as hub:
        accounts.add_user(hub.root, "ana")
        api = HfApi(hub.url, token=accounts.create_token(hub.root, "ana"))
        api.create_repo("ana/r", repo_type="dataset")
        yield api


def commit(api: HfApi, name: str) -> None:
    api.create_commit("ana/r", [CommitOperationAdd(name, b"1")], commit_message="c", repo_type="dataset")


@pytest.mark.parametrize(("when", "applied"), [("before", False), ("after", True)])
@pytest.mark.parametrize("status", [409, 429, 500, 503])
def test_a_status_before_or_after_the_commit(api: HfApi, status: int, when: str, applied: bool) -> None:
    PLAN.next = Fault(status=status, when=when, retry_after=7)
    with pytest.raises(HfHubHTTPError) as raised:
        commit(api, f"{status}-{when}")
    assert raised.value.response.status_code == status
    assert raised.value.response.headers["Retry-After"] == "7"
    assert api.file_exists("ana/r", f"{status}-{when}", repo_type="dataset") == applied


@pytest.mark.parametrize(("when", "applied"), [("before", False), ("after", True)])
def test_a_cut_connection_leaves_the_client_in_the_dark(api: HfApi, when: str, applied: bool) -> None:
    PLAN.next = Fault(cut=True, when=when)
    with pytest.raises(httpx2.TransportError):
        commit(api, f"cut-{when}")
    assert api.file_exists("ana/r", f"cut-{when}", repo_type="dataset") == applied


def test_a_delay_alone_changes_nothing(api: HfApi) -> None:
    PLAN.next = Fault(delay=0.05)
    commit(api, "late")
    assert api.file_exists("ana/r", "late", repo_type="dataset")


def test_a_sender_who_pauses_is_let_go(tmp_path: Path) -> None:
    import socket
    from urllib.parse import urlsplit

    from rexrank.localhub import Limits

    with running(tmp_path, limits=Limits(idle_seconds=0.2)) as hub:
        address = ("127.0.0.1", urlsplit(hub.url).port)
        with socket.create_connection(address, timeout=30) as connection:
            head = "POST /api/validate-yaml HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n{"
            connection.sendall(head.encode())
            answer = b""
            while chunk := connection.recv(65_536):
                answer += chunk
    assert answer.startswith(b"HTTP/1.1 408")
