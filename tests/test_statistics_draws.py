"""Resamples: paired, reproducible, whole groups, and no score where nothing was drawn."""

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest

from rexrank.statistics import InvalidStatistics
from rexrank.statistics.draws import Draws, _exact
from rexrank.statistics.sample import Sample, mean

VALUES = np.random.default_rng(7).beta(1.5, 4, 120)
GROUPS = [f"p{position % 17}" for position in range(120)]
HOLES = np.where(np.arange(120) % 5 == 2, np.nan, VALUES)


def _tallies(draws: Draws) -> np.ndarray:
    return np.concatenate([tallies for _, tallies in draws.tallies()])


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("values", [VALUES, HOLES])
def test_a_score_is_that_of_the_studies_drawn(groups: list[str] | None, values: np.ndarray) -> None:
    draws = Draws.of(120, resamples=50, seed=3, groups=groups)
    scores = draws.scores([Sample.of_values(values)])[0]
    for score, tally in zip(scores, _tallies(draws), strict=True):
        assert score == pytest.approx(np.nanmean(np.repeat(values, tally)), rel=1e-12)


def test_single_studies_are_drawn_as_often_as_chance_says() -> None:
    tallies = _tallies(Draws.of(120, resamples=4_000))
    assert (tallies.sum(axis=1) == 120).all()
    # Of a multinomial distribution: mean 1, variance 1 - 1/n; 480,000 cells.
    assert tallies.mean(axis=0) == pytest.approx(np.ones(120), abs=0.08)
    assert tallies.var() == pytest.approx(1 - 1 / 120, abs=0.01)
    assert np.corrcoef(tallies[:-1].ravel(), tallies[1:].ravel())[0, 1] == pytest.approx(0, abs=0.01)


def test_groups_are_drawn_whole_and_as_many_as_there_are() -> None:
    tallies = _tallies(Draws.of(120, resamples=300, groups=GROUPS))
    first = tallies[:, :17]
    assert (first.sum(axis=1) == 17).all()
    assert all((tallies[:, position] == first[:, position % 17]).all() for position in range(120))
    assert Draws.of(120, groups=GROUPS).units == 17


def test_names_of_groups_do_not_matter() -> None:
    renamed = [("patient", name) for name in GROUPS]
    one, other = (_tallies(Draws.of(120, 20, groups=groups)) for groups in (GROUPS, renamed))
    assert (one == other).all()


