"""The local Hub's answers on the wire: addresses, headers, ranges, error codes and bad requests."""

import base64
import hashlib
import http.client
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from localhub_fixtures import HubServer

from rexrank.localhub import Limits, accounts, running

TEXT = b"0123456789"


class Wire:
    """A signed-in HTTP client without any knowledge of the Hub."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.http = httpx2.Client(base_url=url, timeout=30, trust_env=False, verify=False)
        if token:
            self.http.headers["Authorization"] = f"Bearer {token}"

    def create(self, name: str, **more: object) -> httpx2.Response:
        return self.http.post("/api/repos/create", json={"name": name, "type": "dataset", **more})

    def commit(self, repo: str, *lines: Mapping[str, Any], revision: str = "main") -> httpx2.Response:
        header = {"key": "header", "value": {"summary": "s"}}
        keys = [line.get("key") for line in lines]
        body = "\n".join(json.dumps(line) for line in (lines if "header" in keys else (header, *lines)))
        return self.http.post(f"/api/datasets/{repo}/commit/{revision}", content=body.encode())


def add(path: Any, content: bytes = TEXT) -> dict[str, Any]:
    value = {"path": path, "content": base64.b64encode(content).decode(), "encoding": "base64"}
    return {"key": "file", "value": value}


@pytest.fixture
def wire(hub_server: HubServer) -> Iterator[Wire]:
    """A client of a user who owns the repositories under ``wire-ana``."""
    client = Wire(hub_server.url, hub_server.user("wire-ana"))
    with client.http:
        yield client


@pytest.fixture
def repo(wire: Wire, request: pytest.FixtureRequest) -> str:
    """A dataset repository of this test's own with one file of ten bytes."""
    digest = hashlib.sha256(request.node.name.encode()).hexdigest()[:16]
    assert wire.create(f"t{digest}").status_code == 200
    name = f"wire-ana/t{digest}"
    assert wire.commit(name, add("dir/file.txt"), add("empty.txt", b"")).status_code == 200
    return name


def refusal(response: httpx2.Response) -> tuple[int, str | None]:
    """Status and code of a refusal, after checking that it has the form every client expects."""
    assert response.headers["content-type"] == "application/json"
    assert response.json()["error"]
    assert response.headers["X-Error-Message"].isascii()
    return response.status_code, response.headers.get("X-Error-Code")


def test_health_and_harnesses(wire: Wire) -> None:
    assert wire.http.get("/healthz").json() == {"status": "ok"}
    assert wire.http.get("/api/agent-harnesses").json() == {"standardEnvVars": [], "harnesses": {}}


def test_resolve_headers(wire: Wire, repo: str) -> None:
    answer = wire.http.get(f"/datasets/{repo}/resolve/main/dir/file.txt")
    head = wire.http.head(f"/datasets/{repo}/resolve/main/dir/file.txt")
    assert answer.content == TEXT
    for headers in (answer.headers, head.headers):
        blob = hashlib.sha1(b"blob 10\0" + TEXT, usedforsecurity=False).hexdigest()
        assert headers["ETag"] == f'"{blob}"'
        assert headers["Content-Length"] == "10"
        assert headers["Accept-Ranges"] == "bytes"
        assert headers["Content-Type"] == "application/octet-stream"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert 'filename="file.txt"' in headers["Content-Disposition"]
        assert len(headers["X-Repo-Commit"]) == 40
        assert "content-encoding" not in headers


@pytest.mark.parametrize(
    ("asked", "status", "content", "shown"),
    [
        ("bytes=0-0", 206, b"0", "bytes 0-0/10"),
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=0-", 206, TEXT, "bytes 0-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=-99", 206, TEXT, "bytes 0-9/10"),
        ("bytes=5-999999", 206, b"56789", "bytes 5-9/10"),
        ("bytes=4-2", 200, TEXT, None),
        ("bytes=-", 200, TEXT, None),
        ("lines=1-2", 200, TEXT, None),
        ("bytes=0-1,4-5", 200, TEXT, None),
    ],
)
def test_ranges(wire: Wire, repo: str, asked: str, status: int, content: bytes, shown: str | None) -> None:
    answer = wire.http.get(f"/datasets/{repo}/resolve/main/dir/file.txt", headers={"Range": asked})
    assert (answer.status_code, answer.content, answer.headers.get("Content-Range")) == (status, content, shown)
    assert answer.headers["Content-Length"] == str(len(content))


