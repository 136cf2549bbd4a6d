"""Metrics against radiologists: signs, notes, and the table in words."""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from judged_sets import radeval, radevalx, rexval, table_rows, write_csv
from scipy import stats

from rexrank.experts import Candidate, Judgements, Opinion, UnreadableJudgements, agree, load
from rexrank.experts.agreement import Agreement, Scored
from rexrank.experts.tables import markdown, text

RANDOM = np.random.default_rng(0)
QUALITY = RANDOM.integers(1, 6, (80, 1)) * 1.0


def judgements(direction: str = "higher", raters: int = 3, missing: float = 0.0) -> Judgements:
    """Forty studies with two candidates each, and radiologists who mostly agree."""
    values = QUALITY + RANDOM.normal(size=(80, raters))
    values = values if direction == "higher" else -values
    values[RANDOM.random(values.shape) < missing] = np.nan
    candidates = [Candidate(f"s{number // 2}", f"C{number % 2 + 1}") for number in range(80)]
    opinion = Opinion("ratings" if direction == "higher" else "errors", direction, values)  # type: ignore[arg-type]
    return Judgements("table", "judged.csv", candidates, list("abcdefgh"[:raters]), {"said": opinion})


def found(of: Judgements, scores: dict[str, Scored]) -> Agreement:
    return agree(of, scores, resamples=500)


GOOD = Scored(QUALITY[:, 0] + RANDOM.normal(size=80), "higher")
ALIKE = Scored(GOOD.values + 0.02 * RANDOM.normal(size=80), "higher")
CHANCE = Scored(RANDOM.normal(size=80), "higher", "given")


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_plus_means_agreement_whichever_way_numbers_rise(direction: str) -> None:
    of = judgements(direction)
    turned = Scored(-GOOD.values, "lower")
    result = found(of, {"good": GOOD, "distance": turned})
    for comparison in result.comparisons.values():
        values = [one.value for one in comparison.estimates.values()]
        assert values[0] == pytest.approx(values[1])
        assert values[0] > 0.3
    truth = of.opinions["said"].values.mean(axis=1)
    tau = stats.kendalltau(GOOD.values, truth)[0] * (1 if direction == "higher" else -1)
    assert result.comparisons["kendall"].estimates["good"].value == pytest.approx(tau)


def test_ties_between_metrics_are_said_in_words() -> None:
    told = text(found(judgements(), {"good": GOOD, "alike": ALIKE, "chance": CHANCE}))
    kendall = told[told.index("Kendall") : told.index("Spearman")]
    assert "Cannot be told apart: " in kendall
    assert "chance" not in kendall[kendall.index("Cannot") : kendall.index("Better")]
    assert "than chance" in kendall
    assert "Not told apart does not mean equal: 40 studies show" in " ".join(kendall.split())
    assert "note: given by a file, not computed here: chance" in told
    assert all(len(line) <= 79 for line in told.splitlines())


def test_scores_that_order_alike_show_no_reach() -> None:
    told = text(found(judgements(), {"good": GOOD, "again": Scored(2 * GOOD.values, "higher")}))
    kendall = told[told.index("Kendall") : told.index("Spearman")]
    assert "Cannot be told apart: good and again." in kendall
    assert "±" not in kendall
    perfect = judgements(raters=1)
    truth = Scored(perfect.opinions["said"].values[:, 0], "higher")
    assert "±" not in text(found(perfect, {"a": truth, "b": truth}))


def test_equal_decimal_ratings_are_ties_in_any_order_of_raters() -> None:
    ratings = [[1.1, 2.2, 3.3], [3.3, 2.2, 1.1], [2.2, 3.3, 1.1], [4.7, 4.8, 4.9], [4.9, 4.7, 4.8], [4.8, 4.9, 4.7]]
    # Any seventh rater leaves the mean of the others as it is.
    of = Judgements(
        "table",
        "judged.csv",
        [Candidate(f"s{number // 2}", f"C{number % 2}") for number in range(6)],
        ["a", "b", "c", "d"],
        {"rating": Opinion("rating", "higher", np.array([[*row, sum(sorted(row)) / 3] for row in ratings]))},
    )
    assert len(np.unique(of.opinions["rating"].mean_quality)) == 2
    result = found(of, {"s": Scored(np.arange(6.0), "higher")})
    means = [Decimal(str(sum(map(Decimal, map(str, row))))) for row in ratings]
    expected = stats.kendalltau(np.arange(6.0), [float(one) for one in means])[0]
    assert result.comparisons["kendall"].estimates["s"].value == pytest.approx(expected)
    assert result.comparisons["preference"].estimates["s"].ties["experts"] == 2
    assert result.between["kendall"].against_others["d"].value == pytest.approx(1.0)


