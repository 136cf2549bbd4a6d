"""Tokenisers: what becomes a token, and what does not."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.metrics.tokenizers import (
    alnum_tokens,
    drop_headers,
    rexrank_tokens,
    single_space_tokens,
    stemmed_word,
    unicode_tokens,
    word,
)


def test_rexrank_tokens_split_on_spaces_alone() -> None:
    assert rexrank_tokens("Size 2.5 cm.\nNo  change,\tstable\u00a0heart.") == [
        *("size", "2", ".5", "cm", ".\nno", "change,\tstable\u00a0heart", "."),
    ]
    assert rexrank_tokens("  ") == []


def test_single_spaces_keep_empty_tokens() -> None:
    assert single_space_tokens("") == [""]
    assert single_space_tokens("a  b ") == ["a", "", "b", ""]


def test_alnum_tokens_are_ascii_alone() -> None:
    assert alnum_tokens("T-10: Größe 2.5cm") == ["t", "10", "gr", "e", "2", "5cm"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No change; 1,250.5 ml (left).", ["no", "change", ";", "1,250.5", "ml", "(", "left", ")", "."]),
        ("Well-aerated; patient's T10, 3-4 mm", ["well-aerated", ";", "patient's", "t10", ",", "3", "-", "4", "mm"]),
        ("Cafe\u0301 ist groß", ["café", "ist", "groß"]),
        ("car\u00addio\u200bmegaly", ["cardiomegaly"]),
        ("हृदय सामान्य है।", ["हृदय", "सामान्य", "है", "।"]),
        ("肺野清晰。", ["肺", "野", "清", "晰", "。"]),
        ("ปอด", ["ป", "อ", "ด"]),
        ("심장 크기 정상", ["심장", "크기", "정상"]),
        ("bell\x07ring", ["bell", "ring"]),
        ("", []),
    ],
)
def test_unicode_tokens(text: str, expected: list[str]) -> None:
    assert unicode_tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FINDINGS: Clear lungs.", "clear lungs ."),
        ("Impression:Clear lungs.", "clear lungs ."),
        ("Findings and Impression : clear lungs.", "clear lungs ."),
        ("COMPARISON: none. FINDINGS: Clear lungs.", "none . clear lungs ."),
        ("Frontal view\nTECHNIQUE: portable\n\nFindings:\nclear", "frontal view portable clear"),
        ("FINDINGS: IMPRESSION: clear", "clear"),
        ("These findings: none.", "these findings : none ."),
        ("The history is unknown.", "the history is unknown ."),
    ],
)
def test_headers_are_dropped_only_where_a_section_can_begin(text: str, expected: str) -> None:
    assert unicode_tokens(text) == expected.split()


def test_drop_headers_leaves_words_apart() -> None:
    assert drop_headers("Clear.FINDINGS:Clear.") == "Clear. Clear."


GENERAL = re.compile(r"\d+(?:[.,]\d+)*|\w+(?:[-'’]\w+)*|[^\w\s]")


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=126, exclude_categories=["Cc"])))
def test_ascii_tokens_follow_the_general_pattern(text: str) -> None:
    assert unicode_tokens(text) == GENERAL.findall(drop_headers(text).lower())


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_ascii_neighbours_do_not_change_how_a_text_is_split(text: str) -> None:
    # A text of another script goes through the general pattern; its ASCII part must come out the same.
    prefix = "Heart-size 2.5 (no_change) it's\x07fine "
    assert unicode_tokens(f"{prefix}ж {text}")[: len(unicode_tokens(prefix))] == unicode_tokens(prefix)


def test_words_are_what_holds_a_letter_or_a_digit() -> None:
    assert [word(token) for token in ("lung", "2.5", "肺", "___", ";")] == ["lung", "2.5", "肺", None, None]
    assert [stemmed_word(token) for token in ("opacities", "легкие", "2nd", ";")] == ["opac", "легкие", "2nd", None]
