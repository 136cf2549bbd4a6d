"""Why a request failed: every kind named, at most 500 characters, no report text."""

import pytest

from backend.failures import of_hub, of_problems, trace
from rexrank.hub import HubError
from rexrank.reports.problems import Problem

TEXT = "The heart is normal in size. No pneumothorax."


def problem(code: str, study_id: str | None = None, message: str = "m", field: str | None = None) -> Problem:
    return Problem(code, "preds.csv", study_id, field, message)


def test_missing_extra_and_duplicate_are_named_in_one_message() -> None:
    reason = of_problems(
        [problem("duplicate_key", "d1"), problem("missing_ids", "m1"), problem("extra_ids", "x1")], 590, True
    )
    assert reason.code == "duplicate_key"
    assert reason.message == "1 study given twice: d1; 1 of 590 studies missing: m1; 1 study not in the track: x1"
    assert not reason.retryable


@pytest.mark.parametrize("length", [4, 60])
def test_ten_ids_and_the_count_within_five_hundred_characters(length: int) -> None:
    problems = [
        problem(code, f"{code[0]}{number:03d}".ljust(length, "x"))
        for code in ("missing_ids", "extra_ids", "duplicate_key")
        for number in range(200)
    ]
    message = of_problems(problems, 590, True).message
    assert len(message) <= 500
    for kind, first in [
        ("200 of 590 studies missing", "m000"),
        ("200 studies not in", "e000"),
        ("200 studies given", "d000"),
    ]:
        assert kind in message
        assert first in message
    assert "m010" not in message
    assert message.count(", …") == 3


def test_an_id_that_may_be_a_report_is_not_quoted() -> None:
    message = of_problems([problem("extra_ids", TEXT), problem("wrong_type", TEXT, "expected text, got null")], 1, True)
    assert "heart" not in message.message
    assert f"(an id of {len(TEXT)} characters)" in message.message


def test_ids_of_a_hidden_benchmark_are_counted_only() -> None:
    near = 'the references have no such study (1 of 3 extra); they have "Q1", which differs only in case'
    hidden = of_problems([problem("missing_ids", "Q1"), problem("extra_ids", "q1", near)], 40, False).message
    assert hidden == "1 of 40 studies missing; 1 study not in the track: q1"
    shown = of_problems([problem("extra_ids", "q1", near)], 40, True).message
    assert shown == "1 study not in the track: q1 (differs only in case)"


def test_other_faults_keep_their_words_and_count() -> None:
    reason = of_problems([problem("bad_json", None, "line 4, column 7: expected a comma")], 40, True)
    assert (reason.code, reason.message) == ("bad_json", "bad_json: line 4, column 7: expected a comma")
    reason = of_problems(
        [problem("wrong_type", f"s{n}", "expected text, got a list of 2", "prediction") for n in range(7)], 40, True
    )
    assert reason.message == 'wrong_type: study "s0": expected text, got a list of 2 (and 6 more)'
    assert reason.field == "prediction"


def test_what_the_hub_says_becomes_one_of_the_codes() -> None:
    for code, expected, retryable in [
        ("repo_not_found", "repo_not_found", False),
        ("file_missing", "file_missing", False),
        ("forbidden", "gated", False),
        ("rate_limited", "rate_limited", True),
        ("hub_unavailable", "hub_unavailable", True),
        ("contention", "hub_unavailable", True),
    ]:
        reason = of_hub(HubError(code, "acme/preds: …", retry_after=9), "fetch")
        assert (reason.code, reason.retryable, reason.wait) == (expected, retryable, 9)


def test_a_trace_holds_places_and_no_words() -> None:
    def parse(text: str) -> float:
        return float(text)

    with pytest.raises(ValueError, match="heart") as failed:
        parse(TEXT)
    places = trace(failed.value)
    assert places[-1] == "ValueError"
    assert any(place.startswith("test_backend_failures.py:") for place in places)
    assert "heart" not in " ".join(places)
