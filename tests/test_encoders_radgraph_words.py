"""RadGraph's words and the places of their pieces: examples, and the rules in their longer form."""

import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.encoders.radgraph_pieces import Marks, lay_out, tokens_in
from rexrank.encoders.radgraph_words import Form, encoded_word, words_of

# What the rules are about, and what is next to it.
SIGNS = st.sampled_from([*"aB19_ ./,:!?()-%'\"\\`²½é\n\t\u200b\u3000\u0301", "\\n", "\\f", "\\u2122", '\\"', "%)."])
TEXTS = st.lists(SIGNS, max_size=12).map("".join)
FIRST, LAST = -1, -2


@pytest.mark.parametrize(
    ("form", "text", "words"),
    [
        ("v1", "", "None"),
        ("xl", "", "None"),
        ("v1", " \n\t\u3000", ""),
        ("xl", " \n\t\u3000", ""),
        ("v1", "Right-sided 3.5 cm mass.", "Right-sided 3 . 5 cm mass ."),
        ("xl", "Right-sided 3.5 cm mass.", "Right - sided 3 . 5 cm mass ."),
        ("v1", "Clear(see below):no/mild?", "Clear ( see below ) : no / mild ?"),
        ("v1", "50%; \"air\" 'x' a\\nb", "50%; \"air\" 'x' a\\nb"),
        ("xl", "(10%). 20%, 30%) ", "( 10 % ) . 20 % , 30 % )"),
        ("xl", "a\\nb\\fc\\u2122d\ne", "a b c d e"),
        ("xl", 'said \\"no\\"', "said `` no ``"),
        ("xl", "'normal.'", "' normal . '"),
        ("xl", "seen /. or /?", "seen /. or /?"),
        ("v1", "seen /. or /?", "seen / . or / ?"),
        # As in NLTK when the published numbers were made.
        ("xl", "12 cm² ½", "12 cm² ½"),
        ("xl", "e\u0301 \u200b", "e \u0301 \u200b"),
    ],
)
def test_words(form: Form, text: str, words: str) -> None:
    assert words_of(text, form) == words.split(" ") if words else not words_of(text, form)


def test_two_words_lose_their_slash_before_the_encoder_alone() -> None:
    assert [encoded_word(word) for word in ("/.", "/?", "/", "/.?", "a")] == [".", "?", "/", "/.?", "a"]


@settings(deadline=None)
@given(TEXTS.filter(bool))
def test_first_form_is_the_expression_of_the_original(text: str) -> None:
    marks = "[/,-,:,.,!?()]"
    assert words_of(text, "v1") == re.sub(f"(?<! )(?={marks})|(?<={marks})(?! )", " ", text).split()


@settings(deadline=None)
@given(TEXTS.filter(bool))
def test_second_form_is_what_the_package_does_step_by_step(original: str) -> None:
    text = original
    for old, new in (("\\n", "  "), ("\\f", "  "), ("\\u2122", "      "), ("\n", " "), ('\\"', "``")):
        text = text.replace(old, new)
    joined = " ".join(re.findall(r"\w+|[^\w\s]+", re.sub(r"\s+", " ", text), re.UNICODE | re.MULTILINE | re.DOTALL))
    for mark in (").", "%.", ".'", "%,", "%)"):
        joined = joined.replace(mark, " ".join(mark))
    assert words_of(original, "xl") == joined.split()


def vectors_of_pieces(pieces: Sequence[int], written: bool, most: int) -> list[int | None]:
    """What the original takes for each piece: the token whose vector it is, None for no vector.

    AllenNLP's way, list by list: fold, encode, take marks away, put the outer ones back, and look one place further.
    """
    flat = list(pieces)
    if written:
        parts = [flat[start : start + most - 2] for start in range(0, len(flat), most - 2)]
        flat = [token for part in parts for token in (FIRST, *part, LAST)]
    rows = [flat[start : start + most] for start in range(0, len(flat), most)]
    if len(rows) > 1:
        padded = [row + [0] * (most - len(row)) for row in rows]
        inside = [token for row in padded for token in row[1:-1]] + [0]
        inside[len(flat) - 2 * len(rows)] = flat[-1]
        flat = [flat[0], *inside][: len(flat) - 2 * (len(rows) - 1)]
    return [flat[place] if place < len(flat) else None for place in range(1, len(pieces) + 1)]


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=30), st.integers(3, 12), st.booleans())
def test_pieces_are_found_where_the_original_looks(words: list[int], most: int, written: bool) -> None:
    numbers = iter(range(1, sum(words) + 1))
    report = [[next(numbers) for _ in range(word)] for word in words]
    layout = lay_out(report, Marks(FIRST, LAST, written), most)
    assert all(len(row) <= most for row in layout.rows)
    tokens = [token for row in layout.rows for token in row]
    assert len(tokens) == tokens_in(report, Marks(FIRST, LAST, written), most)
    expected = vectors_of_pieces(range(1, sum(words) + 1), written, most)
    places = [int(row) * most + int(column) for row, column in zip(*np.divmod(layout.places, most), strict=True)]
    assert [tokens[place] for place in places] == [token for token in expected if token is not None]
    # Only the last pieces can be without a vector.
    assert expected[len(places) :] == [None] * (len(expected) - len(places))
    found = iter(expected)
    kept = [sum(next(found) is not None for _ in range(word)) for word in words]
    assert layout.lengths.tolist() == kept
    if written:
        assert expected == list(range(1, sum(words) + 1)), "each piece has its own vector"
