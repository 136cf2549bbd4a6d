"""Clipped n-gram matches and common subsequences against their textbook definitions."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.metrics.lcs import lcs_lengths
from rexrank.metrics.ngrams import clipped_matches, ngram_totals
from rexrank.metrics.pairs import Pairs, PairTokens
from rexrank.metrics.tokenizers import SPLIT

texts = st.lists(st.sampled_from(list("abcde")), max_size=30).map(" ".join)


def tokens_of(predictions: list[str], references: list[list[str]]) -> PairTokens:
    return Pairs(predictions, [tuple(each) for each in references]).tokens(SPLIT)


def ngrams(text: str, order: int) -> Counter[tuple[str, ...]]:
    words = text.split()
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


def clipped_by_counters(prediction: str, references: list[str], order: int) -> int:
    most: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        most |= ngrams(reference, order)
    return (ngrams(prediction, order) & most).total()


def lcs_by_table(one: list[str], other: list[str]) -> int:
    row = [0] * (len(other) + 1)
    for word in one:
        above = row
        row = [0]
        for j, candidate in enumerate(other):
            row.append(above[j] + 1 if word == candidate else max(row[j], above[j + 1]))
    return row[-1]


@settings(deadline=None)
@given(st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=4)), min_size=1, max_size=8))
def test_clipped_matches_equal_counters(studies: list[tuple[str, list[str]]]) -> None:
    tokens = tokens_of([study[0] for study in studies], [study[1] for study in studies])
    expected = [[clipped_by_counters(*study, order) for order in range(1, 5)] for study in studies]
    assert clipped_matches(tokens, 4).tolist() == expected
    totals = [[ngrams(prediction, order).total() for order in range(1, 5)] for prediction, _ in studies]
    assert ngram_totals(tokens.predictions, 4).tolist() == totals


def test_clipped_matches_of_many_pairs_and_a_vocabulary_too_large_for_one_number() -> None:
    generator = np.random.default_rng(0)
    # 60,000 distinct words: the fourth power of that does not fit 64 bits, and the pairs fill several chunks.
    predictions = [" ".join(map(str, generator.integers(0, 60_000, 40))) for _ in range(3_000)]
    references = [[f"{text} {generator.integers(9)} {text.split()[0]}"] for text in predictions]
    matches = clipped_matches(tokens_of(predictions, references), 4)
    assert matches.shape == (3_000, 4)
    assert np.array_equal(matches, np.tile([40, 39, 38, 37], (3_000, 1)))


@settings(deadline=None)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=8))
def test_lcs_equals_the_quadratic_table(studies: list[tuple[str, str]]) -> None:
    tokens = tokens_of([study[0] for study in studies], [[study[1]] for study in studies])
    assert lcs_lengths(tokens).tolist() == [lcs_by_table(a.split(), b.split()) for a, b in studies]


@pytest.mark.parametrize("lengths", [(7, 9), (8, 64), (63, 64), (64, 65), (200, 1), (1_500, 3_000)])
def test_lcs_of_texts_of_any_length_in_one_call(lengths: tuple[int, int]) -> None:
    generator = np.random.default_rng(1)
    one, other = (" ".join(map(str, generator.integers(0, 12, length))) for length in lengths)
    tokens = tokens_of([one, "", one, "x y", one], [[other], [other], [""], ["x z y"], [one]])
    expected = lcs_by_table(one.split(), other.split())
    assert lcs_lengths(tokens).tolist() == [expected, 0, 0, 2, lengths[0]]


def test_lcs_is_the_same_whatever_fits_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(2)
    predictions = [" ".join(map(str, generator.integers(0, 9, generator.integers(0, 70)))) for _ in range(200)]
    references = [[" ".join(map(str, generator.integers(0, 9, generator.integers(0, 70))))] for _ in range(200)]
    tokens = tokens_of(predictions, references)
    whole = lcs_lengths(tokens)
    monkeypatch.setattr("rexrank.metrics.lcs._CELLS", 500)
    assert lcs_lengths(tokens).tolist() == whole.tolist()
