"""Paired tests: equal to scipy and sacrebleu on shared cases, right in size, and honest where there is nothing."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from scipy.stats import permutation_test, ttest_rel

from rexrank.statistics import InvalidStatistics, holm, paired_test
from rexrank.statistics.draws import Draws
from rexrank.statistics.paired import Pair, p_values, paired_tests
from rexrank.statistics.sample import Floats, Sample

GENERATOR = np.random.default_rng(11)
A = GENERATOR.normal(0.45, 0.2, 120)
B = A + GENERATOR.normal(-0.03, 0.15, 120)


def _scipy(a: Floats, b: Floats, resamples: float = np.inf) -> float:
    def difference(x: Floats, y: Floats, axis: int) -> Floats:
        return np.asarray(x.mean(axis=axis) - y.mean(axis=axis))

    # Its "samples" swaps within pairs.
    found = permutation_test(
        (a, b), difference, permutation_type="samples", vectorized=True, n_resamples=resamples, rng=3
    )
    return float(found.pvalue)


@pytest.mark.parametrize("n", [2, 5, 12])
def test_few_studies_are_swapped_in_every_way_as_in_scipy(n: int) -> None:
    found = paired_test(A[:n], B[:n])
    assert found.exact
    assert found.draws == 2**n - 1
    assert found.p == pytest.approx(_scipy(A[:n], B[:n]), abs=1e-12)


def test_many_studies_are_swapped_at_random_as_in_scipy() -> None:
    found = paired_test(A, B, resamples=20_000)
    assert (found.exact, found.draws) == (False, 20_000)
    assert found.p == pytest.approx(_scipy(A, B, 20_000), abs=0.006)
    assert found.p == pytest.approx(ttest_rel(A, B).pvalue, abs=0.01)


def test_patients_are_swapped_whole_as_in_scipy_on_their_sums() -> None:
    groups = np.arange(len(A)) % 11
    sums_a, sums_b = (np.bincount(groups, weights=values) for values in (A, B))
    found = paired_test(A, B, groups=groups.tolist())
    assert (found.exact, found.units, found.n) == (True, 11, 120)
    assert found.p == pytest.approx(_scipy(sums_a, sums_b), abs=1e-12)


def test_reports_that_say_the_same_ten_times_say_it_once() -> None:
    repeated = paired_test(np.repeat(A[:12], 10), np.repeat(B[:12], 10), groups=np.repeat(np.arange(12), 10).tolist())
    assert repeated.p == pytest.approx(paired_test(A[:12], B[:12]).p)
    assert paired_test(np.repeat(A[:12], 10), np.repeat(B[:12], 10)).p < repeated.p / 2


SENTENCE = "the heart is enlarged small left effusion lungs are clear no pneumothorax mild edema stable"
WORDS = SENTENCE.split()


def _texts(seed: int, noise: float, plain: list[str]) -> list[str]:
    generator = np.random.default_rng(seed)
    return [
        " ".join(word if generator.random() > noise else str(generator.choice(WORDS)) for word in text.split())
        for text in plain
    ]


@pytest.fixture(scope="module")
def corpus() -> dict[str, Any]:
    """Two invented systems, their BLEU by sacrebleu, and its statistics as samples."""
    plain = [" ".join(np.random.default_rng(number).choice(WORDS, 12)) for number in range(50)]
    first, second = _texts(1, 0.4, plain), _texts(2, 0.46, plain)
    metric = BLEU(references=[plain])

    def formula(sums: Floats) -> Floats:
        return np.array([metric._compute_score_from_stats(row).score for row in sums.tolist()])

    rows = [np.array(metric._extract_corpus_statistics(one, None), dtype=float) for one in (first, second)]
    return {"texts": (first, second), "metric": metric, "samples": [Sample(one, formula) for one in rows]}


def _sacrebleu(corpus: dict[str, Any], test: str, draws: int) -> float:
    systems = list(zip(("second", "first"), reversed(corpus["texts"]), strict=True))
    _, scores = PairedTest(systems, {"BLEU": corpus["metric"]}, None, test, draws)()
    return float(scores["BLEU"][1].p_value)


def test_randomised_bleu_is_that_of_sacrebleu(corpus: dict[str, Any]) -> None:
    found = paired_test(*corpus["samples"], resamples=1_000)
    first, second = (corpus["metric"].corpus_score(list(texts), None).score for texts in corpus["texts"])
    assert found.difference == pytest.approx(first - second)
    assert found.p == pytest.approx(_sacrebleu(corpus, "ar", 1_000), abs=0.05)


def test_bootstrapped_bleu_is_drawn_as_in_sacrebleu(corpus: dict[str, Any]) -> None:
    """Its p has another centre than ours (the mean of the differences' sizes); from our draws it comes out too."""
    pair = Pair.of(*corpus["samples"])
    sizes = np.abs(Draws.of(50, 1_000, 1).scores([pair.difference])[0])
    theirs = ((sizes - sizes.mean() > abs(pair.difference.score or 0)).sum() + 1) / 1_001
    assert theirs == pytest.approx(_sacrebleu(corpus, "bs", 1_000), abs=0.04)


def test_bootstrap_of_a_mean_is_about_the_t_test() -> None:
    assert paired_test(A, B, test="bootstrap").p == pytest.approx(ttest_rel(A, B).pvalue, abs=0.015)


@pytest.mark.parametrize("test", ["randomisation", "bootstrap"])
def test_a_clear_difference_has_the_smallest_p_there_is(test: Any) -> None:
    assert paired_test(A + 1, A - B, resamples=499, test=test).p == 1 / 500


@pytest.mark.parametrize("test", ["randomisation", "bootstrap"])
@pytest.mark.parametrize("grouped", [False, True])
def test_two_runs_of_one_system_differ_in_one_of_twenty_trials_at_most(test: Any, grouped: bool) -> None:
    """`python -m bench.same_system` has 1,000 trials, of real scores too."""
    generator = np.random.default_rng(5)
    patients = np.repeat(np.arange(40), generator.integers(1, 6, 40))
    found = 0
    trials = 300
    for trial in range(trials):
        study, runs = generator.exponential(1, len(patients)), []
        for _ in range(2):
            runs.append(study + generator.normal(0, 0.5, 40)[patients] + generator.exponential(0.5, len(patients)))
        groups = patients.tolist() if grouped else None
        pair = Pair.of(*map(Sample.of_values, runs))
        (p,) = p_values([pair], resamples=399, seed=trial, groups=groups, test=test)
        found += p is not None and p <= 0.05
    # Three standard errors of a share of .05. As if studies were on their own, patients are found twice as often.
    share = found / trials
    assert share <= 0.05 + 3 * 0.0126 if grouped else share > 0.1


def test_the_other_way_round_is_the_same_test() -> None:
    left, right = paired_test(A, B), paired_test(B, A)
    assert left.p == right.p
    assert left.difference == pytest.approx(-(right.difference or 0))
    assert (left.wins, left.losses) == (right.losses, right.wins)


def test_identical_systems_are_no_evidence_of_anything() -> None:
    found = paired_test(A, A)
    assert (found.difference, found.p, found.ties) == (0, 1, 120)
    assert found.interval == (0, 0)
    assert found.effect is None
    assert found.superiority is not None
    assert found.superiority.value == 0.5


def test_studies_that_lack_a_value_are_left_out_of_both() -> None:
    a, b = A.copy(), B.copy()
    a[3], b[7], b[8] = np.nan, np.nan, np.nan
    kept = ~np.isnan(a) & ~np.isnan(b)
    found, expected = paired_test(a, b), paired_test(A[kept], B[kept])
    assert (found.n, found.left_out) == (117, 3)
    assert found.scores == pytest.approx(expected.scores)
    assert found.interval == expected.interval
    assert found.p == pytest.approx(expected.p, abs=0.02)
    groups = [0] * 60 + [1] * 60
    by_patient = paired_test(a, b, groups=groups)
    shorter = paired_test(A[kept], B[kept], groups=[group for group, keep in zip(groups, kept, strict=True) if keep])
    assert (by_patient.p, by_patient.interval, by_patient.units) == (shorter.p, shorter.interval, 2)


def test_two_studies_prove_nothing_by_either_test() -> None:
    assert paired_test([1.0, 2.0], [2.0, 3.5], test="bootstrap").p == 0.5
    assert paired_test([1.0, 2.0], [2.0, 3.5], test="randomisation").p == 0.5


@pytest.mark.parametrize(("a", "b"), [([], []), ([np.nan, 1], [1, np.nan]), ([0.3], [0.1])])
@pytest.mark.parametrize("test", ["randomisation", "bootstrap"])
def test_fewer_than_two_pairs_have_no_test(a: list[float], b: list[float], test: Any) -> None:
    found = paired_test(a, b, test=test)
    assert (found.p, found.interval, found.detectable, found.error) == (None, None, None, None)


def test_one_patient_has_no_test() -> None:
    assert paired_test(A, B, groups=["one"] * 120).p is None


def test_effect_sizes_are_those_of_the_differences() -> None:
    found = paired_test(A, B)
    assert found.effect is not None
    assert found.superiority is not None
    assert found.effect.value == pytest.approx(ttest_rel(A, B).statistic / np.sqrt(120))
    assert found.superiority.value == pytest.approx((A > B).mean())
    assert (found.wins, found.ties, found.losses) == ((A > B).sum(), 0, (A < B).sum())
    for estimate in (found.effect, found.superiority):
        assert estimate.interval is not None
        assert estimate.interval[0] < estimate.value < estimate.interval[1]
    far = paired_test(A + 1e6, B + 1e6)
    assert far.effect is not None
    assert far.effect.value == pytest.approx(found.effect.value, rel=1e-4)


def test_equal_differences_have_no_standardised_effect() -> None:
    assert paired_test(A + 0.1, A).effect is None
    assert paired_test(A + 0.1, A).wins == 120


def test_rounding_is_no_spread_of_the_differences() -> None:
    found = paired_test([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.9, 1.9, 2.9, 3.9, 4.9, 5.9, 6.9])
    assert (found.error, found.detectable) == (0.0, None)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1e-170, 1e160])
