"""Files planted by hand in the repos of a host: none stops the queue, the tables or the other benchmarks."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hosting import HandClock, Hosted, host, request, sentences

import rexrank
from backend import rules, setup, status
from backend import worker as worker_module
from backend.publishing import Publisher
from backend.queue import Queue
from rexrank.board import host as hosts
from rexrank.board import names, requests, results
from rexrank.board.results import Result, ResultEvaluator, Texts
from rexrank.errors import RefusedInput, RexrankError
from rexrank.hub import Clock

BAD, GOOD = request(1), request(2)
TURNED, INVISIBLE = "\u202e", "\u3164"


@pytest.fixture
def hosted(hub_server, tmp_path: Path) -> Hosted:
    return host(hub_server.url, hub_server.root, tmp_path)


@pytest.fixture
def ready(hosted: Hosted) -> Hosted:
    hosted.benchmark("toy", sentences(6))
    with hosted.worker("setup") as worker:
        worker.prepare()
    return hosted


def spoiled(**changes: Any) -> bytes:
    return json.dumps({**json.loads(BAD.to_bytes()), **changes}).encode()


def claimed_until_the_end_of_time() -> bytes:
    claim = {
        "id": "c",
        "worker": "w9",
        "instance": "i",
        "host": "h",
        "at": "2026-03-02T11:00:00Z",
        "lease_until": "9999-12-31T23:59:59Z",
    }
    return spoiled(status="RUNNING", claim=claim)


PLANTED: dict[str, Callable[[], bytes]] = {
    "not a number": lambda: spoiled(settings={"x": float("nan")}),
    "infinite": lambda: spoiled(settings={"x": 7}).replace(b'"x": 7', b'"x": 1e999'),
    "endless number": lambda: spoiled(priority=7).replace(b'"priority": 7', b'"priority": 7' + b"0" * 5000),
    "endless tries": lambda: spoiled(max_attempts=10**9),
    "nested": lambda: spoiled(more=7).replace(b'"more": 7', b'"more": ' + b"[" * 9000 + b"]" * 9000),
    "half a character": lambda: spoiled(description="x").replace(b'"description": "x"', b'"description": "\\ud800"'),
    "later schema": lambda: spoiled(schema_version=2),
    "other id": lambda: spoiled(id=GOOD.id),
    "way out": lambda: spoiled(path_in_repo="../../etc/passwd"),
    "markup": lambda: spoiled(model_name="<script>x</script>", name_key="<script>x</script>"),
    "nothing to see": lambda: spoiled(model_name=INVISIBLE, name_key=names.name_key(INVISIBLE)),
    "turned licence": lambda: spoiled(license=f"mit{TURNED}"),
    "not text": lambda: b"\xff\xfe\x00",
    "empty": lambda: b"",
    "no object": lambda: b"[]",
    "huge": lambda: spoiled(more="x" * 2 * 2**20),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_request_is_set_aside_and_the_next_one_is_claimed(hosted: Hosted, kind: str) -> None:
    hosted.hub.ensure_repo(hosted.repo("requests"))
    hosted.hub.commit(hosted.repo("requests"), {BAD.path: PLANTED[kind]()}, "Planted")
    hosted.put_request(GOOD)
    queue = Queue(hosted.hub, hosted.repo("requests"), hosted.config(), HandClock().clock())
    turn = queue.turn({}, [], 4, lambda _request: None)
    assert ([there.id for there in turn.claimed], turn.quarantined) == ([GOOD.id], 1)


def test_a_lease_to_the_end_of_time_stops_nobody_else(hosted: Hosted) -> None:
    hosted.hub.ensure_repo(hosted.repo("requests"))
    hosted.hub.commit(hosted.repo("requests"), {BAD.path: claimed_until_the_end_of_time()}, "Planted")
    hosted.put_request(GOOD)
    queue = Queue(hosted.hub, hosted.repo("requests"), hosted.config(), HandClock().clock())
    assert [there.id for there in queue.turn({}, [], 4, lambda _request: None).claimed] == [GOOD.id]


def test_what_cannot_be_processed_is_set_aside_too(hosted: Hosted) -> None:
    """Whatever a file makes of this worker's own code."""
    hosted.hub.ensure_repo(hosted.repo("requests"))
    over = claimed_until_the_end_of_time().replace(b"9999-12-31T23", b"2026-03-02T10")
    hosted.hub.commit(hosted.repo("requests"), {BAD.path: over}, "Planted")
    hosted.put_request(GOOD)
    queue = Queue(hosted.hub, hosted.repo("requests"), hosted.config(), HandClock().clock())

    def fails(_request: object) -> None:
        raise OverflowError("with words of the file")

    turn = queue.turn({}, [], 4, fails)
    assert ([there.id for there in turn.claimed], turn.quarantined) == ([GOOD.id], 1)
    held = hosted.hub.view(hosted.repo("requests"), [requests.QUARANTINE]).files
    assert not any(b"with words" in content for content in held.values())


