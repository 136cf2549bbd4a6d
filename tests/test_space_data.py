"""The board's look at a real Hub: what it reads, when it reads again, and what happens when the Hub is away."""

import hashlib
import json
from pathlib import Path

import pytest
from localhub_fixtures import HubServer
from space_fixtures import (
    HOST,
    NOW,
    board_row,
    heartbeat,
    publish,
    queue_request,
    request_files,
    score_row,
    tables,
    worker_files,
)

from rexrank.board.host import PATH as HOST_FILE
from rexrank.hub import Hub, connect
from rexrank.localhub import accounts, running
from space.data import SHORTEST_PERIOD, BoardStore, LocalCopy, Repos

ROWS = [board_row(1, "Ant", 1, bleu2=0.3), board_row(2, "Bee", 2, bleu2=0.2)]


def _filled(hub: Hub, namespace: str) -> None:
    publish(
        hub,
        namespace,
        results={**tables(ROWS, [score_row(1, "Ant", "bleu2", 0.3)]), HOST_FILE: HOST.to_bytes()},
        requests={
            **request_files([queue_request(1, "Ant", "FINISHED"), queue_request(3, "Cat", "PENDING")]),
            "requests/broken.json": b'{"id": ',
            "quarantine/broken.json": b"{}",
            "quarantine/older.json": b"{}",
        },
        status=worker_files([heartbeat("gpu-1", NOW)]),
    )


@pytest.fixture
def hub_of(hub_server: HubServer, request: pytest.FixtureRequest) -> tuple[Hub, str]:
    """A Hub and a namespace of the test's own."""
    namespace = "space-" + hashlib.sha256(request.node.name.encode()).hexdigest()[:10]
    token = hub_server.user("space-owner")
    hub_server.organisation(namespace, {"space-owner": "admin"})
    return connect(hub_server.url, token), namespace


def _store(hub: Hub, namespace: str, folder: Path) -> BoardStore:
    return BoardStore(Repos(hub, namespace), LocalCopy(folder, hub.endpoint, namespace), 3600.0)


def test_everything_is_read_and_one_broken_file_hides_nothing(hub_of: tuple[Hub, str], tmp_path: Path) -> None:
    hub, namespace = hub_of
    _filled(hub, namespace)
    data = _store(hub, namespace, tmp_path).refresh()
    assert data.origin == "hub"
    assert data.problem is None
    assert [row["model_name"] for row in data.leaderboard] == ["Ant", "Bee"]
    assert [(score["metric"], score["value"]) for score in data.scores] == [("bleu2", 0.3)]
    assert data.host == HOST
    assert {request.model_name for request in data.requests} == {"Ant", "Cat"}
    assert data.workers[0]["worker"] == "gpu-1"
    assert data.set_aside == 2


def test_a_new_commit_is_seen_and_an_unchanged_hub_is_not_read_again(hub_of: tuple[Hub, str], tmp_path: Path) -> None:
    hub, namespace = hub_of
    _filled(hub, namespace)
    store = _store(hub, namespace, tmp_path)
    first = store.refresh()
    second = store.refresh()
    assert second.version == first.version
    assert second.leaderboard is first.leaderboard
    assert second.read_at is not None
    assert first.read_at is not None
    assert second.read_at > first.read_at
    publish(hub, namespace, results=tables([*ROWS, board_row(4, "Dog", 3, bleu2=0.1)]))
    third = store.refresh()
    assert third.version != first.version
    assert len(third.leaderboard) == 3


def test_repos_without_files_are_an_empty_board(hub_of: tuple[Hub, str], tmp_path: Path) -> None:
    hub, namespace = hub_of
    publish(hub, namespace)
    data = _store(hub, namespace, tmp_path).refresh()
    assert (data.origin, data.leaderboard, data.requests, data.host) == ("hub", (), (), None)


def test_a_namespace_without_repos_is_an_empty_board_with_a_reason(hub_of: tuple[Hub, str], tmp_path: Path) -> None:
    hub, namespace = hub_of
    store = _store(hub, namespace, tmp_path)
    store.start()
    store.stop()
    assert store.data.origin == "nothing"
    assert store.data.problem is not None
    assert f"{namespace}/requests" in store.data.problem


def test_a_table_that_is_no_table_keeps_the_old_data(hub_of: tuple[Hub, str], tmp_path: Path) -> None:
    hub, namespace = hub_of
    _filled(hub, namespace)
    store = _store(hub, namespace, tmp_path)
    store.refresh()
    publish(hub, namespace, results={"data/leaderboard.parquet": b"PAR1 not a table"})
    data = store.refresh()
    assert len(data.leaderboard) == 2
    assert data.problem is not None
    assert "not a table" not in data.problem


def test_a_start_without_the_hub_shows_the_last_copy_and_then_follows_the_hub(tmp_path: Path) -> None:
    root, folder = tmp_path / "hub", tmp_path / "copy"
    with running(root) as server:
        accounts.add_user(root, "owner")
        token = accounts.create_token(root, "owner", "write")
        hub = connect(server.url, token)
        _filled(hub, "owner")
        store = _store(hub, "owner", folder)
        seen = store.refresh()
    kept = store.refresh()
    assert kept.problem is not None
    assert kept.leaderboard == seen.leaderboard
    assert kept.read_at == seen.read_at

    fresh = _store(hub, "owner", folder)
    fresh.start()
    assert fresh.data.origin == "copy"
    assert fresh.data.problem is not None
    assert fresh.data.leaderboard == seen.leaderboard
    assert fresh.data.requests == seen.requests
    assert fresh.data.host == seen.host
    assert fresh.data.set_aside == seen.set_aside
    port = int(server.url.rpartition(":")[2])
    with running(root, port=port):
        assert fresh.refresh().origin == "hub"
        assert fresh.data.problem is None
    fresh.stop()


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"tables": {"data/leaderboard.parquet": "AAAA"}}', b"\xff"])
def test_a_spoilt_copy_is_ignored(tmp_path: Path, content: bytes) -> None:
    copy = LocalCopy(tmp_path, "http://127.0.0.1:9", "rexrank")
    copy.path.write_bytes(content)
    assert copy.load() is None


def test_copies_of_two_hubs_do_not_meet(tmp_path: Path) -> None:
    paths = {LocalCopy(tmp_path, hub, space).path for hub in ("http://a", "http://b") for space in ("x", "y")}
    assert len(paths) == 4


def test_the_copy_on_disk_is_for_its_owner_alone(hub_of: tuple[Hub, str], tmp_path: Path) -> None:
    hub, namespace = hub_of
    _filled(hub, namespace)
    _store(hub, namespace, tmp_path).refresh()
    (path,) = tmp_path.glob("*.json")
    assert path.stat().st_mode & 0o077 == 0
    assert set(json.loads(path.read_bytes())["tables"]) == {"data/leaderboard.parquet", "data/scores.parquet"}


def test_a_folder_that_cannot_be_written_costs_nothing(hub_of: tuple[Hub, str], tmp_path: Path) -> None:
    hub, namespace = hub_of
    _filled(hub, namespace)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert _store(hub, namespace, tmp_path / "file" / "sub").refresh().origin == "hub"


def test_the_period_has_a_floor(hub_of: tuple[Hub, str], tmp_path: Path) -> None:
    hub, namespace = hub_of
    store = BoardStore(Repos(hub, namespace), LocalCopy(tmp_path, hub.endpoint, namespace), 0.01)
    assert store.period == SHORTEST_PERIOD