def test_radiologists_stand_beside() -> None:
    result = found(judgements(), {"good": GOOD})
    told = text(result)
    assert "radiologists, two at a time" in told
    assert "radiologists, each with the others" in told
    assert "Pairs of radiologists: 0." in told
    many = text(found(judgements(raters=5), {"good": GOOD}))
    assert "10 pairs." in many
    alone = text(found(judgements(raters=1), {"good": GOOD}))
    assert "radiologists, " not in alone.split("Kendall")[1]


def test_markdown_is_one_table() -> None:
    lines = markdown(found(judgements(), {"good": GOOD, "a|b": CHANCE})).splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    assert len({row.replace("\\|", "").count("|") for row in rows}) == 1
    assert [row.partition(" ↑ |")[0] for row in rows[2:4]] == ["| good", "| a\\|b"]
    assert "τ-b a" in rows[2]
    assert any(line.startswith("- Kendall's tau-b: ") for line in lines)


def test_json_has_everything_and_no_candidate() -> None:
    result = found(judgements(), {"good": GOOD, "alike": ALIKE, "chance": CHANCE}).to_json()
    told = json.loads(json.dumps(result, allow_nan=False))
    assert list(told["coefficients"]) == ["kendall", "spearman", "pearson", "preference"]
    kendall = told["coefficients"]["kendall"]
    assert len(kendall["differences"]) == 3
    assert {tuple(sorted(group)) for group in kendall["cannot_be_told_apart"]} == {("alike", "good")}
    assert len(kendall["raters"]["pairs"]) == 3
    assert told["coefficients"]["preference"]["metrics"]["good"]["ties"] == {"experts": 0, "score": 0}
    assert "s17" not in json.dumps(told)


def test_candidates_without_judgement_or_score_are_counted() -> None:
    partly = Scored(np.where(np.arange(80) < 7, np.nan, GOOD.values), "higher")
    of = judgements(missing=0.3)
    result = found(of, {"partly": partly})
    undefined = int(np.isnan(of.opinions["said"].values).all(axis=1).sum())
    assert result.comparisons["kendall"].estimates["partly"].n < 80
    assert result.to_json()["metrics"]["partly"]["undefined"] == 7
    assert any("candidates were judged by some radiologists only" in note for note in result.notes)
    assert any(note.startswith(f"{undefined:,} of 80") for note in result.notes) == bool(undefined)


def test_one_candidate_a_study_leaves_no_preference(tmp_path: Path) -> None:
    of = load(radevalx(tmp_path))
    result = found(of, {"radcliq": Scored(of.scores["radcliq"], "lower")})
    assert "preference" not in result.comparisons
    assert result.comparisons["kendall"].estimates["radcliq"].value == 1.0
    assert any("no preference between two" in note for note in result.notes)
    assert "preference" not in markdown(result).split("- ")[0]


def test_measures_by_name(tmp_path: Path) -> None:
    of = load(rexval(tmp_path))
    result = agree(of, {"s": Scored(np.arange(12.0), "higher")}, "errors_significant", resamples=50)
    assert (result.against, result.label) == ("errors_significant", "number of clinically significant errors")
    with pytest.raises(UnreadableJudgements, match=r'has no "rating"; it has errors, errors_significant'):
        agree(of, {}, "rating")


def test_a_set_without_any_number_says_why(tmp_path: Path) -> None:
    of = load(radevalx(tmp_path, blank=True))
    for opinion in of.opinions.values():
        opinion.values[:] = np.nan
    with pytest.raises(UnreadableJudgements, match=r"no candidate with a number of errors; 2 cells are blank"):
        agree(of, {"s": Scored(np.zeros(3), "higher")})


def test_readers_of_radeval_share_no_candidate(tmp_path: Path) -> None:
    path = radeval(tmp_path / "reader_study_final.csv")
    path.write_text(path.read_text().replace("A,findings", "B,findings", 2))
    result = found(load(path), {"s": Scored(np.tile([3.0, 2.0, 1.0], 4), "higher")})
    assert result.between["kendall"] is None
    assert result.units == 3
    assert "no candidate was judged by all radiologists" in " ".join(result.notes)
    assert "3 groups of studies" in " ".join(text(result).split())


def test_each_step_is_told(tmp_path: Path) -> None:
    steps: list[str] = []
    of = load(write_csv(tmp_path / "judged.csv", table_rows()))
    agree(of, {"s": Scored(np.arange(12.0), "higher")}, resamples=20, tell=steps.append)
    assert len(steps) == 8
    assert steps[0] == "metrics, Kendall's tau-b"
