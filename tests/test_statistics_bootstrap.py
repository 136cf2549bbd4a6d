"""Bootstrap intervals: right on known cases, reproducible, and honest where there is none."""

from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rexrank.errors import RexrankError
from rexrank.metrics import compute
from rexrank.statistics import InvalidStatistics, corpus_interval, interval
from rexrank.statistics.bootstrap import intervals
from rexrank.statistics.sample import Sample

VALUES = np.random.default_rng(7).normal(0.4, 0.2, 200)


def test_interval_of_a_mean_is_about_two_standard_errors_wide() -> None:
    limits = interval(VALUES)
    assert limits is not None
    error = VALUES.std() / np.sqrt(len(VALUES))
    assert limits == pytest.approx((VALUES.mean() - 1.96 * error, VALUES.mean() + 1.96 * error), abs=error / 10)


def test_interval_covers_the_truth_as_often_as_it_says() -> None:
    generator = np.random.default_rng(3)
    limits = [interval(generator.exponential(1, 60), confidence=0.9, resamples=400, seed=i) for i in range(300)]
    covered = np.mean([low <= 1 <= high for low, high in limits])
    assert 0.82 <= covered <= 0.95


def test_more_confidence_is_a_wider_interval() -> None:
    narrow, wide = interval(VALUES, confidence=0.5), interval(VALUES, confidence=0.99)
    assert narrow is not None
    assert wide is not None
    assert wide[0] < narrow[0] < VALUES.mean() < narrow[1] < wide[1]


def test_a_seed_fixes_the_interval_whether_draws_are_kept_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = interval(VALUES, seed=5)
    assert interval(VALUES.copy(), seed=5) == expected
    assert interval(VALUES, seed=6) != expected
    monkeypatch.setattr("rexrank.statistics.draws._KEPT_DRAWS", 0)
    assert interval(VALUES, seed=5) == expected


def test_undefined_values_are_left_out() -> None:
    with_holes = np.insert(VALUES, [0, 50, 200], np.nan)
    assert interval(with_holes) == interval(VALUES)
    assert interval([0.1, None, 0.4]) == interval([0.1, 0.4])
    assert interval([0.1, pandas.NA, 0.4]) == interval([0.1, 0.4])


@pytest.mark.parametrize("values", [[], [0.3], [np.nan, 0.3], [np.nan] * 5])
def test_fewer_than_two_values_have_no_interval(values: list[float]) -> None:
    assert interval(values) is None
    assert corpus_interval(np.array(values).reshape(-1, 1), lambda sums: sums[:, 0]) is None


def test_equal_values_have_an_interval_of_no_width() -> None:
    limits = interval([0.25] * 30)
    assert limits == (0.25, 0.25)


def test_groups_are_drawn_whole() -> None:
    # Ten reports a patient that all say the same carry the information of one.
    patients = np.random.default_rng(1).normal(0, 1, 40)
    by_study = interval(np.repeat(patients, 10))
    by_patient = interval(np.repeat(patients, 10), groups=np.repeat(np.arange(40), 10).tolist())
    assert by_study is not None
    assert by_patient is not None
    assert by_patient[1] - by_patient[0] > 2.5 * (by_study[1] - by_study[0])
    assert by_patient == pytest.approx(interval(patients), abs=1e-12)


def test_order_within_groups_and_their_names_do_not_matter() -> None:
    names = [f"p{position % 9}" for position in range(len(VALUES))]
    renamed = [("patient", name) for name in names]
    assert interval(VALUES, groups=names) == interval(VALUES, groups=renamed)
    holes = np.where(np.arange(len(VALUES)) % 9 == 4, np.nan, VALUES)
    kept = ~np.isnan(holes)
    assert interval(holes, groups=names) == interval(
        holes[kept], groups=[name for name, keep in zip(names, kept, strict=True) if keep]
    )


def test_one_group_has_no_interval() -> None:
    assert interval(VALUES, groups=["one"] * len(VALUES)) is None


def test_corpus_interval_applies_the_formula_to_sums() -> None:
    counts = np.stack([np.arange(1, 51), np.full(50, 60)], axis=1).astype(float)
    limits = corpus_interval(counts, lambda sums: sums[:, 0] / sums[:, 1], resamples=2_000)
    assert limits == pytest.approx(interval(counts[:, 0] / 60, resamples=2_000), abs=1e-12)


