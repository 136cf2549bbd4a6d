"""The board as an enemy meets it: pages of other sites, raw HTTP, paths, and files that stay behind."""

import json
import os
import signal
import stat
import threading
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from localhub_fixtures import HubServer
from space_fixtures import HOST, RunningBoard, board_row, publish, queue_request, running_board, tables
from waiting import until

from rexrank.board.host import PATH as HOST_FILE
from rexrank.hub import connect
from space import data as data_module
from space.data import BoardStore, LocalCopy, Repos
from space.formatting import escape
from space.uploads import private_folder

TEXT = "markerword"
# A page elsewhere whose owner lets its name point to 127.0.0.1 is "same origin" to the browser.
FOREIGN: dict[str, dict[str, str]] = {
    "other site": {"Origin": "https://evil.example"},
    "file on disk": {"Origin": "null"},
    "other port": {"Origin": "http://127.0.0.1:1"},
    "other scheme": {"Origin": "chrome-extension://abc"},
    "fetch metadata": {"Sec-Fetch-Site": "cross-site"},
    "name that points here": {"Host": "evil.example:{port}", "Origin": "http://evil.example:{port}"},
    "no name": {"Host": ""},
}


@pytest.fixture(scope="module")
def board(hub_server: HubServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBoard]:
    """A board that submits as a local user, and whose home is a folder of its own."""
    token = hub_server.user("victim")
    hub_server.organisation("attacked", {"victim": "admin"})
    hub = connect(hub_server.url, token)
    rows = [board_row(1, "Acme", 1, bleu2=0.2)]
    publish(hub, "attacked", results={**tables(rows), HOST_FILE: HOST.to_bytes()})
    home = tmp_path_factory.mktemp("attacked") / "home"
    variables = {"HF_TOKEN": token, "REXRANK_LOCAL_USER": "victim", "REXRANK_LOCAL_TOKEN": token}
    with running_board(home, hub_server.url, "attacked", **variables) as running:
        yield running


def ask(
    board: RunningBoard, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    port = board.url.rpartition(":")[2]
    sent = {name: value.format(port=port) for name, value in (headers or {}).items()}
    request = urllib.request.Request(board.url + path, data=body, headers=sent)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def join(board: RunningBoard, headers: dict[str, str], event: int = 0, data: Any = (), session: str = "") -> int:
    body = {"data": list(data), "fn_index": event, "session_hash": session or uuid.uuid4().hex, "trigger_id": 1}
    return ask(
        board, "/gradio_api/queue/join", json.dumps(body).encode(), {"Content-Type": "application/json", **headers}
    )[0]


def upload(board: RunningBoard, text: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    body = (
        '--x\r\nContent-Disposition: form-data; name="files"; filename="p.csv"\r\n'
        f"Content-Type: text/csv\r\n\r\nstudy_id,prediction\nq01,{text}\n\r\n--x--\r\n"
    )
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    return ask(board, "/gradio_api/upload", body.encode(), {**kind, **(headers or {})})


@pytest.mark.slow
@pytest.mark.parametrize("kind", FOREIGN)
def test_no_page_of_another_site_can_send_anything_to_the_local_board(board: RunningBoard, kind: str) -> None:
    assert join(board, FOREIGN[kind]) == 403
    assert upload(board, TEXT, FOREIGN[kind])[0] == 403


@pytest.mark.slow
def test_a_page_under_another_name_cannot_read_the_local_board(board: RunningBoard) -> None:
    for path in ("/", "/config", "/gradio_api/info", "/submit"):
        assert ask(board, path, headers={"Host": "evil.example:{port}"})[0] == 403


@pytest.mark.slow
def test_the_boards_own_pages_and_programs_are_served(board: RunningBoard) -> None:
    own = {"Origin": board.url, "Sec-Fetch-Site": "same-origin"}
    local = {"Host": "localhost:{port}", "Origin": "http://localhost:{port}"}
    assert [join(board, headers) for headers in (own, local, {})] == [200, 200, 200]


@pytest.mark.slow
def test_answers_forbid_frames_and_guesses_of_the_content_type(board: RunningBoard) -> None:
    with urllib.request.urlopen(board.url, timeout=30) as answer:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        "file=/etc/hostname",
        "file=../../../etc/hostname",
        "file={home}/board.log",
        "file/{home}/board.log",
        "proxy=http://127.0.0.1:1/",
        "deep_link?session_hash=abc",
        "deep_link/?session_hash=abc",
        "monitoring/summary",
        "run-history/records",
    ],
)
def test_no_address_gives_a_file_or_another_server_away(board: RunningBoard, path: str) -> None:
    status, answer = ask(board, "/gradio_api/" + path.format(home=board.log.parent))
    assert status in (400, 403, 404), answer