@pytest.mark.parametrize(("path", "asked", "size"), [("dir/file.txt", "bytes=10-", 10), ("empty.txt", "bytes=0-", 0)])
def test_ranges_outside_the_file(wire: Wire, repo: str, path: str, asked: str, size: int) -> None:
    answer = wire.http.get(f"/datasets/{repo}/resolve/main/{path}", headers={"Range": asked})
    assert refusal(answer) == (416, None)
    assert answer.headers["Content-Range"] == f"bytes */{size}"


def test_a_range_for_another_version_gets_the_whole_file(wire: Wire, repo: str) -> None:
    headers = {"Range": "bytes=2-4", "If-Range": '"another"'}
    assert wire.http.get(f"/datasets/{repo}/resolve/main/dir/file.txt", headers=headers).content == TEXT


def test_quoted_revisions_and_paths(wire: Wire, repo: str) -> None:
    assert wire.http.post(f"/api/datasets/{repo}/branch/feature%2Fx", json={}).status_code == 200
    assert wire.commit(repo, add("a/b c/d"), revision="feature%2Fx").status_code == 200
    assert wire.http.get(f"/datasets/{repo}/resolve/feature%2Fx/a/b%20c/d").content == TEXT
    assert wire.http.get(f"/datasets/{repo}/resolve/feature%2Fx/a%2Fb%20c%2Fd").content == TEXT
    listed = wire.http.get(f"/api/datasets/{repo}/tree/feature%2Fx/a%2Fb%20c").json()
    assert [item["path"] for item in listed] == ["a/b c/d"]
    assert wire.http.get(f"/datasets/{repo}/resolve/refs%2Fheads%2Ffeature%2Fx/a/b%20c/d").content == TEXT
    assert wire.http.get(f"/datasets/{repo}/resolve/refs/heads/main/dir/file.txt").content == TEXT
    assert wire.http.post(f"/api/datasets/{repo}/tag/feature%2Fx", json={"tag": "v1"}).status_code == 200
    assert wire.http.get(f"/datasets/{repo}/resolve/v1/a/b%20c/d").content == TEXT


def test_abbreviated_commits(wire: Wire, repo: str) -> None:
    head = wire.http.get(f"/api/datasets/{repo}").json()["sha"]
    assert wire.http.get(f"/api/datasets/{repo}/revision/{head[:7]}").json()["sha"] == head
    assert refusal(wire.http.get(f"/api/datasets/{repo}/revision/{head[:6]}")) == (404, "RevisionNotFound")


def test_error_codes(wire: Wire, repo: str, hub_server: HubServer) -> None:
    stranger = Wire(hub_server.url, hub_server.user("wire-stranger"))
    anonymous = Wire(hub_server.url)
    get = f"/datasets/{repo}/resolve/main/nope"
    missing = wire.http.get(get)
    assert refusal(missing) == (404, "EntryNotFound")
    assert len(missing.headers["X-Repo-Commit"]) == 40
    assert refusal(wire.http.get(f"/datasets/{repo}/resolve/nope/dir/file.txt")) == (404, "RevisionNotFound")
    assert refusal(wire.http.get("/api/datasets/wire-ana/nope")) == (404, "RepoNotFound")
    assert refusal(wire.http.get("/api/models/bare-old-name")) == (404, "RepoNotFound")
    assert refusal(wire.http.get("/bare-old-name/resolve/main/config.json")) == (404, "RepoNotFound")
    assert wire.http.put(f"/api/datasets/{repo}/settings", json={"private": True}).status_code == 200
    hidden = stranger.http.get(f"/api/datasets/{repo}")
    never = stranger.http.get("/api/datasets/wire-ana/never")
    assert refusal(hidden) == (404, "RepoNotFound")
    # Whoever may not see a repository cannot tell it from one that is not there.
    assert (hidden.json(), hidden.headers["X-Error-Message"]) == (never.json(), never.headers["X-Error-Message"])
    hidden, never = anonymous.http.get(f"/api/datasets/{repo}"), anonymous.http.get("/api/datasets/wire-ana/never")
    assert refusal(hidden) == refusal(never) == (401, "RepoNotFound")
    assert hidden.json() == never.json()
    unknown = Wire(hub_server.url, "hf_unknown").http.get(f"/api/datasets/{repo}")
    assert refusal(unknown) == (401, None)
    assert unknown.headers["X-Error-Message"] == "Invalid credentials in Authorization header"
    assert refusal(wire.http.get("/api/whatever")) == (404, None)
    assert refusal(wire.http.get("/api/repos/create")) == (405, None)
    assert refusal(wire.http.get(f"/api/datasets/{repo}/xet-write-token/main")) == (404, None)


