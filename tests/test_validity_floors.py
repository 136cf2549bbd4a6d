"""Blind floors with their scores: the known numbers, chosen on training alone, stored, and a card beside them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rexrank
from rexrank.benchmarks import BenchmarkError, TrainingStudy, floors, iu_xray
from rexrank.benchmarks.nearest import context_fields, nearest_other
from rexrank.board.names import model_name
from rexrank.cli import main
from rexrank.comparison.cards import CardsDiffer
from rexrank.metrics import InvalidCall, KeyScores, compute, score_keys
from rexrank.scoring.encoding import EncoderSettings
from rexrank.statistics.paired import paired_test
from rexrank.validity.constant_choice import best_by_bleu2, raced
from rexrank.validity.floor_source import find, settled, texts_of
from rexrank.validity.floor_store import UnreadableFloors, load, of_benchmark, save
from rexrank.validity.floor_tables import table
from rexrank.validity.floors import Floors, build_floors
from rexrank.validity.over_floor import Delta, over_floor
from rexrank.validity.over_floor import table as over_table
from rexrank.validity.sets import EvaluationSet, open_set

WORDS = ["lungs", "clear", "heart", "large", "small", "left", "right", "effusion", "no", "edema", "line", "in", "place"]
TRAINING = [
    TrainingStudy(
        f"t{number}",
        " ".join(WORDS[(number * step) % len(WORDS)] for step in range(1, 5 + number % 4)) + ".",
        None,
        ["Cough", "Chest pain", "Fever", "Line placed"][number % 4],
    )
    for number in range(14)
]


def invented(change: str = "") -> EvaluationSet:
    """Test studies whose contexts are those of training, and texts that end in `change`."""
    references = {
        f"s{number}": {
            "findings": f"{study.findings}{change}",
            "context": f"Indication: {study.indication} Comparison: None",
        }
        for number, study in enumerate(TRAINING[:6])
    }
    return replace(open_set(references=references), training=TRAINING, name="invented", public=True)


@pytest.fixture(scope="module")
def iu() -> Floors:
    return build_floors(open_set("iu-xray"), ["bleu2"], "rexrank")


@pytest.fixture(scope="module")
def small() -> Floors:
    return build_floors(invented(), ["bleu2", "rouge_l"], "plain")


def four(found: Floors, slug: str) -> tuple[float, float]:
    one = next(floor for floor in found.floors if floor.slug == slug)
    return one.train["bleu2"], one.card.summary["bleu2"]


def test_the_known_numbers_of_iu_xray(iu: Floors) -> None:
    constant, frequent = "floor-constant-report", "floor-most-frequent-report"
    assert four(iu, constant) == (pytest.approx(0.2830, abs=5e-5), pytest.approx(0.2882, abs=5e-5))
    assert four(iu, frequent)[1] == pytest.approx(0.1515, abs=5e-5)
    assert "which stands 29 times" in next(one for one in iu.floors if one.slug == frequent).description
    assert iu.chosen == {"bleu2": constant}
    assert (iu.n_training, iu.n_chosen_on, iu.floors[0].card.n) == (2069, 2069, 590)


def test_the_known_numbers_without_the_header_of_rexrank(iu: Floors) -> None:
    findings = [study.findings or "" for study in iu_xray.load().studies]
    for slug, known in (("floor-constant-report", 0.2904), ("floor-most-frequent-report", 0.1600)):
        predictions = next(one for one in iu.floors if one.slug == slug).predictions or {}
        found = compute("bleu2", list(predictions.values()), findings)["bleu2"].aggregate
        assert found == pytest.approx(known, abs=5e-5)


def test_floors_of_the_board_are_the_same_texts(iu: Floors) -> None:
    for floor in floors.build(iu_xray.load(), iu_xray.training()):
        mine = next(one for one in iu.floors if one.slug == floor.slug).predictions or {}
        assert [study for study, text in floor.predictions.items() if mine[study] != text] == []


def test_a_race_of_few_texts_finds_the_best_one() -> None:
    texts = [study.findings or "" for study in TRAINING]
    references = [(text,) for text in texts]
    for key in ("rouge_l", "coco_bleu2", "cider"):

        def scorer(some: Sequence[str], others: Sequence[Sequence[str]], key: str = key) -> KeyScores:
            return compute(key, some, others)[key]

        place = raced(key, scorer, texts, references, best_by_bleu2(texts, references))
        alone = [compute(key, [text] * len(texts), references)[key].aggregate or 0.0 for text in texts]
        assert place == int(np.argmax(np.round(alone, 12)))


def test_constants_are_chosen_for_each_score(small: Floors) -> None:
    best = {one.slug: one.train for one in small.floors}
    for key in ("bleu2", "rouge_l"):
        slug = small.chosen[key]
        assert best[slug][key] == max(train[key] for train in best.values())
    assert small.how["bleu2"] == "best of all 14 training texts"
    assert "race" in small.how["rouge_l"]


def test_no_word_of_the_test_texts_reaches_a_floor() -> None:
    one, other = (
        build_floors(invented(change), ["bleu2", "rouge_l"], "plain") for change in ("", " Something else entirely.")
    )
    assert [floor.predictions for floor in one.floors] == [floor.predictions for floor in other.floors]
    assert (one.chosen, [floor.train for floor in one.floors]) == (
        other.chosen,
        [floor.train for floor in other.floors],
    )
    assert one.floors[0].card.summary != other.floors[0].card.summary


def test_a_large_training_split_says_how_much_of_it_chose() -> None:
    many = [replace(TRAINING[number % 14], study_id=f"t{number}") for number in range(5_003)]
    found = build_floors(replace(invented(), training=many), ["bleu2"], "plain", fields=())
    constant = next(one for one in found.floors if one.slug == "floor-constant-report")
    assert (found.n_training, found.n_chosen_on) == (5_003, 5_000)
    assert "against 5,000 drawn from the 5,003 of them" in constant.description
    assert all(
        "against all" in one.description
        for one in floors.blind({}, floors.Trained.of(TRAINING, "findings"), [floors.CONSTANT])
    )


def test_one_card_as_floor_was_chosen_by_nobody(small: Floors) -> None:
    card = small.floors[0].card
    assert "chosen on the training split" in over_table(over_floor(card, small))
    assert "chosen" not in over_table(over_floor(card, card))


def test_the_floor_to_beat_is_not_the_best_on_the_test_studies() -> None:
    known = replace(invented(), training=[*TRAINING, TrainingStudy("rare", "Zebra stripes seen.", None, "Stripes")])
    references = {"s0": {"findings": "Zebra stripes seen.", "context": "Indication: Stripes Comparison: None"}}
    odd = replace(open_set(references=references), training=known.training)
    found = build_floors(odd, ["bleu2"], "plain")
    assert four(found, "floor-nearest-indication")[1] == pytest.approx(1.0)
    assert found.chosen["bleu2"] == "floor-constant-report"
    assert four(found, "floor-constant-report")[1] < 0.5


def test_a_neighbour_of_training_is_never_the_study_itself() -> None:
    assert nearest_other(["cough", "cough", "fever", None]) == [1, 0, None, None]


@pytest.mark.parametrize("form", ["{}", "INDICATION: {} COMPARISON: None"])
def test_a_context_is_read_alike_in_training_and_test(form: str) -> None:
    training = [replace(study, indication=form.format(study.indication)) for study in TRAINING]
    references = {study.study_id: {"findings": study.findings, "context": study.indication} for study in training[:4]}
    found = build_floors(replace(open_set(references=references), training=training), ["bleu2"], "plain")
    floor = next(one for one in found.floors if one.slug == "floor-nearest-indication")
    assert floor.predictions == {study.study_id: study.findings for study in training[:4]}


def test_fields_of_a_context() -> None:
    whole = "Indication: chest pain: acute. Comparison: PA view of 1999"
    assert context_fields(whole) == {
        "context": whole,
        "indication": "chest pain: acute.",
        "comparison": "PA view of 1999",
    }
    assert context_fields("Indication: cough Comparison: None")["indication"] == "cough"
    assert "comparison" not in context_fields("Indication: cough Comparison: None")
    assert context_fields("just words") == {"context": "just words"}
    assert context_fields(" None. ") == context_fields(None) == {}


def test_any_field_of_the_context_gives_a_neighbour() -> None:
    found = build_floors(invented(), ["bleu2"], "plain", fields=("indication", "context"))
    assert {"floor-nearest-indication", "floor-nearest-context"} <= {one.slug for one in found.floors}
    with pytest.raises(BenchmarkError, match="'shoe size' in its context; there are context, indication"):
        build_floors(invented(), ["bleu2"], "plain", fields=("shoe size",))


def test_scores_without_a_floor_say_why(small: Floors) -> None:
    found = build_floors(invented(), ["bleu2", "report_words", "report_distinct"], "plain")
    assert found.absent == {
        "report_words": "no value of it is better",
        "report_distinct": "it describes the whole set of reports",
    }
    assert "no value of it is better" in table(found)
    with pytest.raises(InvalidCall):
        build_floors(invented(), ["no_such_score"], "plain")
    with pytest.raises(BenchmarkError, match="no training study has a text for the track impression"):
        build_floors(replace(invented(), track="impression"), ["bleu2"], "plain")


def test_a_floor_that_many_scores_chose_has_a_name_that_the_board_takes() -> None:
    keys = [f"coco_bleu{order}" for order in range(1, 5)] + ["rouge1", "rouge2", "rouge_l", "rouge_l_f1", "cider"]
    found = build_floors(
        invented(), ["bleu2", *keys, *(key for key in score_keys() if key.startswith("f1labels"))], "plain"
    )
    names = [one.name for one in found.floors]
    assert len(set(names)) == len(names)
    assert list(map(model_name, names)) == names
    assert any(name.endswith(" more") for name in names)
    assert not any("_" in name for name in names)


def test_stored_floors_come_back_and_hold_no_text_of_a_private_set(small: Floors, tmp_path: Path) -> None:
    save(small, tmp_path / "public")
    found = load(tmp_path / "public")
    assert found.to_json() == small.to_json()
    assert (tmp_path / "public/floor-constant-report/predictions.jsonl").is_file()
    # Without the floor that counts, a card beside them would silently have none.
    cut = json.loads((tmp_path / "public/floors.json").read_text())
    (tmp_path / "public/floors.json").write_text(json.dumps({**cut, "floors": []}))
    with pytest.raises(UnreadableFloors):
        load(tmp_path / "public")
    save(replace(small, public=False), tmp_path / "private")
    assert list((tmp_path / "private").rglob("predictions.jsonl")) == []
    assert not any("effusion" in path.read_text("latin-1") for path in (tmp_path / "private").rglob("*.json"))


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"schema_version": 2}', '{"schema_version": 1, "floors": [{"slug": "../x"}]}', "[" * 9999],
)
def test_floors_that_cannot_be_read_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "floors.json").write_text(content)
    with pytest.raises(UnreadableFloors, match="rexrank floor"):
        load(tmp_path)


def test_a_floor_is_exactly_itself(small: Floors) -> None:
    one = small.of("bleu2")
    assert one is not None
    row = over_floor(one.card, small, ["bleu2"]).row("bleu2")
    assert [one.key for one in over_floor(one.card, small, "bleu2").rows] == ["bleu2"]
    assert row is not None
    assert (row.paired.difference, row.paired.interval, row.verdict) == (0.0, (0.0, 0.0), "undecided")


def test_a_perfect_system_is_above_and_an_empty_one_below(small: Floors) -> None:
    known = invented()
    texts = {study_id: study.findings or "" for study_id, study in known.studies.items()}
    for predictions, verdict in ((texts, "above"), (dict.fromkeys(texts, ""), "below")):
        card = rexrank.score(predictions, known.references, "plain", metrics=["bleu2", "report_words"], progress=False)
        found = over_floor(card, small)
        assert [(row.key, row.verdict) for row in found.rows] == [("bleu2", verdict)]
        json.dumps(found.to_json(), allow_nan=False)
        assert f"{'better' if verdict == 'above' else 'worse'} than the floor" in over_table(found)


def test_lower_is_better_where_it_is() -> None:
    paired = paired_test([1.0, 2.0, 1.5, 1.2], [3.0, 3.5, 3.1, 3.3], resamples=200)
    assert Delta("radcliq_v1", "lower", "f", paired).verdict == "above"
    assert Delta("bleu2", "higher", "f", paired).verdict == "below"


def test_floors_of_other_references_are_refused(small: Floors) -> None:
    card = rexrank.score({"s0": "x"}, {"s0": "x"}, "plain", metrics=["bleu2"], progress=False)
    with pytest.raises(CardsDiffer, match="other references"):
        over_floor(card, small)


def test_what_a_reader_names_is_found(small: Floors, tmp_path: Path) -> None:
    references = invented().references
    save(small, tmp_path / "floors")
    save(small, of_benchmark(tmp_path / "benchmark", "findings"))
    one = small.floors[0].card
    one.save(tmp_path / "card")
    for name in ("floors", "benchmark"):
        found = find(tmp_path / name, references)
        assert isinstance(found, Floors)
        assert found.chosen == small.chosen
    found = find(tmp_path / "card", references)
    assert isinstance(found, rexrank.ScoreCard)
    assert over_floor(one, found).rows[0].paired.difference == 0
    (tmp_path / "empty").mkdir()
    with pytest.raises(BenchmarkError, match="no floors, no score card and no benchmark"):
        find(tmp_path / "empty", references)


def test_scores_of_encoders_have_floors_too(seeded_weights: Path, tmp_path: Path) -> None:
    key = "radcliq_v1"
    settings = EncoderSettings("cpu", tmp_path, weights=seeded_weights, download=False)
    found = build_floors(invented(), [key], "plain", settings=settings)
    assert found.absent == {}
    scores = [one.train[key] for one in found.floors]
    chosen = found.of(key)
    assert chosen is not None
    assert chosen.train[key] == min(scores), "lower is better"
    nowhere = EncoderSettings("cpu", tmp_path, weights=tmp_path, download=False)
    lacking = build_floors(invented(), ["bleu2", key], "plain", settings=nowhere)
    assert list(lacking.chosen) == ["bleu2"]
    assert "weights" in lacking.absent[key]


def test_whole_reports_and_built_benchmarks_have_training(tmp_path: Path) -> None:
    whole = {f"t{number}": {"report": f"Lungs clear number {number}."} for number in range(3)}
    known = open_set(references={"s": {"report": "Lungs clear."}}, training=whole, track="report")
    assert texts_of(known) == [one["report"] for one in whole.values()]
    assert build_floors(known, ["bleu2"], "plain").chosen == {"bleu2": "floor-constant-report-report"}
    assert main(["benchmark", "build", "iu-xray", "--out", str(tmp_path / "iu"), "--quiet"]) == 0
    assert len(open_set(tmp_path / "iu").training) == 2069


def test_floors_of_a_set_are_built_by_the_rules_of_the_card() -> None:
    known = invented()
    texts = {study_id: study.findings or "" for study_id, study in known.studies.items()}
    card = rexrank.score(
        texts,
        known.references,
        metrics=["bleu2"],
        progress=False,
        convention="corrected",
        text_preparation="both+lower",
    )
    found = settled(known, card)
    assert isinstance(found, Floors)
    assert over_floor(card, found).rows[0].verdict == "above"


def test_moerad_is_below_the_floor_of_iu_xray(iu: Floors, shared_data: Path) -> None:
    references = shared_data / "iu_xray/ReXRank_IUXray_test.json"
    chosen = iu.of("bleu2")
    assert chosen is not None
    blind, card = (
        rexrank.score(texts, references, metrics=["bleu2"], progress=False)
        for texts in (chosen.predictions or {}, shared_data / "iu_xray/predictions/moerad/preds.csv")
    )
    row = over_floor(card, blind).rows[0]
    one = row.paired
    assert (row.verdict, one.n) == ("below", 590)
    assert one.interval is not None
    expected = [0.2627, 0.2882, -0.0255, -0.0351, -0.0158]
    assert [*one.scores, one.difference, *one.interval] == pytest.approx(expected, abs=3e-4)
