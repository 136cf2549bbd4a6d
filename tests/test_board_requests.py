"""The request file and the one function that changes it (specs/hub.md 4.2 and 4.3)."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from hosting import HandClock, request
from hypothesis import given
from hypothesis import strategies as st

from rexrank.board import requests
from rexrank.board.requests import Claim, Failure, Request, RequestError, ResultPlace, transition

FIELDS = """
schema_version id kind repo_id repo_type path_in_repo revision file_sha256 model_name name_key owner submitter
model_url paper_url code_url organization license description dataset dataset_revision split section modality
metrics settings declared visibility status submitted_at status_at priority not_before attempt max_attempts
claim cancel_requested progress error result evaluator supersedes rescore_of withdrawn_at flags history
"""
AT = datetime(2026, 3, 2, 13, 0, tzinfo=UTC)
CLAIM = Claim(id="c1", worker="w", instance="i", host="h", at=AT, lease_until=AT + timedelta(minutes=30))
PLACE = ResultPlace(path="results/acme/x.json", results_revision="c" * 40, evaluator_hash="d" * 64)
RETRYABLE = Failure(code="hub_unavailable", message="the Hub did not answer", retryable=True, at=AT)
PERMANENT = Failure(code="missing_ids", message="1 of 3 studies missing: a", at=AT)


def moved(old: Request, event: requests.Event, **given: Any) -> Request:
    defaults: dict[str, Any] = {
        "claim": {"claim": CLAIM},
        "finish": {"result": PLACE},
        "error": {"error": PERMANENT},
        "lost": {"error": RETRYABLE},
    }.get(event, {})
    return transition(old, event, op=f"op-{len(old.history)}", at=AT, worker="w", **{**defaults, **given})


def in_state(status: requests.Status) -> Request:
    way: dict[requests.Status, list[requests.Event]] = {
        "PENDING": [],
        "RUNNING": ["claim"],
        "FINISHED": ["claim", "finish"],
        "FAILED": ["claim", "error"],
        "CANCELLED": ["cancel"],
    }
    found = request()
    for event in way[status]:
        found = moved(found, event)
    assert found.status == status
    return found


def test_a_request_survives_its_file() -> None:
    for status in get_args(requests.Status):
        there = in_state(status)
        assert requests.read(there.to_bytes(), there.path) == there


def test_the_file_holds_the_fields_of_the_specification() -> None:
    document = json.loads(in_state("RUNNING").to_bytes())
    assert set(document) == set(FIELDS.split())
    assert set(document["claim"]) == {"id", "worker", "instance", "host", "at", "lease_until"}
    assert set(document["history"][0]) == {"op", "at", "from", "to", "attempt", "worker", "note"}
    assert document["submitted_at"] == "2026-03-02T12:00:00Z"
    assert document["history"][-1]["from"] == "PENDING"


ALLOWED = {
    ("PENDING", "claim"): "RUNNING",
    ("PENDING", "cancel"): "CANCELLED",
    ("RUNNING", "renew"): "RUNNING",
    ("RUNNING", "finish"): "FINISHED",
    ("RUNNING", "error"): "FAILED",
    ("RUNNING", "lost"): "PENDING",
    ("RUNNING", "give_back"): "PENDING",
    ("RUNNING", "cancel"): "RUNNING",
    ("FAILED", "reopen"): "PENDING",
}


@pytest.mark.parametrize("status", get_args(requests.Status))
@pytest.mark.parametrize("event", get_args(requests.Event))
def test_every_change_is_either_in_the_table_or_refused(status: requests.Status, event: requests.Event) -> None:
    old = in_state(status)
    if (status, event) not in ALLOWED:
        with pytest.raises(RequestError, match=f"{old.id} is {status}"):
            moved(old, event)
        return
    new = moved(old, event)
    assert new.status == ALLOWED[status, event]
    assert new.history[:-1] == old.history
    assert (new.history[-1].from_, new.history[-1].to) == (status, new.status)


def test_a_retryable_error_is_tried_once_more_and_then_fails() -> None:
    later = AT + timedelta(minutes=1)
    first = moved(in_state("RUNNING"), "error", error=RETRYABLE, not_before=later)
    assert (first.status, first.attempt, first.not_before, first.claim) == ("PENDING", 1, later, None)
    second = moved(moved(first, "claim"), "error", error=RETRYABLE, not_before=later)
    assert (second.status, second.attempt, second.not_before) == ("FAILED", 2, None)
    assert second.error == RETRYABLE


def test_a_lost_worker_is_replaced_at_once_and_then_fails() -> None:
    first = moved(in_state("RUNNING"), "lost")
    assert (first.status, first.not_before) == ("PENDING", None)
    assert moved(moved(first, "claim"), "lost").status == "FAILED"


def test_a_permanent_error_fails_at_the_first_attempt() -> None:
    assert moved(in_state("RUNNING"), "error").status == "FAILED"


def test_stopping_in_good_order_costs_no_attempt() -> None:
    back = moved(in_state("RUNNING"), "give_back")
    assert (back.status, back.attempt, back.claim) == ("PENDING", 0, None)


@pytest.mark.parametrize("event", ["error", "lost", "give_back"])
def test_a_cancelled_run_ends_cancelled(event: requests.Event) -> None:
    asked = moved(in_state("RUNNING"), "cancel")
    assert (asked.status, asked.cancel_requested) == ("RUNNING", True)
    assert moved(asked, event, error=RETRYABLE).status == "CANCELLED"


def test_a_reopened_request_has_all_its_attempts() -> None:
    again = moved(in_state("FAILED"), "reopen")
    assert (again.attempt, again.error) == (0, None)


@given(
    st.lists(st.sampled_from(get_args(requests.Event)), max_size=20), st.lists(st.booleans(), min_size=20, max_size=20)
)
def test_no_way_through_the_states_leaves_a_file_that_cannot_be_read(
    events: list[requests.Event], retryable: list[bool]
) -> None:
    now = request()
    for number, event in enumerate(events):
        try:
            error = {"error": RETRYABLE if retryable[number] else PERMANENT} if event in ("error", "lost") else {}
            now = moved(now, event, **error)
        except RequestError:
            continue
        assert requests.read(now.to_bytes(), now.path) == now
        assert now.attempt <= now.max_attempts


def changed(**fields: Any) -> bytes:
    return json.dumps({**json.loads(request().to_bytes()), **fields}).encode()


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b"", "file"),
        (b"\xff\xfe", "file"),
        (b"[]", "file"),
        (b"{", "file"),
        (changed(schema_version=2), "schema_version"),
        (changed(id="../../x"), "id"),
        (changed(revision="main"), "revision"),
        (changed(path_in_repo="../secret"), "path_in_repo"),
        (changed(model_name="<b>x</b>"), "model_name"),
        (changed(model_url="javascript:x"), "model_url"),
        (changed(status="running"), "status"),
        (changed(status="RUNNING"), "file"),
        (changed(section="findings+impression"), "section"),
        (changed(attempt="1"), "attempt"),
        (changed(submitted_at="2026-03-02T12:00:00+01:00"), "submitted_at"),
        (changed(submitted_at="2026-03-02T12:00:00"), "submitted_at"),
        (changed(dataset="../iu-xray"), "dataset"),
        (changed(owner="a/b"), "owner"),
    ],
)
def test_a_faulty_file_is_refused_by_field_and_never_quoted(content: bytes, field: str) -> None:
    with pytest.raises(RequestError) as refused:
        requests.read(content)
    assert field in str(refused.value)
    assert "secret" not in str(refused.value)
    assert "<b>" not in str(refused.value)


def test_the_name_of_the_file_is_the_id() -> None:
    with pytest.raises(RequestError, match="name of the file"):
        requests.read(request(1).to_bytes(), request(2).path)


def test_fields_of_a_later_release_are_kept() -> None:
    later = requests.read(changed(a_new_field={"x": 1}))
    assert json.loads(moved(later, "claim").to_bytes())["a_new_field"] == {"x": 1}


def test_ids_sort_by_age_and_never_repeat() -> None:
    time = HandClock()
    ids = []
    for _ in range(50):
        ids.append(requests.new_id(time.clock()))
        time.move(0.001)
    assert ids == sorted(set(ids))
    assert all(len(found) == 26 for found in ids)
    # The first ten characters are the milliseconds since 1970, in base 32.
    digits = [requests.ULID_ALPHABET.index(character) for character in ids[0][:10]]
    assert sum(digit * 32 ** (9 - place) for place, digit in enumerate(digits)) == 1772452800000
