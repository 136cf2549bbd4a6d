"""The whole product as its user meets it: one command, a browser, the command line, and pulled plugs."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hosting import write_predictions
from waiting import belonging_to, free_port, last_json, surroundings, until

from rexrank.benchmarks import iu_xray

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[1]
ARTIFACTS = ROOT / "artifacts"
CHROMIUM = "/usr/bin/chromium"
FLOORS = ["Floor - constant report", "Floor - nearest indication", "Floor - random report"]
START_SECONDS = 180


class Machine:
    """A running ``rexrank up`` with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.board_port, self.hub_port = free_port(), free_port()
        self.environment = {
            **surroundings("HF_", "REXRANK_"),
            "REXRANK_HOME": str(home),
            "REXRANK_BOARD_PORT": str(self.board_port),
            "REXRANK_HUB_PORT": str(self.hub_port),
            "REXRANK_TICK_SECONDS": "1",
            "NO_PROXY": "127.0.0.1,localhost",
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.printed = home.parent / "printed.txt"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.board_port}"

    def start(self) -> None:
        with self.printed.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rexrank", "up"],
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.wait_for(lambda: f"rexrank is running: {self.url}" in self.text())

    def text(self) -> str:
        return self.printed.read_text(encoding="utf-8")

    def wait_for(self, condition: Any, seconds: float = START_SECONDS) -> None:
        assert self.process is not None
        until(condition, seconds, self.process, lambda: f"rexrank up printed: {self.text()}", pause=0.3)

    def end(self, how: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(how)
        return self.process.wait(60)

    def rexrank(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "rexrank", *words],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=180,
        )

    def leaderboard(self) -> list[dict[str, Any]]:
        """Rows of the published table, read as any client reads them."""
        import pyarrow.parquet as pq
        from huggingface_hub import hf_hub_download

        path = hf_hub_download(
            "rexrank/results",
            "data/leaderboard.parquet",
            repo_type="dataset",
            endpoint=f"http://127.0.0.1:{self.hub_port}",
            cache_dir=self.home.parent / "reader",
        )
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return rows

    def ours(self) -> list[int]:
        """Process ids of everything that was started for this home."""
        return belonging_to(self.home)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    started = Machine(tmp_path_factory.mktemp("machine") / "home")
    started.start()
    started.wait_for(lambda: all(f"{name}: done" in started.text() for name in FLOORS))
    yield started
    if started.process is not None and started.process.poll() is None:
        started.end(signal.SIGINT)