def test_effect_sizes_have_no_unit(unit: float) -> None:
    values = np.arange(1.0, 8.0)
    found, scaled = paired_test(values, np.zeros(7)), paired_test(values * unit, np.zeros(7))
    assert found.effect is not None
    assert scaled.effect is not None
    assert scaled.effect.value == pytest.approx(found.effect.value)
    assert scaled.effect.interval == pytest.approx(found.effect.interval)
    assert scaled.detectable == pytest.approx((found.detectable or 0) * unit)


def test_rounding_is_a_tie() -> None:
    assert paired_test([0.1 + 0.2, 0.5], [0.3, 0.4]).ties == 1


def _f1(sums: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(2 * sums[:, 0] / (2 * sums[:, 0] + sums[:, 1]))


def test_draws_without_a_score_are_counted_and_count_against_the_difference() -> None:
    rows = np.zeros((40, 2))
    right, wrong = rows.copy(), rows.copy()
    right[:2, 0], wrong[:2, 1] = 1, 1
    found = paired_test(Sample(right, _f1), Sample(wrong, _f1), resamples=999, test="bootstrap")
    assert found.undefined_draws == found.undefined_resamples > 50
    assert found.p is not None
    assert found.p >= found.undefined_draws / 1_000
    assert paired_test(Sample(right, _f1), Sample(wrong, _f1)).p == 0.5  # two studies matter, which 3 ways swap


def test_many_scores_are_tested_as_each_alone() -> None:
    pairs = [Pair.of(Sample.of_values(a), Sample.of_values(b)) for a, b in ((A, B), (B, A), (A**2, B**2), (A[::-1], B))]
    together = paired_tests(pairs, resamples=500)
    assert together == [paired_tests([pair], resamples=500)[0] for pair in pairs]
    assert [one.p for one in together] == p_values(pairs, resamples=500)
    assert paired_tests([]) == p_values([]) == []


def test_a_seed_fixes_everything_whatever_fits_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = paired_test(A, B, resamples=500, seed=4)
    assert paired_test(A.copy(), B, resamples=500, seed=4) == expected
    assert paired_test(A, B, resamples=500, seed=5).p != expected.p
    for signs in (1, 1_000, 1 << 24):
        monkeypatch.setattr("rexrank.statistics.paired._BLOCK_SIGNS", signs)
        assert paired_test(A, B, resamples=500, seed=4) == expected


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5]) == [0.5]
    assert holm([]) == []
    assert holm([0.6, 0.7]) == [1, 1]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(deadline=None)
