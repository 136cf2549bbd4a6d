"""SembScore from given embeddings: the cosine, its clamp, and what wrong vectors get."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.metrics import InvalidCall, TextFeatures, compute
from rexrank.terms import CONVENTIONS, Convention


def scored(
    predictions: Sequence[Any],
    references: Sequence[Sequence[Any]],
    convention: Convention = "published",
    texts: Sequence[str] | None = None,
    reference_texts: Sequence[Any] | None = None,
) -> Any:
    features = {"chexbert_cls": TextFeatures(predictions, references)}
    own = [f"Report {number}." for number in range(len(predictions))] if texts is None else texts
    others = [["Reference."] * len(items) for items in references] if reference_texts is None else reference_texts
    return compute("sembscore", own, others, convention, features=features)["sembscore"]


def embeddings(seed: int, count: int, width: int = 768) -> list[Any]:
    return list(np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32))


numbers = st.floats(-10, 10, width=32).map(lambda number: 0.5 if abs(number) < 0.1 else number)


@settings(deadline=None)
@given(st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=1, max_size=6))
def test_published_is_the_cosine(drawn: list[tuple[float, ...]]) -> None:
    predictions, references = [row[:2] for row in drawn], [[row[2:]] for row in drawn]
    expected = [
        sum(a * b for a, b in zip(mine, theirs, strict=True)) / math.hypot(*mine) / math.hypot(*theirs)
        for mine, (theirs,) in zip(predictions, references, strict=True)
    ]
    published = scored(predictions, references).values
    assert published == pytest.approx(expected, abs=1e-12)
    assert (np.abs(published) <= 1).all()
    corrected = scored(predictions, references, "corrected")
    assert corrected.values == pytest.approx([max(0.0, value) for value in expected], abs=1e-12)


def test_single_precision_as_in_the_original() -> None:
    mine, theirs = embeddings(1, 20), embeddings(2, 20)
    expected = [(a * b).sum() / (np.linalg.norm(a) * np.linalg.norm(b)) for a, b in zip(mine, theirs, strict=True)]
    assert scored(mine, [[one] for one in theirs]).values == pytest.approx(expected, abs=1e-6)
    assert scored(mine, [[one] for one in mine]).values == pytest.approx(np.ones(20), abs=1e-12)


def test_blank_identical_and_negative_texts() -> None:
    predictions, references = [[3.0, 4]] * 5, [[[4.0, 3]], [[4.0, 3]], [[4.0, 3]], [[4.0, -4]], [[4.0, -4]]]
    texts = ["", "Edema.", "", "Edema.", "Edema."], ["Edema.", " ", "", "Clear.", "Edema."]
    published = scored(predictions, references, "published", *texts)
    assert published.values == pytest.approx([0.96, 0.96, 0.96, -0.2 / 2**0.5, -0.2 / 2**0.5])
    assert published.reasons == {}
    assert "n_clamped" not in published.counts
    corrected = scored(predictions, references, "corrected", *texts)
    assert corrected.values[[0, 3, 4]].tolist() == [0, 0, 1]
    assert corrected.reasons == {1: "empty_reference", 2: "both_empty"}
    assert (corrected.counts["n_clamped"], corrected.counts["n_identical"]) == (1, 1)
    assert published.signature == "sembscore|conv:published|enc:chexbert|pool:cls|max:512|w:unverified|v:1"


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_what_has_no_cosine_has_no_score(convention: Convention) -> None:
    one = [1.0, 1.0]
    scores = scored([one, [0.0, 0.0], None, one, one], [[one], [one], [one], [one, [0, 0]], [None, one]], convention)
    assert scores.values[:1] == pytest.approx([1])
    assert scores.reasons == {1: "zero_vector", 2: "failed", 3: "zero_vector", 4: "failed"}
    assert scored([None], [[one]], convention).reasons == {0: "failed"}


def test_of_several_references_the_best_counts() -> None:
    scores = scored([[1.0, 0], [0.0, 1]], [[[1.0, 1], [3, 4], [0, 1]], [[1, 0]]])
    assert scores.values == pytest.approx([0.5**0.5, 0])
    assert "|refs:several|" in scores.signature


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_order_and_neighbours_do_not_matter(convention: Convention) -> None:
    mine, theirs = embeddings(3, 50), [[one] for one in embeddings(4, 50)]
    whole = scored(mine, theirs, convention).values
    order = np.random.default_rng(0).permutation(50).tolist()
    mixed = scored([mine[at] for at in order], [theirs[at] for at in order], convention).values
    np.testing.assert_array_equal(whole[order], mixed)
    np.testing.assert_array_equal(scored(mine[7:8], theirs[7:8], convention).values, whole[7:8])
    as_array = scored(np.array(mine), theirs, convention).values
    np.testing.assert_array_equal(as_array, whole)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("secret", r"predictions\[1\]: expected numbers \[d\], got str of str"),
        ([[1.0, 2.0]], r"predictions\[1\]: expected numbers \[d\], got an array of shape \[1, 2\]"),
        ([1.0, np.nan], r"predictions\[1\]: a number of the vector is not finite"),
        ([1.0, np.inf], r"predictions\[1\]: a number of the vector is not finite"),
        ([1.0, 2.0, 3.0], "the vectors have different lengths; give those of one encoder"),
    ],
)
def test_wrong_vectors_are_named(broken: Any, message: str) -> None:
    good = [1.0, 2.0]
    with pytest.raises(InvalidCall, match=message) as caught:
        scored([good, broken], [[good], [good]])
    assert str(caught.value).startswith("features['chexbert_cls']")
    assert "secret" not in str(caught.value)
    with pytest.raises(InvalidCall, match="the vectors have different lengths"):
        scored([good], [[[1.0, 2.0, 3.0]]])
