"""``kill -9`` of the server at any moment: what was acknowledged is whole, nothing is half there."""

import hashlib
import http.client
import json
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import get_session
from waiting import until

from rexrank.localhub import accounts, running

KILLS = 6


class Server:
    """The Hub as a process that can be killed and started again."""

    def __init__(self, root: Path, largest_file: int | None = None) -> None:
        self.root = root
        self.largest_file = largest_file
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "rexrank", "hub", "serve", "--root", str(self.root), "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if self.largest_file is not None:
            # Stands in for a full disk: the kernel refuses to let a file grow further.
            resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (self.largest_file, self.largest_file))
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().split()[2]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)
        assert self.process.stdout is not None
        self.process.stdout.close()


def contents(writer: int, number: int) -> dict[str, bytes]:
    """Two regular files and a large one that belong together; all three name the commit."""
    seed = f"{writer}-{number} "
    return {
        f"w{writer}/a.json": seed.encode(),
        f"w{writer}/{number}/b.json": seed.encode() * 100,
        f"w{writer}/c.bin": seed.encode() * 100_000,
    }


def write_until_killed(api: HfApi, writer: int, first: int, acknowledged: dict[str, tuple[int, int]]) -> None:
    """Commit one set of files after another until the server is gone; note every answer of success."""
    number = first
    while True:
        operations = [CommitOperationAdd(path, content) for path, content in contents(writer, number).items()]
        try:
            commit = api.create_commit("ana/r", operations, commit_message=f"{writer}-{number}", repo_type="dataset")
        except Exception:  # Whatever a client raises when its server dies under it.
            return
        acknowledged[commit.oid] = (writer, number)
        number += 1


def check_store(root: Path) -> None:
    """Every content is what its name says, and the records agree with themselves."""
    for blob in (root / "blobs").glob("??/*"):
        assert hashlib.sha256(blob.read_bytes()).hexdigest() == blob.parent.name + blob.name
    with sqlite3.connect(root / "hub.sqlite3") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchone() is None
    connection.close()


def check_commit(api: HfApi, oid: str, writer: int, number: int) -> None:
    """All files of a commit are there with their contents."""
    headers = {"Authorization": f"Bearer {api.token}"}
    with httpx2.Client(base_url=api.endpoint, headers=headers, trust_env=False, verify=False) as http:
        for path, content in contents(writer, number).items():
            assert http.get(f"/datasets/ana/r/resolve/{oid}/{path}").content == content


def once(method: str, url: str, **options: Any) -> httpx2.Response:
    """One request of the client, without its repeats."""
    return get_session().request(method, url, **options)


@pytest.mark.slow
def test_kills_in_the_middle_of_uploads_and_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The client's patience with a dead server, five waits of up to eight seconds, adds nothing here.
    monkeypatch.setattr("huggingface_hub._commit_api.http_backoff", once)
    monkeypatch.setattr("huggingface_hub.lfs.http_backoff", once)
    accounts.add_user(tmp_path, "ana")
    token = accounts.create_token(tmp_path, "ana")
    server = Server(tmp_path)
    HfApi(server.url, token=token).create_repo("ana/r", repo_type="dataset")
    acknowledged: dict[str, tuple[int, int]] = {}
    randomness = random.Random(0)
    for life in range(KILLS):
        api = HfApi(server.url, token=token)
        writers = [
            threading.Thread(target=write_until_killed, args=(api, writer, life * 10_000, acknowledged), daemon=True)
            for writer in range(3)
        ]
        for writer in writers:
            writer.start()
        time.sleep(randomness.uniform(0.3, 0.8))
        server.kill()
        for writer in writers:
            writer.join(timeout=60)
            assert not writer.is_alive()
        check_store(tmp_path)
        server.start()
    try:
        api = HfApi(server.url, token=token)
        history = {commit.commit_id: commit.title for commit in api.list_repo_commits("ana/r", repo_type="dataset")}
        assert len(acknowledged) >= KILLS
        assert set(acknowledged) <= set(history)
        # A commit whose answer was lost is there as a whole, or not at all.
        for oid, title in history.items():
            if title != "initial commit":
                check_commit(api, oid, *map(int, title.split("-")))
        api.upload_file(path_or_fileobj=b"on", path_in_repo="goes", repo_id="ana/r", repo_type="dataset")
    finally:
        server.kill()


def test_requests_that_break_off_leave_nothing(tmp_path: Path) -> None:
    content = b"x" * 5_000_000
    item = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content)}
    header = {"key": "header", "value": {"summary": "s"}}
    file = {"key": "file", "value": {"path": "x", "content": "YQ==", "encoding": "base64"}}
    lines = "".join(json.dumps(line) + "\n" for line in (header, file)).encode()
    incoming = tmp_path / "incoming"
    blob_of_file = tmp_path / "blobs" / "ca" / hashlib.sha256(b"a").hexdigest()[2:]
    with running(tmp_path) as hub:
        accounts.add_user(hub.root, "ana")
        api = HfApi(hub.url, token=accounts.create_token(hub.root, "ana"))
        api.create_repo("ana/r", repo_type="dataset")
        head = api.repo_info("ana/r", repo_type="dataset").sha
        headers = {"Authorization": f"Bearer {api.token}"}
        batch = {"operation": "upload", "objects": [item]}
        answer = httpx2.post(f"{hub.url}/datasets/ana/r.git/info/lfs/objects/batch", json=batch, headers=headers)
        href = answer.json()["objects"][0]["actions"]["upload"]["href"]
        for method, url, part, arrived in (
            ("PUT", href, content[:3_000_000], lambda: any(incoming.iterdir())),
            ("POST", f"{hub.url}/api/datasets/ana/r/commit/main", lines, blob_of_file.exists),
        ):
            connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=30)
            connection.putrequest(method, urlsplit(url).path)
            connection.putheader("Authorization", headers["Authorization"])
            connection.putheader("Content-Length", str(len(content)))
            connection.endheaders()
            connection.send(part)
            until(arrived)
            connection.close()
        until(lambda: not any(incoming.iterdir()))
        assert api.repo_info("ana/r", repo_type="dataset").sha == head
        assert not (tmp_path / "blobs" / item["oid"][:2] / item["oid"][2:]).exists()
        check_store(tmp_path)


def test_a_full_disk_refuses_a_write_and_keeps_the_rest(tmp_path: Path) -> None:
    accounts.add_user(tmp_path, "ana")
    server = Server(tmp_path, largest_file=3_000_000)
    try:
        api = HfApi(server.url, token=accounts.create_token(tmp_path, "ana"))
        api.create_repo("ana/r", repo_type="dataset")
        operation = CommitOperationAdd("x.txt", b"x" * 4_000_000)
        with pytest.raises(HfHubHTTPError) as raised:
            api.create_commit("ana/r", [operation], commit_message="c", repo_type="dataset")
        assert raised.value.response.status_code == 507
        assert not any((tmp_path / "incoming").iterdir())
        api.upload_file(path_or_fileobj=b"small", path_in_repo="y", repo_id="ana/r", repo_type="dataset")
        assert api.list_repo_files("ana/r", repo_type="dataset") == [".gitattributes", "y"]
    finally:
        server.kill()
