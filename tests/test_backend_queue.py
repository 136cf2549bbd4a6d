"""Claims, leases, recovery and quarantine on a real Hub, with the time moved by hand (rules Q4, Q13, Q17 to Q20)."""

import base64
import json
from datetime import timedelta
from pathlib import Path

import pytest
from hosting import HandClock, Hosted, host, request, together

from backend.crew import Outcome
from backend.failures import Reason
from backend.queue import Ending, Held, Queue, Turn
from rexrank.board.requests import Request, ResultPlace, transition
from rexrank.hub import Clock

PLACE = ResultPlace(path="results/acme/x.json", results_revision="c" * 40, evaluator_hash="d" * 64)


@pytest.fixture
def hosted(hub_server, tmp_path: Path) -> Hosted:
    found = host(hub_server.url, hub_server.root, tmp_path)
    found.hub.ensure_repo(found.repo("requests"))
    return found


class Bench:
    """A queue with workers whose time is moved by hand."""

    def __init__(self, hosted: Hosted, *requests: Request) -> None:
        self.hosted = hosted
        self.time = HandClock()
        self.results: dict[str, ResultPlace] = {}
        for there in requests:
            hosted.put_request(there)

    def queue(self, worker: str = "w1", **config: object) -> Queue:
        return Queue(
            self.hosted.hub, self.hosted.repo("requests"), self.hosted.config(worker, **config), self.time.clock()
        )

    def turn(
        self,
        queue: Queue,
        held: dict[str, str] | None = None,
        capacity: int = 0,
        endings: list[Ending] | None = None,
        given_back: frozenset[str] = frozenset(),
    ) -> Turn:
        holding = {request_id: Held(claim_id) for request_id, claim_id in (held or {}).items()}
        return queue.turn(holding, endings or [], capacity, lambda there: self.results.get(there.id), given_back)

    def now(self, number: int) -> Request:
        return self.hosted.request(request(number).id)


def claim_ids(turn: Turn) -> dict[str, str]:
    return {there.id: there.claim.id for there in turn.claimed if there.claim is not None}


def test_the_first_in_line_are_claimed_by_priority_then_age(hosted: Hosted) -> None:
    bench = Bench(hosted, request(1), request(2, priority=-1), request(3), request(4, kind="model"))
    turn = bench.turn(bench.queue(), capacity=2)
    assert [there.model_name for there in sorted(turn.claimed, key=lambda there: there.priority)] == [
        "Acme 2",
        "Acme 1",
    ]
    assert turn.waiting == 1
    there = bench.now(2)
    assert (there.status, there.attempt) == ("RUNNING", 1)
    assert there.claim is not None
    assert there.claim.lease_until - there.claim.at == hosted.config().lease
    assert there.history[-1].op == there.claim.id
    assert bench.now(4).status == "PENDING", "reserved kinds wait"


def test_a_quiet_turn_makes_no_commit(hosted: Hosted) -> None:
    bench = Bench(hosted, request(1))
    queue = bench.queue()
    held = claim_ids(bench.turn(queue, capacity=1))
    before = hosted.hub.head(hosted.repo("requests"))
    turn = bench.turn(queue, held, capacity=1)
    assert (turn.claimed, turn.stop) == ([], set())
    assert hosted.hub.head(hosted.repo("requests")) == before


def test_workers_in_a_race_claim_each_request_once(hosted: Hosted) -> None:
    Bench(hosted, *(request(number) for number in range(10)))
    # Real waits: time moved by hand lets the losers' waits pass in no time, for all of them at once.
    repo = hosted.repo("requests")
    queues = [Queue(hosted.hub, repo, hosted.config(f"w{number}"), Clock()) for number in range(5)]

    def run(number: int) -> list[str]:
        found: dict[str, str] = {}
        for _ in range(4):
            found |= claim_ids(queues[number].turn({i: Held(c) for i, c in found.items()}, [], 1, lambda _r: None))
        return list(found)

    claimed = [request_id for found in together(5, run) for request_id in found]
    assert sorted(claimed) == [request(number).id for number in range(10)]
    assert all(there.attempt == 1 for there in hosted.requests())