@pytest.fixture(scope="module")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A submission that fits the benchmark, with an invented text for every study."""
    path = tmp_path_factory.mktemp("files") / "predictions.csv"
    write_predictions(path, {study.study_id: "The heart is normal. Both lungs are clear." for study in _studies()})
    return path


def _studies() -> Any:
    return iu_xray.load().studies


def test_the_floors_are_scored(machine: Machine) -> None:
    rows = {row["model_name"]: row for row in machine.leaderboard()}
    assert sorted(rows) == FLOORS
    assert all(row["is_baseline"] and row["n_studies"] == 590 for row in rows.values())
    assert rows["Floor - constant report"]["rank"] == 1
    assert round(rows["Floor - constant report"]["bleu2"], 4) == 0.2882


@pytest.mark.browser
def test_a_visitor_submits_and_sees_the_row(machine: Machine, predictions: Path) -> None:
    from playwright.sync_api import expect, sync_playwright

    ARTIFACTS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(60_000)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(machine.url)
        for name in FLOORS:
            expect(page.locator("#lb")).to_contain_text(name, timeout=60_000)
        page.goto(f"{machine.url}/submit")
        page.locator("#submit-name input, #submit-name textarea").fill("Visitors model")
        page.locator("#submit-file input[type=file]").set_input_files(predictions)
        expect(page.locator("#submit-file")).to_contain_text("predictions", timeout=60_000)
        page.locator("#submit-send").click()
        expect(page.locator("#submit-answer")).to_contain_text("Visitors model", timeout=60_000)
        page.goto(f"{machine.url}/queue")
        finished = page.locator("#queue-entries").get_by_text("Visitors model")
        expect(finished).to_be_visible(timeout=60_000)
        machine.wait_for(lambda: "Visitors model" in {row["model_name"] for row in machine.leaderboard()}, 120)
        page.goto(machine.url)
        expect(page.locator("#lb")).to_contain_text("Visitors model", timeout=60_000)
        page.screenshot(path=ARTIFACTS / "board.png", full_page=True)
        browser.close()
    foreign = {url for url in asked if not url.startswith((machine.url, "data:", "blob:"))}
    assert not foreign


def test_the_command_line_submits_real_predictions(machine: Machine, shared_data: Path) -> None:
    file = shared_data / "iu_xray" / "predictions" / "moerad" / "preds.csv"
    done = machine.rexrank(
        "submit", str(file), "--benchmark", "iu-xray", "--track", "findings", "--model-name", "MoERad", "--wait"
    )
    assert done.returncode == 0, done.stderr
    assert "bleu2|conv:published|tok:rexrank|prep:findings-ref|v:1" in done.stdout
    row = next(row for row in machine.leaderboard() if row["model_name"] == "MoERad")
    assert round(row["bleu2"], 4) == 0.2627
    assert row["owner"] == "local"


def test_a_faulty_file_is_refused_with_every_fault_named(machine: Machine, tmp_path: Path) -> None:
    studies = [study.study_id for study in _studies()]
    texts = dict.fromkeys(studies[1:], "Normal chest.")
    write_predictions(tmp_path / "faulty.csv", texts, (("not-a-study", "Normal."), (studies[5], "Normal.")))
    before = len(machine.leaderboard())
    refused = machine.rexrank("submit", str(tmp_path / "faulty.csv"), "--benchmark", "iu-xray", "--track", "findings")
    assert refused.returncode == 1
    for named in (studies[0], "not-a-study", studies[5]):
        assert named in refused.stderr
    assert "Normal" not in refused.stderr
    assert len(machine.leaderboard()) == before


def test_the_results_load_as_a_dataset(machine: Machine, tmp_path: Path) -> None:
    script = (
        "import json; from datasets import load_dataset; out = {};\n"
        "for name in (None, 'scores', 'per_study'):\n"
        "    rows = load_dataset('rexrank/results', name, split='train'); out[str(name)] = rows.column_names\n"
        "print(json.dumps(out))"
    )
    environment = {
        **machine.environment,
        "HF_ENDPOINT": f"http://127.0.0.1:{machine.hub_port}",
        "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_DISABLE_XET": "1",
    }
    columns = last_json(script, [], tmp_path, environment, timeout=240)
    assert {"model_name", "rank", "bleu2", "bleu2_lo", "bleu2_hi"} <= set(columns["None"])
    assert {"metric", "value", "status", "signature"} <= set(columns["scores"])
    assert {"study_id", "metric", "value"} <= set(columns["per_study"])


def test_a_second_start_on_the_same_home_is_refused(machine: Machine) -> None:
    second = machine.rexrank("up")
    assert second.returncode == 1
    assert "already running" in second.stderr
    assert second.stderr.count("\n") == 1


def test_a_busy_port_gives_one_sentence(machine: Machine, tmp_path: Path) -> None:
    second = machine.rexrank("up", "--home", str(tmp_path / "home"))
    assert second.returncode == 1
    assert second.stderr.count("\n") == 1
    assert f"port {machine.hub_port}" in second.stderr
    assert "REXRANK_HUB_PORT" in second.stderr


def test_after_a_kill_everything_ends_and_the_next_start_resumes(machine: Machine) -> None:
    before = {row["result_id"]: row["bleu2"] for row in machine.leaderboard()}
    machine.end(signal.SIGKILL)
    until(lambda: not machine.ours(), told=lambda: "processes outlived the killed supervisor", pause=0.3)
    machine.start()
    assert {row["result_id"]: row["bleu2"] for row in machine.leaderboard()} == before
    # The floors are there already, so nothing is sent a second time.
    time.sleep(3)
    assert "Floor" not in machine.text()


def test_a_dead_part_stops_everything_with_one_sentence(machine: Machine) -> None:
    board = next(number for number in machine.ours() if b"app.py" in Path(f"/proc/{number}/cmdline").read_bytes())
    os.kill(board, signal.SIGKILL)
    assert machine.process is not None
    assert machine.process.wait(60) == 1
    assert "the board stopped (exit code -9)" in machine.text()
    assert not machine.ours()


def test_ctrl_c_stops_everything_cleanly(machine: Machine) -> None:
    machine.start()
    assert machine.end(signal.SIGINT) == 0
    assert "Traceback" not in machine.text()
    assert not machine.ours()
