"""Ticks at a fixed pace, whatever the Hub does (rule Q28)."""

import threading
import time
from pathlib import Path

from hosting import host, sentences
from waiting import until

from backend import scheduler
from backend.worker import Worker
from rexrank.localhub import Fault, running


def start(worker: Worker, stop: threading.Event, ended: list[bool]) -> threading.Thread:
    thread = threading.Thread(target=lambda: ended.append(scheduler.serve(worker, stop)))
    thread.start()
    return thread


def test_a_slow_or_absent_hub_costs_ticks_and_nothing_else(tmp_path: Path) -> None:
    fault: list[Fault | None] = [None]

    def fail(_method: str, path: str) -> Fault | None:
        return fault[0] if "/requests/" in path else None

    with running(tmp_path / "hub", fault=fail) as server:
        hosted = host(server.url, server.root, tmp_path)
        hosted.benchmark("toy", sentences(6))
        stop, ended = threading.Event(), []
        with hosted.worker() as worker:
            worker.prepare()
            there = hosted.submit(sentences(6, seed=1), "Acme", protocol="plain")
            fault[0] = Fault(delay=1.0)
            thread = start(worker, stop, ended)
            until(lambda: worker.skipped_ticks > 0)
            fault[0] = Fault(status=500)
            time.sleep(0.5)
            fault[0] = None
            until(lambda: hosted.request(there.id).status == "FINISHED")
            stop.set()
            thread.join(60)
        assert ended == [True]
        assert len(hosted.results()) == 1


def test_serving_waits_for_a_hub_that_starts_later(tmp_path: Path) -> None:
    away = [True]

    def fail(_method: str, path: str) -> Fault | None:
        return Fault(status=503) if away[0] and not path.startswith("/api/whoami") else None

    with running(tmp_path / "hub", fault=fail) as server:
        hosted = host(server.url, server.root, tmp_path)
        stop, ended = threading.Event(), []
        with hosted.worker() as worker:
            thread = start(worker, stop, ended)
            time.sleep(1.0)
            assert not ended
            away[0] = False
            until(lambda: "w1" in workers_alive(hosted.hub, hosted.repo("status")))
            stop.set()
            thread.join(60)
        assert ended == [True]


def workers_alive(hub, repo: str) -> set[str]:
    from rexrank.hub import HubError

    try:
        return {path.removeprefix("workers/").removesuffix(".json") for path in hub.view(repo, ["workers/"]).files}
    except HubError:
        return set()


def test_a_second_instance_ends_by_itself(hub_server, tmp_path: Path) -> None:
    hosted = host(hub_server.url, hub_server.root, tmp_path)
    stop, ended = threading.Event(), []
    with (
        hosted.worker("twin", heartbeat=0.0) as first,
        hosted.worker("twin", folder=tmp_path / "elsewhere" / "twin", heartbeat=0.0) as second,
    ):
        first.prepare()
        thread = start(second, stop, ended)
        until(lambda: bool(ended) or not first.tick())
        thread.join(60)
    assert ended == [False]