def test_a_lease_is_renewed_at_a_third_and_tells_the_progress(hosted: Hosted) -> None:
    bench = Bench(hosted, request(1))
    queue = bench.queue()
    held = claim_ids(bench.turn(queue, capacity=1))
    bench.time.move(9 * 60)
    bench.turn(queue, held)
    assert len(bench.now(1).history) == 2
    bench.time.move(2 * 60)
    progress = {"stage": "bleu", "items_done": 1, "items_total": 3}
    (request_id,) = held
    queue.turn({request_id: Held(held[request_id], progress)}, [], 0, lambda _r: None)
    there = bench.now(1)
    assert there.claim is not None
    assert there.claim.lease_until == bench.time.moment + timedelta(minutes=30)
    assert there.progress is not None
    assert (there.progress.stage, there.progress.items_total) == ("bleu", 3)


def test_a_lease_that_is_over_is_taken_by_another_worker_after_the_tolerance(hosted: Hosted) -> None:
    bench = Bench(hosted, request(1))
    held = claim_ids(bench.turn(bench.queue("w1"), capacity=1))
    other = bench.queue("w2")
    bench.time.move(30 * 60 + 59)
    assert bench.turn(other, capacity=1).claimed == []
    bench.time.move(2)
    taken = bench.turn(other, capacity=1)
    assert list(claim_ids(taken)) == [request(1).id]
    there = bench.now(1)
    assert (there.status, there.attempt) == ("RUNNING", 2)
    assert [entry.note for entry in there.history] == [None, None, "worker_lost", None]
    assert bench.turn(bench.queue("w1"), held).stop == {request(1).id}, "the first worker finds its claim gone"
    assert bench.now(1).claim == there.claim


def test_a_worker_takes_its_own_claims_back_at_once(hosted: Hosted) -> None:
    bench = Bench(hosted, request(1))
    bench.turn(bench.queue("w1", instance="before"), capacity=1)
    assert bench.turn(bench.queue("w2"), capacity=1).claimed == []
    again = bench.turn(bench.queue("w1", instance="after"), capacity=1)
    assert list(claim_ids(again)) == [request(1).id]
    assert bench.now(1).attempt == 2
    bench.turn(bench.queue("w1", instance="third"), capacity=1)
    there = bench.now(1)
    assert there.status == "FAILED"
    assert there.error is not None
    assert there.error.code == "worker_lost"


def test_a_published_result_ends_a_lost_request_without_scoring_again(hosted: Hosted) -> None:
    bench = Bench(hosted, request(1))
    bench.turn(bench.queue("w1", instance="before"), capacity=1)
    bench.results[request(1).id] = PLACE
    assert bench.turn(bench.queue("w1", instance="after"), capacity=1).claimed == []
    there = bench.now(1)
    assert (there.status, there.result, there.attempt) == ("FINISHED", PLACE, 1)


def test_a_claim_whose_answer_was_lost_costs_no_attempt(hosted: Hosted) -> None:
    bench = Bench(hosted, request(1))
    queue = bench.queue("w1")
    bench.turn(queue, capacity=1)
    turn = bench.turn(queue, held={}, capacity=1)
    assert list(claim_ids(turn)) == [request(1).id]
    assert bench.now(1).attempt == 1


def test_outcomes_are_written_only_under_the_own_claim(hosted: Hosted) -> None:
    bench = Bench(hosted, request(1), request(2))
    queue = bench.queue()
    turn = bench.turn(queue, capacity=2)
    held = claim_ids(turn)
    first, second = sorted(turn.claimed, key=lambda there: there.id)
    mine = Ending(Outcome(first, held[first.id], result=b"{}"), PLACE, {"file_sha256": "e" * 64})
    foreign = Ending(Outcome(second, "somebody-elses", reason=Reason("internal", "x", "score")))
    assert queue.holds(first.id, held[first.id])
    assert not queue.holds(second.id, "somebody-elses")
    bench.turn(queue, endings=[mine, foreign], held={second.id: held[second.id]})
    assert (bench.now(1).status, bench.now(1).file_sha256) == ("FINISHED", "e" * 64)
    assert bench.now(2).status == "RUNNING"


