"""``rexrank weights``: what is here, what is missing, and what `pull` brings, from the Hub to a machine without one."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import HfApi, constants
from localhub_fixtures import HubServer
from waiting import free_port, surroundings

from rexrank.cli import main
from rexrank.encoders import downloads
from rexrank.encoders.downloads import shown_size
from rexrank.encoders.inventory import CHECKPOINTS, Checkpoint
from rexrank.encoders.weights import Weights
from rexrank.localhub import Fault, running
from rexrank.verification.seeded import make

ROOT = Path(__file__).resolve().parents[1]
_PUBMEDBERT = "BiomedNLP-PubMedBERT-base-uncased-abstract"
PUBLISHED = ("chexbert", "bert-base-uncased", "radgraph-xl", "BiomedVLP-CXR-BERT-general", "radgraph", _PUBMEDBERT)


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few tiny checkpoints in the published layouts."""
    folder = tmp_path_factory.mktemp("seeded")
    make(folder, "tiny", PUBLISHED)
    return folder


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, seeded: Path) -> Iterator[HubServer]:
    """A Hub that holds them under the names of the public one."""
    with running(tmp_path_factory.mktemp("hub")) as running_hub:
        server = HubServer(running_hub.url, running_hub.root)
        for name in PUBLISHED:
            checkpoint = CHECKPOINTS[name]
            repo = checkpoint.repos[0]
            api = HfApi(server.url, token=server.user(repo.split("/")[0]))
            api.create_repo(repo, exist_ok=True)
            api.upload_folder(repo_id=repo, folder_path=seeded / checkpoint.repo)
        yield server


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an empty cache and no Hub."""
    for name in list(os.environ):
        if name.startswith("REXRANK_") or name in ("HF_TOKEN", "HF_HUB_OFFLINE"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REXRANK_HOME", str(tmp_path / "rexrank"))
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str | Path, code: int = 0) -> tuple[str, str]:
    """Run the command; returns what it prints on stdout and stderr."""
    got = main(["weights", *map(str, words)])
    out, err = capsys.readouterr()
    assert got == code, err
    return out, err


def entries(capsys: pytest.CaptureFixture[str], *words: str | Path) -> dict[str, dict[str, object]]:
    """The list as JSON, by name."""
    return {entry["name"]: entry for entry in json.loads(run(capsys, "--json", *words)[0])}


def same(checkpoint: Checkpoint, folder: Path, seeded: Path) -> bool:
    """Whether a folder of weights holds the files of a checkpoint as they were published, and none beside them."""
    made = {path.name: path.read_bytes() for path in (seeded / checkpoint.repo).iterdir()}
    here = {path.name: path.read_bytes() for path in (folder / checkpoint.repo).iterdir()}
    return here == made


# The list


def test_the_list_shows_every_checkpoint_without_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    listed = entries(capsys)
    assert list(listed) == list(CHECKPOINTS)
    assert listed["chexbert"]["state"] == "missing"
    assert listed["minilm"] | {"folder": None} == {
        "name": "minilm",
        "repo": "sentence-transformers/all-MiniLM-L6-v2",
        "files": ["config.json", "model.safetensors"],
        "state": "present",
        "where": "package",
        "folder": None,
        "fault": None,
        "checksum": "verified",
        "revision": None,
        "size": listed["minilm"]["size"],
        "licence": CHECKPOINTS["minilm"].licence,
        "serves": "bertscore_minilm",
    }
    # A Hub that was asked would be remembered as silent.
    assert os.environ["HF_ENDPOINT"] not in downloads._silent


def test_the_table_says_the_same_in_words(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    table = run(capsys)[0]
    assert max(map(len, table.splitlines())) < 80
    words = " ".join(table.split())
    for checkpoint in CHECKPOINTS.values():
        assert f"for {checkpoint.serves}; licence: {checkpoint.licence}" in words
    assert "chexbert 1.3 GB missing" in words
    assert "minilm 91.6 MB present in an installed package, verified" in words
    assert "missing: `rexrank weights pull NAME` fetches it" in words


def test_a_folder_and_its_faults_are_shown(capsys: pytest.CaptureFixture[str], seeded: Path, place: Path) -> None:
    (place / "models/StanfordAIMI/RRG_scorers").mkdir(parents=True)
    (place / "models/StanfordAIMI/RRG_scorers/chexbert.pth").write_bytes(b"")
    found = entries(capsys, "chexbert", "--weights", place / "models")["chexbert"]
    assert (found["state"], found["fault"]) == ("missing", "chexbert.pth is empty in the folder of --weights")
    table = run(capsys, "--weights", seeded, "chexbert", "bert-base-uncased")[0]
    assert "present in the folder given, unverified checksum, not the published one" in table
    assert "present in the folder given, unverified checksum" in table
    assert "missing" not in table


def test_a_setting_that_names_no_folder_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    monkeypatch.setenv("REXRANK_WEIGHTS", "modles")
    assert run(capsys, "chexbert")[1] == "note: REXRANK_WEIGHTS names no folder\n"
    (place / "modles").mkdir()
    assert run(capsys, "chexbert")[1] == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chexbrt"], 'there is no checkpoint "chexbrt"; did you mean chexbert?'),
        (["pull", "srr"], "did you mean srr-bert-leaves or "),
        (["pull", "qqqq"], "`rexrank weights` lists them"),
        (["pull"], "pull takes names of checkpoints, or --for METRIC, or --all"),
        (["pull", "chexbert", "--all"], "pull takes names of checkpoints, or --for METRIC, or --all"),
        (["pull", "--for", "sembscor"], "did you mean sembscore?"),
        (["pull", "--for", "bleu2"], "bleu2 needs no weights"),
        (["pull", "--all", "--json"], "--json and --weights go with the list alone"),
        (["chexbert", "--to", "models"], "--to goes with pull alone"),
        (["--weights", "modles"], 'weights: there is no folder "modles"'),
        (["pull", "../models"], 'there is no checkpoint "../models"'),
        (["pull", "/models"], 'there is no checkpoint "/models"'),
        (["pull", "ana/.."], 'there is no checkpoint "ana/.."'),
    ],
)
def test_words_that_make_no_sense(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    assert said in run(capsys, *words, code=2)[1]


def test_a_running_up_does_not_hide_the_public_hub(
    capsys: pytest.CaptureFixture[str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "rexrank").mkdir()
    account = {"endpoint": "http://127.0.0.1:9", "token": "t", "namespace": "n"}
    (place / "rexrank/local.json").write_text(json.dumps(account))
    monkeypatch.delenv("HF_ENDPOINT")
    run(capsys, "chexbert")
    assert "HF_ENDPOINT" not in os.environ


def test_the_page_lists_every_checkpoint() -> None:
    rows = [line for line in (ROOT / "docs/weights.md").read_text(encoding="utf-8").splitlines() if line[:3] == "| `"]
    cells = {row.split("|")[1].strip(" `"): [cell.strip() for cell in row.split("|")[2:-1]] for row in rows}
    named = {name: cells[name] for name in CHECKPOINTS}
    for name, checkpoint in CHECKPOINTS.items():
        repo, size, licence, serves = named[name]
        assert f"`{checkpoint.repos[0]}`" in repo
        assert all(f"`{file}`" in repo for file in checkpoint.files if file.endswith((".pth", ".gz")))
        assert (size, licence, serves) == (shown_size(checkpoint.size), checkpoint.licence, checkpoint.serves)


# Pulling


@pytest.fixture
def online(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> HubServer:
    """The Hub with the seeded checkpoints, named by the environment."""
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    return hub


def test_pull_brings_weights_and_their_tokenizer_into_the_cache(
    capsys: pytest.CaptureFixture[str], online: HubServer
) -> None:
    out, _ = run(capsys, "pull", "chexbert")
    assert "in all:\n  chexbert (" in out
    assert f"StanfordAIMI/RRG_scorers); licence: {CHECKPOINTS['chexbert'].licence}\n" in out
    assert "\nchexbert: fetched, unverified checksum, not the published one\n" in out
    assert "\nbert-base-uncased: fetched, unverified checksum\n" in out
    listed = entries(capsys)
    assert [name for name, entry in listed.items() if entry["where"] == "cache"] == ["chexbert", "bert-base-uncased"]
    assert run(capsys, "pull", "chexbert")[0] == "chexbert: already here\nbert-base-uncased: already here\n"


def test_names_stand_before_and_behind_options(
    capsys: pytest.CaptureFixture[str], online: HubServer, place: Path, seeded: Path
) -> None:
    run(capsys, "pull", "--to", place / "models", "radgraph-xl")
    assert Weights(place / "models", download=False).locate(CHECKPOINTS["radgraph-xl"]).source == "folder"


@pytest.mark.slow
def test_a_pulled_folder_serves_on_a_machine_without_network(
    capsys: pytest.CaptureFixture[str], online: HubServer, place: Path, seeded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = place / "models"
    out, _ = run(capsys, "pull", "--for", "sembscore", "--to", models)
    assert out.endswith(f"ready: --weights {models}, or REXRANK_WEIGHTS={models}\n")
    assert not (place / "hub").exists()
    assert same(CHECKPOINTS["bert-base-uncased"], models, seeded)
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    texts = {"a": "Small left effusion.", "b": "No edema."}
    (place / "predictions.json").write_text(json.dumps(texts))
    (place / "references.json").write_text(json.dumps({"a": "Left effusion.", "b": "No edema or effusion."}))
    words = ["score", "predictions.json", "--references", "references.json", "--protocol", "plain"]
    assert main([*words, "--metrics", "sembscore", "--weights", str(models), "--json", "--quiet"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert -1 <= card["summary"]["sembscore"] <= 1
    assert card["weights"]["chexbert"]["status"] == "unverified checksum, not the published one"


def test_what_is_here_is_copied_and_not_fetched(
    capsys: pytest.CaptureFixture[str], place: Path, seeded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REXRANK_WEIGHTS", str(seeded))
    out, _ = run(capsys, "pull", "chexbert", "minilm", "--to", place / "stick")
    assert "minilm: fetched, verified" in out
    chexbert = "StanfordAIMI/RRG_scorers/chexbert.pth"
    assert (place / "stick" / chexbert).read_bytes() == (seeded / chexbert).read_bytes()
    assert same(CHECKPOINTS["bert-base-uncased"], place / "stick", seeded)


def test_of_the_tokenizers_that_an_archive_may_name_one_suffices(
    capsys: pytest.CaptureFixture[str], online: HubServer
) -> None:
    out, err = run(capsys, "pull", "radgraph")
    assert f"\n{_PUBMEDBERT}: fetched" in out
    assert not err


def test_a_hub_that_does_not_answer_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, "pull", "--all", code=1)
    assert out == "minilm: already here\n"
    (line,) = err.splitlines()
    assert line.startswith("rexrank weights: chexbert, radgraph, radgraph-xl, ")
    assert line.endswith(": the Hub of HF_ENDPOINT did not answer; try again where there is a network")


def test_what_the_hub_lacks_does_not_hold_up_the_rest(
    capsys: pytest.CaptureFixture[str], online: HubServer, place: Path
) -> None:
    _, err = run(capsys, "pull", "rate-ner", "radgraph-xl", code=1)
    assert "rate-ner: the Hub of HF_ENDPOINT has no such repo, or shows it to other tokens alone; set HF_TOKEN" in err
    assert entries(capsys, "radgraph-xl")["radgraph-xl"]["state"] == "present"


def started(place: Path, url: str, *words: str | Path) -> subprocess.Popen[bytes]:
    """The command in a process of its own, on a machine with an empty cache."""
    settings = {
        **surroundings("HF_", "REXRANK_"),
        "HF_ENDPOINT": url,
        "HF_HOME": str(place / "home"),
        "REXRANK_HOME": str(place / "rexrank"),
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, "-m", "rexrank", "weights", *map(str, words)]
    return subprocess.Popen(command, env=settings, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_what_a_kill_left_in_a_folder_is_removed_by_the_next_pull(
    capsys: pytest.CaptureFixture[str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models, hold, held = place / "models/slow/one", threading.Event(), threading.Event()

    def slow(_: str, path: str) -> Fault | None:
        if not hold.is_set() or "/resolve/" not in path:
            return None
        held.set()
        return Fault(delay=20)

    with running(place / "slow", fault=slow) as hub:
        api = HfApi(hub.url, token=HubServer(hub.url, hub.root).user("slow"))
        api.create_repo("slow/one")
        for name, content in {"config.json": b"{}", "model.safetensors": b"x"}.items():
            api.upload_file(path_or_fileobj=content, path_in_repo=name, repo_id="slow/one")
        hold.set()
        killed = started(place, hub.url, "pull", "slow/one", "--to", place / "models")
        assert held.wait(60)
        killed.send_signal(signal.SIGSTOP)  # so that it cannot finish by itself, however slow this machine is
        hold.clear()
        (lock,) = models.glob(".pull-*/lock")
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        run(capsys, "pull", "slow/one", "--to", place / "models")
        assert lock.exists(), "it is alive, and was robbed"
        (models / "config.json").unlink()
        killed.kill()
        killed.communicate()
        run(capsys, "pull", "slow/one", "--to", place / "models")
    assert sorted(path.name for path in models.iterdir()) == ["config.json", "model.safetensors"]


def test_two_pulls_into_one_folder_at_once(online: HubServer, place: Path, seeded: Path) -> None:
    both = [started(place, online.url, "pull", "chexbert", "--to", place / "models") for _ in range(2)]
    for process in both:
        _, err = process.communicate(timeout=90)
        assert process.returncode == 0, err
    right = hashlib.sha256((seeded / "StanfordAIMI/RRG_scorers/chexbert.pth").read_bytes()).hexdigest()
    assert Weights(place / "models").locate(CHECKPOINTS["chexbert"]).sha256["chexbert.pth"] == right
    assert same(CHECKPOINTS["bert-base-uncased"], place / "models", seeded)