@pytest.mark.slow
def test_what_visitors_send_is_readable_for_the_board_alone(board: RunningBoard) -> None:
    status, answer = upload(board, TEXT)
    assert status == 200
    (sent,) = json.loads(answer)
    folder = next(parent for parent in Path(sent).parents if parent.name.startswith("uploads-"))
    assert folder.parent == board.log.parent / "board"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert TEXT not in board.log.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_killed_board_leaves_no_texts_behind_at_its_next_start(hub_server: HubServer, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with running_board(home, hub_server.url, "nobody") as first:
        assert upload(first, TEXT)[0] == 200
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait(30)
    assert list((home / "board").glob("uploads-*/*/p.csv"))
    with running_board(home, hub_server.url, "nobody"):
        assert not list((home / "board").glob("uploads-*/*/p.csv"))
    until(lambda: not list((home / "board").glob("uploads-*")), 20, told=lambda: "the folder outlives an orderly end")


def test_the_folder_of_a_living_board_is_left_alone(tmp_path: Path) -> None:
    with private_folder(tmp_path) as first, private_folder(tmp_path) as second:
        assert first != second
        assert first.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_without_a_home_that_can_be_written_there_is_a_folder_all_the_same(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with private_folder(blocked / "board") as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


@pytest.mark.parametrize(
    "planted",
    [
        {"status": {"workers/w.json": b"[" * 9000 + b"]" * 9000}},
        {"status": {"workers/w.json": b"\xff"}},
        {"requests": {"requests/x.json": b"[" * 9000 + b"]" * 9000}},
        {"results": {HOST_FILE: b"[" * 9000 + b"]" * 9000}},
        {"results": {HOST_FILE: b'{"benchmarks": {"<b>": {"tracks": {}, "revision": ""}}}'}},
        {"results": {"data/scores.parquet": b"no parquet"}},
    ],
)
def test_one_planted_file_never_takes_the_rest_of_the_board_away(
    hub_server: HubServer, tmp_path: Path, planted: dict[str, dict[str, bytes]]
) -> None:
    token = hub_server.user("planter")
    namespace = f"planted-{uuid.uuid4().hex[:8]}"
    hub_server.organisation(namespace, {"planter": "admin"})
    hub = connect(hub_server.url, token)
    good = queue_request(1, "Acme", "PENDING")
    publish(hub, namespace, results=tables([board_row(1, "Acme", 1, bleu2=0.2)]), requests={good.path: good.to_bytes()})
    copy = LocalCopy(tmp_path, hub_server.url, namespace)
    store = BoardStore(Repos(connect(hub_server.url), namespace), copy, 3600)
    assert len(store.refresh().leaderboard) == 1
    publish(hub, namespace, **planted)
    data = store.refresh()
    assert [row["model_name"] for row in data.leaderboard] == ["Acme"]
    assert [request.id for request in data.requests] == [good.id]
    fresh = BoardStore(Repos(connect(hub_server.url), namespace), LocalCopy(tmp_path / "new", "", ""), 3600)
    fresh.start()
    fresh.stop()


class SlowRepos(Repos):
    """Repos whose first look takes until it is allowed to end."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.go_on = threading.Event()

    def heads(self) -> dict[str, str]:
        self.go_on.wait(60)
        return super().heads()


def test_a_long_first_look_does_not_keep_the_board_from_starting(
    hub_server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_module, "FIRST_LOOK_SECONDS", 0.1)
    token = hub_server.user("patient")
    hub_server.organisation("patience", {"patient": "admin"})
    hub = connect(hub_server.url, token)
    publish(hub, "patience", results=tables([board_row(1, "Acme", 1, bleu2=0.2)]))
    copy = LocalCopy(tmp_path, hub_server.url, "patience")
    BoardStore(Repos(hub, "patience"), copy, 3600).refresh()
    repos = SlowRepos(hub, "patience")
    store = BoardStore(repos, copy, 3600)
    store.start()
    assert (store.data.origin, len(store.data.leaderboard)) == ("copy", 1)
    repos.go_on.set()
    store.stop()
    assert store.data.origin == "hub"


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200f", "\u200b", "\ufeff"])
def test_marks_that_hide_or_turn_text_are_shown_as_such(mark: str) -> None:
    assert escape(f"a{mark}b") == "a\ufffdb"
