"""Agreement of scores with experts: values, intervals over studies, and which scores can be told apart."""

import numpy as np
import pytest
from scipy import stats

from rexrank.statistics import InvalidStatistics
from rexrank.statistics.agreement import Comparison, Difference, Estimate, Resampling, _groups

RANDOM = np.random.default_rng(0)
STUDIES = np.repeat(np.arange(60), 2)
EXPERT = RANDOM.integers(3, 16, 120) / 3
GOOD = EXPERT + RANDOM.normal(size=120)
POOR = EXPERT + 9 * RANDOM.normal(size=120)


@pytest.fixture(scope="module")
def resampling() -> Resampling:
    return Resampling(STUDIES.tolist(), resamples=2000)


def differing(comparison: Comparison, better: str, worse: str) -> Difference:
    return next(one for one in comparison.differences if (one.better, one.worse) == (better, worse))


def test_values_are_those_of_scipy_and_the_best_comes_first(resampling: Resampling) -> None:
    found = resampling.compare("kendall", {"poor": POOR, "good": GOOD}, EXPERT)
    assert list(found.estimates) == ["good", "poor"]
    assert found.estimates["good"].value == pytest.approx(stats.kendalltau(GOOD, EXPERT)[0])
    assert found.estimates["good"].n == 120
    assert found.groups == [["good"], ["poor"]]


def test_a_score_turned_round_has_the_interval_turned_round(resampling: Resampling) -> None:
    found = resampling.compare("spearman", {"score": GOOD, "turned": -GOOD}, EXPERT).estimates
    low, high = found["score"].interval or (0, 0)
    assert found["turned"].interval == pytest.approx((-high, -low))


@pytest.mark.parametrize("measure", ["kendall", "spearman", "pearson"])
def test_candidates_of_a_study_are_drawn_together(measure) -> None:
    """Four copies of every candidate are no more studies than one, so the interval must not shrink."""
    once = Resampling(range(60), resamples=2000).compare(measure, {"s": GOOD[:60]}, EXPERT[:60]).estimates["s"]
    studies = np.repeat(np.arange(60), 4)
    copied = Resampling(studies.tolist(), resamples=2000).compare(
        measure, {"s": np.repeat(GOOD[:60], 4)}, np.repeat(EXPERT[:60], 4)
    )
    assert copied.estimates["s"].value == pytest.approx(once.value)
    assert copied.estimates["s"].interval == pytest.approx(once.interval, abs=1e-6)
    alone = Resampling(range(240), resamples=2000).compare(
        measure, {"s": np.repeat(GOOD[:60], 4)}, np.repeat(EXPERT[:60], 4)
    )
    assert width(alone.estimates["s"]) < 0.6 * width(once)


def width(estimate: Estimate) -> float:
    assert estimate.interval is not None
    return estimate.interval[1] - estimate.interval[0]


def test_patients_are_drawn_as_a_whole_where_they_are_named() -> None:
    patients = np.repeat(np.arange(12), 10)
    found = Resampling(STUDIES.tolist(), patients.tolist(), resamples=200)
    assert found.units == 12
    assert Resampling(STUDIES.tolist(), resamples=200).units == 60


def test_equal_scores_cannot_be_told_apart(resampling: Resampling) -> None:
    found = resampling.compare("kendall", {"a": GOOD, "b": np.exp(GOOD), "poor": POOR}, EXPERT)
    assert found.groups == [["a", "b"], ["poor"]]
    equal = differing(found, "a", "b")
    assert (equal.difference, equal.interval, equal.p, equal.p_holm) == (0.0, (0.0, 0.0), 1.0, 1.0)


def test_differences_are_paired(resampling: Resampling) -> None:
    """Two scores that err alike differ by far less than their intervals say."""
    found = resampling.compare("pearson", {"a": GOOD, "b": GOOD + 0.05 * RANDOM.normal(size=120)}, EXPERT)
    one = found.differences[0]
    assert one.interval[1] - one.interval[0] < 0.2 * width(found.estimates[one.better])


