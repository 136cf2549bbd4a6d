"""``rexrank up`` on a home that cannot be used, behind a proxy, and stopped by impatient hands."""

import json
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from waiting import belonging_to, free_port, surroundings, until

ROOT = Path(__file__).resolve().parents[1]


Start = Callable[..., subprocess.Popen[str]]
UP = ("-m", "rexrank", "up", "--home")


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts `rexrank up` on a home, and leaves no process behind where a test fails."""
    started: list[subprocess.Popen[str]] = []

    def begin(home: Path, *options: str, command: Sequence[str] = UP) -> subprocess.Popen[str]:
        ports = {"REXRANK_BOARD_PORT": str(free_port()), "REXRANK_HUB_PORT": str(free_port())}
        process = subprocess.Popen(
            [sys.executable, *command, str(home), *options],
            cwd=ROOT,
            env={**surroundings("HF_", "REXRANK_"), **ports},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()  # its children follow it
        process.communicate(timeout=30)


def reaches_the_board(process: subprocess.Popen[str]) -> bool:
    """Whether it comes to starting the board, where the benchmark is on the Hub; it is stopped there."""
    assert process.stdout is not None
    printed = ""
    for line in process.stdout:
        printed += line
        if line.startswith("starting the board"):
            process.send_signal(signal.SIGINT)
    assert process.wait(90) == 0, printed
    return "starting the board" in printed


def test_a_home_that_cannot_be_made_is_said_in_one_sentence(start: Start, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    process = start(tmp_path / "file" / "home")
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert len(printed.splitlines()) == 1
    assert "choose another with --home" in printed


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_proxy_is_never_asked_for_the_hub_of_this_machine(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    # A later start asks the Hub earlier: whether the token it kept still works.
    for _ in range(2):
        assert reaches_the_board(start(tmp_path / "home", "--no-floors"))


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_spoiled_account_file_is_written_anew(start: Start, tmp_path: Path) -> None:
    kept = tmp_path / "home" / "local.json"
    kept.parent.mkdir()
    kept.write_text("[]")
    assert reaches_the_board(start(kept.parent, "--no-floors"))
    assert json.loads(kept.read_text())["token"].startswith("hf_")


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("signals", [(signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGTERM, signal.SIGINT)])
def test_impatient_signals_leave_no_child_behind(
    start: Start, tmp_path: Path, signals: tuple[signal.Signals, ...]
) -> None:
    home = tmp_path / "home"
    process = start(home)
    until((home / "worker.json").exists, process=process)
    for number in signals:
        process.send_signal(number)
        time.sleep(0.2)
    printed, _ = process.communicate(timeout=90)
    assert (process.returncode, belonging_to(home)) == (0, []), printed
    assert "Traceback" not in printed
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


# What code below Python may make of an interrupt: pydantic, building a class, gave an error of its own.
INTERRUPTED = """
import os, signal, sys, time
from rexrank.cli import main, up

publish = up._Machine._publish

def interrupted(machine, worker):
    publish(machine, worker)
    try:
        os.kill(os.getpid(), int(sys.argv[1]))
        time.sleep(5)
    except KeyboardInterrupt:
        if sys.argv[2] == "turned":
            raise ValueError("an error of its own") from None

up._Machine._publish = interrupted
sys.exit(main(["up", "--home", sys.argv[3]]))
"""


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize(("number", "fate"), [(signal.SIGINT, "turned"), (signal.SIGTERM, "lost")])
def test_an_interrupt_that_other_code_turns_or_loses_still_stops_in_order(
    start: Start, tmp_path: Path, number: signal.Signals, fate: str
) -> None:
    home = tmp_path / "home"
    process = start(home, command=["-c", INTERRUPTED, str(int(number)), fate])
    printed, _ = process.communicate(timeout=150)
    assert (process.returncode, belonging_to(home)) == (0, []), printed
    assert "stopped; `rexrank up` goes on from here." in printed
    assert "Traceback" not in printed
