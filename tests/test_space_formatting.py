"""Strings from users are made harmless, and numbers and times are said plainly."""

from datetime import UTC, datetime, timedelta

import pytest

from space import formatting

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("sign", list("<>&\"'*_`[]()#!|~\\{}$"))
def test_escape_leaves_no_markup_sign(sign: str) -> None:
    escaped = formatting.escape(f"a{sign}b")
    assert sign == "&" or sign == "#" or sign not in escaped
    assert escaped.startswith("a&")
    assert escaped.endswith(";b")


def test_escape_makes_one_entity_of_each_sign() -> None:
    assert formatting.escape("<b>*x*</b>") == "&lt;b&gt;&#42;x&#42;&lt;/b&gt;"
    assert formatting.escape("it's #1") == "it&#x27;s &#35;1"
    assert formatting.escape(None) == ""


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "nan",
        "http://example.org",
        "javascript:alert(1)",
        "https://user@example.org/",
        "https://",
        "https://[x",
    ],
)
def test_a_link_that_is_not_plain_https_renders_as_nothing(url: str | None) -> None:
    assert formatting.external_link(url, "paper") == ""


def test_a_link_cannot_leave_its_attribute() -> None:
    link = formatting.external_link('https://example.org/"><script>', "paper")
    assert "<script>" not in link
    assert 'rel="noopener nofollow ugc"' in link


def test_a_real_zero_stays_and_only_the_absent_is_a_dash() -> None:
    assert formatting.number(0.0, 3) == "0.000"
    assert formatting.number(None) == formatting.number(float("nan")) == "—"
    assert formatting.interval(0.1, None) == ""
    assert formatting.interval(-0.01, 0.01, 2) == "-0.01 – 0.01"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-3, "0 s"), (59, "59 s"), (60, "1 min"), (3599, "59 min"), (7200, "2 h"), (172_800, "2 d"), (1_000_000, "11 d")],
)
def test_durations_have_one_unit(seconds: float, said: str) -> None:
    assert formatting.duration(seconds) == said
    assert formatting.age(NOW - timedelta(seconds=seconds), NOW) == said


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", "\tx", "\rx"])
def test_no_text_cell_is_a_formula(text: str) -> None:
    assert formatting.spreadsheet_text(text) == "'" + text


def test_stored_times_are_read_as_utc() -> None:
    assert formatting.parse_time("2026-03-02T12:00:00Z") == NOW
    assert formatting.parse_time("2026-03-02T12:00:00") == NOW
    assert formatting.parse_time("soon") is None
    assert formatting.parse_time(7) is None
