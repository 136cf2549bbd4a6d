"""The command line under hostile surroundings: no traceback, right exit codes, nothing but the card on stdout."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from waiting import free_port, until

import rexrank

SECRET = "Axolotl"
COMMAND = [sys.executable, "-m", "rexrank"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Words of a command that scores two invented studies."""
    (tmp_path / "p.csv").write_text(f"study_id,report\na,{SECRET} lungs clear.\nb,Small mass.\n")
    (tmp_path / "r.json").write_text(json.dumps({"a": "Lungs clear.", "b": f"Mass with {SECRET} sign."}))
    return [str(tmp_path / "p.csv"), "--references", str(tmp_path / "r.json")]


def run(
    words: list[str], shell: str = "", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run rexrank, with redirections written as in a shell; a traceback fails at once."""
    done = subprocess.run(
        ["bash", "-c", f'"$@" {shell}', "bash", *COMMAND, *words],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **(environment or {})},
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr + done.stdout
    assert "Exception ignored" not in done.stderr
    assert SECRET not in done.stdout + done.stderr
    return done


NARROW = [
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.mark.parametrize("environment", NARROW)
def test_output_that_cannot_show_every_character(files: list[str], environment: dict[str, str]) -> None:
    done = run(["score", *files], environment=environment)
    assert done.returncode == 0
    assert "bleu2" in done.stdout
    card = json.loads(run(["score", *files, "--json", "--quiet"], environment=environment).stdout)
    assert set(card["summary"]) == {"bleu2"}
    assert run(["--help"], environment=environment).returncode == 0
    assert run(["score", "--help"], environment=environment).returncode == 0


@pytest.mark.parametrize("environment", NARROW)
def test_ids_that_cannot_be_shown_there(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "prüf.json").write_text(json.dumps({"é": "x"}))
    (tmp_path / "r.json").write_text(json.dumps({"à": "x"}))
    words = ["validate", str(tmp_path / "prüf.json"), "--references", str(tmp_path / "r.json")]
    done = run(words, environment=environment)
    assert (done.returncode, done.stderr.count("refused:")) == (1, 2)
    faults = json.loads(run([*words, "--json"], environment=environment).stdout)
    assert len(faults) == 2
    if environment.get("PYTHONIOENCODING") == "ascii":
        assert [fault["study_id"] for fault in faults] == ["à", "é"]


def test_a_full_disk_behind_stdout(files: list[str]) -> None:
    done = run(["score", *files], ">/dev/full")
    assert done.returncode == 1
    assert "No space left" in done.stderr
    done = run(["score", *files, "--json", "--quiet"], ">/dev/full")
    assert done.returncode == 1
    assert run(["validate", *files], ">/dev/full").returncode == 1
    assert run(["--version"], ">/dev/full").returncode in {0, 1}


@pytest.mark.parametrize("shell", ["| head -1", "| true", ">&-", "2>&-", "<&-", ">&- 2>&-", "2>/dev/full"])
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_closed_streams(files: list[str], shell: str, words: list[str]) -> None:
    assert run(["score", *files, *words], shell).returncode == 0


def test_faults_never_go_to_stdout(files: list[str], tmp_path: Path) -> None:
    missing = [str(tmp_path / "none.csv"), *files[1:]]
    done = run(["score", *missing, "--json"], "2>&-")
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize("columns", ["1", "10", "0", "x"])
def test_narrow_terminals(files: list[str], columns: str) -> None:
    assert run(["score", *files], environment={"COLUMNS": columns}).returncode == 0
    assert run(["score", "--help"], environment={"COLUMNS": columns}).returncode == 0


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("REXRANK_HUB_PORT", "abc", ["hub", "serve", "--root", "store"]),
        ("REXRANK_HUB_PORT", "70000", ["hub", "serve", "--root", "store"]),
        ("REXRANK_HUB_PORT", "-1", ["hub", "serve", "--root", "store"]),
    ],
)
def test_settings_that_are_no_numbers(tmp_path: Path, name: str, value: str, words: list[str]) -> None:
    done = run(words, environment={name: value, "HOME": str(tmp_path)})
    assert done.returncode == 2
    assert name in done.stderr


@pytest.mark.parametrize("value", ["soon", "0", "-1", "nan", "inf", "1e300"])
def test_ticks_that_are_no_time(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("REXRANK_TICK_SECONDS", value)
    with pytest.raises(rexrank.RexrankError, match="REXRANK_TICK_SECONDS"):
        rexrank.environment.tick_seconds()


def test_a_tilde_that_the_shell_left(files: list[str], tmp_path: Path) -> None:
    done = run(["score", *files, "--quiet", "--out=~/card"], environment={"HOME": str(tmp_path)})
    assert done.returncode == 0
    assert (tmp_path / "card" / "card.json").exists()


@pytest.mark.parametrize("out", ["/proc/nothing/card", "/dev/null/card"])
def test_folders_that_cannot_be_made(files: list[str], out: str) -> None:
    done = run(["score", *files, "--out", out])
    assert done.returncode == 1
    assert f"{out} cannot be written" in done.stderr


def test_an_empty_out_is_wrong_usage(files: list[str]) -> None:
    assert run(["score", *files, "--out", ""]).returncode == 2


@pytest.mark.parametrize("seconds", [0.2, 1.0])
def test_interrupted_while_it_scores(tmp_path: Path, seconds: float) -> None:
    texts = {f"s{number}": f"lungs {number} clear, no effusion number {number % 7}" for number in range(20_000)}
    (tmp_path / "p.json").write_text(json.dumps(texts))
    out = tmp_path / "card"
    words = ["score", str(tmp_path / "p.json"), "--references", str(tmp_path / "p.json"), "--protocol", "plain"]
    process = subprocess.Popen(
        [*COMMAND, *words, "--out", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    # numpy is loaded for the first metric; the others and the intervals take seconds from there.
    until(lambda: "_multiarray_umath" in Path(f"/proc/{process.pid}/maps").read_text(), process=process)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    printed, errors = process.communicate(timeout=60)
    # Interrupted in an `exec` of text, as dataclasses run it, Python ends by the signal itself: a shell says 130 too.
    assert process.returncode in (130, -signal.SIGINT)
    assert printed == ""
    assert errors.splitlines()[-1] == "rexrank: stopped"
    assert "Traceback" not in errors
    assert not out.exists()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_does_not_cost_the_card(files: list[str], tmp_path: Path, unbuffered: str) -> None:
    card = tmp_path / "card"
    words = ["score", *files, "--protocol", "plain", "--metrics", "bleu2", "--json", "--out", str(card)]
    assert run(words, "| head -n 1 > /dev/null", environment={"PYTHONUNBUFFERED": unbuffered}).returncode == 0
    assert (card / "card.json").is_file()


def test_a_hub_that_is_not_there(files: list[str]) -> None:
    nobody = {"HF_ENDPOINT": f"http://127.0.0.1:{free_port()}", "HF_TOKEN": "hf_none", "NO_PROXY": "127.0.0.1"}
    done = run(["submit", files[0], "--benchmark", "iu-xray"], environment=nobody)
    assert done.returncode == 1
    assert "the Hub did not answer; `rexrank up` starts a Hub here, HF_ENDPOINT names another" in done.stderr
