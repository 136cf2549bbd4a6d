"""The backend as its users run it: processes that are killed, stopped and started again."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hosting import Hosted, host, sentences
from waiting import surroundings, until

ROOT = Path(__file__).resolve().parents[1]
MANY = 6000


@pytest.fixture
def hosted(hub_server, tmp_path: Path) -> Hosted:
    found = host(hub_server.url, hub_server.root, tmp_path)
    found.benchmark("toy", sentences(6))
    found.benchmark("big", sentences(MANY))
    with found.worker("setup") as worker:
        worker.prepare()
    return found


def environment(hosted: Hosted, **changes: str) -> dict[str, str]:
    return {
        **surroundings("HF_", "REXRANK_"),
        "HF_ENDPOINT": hosted.url,
        "HF_TOKEN": hosted.worker_token,
        "HF_HOME": str(hosted.folder / "hf"),
        "REXRANK_NAMESPACE": hosted.namespace,
        "REXRANK_HOME": str(hosted.folder / "home"),
        "REXRANK_WORKER": "w1",
        "REXRANK_TICK_SECONDS": "0.5",
        # Java takes its time to start in every scoring process; what is tested here are processes.
        "REXRANK_METRICS": "bleu2,coco_bleu4,rouge_l",
        **changes,
    }


def run(hosted: Hosted, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=environment(hosted, **changes),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@contextmanager
def serving(hosted: Hosted, **changes: str) -> Iterator[subprocess.Popen[bytes]]:
    log = (hosted.folder / "backend.log").open("ab")
    process = subprocess.Popen(
        [sys.executable, "-m", "backend", "serve"], cwd=ROOT, env=environment(hosted, **changes), stdout=log, stderr=log
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(30)
        log.close()


def printed(hosted: Hosted) -> str:
    return (hosted.folder / "backend.log").read_text()[-2000:]


def scoring_processes(hosted: Hosted) -> list[int]:
    """Processes that work in this host's scratch folder, found by the files that they hold or wrote."""
    marker = str(hosted.folder / "home")
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                variables = (entry / "environ").read_bytes().decode("utf-8", "replace")
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marker in variables and b"spawn_main" in command:
                found.append(int(entry.name))
    return found


def scores(hosted: Hosted) -> bool:
    return any((hosted.folder / "home" / "backend" / "w1").glob("*/progress.json"))


@pytest.mark.slow
def test_a_worker_killed_in_mid_score_is_repaired_by_the_next_start(hosted: Hosted) -> None:
    there = hosted.submit(sentences(MANY, seed=1), "Acme", "big", protocol="plain")
    with serving(hosted) as process:
        until(lambda: scores(hosted), 120, told=lambda: printed(hosted))
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
    assert hosted.request(there.id).status == "RUNNING"
    until(lambda: not scoring_processes(hosted), 30, told=lambda: "the scoring process outlives its worker")
    with serving(hosted):
        until(lambda: hosted.request(there.id).status in ("FINISHED", "FAILED"), 120, told=lambda: printed(hosted))
        done = hosted.request(there.id)
        assert (done.status, done.attempt) == ("FINISHED", 2)
        assert [entry.note for entry in done.history if entry.note] == ["worker_lost"]
    assert len(hosted.results()) == len(hosted.leaderboard()) == 1


@pytest.mark.slow
def test_a_stopped_worker_gives_back_and_leaves_nothing_behind(hosted: Hosted) -> None:
    there = hosted.submit(sentences(MANY, seed=1), "Acme", "big", protocol="plain")
    with serving(hosted) as process:
        until(lambda: scores(hosted), 120, told=lambda: printed(hosted))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    back = hosted.request(there.id)
    assert (back.status, back.attempt) == ("PENDING", 0)
    assert scoring_processes(hosted) == []
    assert not list((hosted.folder / "home" / "backend" / "w1").glob("*"))
    log = (hosted.folder / "backend.log").read_text()
    assert hosted.worker_token not in log
    assert "giving 1 requests back" in log


def test_once_scores_what_waits_and_status_tells_it(hosted: Hosted) -> None:
    there = hosted.submit(sentences(6, seed=1), "Acme", protocol="plain")
    before = json.loads(run(hosted, "backend", "status", "--json").stdout)
    assert before["requests"]["pending"] == 1
    done = run(hosted, "backend", "once")
    assert done.returncode == 0, done.stderr
    assert hosted.request(there.id).status == "FINISHED"
    said = run(hosted, "backend", "status").stdout
    assert "1 done" in said
    assert "worker w1: last seen 0 min ago" in said


def test_submitting_on_the_command_line_waits_for_the_scores(hosted: Hosted) -> None:
    path = hosted.predictions(sentences(6, seed=2), "Acme 2.json")
    words = ["rexrank", "submit", str(path), "--benchmark", "toy", "--protocol", "plain"]
    with serving(hosted):
        sent = run(hosted, *words, "--wait", HF_TOKEN=hosted.user_token)
    assert sent.returncode == 0, sent.stderr
    assert "request" in sent.stdout
    assert "bleu2|conv:published" in sent.stdout
    assert "done" in sent.stderr
    again = run(hosted, *words, HF_TOKEN=hosted.user_token)
    assert again.returncode == 1
    assert "already holds this file" in again.stderr
    short = hosted.predictions({**dict(list(sentences(6).items())[1:]), "stranger": "x"}, "short.json")
    refused = run(hosted, "rexrank", "submit", str(short), "--benchmark", "toy", HF_TOKEN=hosted.user_token)
    assert refused.returncode == 1
    assert "study-00000" in refused.stderr
    assert "stranger" in refused.stderr


def test_the_local_account_serves_where_the_environment_names_none(hosted: Hosted) -> None:
    home = hosted.folder / "home"
    home.mkdir()
    account = {"endpoint": hosted.url, "namespace": hosted.namespace, "user": hosted.user, "token": hosted.user_token}
    (home / "local.json").write_text(json.dumps(account))
    path = hosted.predictions(sentences(6, seed=3), "Acme 3.json")
    without = {"HF_ENDPOINT": "", "HF_TOKEN": "", "REXRANK_NAMESPACE": ""}
    sent = run(hosted, "rexrank", "submit", str(path), "--benchmark", "toy", **without)
    assert sent.returncode == 0, sent.stderr
    assert "submit with --wait" in sent.stdout
    assert len(hosted.requests()) == 1


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("REXRANK_TICK_SECONDS", "0"),
        ("REXRANK_LEASE_SECONDS", "1"),
        ("REXRANK_LEASE_SECONDS", "inf"),
        ("REXRANK_MEMORY_MB", "0.5"),
        ("REXRANK_CLAIM_BATCH", "many"),
        ("REXRANK_WORKER", "../w"),
    ],
)
def test_a_senseless_setting_is_wrong_usage(hosted: Hosted, variable: str, value: str) -> None:
    ended = run(hosted, "backend", "once", **{variable: value})
    assert ended.returncode == 2
    assert variable in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_hub_that_is_away_and_a_token_that_is_unknown_are_told_in_one_line(hosted: Hosted) -> None:
    ended = run(hosted, "backend", "once", HF_TOKEN="hf_unknown")
    assert ended.returncode == 1
    assert "does not know this token" in ended.stderr
    assert "Traceback" not in ended.stderr
    ended = run(hosted, "backend", "status", HF_ENDPOINT="http://127.0.0.1:9", REXRANK_NAMESPACE="x")
    assert ended.returncode == 1
    assert "did not answer" in ended.stderr