def test_corpus_interval_of_a_metric_holds_its_aggregate() -> None:
    predictions = [f"mild edema number {position % 7} is seen" for position in range(60)]
    references = [f"mild edema number {position % 5} was seen" for position in range(60)]
    for convention in ("published", "corrected"):
        scores = compute("coco_bleu4", predictions, references, convention)["coco_bleu4"]
        assert scores.statistics is not None
        assert scores.formula is not None
        limits = corpus_interval(scores.statistics, scores.formula, resamples=2_000)
        assert limits is not None
        assert limits[0] < scores.aggregate < limits[1]


def test_resamples_without_a_score_are_left_out() -> None:
    rows = np.array([[0.0], [0.0], [1.0]])
    limits = corpus_interval(rows, lambda sums: np.where(sums[:, 0] > 0, sums[:, 0], np.nan), resamples=500)
    assert limits is not None
    assert limits[0] == 1
    assert corpus_interval(rows, lambda sums: np.full(len(sums), np.nan)) is None


@pytest.mark.filterwarnings("error")
def test_resamples_with_an_infinite_score_have_none() -> None:
    sample = Sample(np.stack([np.ones(20), np.arange(20) < 2], axis=1), lambda sums: sums[:, 0] / sums[:, 1])
    (found,) = intervals([sample], resamples=2_000)
    assert found is not None
    assert found.undefined_draws == pytest.approx(2_000 * 0.9**20, rel=0.2)
    assert 2 <= found.low < 10 < found.high <= 20
    assert corpus_interval(np.stack([np.ones(20), np.zeros(20)], axis=1), sample.formula) is None


@settings(deadline=None)
@example([0.0, 6e-173], 0)  # whose square is no number above 0
@example([-1e300, 1e300, 3e299], 1)
@given(st.lists(st.floats(-1e6, 1e6) | st.just(float("nan")), max_size=30), st.integers(0, 2**32))
def test_limits_lie_within_the_values(values: list[float], seed: int) -> None:
    limits = interval(values, resamples=50, seed=seed)
    defined = [value for value in values if not np.isnan(value)]
    assert (limits is None) == (len(defined) < 2)
    if limits is not None:
        slack = 1e-9 * max(map(abs, defined))
        assert min(defined) - slack <= limits[0] <= limits[1] <= max(defined) + slack


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": [[0.1, 0.2]]}, "values: expected 1 dimension(s), got 2"),
        ({"values": 0.5}, "values: expected 1 dimension(s), got 0"),
        ({"values": ["secret", "text"]}, "values: expected numbers of one shape"),
        ({"values": [0.1, [0.2, 0.3]]}, "values: expected numbers of one shape"),
        ({"values": [0.1, float("inf")]}, "values[1]: the value is infinite"),
        ({"confidence": 95}, "confidence: expected a number between 0 and 1, got 95"),
        ({"resamples": 0}, "resamples: expected a whole number from 1 to 1,000,000, got 0"),
        ({"resamples": 10.5}, "resamples: expected a whole number from 1 to 1,000,000, got 10.5"),
        ({"groups": ["a"]}, "groups: expected one for each of the 3 studies, got 1"),
        ({"groups": ["a", None, "b"]}, "groups[1]: the group is missing"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidStatistics) as caught:
        interval(**{"values": [0.1, 0.2, 0.3], **arguments})
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)
    assert isinstance(caught.value, RexrankError)


def test_a_formula_of_the_wrong_shape_is_named() -> None:
    with pytest.raises(InvalidStatistics, match=r"formula: expected 100 scores, got an array of shape \(\)"):
        corpus_interval(np.ones((3, 2)), lambda sums: sums.sum(), resamples=100)
    with pytest.raises(InvalidStatistics, match=r"statistics: expected 2 dimension\(s\), got 1"):
        corpus_interval([1, 2, 3], lambda sums: sums[:, 0])


@pytest.mark.parametrize(("studies", "resamples", "columns"), [(50, 400, 1), (50, 400, 9), (20_000, 1_000, 9)])
def test_whole_numbers_are_summed_like_all_others(studies: int, resamples: int, columns: int) -> None:
    whole = np.random.default_rng(1).integers(0, 3, size=(studies, columns)).astype(float)

    def ends(statistics: np.ndarray, unit: float) -> tuple[float, float] | None:
        return corpus_interval(statistics, lambda sums: sums.sum(axis=1) / unit, resamples=resamples, seed=4)

    first = ends(whole, 1)
    assert first == pytest.approx(ends(whole / 3, 1 / 3), rel=1e-12)
    # What is kept from one call serves the next, whatever came between.
    assert ends(2 * whole[1:], 1) != first
    assert ends(whole, 1) == first


def test_values_that_cannot_be_summed_are_refused() -> None:
    with pytest.raises(InvalidStatistics, match=r"values\[1\]: the value is beyond 1e\+300, too large to be summed"):
        interval([0.5, 1e308, 1e308])