def test_parts_that_come_later_say_so(wire: Wire, repo: str) -> None:
    assert refusal(wire.http.get(f"/api/datasets/{repo}/discussions")) == (501, None)
    assert refusal(wire.http.post(f"/api/datasets/{repo}/discussions/1/merge", json={})) == (501, None)
    assert refusal(wire.http.post(f"/api/datasets/{repo}/super-squash/main", json={})) == (501, None)
    assert refusal(wire.http.post(f"/api/datasets/{repo}/commit/main?create_pr=1", content=b"")) == (501, None)


def test_existing_repos_come_with_their_address(wire: Wire, repo: str, hub_server: HubServer) -> None:
    answer = wire.create(repo.partition("/")[2])
    assert refusal(answer) == (409, None)
    assert answer.json()["url"] == f"{hub_server.url}/datasets/{repo}"
    # On this text clients repeat the call in an endless loop (H17).
    assert "another conflicting operation is in progress" not in answer.text
    assert refusal(wire.create(repo.partition("/")[2].upper())) == (409, None)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "-x", "_x", "a--b", "a..b", "a/b", "a b", "a\n", "é", "x" * 97, "x.git", None, 7, ["x"]]
)
def test_bad_repo_names(wire: Wire, name: object) -> None:
    assert refusal(wire.http.post("/api/repos/create", json={"name": name, "type": "dataset"})) == (400, None)


def test_bad_repo_types(wire: Wire) -> None:
    assert refusal(wire.create("kind", type="bucket")) == (400, None)
    assert refusal(wire.create("kind", type=["dataset"])) == (400, None)
    assert refusal(wire.create("kind", type="space")) == (400, None)
    assert refusal(wire.create("kind", visibility="protected")) == (400, None)
    assert refusal(wire.create("kind", organization="no-such-organisation")) == (403, None)


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/etc/passwd", "a/../../b", "..", ".", "a//b", "a/./b", "a/", ".git/config", "a/.GIT/x"),
        *(
            "a\\b",
            "a\x00b",
            "a\nb",
            "a\x7fb",
            "a\x85b",
            "x" * 256,
            "é" * 128,
            "a/" * 2100 + "a",
            "\ud800",
            None,
            7,
            ["a"],
        ),
    ],
)
def test_bad_file_paths(wire: Wire, repo: str, path: object) -> None:
    assert refusal(wire.commit(repo, add(path))) == (400, None)
    listed = wire.http.get(f"/api/datasets/{repo}/tree/main?recursive=true").json()
    assert [item["path"] for item in listed] == [".gitattributes", "dir", "dir/file.txt", "empty.txt"]


HEADER = {"key": "header", "value": {"summary": "s"}}


