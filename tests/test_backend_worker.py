"""A worker from claim to board: real Hub, real child processes, real scores."""

import io
import json
import os
import signal
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hosting import Hosted, host, request, sentences, together
from waiting import until

import rexrank
from backend import scheduler
from backend.worker import SecondInstance, Worker
from rexrank.board import results
from rexrank.board.requests import Request
from rexrank.localhub import Fault, running

TEXTS = sentences(6)
MARKERS = ("zzpredictionmarker", "zzreferencemarker")


@pytest.fixture
def hosted(hub_server, tmp_path: Path) -> Hosted:
    found = host(hub_server.url, hub_server.root, tmp_path)
    found.benchmark("toy", TEXTS)
    with found.worker("setup") as worker:
        worker.prepare()
    return found


def put_file(hosted: Hosted, content: bytes, name: str = "preds.json", number: int = 1, **fields: object) -> Request:
    """Queue a file as it is, past the checks of the submission."""
    hub = hosted.user_hub
    repo = f"{hosted.user}/raw"
    hub.ensure_repo(repo)
    commit = hub.commit(repo, {name: content}, "Predictions")
    there = request(
        number,
        repo_id=repo,
        path_in_repo=name,
        revision=commit,
        owner=hosted.user,
        dataset_revision=hosted.hub.head(hosted.repo("toy")),
        **fields,
    )
    hosted.put_request(there)
    return there


def run_once(hosted: Hosted, **config: object) -> bool:
    with hosted.worker(**config) as worker:
        return scheduler.once(worker)


def test_a_submission_becomes_a_row(hosted: Hosted) -> None:
    assert hosted.leaderboard() == []
    predictions = {**sentences(6, seed=1), "study-00003": " \u200b"}
    there = hosted.submit(predictions, "Acme CXR", protocol="plain")
    assert run_once(hosted)
    done = hosted.request(there.id)
    assert done.status == "FINISHED"
    assert done.error is None
    expected = rexrank.score(predictions, TEXTS, protocol="plain", progress=False)
    (result,) = hosted.results()
    assert {key: found.value for key, found in result.metrics.items()} == expected.summary
    assert result.metrics["bleu2"].signature == expected.signatures["bleu2"]
    assert {"python": result.evaluator.python, **result.evaluator.packages} == expected.packages
    assert result.n_empty == expected.counts["bleu2"]["n_empty"] == 1
    (row,) = hosted.leaderboard()
    assert (row["rank"], row["model_name"], row["complete"]) == (1, "Acme CXR", True)
    assert row["bleu2"] == expected.summary["bleu2"]
    assert done.result is not None
    assert hosted.hub.read(hosted.repo("results"), done.result.path, done.result.results_revision) == result.to_bytes()
    assert done.evaluator is not None
    assert set(done.evaluator.metrics) == set(expected.summary)
    per_study = hosted.hub.view(hosted.repo("results"), ["per_study/"]).files[f"per_study/{result.result_id}.parquet"]
    assert pq.read_table(io.BytesIO(per_study)).num_rows == 6 * len(expected.summary)
    assert not any((hosted.folder / "scratch" / "w1").iterdir()), "no text stays behind"


def test_a_file_with_missing_extra_and_duplicate_studies_fails_within_one_tick(hosted: Hosted) -> None:
    pairs = [*list(TEXTS.items())[1:], ("study-00002", "again"), ("stranger", "text")]
    content = "{" + ", ".join(f"{json.dumps(study)}: {json.dumps(text)}" for study, text in pairs) + "}"
    there = put_file(hosted, content.encode())
    assert run_once(hosted)
    failed = hosted.request(there.id)
    assert (failed.status, failed.attempt) == ("FAILED", 1)
    assert failed.error is not None
    for part in ("1 of 6 studies missing: study-00000", "not in the track: stranger", "given twice: study-00002"):
        assert part in failed.error.message
    assert failed.error.code in ("missing_ids", "extra_ids", "duplicate_key")
    assert hosted.results() == []
    assert hosted.leaderboard() == []