@pytest.mark.slow
def test_a_request_spoiled_while_it_is_scored_does_not_hold_the_others_up(ready: Hosted) -> None:
    first = ready.submit(sentences(6, 1), "Acme A", protocol="plain")
    second = ready.submit(sentences(6, 2), "Acme B", protocol="plain")
    with ready.worker(claim_batch=2) as worker:
        worker.prepare()
        assert worker.tick()
        ready.hub.commit(ready.repo("requests"), {first.path: b"{"}, "Spoilt")
        worker.wait(60)
        for _ in range(200):
            if ready.request(second.id).status == "FINISHED":
                break
            worker.wait(0.2)
            assert worker.tick()
    assert [there.model_name for there in ready.results()] == ["Acme B"]
    assert [row["model_name"] for row in ready.leaderboard()] == ["Acme B"]


def result(number: int) -> Result:
    """A result as a worker would write it."""
    card = rexrank.score(sentences(5, seed=1), sentences(5), protocol="plain", progress=False)
    there = request(number)
    rule = rules.rules(there.protocol, None)
    evaluator = ResultEvaluator(hash=results.evaluator_hash("0", rule, there.settings), version="0", python="3.11")
    moment = there.submitted_at
    return results.build(there, card, rule, Texts("e" * 64, 5, 0), evaluator, moment, moment, public=True)


RESULTS: dict[str, dict[str, Any]] = {
    "more studies than a table holds": {"n_studies": 10**30},
    "fewer than none": {"n_expected": -1},
    "markup": {"model_name": "<img src=x onerror=alert(1)>"},
    "turned": {"organization": f"Acme{TURNED}"},
    "script link": {"paper_url": "javascript:alert(1)"},
    "other's place": {"owner": "victim"},
    "other's id": {"result_id": "../../x"},
    "no number": {"coverage": float("nan")},
}


@pytest.mark.parametrize("kind", RESULTS)
def test_a_planted_result_is_left_out_of_the_tables(ready: Hosted, kind: str) -> None:
    good, bad = result(2), result(1)
    planted = json.dumps({**json.loads(bad.to_bytes()), **RESULTS[kind]}).encode()
    ready.hub.commit(ready.repo("results"), {good.path: good.to_bytes(), bad.path: planted}, "Planted")
    Publisher(ready.hub, ready.repo("results"), "0", Clock()).rebuild()
    assert [row["request_id"] for row in ready.leaderboard()] == [good.request_id]


