"""Several systems against a baseline: directions, corrections, tables, and the sentence to quote."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest

import rexrank
from rexrank.comparison import CardsDiffer, Settings
from rexrank.comparison.cards import aligned
from rexrank.comparison.compare import compare
from rexrank.comparison.names import card_names
from rexrank.comparison.tables import markdown, picture, table
from rexrank.comparison.words import sentence
from rexrank.metrics import InvalidCall
from rexrank.statistics import paired_test

WORDS = ["heart", "enlarged", "small", "left", "effusion", "lungs", "clear", "no", "pneumothorax", "edema", "stable"]
N = 60
TEXTS = [" ".join(np.random.default_rng(number).choice(WORDS, 12)) for number in range(N)]
REFERENCES = {f"s{number}": {"findings": text} for number, text in enumerate(TEXTS)}
METRICS = ["bleu2", "coco_bleu2", "f1labels_macro_14", "report_statistics"]


def _predictions(seed: int, noise: float) -> dict[str, str]:
    generator = np.random.default_rng(seed)
    return {
        f"s{number}": " ".join(
            word if generator.random() > noise else str(generator.choice(WORDS)) for word in text.split()
        )
        for number, text in enumerate(TEXTS)
    }


def _score(seed: int, noise: float, **keywords: Any) -> rexrank.ScoreCard:
    return rexrank.score(_predictions(seed, noise), REFERENCES, "plain", metrics=METRICS, progress=False, **keywords)


@pytest.fixture(scope="module")
def cards() -> dict[str, rexrank.ScoreCard]:
    return {"base": _score(1, 0.6), "good": _score(2, 0.3), "same": _score(3, 0.6)}


def test_a_system_is_compared_on_the_values_of_its_studies(cards: dict[str, rexrank.ScoreCard]) -> None:
    found = compare({name: cards[name] for name in ("base", "good")}, keys=["bleu2"])
    (row,) = found.rows
    expected = paired_test(*(cards[name].per_study["bleu2"].to_numpy() for name in ("good", "base")))
    assert row.paired == expected
    assert row.paired.scores == pytest.approx((cards["good"].summary["bleu2"], cards["base"].summary["bleu2"]))
    assert (row.verdict, row.p_holm, row.family) == ("better", expected.p, 1)


def test_corpus_scores_are_resampled_from_their_statistics(cards: dict[str, rexrank.ScoreCard]) -> None:
    found = compare(cards, keys=["coco_bleu2", "f1labels_macro_14"])
    for row in found.rows:
        theirs, ours = cards[row.system].summary[row.key], cards["base"].summary[row.key]
        assert row.paired.difference == pytest.approx(theirs - ours)
        assert row.paired.interval is not None
        assert row.paired.interval[0] < theirs - ours < row.paired.interval[1]


def _lower(card: rexrank.ScoreCard, values: np.ndarray) -> rexrank.ScoreCard:
    """The card with an invented FineRadScore, of which less is better."""
    signature = "fineradscore|conv:published|agg:worst|v:1"
    return replace(
        card,
        summary={"fineradscore": float(values.mean())},
        signatures={"fineradscore": signature},
        per_study=pyarrow.table({"study_id": card.per_study["study_id"], "fineradscore": values}),
    )


def test_where_less_is_better_the_lower_system_wins(cards: dict[str, rexrank.ScoreCard]) -> None:
    values = np.random.default_rng(3).integers(1, 4, N).astype(float)
    better = np.where(np.arange(N) < 40, values - 1, values)
    better[-1] += 1
    found = compare({"base": _lower(cards["base"], values), "new": _lower(cards["base"], better)})
    (row,) = found.rows
    assert row.direction == "lower"
    assert row.verdict == "better"
    assert row.paired.difference is not None
    assert row.paired.difference < 0
    assert row.tally == (40, 19, 1)
    assert row.effect is not None
    assert row.effect.value > 0
    assert row.superiority is not None
    assert row.superiority.value == pytest.approx((40 + 19 / 2) / N)
    for estimate in (row.effect, row.superiority):
        assert estimate.interval is not None
        assert estimate.interval[0] < estimate.value < estimate.interval[1]
    text = sentence(found)
    assert f"new is better than base by {-row.paired.difference:.{row.digits}f} (95% interval 0." in text
    worse = compare({"new": _lower(cards["base"], better), "base": _lower(cards["base"], values)})
    assert worse.rows[0].verdict == "worse"
    assert worse.rows[0].tally == (1, 19, 40)


def test_what_only_describes_reports_is_neither_better_nor_worse(cards: dict[str, rexrank.ScoreCard]) -> None:
    assert "report_words" not in {row.key for row in compare(cards).rows}
    longer = {
        "short": cards["base"],
        "long": _score_of({one: f"{text} stable" for one, text in _predictions(1, 0.6).items()}),
    }
    found = compare(longer, keys=["report_words"])
    assert found.rows[0].verdict == "higher"
    assert "long is higher than short by 1.0" in sentence(found)


def _score_of(predictions: dict[str, str]) -> rexrank.ScoreCard:
    return rexrank.score(predictions, REFERENCES, "plain", metrics=METRICS, progress=False)


def test_p_is_corrected_for_the_systems_or_for_the_table(cards: dict[str, rexrank.ScoreCard]) -> None:
    keys = ["bleu2", "coco_bleu2"]
    by_score = compare(cards, keys=keys)
    assert {row.family for row in by_score.rows} == {2}
    for key in keys:
        low, high = sorted((row for row in by_score.rows if row.key == key), key=lambda row: row.paired.p or 0)
        assert low.p_holm == pytest.approx(2 * (low.paired.p or 0))
        assert high.p_holm == pytest.approx(max(high.paired.p or 0, low.p_holm or 0))
    whole = compare(cards, keys=keys, settings=Settings(family="table"))
    assert {row.family for row in whole.rows} == {4}
    assert min(row.p_holm or 1 for row in whole.rows) == pytest.approx(4 * min(row.paired.p or 1 for row in whole.rows))


def test_scores_come_in_the_order_asked_for_or_the_ranking_first(cards: dict[str, rexrank.ScoreCard]) -> None:
    two = {name: cards[name] for name in ("base", "good")}
    assert [row.key for row in compare(two, keys=["coco_bleu2", "bleu2"]).rows] == ["coco_bleu2", "bleu2"]
    assert compare(two).rows[0].key == "bleu2"
    assert [row.key for row in compare(two, keys=["bleu"]).rows] == ["bleu2", "coco_bleu2"]


def test_a_text_is_one_key(cards: dict[str, rexrank.ScoreCard]) -> None:
    assert compare(cards, keys="bleu2").to_json() == compare(cards, keys=["bleu2"]).to_json()
    assert list(aligned(list(cards.values()), "bleu2").samples) == ["bleu2"]


def test_another_baseline_turns_the_differences(cards: dict[str, rexrank.ScoreCard]) -> None:
    found = compare(cards, baseline="good", keys=["bleu2"])
    assert (found.baseline, found.systems) == ("good", ("base", "same"))
    assert {row.verdict for row in found.rows} == {"worse"}


def test_undefined_studies_are_left_out_and_numbered(cards: dict[str, rexrank.ScoreCard]) -> None:
    values = cards["good"].per_study["bleu2"].to_pylist()
    values[4] = values[9] = None
    holed = cards["good"].per_study.set_column(
        cards["good"].per_study.schema.get_field_index("bleu2"), "bleu2", pyarrow.array(values, pyarrow.float64())
    )
    found = compare({"base": cards["base"], "good": replace(cards["good"], per_study=holed)}, keys=["bleu2"])
    assert (found.rows[0].paired.n, found.rows[0].paired.left_out) == (N - 2, 2)
    assert "bleu2: 2 studies without a value of both left out" in table(found)
    assert f"In bleu2 over {N - 2} studies" in sentence(found)
    assert found.to_json()["comparisons"][0]["n_left_out"] == 2


def test_nothing_shared_is_said(cards: dict[str, rexrank.ScoreCard]) -> None:
    bleu = replace(cards["base"], summary={"bleu2": 0.1})
    other = replace(cards["good"], summary={"coco_bleu2": 0.1})
    found = compare({"a": bleu, "b": other})
    assert found.rows == ()
    assert sentence(found) == "No score could be compared."
    assert "b lacks it" in table(found)
    assert markdown(found).startswith("No score could be compared.")


def test_an_undefined_difference_has_no_test_and_says_why(cards: dict[str, rexrank.ScoreCard]) -> None:
    empty = replace(
        cards["good"],
        per_study=cards["good"].per_study.set_column(1, "bleu2", pyarrow.nulls(N, pyarrow.float64())),
    )
    found = compare({"base": cards["base"], "good": empty}, keys=["bleu2"])
    assert found.rows[0].verdict == "untested"
    assert "good cannot be compared with base, as no study has a value of both" in sentence(found)
    assert "bleu2 of good: no test, as no study has a value of both" in table(found)
    json.dumps(found.to_json(), allow_nan=False)


def test_the_sentence_says_what_the_test_says(cards: dict[str, rexrank.ScoreCard]) -> None:
    text = sentence(compare(cards, keys=["bleu2"]))
    assert re.fullmatch(
        rf"In bleu2 over {N} studies, good is better than base by 0\.\d{{4}} \(95% interval 0\.\d+ to 0\.\d+, "
        r"p = 0\.0002\); same cannot be told from base \(difference [+-]0\.\d+, 95% interval -0\.\d+ to \+0\.\d+, "
        r"p = 0\.\d+; a true difference below 0\.\d+ would often stay unseen\); "
        r"p is corrected for 2 tests \(Holm\)\.",
        text,
    ), text
    two = sentence(compare({name: cards[name] for name in ("base", "good")}))
    assert re.search(r"; of the 2 other scores it is better in \d", two)
    assert "Holm" not in two


def test_the_sentence_is_about_the_first_score_that_any_system_is_compared_in(
    cards: dict[str, rexrank.ScoreCard],
) -> None:
    rest = {key: value for key, value in cards["same"].summary.items() if key != "bleu2"}
    three = {"base": cards["base"], "rest": replace(cards["same"], summary=rest), "good": cards["good"]}
    found = compare(three, keys=["bleu2", "coco_bleu2"])
    assert found.quoted == "bleu2"
    text = sentence(found)
    assert text.startswith(f"In bleu2 over {N} studies, good is better than base by ")
    assert text.endswith("; rest is not compared in it.")
    assert "rest" not in picture(found).description


def test_patients_are_said_and_swapped_as_a_whole() -> None:
    patients = {f"s{number}": number // 2 for number in range(N)}
    cards = {"base": _score(1, 0.6, groups=patients), "good": _score(2, 0.3, groups=patients)}
    found = compare(cards, keys=["bleu2"])
    assert (found.unit, found.units, found.rows[0].paired.units) == ("patient", 30, 30)
    assert f"{N} studies of 30 patients" in table(found)
    assert "whole patients are swapped" in table(found)


def test_patients_that_one_of_many_cards_knows_hold_for_all(cards: dict[str, rexrank.ScoreCard]) -> None:
    patients = {f"s{number}": number // 2 for number in range(N)}
    knowing = _score(4, 0.5, groups=patients)
    found = compare({**cards, "knowing": knowing}, keys=["bleu2"])
    assert (found.unit, found.units) == ("patient", 30)
    assert {row.paired.units for row in found.rows} == {30}
    other = _score(5, 0.5, groups={f"s{number}": number // 3 for number in range(N)})
    with pytest.raises(CardsDiffer, match="other and knowing say differently"):
        compare({**cards, "knowing": knowing, "other": other}, keys=["bleu2"])


def test_resamples_without_an_effect_are_told(cards: dict[str, rexrank.ScoreCard]) -> None:
    values = cards["base"].per_study["bleu2"].to_numpy()
    better = values.copy()
    better[0] += 0.5
    found = compare({"base": _lower(cards["base"], better), "new": _lower(cards["base"], values)})
    effect = found.rows[0].effect
    assert effect is not None
    assert effect.undefined_draws == pytest.approx(10_000 * (1 - 1 / N) ** N, rel=0.05)
    assert found.to_json()["comparisons"][0]["effect"]["undefined_resamples"] == effect.undefined_draws
    line = f"whose differences are all equal have none and are left out: fineradscore of new {effect.undefined_draws:,}"
    assert line in table(found)


def test_a_warning_of_unknown_patients_is_passed_on(cards: dict[str, rexrank.ScoreCard]) -> None:
    told = replace(cards["base"], interval={**cards["base"].interval, "warning": "patients repeat unknown"})
    found = compare({"a": told, "b": cards["good"]}, keys=["bleu2"])
    assert "careful: patients repeat unknown" in table(found)
    assert found.to_json()["warning"] == "patients repeat unknown"


def test_a_planned_number_of_studies_shows_smaller_differences(cards: dict[str, rexrank.ScoreCard]) -> None:
    found = compare(cards, keys=["bleu2"], settings=Settings(planned=4 * N))
    for row in found.rows:
        assert row.detectable_planned is not None
        assert row.detectable_planned == pytest.approx((row.detectable or 0) / 2, rel=0.03)
    assert "with 240" in table(found)


def test_json_holds_every_number(cards: dict[str, rexrank.ScoreCard]) -> None:
    found = compare(cards, settings=Settings(test="bootstrap", resamples=500, seed=3, confidence=0.9))
    read = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert (read["baseline"], read["systems"], read["n"]) == ("base", ["good", "same"], N)
    assert (read["test"], read["resamples"], read["seed"], read["confidence"]) == ("bootstrap", 500, 3, 0.9)
    assert len(read["comparisons"]) == len(found.rows)
    first, row = read["comparisons"][0], found.rows[0]
    assert (first["system"], first["score"], first["p"], first["wins"]) == (
        "good",
        row.key,
        row.paired.p,
        row.paired.wins,
    )
    assert tuple(first["interval"]) == row.paired.interval


def test_markdown_is_one_table_a_system_with_names_escaped(cards: dict[str, rexrank.ScoreCard]) -> None:
    text = markdown(compare({"a|b_": cards["base"], "<i>": cards["good"]}, keys=["bleu2", "coco_bleu2"]))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert "a\\|b\\_" in text
    assert "<i>" not in text.replace("\\<i\\>", "")


def test_the_picture_has_a_row_for_each_system(cards: dict[str, rexrank.ScoreCard], tmp_path: Path) -> None:
    found = compare(cards, keys=["bleu2"])
    picture(found).save(tmp_path / "differences.svg")
    text = (tmp_path / "differences.svg").read_text()
    for name in cards:
        assert f">{name}<" in text
    assert ">BLEU-2: difference to base, with 95% intervals</text>" in text


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"baseline": "nobody"}, 'baseline: no card is called "nobody"; there are base, good, same'),
        ({"keys": ["blue2"]}, 'keys: unknown score or metric "blue2"'),
        ({"keys": []}, "keys: name at least one"),
    ],
)
def test_unknown_names_are_refused(cards: dict[str, rexrank.ScoreCard], keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidCall, match=re.escape(message)):
        compare(cards, **keywords)


def test_settings_are_checked() -> None:
    for planned in (1, 10**400, 2.5, float("nan"), "600"):
        with pytest.raises(InvalidCall, match="studies: expected a number of planned studies from 2 to 10,000,000"):
            Settings(planned=planned)  # type: ignore[arg-type]
    with pytest.raises(InvalidCall, match="family"):
        Settings(family="both")  # type: ignore[arg-type]


def test_one_card_is_no_comparison(cards: dict[str, rexrank.ScoreCard]) -> None:
    with pytest.raises(InvalidCall, match="at least two"):
        compare({"base": cards["base"]})


def test_all_that_keeps_cards_apart_is_told_at_once(cards: dict[str, rexrank.ScoreCard]) -> None:
    others = {"b": replace(cards["base"], track="impression"), "c": replace(cards["base"], convention="corrected")}
    with pytest.raises(CardsDiffer) as caught:
        compare({"a": cards["base"], **others})
    assert [reason.split()[0] for reason in caught.value.reasons] == ["b", "c"]


@pytest.mark.parametrize(
    ("folders", "names"),
    [
        (["/x/a", "/x/b/"], ["a", "b"]),
        (["/one/card", "/two/card"], ["one/card", "two/card"]),
        (["/x/one/card", "/y/one/card", "/y/other"], ["x/one/card", "y/one/card", "other"]),
        (["/card", "/two/card"], ["card", "two/card"]),
        (["/x/a", "/x/a"], ["a", "a (2)"]),
        (["/a", "/a", "/a (2)"], ["a", "a (3)", "a (2)"]),
        (["/x/a\x1b[2J"], ["a?[2J"]),
        (["/x/a/../b"], ["b"]),
    ],
)
def test_names_of_folders_are_made_distinct(folders: list[str], names: list[str]) -> None:
    assert card_names(folders) == names


def test_a_confidence_is_shown_with_its_digits(cards: dict[str, rexrank.ScoreCard]) -> None:
    found = compare(cards, keys=["bleu2"], settings=Settings(confidence=0.999, resamples=200))
    for text in (table(found), markdown(found), picture(found).title):
        assert "99.9%" in text
        assert "100%" not in text


def test_a_difference_that_a_test_has_found_is_never_printed_as_none(cards: dict[str, rexrank.ScoreCard]) -> None:
    found = compare(cards, keys=["bleu2"], settings=Settings(resamples=200))
    row = found.rows[0]
    paired = replace(row.paired, difference=2e-7, interval=(1e-7, 3e-7), p=0.001)
    said = table(replace(found, rows=(replace(row, paired=paired, p_holm=0.001),)))
    assert "better than base by less than 0.0001 (95% interval 0.0000 to 0.0000, p = 0.0010)" in said


@pytest.mark.parametrize(
    ("studies", "test", "warned"), [(19, "bootstrap", 1), (19, "randomisation", 0), (20, "bootstrap", 0)]
)
def test_few_studies_are_too_few_for_a_bootstrap_test(studies: int, test: Any, warned: int) -> None:
    kept = list(REFERENCES)[:studies]
    references = {study: REFERENCES[study] for study in kept}
    few = {
        name: rexrank.score({study: said[study] for study in kept}, references, metrics=["bleu2"], progress=False)
        for name, said in (("base", _predictions(1, 0.6)), ("good", _predictions(2, 0.3)))
    }
    text = table(compare(few, keys=["bleu2"], settings=Settings(test=test, resamples=200)))
    assert text.count("of 19 studies a bootstrap test finds too much; --test randomisation does not") == warned