def test_malformed_files_fail_with_their_codes(hosted: Hosted) -> None:
    malformed = [
        ("a.json", b'{"study-00000": ', "bad_json"),
        ("b.json", b"\xff\xfe\xfa", "bad_encoding"),
        ("c.csv", b"study,text\na,b\n", "wrong_columns"),
        ("d.json", json.dumps(dict.fromkeys(TEXTS, 7)).encode(), "wrong_type"),
        ("e.json", json.dumps(dict.fromkeys(TEXTS, "x" * 20_001)).encode(), "text_too_long"),
    ]
    for number, (name, content, _code) in enumerate(malformed):
        put_file(hosted, content, name, number)
    run_once(hosted, claim_batch=len(malformed))
    found = [(there.status, there.error.code, there.error.stage) for there in hosted.requests() if there.error]
    assert found == [("FAILED", code, "validate") for _, _, code in malformed]


def test_what_is_gone_or_changed_is_named(hosted: Hosted) -> None:
    good = put_file(hosted, json.dumps(TEXTS).encode())
    cases = {
        "repo_not_found": {"repo_id": f"{hosted.user}/gone"},
        "revision_not_found": {"revision": "f" * 40},
        "file_missing": {"path_in_repo": "other.json"},
    }
    for number, changes in enumerate(cases.values(), start=2):
        hosted.put_request(good.updated(id=request(number).id, **changes))
    hosted.put_request(good.updated(id=request(9).id, file_sha256="0" * 64))
    run_once(hosted, claim_batch=5)
    found = {there.id: there for there in hosted.requests()}
    assert found[good.id].status == "FINISHED"
    for number, code in enumerate(cases, start=2):
        error = found[request(number).id].error
        assert error is not None
        assert (error.code, error.stage) == (code, "fetch")
    changed = found[request(9).id].error
    assert changed is not None
    assert "not the file that was submitted" in changed.message