BROKEN: dict[str, dict[str, bytes | None]] = {
    "nested": {"benchmark.yaml": b"[" * 20_000},
    "no mapping": {"benchmark.yaml": b"- 1"},
    "not text": {"benchmark.yaml": b"\xff\xfe\x00\x01"},
    "python": {"benchmark.yaml": b"!!python/object/apply:os.system ['true']"},
    "no studies": {"benchmark.yaml": yaml.safe_dump({"tracks": {"findings": -5}}).encode()},
    "endless number": {"benchmark.yaml": yaml.safe_dump({"tracks": {"findings": 10**300}}).encode()},
    "unknown track": {"benchmark.yaml": yaml.safe_dump({"tracks": {"<b>x</b>": 5}}).encode()},
    "no data": {"data/test.parquet": None},
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_benchmark_is_not_offered_and_the_others_are(hosted: Hosted, kind: str) -> None:
    hosted.benchmark("toy", sentences(3))
    hosted.benchmark("broken", sentences(3))
    hosted.hub.commit(hosted.repo("broken"), BROKEN[kind], "Break it")
    assert list(setup.ensure_repos(hosted.hub, hosted.config()).benchmarks) == ["toy"]


def test_signs_of_life_of_any_form_are_survived_by_the_status(ready: Hosted) -> None:
    files = {
        "workers/a.json": b"{",
        "workers/b.json": b"[" * 9000 + b"]" * 9000,
        "workers/c.json": b'{"worker": "c", "last_tick_at": 5, "running": 7}',
        "workers/d.json": b"[1]",
    }
    ready.hub.commit(ready.repo("status"), files, "Planted")
    text = status.read(ready.hub, ready.namespace).to_text()
    assert "worker setup: last seen" in text
    assert "worker c: its sign of life cannot be read" in text


def test_workers_whose_names_share_a_stem_run_side_by_side(ready: Hosted) -> None:
    with ready.worker("gpu.one"), ready.worker("gpu.two"):
        pass


@pytest.mark.parametrize("record", [b"{", b"[]", b'{"owner": 5}', b'{"owner": "<b>"}', b" " * 2 * 2**20])
def test_a_spoiled_record_of_a_name_does_not_give_the_name_away(ready: Hosted, record: bytes) -> None:
    path = names.name_path(names.name_key("Acme"))
    ready.hub.commit(ready.repo("requests"), {path: record}, "Planted")
    with pytest.raises(RefusedInput, match="somebody else") as refused:
        ready.submit(sentences(6), "Acme", protocol="plain")
    assert "<b>" not in str(refused.value)


@pytest.mark.parametrize(
    ("field", "value"), [("license", "x" * 65), ("license", f"mit{TURNED}"), ("description", "x\x1b[31m")]
)
def test_a_remark_that_no_request_can_hold_is_refused_before_anything_is_sent(
    ready: Hosted, field: str, value: str
) -> None:
    with pytest.raises(RefusedInput) as refused:
        ready.submit(sentences(6), "Acme", protocol="plain", **{field: value})
    assert [problem.field for problem in refused.value.problems] == [field]
    assert ready.user_hub.datasets_of(ready.user) == []


def test_without_room_on_the_disk_what_waits_keeps_waiting(ready: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    there = ready.submit(sentences(6), "Acme", protocol="plain")
    monkeypatch.setattr(worker_module, "LEAST_FREE_BYTES", 2**62)
    with ready.worker() as worker:
        worker.prepare()
        assert worker.tick()
        assert ready.request(there.id).attempt == 0


def test_what_cannot_be_started_is_tried_again_later(ready: Hosted) -> None:
    there = ready.submit(sentences(6), "Acme", protocol="plain")
    with ready.worker(retry=timedelta(hours=1)) as worker:
        worker.prepare()
        folder = worker.config.folder
        folder.rmdir()
        folder.write_text("no folder any more")
        assert worker.tick()
        assert worker.tick()
        now = ready.request(there.id)
        assert (now.status, now.attempt, now.error and now.error.stage) == ("PENDING", 1, "start")
        assert now.not_before is not None
        folder.unlink()


def test_the_tables_follow_a_result_whose_writer_never_came_back(ready: Hosted) -> None:
    there = ready.submit(sentences(6, 1), "Acme", protocol="plain")
    with ready.worker("gone") as gone:
        gone.prepare()
        gone.tick()
        gone.wait(60)
        publisher = gone._publisher
        (outcome,) = gone._crew.collect()
        publisher.publish([outcome])
        time = HandClock(there.submitted_at + timedelta(hours=2))
        with ready.worker("other", time.clock()) as other:
            other._host = setup.refresh_host(ready.hub, other.config)
            for _ in range(2):
                assert other.tick()
        assert ready.request(there.id).status == "FINISHED"
        assert [row["model_name"] for row in ready.leaderboard()] == ["Acme"]


def test_a_sign_of_life_from_the_future_does_not_silence_the_worker(ready: Hosted) -> None:
    time = HandClock()
    with ready.worker(clock=time.clock(), heartbeat=300.0) as worker:
        worker.prepare()
        time.moment -= timedelta(days=1)
        assert worker.tick()
    beat = json.loads(ready.hub.view(ready.repo("status"), ["workers/w1.json"]).files["workers/w1.json"])
    assert beat["last_tick_at"].startswith("2026-03-01")


def test_a_spoiled_sign_of_life_does_not_stop_the_next_one(ready: Hosted) -> None:
    path = "workers/w1.json"
    with ready.worker(heartbeat=0.0) as worker:
        worker.prepare()
        ready.hub.commit(ready.repo("status"), {path: b"[" * 9000 + b"]" * 9000}, "Planted")
        assert worker.tick()
    beat = json.loads(ready.hub.view(ready.repo("status"), [path]).files[path])
    assert (beat["worker"], beat["instance"]) == ("w1", worker.config.instance)


def test_a_planted_host_file_is_refused_in_one_sentence(ready: Hosted) -> None:
    planted = {"benchmarks": {"toy": {"tracks": {"findings": 10**30}, "revision": "a" * 40}}}
    ready.hub.commit(ready.repo("results"), {hosts.PATH: json.dumps(planted).encode()}, "Planted")
    with pytest.raises(RexrankError, match=r"host\.json of the results repo cannot be read"):
        hosts.load(ready.hub, ready.namespace)
    with ready.worker() as worker:
        worker.prepare()
    assert list(hosts.load(ready.hub, ready.namespace).benchmarks) == ["toy"]