@pytest.mark.parametrize(
    "lines",
    [
        [HEADER],
        [HEADER, HEADER, add("x")],
        [{"key": "header", "value": {"summary": ""}}, add("x")],
        [{"key": "header", "value": {"summary": "s", "parentCommit": "main"}}, add("x")],
        [{"key": "header", "value": {"summary": "s", "parentCommit": 7}}, add("x")],
        [{"key": "header", "value": {"summary": "s", "description": ["x"]}}, add("x")],
        [HEADER, {"key": "unknown", "value": {}}],
        [HEADER, {"key": ["file"], "value": {}}],
        [HEADER, {"key": "file", "value": {"path": "x", "content": "not base64!", "encoding": "base64"}}],
        [HEADER, {"key": "file", "value": {"path": "x", "content": "YQ==", "encoding": "rot13"}}],
        [HEADER, {"key": "file", "value": {"path": "x"}}],
        [HEADER, {"key": "file"}],
        [HEADER, {"key": "lfsFile", "value": {"path": "x", "algo": "sha256", "oid": "0" * 64, "size": 1}}],
        [HEADER, {"key": "lfsFile", "value": {"path": "x", "algo": "md5", "oid": "0" * 64}}],
        [HEADER, {"key": "lfsFile", "value": {"path": "x", "oid": "../../../etc/passwd"}}],
        [HEADER, add("x"), add("x/y")],
        [HEADER, add("dir")],
        [HEADER, add("dir/file.txt/deeper")],
        [HEADER, "text"],
        [HEADER, ["list"]],
    ],
)
def test_bad_commits(wire: Wire, repo: str, lines: list[Any]) -> None:
    head = wire.http.get(f"/api/datasets/{repo}").json()["sha"]
    body = "\n".join(json.dumps(line) for line in lines).encode()
    assert refusal(wire.http.post(f"/api/datasets/{repo}/commit/main", content=body)) == (400, None)
    assert wire.http.get(f"/api/datasets/{repo}").json()["sha"] == head


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n\n",
        b"\xff\xfe",
        b"{" * 200_000,
        b'{"key":"header","value":{"summary":"s"}}\n{"key":"file","value":{"path":"x","content":"YQ=',
        b"[1,2,3]",
    ],
)
def test_broken_commit_bodies(wire: Wire, repo: str, body: bytes) -> None:
    assert refusal(wire.http.post(f"/api/datasets/{repo}/commit/main", content=body)) == (400, None)


def test_refusals_never_repeat_the_content(wire: Wire, repo: str) -> None:
    marker = "MARKERpneumothorax"
    bodies = [
        json.dumps({"key": "file", "value": {"path": "x", "content": marker + "!", "encoding": "base64"}}),
        json.dumps({"key": marker, "value": {}}),
        '{"key": "file", "value": ' + marker,
    ]
    for body in bodies:
        answer = wire.http.post(f"/api/datasets/{repo}/commit/main", content=body.encode())
        assert answer.status_code == 400
        assert marker not in answer.text + str(answer.headers)
    answer = wire.http.post("/api/validate-yaml", json={"content": f"---\n{marker}: [\n---\n", "repoType": "dataset"})
    assert answer.status_code == 400
    assert marker not in answer.text + str(answer.headers)


def test_commits_to_what_is_no_branch(wire: Wire, repo: str) -> None:
    head = wire.http.get(f"/api/datasets/{repo}").json()["sha"]
    assert wire.http.post(f"/api/datasets/{repo}/tag/main", json={"tag": "v1"}).status_code == 200
    assert refusal(wire.commit(repo, add("x"), revision="v1")) == (400, None)
    assert refusal(wire.commit(repo, add("x"), revision=head)) == (400, None)
    assert refusal(wire.commit(repo, add("x"), revision="nope")) == (404, "RevisionNotFound")
    gone = wire.commit(repo, {"key": "deletedFile", "value": {"path": "nope"}})
    assert refusal(gone) == (404, "EntryNotFound")
    assert "A file with this name doesn't exist" in gone.json()["error"]


@pytest.mark.parametrize("name", ["refs%2Fpr%2F1", "a..b", "a%20b", "-a", "a.lock", "%2Fa", "a%00b", "f" * 40])
def test_bad_branch_names(wire: Wire, repo: str, name: str) -> None:
    assert refusal(wire.http.post(f"/api/datasets/{repo}/branch/{name}", json={})) == (400, None)