def test_p_is_never_zero_and_corrected_for_all_pairs(resampling: Resampling) -> None:
    found = resampling.compare("kendall", {"good": GOOD, "poor": POOR, "none": RANDOM.normal(size=120)}, EXPERT)
    surest = min(found.differences, key=lambda one: one.p)
    assert surest.p == pytest.approx(2 / 2001)
    assert surest.p_holm == pytest.approx(6 / 2001)
    assert all(one.p <= one.p_holm <= 1 and one.difference >= 0 for one in found.differences)


def test_scores_are_compared_on_what_both_have(resampling: Resampling) -> None:
    partly = np.where(np.arange(120) < 40, np.nan, POOR)
    found = resampling.compare("kendall", {"good": GOOD, "partly": partly}, EXPERT)
    assert found.estimates["partly"].n == 80
    expected = stats.kendalltau(GOOD[40:], EXPERT[40:])[0] - stats.kendalltau(POOR[40:], EXPERT[40:])[0]
    assert differing(found, "good", "partly").difference == pytest.approx(expected)


def test_the_better_one_is_better_on_what_both_have(resampling: Resampling) -> None:
    """The first has the higher coefficient only because it has the easy candidates alone."""
    easy = np.arange(120) < 40
    hard_expert = np.where(easy, EXPERT, RANDOM.permutation(EXPERT))
    first = np.where(easy, EXPERT + RANDOM.normal(size=120), np.nan)
    found = resampling.compare("kendall", {"first": first, "second": np.where(easy, EXPERT, POOR)}, hard_expert)
    assert list(found.estimates) == ["first", "second"]
    one = differing(found, "second", "first")
    assert one.difference > 0
    assert one.interval[0] > 0


def test_a_score_that_never_varies_is_undefined_and_last(resampling: Resampling) -> None:
    found = resampling.compare("kendall", {"flat": np.ones(120), "poor": POOR}, EXPERT)
    assert list(found.estimates) == ["poor", "flat"]
    assert found.estimates["flat"] == Estimate(None, None, 120)
    assert found.differences == []
    assert found.groups == [["poor"]]


def test_preferences_by_hand() -> None:
    studies = ["a", "a", "b", "b", "c", "c", "d", "d", "e", "e"]
    expert = [1, 2, 5, 3, 4, 4, 2, 1, 3, np.nan]
    score = [0.1, 0.9, 0.5, 0.5, 0.7, 0.1, 0.2, 0.8, 0.1, 0.2]
    found = Resampling(studies, resamples=500).compare("preference", {"s": score}, expert).estimates["s"]
    # a right, b half (tied), d wrong; c is a tie of the experts, and e has no judgement.
    assert found.value == pytest.approx(0.5)
    assert (found.n, dict(found.ties)) == (3, {"experts": 1, "score": 1})
    assert found.undefined_draws > 0  # resamples of c and e alone


def test_preferences_that_are_all_right_are_not_certain() -> None:
    studies, expert = np.repeat(range(20), 2).tolist(), [1, 2] * 20
    scores = {"right": [3, 4] * 20, "wrong": [4, 3] * 20}
    found = Resampling(studies, resamples=200).compare("preference", scores, expert).estimates
    exact = stats.binomtest(20, 20).proportion_ci(method="exact")
    assert found["right"].interval == pytest.approx((exact.low, 1.0))
    assert found["wrong"].interval == pytest.approx((0.0, 1 - exact.low))
    assert Resampling(range(40), resamples=200).compare("kendall", {"s": range(40)}, range(40)).estimates["s"] == (
        Estimate(1.0, None, 40)
    )


def test_preferences_are_within_studies_and_of_all_pairs() -> None:
    found = Resampling(["a"] * 3 + ["b"], resamples=100).compare(
        "preference", {"s": [1.0, 3.0, 2.0, 9.0]}, [1.0, 2.0, 3.0, 0.0]
    )
    assert found.estimates["s"].n == 3
    assert found.estimates["s"].value == pytest.approx(2 / 3)


