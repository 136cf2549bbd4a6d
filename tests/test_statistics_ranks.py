"""A rank's range holds the true rank as often as it says, and tells apart what the same studies can tell apart."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.statistics.bootstrap import InvalidStatistics
from rexrank.statistics.draws import Draws
from rexrank.statistics.ranks import RankRange, rank_ranges
from rexrank.statistics.sample import Sample
from rexrank.statistics.stability import under_metrics, under_studies


def _samples(values: Any) -> list[Sample]:
    """One sample a column."""
    return [Sample.of_values(column) for column in np.asarray(values, dtype=np.float64).T]


def _systems(n: int, means: list[float], seed: int = 0, noise: float = 0.5) -> Any:
    """Values of systems on the same studies: what a study makes of all of them, and noise of each."""
    generator = np.random.default_rng(seed)
    return generator.normal(size=(n, 1)) + noise * generator.normal(size=(n, len(means))) + np.array(means)


def _ranges(values: Any, direction: Any = "higher", resamples: int = 500, groups: Any = None) -> list[RankRange]:
    return rank_ranges(_samples(values), direction, Draws.of(len(values), resamples, groups=groups))


def _ends(found: list[RankRange]) -> list[tuple[int, int, int]]:
    return [(one.rank, one.low, one.high) for one in found]


def test_systems_far_apart_have_one_rank_each() -> None:
    found = _ranges(_systems(200, [0.0, 2.0, 1.0]))
    assert _ends(found) == [(3, 3, 3), (1, 1, 1), (2, 2, 2)]
    assert [one.p_first for one in found] == [0.0, 1.0, 0.0]
    lower = _ranges(_systems(200, [0.0, 2.0, 1.0]), "lower")
    assert _ends(lower) == [(1, 1, 1), (3, 3, 3), (2, 2, 2)]


def test_what_all_studies_share_does_not_widen_a_range() -> None:
    """Intervals of single means overlap here; differences on the same studies do not."""
    values = _systems(200, [0.0, 0.06], noise=0.05)
    apart = values.mean(axis=0)
    assert abs(apart[0] - apart[1]) < values.std(axis=0).max() / np.sqrt(len(values))
    assert _ends(_ranges(values)) == [(2, 2, 2), (1, 1, 1)]


def test_two_systems_are_told_apart_where_the_studentised_bootstrap_does() -> None:
    values = _systems(62, [0.0, 0.12])
    draws = Draws.of(62, 2_000)
    first, second = draws.scores(_samples(values))
    difference, drawn = np.subtract(*values.mean(axis=0)), first - second
    bound = np.quantile(np.abs(drawn - difference), 0.95)
    assert abs(abs(difference) - bound) > 0.005, "a case on the edge proves nothing"
    ends = {(1, 1, 1), (2, 2, 2)} if abs(difference) > bound else {(1, 1, 2), (2, 1, 2)}
    assert set(_ends(rank_ranges(_samples(values), "higher", draws))) == ends


def test_systems_without_any_difference_share_a_place() -> None:
    values = _systems(100, [0.0, 1.0])
    found = _ranges(values[:, [1, 0, 1, 0]])
    assert _ends(found) == [(1, 1, 1), (3, 3, 3), (1, 1, 1), (3, 3, 3)]
    assert [one.p_first for one in found] == [0.5, 0.0, 0.5, 0.0]


def test_a_constant_difference_needs_no_chance() -> None:
    values = _systems(50, [0.0])
    assert _ends(_ranges(np.hstack([values, values + 0.25]))) == [(2, 2, 2), (1, 1, 1)]


def test_whole_patients_are_drawn() -> None:
    """Ten studies of each of 12 patients, alike within a patient, tell as much as 12 studies."""
    patients = np.repeat(np.arange(12), 10)
    single = _systems(12, [0.0, 0.25], seed=3)
    values = single[patients]
    assert _ends(_ranges(values)) == [(2, 2, 2), (1, 1, 1)]
    assert _ends(_ranges(values, groups=patients)) == _ends(_ranges(single)) == [(2, 1, 2), (1, 1, 2)]


def test_a_corpus_score_is_ranked_by_its_sums() -> None:
    generator = np.random.default_rng(4)
    hits = [generator.binomial(20, p, size=150) for p in (0.3, 0.3, 0.6)]
    samples = [
        Sample(np.stack([own, np.full(150, 20)], axis=1).astype(np.float64), lambda sums: sums[:, 0] / sums[:, 1])
        for own in hits
    ]
    found = rank_ranges(samples, "higher", Draws.of(150, 500))
    assert _ends(found)[2] == (1, 1, 1)
    assert [(one.low, one.high) for one in found[:2]] == [(2, 3), (2, 3)]


def test_resamples_without_a_score_are_counted() -> None:
    """An F1-like score of two positive studies has no value where neither is drawn."""
    positive = np.zeros(12)
    positive[:2] = 1

    def recall(sums: Any) -> Any:
        return sums[:, 0] / np.where(sums[:, 1] > 0, sums[:, 1], np.nan)

    samples = [Sample(np.stack([positive * hit, positive], axis=1), recall) for hit in (1.0, 0.0)]
    found = rank_ranges(samples, "higher", Draws.of(12, 1_000))
    assert 60 < found[0].undefined_draws < 160, "(10 / 12) ** 12 is .112"
    assert found[0].p_first == 1.0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from(["higher", "lower"]))
def test_a_range_holds_its_rank_and_shares_of_first_add_up(seed: int, systems: int, direction: Any) -> None:
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 3, size=(15, systems)).astype(np.float64)
    values[generator.random(values.shape) < 0.1] = np.nan
    values[0] = 1.0
    found = _ranges(values, direction, resamples=60)
    assert all(1 <= one.low <= one.rank <= one.high <= systems for one in found)
    assert sum(one.p_first for one in found) == pytest.approx(1.0)
    backwards = _ranges(values[:, ::-1], direction, resamples=60)
    assert _ends(backwards[::-1]) == _ends(found)


def test_a_range_holds_the_true_rank_as_often_as_it_says() -> None:
    """Eight systems so close that the data can hardly order them; 300 sets of 62 studies."""
    means = [0.03 * place for place in range(8)]
    truth = np.arange(8, 0, -1)
    held = np.zeros(8)
    for trial in range(300):
        found = _ranges(_systems(62, means, seed=trial), resamples=200)
        held += [one.low <= true <= one.high for one, true in zip(found, truth, strict=True)]
    assert (held / 300).min() >= 0.93


@pytest.mark.parametrize("confidence", [0, 1, 2, float("nan"), "x"])
def test_a_confidence_is_a_share(confidence: Any) -> None:
    with pytest.raises(InvalidStatistics, match="confidence: expected a number between 0 and 1"):
        rank_ranges(_samples(np.zeros((9, 2))), "higher", Draws.of(9, 100), confidence)


@pytest.mark.parametrize(
    ("scores", "said"), [([[1, 2], [2, 3]], "directions: expected"), ([[1, 2], ["x", 3]], "scores: expected numbers")]
)
def test_orders_over_unknown_directions_and_words_are_refused(scores: Any, said: str) -> None:
    with pytest.raises(InvalidStatistics, match=said):
        under_metrics(scores, ["higher", "up"])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("samples", "direction", "said"),
    [
        (_samples(np.zeros((1, 2))), "higher", "two or more studies"),
        ([*_samples(np.zeros((3, 1))), *_samples(np.zeros((4, 1)))], "higher", "got 3 and 4"),
        (_samples(np.full((3, 2), np.nan)), "higher", r"samples\[0\]: the system has no score"),
        (_samples(np.zeros((3, 2))), "none", "expected higher or lower"),
    ],
)
def test_what_cannot_be_ranked_is_refused(samples: list[Sample], direction: Any, said: str) -> None:
    with pytest.raises(InvalidStatistics, match=said):
        rank_ranges(samples, direction, Draws.of(len(samples[0]), 10))


def test_no_system_has_no_range_and_one_has_the_only_place() -> None:
    assert rank_ranges([], "higher", Draws.of(5, 10)) == []
    assert _ranges(_systems(30, [0.0]), resamples=50) == [RankRange(1, 1, 1, 1.0)]


def test_an_order_that_chance_cannot_change_is_steady() -> None:
    values = _systems(200, [0.0, 2.0, 1.0])
    found = under_studies(_samples(values), "higher", Draws.of(200, 300))
    assert found is not None
    assert (found.tau, found.tau_low, found.same_first, found.resamples) == (1.0, 1.0, 1.0, 300)
    close = under_studies(_samples(_systems(62, [0.0, 0.01, 0.02, 0.03])), "lower", Draws.of(62, 300))
    assert close is not None
    assert close.tau_low < close.tau < 0.9
    assert under_studies(_samples(values[:, :1]), "higher", Draws.of(200, 300)) is None


def test_metrics_that_disagree_make_an_order_unsteady() -> None:
    agreeing = np.array([[0.1, 0.5, 9.0], [0.2, 0.6, 8.0], [0.3, 0.7, 7.0]])
    found = under_metrics(agreeing, ["higher", "higher", "lower"])
    assert found is not None
    assert (found.tau, found.same_first) == (1.0, 1.0)
    # The third metric puts them in the opposite order: two to one, so a resample can turn the order round.
    apart = under_metrics(agreeing, ["higher", "higher", "higher"], resamples=20_000)
    assert apart is not None
    # Of three draws from (a, a, b) two or three are b in 7 of 27.
    assert apart.tau == pytest.approx(1 - 2 * 7 / 27, abs=0.02)
    assert apart.same_first == pytest.approx(20 / 27, abs=0.01)


def test_metrics_that_lack_a_score_or_judge_nothing_are_left_out() -> None:
    scores = np.array([[0.1, np.nan, 5.0, 0.2], [0.2, 1.0, 1.0, 0.3]])
    found = under_metrics(scores, ["higher", "higher", "none", "higher"])
    assert found is not None
    assert found.tau == 1.0
    assert under_metrics(scores[:, :2], ["higher", "higher"]) is None
    assert under_metrics(scores[:1], ["higher"] * 4) is None
    with pytest.raises(InvalidStatistics, match="one column for each of 1 metrics"):
        under_metrics(scores, ["higher"])