def test_preupload_tells_modes_and_what_is_there(wire: Wire, repo: str) -> None:
    files = [
        {"path": "dir/file.txt", "size": 10, "sample": ""},
        {"path": "x.PARQUET", "size": 1, "sample": ""},
        {"path": "empty.parquet", "size": 0, "sample": ""},
        {"path": "big.txt", "size": 10_000_001, "sample": ""},
        {"path": "parquet", "size": 3, "sample": ""},
    ]
    answer = wire.http.post(f"/api/datasets/{repo}/preupload/main", json={"files": files}).json()["files"]
    modes = {item["path"]: item["uploadMode"] for item in answer}
    assert [modes[item["path"]] for item in files] == [
        "regular",
        "lfs",
        "regular",
        "lfs",
        "regular",
    ]
    assert answer[0]["oid"] == hashlib.sha1(b"blob 10\0" + TEXT, usedforsecurity=False).hexdigest()
    assert "oid" not in answer[1]


def test_paging_follows_links(wire: Wire, repo: str) -> None:
    wire.commit(repo, *(add(f"many/ü {number:02}") for number in range(7)))
    found, address = [], f"/api/datasets/{repo}/tree/main/many?limit=3"
    for _ in range(3):
        page = wire.http.get(address)
        found += [item["path"] for item in page.json()]
        address = page.links.get("next", {}).get("url", "")
    assert found == [f"many/ü {number:02}" for number in range(7)]
    assert address == ""
    assert refusal(wire.http.get(f"/api/datasets/{repo}/tree/main?cursor=zzz")) == (400, None)
    assert refusal(wire.http.get(f"/api/datasets/{repo}/tree/main?limit=-1")) == (400, None)
    assert refusal(wire.http.get("/api/datasets?limit=0")) == (400, None)


def test_paths_info_from_form_and_json(wire: Wire, repo: str) -> None:
    address = f"/api/datasets/{repo}/paths-info/main"
    form = wire.http.post(address, data={"paths": ["dir", "empty.txt", "nope"], "expand": "True"}).json()
    sent = wire.http.post(address, json={"paths": ["dir", "empty.txt", "nope"], "expand": True}).json()
    assert form == sent
    assert [(item["path"], item["type"], "lastCommit" in item) for item in form] == [
        ("dir", "directory", True),
        ("empty.txt", "file", True),
    ]


def test_expand_selects_fields(wire: Wire, repo: str) -> None:
    fields = wire.http.get(f"/api/datasets/{repo}?expand=sha&expand=tags").json()
    assert set(fields) == {"_id", "id", "sha", "tags"}


def large(wire: Wire, repo: str, content: bytes) -> dict[str, Any]:
    """Instructions of the LFS batch call for one content."""
    item = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content)}
    body = {"operation": "upload", "transfers": ["basic"], "objects": [item], "hash_algo": "sha256"}
    answer = wire.http.post(f"/datasets/{repo}.git/info/lfs/objects/batch", json=body)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()["objects"][0]
    return found


def lfs_line(path: str, content: bytes) -> dict[str, Any]:
    return {"key": "lfsFile", "value": {"path": path, "algo": "sha256", "oid": hashlib.sha256(content).hexdigest()}}


def test_large_file_from_batch_to_commit(wire: Wire, repo: str) -> None:
    content = b"large " * 100_000
    actions = large(wire, repo, content)["actions"]
    size_and_oid = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content)}
    assert refusal(wire.http.post(actions["verify"]["href"], json=size_and_oid)) == (404, None)
    # The client sends the bytes without its token.
    assert httpx2.put(actions["upload"]["href"], content=content, trust_env=False).status_code == 200
    assert wire.http.post(actions["verify"]["href"], json=size_and_oid).status_code == 200
    assert "actions" not in large(wire, repo, content)
    assert wire.commit(repo, lfs_line("x.bin", content)).status_code == 200
    answer = wire.http.get(f"/datasets/{repo}/resolve/main/x.bin")
    assert answer.content == content
    assert answer.headers["ETag"] == f'"{hashlib.sha256(content).hexdigest()}"'


