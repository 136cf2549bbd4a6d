"""Correlations equal those of scipy, and those of resamples equal those of the rows written out."""

import time
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rexrank.statistics import InvalidStatistics
from rexrank.statistics.correlation import (
    Coefficient,
    correlation,
    kendall_tau_b,
    kendall_tau_b_of_rows,
    pearson,
    resampled_correlation,
    spearman,
)

COEFFICIENTS: tuple[Coefficient, ...] = ("kendall", "spearman", "pearson")
ORIGINALS: dict[Coefficient, Callable] = {
    "kendall": stats.kendalltau,
    "spearman": stats.spearmanr,
    "pearson": stats.pearsonr,
}
# Few values, so that most pairs are tied; and the same divided, so that nothing rests on whole numbers.
COLUMNS = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=0, max_size=40)


def original(coefficient: Coefficient, x: np.ndarray, y: np.ndarray) -> float | None:
    if len(x) < 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant columns
        value = float(ORIGINALS[coefficient](x, y)[0])
    return None if np.isnan(value) else value


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@given(COLUMNS)
def test_equal_to_scipy_with_ties(coefficient: Coefficient, rows: list[tuple[int, int]]) -> None:
    x, y = np.array(rows, dtype=float).reshape(-1, 2).T / 7
    assert correlation(coefficient, x, y) == pytest.approx(original(coefficient, x, y), abs=1e-12)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("size", [3, 64, 65, 1000])
def test_equal_to_scipy_without_ties(coefficient: Coefficient, size: int) -> None:
    random = np.random.default_rng(size)
    x = random.normal(size=size)
    y = x + random.normal(size=size)
    assert correlation(coefficient, x, y) == pytest.approx(original(coefficient, x, y), abs=1e-12)


def test_perfect_agreement_is_exactly_one() -> None:
    x = np.random.default_rng(1).normal(size=77)
    assert kendall_tau_b(x, np.exp(x)) == spearman(x, np.exp(x)) == 1.0
    assert kendall_tau_b(x, -x) == spearman(x, -x) == -1.0
    assert pearson(x, 3 * x + 1) == pytest.approx(1.0, abs=1e-15)
    assert abs(pearson(x, 3 * x + 1) or 0) <= 1


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_undefined_is_none(coefficient: Coefficient) -> None:
    assert correlation(coefficient, [], []) is None
    assert correlation(coefficient, [1.0], [2.0]) is None
    # Ten times .1 has a mean that is not .1, and so a tiny variance.
    assert correlation(coefficient, [0.1] * 10, range(10)) is None
    assert correlation(coefficient, [1.0, np.nan, 2.0], [1.0, 2.0, np.nan]) is None


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_rows_with_nan_are_left_out(coefficient: Coefficient) -> None:
    x, y = [1.0, 5.0, 2.0, np.nan, 7.0], [2.0, np.nan, 1.0, 3.0, 9.0]
    assert correlation(coefficient, x, y) == correlation(coefficient, [1.0, 2.0, 7.0], [2.0, 1.0, 9.0])
    weights = np.array([[1, 4, 2, 4, 1]])
    written = correlation(coefficient, [1.0, 2.0, 2.0, 7.0], [2.0, 1.0, 1.0, 9.0])
    assert resampled_correlation(coefficient, x, y, weights) == pytest.approx([written])


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_resample_is_its_rows_written_out(coefficient: Coefficient) -> None:
    random = np.random.default_rng(2)
    x = random.integers(0, 6, 30) / 3
    y = x + random.integers(0, 4, 30)
    weights = random.multinomial(30, np.full(30, 1 / 30), size=50)
    found = resampled_correlation(coefficient, x, y, weights)
    for row, value in zip(weights, found, strict=True):
        assert value == pytest.approx(original(coefficient, np.repeat(x, row), np.repeat(y, row)), abs=1e-12)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_resample_of_equal_values_is_undefined(coefficient: Coefficient) -> None:
    x, y = [0.1, 0.1, 0.7], [1.0, 2.0, 3.0]
    weights = [[2, 1, 0], [1, 1, 1], [0, 0, 3], [0, 0, 0]]
    assert np.isnan(resampled_correlation(coefficient, x, y, weights)).tolist() == [True, False, True, True]


def test_many_rows_need_no_more_memory_than_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    x, y = random.normal(size=(2, 40))
    weights = random.multinomial(40, np.full(40, 1 / 40), size=20)
    whole = [resampled_correlation(one, x, y, weights) for one in COEFFICIENTS]
    monkeypatch.setattr("rexrank.statistics.correlation._BLOCK_ROWS", 7)
    monkeypatch.setattr("rexrank.statistics.correlation._CHUNK_DRAWS", 100)
    for one, before in zip(COEFFICIENTS, whole, strict=True):
        assert resampled_correlation(one, x, y, weights) == pytest.approx(before, abs=1e-12)


def test_one_ranking_with_many() -> None:
    random = np.random.default_rng(4)
    ranking, others = random.integers(0, 5, 8), random.integers(0, 5, (30, 8))
    others[3] = 2
    for found, row in zip(kendall_tau_b_of_rows(ranking, others), others, strict=True):
        assert (None if np.isnan(found) else found) == pytest.approx(kendall_tau_b(ranking, row))


def test_what_no_correlation_can_be_computed_from_is_refused() -> None:
    with pytest.raises(InvalidStatistics, match="one number a row"):
        kendall_tau_b([1, 2], [1, 2, 3])
    with pytest.raises(InvalidStatistics, match="infinite"):
        pearson([1, np.inf], [1, 2])
    with pytest.raises(InvalidStatistics, match="weights"):
        resampled_correlation("kendall", [1, 2], [1, 2], [[1, 1, 1]])


def test_ten_thousand_resamples_of_five_metrics_are_a_matter_of_seconds() -> None:
    random = np.random.default_rng(5)
    expert = random.integers(3, 16, 200) / 3
    weights = random.multinomial(200, np.full(200, 1 / 200), size=10_000)
    started = time.perf_counter()
    for _ in range(5):
        resampled_correlation("kendall", random.normal(size=200) + expert, expert, weights)
    assert time.perf_counter() - started < 10


def test_long_columns_take_n_log_n() -> None:
    random = np.random.default_rng(6)
    x = random.integers(0, 50_000, 200_000)
    y = x + random.integers(0, 50_000, 200_000)
    started = time.perf_counter()
    found = kendall_tau_b(x, y)
    assert time.perf_counter() - started < 10
    assert found == pytest.approx(stats.kendalltau(x, y)[0], abs=1e-12)
