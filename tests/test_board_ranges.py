"""Ranges of the board's ranks: from what is kept of single studies, and with a word where nothing is."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hosting import request, sentences

import rexrank
from rexrank.board import results, samples, tables
from rexrank.board.ranges import Ranges
from rexrank.board.results import Result, ResultEvaluator, Rules, Texts
from rexrank.board.samples import Kept
from rexrank.board.tables import Ranking, Standard
from rexrank.errors import RexrankError
from rexrank.statistics.sample import Sample

AT = datetime(2026, 3, 2, 13, 0, tzinfo=UTC)
KEYS = ("bleu2", "coco_bleu2")
RULES = Rules("plain", "1", "published", "none.1", KEYS, dict.fromkeys(KEYS, "higher"))
STANDARD = Standard(frozenset(KEYS), {("plain", "1"): Ranking(("bleu2",), KEYS)}, {"toy": "b" * 40})
EVALUATOR = ResultEvaluator(hash="9c41e07b52d8" + "0" * 52, version="0.1.0", python="3.11")
STUDIES = 40
NOBODY_ELSE = "no other ranked row has scores of single studies to compare with"


@pytest.fixture(scope="module")
def card() -> Any:
    texts = sentences(STUDIES)
    references = {study: {"findings": text, "patient_id": study[:-1]} for study, text in texts.items()}
    predictions = dict(sentences(STUDIES, seed=1), **{"study-00003": ""})
    return rexrank.score(predictions, references, protocol="plain", metrics=list(KEYS), progress=False)


def built(card: Any, number: int, value: float | None = None) -> Result:
    result = results.build(request(number), card, RULES, Texts("e" * 64, STUDIES, 0), EVALUATOR, AT, AT, True)
    if value is None:
        return result
    found = result.metrics["bleu2"].model_copy(update={"value": value})
    return result.model_copy(update={"metrics": {**result.metrics, "bleu2": found}})


def kept(values: Any, patients: Any = None, first: int = 0) -> Kept:
    ids = tuple(f"s{number}" for number in range(first, first + len(values)))
    return Kept(ids, patients, Sample.of_values(values))


class Shelf:
    """A source that holds something of some results, and counts how often it is asked."""

    def __init__(self, *held: Kept | str) -> None:
        self.held = held
        self.asked = 0

    def __call__(self, group: Sequence[Result], key: str) -> list[Kept | str]:
        self.asked += 1
        return [self.held[int(result.request_id[-2:])] for result in group]


def board(card: Any, shelf: Shelf, values: Sequence[float] | None = None) -> dict[str, dict[str, Any]]:
    """Rows by number of the model; without values each row has the mean of what the shelf holds."""
    if values is None:
        values = [float(np.nanmean(one.sample.statistics[:, 0])) for one in shelf.held if isinstance(one, Kept)]
    found = [built(card, number, value) for number, value in enumerate(values)]
    rows = tables.leaderboard(found, STANDARD, Ranges(shelf)).to_pylist()
    return {row["model_name"]: row for row in rows}


def spread(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["rank"], row["rank_lo"], row["rank_hi"], row["p_first"], row["rank_note"]


def columns(*means: float, n: int = STUDIES, seed: int = 0) -> list[Kept]:
    generator = np.random.default_rng(seed)
    shared = generator.normal(size=n)
    return [kept(shared + 0.3 * generator.normal(size=n) + mean) for mean in means]


def test_what_is_kept_of_a_card_gives_its_scores_back(card: Any) -> None:
    content = tables.to_parquet(samples.table(card, [*KEYS, "cider"]))
    for key in KEYS:
        found = samples.read(content, key, card.signatures[key])
        assert found.sample.score == pytest.approx(card.summary[key], abs=1e-15)
        assert list(found.study_ids) == card.per_study["study_id"].to_pylist()
        assert found.patients == tuple(card.groups)
        np.testing.assert_array_equal(found.sample.statistics, card.sample(key).statistics)
    with pytest.raises(RexrankError, match="cannot be read for cider"):
        samples.read(content, "cider", card.signatures["bleu2"])


def test_undefined_studies_stay_undefined(card: Any) -> None:
    values = card.per_study["bleu2"].to_pylist()
    some = card.per_study.set_column(1, "bleu2", pa.array([None, *values[1:]], pa.float64()))
    holed = replace(card, per_study=some)
    found = samples.read(tables.to_parquet(samples.table(holed, ["bleu2"])), "bleu2", card.signatures["bleu2"])
    assert found.sample.defined.tolist() == [False] + [True] * (STUDIES - 1)


def test_published_values_of_single_studies_do_for_a_mean_and_for_nothing_else(card: Any) -> None:
    content = tables.to_parquet(tables.per_study("r", card))
    found = samples.of_values(content, "bleu2", card.signatures["bleu2"])
    assert found.sample.score == pytest.approx(card.summary["bleu2"], abs=1e-15)
    assert found.patients is None
    with pytest.raises(RexrankError, match="coco_bleu2 is no mean of studies"):
        samples.of_values(content, "coco_bleu2", card.signatures["coco_bleu2"])
    with pytest.raises(RexrankError, match="cannot be read for bleu2"):
        samples.of_values(b"no table", "bleu2", card.signatures["bleu2"])


@pytest.mark.parametrize(
    ("key", "row"), [("bleu2", []), ("bleu2", [np.inf]), ("coco_bleu2", []), ("coco_bleu2", [1.0])]
)
def test_scores_of_another_form_cost_their_own_row_alone(card: Any, key: str, row: list[float]) -> None:
    lists = pa.array([row] * 2, pa.list_(pa.float64()))
    content = tables.to_parquet(pa.table({"study_id": ["a", "b"], "patient": pa.nulls(2, pa.int32()), key: lists}))
    with pytest.raises(RexrankError, match="single studies"):
        samples.read(content, key, card.signatures[key])


def test_results_are_compared_on_the_studies_that_all_have_in_one_order() -> None:
    first, second = kept([1.0, 2.0, 3.0], (7, 7, 8)), kept([30.0, 10.0, 20.0], first=1)
    turned = Kept(("s3", "s1", "s2"), None, second.sample)
    found, patients = samples.together([turned, first])
    assert [one.statistics[:, 0].tolist() for one in found] == [[10.0, 20.0], [2.0, 3.0]]
    assert patients == [7, 8]
    found, patients = samples.together([kept([1.0, 2.0]), kept([3.0, 4.0])])
    assert patients is None


def test_a_study_of_an_unknown_patient_is_a_patient_of_its_own() -> None:
    informed = Kept(("s0", "s2"), (0, 1), Sample.of_values([1.0, 2.0]))
    whole = Kept(("s0", "s1", "s2"), None, Sample.of_values([1.0, 2.0, 3.0]))
    assert samples.together([whole, informed])[1] == [0, 1]
    partly = Kept(("s0", "s1", "s2"), (0, 0, 1), Sample.of_values([1.0, 2.0, 3.0]))
    assert samples.together([whole, partly])[1] == [0, 0, 1]


def test_rows_of_a_group_get_ranges(card: Any) -> None:
    found = board(card, Shelf(*columns(0.0, 0.01, 1.0)))
    assert spread(found["Acme 2"]) == (1, 1, 1, 1.0, None)
    assert {spread(found[name])[1:] for name in ("Acme 0", "Acme 1")} == {(2, 3, 0.0, None)}
    assert len({row["rank_tau"] for row in found.values()}) == 1
    assert 0.3 < found["Acme 0"]["rank_tau"] < 1


def test_a_row_without_single_studies_has_no_range_and_may_stand_on_either_side_of_the_others(card: Any) -> None:
    two = columns(0.0, 1.0)
    found = board(card, Shelf(*two, "nothing is kept of it"), [0.0, 1.0, 0.5])
    assert spread(found["Acme 2"]) == (2, None, None, None, "nothing is kept of it")
    assert spread(found["Acme 1"])[:4] == (1, 1, 2, None)
    assert spread(found["Acme 0"])[:4] == (3, 2, 3, None)
    assert found["Acme 0"]["rank_note"] == "1 ranked row without scores of single studies may stand on either side"
    assert found["Acme 0"]["rank_tau"] is None


@pytest.mark.parametrize(
    ("held", "note"),
    [
        (columns(0.0), "no other row is ranked here"),
        ([*columns(0.0), "gone"], NOBODY_ELSE),
        (columns(0.0, 1.0, n=9), "fewer than 10 studies are too few for a range"),
        (
            [kept([np.nan] * 20), *columns(0.0, n=20)],
            NOBODY_ELSE,
        ),
        (
            [Kept(one.study_ids, tuple([0] * 20 + [1] * 20), one.sample) for one in columns(0.0, 1.0)],
            "fewer than 10 patients are too few for a range",
        ),
    ],
)
def test_where_there_is_no_range_a_word_says_why(card: Any, held: list[Any], note: str) -> None:
    found = board(card, Shelf(*held), [0.1 * number for number in range(len(held))])
    own = next(row for row in found.values() if row["rank_note"] == note)
    assert (own["rank_lo"], own["rank_hi"], own["p_first"]) == (None, None, None)
    assert own["rank"] is not None


def test_resamples_that_a_range_leaves_out_are_told(card: Any) -> None:
    """Those that draw none of the few studies that have a value."""
    few = [np.where(np.arange(STUDIES) < 2, mean + np.arange(STUDIES), np.nan) for mean in (0.0, 1.0)]
    found = board(card, Shelf(*map(kept, few)), [0.1, 0.2])
    for row in found.values():
        number, words = row["rank_note"].split(" ", 1)
        assert int(number) == pytest.approx(2_000 * (1 - 2 / STUDIES) ** STUDIES, rel=0.2)
        assert words == "of 2,000 resamples lack the score of a row and are left out"
        assert row["p_first"] is not None


def test_tables_without_a_source_say_so(card: Any) -> None:
    rows = tables.leaderboard([built(card, 0), built(card, 1)], STANDARD).to_pylist()
    assert {row["rank_note"] for row in rows} == {"the scores of its single studies are not at hand"}
    assert {row["rank_hi"] for row in rows} == {None}


def test_a_row_that_is_not_ranked_is_not_compared(card: Any) -> None:
    found = [built(card, number, float(number)) for number in range(3)]
    stale = found[2].model_copy(update={"dataset_revision": "c" * 40})
    rows = tables.leaderboard([*found[:2], stale], STANDARD, Ranges(Shelf(*columns(0.0, 1.0, 2.0)))).to_pylist()
    by_name = {row["model_name"]: spread(row) for row in rows}
    assert by_name["Acme 1"] == (1, 1, 1, 1.0, None)
    assert by_name["Acme 2"] == (None, None, None, None, None)


def test_a_rank_that_rounding_ties_lies_in_its_range(card: Any) -> None:
    """Values of a hidden benchmark are rounded; their samples are not."""
    generator = np.random.default_rng(0)
    close = generator.normal(size=STUDIES)
    found = board(card, Shelf(kept(close), kept(close + 1e-5)), [0.123, 0.123])
    assert [spread(found[name])[:3] for name in ("Acme 0", "Acme 1")] == [(1, 1, 2), (1, 1, 1)]


def test_ranges_depend_on_the_results_and_not_on_their_order(card: Any) -> None:
    held = columns(0.0, 0.1, 0.2, 0.05)
    found = [built(card, number, value) for number, value in enumerate([0.0, 0.1, 0.2, 0.05])]
    one, other = Shelf(*held), Shelf(*held)
    first = tables.to_parquet(tables.leaderboard(found, STANDARD, Ranges(one)))
    assert tables.to_parquet(tables.leaderboard(found[::-1], STANDARD, Ranges(other))) == first


def test_a_group_that_has_not_changed_is_not_drawn_again(card: Any) -> None:
    shelf = Shelf(*columns(0.0, 0.1, 0.2))
    ranges = Ranges(shelf)
    found = [built(card, number, value) for number, value in enumerate([0.0, 0.1, 0.2])]
    first = tables.leaderboard(found[:2], STANDARD, ranges)
    assert tables.leaderboard(found[:2], STANDARD, ranges).equals(first)
    assert shelf.asked == 1
    tables.leaderboard(found, STANDARD, ranges)
    assert shelf.asked == 2
