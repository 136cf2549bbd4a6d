"""The smallest difference that studies can show: standard errors, quantiles, and power in simulation."""

import numpy as np
import pytest
from scipy.stats import t

from rexrank.statistics import InvalidStatistics, paired_test
from rexrank.statistics.draws import Draws
from rexrank.statistics.power import detectable, standard_error
from rexrank.statistics.sample import Floats, Sample

VALUES = np.random.default_rng(2).exponential(1, 80)


def test_the_error_of_a_mean_is_the_textbook_one() -> None:
    found = standard_error(Sample.of_values(VALUES), Draws.of(80))
    assert found == pytest.approx(VALUES.std(ddof=1) / np.sqrt(80))
    holes = np.insert(VALUES, [0, 40], np.nan)
    assert standard_error(Sample.of_values(holes), Draws.of(82)) == pytest.approx(found)


def test_equal_reports_of_a_patient_do_not_make_it_smaller() -> None:
    draws = Draws.of(800, groups=np.repeat(np.arange(80), 10).tolist())
    found = standard_error(Sample.of_values(np.repeat(VALUES, 10)), draws)
    assert found == pytest.approx(VALUES.std(ddof=1) / np.sqrt(80))


def test_the_error_of_a_corpus_score_is_that_of_its_resamples() -> None:
    rows = np.random.default_rng(4).integers(0, 9, (300, 2)).astype(float)
    rows[:, 1] += 5
    sample = Sample(rows, lambda sums: sums[:, 0] / sums[:, 1])
    draws = Draws.of(300, 4_000)
    assert standard_error(sample, draws) == pytest.approx(draws.scores([sample])[0].std(), rel=0.05)


@pytest.mark.parametrize("values", [[], [1.0], [np.nan, 1.0]])
def test_fewer_than_two_studies_have_no_error(values: list[float]) -> None:
    assert standard_error(Sample.of_values(values), Draws.of(len(values))) is None


def test_a_score_that_few_studies_carry_has_the_larger_error_of_two() -> None:
    """Without one of two positives the score stays 1, and the jackknife alone would see no error at all."""
    rows = np.zeros((40, 2))
    rows[:2] = 1

    def share(sums: Floats) -> Floats:
        return np.asarray(np.where(sums[:, 1] > 0, sums[:, 0] / np.maximum(sums[:, 1], 1), 0))

    found = standard_error(Sample(rows, share), Draws.of(40))
    assert found == pytest.approx(np.sqrt(0.1285 * 0.8715), rel=0.05)  # no positive in (38/40)^40 of the draws


def test_a_score_without_its_only_positive_has_the_error_of_its_resamples() -> None:
    rows = np.array([[1.0], [0.0], [0.0], [0.0]])
    sample = Sample(rows, lambda sums: np.where(sums[:, 0] > 0, sums[:, 0], np.nan))
    assert standard_error(sample, Draws.of(4)) == pytest.approx(0.75, abs=0.2)
    undefined = Sample(rows, lambda sums: np.full(len(sums), np.nan))
    assert standard_error(undefined, Draws.of(4)) is None


@pytest.mark.parametrize("units", [5, 12, 62, 2_347])
def test_the_difference_is_that_of_student(units: int) -> None:
    expected = 0.02 * (t.ppf(0.975, units - 1) + t.ppf(0.8, units - 1))
    assert detectable(0.02, units) == pytest.approx(expected, rel=0.005)


def test_four_times_the_studies_halve_it() -> None:
    now, then = detectable(0.02, 2_000), detectable(0.02, 2_000, planned=4)
    assert now is not None
    assert then == pytest.approx(now / 2, rel=1e-3)
    assert detectable(0.02, 4) is None
    assert detectable(0.02, 100, planned=0.01) is None
    assert detectable(0.0, 100) is None


@pytest.mark.parametrize("test", ["randomisation", "bootstrap"])
def test_a_test_finds_it_in_four_of_five_trials(test: str) -> None:
    generator = np.random.default_rng(6)
    error = 0.3 / np.sqrt(60)
    difference = detectable(error, 60)
    assert difference is not None
    found = 0
    for trial in range(400):
        apart = generator.normal(difference, 0.3, 60)
        found += (paired_test(apart, np.zeros(60), resamples=399, seed=trial, test=test).p or 1) <= 0.05  # type: ignore[arg-type]
    # Three standard errors of a share of .8.
    assert found / 400 == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("arguments", [{"alpha": 0}, {"power": 1}])
def test_levels_are_shares(arguments: dict[str, float]) -> None:
    with pytest.raises(InvalidStatistics, match="expected a number between 0 and 1"):
        detectable(0.1, 50, **arguments)