@pytest.mark.parametrize("sent", [b"", b"right", b"wrong bytes", b"right bytes and more"])
def test_large_files_with_wrong_bytes_are_refused(wire: Wire, repo: str, sent: bytes) -> None:
    content = b"right bytes"
    href = large(wire, repo, content)["actions"]["upload"]["href"]
    assert refusal(httpx2.put(href, content=sent, trust_env=False)) == (400, None)
    # Without an announced length the bytes themselves are counted.
    assert refusal(httpx2.put(href, content=iter([sent]), trust_env=False)) == (400, None)
    assert "actions" in large(wire, repo, content)
    assert refusal(wire.commit(repo, lfs_line("x.bin", content))) == (400, None)


def test_upload_permissions_cannot_be_forged_or_stretched(wire: Wire, repo: str) -> None:
    content = b"some bytes"
    href = large(wire, repo, content)["actions"]["upload"]["href"]
    base, _, ticket = href.rpartition("/")
    body, _, signature = ticket.partition(".")
    other = base64.urlsafe_b64encode(json.dumps({"repo": 1, "sha256": "0" * 64, "size": 1, "expires": 9**12}).encode())
    for forged in (
        body,
        f"{body}.",
        f"{body}.{'0' * 64}",
        f"{other.decode().rstrip('=')}.{signature}",
        "%C3%A9.%C3%A9",
    ):
        assert refusal(httpx2.put(f"{base}/{forged}", content=content, trust_env=False)) == (403, None)


def test_upload_permissions_end(tmp_path: Path) -> None:
    now = datetime(2026, 1, 31, tzinfo=UTC)
    with running(tmp_path, clock=lambda: now, limits=Limits(ticket_seconds=60)) as hub:
        accounts.add_user(hub.root, "ana")
        wire = Wire(hub.url, accounts.create_token(hub.root, "ana"))
        assert wire.create("r").status_code == 200
        assert wire.http.get("/api/datasets/ana/r").json()["createdAt"] == "2026-01-31T00:00:00.000Z"
        href = large(wire, "ana/r", b"some bytes")["actions"]["upload"]["href"]
        now += timedelta(seconds=61)
        assert refusal(httpx2.put(href, content=b"some bytes", trust_env=False)) == (403, None)


def test_a_hash_alone_opens_nobody_elses_file(wire: Wire, repo: str, hub_server: HubServer) -> None:
    content = b"confidential"
    assert wire.http.put(f"/api/datasets/{repo}/settings", json={"private": True}).status_code == 200
    httpx2.put(large(wire, repo, content)["actions"]["upload"]["href"], content=content, trust_env=False)
    assert wire.commit(repo, lfs_line("x.bin", content)).status_code == 200
    thief = Wire(hub_server.url, hub_server.user("wire-thief"))
    assert thief.create("loot").status_code == 200
    # Told to upload, although the store has the bytes: nothing says that they exist.
    assert "actions" in large(thief, "wire-thief/loot", content)
    assert refusal(thief.commit("wire-thief/loot", lfs_line("x.bin", content))) == (400, None)
    assert wire.http.put(f"/api/datasets/{repo}/settings", json={"private": False}).status_code == 200
    assert thief.commit("wire-thief/loot", lfs_line("x.bin", content)).status_code == 200


def test_paths_in_addresses_never_reach_the_disk(wire: Wire, repo: str, hub_server: HubServer) -> None:
    marker = hub_server.root / "marker.txt"
    marker.write_text("outside")
    port = urlsplit(hub_server.url).port
    paths = [
        f"/datasets/{repo}/resolve/main/../../../../marker.txt",
        f"/datasets/{repo}/resolve/main/%2e%2e%2f%2e%2e%2fmarker.txt",
        f"/datasets/{repo}/resolve/main//etc/passwd",
        f"/datasets/{repo}/resolve/main/%00",
        f"/datasets/{repo}/resolve/main/%ff",
        f"/datasets/{repo}/resolve/..%2f..%2f/marker.txt",
        "/../marker.txt",
        "/datasets/../../marker.txt",
        "//marker.txt",
    ]
    for path in paths:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status in (400, 401, 404)
        assert b"outside" not in answer.read()
        connection.close()


