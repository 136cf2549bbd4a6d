"""The simulation of coverage measures what it says, and the default method covers."""

import numpy as np
import pytest

from bench import coverage
from rexrank.statistics.bootstrap import METHODS


def _case(name: str, studies: int, icc: float | None = None) -> coverage.Case:
    return next(one for one in coverage.cases() if (one.name, one.studies, one.icc) == (name, studies, icc))


def test_patients_are_as_many_and_as_uneven_as_said() -> None:
    sizes = coverage.patient_sizes()
    assert (len(sizes), sizes.sum(), sizes.min()) == (289, 2_347, 1)
    assert sizes.max() > 5 * np.median(sizes)


@pytest.mark.parametrize("case", coverage.cases(), ids=lambda one: f"{one.name} {one.studies} {one.icc}")
def test_the_truth_is_what_large_sets_score(case: coverage.Case) -> None:
    samples = case.samples(case, 40, np.random.default_rng(3))
    pooled = samples[0].formula(sum(np.nansum(one.statistics, axis=0, keepdims=True) for one in samples))
    spread = np.std([one.score for one in samples if one.score is not None]) / np.sqrt(40)
    assert pooled[0] == pytest.approx(case.truth, abs=5 * spread + 0.02 * case.truth)


def test_studies_of_a_patient_correlate_by_icc() -> None:
    case = _case("mean of skewed scores", 2_347, 0.1)
    latent = np.stack([case.normal(np.random.default_rng(seed))[:, 0] for seed in range(200)])
    groups = np.array(case.groups)
    first = np.flatnonzero(np.diff(groups) == 0)
    assert np.mean(latent[:, first] * latent[:, first + 1]) == pytest.approx(0.1, abs=0.02)
    assert latent.var() == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    ("name", "studies", "icc"),
    [
        ("mean of skewed scores", 62, None),
        ("mean of skewed scores", 2_347, 0.1),
        ("corpus BLEU-2", 62, None),
        ("F1 of a label with 2%, published", 590, None),
    ],
)
def test_intervals_of_the_default_method_cover(name: str, studies: int, icc: float | None) -> None:
    found = coverage.measure(_case(name, studies, icc), trials=300, resamples=400, seed=2)
    # 300 sets leave a standard error of 1.3 %.
    assert 0.9 <= found["scaled"].truth <= 0.99
    assert found["scaled"].truth >= found["percentile"].truth - 0.02
    for one in found.values():
        assert one.truth + one.below + one.above == pytest.approx(1)
        assert one.width > 0
        assert one.flat <= one.below


def test_sets_in_which_nothing_is_found_have_intervals_that_say_nothing() -> None:
    found = coverage.measure(_case("F1 of a label with 10%, published", 62), trials=300, resamples=200, seed=2)
    # Six studies have the label, each is found in 40 %.
    assert found["scaled"].flat == pytest.approx((1 - 0.1 * 0.4) ** 62, abs=0.03)
    assert found["scaled"].below >= found["scaled"].flat


def test_percentiles_of_macro_f1_lie_too_low() -> None:
    found = coverage.measure(_case("macro F1 over 14, published", 590), trials=60, resamples=300, seed=2)
    assert found["percentile"].below > found["percentile"].above
    assert found["scaled"].truth >= found["percentile"].truth


def test_the_table_has_a_row_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert coverage.main(["skewed", "--trials", "20", "--resamples", "50"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 + 5
    assert all(method in lines[1] for method in METHODS)
    assert max(map(len, lines)) <= 140