def test_a_retryable_error_waits_and_a_permanent_one_fails_in_the_same_turn(hosted: Hosted) -> None:
    bench = Bench(hosted, request(1), request(2))
    queue = bench.queue(retry=timedelta(minutes=5))
    turn = bench.turn(queue, capacity=2)
    first, second = sorted(turn.claimed, key=lambda there: there.id)
    held = claim_ids(turn)
    endings = [
        Ending(Outcome(first, held[first.id], reason=Reason("rate_limited", "too many", "fetch", wait=600))),
        Ending(Outcome(second, held[second.id], reason=Reason("missing_ids", "1 of 3 studies missing: a", "validate"))),
    ]
    turn = bench.turn(queue, endings=endings, capacity=2)
    assert turn.claimed == []
    assert bench.now(1).not_before == bench.time.moment + timedelta(minutes=10), "the Hub asked for longer"
    there = bench.now(2)
    assert there.status == "FAILED"
    assert there.error is not None
    assert (there.error.code, there.error.stage) == ("missing_ids", "validate")
    bench.time.move(601)
    assert list(claim_ids(bench.turn(queue, capacity=2))) == [request(1).id]


def test_a_dead_child_is_replaced_in_the_same_turn(hosted: Hosted) -> None:
    bench = Bench(hosted, request(1))
    queue = bench.queue()
    (first,) = bench.turn(queue, capacity=1).claimed
    assert first.claim is not None
    ending = Ending(Outcome(first, first.claim.id, reason=Reason("timeout", "scoring took more than 1 seconds")))
    (second,) = bench.turn(queue, endings=[ending], capacity=1).claimed
    assert (second.status, second.attempt) == ("RUNNING", 2)
    assert second.claim is not None
    ending = Ending(Outcome(second, second.claim.id, reason=Reason("timeout", "scoring took more than 1 seconds")))
    bench.turn(queue, endings=[ending], capacity=1)
    there = bench.now(1)
    assert there.status == "FAILED"
    assert there.error is not None
    assert there.error.code == "timeout"


def test_giving_back_in_good_order_leaves_the_attempt_unused(hosted: Hosted) -> None:
    bench = Bench(hosted, request(1))
    queue = bench.queue()
    held = claim_ids(bench.turn(queue, capacity=1))
    turn = bench.turn(queue, held, capacity=1, given_back=frozenset(held))
    assert turn.claimed == []
    assert (bench.now(1).status, bench.now(1).attempt) == ("PENDING", 0)


def test_a_cancelled_run_is_stopped(hosted: Hosted) -> None:
    bench = Bench(hosted, request(1))
    queue = bench.queue()
    held = claim_ids(bench.turn(queue, capacity=1))
    hosted.put_request(transition(bench.now(1), "cancel", op="by-owner", at=bench.time.moment))
    assert bench.turn(queue, held).stop == set(held)
    assert bench.now(1).status == "CANCELLED"


def test_corrupt_files_go_into_quarantine_and_stop_nobody(hosted: Hosted) -> None:
    bench = Bench(hosted, request(2))
    later = json.loads(request(3).to_bytes()) | {"schema_version": 99}
    broken: dict[str, bytes | None] = {
        f"requests/{request(1).id}.json": b'{"id": "cut off',
        "requests/=cmd ../.json": b"\x00\xff",
        f"requests/{request(3).id}.json": json.dumps(later).encode(),
        f"requests/{request(4).id}.json": b" " * (2 * 2**20),
    }
    hosted.hub.commit(hosted.repo("requests"), broken, "Broken")
    queue = bench.queue()
    turn = bench.turn(queue, capacity=5)
    assert list(claim_ids(turn)) == [request(2).id]
    assert turn.quarantined == 4
    files = hosted.hub.view(hosted.repo("requests"), ["quarantine/"]).files
    assert len(files) == 4
    kept = json.loads(files[f"quarantine/{request(1).id}.json"])
    assert base64.b64decode(kept["content_base64"]) == b'{"id": "cut off'
    assert kept["path"] == f"requests/{request(1).id}.json"
    assert len(kept["commit"]) == 40
    assert "cut off" not in kept["reason"]
    before = hosted.hub.head(hosted.repo("requests"))
    assert bench.turn(queue, claim_ids(turn)).quarantined == 0
    assert hosted.hub.head(hosted.repo("requests")) == before, "quarantined once, not at every tick"