def test_raters_with_each_other_and_with_the_mean_of_the_others(resampling: Resampling) -> None:
    raters = {name: EXPERT + RANDOM.normal(size=120) for name in "xyz"}
    found = resampling.between("kendall", raters)
    assert found is not None
    pairs = {pair: stats.kendalltau(raters[pair[0]], raters[pair[1]])[0] for pair in found.pairs}
    assert {pair: one.value for pair, one in found.pairs.items()} == pytest.approx(pairs)
    assert found.mean.value == pytest.approx(np.mean(list(pairs.values())))
    others = (raters["y"] + raters["z"]) / 2
    assert found.against_others["x"].value == pytest.approx(stats.kendalltau(raters["x"], others)[0])
    assert found.mean_against_others is not None
    assert (found.mean_against_others.value or 0) > (found.mean.value or 0)


def test_raters_that_share_no_candidate_have_no_agreement(resampling: Resampling) -> None:
    first = np.where(np.arange(120) < 60, EXPERT, np.nan)
    second = np.where(np.arange(120) < 60, np.nan, EXPERT)
    assert resampling.between("kendall", {"x": first, "y": second}) is None
    assert resampling.between("kendall", {"x": EXPERT}) is None


def test_groups_are_as_large_as_can_be() -> None:
    assert _groups("abcd", []) == [["a", "b", "c", "d"]]
    assert _groups("abcd", [("a", "d")]) == [["a", "b", "c"], ["b", "c", "d"]]
    assert _groups("abcd", [("a", "c"), ("a", "d"), ("b", "d")]) == [["a", "b"], ["b", "c"], ["c", "d"]]
    assert _groups("abc", [("a", "b"), ("a", "c"), ("b", "c")]) == [["a"], ["b"], ["c"]]
    assert _groups("", []) == []


def test_one_study_has_values_and_no_interval() -> None:
    found = Resampling(["only"] * 4, resamples=100).compare(
        "kendall", {"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 2.0, 4.0, 3.0]}, [1.0, 2.0, 3.0, 5.0]
    )
    assert found.estimates["a"] == Estimate(1.0, None, 4)
    assert found.differences == []


def test_the_seed_decides() -> None:
    intervals = [
        Resampling(STUDIES.tolist(), resamples=300, seed=seed).compare("kendall", {"s": POOR}, EXPERT).estimates["s"]
        for seed in (1, 1, 2)
    ]
    assert intervals[0] == intervals[1] != intervals[2]


@pytest.mark.parametrize(
    ("values", "reason"), [([1.0, 2.0], "expected 120"), (np.where(np.arange(120) == 3, np.inf, GOOD), "infinite")]
)
def test_wrong_columns_are_refused_by_name(resampling: Resampling, values, reason: str) -> None:
    with pytest.raises(InvalidStatistics, match=f"^mine: .*{reason}"):
        resampling.compare("kendall", {"mine": values}, EXPERT)


def test_intervals_of_tau_cover_what_is_true() -> None:
    """Pairs of a normal distribution have a tau that is known; 95 % intervals must hold it about that often."""
    rho, trials = 0.6, 120
    truth = 2 / np.pi * np.arcsin(rho)
    random = np.random.default_rng(7)
    held = 0
    for trial in range(trials):
        x = random.normal(size=100)
        y = rho * x + np.sqrt(1 - rho**2) * random.normal(size=100)
        found = Resampling(range(100), resamples=400, seed=trial).compare("kendall", {"s": x}, y).estimates["s"]
        low, high = found.interval or (0.0, 0.0)
        held += low <= truth <= high
    assert 0.9 <= held / trials <= 0.99


def test_a_perfect_order_has_no_interval_whatever_rounding_makes_of_it() -> None:
    for n in range(2, 40):
        values = np.arange(float(n))
        found = Resampling(list(range(n)), resamples=20).compare("kendall", {"a": values}, values).estimates["a"]
        assert (found.interval, found.value) == (None, pytest.approx(1.0))