def test_no_word_of_a_report_reaches_results_requests_status_or_logs(
    hosted: Hosted, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("INFO")
    references = {study: f"{text} {MARKERS[1]}" for study, text in TEXTS.items()}
    hosted.benchmark("toy", references)
    predictions = {study: f"{text} {MARKERS[0]}" for study, text in sentences(6, seed=1).items()}
    put_file(hosted, json.dumps(predictions).encode(), number=1)
    put_file(hosted, json.dumps({f"{MARKERS[0]} is a report in the wrong column.": "x"}).encode(), number=2)
    put_file(hosted, f'{{"study-00000": "{MARKERS[0]}" oops'.encode(), number=3)
    put_file(hosted, json.dumps([MARKERS[0], MARKERS[0]]).encode(), number=4)
    put_file(hosted, f"study_id,{MARKERS[0]} is the first row\na,b\n".encode(), "x.csv", number=5)
    run_once(hosted, claim_batch=5)
    assert sorted(there.status for there in hosted.requests()) == ["FAILED"] * 4 + ["FINISHED"]
    caplog.handler.flush()
    output = capfd.readouterr()
    places = {
        **hosted.everything("requests", "results", "status"),
        "log": caplog.text.encode(),
        "stdout": output.out.encode(),
        "stderr": output.err.encode(),
    }
    assert len(places) > 12
    for place, content in places.items():
        text = content.decode("utf-8", "replace")
        if place.endswith(".parquet"):
            text = json.dumps(pq.read_table(io.BytesIO(content)).to_pylist(), default=str)
        for marker in MARKERS:
            assert marker not in text, place


def test_a_hidden_benchmark_gives_no_per_study_values_and_no_ids(hosted: Hosted) -> None:
    hosted.benchmark("toy", TEXTS, public=False)
    good = put_file(hosted, json.dumps(sentences(6, seed=1)).encode(), number=1)
    bad = put_file(hosted, json.dumps(dict(list(TEXTS.items())[1:])).encode(), number=2)
    run_once(hosted)
    assert hosted.request(good.id).status == "FINISHED"
    (result,) = hosted.results()
    value = result.metrics["bleu2"].value
    assert value is not None
    assert value == round(value, 3)
    paths = hosted.hub.list_files(hosted.repo("results"), hosted.hub.head(hosted.repo("results")), "per_study/")
    assert list(paths) == ["per_study/none.parquet"]
    error = hosted.request(bad.id).error
    assert error is not None
    assert error.message == "1 of 6 studies missing"


def test_a_killed_child_is_replaced_and_leaves_one_result(hosted: Hosted) -> None:
    hosted.benchmark("toy", sentences(3000))
    there = hosted_submission(hosted, sentences(3000, seed=1))
    with hosted.worker() as worker:
        worker.tick()
        (pid,) = worker.scoring.values()
        assert pid is not None
        until(lambda: worker.progress(there.id) is not None, pause=0.02)
        os.kill(pid, signal.SIGKILL)
        worker.wait(30)
        worker.tick()
        assert list(worker.scoring) == [there.id], "the same tick starts it again"
        finish(worker)
    done = hosted.request(there.id)
    assert (done.status, done.attempt) == ("FINISHED", 2)
    assert len(hosted.results()) == len(hosted.leaderboard()) == 1


def hosted_submission(hosted: Hosted, texts: dict[str, str], name: str = "Acme") -> Request:
    with hosted.worker("setup") as worker:
        worker.prepare()
    return hosted.submit(texts, name, protocol="plain")


def finish(worker: Worker) -> None:
    for _ in range(600):
        if not worker.busy:
            return
        worker.wait(0.5)
        worker.tick(claiming=False)
    raise AssertionError("scoring did not end")


def test_time_and_memory_of_one_request_are_limited(hosted: Hosted) -> None:
    hosted.benchmark("toy", sentences(20_000))
    there = hosted_submission(hosted, sentences(20_000, seed=1))
    with hosted.worker(time_limit=1.0) as worker:
        worker.tick()
        finish(worker)
    late = hosted.request(there.id)
    assert late.status == "PENDING"
    assert late.error is not None
    assert late.error.code == "timeout"
    with hosted.worker(memory_bytes=64 * 2**20) as worker:
        worker.tick()
        finish(worker)
    failed = hosted.request(there.id)
    assert failed.status == "FAILED"
    assert failed.error is not None
    assert (failed.error.code, failed.attempt) == ("out_of_memory", 2)


def test_stopping_gives_running_requests_back(hosted: Hosted) -> None:
    hosted.benchmark("toy", sentences(20_000))
    there = hosted_submission(hosted, sentences(20_000, seed=1))
    with hosted.worker() as worker:
        worker.tick()
        assert hosted.request(there.id).status == "RUNNING"
        (pid,) = worker.scoring.values()
    back = hosted.request(there.id)
    assert (back.status, back.attempt) == ("PENDING", 0)
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_two_processes_of_one_name_do_not_work_side_by_side(hosted: Hosted) -> None:
    with hosted.worker("twin", heartbeat=0.0) as first:
        first.prepare()
        with pytest.raises(SecondInstance, match="REXRANK_WORKER"):
            hosted.worker("twin")
        # The same name on another machine, where this lock is not seen.
        with hosted.worker("twin", folder=hosted.folder / "elsewhere" / "twin", heartbeat=0.0) as second:
            second.prepare()
            assert first.tick(), "the one that was there first goes on"
            with pytest.raises(SecondInstance):
                second.tick()


@pytest.mark.slow
def test_two_workers_racing_for_ten_requests_score_each_once(hosted: Hosted) -> None:
    with hosted.worker("setup") as worker:
        worker.prepare()
    ids = [hosted.submit(sentences(6, seed=seed), f"Model {seed}", protocol="plain").id for seed in range(1, 11)]

    def work(number: int) -> None:
        with hosted.worker(f"racer-{number}", claim_batch=1) as worker:
            for _ in range(300):
                worker.tick()
                worker.wait(0.2)
                if not worker.busy and all(there.status == "FINISHED" for there in hosted.requests()):
                    return

    assert together(2, work) == [None, None]
    found = hosted.requests()
    assert [there.id for there in found] == sorted(ids)
    assert {(there.status, there.attempt) for there in found} == {("FINISHED", 1)}
    assert {len([entry for entry in there.history if entry.to == "FINISHED"]) for there in found} == {1}
    assert sorted(result.request_id for result in hosted.results()) == sorted(ids)
    assert len(hosted.leaderboard()) == 10
    assert {there.history[1].worker for there in found} == {"racer-0", "racer-1"}


@pytest.mark.slow
@pytest.mark.parametrize("repo", ["requests", "results", "status"])
def test_faults_of_the_hub_neither_lose_nor_double_anything(tmp_path: Path, repo: str) -> None:
    plan: list[Fault] = []

    def fail(method: str, path: str) -> Fault | None:
        return plan.pop(0) if plan and method == "POST" and f"/{repo}/commit/" in path else None

    with running(tmp_path / "hub", fault=fail) as server:
        hosted = host(server.url, server.root, tmp_path)
        hosted.benchmark("toy", TEXTS)
        with hosted.worker("setup") as worker:
            worker.prepare()
        ids = [hosted.submit(sentences(6, seed=seed), f"Model {seed}", protocol="plain").id for seed in (1, 2, 3)]
        plan[:] = [
            Fault(status=503),
            Fault(status=502, when="after"),
            Fault(cut=True, when="after"),
            Fault(status=429, retry_after=1),
            Fault(status=412),
            Fault(status=409),
        ]
        with hosted.worker(claim_batch=1) as worker:
            for _ in range(100):
                worker.tick()
                worker.wait(1.0)
                if not worker.busy and all(there.status == "FINISHED" for there in hosted.requests()):
                    break
        assert [(there.id, there.status, there.attempt) for there in hosted.requests()] == [
            (found, "FINISHED", 1) for found in ids
        ]
        assert sorted(result.request_id for result in hosted.results()) == ids
        assert [row["rank"] for row in hosted.leaderboard()] == [1, 2, 3]


def test_a_crash_between_result_and_status_leaves_one_row(tmp_path: Path) -> None:
    closed = False

    def fail(method: str, path: str) -> Fault | None:
        return Fault(status=403) if closed and method == "POST" and "/requests/commit/" in path else None

    with running(tmp_path / "hub", fault=fail) as server:
        hosted = host(server.url, server.root, tmp_path)
        hosted.benchmark("toy", TEXTS)
        there = hosted_submission(hosted, sentences(6, seed=1))
        with hosted.worker() as worker:
            worker.tick()
            worker.wait(60)
            closed = True
            assert not worker.tick()
            assert len(hosted.results()) == 1, "the result comes first"
            assert hosted.request(there.id).status == "RUNNING"
        closed = False
        first = hosted.results()
        assert run_once(hosted)
        done = hosted.request(there.id)
        assert (done.status, done.attempt, done.history[-1].note) == (
            "FINISHED",
            1,
            "the result was already published",
        )
        assert hosted.results() == first
        assert len(hosted.leaderboard()) == 1


def test_a_rebuild_of_unchanged_results_makes_no_commit(hosted: Hosted) -> None:
    hosted_submission(hosted, sentences(6, seed=1))
    run_once(hosted)
    before = hosted.hub.head(hosted.repo("results"))
    with hosted.worker() as worker:
        worker.prepare()
    assert hosted.hub.head(hosted.repo("results")) == before


def test_an_unreadable_result_file_does_not_stop_the_tables(hosted: Hosted) -> None:
    hosted_submission(hosted, sentences(6, seed=1))
    hosted.hub.commit(hosted.repo("results"), {f"{results.FOLDER}acme/broken.json": b"{"}, "Broken")
    assert run_once(hosted)
    assert len(hosted.leaderboard()) == 1


def test_a_retryable_fault_of_the_references_is_tried_again(hosted: Hosted) -> None:
    there = put_file(hosted, json.dumps(TEXTS).encode(), number=1)
    hosted.put_request(there.updated(dataset_revision="f" * 40))
    run_once(hosted, retry=timedelta(hours=1))
    waiting = hosted.request(there.id)
    assert (waiting.status, waiting.attempt) == ("PENDING", 1)
    assert waiting.error is not None
    assert waiting.error.code == "hub_unavailable"
    assert waiting.not_before is not None
    assert waiting.not_before > waiting.status_at
