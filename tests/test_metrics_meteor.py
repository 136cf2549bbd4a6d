"""METEOR: equal to the program and to pycocoevalcap, as study scores, corpus and mean."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from java_runtime import needs_java
from line_program import line_program

import rexrank
from rexrank.external import meteor as program
from rexrank.external.programs import Workers
from rexrank.metrics import compute
from rexrank.metrics.meteor import score
from rexrank.statistics import corpus_interval
from rexrank.terms import CONVENTIONS

pytestmark = [needs_java, pytest.mark.slow]
KEYS = ["meteor", "meteor_corpus", "meteor_mean"]
# The rows and values of METEOR 1.5 measured with the program itself.
ROWS = [
    ("scar", "scar", 1.0),
    ("right scar", "right scar", 1.0),
    ("Stable right scar", "stable right scar", 1.0),
    ("right scar stable", "stable right scar", 0.446735),
    ("small left effusion", "small right effusion", 0.266667),
    ("no rib fracture", "rib fracture", 0.466019),
]


def moerad(shared_data: Path) -> tuple[list[str], list[str]]:
    """The 590 predictions and references, with single spaces, as pycocoevalcap needs them."""
    folder = shared_data / "iu_xray" / "predictions" / "moerad"
    columns = []
    for name in ("preds.csv", "gts.csv"):
        with (folder / name).open(encoding="utf-8", newline="") as file:
            columns.append({row["study_id"]: " ".join(row["report"].split()) for row in csv.DictReader(file)})
    predictions, references = columns
    return list(predictions.values()), [references[study_id] for study_id in predictions]


@pytest.fixture(scope="module")
def original() -> Iterator["object"]:
    meteor = pytest.importorskip("pycocoevalcap.meteor.meteor").Meteor()
    yield meteor
    meteor.meteor_p.stdin.close()
    meteor.meteor_p.stdout.close()
    meteor.meteor_p.stderr.close()


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(("prediction", "reference", "expected"), ROWS)
def test_values_of_the_program(prediction: str, reference: str, expected: float, convention: str) -> None:
    scores = compute(KEYS, [prediction], [reference], convention)
    for key in KEYS:
        assert scores[key].values[0] == pytest.approx(expected, abs=5e-7)
        assert scores[key].aggregate == scores[key].values[0]


def test_the_corpus_score_is_no_mean() -> None:
    predictions, references = [row[0] for row in ROWS], [row[1] for row in ROWS]
    published = compute(KEYS, predictions, references)
    corrected = compute(KEYS, predictions, references, "corrected")
    for scores in (published, corrected):
        assert scores["meteor_corpus"].aggregate == pytest.approx(0.466678, abs=5e-7)
        assert scores["meteor_mean"].aggregate == pytest.approx(0.696570, abs=5e-7)
    assert published["meteor"].aggregate == published["meteor_corpus"].aggregate
    assert corrected["meteor"].aggregate == corrected["meteor_mean"].aggregate
    assert [scores.statistics is None for scores in published.values()] == [False, False, True]
    assert [scores.statistics is None for scores in corrected.values()] == [True, False, True]


def test_equal_to_the_original_on_real_reports(shared_data: Path, original: "object") -> None:
    predictions, references = moerad(shared_data)
    numbered = range(len(predictions))
    aggregate, studies = original.compute_score(
        {number: [references[number]] for number in numbered}, {number: [predictions[number]] for number in numbered}
    )
    scores = compute(KEYS, predictions, references)
    for key in KEYS:
        assert np.abs(scores[key].values - np.array(studies)).max() <= 1e-9
    assert scores["meteor"].aggregate == pytest.approx(aggregate, abs=1e-9)
    assert scores["meteor_mean"].aggregate == pytest.approx(np.mean(studies), abs=1e-9)


def test_equal_to_the_original_with_several_references(shared_data: Path, original: "object") -> None:
    predictions, texts = moerad(shared_data)
    predictions, references = predictions[:150], [[texts[at], texts[at + 1], texts[at + 7]] for at in range(150)]
    aggregate, studies = original.compute_score(
        dict(enumerate(references)), {at: [prediction] for at, prediction in enumerate(predictions)}
    )
    scores = compute(KEYS, predictions, references)
    assert np.abs(scores["meteor"].values - np.array(studies)).max() <= 1e-9
    assert scores["meteor"].aggregate == pytest.approx(aggregate, abs=1e-9)
    alone = [compute("meteor_mean", predictions, [texts[number] for texts in references]) for number in range(3)]
    best = np.max([one["meteor_mean"].values for one in alone], axis=0)
    assert np.array_equal(scores["meteor_mean"].values, best)
    assert "|refs:several|" in scores["meteor"].signature


def test_the_formula_equals_the_answers_of_the_program(shared_data: Path, original: "object") -> None:
    predictions, references = moerad(shared_data)
    rows = program.statistics(predictions[:300], [[text] for text in references[:300]])
    process = original.meteor_p
    process.stdin.write(f"EVAL ||| {' ||| '.join(' '.join(map(str, row)) for row in rows.tolist())}\n".encode())
    process.stdin.flush()
    *studies, corpus = [float(process.stdout.readline()) for _ in range(len(rows) + 1)]
    scores = compute(["meteor_corpus"], predictions[:300], references[:300])["meteor_corpus"]
    assert np.abs(scores.values - studies).max() <= 1e-12
    assert scores.aggregate == pytest.approx(corpus, abs=1e-12)


def test_statistics_add_up_and_give_the_interval(shared_data: Path) -> None:
    predictions, references = (texts[:200] for texts in moerad(shared_data))
    scores = compute(["meteor"], predictions, references)["meteor"]
    assert scores.statistics is not None
    assert scores.formula is not None
    assert np.array_equal(scores.formula(scores.statistics), scores.values)
    low, high = corpus_interval(scores.statistics, scores.formula, resamples=500)
    assert 0 < low < scores.aggregate < high < 1


@pytest.mark.parametrize(
    ("prediction", "reference", "reason"),
    [("", "scar", None), (" \n", "scar", None), ("scar", "", "empty_reference"), ("", "", "both_empty")],
)
def test_blanks(prediction: str, reference: str, reason: str | None) -> None:
    texts = ["rib fracture", prediction], ["no rib fracture", reference]
    published, corrected = compute(KEYS, *texts), compute(KEYS, *texts, "corrected")
    for key in KEYS:
        assert published[key].values[1] == 0
        assert published[key].values[0] == corrected[key].values[0]
        assert corrected[key].reasons.get(1) == reason
        assert np.array_equal(corrected[key].values[1], 0 if reason is None else np.nan, equal_nan=True)
    alone = compute("meteor_corpus", ["rib fracture"], ["no rib fracture"])["meteor_corpus"].aggregate
    assert alone is not None
    corpus = corrected["meteor_corpus"].aggregate
    assert corpus < alone if reason is None else corpus == alone


def test_nothing_to_score_gives_no_corpus_score() -> None:
    assert compute(KEYS, [""], [""], "corrected")["meteor_corpus"].aggregate is None
    assert compute(KEYS, [""], [""])["meteor_corpus"].aggregate == 0


def test_identical_reports_are_perfect_together() -> None:
    texts = ["Scar.", "No rib fracture. No rib fracture.", "heart " * 40, "Cafe\u0301 (2.5 x 3 cm)", "🫁", "肺炎"]
    for convention in CONVENTIONS:
        for scores in compute(KEYS, texts, texts, convention).values():
            assert scores.values.tolist() == [1] * len(texts)
            assert scores.aggregate == 1


def test_corrected_compares_canonical_texts_and_published_the_texts_as_they_are() -> None:
    for texts in ((["Cafe\u0301"], ["Caf\u00e9"]), (["small cafe\u0301"], ["large caf\u00e9"])):
        published, corrected = (compute("meteor", *texts, convention)["meteor"] for convention in CONVENTIONS)
        assert published.values[0] < corrected.values[0]
    composed = compute("meteor", ["small caf\u00e9"], ["large caf\u00e9"])["meteor"]
    assert corrected.values[0] == composed.values[0] > 0


def test_other_scripts_are_undefined_or_say_nothing_unless_asked_for() -> None:
    texts = ["в легких", "в норме", "clear"], ["в легких нет", "clear", "clear lungs"]
    published, corrected = (compute(KEYS, *texts, convention) for convention in CONVENTIONS)
    asked = compute(KEYS, *texts, "corrected", on_unsupported_language="compute")
    assert published["meteor"].values[0] > 0.3
    assert asked["meteor"].values[0] == published["meteor"].values[0]
    for key in KEYS:
        assert corrected[key].reasons == {0: "unsupported_language"}
        assert corrected[key].values[1] == 0
        assert corrected[key].counts["n_unsupported_language"] == 2
    silent = compute("meteor_corpus", ["", "clear"], ["clear", "clear lungs"], "corrected")["meteor_corpus"]
    assert corrected["meteor_corpus"].aggregate == silent.aggregate


def test_signatures_say_which_meteor_it_is() -> None:
    published = compute(KEYS, ["scar"], ["scar"], preparation="findings-ref")
    corrected = compute(KEYS, ["scar"], ["scar"], "corrected")
    assert published["meteor"].signature == (
        "meteor|conv:published|tok:meteor-norm|impl:java1.5|agg:corpus|prep:findings-ref|v:1"
    )
    assert corrected["meteor"].signature == "meteor|conv:corrected|tok:meteor-norm|impl:java1.5|agg:mean|v:1"
    assert corrected["meteor_corpus"].signature.endswith("|agg:corpus|v:1")


def test_a_study_on_which_the_program_fails_has_no_value_and_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = np.arange(1.0, 1.0 + program.COLUMNS)
    standin = line_program(tmp_path, answer=" ".join(map(str, row)), read=program.read_answer)
    workers = Workers(standin, 1)
    monkeypatch.setattr(program, "shared_workers", lambda: workers)
    try:
        scores = compute(KEYS, ["clear", "breakdown", "", "clear"], ["clear", "clear", "clear", "lungs"], "corrected")
    finally:
        workers.close()
    for key in KEYS:
        assert scores[key].reasons == {1: "failed"}
        assert scores[key].counts["n_failed"] == 1
        assert scores[key].counts["n_undefined"] == 1
        assert np.isnan(scores[key].values).tolist() == [False, True, False, False]
        assert scores[key].values[3] == score(row[None])[0]


def test_a_card_has_all_three(shared_data: Path) -> None:
    folder = shared_data / "iu_xray"
    references = folder / "ReXRank_IUXray_test.json"
    card = rexrank.score(folder / "predictions/moerad/preds.csv", references, metrics=KEYS, progress=False)
    assert set(card.summary) == set(KEYS)
    assert card.summary["meteor"] == card.summary["meteor_corpus"] != card.summary["meteor_mean"]
    for key in KEYS:
        low, high = card.intervals[key]
        assert low < card.summary[key] < high
        assert card.counts[key]["n_undefined"] == 0