def test_requests_out_of_all_proportion(tmp_path: Path) -> None:
    limits = Limits(json_bytes=2000, line_bytes=2000, commit_bytes=5000, operations=3, object_bytes=100)
    with running(tmp_path, limits=limits) as hub:
        accounts.add_user(hub.root, "ana")
        wire = Wire(hub.url, accounts.create_token(hub.root, "ana"))
        assert wire.create("r").status_code == 200
        assert refusal(wire.http.post("/api/validate-yaml", json={"content": "x" * 3000})) == (413, None)
        assert refusal(wire.commit("ana/r", add("x", b"y" * 3000))) == (413, None)
        assert refusal(wire.commit("ana/r", *(add(f"x{n}", b"y" * 1100) for n in range(4)))) == (413, None)
        assert refusal(wire.commit("ana/r", *(add(f"x{n}", b"y") for n in range(4)))) == (413, None)
        assert large(wire, "ana/r", b"z" * 101)["error"]["code"] == 413
        with httpx2.Client(base_url=hub.url, trust_env=False) as client, pytest.raises(httpx2.TransportError):
            client.get("/healthz", headers={"X-Long": "x" * 2_000_000})
        assert wire.commit("ana/r", add("x")).status_code == 200


def test_public_address_is_used_in_links(tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    from rexrank.localhub import create_app

    app = create_app(tmp_path, public_url="https://hub.example/base/")
    accounts.add_user(tmp_path, "ana")
    headers = {"Authorization": f"Bearer {accounts.create_token(tmp_path, 'ana')}"}
    with TestClient(app, headers=headers) as client:
        created = client.post("/api/repos/create", json={"name": "r"}).json()
        assert created["url"] == "https://hub.example/base/ana/r"
        body = {"operation": "upload", "objects": [{"oid": "0" * 64, "size": 1}]}
        actions = client.post("/ana/r.git/info/lfs/objects/batch", json=body).json()["objects"][0]["actions"]
        assert actions["upload"]["href"].startswith("https://hub.example/base/lfs/upload/")


def test_other_host_names_are_refused_on_loopback(wire: Wire) -> None:
    assert refusal(wire.http.get("/healthz", headers={"Host": "rebound.example"})) == (421, None)
    assert wire.http.get("/healthz", headers={"Host": "localhost:1"}).status_code == 200


def test_tokens_count_only_in_the_header(wire: Wire, hub_server: HubServer) -> None:
    token = hub_server.user("wire-ana")
    anonymous = Wire(hub_server.url)
    for name in ("token", "access_token", "authorization", "Authorization"):
        assert refusal(anonymous.http.get(f"/api/whoami-v2?{name}={token}")) == (401, None)
        assert refusal(anonymous.http.get(f"/api/whoami-v2?{name}=Bearer%20{token}")) == (401, None)


def test_the_page_of_a_revision_shows_its_files(wire: Wire, repo: str) -> None:
    commit = wire.commit(repo, add("first.csv")).json()["commitOid"]
    wire.commit(repo, add("second.csv"))
    page = wire.http.get(f"/datasets/{repo}/tree/{commit}")
    assert page.status_code == 200
    assert f'href="/datasets/{repo}/resolve/{commit}/first.csv"' in page.text
    assert "second.csv" not in page.text
    assert "second.csv" in wire.http.get(f"/datasets/{repo}").text
    assert wire.http.get(f"/datasets/{repo}/tree/{'0' * 40}").status_code == 404


def test_pages_are_escaped_and_closed_to_scripts(wire: Wire, repo: str) -> None:
    assert wire.commit(repo, add("<script>alert(1)</script>.txt")).status_code == 200
    for address in ("/", f"/datasets/{repo}"):
        page = wire.http.get(address)
        assert page.status_code == 200
        assert page.headers["Content-Type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        assert page.headers["X-Content-Type-Options"] == "nosniff"
        assert "<script" not in page.text
    assert "&lt;script&gt;" in page.text
