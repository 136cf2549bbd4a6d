"""Checkpoints are found in a folder, a package, the Hub's cache or on the Hub; a sentence says why one is missing."""

import contextlib
import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from huggingface_hub import HfApi, constants
from localhub_fixtures import HubServer
from waiting import free_port, last_json, surroundings

from rexrank.encoders import all_encoders, downloads
from rexrank.encoders.digests import sha256_of
from rexrank.encoders.inventory import (
    CHECKPOINTS,
    CHEXBERT,
    MINILM,
    Checkpoint,
    UnknownCheckpoint,
    named,
    tokenizer_of,
    transformer,
)
from rexrank.encoders.weights import MissingWeights, Weights
from rexrank.errors import NoFolder, WrongSetting
from rexrank.localhub import Fault, running

ROOT = Path(__file__).resolve().parents[1]
FILES = {"config.json": b'{"model_type": "bert"}', "model.safetensors": b"numbers", "vocab.txt": b"[PAD]\nno\n"}
ABSENT = "0" * 40


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an empty cache, no settings and no Hub."""
    for name in list(os.environ):
        if name.startswith("REXRANK_") or name in ("HF_ENDPOINT", "HF_TOKEN", "HF_HUB_OFFLINE"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("REXRANK_CACHE", str(tmp_path / "rexrank"))
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files, in folders as their paths say."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def publish(hub: HubServer, repo: str, files: Mapping[str, bytes], private: bool = False) -> str:
    """Put files into a model repo; returns the commit."""
    owner = repo.split("/")[0]
    api = HfApi(hub.url, token=hub.user(owner))
    api.create_repo(repo, exist_ok=True, private=private)
    for name, content in files.items():
        done = api.upload_file(path_or_fileobj=content, path_in_repo=name, repo_id=repo)
    return str(done.oid)


def machine(hub: HubServer, place: Path) -> dict[str, str]:
    """The environment of another process on a machine with an empty cache."""
    return {
        **surroundings("HF_", "REXRANK_"),
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(place / "home"),
        "REXRANK_CACHE": str(place / "rexrank"),
        "NO_PROXY": "127.0.0.1",
    }


def missing(checkpoint: Checkpoint, weights: Weights | None = None) -> str:
    """The sentence about a checkpoint that is not here."""
    with pytest.raises(MissingWeights) as raised:
        (weights or Weights()).locate(checkpoint)
    sentence = str(raised.value)
    assert "\n" not in sentence
    assert sentence.startswith(f"weights {checkpoint.repo} ({', '.join(checkpoint.files)}) not found: ")
    return sentence


# In a folder


@pytest.mark.parametrize("layout", ["ana/tiny", "ana--tiny", "tiny", "bob/small", "bob--small", "small"])
def test_each_layout_of_a_folder_serves(place: Path, layout: str) -> None:
    write(place / "models" / layout, FILES)
    found = Weights(place / "models").locate(transformer("tiny", "ana/tiny", moved_to="bob/small"))
    assert found.folder == place / "models" / layout
    assert set(found.files) == set(FILES)
    assert found.sha256["model.safetensors"] == hashlib.sha256(b"numbers").hexdigest()
    assert found.revision is None


def test_the_folder_itself_holds_files_whose_names_say_what_they_are(place: Path) -> None:
    write(place / "models", {"chexbert.pth": b"x", **FILES})
    assert Weights(place / "models").locate(CHEXBERT).folder == place / "models"
    # A config.json alone could be that of any model.
    missing(transformer("tiny", "ana/tiny"), Weights(place / "models"))
    assert Weights(place / "models").locate(transformer("tiny", "ana/models")).folder == place / "models"


def test_the_environment_names_a_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REXRANK_WEIGHTS", str(write(place / "models", {"chexbert.pth": b"x"})))
    assert Weights().locate(CHEXBERT).source == "folder"
    (place / "other").mkdir()
    assert "looked in the folder of --weights and" in missing(CHEXBERT, Weights(place / "other"))


def test_a_folder_that_is_none_is_refused_where_it_is_given_and_said_where_it_is_set(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(place, {"file": b"x"})
    for wrong in ("modles", str(place / "file")):
        with pytest.raises(NoFolder, match="weights: there is no folder"):
            Weights(wrong)
    monkeypatch.setenv("REXRANK_WEIGHTS", str(place / "modles"))
    sentence = missing(CHEXBERT)
    assert "looked in REXRANK_WEIGHTS (no folder) and the Hub's cache" in sentence
    assert "modles" not in sentence


def test_a_folder_is_found_however_it_is_written(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(place / "models", {"chexbert.pth": b"x"})
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOME", str(place))
    for words in ("models", "models/", "./models", "~/models", "~/models/", "models/../models"):
        monkeypatch.setenv("REXRANK_WEIGHTS", words)
        assert Weights().locate(CHEXBERT).source == Weights(words).locate(CHEXBERT).source == "folder"


def test_a_folder_without_the_checkpoint_falls_through(place: Path) -> None:
    (place / "models").mkdir()
    found = Weights(place / "models").locate(MINILM)
    assert (found.source, found.status) == ("package", "verified")
    assert found.short == "53aa5117"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "chexbert.pth is empty"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
            "chexbert.pth is a pointer of Git LFS",
        ),
    ],
)
def test_what_is_not_the_file_is_named(place: Path, content: bytes, said: str) -> None:
    sentence = missing(CHEXBERT, Weights(write(place / "models", {"chexbert.pth": content})))
    assert f"({said}" in sentence
    assert str(place) not in sentence


def test_a_file_that_cannot_be_read_is_named(place: Path) -> None:
    folder = write(place / "models", {"chexbert.pth": b"x"})
    (folder / "chexbert.pth").chmod(0)
    if os.access(folder / "chexbert.pth", os.R_OK):
        pytest.skip("this user reads every file")
    assert "chexbert.pth cannot be read in the folder of --weights" in missing(CHEXBERT, Weights(folder))


# Checksums


def test_the_status_of_a_checksum(place: Path) -> None:
    folder = write(place / "models/ana/tiny", FILES)
    digest = hashlib.sha256(b"numbers").hexdigest()
    weights = Weights(place / "models")
    plain = weights.locate(transformer("tiny", "ana/tiny"))
    assert (plain.status, plain.verified) == ("unverified checksum", False)
    assert plain.short == f"unverified-{plain.fingerprint[:8]}"
    known = weights.locate(transformer("tiny", "ana/tiny", sha256=digest))
    assert (known.status, known.short) == ("verified", digest[:8])
    other = weights.locate(transformer("tiny", "ana/tiny", sha256="0" * 64))
    assert (other.status, other.short) == ("unverified checksum, not the published one", plain.short)
    (folder / "vocab.txt").write_bytes(b"[PAD]\nyes\n")
    assert weights.locate(transformer("tiny", "ana/tiny")).fingerprint != plain.fingerprint


# Digests of large files


def test_a_large_file_is_hashed_once(place: Path) -> None:
    path = write(place, {"large": b"a" * 2**20}) / "large"
    time.sleep(0.15)
    right = hashlib.sha256(b"a" * 2**20).hexdigest()
    assert sha256_of(path) == right
    (record,) = (place / "rexrank/digests").iterdir()
    forged = record.read_text().replace(right, "f" * 64)
    record.write_text(forged)
    assert sha256_of(path) == right, "a record whose check does not agree was believed"
    # That it is looked at all shows when a valid record says something else.
    from rexrank.encoders.digests import _line, _state

    record.write_text(_line(_state(path.stat()), "f" * 64))
    assert sha256_of(path) == "f" * 64
    os.utime(path)
    assert sha256_of(path) == right


@pytest.mark.parametrize("damage", [b"", b"\xff\x00", b"1 2 3", b"{}"])
def test_a_damaged_record_is_ignored(place: Path, damage: bytes) -> None:
    path = write(place, {"large": b"b" * 2**20}) / "large"
    time.sleep(0.15)
    first = sha256_of(path)
    (record,) = (place / "rexrank/digests").iterdir()
    whole = record.read_bytes()
    record.write_bytes(damage)
    assert sha256_of(path) == first
    assert record.read_bytes() == whole


def test_a_file_written_a_moment_ago_is_not_taken_as_settled(place: Path) -> None:
    path = write(place, {"large": b"c" * 2**20}) / "large"
    sha256_of(path)
    assert not (place / "rexrank/digests").exists()


def test_without_a_place_for_records_files_are_hashed_all_the_same(place: Path) -> None:
    path = write(place, {"large": b"d" * 2**20, "rexrank": b"a file where the folder would be"}) / "large"
    time.sleep(0.15)
    assert sha256_of(path) == hashlib.sha256(b"d" * 2**20).hexdigest()


# On the Hub


@pytest.fixture
def hub(hub_server: HubServer, monkeypatch: pytest.MonkeyPatch) -> HubServer:
    """The Hub of the session, named by the environment."""
    monkeypatch.setenv("HF_ENDPOINT", hub_server.url)
    return hub_server


def test_it_is_fetched_once_and_then_found_without_the_hub(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = publish(hub, "weights-ana/tiny", FILES)
    checkpoint = transformer("tiny", "weights-ana/tiny", revision=commit)
    fetched = Weights().locate(checkpoint)
    assert {name: path.read_bytes() for name, path in fetched.files.items()} == FILES
    assert (fetched.revision, fetched.source) == (commit, "cache")
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    assert Weights().locate(checkpoint) == fetched
    assert Weights(download=False).find(checkpoint) == fetched


def test_a_hub_without_the_pinned_commit_gives_its_newest(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(hub, "weights-ana/mirror", {"chexbert.pth": b"old"})
    checkpoint = replace(CHEXBERT, repo="weights-ana/mirror", revision=ABSENT)
    newest = publish(hub, "weights-ana/mirror", {"chexbert.pth": b"new"})
    assert Weights().locate(checkpoint).revision == newest
    newer = publish(hub, "weights-ana/mirror", {"chexbert.pth": b"newer"})
    assert Weights().locate(checkpoint).revision == newer
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    assert Weights().locate(checkpoint).revision == newer


def test_without_a_pinned_commit_what_was_fetched_stays(hub: HubServer) -> None:
    first = publish(hub, "weights-ana/loose", FILES)
    checkpoint = transformer("loose", "weights-ana/loose")
    assert Weights().locate(checkpoint).revision == first
    publish(hub, "weights-ana/loose", {"model.safetensors": b"others"})
    assert Weights().locate(checkpoint).revision == first


def test_a_repo_is_found_under_its_old_and_its_new_name(hub: HubServer) -> None:
    commit = publish(hub, "weights-ana/moved", FILES)
    assert Weights().locate(transformer("x", "weights-ana/gone", moved_to="weights-ana/moved")).revision == commit
    assert Weights().locate(transformer("x", "weights-ana/moved", moved_to="weights-ana/gone")).revision == commit


def test_files_that_another_program_left_out_are_fetched_too(hub: HubServer) -> None:
    from huggingface_hub import hf_hub_download

    commit = publish(hub, "weights-ana/part", FILES)
    checkpoint = transformer("part", "weights-ana/part", revision=commit)
    for name in checkpoint.files:
        hf_hub_download("weights-ana/part", name, revision=commit, endpoint=hub.url)
    assert set(Weights(download=False).locate(checkpoint).files) == set(checkpoint.files)
    assert set(Weights().locate(checkpoint).files) == set(FILES)


def test_a_damaged_file_of_the_cache_is_not_trusted(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    content = os.urandom(2**20)
    commit = publish(hub, "weights-ana/damaged", {"chexbert.pth": content})
    checkpoint = replace(CHEXBERT, repo="weights-ana/damaged", revision=commit)
    path = Weights().locate(checkpoint).files["chexbert.pth"]
    spoilt = bytearray(content)
    spoilt[1000] ^= 1
    path.resolve().write_bytes(spoilt)
    assert "(chexbert.pth is damaged in the Hub's cache), and the Hub of HF_ENDPOINT was not asked" in missing(
        checkpoint, Weights(download=False)
    )
    assert Weights().locate(checkpoint).files["chexbert.pth"].read_bytes() == content


def test_the_token_of_the_environment_opens_a_private_repo(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(hub, "weights-ana/private", {"chexbert.pth": b"x"}, private=True)
    checkpoint = replace(CHEXBERT, repo="weights-ana/private", revision=None)
    assert "has no such repo, or shows it to other tokens alone; set HF_TOKEN, or" in missing(checkpoint)
    monkeypatch.setenv("HF_TOKEN", hub.user("weights-ana"))
    assert Weights().locate(checkpoint).files["chexbert.pth"].read_bytes() == b"x"


def test_terms_that_are_not_accepted_are_named(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(hub, "weights-ana/gated", {"chexbert.pth": b"x"})
    HfApi(hub.url, token=hub.user("weights-ana")).update_repo_settings("weights-ana/gated", gated="manual")
    monkeypatch.setenv("HF_TOKEN", hub.user("weights-bob"))
    sentence = missing(replace(CHEXBERT, repo="weights-ana/gated", revision=None))
    assert "gives them to those alone who accept their terms; do so on its page and set HF_TOKEN" in sentence


def test_a_repo_without_the_file_says_so(hub: HubServer) -> None:
    publish(hub, "weights-ana/other", {"config.json": b"{}"})
    sentence = missing(transformer("x", "weights-ana/other"))
    assert "the repo on the Hub of HF_ENDPOINT has no model.safetensors; name a folder" in sentence


@pytest.mark.parametrize("content", [b"", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"])
def test_a_repo_with_an_empty_file_or_a_pointer_says_so(hub: HubServer, content: bytes) -> None:
    repo = f"weights-ana/hollow-{len(content)}"
    publish(hub, repo, {"chexbert.pth": content})
    sentence = missing(replace(CHEXBERT, repo=repo, revision=None))
    assert "chexbert.pth is" in sentence
    assert "on the Hub of HF_ENDPOINT" in sentence


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("REXRANK_DOWNLOAD", "0", "downloads are off (REXRANK_DOWNLOAD=0)"),
        ("HF_HUB_OFFLINE", "1", "downloads are off (HF_HUB_OFFLINE=1)"),
    ],
)
def test_downloads_can_be_forbidden(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    commit = publish(hub, "weights-ana/forbidden", {"chexbert.pth": b"x"})
    monkeypatch.setenv(name, value)
    assert said in missing(replace(CHEXBERT, repo="weights-ana/forbidden", revision=commit))


def test_a_setting_that_is_neither_yes_nor_no_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REXRANK_DOWNLOAD", "maybe")
    with pytest.raises(WrongSetting, match="set it to 0 or 1"):
        Weights().locate(CHEXBERT)


def test_a_cache_that_cannot_be_written_is_named(hub: HubServer, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = publish(hub, "weights-ana/locked", {"chexbert.pth": b"x"})
    (place / "locked").write_bytes(b"")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(place / "locked/hub"))
    sentence = missing(replace(CHEXBERT, repo="weights-ana/locked", revision=commit))
    assert "and the folder for them cannot be written (not a directory); set HF_HOME to another folder" in sentence


def test_a_full_disk_is_said_before_anything_is_fetched(hub: HubServer, place: Path) -> None:
    room = downloads.room_in(place)
    commit = publish(hub, "weights-ana/huge", {"chexbert.pth": b"x"})
    checkpoint = replace(CHEXBERT, repo="weights-ana/huge", revision=commit)
    there = replace(downloads.published(checkpoint), sizes={"chexbert.pth": room + 2**30})
    with pytest.raises(downloads.NotFetched, match="the disk has no room for them") as raised:
        downloads.fetch_into(checkpoint, place / "models", there)
    assert raised.value.advice == "free some, or name another folder"


SHORT_DISK = """
import json, resource, sys
from dataclasses import replace
from rexrank.encoders.inventory import CHEXBERT
from rexrank.encoders.weights import MissingWeights, Weights
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
try:
    Weights().locate(replace(CHEXBERT, repo=sys.argv[1], revision=sys.argv[2]))
