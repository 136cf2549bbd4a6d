"""What values of single studies say: equal to scipy, patients drawn as a whole, and right in coverage."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from rexrank.analysis.studies import (
    by_length,
    correlation,
    difference,
    mean_correlations,
    mean_estimate,
    mean_matrix,
    resamples_for,
)
from rexrank.statistics.sample import Floats, Sample

GENERATOR = np.random.default_rng(5)
X = GENERATOR.normal(size=150)
Y = X + GENERATOR.normal(size=150)


def test_a_correlation_is_scipys_and_its_interval_holds_it() -> None:
    found = correlation(X, Y)
    assert found.value == pytest.approx(stats.spearmanr(X, Y).statistic, abs=1e-12)
    assert found.n == 150
    assert found.low is not None
    assert found.high is not None
    assert found.low < (found.value or 0) < found.high
    assert found.is_clear


def test_undefined_studies_are_left_out_and_counted() -> None:
    holes = Y.copy()
    holes[:50] = np.nan
    found = correlation(X, holes)
    assert found.n == 100
    assert found.value == pytest.approx(stats.spearmanr(X[50:], Y[50:]).statistic, abs=1e-12)


def test_a_constant_column_has_no_correlation() -> None:
    found = correlation(X, np.ones(150))
    assert (found.value, found.low, found.high) == (None, None, None)
    assert not found.is_clear


def test_few_studies_have_a_value_and_no_interval() -> None:
    found = correlation(X[:8], Y[:8])
    assert found.value is not None
    assert (found.low, found.high) == (None, None)


def test_studies_of_one_patient_are_drawn_together() -> None:
    single = correlation(X, Y)
    repeated = [np.repeat(column, 4) for column in (X, Y)]
    patients = np.repeat(np.arange(150), 4).tolist()
    grouped, blind = correlation(*repeated, patients), correlation(*repeated)
    widths = [(one.high or 0) - (one.low or 0) for one in (single, grouped, blind)]
    # Four copies of a study say nothing new, which only the draws of patients know.
    assert widths[1] == pytest.approx(widths[0], rel=0.15)
    assert widths[2] < 0.65 * widths[0]


def test_the_interval_of_a_correlation_covers_the_truth() -> None:
    # Of normal pairs with correlation r, Spearman's is 6 / pi * asin(r / 2).
    truth = 6 / np.pi * np.arcsin(0.6 / 2)
    hits, trials = 0, 300
    for _ in range(trials):
        x = GENERATOR.normal(size=100)
        found = correlation(x, 0.6 * x + 0.8 * GENERATOR.normal(size=100))
        hits += (found.low or 1) <= truth <= (found.high or 0)
    # Three standard errors of 300 trials at 95 % are 3.8 points.
    assert 0.90 <= hits / trials <= 0.99


def test_the_mean_over_systems_leaves_out_those_without_a_correlation() -> None:
    varying = np.stack([X, Y])
    constant = np.stack([X, np.ones_like(X)])
    (alone,) = mean_correlations([varying])
    (both,) = mean_correlations([varying, constant])
    assert alone.value == both.value == pytest.approx(stats.spearmanr(X, Y).statistic, abs=1e-12)
    (none,) = mean_correlations([constant])
    assert (none.value, none.low) == (None, None)
    assert mean_matrix([constant])[0][1] is None
    assert mean_matrix([varying, constant])[0][1] == pytest.approx(alone.value)


def test_the_mean_of_two_systems_is_the_mean() -> None:
    other = np.stack([X, -X])
    (found,) = mean_correlations([np.stack([X, Y]), other])
    assert found.value == pytest.approx((stats.spearmanr(X, Y).statistic - 1) / 2)


@pytest.mark.parametrize(("n", "resamples"), [(62, 1000), (590, 1000), (2347, 511), (10_000, 200)])
def test_more_studies_get_fewer_resamples(n: int, resamples: int) -> None:
    assert resamples_for(n) == resamples


def test_bins_hold_every_study_once_and_never_part_equal_lengths() -> None:
    words = GENERATOR.poisson(6, size=400).astype(float)
    bins = by_length(words, GENERATOR.uniform(size=400))
    assert sum(one.score.n for one in bins) == 400
    assert 2 <= len(bins) <= 4
    for left, right in itertools.pairwise(bins):
        assert left.longest < right.shortest


def test_the_score_of_a_bin_is_the_mean_of_its_studies() -> None:
    words = np.arange(100.0)
    (first, *_) = by_length(words, words / 100)
    assert (first.shortest, first.longest, first.score.n) == (0, 24, 25)
    assert first.score.value == pytest.approx(0.12)
    assert first.score.low is not None
    assert first.score.low < 0.12


def test_reports_of_one_length_are_one_bin_and_none_are_none() -> None:
    assert len(by_length(np.full(20, 7.0), X[:20])) == 1
    assert by_length(np.full(20, np.nan), X[:20]) == []


def test_a_difference_is_paired() -> None:
    found = difference(Sample.of_values(X), Sample.of_values(X + 0.1))
    assert found.value == pytest.approx(0.1)
    assert (found.low, found.high) == (pytest.approx(0.1), pytest.approx(0.1))


def test_a_difference_is_of_the_studies_that_both_have() -> None:
    left, right = X.copy(), X + 1.0
    left[:10], right[5:20] = np.nan, np.nan
    found = difference(Sample.of_values(left), Sample.of_values(right))
    assert found.n == 130
    assert found.value == pytest.approx(1.0)
    nothing = difference(Sample.of_values(np.full(5, np.nan)), Sample.of_values(X[:5]))
    assert (nothing.value, nothing.n) == (None, 0)


def radcliq(shared_data: Path) -> Floats:
    with (shared_data / "iu_xray/predictions/moerad/report_scores.csv").open(encoding="utf-8", newline="") as handle:
        return np.array([float(row["RadCliQ-v1"]) for row in csv.DictReader(handle)])


def test_the_published_interval_of_a_real_system_comes_out(shared_data: Path) -> None:
    found = mean_estimate(Sample.of_values(radcliq(shared_data)))
    assert found.value == pytest.approx(0.500, abs=0.0005)
    assert found.low == pytest.approx(0.458, abs=0.002)
    assert found.high == pytest.approx(0.543, abs=0.002)
