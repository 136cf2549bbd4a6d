"""What the queue page says about each state, and about workers."""

from datetime import timedelta

import pytest
from space_fixtures import NOW, board_row, heartbeat, queue_request, request_id, result_id

from rexrank.board.requests import Failure
from space.answers import followed_html
from space.data import BoardData
from space.parts import first_steps, freshness
from space.queue import LISTED, in_order, queue_html, workers_html


def _page(*requests: object, asked: str = "", set_aside: int = 0) -> str:
    return queue_html(BoardData(requests=requests, set_aside=set_aside), NOW, asked)  # type: ignore[arg-type]


def test_a_failed_request_shows_code_and_reason_with_every_sign_escaped() -> None:
    error = Failure(code="missing_ids", stage="validate", message="1 of 2 studies missing: <q1> *x*", at=NOW)
    page = _page(queue_request(1, "Ant", "FAILED", error=error))
    assert "missing&#95;ids" in page
    assert "1 of 2 studies missing: &lt;q1&gt; &#42;x&#42;" in page
    assert "attempt 1 of 2" in page
    assert "5 min ago" in page


def test_a_running_request_shows_how_far_it_is_and_where() -> None:
    page = _page(queue_request(1, "Ant", "RUNNING"))
    assert 'max="590" value="120"' in page
    assert "1 of 4 metrics, 120 of 590 studies on gpu" in page
    assert "for 5 min" in page


def test_those_that_wait_stand_in_the_order_of_their_turn() -> None:
    late = queue_request(1, "Late", "PENDING", submitted_at=NOW - timedelta(minutes=1))
    early = queue_request(2, "Early", "PENDING", submitted_at=NOW - timedelta(minutes=9))
    urgent = queue_request(3, "Urgent", "PENDING", priority=-1)
    assert [request.model_name for request in in_order([late, early, urgent], "PENDING")] == ["Urgent", "Early", "Late"]
    page = _page(late, early)
    assert page.index("number 1 in line, 9 min") < page.index("number 2 in line, 1 min")


def test_a_request_that_waits_for_its_next_attempt_says_so() -> None:
    error = Failure(code="hub_unavailable", message="x", retryable=True, at=NOW)
    page = _page(queue_request(1, "Ant", "PENDING", not_before=NOW + timedelta(seconds=90), error=error, attempt=1))
    assert "next attempt in 1 min after <code>hub&#95;unavailable</code>" in page


def test_a_finished_request_leads_to_its_scores() -> None:
    page = _page(queue_request(1, "Ant", "FINISHED"))
    assert "scored in 42 s" in page
    place = "benchmark=iu-xray&amp;track=findings&amp;protocol=plain%401"
    page = _page(queue_request(1, "Ant", "FINISHED", settings={"protocol": "plain@1"}))
    assert f'href="./?{place}&amp;model={result_id(1)}">see the scores<' in page
    assert "<h3>Done <span>1</span></h3>" in page
    assert "inished" not in page


def test_a_replaced_submission_says_that_its_link_leads_to_the_later_one() -> None:
    requests = (queue_request(1, "Ant", "FINISHED"), queue_request(2, "Ant", "FINISHED"))
    data = BoardData(requests=requests, leaderboard=(board_row(2, "Ant", 1),))
    page = queue_html(data, NOW)
    assert page.count(">see the scores<") == page.count(">replaced by a later submission: see its scores<") == 1
    assert page.index("see the scores") < page.index("replaced by a later")


def test_the_form_follows_its_request_to_the_end() -> None:
    def said(status: str) -> tuple[str, bool]:
        found = followed_html(BoardData(requests=(queue_request(1, "Ant", status),)), request_id(1), NOW)
        assert found is not None
        return found

    assert followed_html(BoardData(), request_id(1), NOW) is None
    assert ("number 1 in line" in said("PENDING")[0], said("PENDING")[1]) == (True, False)
    assert ('value="120"' in said("RUNNING")[0], said("RUNNING")[1]) == (True, False)
    assert ("2 of 590 studies missing" in said("FAILED")[0], said("FAILED")[1]) == (True, True)
    done, ended = said("FINISHED")
    assert ended
    assert f"./queue?request={request_id(1)}" in done
    assert f"model={result_id(1)}" in done


def test_an_unpublished_submission_shows_state_and_position_only() -> None:
    page = _page(queue_request(1, "Secret", "PENDING", visibility="private"))
    assert "Secret" not in page
    assert "acme" not in page
    assert "number 1 in line" in page


def test_the_request_asked_for_stands_on_top() -> None:
    requests = [queue_request(1, "Ant", "FAILED"), queue_request(2, "Bee", "RUNNING")]
    page = _page(*requests, asked=request_id(1))
    assert page.index("Your request") < page.index("Ant") < page.index("Running")
    assert "is not in the queue" in _page(*requests, asked="<script>")
    assert "<script>" not in _page(*requests, asked="<script>")


def test_long_lists_are_cut_and_counted() -> None:
    page = _page(*(queue_request(number, f"M{number}", "FAILED") for number in range(LISTED + 3)))
    assert page.count("<article") == LISTED
    assert "and 3 more" in page


def test_files_set_aside_are_counted() -> None:
    assert "set aside" not in _page()
    assert "1 request file cannot be read and is set aside" in _page(set_aside=1)
    assert "4 request files cannot be read and are set aside" in _page(set_aside=4)


@pytest.mark.parametrize(("minutes", "late"), [(0, False), (15, False), (16, True), (3000, True)])
def test_a_worker_is_late_above_a_quarter_of_an_hour(minutes: int, late: bool) -> None:
    page = workers_html(BoardData(workers=(heartbeat("gpu-1", NOW - timedelta(minutes=minutes)),)), NOW)
    assert ("rx-late" in page) is late
    assert "last run" in page


def test_a_worker_that_ran_just_now_says_so_in_seconds() -> None:
    page = workers_html(BoardData(workers=(heartbeat("gpu-1", NOW - timedelta(seconds=37)),)), NOW)
    assert "last run 37 s ago" in page


def test_a_heartbeat_without_a_time_and_no_heartbeat_at_all_are_warnings() -> None:
    assert "has not run yet" in workers_html(BoardData(workers=({"worker": "<b>w</b>"},)), NOW)
    assert "<b>w" not in workers_html(BoardData(workers=({"worker": "<b>w</b>"},)), NOW)
    assert "No worker has reported yet" in workers_html(BoardData(), NOW)


def test_the_age_of_the_data_is_said_and_a_silent_hub_is_a_warning() -> None:
    read_at = NOW - timedelta(minutes=12)
    assert "Read from the Hub 12 min ago" in freshness(BoardData(origin="hub", read_at=read_at), NOW)
    silent = freshness(BoardData(origin="copy", read_at=read_at, problem="the Hub did not answer"), NOW)
    assert "rx-late" in silent
    assert "12 min ago" in silent
    assert "the Hub did not answer" in silent
    assert "Nothing read yet" in freshness(BoardData(problem="no such repo"), NOW)


def test_an_empty_board_says_how_to_begin() -> None:
    assert "python -m backend serve" in first_steps(BoardData(), "rexrank")