except MissingWeights as error:
    print(json.dumps(str(error)))
"""


def test_a_disk_that_fills_up_meanwhile_leaves_nothing_half(hub: HubServer, place: Path) -> None:
    commit = publish(hub, "weights-ana/filling", {"chexbert.pth": os.urandom(4 * 2**20)})
    sentence = last_json(SHORT_DISK, ["weights-ana/filling", commit], ROOT, machine(hub, place), 60)
    assert "and the folder for them cannot be written (file too large); set HF_HOME to another folder" in sentence
    assert not [path for path in (place / "home").rglob("*") if path.is_file() and path.stat().st_size > 2**16]


@pytest.mark.parametrize("repo", ["ana/x--y", "ana/x..y", "ana/x-", f"ana/{'x' * 100}"])
def test_a_name_that_no_repo_can_have_is_one_sentence(hub: HubServer, repo: str) -> None:
    assert "the Hub of HF_ENDPOINT refused; " in missing(transformer("x", repo))


# A Hub that fails


def test_a_hub_that_does_not_answer_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        reached: list[int] = []

        def count() -> None:
            while True:
                try:
                    connection, _ = silent.accept()
                except OSError:
                    return
                reached.append(1)
                connection.close()

        threading.Thread(target=count, daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        first = missing(CHEXBERT)
        asked = len(reached)
        assert "and the Hub of HF_ENDPOINT did not answer; fetch them with `rexrank weights pull chexbert`" in first
        assert asked
        for checkpoint in list(CHECKPOINTS.values())[:8]:
            missing(checkpoint)
        assert missing(CHEXBERT) == first
        assert len(reached) == asked
        silent.shutdown(socket.SHUT_RDWR)


class Breaking:
    """Hands connections on to a Hub, and dies for good when enough bytes have come back."""

    def __init__(self, url: str, limit: int) -> None:
        self.target = ("127.0.0.1", urlsplit(url).port)
        self.left = limit
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.open = [self.listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(self.target)
                self.open += [client, server]
                threading.Thread(target=self._pump, args=(client, server, 0), daemon=True).start()
                threading.Thread(target=self._pump, args=(server, client, 1), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, weight: int) -> None:
        with contextlib.suppress(OSError):
            while self.left > 0 and (piece := source.recv(65536)):
                target.sendall(piece)
                self.left -= len(piece) * weight
        for each in self.open if self.left <= 0 else [target]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


def test_a_hub_that_dies_in_mid_download_leaves_nothing_half(
    hub: HubServer, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = publish(hub, "weights-ana/long", {"chexbert.pth": os.urandom(8 * 2**20)})
    checkpoint = replace(CHEXBERT, repo="weights-ana/long", revision=commit)
    monkeypatch.setenv("HF_ENDPOINT", Breaking(hub.url, 3 * 2**20).url)
    assert "and the Hub of HF_ENDPOINT broke off; fetch them with" in missing(checkpoint)
    assert Weights(download=False).find(checkpoint) is None
    assert not [path for path in (place / "hub").rglob("*") if path.is_file() and path.stat().st_size > 2**20]
    started = time.monotonic()
    assert "did not answer" in missing(CHEXBERT)
    assert time.monotonic() - started < 1
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    assert Weights().locate(checkpoint).files["chexbert.pth"].stat().st_size == 8 * 2**20


class Plan:
    """Spoils requests about files as a test says."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.place = ""

    def __call__(self, method: str, path: str) -> Fault | None:
        of_files = method in ("GET", "HEAD") and ("/resolve/" in path or "/api/models/" in path)
        return self.fault if of_files and self.place in path else None


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HubServer, Plan]]:
    """A Hub that fails as its plan says."""
    plan = Plan()
    with running(tmp_path_factory.mktemp("faulty"), fault=plan) as hub:
        server = HubServer(hub.url, hub.root)
        publish(server, "weights-ana/faulty", {"chexbert.pth": b"x"})
        yield server, plan


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(status=401, message="Invalid credentials in Authorization header"), "does not accept this token"),
        (Fault(status=403), "does not accept this token"),
        (Fault(status=429, retry_after=1), "asks for patience; try again later"),
        (Fault(status=503), "did not answer"),
        (Fault(status=404), "has not what was asked for; look at HF_ENDPOINT, or name a folder"),
        (Fault(status=418), "refused"),
        # The client takes a page of another server for an answer.
        (Fault(status=200), "answered what no Hub does; look at HF_ENDPOINT and at proxies, or name a folder"),
        (Fault(cut=True), "did not answer"),
    ],
)
def test_every_refusal_is_one_sentence(
    faulty: tuple[HubServer, Plan], monkeypatch: pytest.MonkeyPatch, fault: Fault, said: str
) -> None:
    server, plan = faulty
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setattr(downloads, "_silent", {})
    plan.fault, plan.place = fault, ""
    assert f"the Hub of HF_ENDPOINT {said}" in missing(replace(CHEXBERT, repo="weights-ana/faulty", revision=None))


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ("/api/models/weights-ana/faulty", Fault(status=503)),
        ("/weights-ana/faulty/resolve/", Fault(status=200)),  # a file of another size than announced
        ("/weights-ana/faulty/resolve/", Fault(cut=True)),
    ],
)
def test_one_spoilt_repo_does_not_cost_the_others(
    faulty: tuple[HubServer, Plan], monkeypatch: pytest.MonkeyPatch, part: str, fault: Fault
) -> None:
    server, plan = faulty
    publish(server, "weights-ana/sound", {"chexbert.pth": b"x"})
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setattr(downloads, "_silent", {})
    plan.fault, plan.place = fault, part
    missing(replace(CHEXBERT, repo="weights-ana/faulty", revision=None))
    found = Weights().locate(replace(CHEXBERT, repo="weights-ana/sound", revision=None))
    assert found.files["chexbert.pth"].read_bytes() == b"x"