def test_holm_keeps_order_and_lies_between_none_and_bonferroni(values: list[float]) -> None:
    corrected = holm(values)
    for value, found in zip(values, corrected, strict=True):
        assert value <= found <= min(1, value * len(values)) + 1e-12
    order = np.argsort(values, kind="stable")
    assert (np.diff(np.array(corrected)[order]) >= 0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"b": [0.1]}, "a and b: expected the same studies, got 3 and 1"),
        ({"a": ["secret", "text", "x"]}, "a: expected numbers of one shape"),
        ({"b": [0.1, 0.2, float("inf")]}, "b[2]: the value is infinite"),
        ({"test": "student"}, 'test: expected randomisation or bootstrap, got "student"'),
        ({"resamples": 0}, "resamples: expected a whole number from 1 to 1,000,000, got 0"),
        ({"resamples": 10**9}, "resamples: expected a whole number from 1 to 1,000,000, got 1000000000"),
        ({"confidence": 2}, "confidence: expected a number between 0 and 1, got 2"),
        ({"groups": ["a"]}, "groups: expected one for each of the 3 studies, got 1"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidStatistics) as caught:
        paired_test(**{"a": [0.1, 0.2, 0.3], "b": [0.2, 0.2, 0.2], **arguments})
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("values", [[-0.1], [1.1], [float("nan")]])
def test_holm_refuses_what_is_no_probability(values: list[float]) -> None:
    with pytest.raises(InvalidStatistics, match="p_values: expected numbers from 0 to 1"):
        holm(values)