def test_a_seed_fixes_the_draws_and_fewer_are_the_first_of_more(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = [Sample.of_values(VALUES)]
    more = Draws.of(120, 1_000, seed=4).scores(sample)[0]
    assert (Draws.of(120, 1_000, seed=4).scores(sample)[0] == more).all()
    assert (Draws.of(120, 1_000, seed=5).scores(sample)[0] != more).any()
    assert Draws.of(120, 300, seed=4).scores(sample)[0] == pytest.approx(more[:300], rel=1e-14)
    monkeypatch.setattr("rexrank.statistics.draws._KEPT_DRAWS", 0)
    assert (Draws.of(120, 1_000, seed=4).scores(sample)[0] == more).all()


def test_samples_of_one_call_see_the_same_draws() -> None:
    other = Sample.of_values(VALUES + 0.25)
    rows = Draws.of(120, 500).scores([Sample.of_values(VALUES), other])
    assert rows[1] - rows[0] == pytest.approx(np.full(500, 0.25), abs=1e-12)


def test_a_row_depends_on_its_sample_alone() -> None:
    draws = Draws.of(120, 500, groups=GROUPS)
    sample, other = Sample.of_values(VALUES), Sample.of_values(HOLES)
    alone = draws.scores([sample])[0]
    rows = draws.scores([other, sample, Sample.of_values(VALUES.copy()), other])
    assert (rows[1] == alone).all()
    assert (rows[2] == alone).all()
    assert (rows[0] == rows[3]).all()


def test_a_resample_without_a_study_that_has_a_value_has_no_score() -> None:
    values = np.full(30, np.nan)
    values[4] = 0.7
    # Its formula would give 1 for sums of nothing.
    careless = Sample(Sample.of_values(values).statistics, lambda sums: np.ones(len(sums)))
    rows = Draws.of(30, 5_000).scores([Sample.of_values(values), careless])
    lost = np.isnan(rows)
    assert (lost[0] == lost[1]).all()
    assert lost[0].mean() == pytest.approx((29 / 30) ** 30, abs=0.03)
    assert rows[0][~lost[0]] == pytest.approx(0.7, rel=1e-15)


def test_a_formula_may_say_that_a_resample_has_no_score() -> None:
    rows = np.array([[0.0], [0.0], [1.0]])
    sample = Sample(rows, lambda sums: np.where(sums[:, 0] > 0, 1 / sums[:, 0], np.nan))
    assert np.isnan(Draws.of(3, 4_000).scores([sample])).mean() == pytest.approx(8 / 27, abs=0.03)


def test_sums_that_cannot_vary_do_not() -> None:
    rows = Draws.of(50, 200).scores([Sample.of_values([0.1] * 50)])
    assert len(np.unique(rows)) == 1


def test_no_study_and_no_sample_have_no_scores() -> None:
    assert Draws.of(120, 10).scores([]).shape == (0, 10)
    assert np.isnan(Draws.of(0, 10).scores([Sample(np.empty((0, 2)), mean)])).all()
    assert list(Draws.of(0, 10).tallies()) == []


def test_some_of_the_studies_are_drawn_as_if_there_were_no_others() -> None:
    kept = ~np.isnan(HOLES)
    names = [name for name, keep in zip(GROUPS, kept, strict=True) if keep]
    some = Draws.of(120, 40, groups=GROUPS).take(kept)
    assert (_tallies(some) == _tallies(Draws.of(int(kept.sum()), 40, groups=names))).all()


def test_many_studies_take_little_memory() -> None:
    samples = [Sample.of_values(np.arange(200_000.0)), Sample.of_values(np.ones(200_000))]
    tracemalloc.start()
    Draws.of(200_000, 20).scores(samples)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Twenty resamples at once would be 32 MB of positions alone, and as much for their tallies and as floats.
    assert peak < 60e6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"resamples": 0}, "resamples: expected a whole number from 1 to 1,000,000, got 0"),
        ({"resamples": True}, "resamples: expected a whole number from 1 to 1,000,000, got True"),
        ({"seed": -1}, "seed: expected a whole number from 0, got -1"),
        ({"groups": ["a"]}, "groups: expected one for each of the 3 studies, got 1"),
        ({"groups": "abc"}, 'groups: expected a list with one group a study, got "abc"'),
        ({"groups": ["a", float("nan"), "b"]}, "groups[1]: the group is missing"),
        ({"groups": ["a", ["b"], "b"]}, "groups[1]: expected a name or number"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidStatistics) as caught:
        Draws.of(**{"n": 3, **arguments})
    assert message in str(caught.value)


def test_wrong_samples_are_refused_by_their_place() -> None:
    draws, good = Draws.of(3, 10), Sample.of_values([0.1, 0.2, 0.3])
    with pytest.raises(InvalidStatistics, match=r"samples\[1\]: expected 3 studies, got 2"):
        draws.scores([good, Sample.of_values([0.1, 0.2])])
    with pytest.raises(InvalidStatistics, match=r"samples\[0\]: a value is infinite"):
        draws.scores([Sample.of_values([0.1, 0.2, np.inf])])
    with pytest.raises(InvalidStatistics, match=r"formula: expected 10 scores, got an array of shape \(\)"):
        draws.scores([Sample(np.ones((3, 1)), lambda sums: sums.sum())])


def test_sums_lose_nothing_in_any_order() -> None:
    generator = np.random.default_rng(5)
    rows = generator.normal(size=(999, 3)) * [1e-9, 1, 1e9]
    exact = _exact(rows)
    assert (np.abs(exact - rows) <= 1e-12 * np.abs(rows).max(axis=0)).all()
    drawn = generator.integers(0, 999, size=999)
    forward, backward = np.cumsum(exact[drawn], axis=0)[-1], np.cumsum(exact[drawn[::-1]], axis=0)[-1]
    assert forward.tolist() == backward.tolist() == [math.fsum(column) for column in exact[drawn].T]
    whole = generator.integers(-50, 50, size=(999, 3)).astype(float)
    assert (_exact(whole) == whole).all()
    assert (_exact(np.array([[0.0, 5e-324], [-0.0, 0.0]])) == [[0, 0], [0, 0]]).all()