def test_what_is_large_is_announced_before_it_is_fetched(
    faulty: tuple[HubServer, Plan], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, plan = faulty
    publish(server, "weights-ana/large", {"chexbert.pth": bytes(12_000_000)})
    publish(server, "weights-ana/small", {"chexbert.pth": bytes(1_000)})
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    large, small = (replace(CHEXBERT, repo=f"weights-ana/{name}", revision=None) for name in ("large", "small"))
    plan.fault, plan.place = Fault(status=404), "/resolve/"  # nothing arrives
    missing(large, Weights(progress=True))
    way_out = "REXRANK_DOWNLOAD=0, or --no-download of `rexrank score`, leaves it out"
    line = f"fetching chexbert, 12.0 MB, from the Hub of HF_ENDPOINT ({way_out})\n"
    assert capsys.readouterr().err == line
    plan.fault = None
    Weights(progress=True).locate(large)
    assert capsys.readouterr().err == line
    Weights(progress=True).locate(large)
    Weights(progress=True).locate(small)
    assert capsys.readouterr().err == ""


# What is known of the published checkpoints


def test_the_inventory_is_sound() -> None:
    for checkpoint in CHECKPOINTS.values():
        assert checkpoint.revision is None or (len(checkpoint.revision) == 40 and int(checkpoint.revision, 16))
        assert set(checkpoint.sha256) <= {*checkpoint.files, *checkpoint.optional}
        assert all(len(digest) == 64 and int(digest, 16) for digest in checkpoint.sha256.values())
        assert checkpoint.size > 0
        assert checkpoint.licence
        assert checkpoint.serves
        # A Hub of one's own has no repos without an owner.
        assert "/" in checkpoint.repos[0]


def test_a_tokenizer_is_known_by_both_of_its_names() -> None:
    assert tokenizer_of("google-bert/bert-base-uncased") is tokenizer_of("bert-base-uncased")
    assert tokenizer_of("ana/own").repo == "ana/own"


def test_what_belongs_to_weights_is_what_encoders_load(seeded_weights: Path) -> None:
    for encoder in all_encoders():
        weights, *others = encoder.checkpoints
        located = [one.checkpoint for one in encoder.locate(Weights(seeded_weights))]
        tokenizers = [one.repo for one in (*others, *located) if not one.holds_weights]
        assert set(tokenizers) <= set(weights.tokenizers), encoder.name
        assert bool(weights.tokenizers) == bool(tokenizers), encoder.name


def test_names_stand_for_checkpoints() -> None:
    assert named(["CheXbert", "chexbert"]) == [CHEXBERT]
    assert [one.name for one in named(["StanfordAIMI/RRG_scorers"])] == [
        "chexbert",
        "radgraph",
        "radgraph-xl",
        "modern-radgraph-xl",
    ]
    assert named(["google-bert/bert-base-uncased"]) == [CHECKPOINTS["bert-base-uncased"]]
    # BERTScore takes any encoder of the Hub.
    assert named(["ana/encoder"]) == [transformer("ana--encoder", "ana/encoder")]
    with pytest.raises(UnknownCheckpoint, match="did you mean chexbert"):
        named(["chexbrt"])


# Time


def test_nothing_heavy_is_imported() -> None:
    code = "import sys, rexrank.encoders.weights; print([m for m in sys.modules if m.split('.')[0] in sys.argv[1:]])"
    heavy = ["huggingface_hub", "httpx2", "torch", "transformers", "tqdm"]
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_finding_everything_is_quick(place: Path) -> None:
    folder = place / "models"
    for checkpoint in CHECKPOINTS.values():
        files = {name: (b"x" * 2**20 if "." in name else b"x") for name in checkpoint.files}
        write(folder / checkpoint.repo, {**files, "tokenizer.json": b"x" * 2**20})
    time.sleep(0.15)
    weights = Weights(folder)
    for checkpoint in CHECKPOINTS.values():
        weights.locate(checkpoint)
    started = time.perf_counter()
    for checkpoint in CHECKPOINTS.values():
        weights.locate(checkpoint)
    assert time.perf_counter() - started < 0.2


# Several processes

PULL = """
import json, sys
from dataclasses import replace
from rexrank.encoders.inventory import CHEXBERT
from rexrank.encoders.weights import Weights
found = Weights().locate(replace(CHEXBERT, repo=sys.argv[1], revision=sys.argv[2]))
print(json.dumps([found.sha256, found.revision]))
"""


def test_two_processes_fetch_at_once(hub: HubServer, place: Path) -> None:
    content = os.urandom(4 * 2**20)
    commit = publish(hub, "weights-ana/both", {"chexbert.pth": content})
    command = [sys.executable, "-c", PULL, "weights-ana/both", commit]
    processes = [subprocess.Popen(command, env=machine(hub, place), cwd=ROOT, stdout=subprocess.PIPE) for _ in range(2)]
    answers = [json.loads(process.communicate(timeout=60)[0]) for process in processes]
    assert answers == [[{"chexbert.pth": hashlib.sha256(content).hexdigest()}, commit]] * 2
