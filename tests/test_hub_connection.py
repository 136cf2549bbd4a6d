"""Reading and writing a real Hub: fixed commits, bounded waits, errors as codes."""

import hashlib
from pathlib import Path

import httpx2
import huggingface_hub
import pytest

from rexrank.environment import PUBLIC_HUB
from rexrank.hub import HubError, connect, connection, patiently
from rexrank.localhub import Fault, accounts, running


def test_every_request_has_a_time_limit(hub_server) -> None:
    connect(hub_server.url)
    timeout = huggingface_hub.get_session().timeout
    assert (timeout.connect, timeout.read, timeout.write) == (10.0, 60.0, 60.0)


def test_a_view_shows_one_commit(hub_server) -> None:
    hub = connect(hub_server.url, hub_server.user("view"))
    hub.ensure_repo("view/files")
    first = hub.commit("view/files", {"a/1": b"old", "a/2": b"same", "b": b"B" * 2000}, "One")
    second = hub.commit("view/files", {"a/1": b"new", "b": None}, "Two", parent=first)
    assert hub.view("view/files", ["a/", "b", "c"], first, 1000).files == {"a/1": b"old", "a/2": b"same"}
    assert hub.view("view/files", ["b"], first, 1000).oversize == {"b": 2000}
    assert hub.view("view/files", ["a/", "b"]).files == {"a/1": b"new", "a/2": b"same"}
    assert hub.view("view/files", ["nowhere/"]).files == {}
    assert hub.head("view/files") == second
    with pytest.raises(HubError) as moved:
        hub.commit("view/files", {"c": b"c"}, "Three", parent=first)
    assert (moved.value.code, moved.value.retryable) == ("conflict", True)


def test_a_second_look_fetches_only_what_changed(tmp_path: Path) -> None:
    seen: list[str] = []

    def record(method: str, path: str) -> None:
        seen.append(f"{method} {path}")

    with running(tmp_path / "hub", fault=record) as server:
        accounts.add_user(server.root, "acme")
        hub = connect(server.url, accounts.create_token(server.root, "acme", "write"))
        hub.ensure_repo("acme/many")
        hub.commit("acme/many", {f"d/{number}": str(number).encode() for number in range(20)}, "Many")
        hub.view("acme/many", ["d/"])
        hub.commit("acme/many", {"d/3": b"changed"}, "One")
        seen.clear()
        assert hub.view("acme/many", ["d/"]).files["d/3"] == b"changed"
        assert len([line for line in seen if "/resolve/" in line]) == 1
        seen.clear()
        hub.view("acme/many", ["d/"])
        assert len(seen) == 1, "an unchanged repo costs the look at its head"


def test_lists_of_many_pages_are_whole(hub_server) -> None:
    hub = connect(hub_server.url, hub_server.user("pages"))
    names = [f"pages/set-{number:03d}" for number in range(105)]
    for name in names:
        hub.ensure_repo(name)
    assert hub.datasets_of("pages") == names
    files: dict[str, bytes | None] = {f"d e/{number:04d}": b"%d" % number for number in range(1005)}
    commit = hub.commit("pages/set-000", files, "Many")
    listed = hub.list_files("pages/set-000", commit, "d e/")
    assert list(listed) == sorted(files)
    assert listed["d e/1000"].size == 4
    assert hub.list_files("pages/set-000", commit).keys() == files.keys() | {".gitattributes"}


LISTINGS = {
    "files": lambda hub: hub.list_files("acme/files", "main"),
    "datasets": lambda hub: hub.datasets_of("acme"),
}


@pytest.mark.parametrize("listing", LISTINGS)
def test_a_dead_hub_is_asked_for_a_list_once(listing: str, request: pytest.FixtureRequest) -> None:
    asked: list[str] = []
    hub = connect("http://127.0.0.1:9", "hf_x")

    def counting() -> httpx2.Client:
        return httpx2.Client(event_hooks={"request": [lambda sent: asked.append(str(sent.url))]}, trust_env=False)

    request.addfinalizer(lambda: huggingface_hub.set_client_factory(connection._bounded_client))
    huggingface_hub.set_client_factory(counting)
    with pytest.raises(HubError) as dead:
        LISTINGS[listing](hub)
    assert (dead.value.code, dead.value.retryable) == ("hub_unavailable", True)
    assert len(asked) == 1


