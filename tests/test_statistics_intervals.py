"""Intervals of many scores: equal to scipy's, within their range, and plain about what they lack."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rexrank
from bench import statistics as timing
from rexrank.metrics.f1 import Marks, Score
from rexrank.scoring import score as scoring
from rexrank.statistics import InvalidStatistics, interval
from rexrank.statistics.bootstrap import METHODS, Interval, Method, intervals
from rexrank.statistics.limits import Resampled, bca, percentile, scaled
from rexrank.statistics.quantiles import t_quantile
from rexrank.statistics.sample import Sample, mean

GENERATOR = np.random.default_rng(11)
VALUES = GENERATOR.exponential(1, 80)
GROUPS = [position // 4 for position in range(80)]
COUNTS = np.stack([GENERATOR.binomial(9, 0.3, 80), np.full(80, 9)], axis=1).astype(float)


def _one(sample: Sample, **options: Any) -> Interval:
    found = intervals([sample], **options)[0]
    assert found is not None
    return found


@pytest.mark.parametrize(("ours", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
def test_ends_are_scipys(ours: Method, theirs: str) -> None:
    def ratio(numerators: np.ndarray, denominators: np.ndarray, axis: int) -> np.ndarray:
        return numerators.sum(axis=axis) / denominators.sum(axis=axis)

    spread = GENERATOR.integers(5, 60, 80).astype(float)
    weights = np.stack([VALUES * spread, spread], axis=1)
    cases = [(Sample.of_values(VALUES), (VALUES,), np.mean), (Sample(weights, mean), tuple(weights.T), ratio)]
    for sample, columns, statistic in cases:
        found = _one(sample, method=ours, resamples=20_000)
        expected = stats.bootstrap(
            columns, statistic, n_resamples=20_000, paired=True, vectorized=True, method=theirs, batch=2_000, rng=3
        ).confidence_interval
        # Each end of each of both varies by about a fiftieth of the standard error.
        chance = 0.12 * (expected.high - expected.low) / 3.92
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=chance)
        assert found.method == ours


def test_places_of_bca_are_efrons() -> None:
    resampled = Resampled(np.sort(GENERATOR.normal(size=999)), 0.2, np.append(np.zeros(20), 3.0))
    below = (resampled.scores < 0.2).mean()
    bias = stats.norm.ppf(below)
    moves = resampled.left_out.mean() - resampled.left_out
    skew = (moves**3).sum() / (6 * (moves**2).sum() ** 1.5)
    shifted = bias + stats.norm.ppf([0.05, 0.95])
    places = stats.norm.cdf(bias + shifted / (1 - skew * shifted))
    assert bca(resampled, 0.9) == pytest.approx(np.quantile(resampled.scores, places), abs=1e-12)


def test_scaled_intervals_of_means_are_percentiles_widened_for_few_studies() -> None:
    few = VALUES[:12] - VALUES[:12].mean()
    symmetric = np.concatenate([few, -few])[:24]
    error = symmetric.std(ddof=1) / np.sqrt(24)
    low, high = (_one(Sample.of_values(symmetric)).low, _one(Sample.of_values(symmetric)).high)
    # Symmetric values have no skewness: what is left is close to the interval of Student's t.
    width = 2 * stats.t.ppf(0.975, 23) * error
    assert high - low == pytest.approx(width, rel=0.03)
    percentiles = _one(Sample.of_values(symmetric), method="percentile")
    assert percentiles.high - percentiles.low < 0.95 * width


def test_scaled_intervals_lean_to_the_long_tail() -> None:
    found, plain = _one(Sample.of_values(VALUES)), _one(Sample.of_values(VALUES), method="percentile")
    assert found.high - VALUES.mean() > 1.1 * (VALUES.mean() - found.low)
    assert found.low > plain.low - 0.01
    assert found.high > plain.high


def test_macro_f1_of_rare_labels_stands_within_its_interval() -> None:
    referred = np.random.default_rng(2).random((60, 14)) < np.linspace(0.02, 0.3, 14)
    score = Score("f1", "macro", 0.0)
    sample = Sample(score.statistics(Marks(referred, referred)), score.formula, range=(0.0, 1.0))
    # Perfect predictions: resamples lose rare labels, and no resample scores higher than the set.
    found, plain = _one(sample), _one(sample, method="percentile")
    assert sample.score is not None
    assert found.low < sample.score <= found.high <= 1
    assert plain.high <= sample.score
    assert found.high - found.low > plain.high - plain.low


def test_draws_without_a_score_are_counted() -> None:
    rows = np.zeros((20, 2))
    rows[3] = [2, 2]
    score = Score("f1", "micro", np.nan)
    for method in METHODS:
        found = _one(Sample(rows, score.formula, range=(0.0, 1.0)), method=method, resamples=5_000)
        assert found.undefined_draws == pytest.approx(5_000 * (19 / 20) ** 20, abs=150)
        assert (found.low, found.high) == (1.0, 1.0)
    assert _one(Sample.of_values(VALUES)).undefined_draws == 0


def test_an_interval_does_not_depend_on_its_neighbours() -> None:
    samples = [
        Sample.of_values(VALUES),
        Sample.of_values(np.where(np.arange(80) % 3 == 0, np.nan, VALUES)),
        Sample(COUNTS, mean),
        Sample.of_values(np.full(80, np.nan)),
    ]
    for groups in (None, GROUPS):
        together = intervals(samples, resamples=500, groups=groups)
        assert together[::-1] == intervals(samples[::-1], resamples=500, groups=groups)
        assert together == [intervals([sample], resamples=500, groups=groups)[0] for sample in samples]
        assert together[3] is None
    first = intervals(samples)[0]
    assert first is not None
    assert (first.low, first.high) == interval(VALUES)


def test_whole_patients_are_left_out_and_drawn() -> None:
    patients = np.random.default_rng(4).exponential(1, 20)
    repeated = Sample.of_values(np.repeat(patients, 4))
    for method in METHODS:
        found = _one(repeated, method=method, groups=GROUPS)
        alone = _one(Sample.of_values(patients), method=method)
        assert (found.low, found.high) == pytest.approx((alone.low, alone.high), abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_where_nothing_varies_the_interval_has_no_width(method: Method) -> None:
    found = _one(Sample.of_values([0.1] * 9), method=method)
    assert found.low == found.high == pytest.approx(0.1, rel=1e-15)


@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_ends_are_in_order_and_within_the_range(method: Method, data: st.DataObject) -> None:
    hits = data.draw(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=12))
    predicted, referred = (np.array(side)[:, None] for side in zip(*hits, strict=True))
    undefined = data.draw(st.sampled_from([0.0, np.nan]))
    score = Score("f1", "micro", undefined)
    sample = Sample(score.statistics(Marks(predicted, referred)), score.formula, range=(0.0, 1.0))
    found = intervals([sample], resamples=60, method=method)[0]
    assert (found is None) == (sample.score is None)
    if found is not None:
        assert 0 <= found.low <= found.high <= 1
        if method == "scaled":
            assert found.low <= sample.score <= found.high  # type: ignore[operator]


def test_a_score_beyond_all_resamples_keeps_an_interval() -> None:
    resampled = Resampled(np.linspace(0.2, 0.6, 400), 0.7, np.linspace(0.6, 0.7, 30), (0.0, 1.0))
    assert bca(resampled, 0.95)[1] == pytest.approx(0.6)
    low, high = scaled(resampled, 0.95)
    assert low < 0.7 < high <= 1
    assert percentile(resampled, 0.95) == pytest.approx((0.21, 0.59))


def test_one_study_that_makes_the_score_puts_no_end_at_the_most_extreme_resample() -> None:
    resampled = Resampled(np.linspace(0, 1, 10_001), 0.5, np.append(np.full(30, 0.5), 0.6), (0.0, 1.0))
    low, high = scaled(resampled, 0.95)
    assert 0.001 < low < 0.025
    assert 0.5 < high < 0.975


def test_scores_that_no_unit_can_be_left_out_of_keep_the_resamples() -> None:
    resampled = Resampled(np.linspace(0.2, 0.6, 400), 0.4, np.full(30, np.nan), None)
    assert bca(resampled, 0.95) == pytest.approx(percentile(resampled, 0.95), abs=1e-3)
    assert scaled(resampled, 0.95)[1] - 0.4 == pytest.approx(0.19, abs=0.01)


def test_sets_without_a_score_have_no_interval() -> None:
    assert intervals([]) == []
    assert intervals([Sample(np.ones((5, 1)), lambda sums: np.full(len(sums), np.nan))]) == [None]
    assert intervals([Sample.of_values(VALUES)], groups=[1] * 80) == [None]


@pytest.mark.parametrize("freedom", [4, 9, 61, 289, 10_000])
def test_quantiles_are_students(freedom: int) -> None:
    for share in (0.005, 0.025, 0.05, 0.5, 0.975):
        assert t_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=5e-3, abs=1e-12)


def test_with_few_degrees_of_freedom_quantiles_lie_beyond_all_resamples() -> None:
    assert stats.norm.cdf(t_quantile(0.025, 1)) < 1e-9


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(InvalidStatistics, match='method: expected one of scaled, bca, percentile, got "basic"'):
        intervals([Sample.of_values(VALUES)], method="basic")  # type: ignore[arg-type]
    with pytest.raises(InvalidStatistics, match=r"samples\[1\]: expected 80 studies, got 2"):
        intervals([Sample.of_values(VALUES), Sample.of_values([0.1, 0.2])])


def test_a_public_system_has_its_known_interval(shared_data: Path) -> None:
    with (shared_data / "iu_xray/predictions/moerad/report_scores.csv").open(newline="", encoding="utf-8") as file:
        values = np.array([float(row["RadCliQ-v1"]) for row in csv.DictReader(file)])
    score = Sample.of_values(values)
    inverse = Sample(score.statistics, lambda sums: 1 / mean(sums))
    for method in METHODS:
        found, turned = intervals([score, inverse], method=method)
        assert found is not None
        assert turned is not None
        assert (found.low, found.high) == pytest.approx((0.458, 0.543), abs=0.0025)
        assert (turned.low, turned.high) == pytest.approx((1.842, 2.183), abs=0.01)


PREDICTIONS = {f"s{number}": "mild edema" if number == 7 else "clear lungs" for number in range(30)}
REFERENCES = {f"s{number}": "mild edema" if number in (7, 8) else "lungs are clear" for number in range(30)}


def test_a_card_says_what_was_drawn_and_what_draws_lacked() -> None:
    keys = ["bleu2", "f1labels_weighted_14", "f1labels_macro_supported_14"]
    patients = {f"s{number}": number // 2 for number in range(30)}
    card = rexrank.score(
        PREDICTIONS, REFERENCES, protocol="plain", metrics=keys, convention="corrected", groups=patients, progress=False
    )
    assert card.interval["method"] == "scaled bootstrap"
    assert "intervals: scaled bootstrap, 10,000 resamples of 15 patients" in str(card)
    assert all("n_undefined_draws" not in card.counts[key] for key in keys)
    again = intervals([card.sample(key) for key in keys], groups=card.groups)  # type: ignore[misc]
    assert [card.intervals[key] for key in keys] == [(one.low, one.high) for one in again if one]


def test_a_card_shows_draws_without_a_score_and_the_warning() -> None:
    predictions = {f"p1{number % 9}_s{number}": text for number, text in enumerate(PREDICTIONS.values())}
    references = dict(zip(predictions, REFERENCES.values(), strict=True))
    card = rexrank.score(
        predictions, references, protocol="plain", metrics="bleu2", convention="corrected", progress=False
    )
    assert card.interval["warning"].startswith("ids show patients with several studies")
    assert "warning: ids show patients with several studies" in str(card)
    assert "resamples without a score" not in str(card)
    counts = {"bleu2": {**card.counts["bleu2"], "n_undefined_draws": 1_234}}
    assert "resamples without a score, left out: bleu2 1,234" in str(replace(card, counts=counts))
    flat = replace(card, intervals={"bleu2": (0.5, 0.5)})
    assert "no width, as every resample scores alike, which is no certainty: bleu2" in str(flat)


def test_a_card_counts_the_draws_that_an_interval_lacks() -> None:
    values, counts = np.array([0.5, 0.7]), {"n": 2, "n_undefined": 0}
    scores = scoring.KeyScores("bleu2", values, 0.6, counts, "")
    assert scoring._counts(scores, Interval(0.4, 0.8, 3, "scaled")) == {**counts, "n_undefined_draws": 3}
    assert scoring._counts(scores, Interval(0.4, 0.8, 0, "scaled")) == scoring._counts(scores, None) == counts


def test_a_formula_that_fails_costs_its_score_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(sums: np.ndarray) -> np.ndarray:
        if len(sums) > 1:
            raise ArithmeticError("secret text")
        return np.array([0.5])

    compute = scoring.compute

    def computed(*arguments: Any, **options: Any) -> Any:
        found = compute(*arguments, **options)
        return {
            key: scoring.KeyScores(**{**vars(one), "formula": broken}) if key == "coco_bleu1" else one
            for key, one in found.items()
        }

    monkeypatch.setattr(scoring, "compute", computed)
    keys = ["coco_bleu1", "coco_bleu2", "rouge_l"]
    card = rexrank.score(PREDICTIONS, REFERENCES, protocol="plain", metrics=keys, progress=False)
    assert set(card.summary) == set(card.intervals) == {"coco_bleu2", "rouge_l"}
    assert "ArithmeticError" in card.unavailable["coco_bleu1"]
    assert "secret" not in card.unavailable["coco_bleu1"]
    assert set(card.counts) == {"coco_bleu2", "rouge_l"}


def test_the_timing_compares_with_scipy(capsys: pytest.CaptureFixture[str]) -> None:
    assert timing.main(["--studies", "60", "--resamples", "300"]) == 0
    printed = capsys.readouterr().out
    assert "≈, from 100 resamples" in printed
    assert all(f"rexrank, {method}" in printed for method in METHODS)
    assert len(printed.splitlines()) == 3 + len(METHODS) + 2 + 8


def test_the_timing_stops_where_intervals_differ(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(timing, "scipy_interval", lambda *_, **__: (0.2, 0.3))
    assert timing.main(["--studies", "60", "--resamples", "300"]) == 1
    assert "differ by more than chance" in capsys.readouterr().err