@pytest.mark.parametrize("listing", LISTINGS)
def test_whether_a_list_is_asked_for_again_is_the_callers_choice(listing: str, tmp_path: Path) -> None:
    faults = [Fault(status=503), Fault(cut=True)]
    with running(tmp_path / "hub", fault=lambda _method, _path: faults.pop(0)) as server:
        hub = connect(server.url)
        for left in (1, 0):
            with pytest.raises(HubError) as brief:
                LISTINGS[listing](hub)
            assert (brief.value.code, brief.value.retryable, len(faults)) == ("hub_unavailable", True, left)


def test_downloads_are_bounded_and_hashed(hub_server, tmp_path: Path) -> None:
    hub = connect(hub_server.url, hub_server.user("download"))
    hub.ensure_repo("download/files")
    content = b"x" * (3 * 2**20)
    commit = hub.commit("download/files", {"big.csv": content}, "Big")
    target = tmp_path / "big.csv"
    assert hub.download("download/files", "big.csv", commit, target, 4 * 2**20) == hashlib.sha256(content).hexdigest()
    assert target.read_bytes() == content
    with pytest.raises(HubError) as large:
        hub.download("download/files", "big.csv", commit, target, 2**20)
    assert large.value.code == "file_too_large"
    assert not target.read_bytes(), "a size that the Hub announces is known before the first byte"
    with pytest.raises(HubError) as large:
        hub.read("download/files", "big.csv", commit)
    assert large.value.code == "file_too_large"


def test_errors_are_codes_without_the_words_of_the_client(hub_server, tmp_path: Path) -> None:
    hub = connect(hub_server.url, hub_server.user("errors"))
    hub.ensure_repo("errors/files")
    commit = hub.head("errors/files")
    stranger = connect(hub_server.url, hub_server.user("stranger"))
    hub.ensure_repo("errors/hidden", private=True)
    cases = {
        "repo_not_found": lambda: hub.head("errors/nothing"),
        "revision_not_found": lambda: hub.resolve("errors/files", "nowhere"),
        "file_missing": lambda: hub.read("errors/files", "nothing.json", commit),
        "forbidden": lambda: stranger.commit("errors/files", {"a": b"a"}, "No"),
        "unauthorized": lambda: connect(hub_server.url, "hf_unknown").whoami(),
        "bad_request": lambda: hub.head("no/valid/name"),
    }
    for code, call in cases.items():
        with pytest.raises(HubError) as found:
            call()
        assert found.value.code == code
        assert not found.value.retryable
        assert "http" not in str(found.value).replace(hub_server.url, "")
    with pytest.raises(HubError) as hidden:
        stranger.head("errors/hidden")
    assert hidden.value.code == "repo_not_found"
    with pytest.raises(HubError) as absent:
        connect("http://127.0.0.1:9", "hf_x").head("a/b")
    assert (absent.value.code, absent.value.retryable) == ("hub_unavailable", True)


def test_brief_failures_are_waited_out(tmp_path: Path) -> None:
    faults = [Fault(status=503), Fault(status=429, retry_after=1), Fault(cut=True)]

    def fail(_method: str, path: str) -> Fault | None:
        return faults.pop(0) if "/refs" in path and faults else None

    with running(tmp_path / "hub", fault=fail) as server:
        accounts.add_user(server.root, "acme")
        hub = connect(server.url, accounts.create_token(server.root, "acme", "write"))
        hub.ensure_repo("acme/files")
        assert len(patiently(lambda: hub.head("acme/files"), "acme/files")) == 40
        assert not faults


def test_the_public_hubs_token_goes_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "token"
    kept.write_text("hf_public")
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(kept))
    assert connect(PUBLIC_HUB).token == "hf_public"
    assert connect("http://127.0.0.1:9").token is None
    monkeypatch.setenv("HF_TOKEN", "hf_environment")
    assert connect("http://127.0.0.1:9").token == "hf_environment"


def test_an_identity_knows_in_whose_name_it_may_act(hub_server) -> None:
    token = hub_server.user("person")
    hub_server.organisation("team", {"person": "write"})
    hub_server.user("other")
    hub_server.organisation("readers", {"other": "admin", "person": "read"})
    who = connect(hub_server.url, token).whoami()
    assert who.name == "person"
    assert [owner for owner in ("person", "team", "readers", "strangers") if who.may_write(owner)] == ["person", "team"]
    with pytest.raises(HubError) as nobody:
        connect(hub_server.url).whoami()
    assert nobody.value.code == "unauthorized"
