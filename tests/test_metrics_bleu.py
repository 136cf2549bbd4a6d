"""BLEU against the table of the specification and against the original packages."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from pycocoevalcap.bleu.bleu import Bleu

from rexrank.metrics import compute

COCO = [f"coco_bleu{order}" for order in range(1, 5)]

words = st.sampled_from(
    [
        "heart",
        "Heart",
        "clear",
        "clear.",
        "no",
        "2.5",
        "cm",
        "¼",
        "größe",
        "легкие",
        "肺",
        "\u200bx",
        "a\tb",
        "a\nb",
        ",",
        ".",
    ]
)
spaces = st.sampled_from([" ", " ", " ", "  ", "\n", "\t", " \u00a0", " . "])
reports = st.lists(st.tuples(words, spaces), max_size=25).map(lambda parts: "".join(w + s for w, s in parts)) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=40
)


@pytest.mark.parametrize(
    ("prediction", "reference", "published", "corrected"),
    [
        ("Cardiomegaly", "Cardiomegaly", 0.316228, 1),
        ("Cardiomegaly.", "Cardiomegaly.", 1, 1),
        ("Stable heart size.\tClear apices.", "Stable heart size. Clear apices.", 0.598553, 1),
        ("Impression:Stable heart size.", "IMPRESSION: stable heart size.", 0.550695, 1),
        ("Impression: Stable heart size.", "Stable heart size.", 0.774597, 1),
        ("hernia(large)", "hernia (large)", 0, 1),
        ("Heart enlarged; lungs expanded.", "Heart enlarged lungs expanded.", 0.632456, 0.707107),
        ("fracture", "no fracture", 0.116334, 0.367879),
        ("Small left effusion.", "Small right effusion.", 0.5, 0.5),
        ("Mild edema. Mild edema. Mild edema.", "Mild edema.", 0.288675, 0.288675),
    ],
)
def test_bleu2_gives_the_tabled_values(prediction: str, reference: str, published: float, corrected: float) -> None:
    for convention, expected in (("published", published), ("corrected", corrected)):
        scores = compute("bleu2", [prediction], [reference], convention)["bleu2"]
        assert scores.aggregate == pytest.approx(expected, abs=5e-7)
        assert scores.values.tolist() == [scores.aggregate]


@pytest.mark.parametrize(
    ("prediction", "reference", "published", "corrected"),
    [
        ("large hiatal hernia", "large hiatal hernia", (1, 1, 1, 0.031623), (1, 1, 1, 1)),
        ("Hernia", "hernia", (1e-15, 3.2e-11, 1e-9, 5.6e-9), (1, 1, 1, 1)),
    ],
)
def test_coco_bleu_gives_the_tabled_values(
    prediction: str, reference: str, published: tuple[float, ...], corrected: tuple[float, ...]
) -> None:
    for convention, expected in (("published", published), ("corrected", corrected)):
        scores = compute(COCO, [prediction], [reference], convention)
        assert [scores[key].aggregate for key in COCO] == pytest.approx(expected, rel=2e-2, abs=0)


def test_coco_bleu_of_the_corpus_is_not_the_mean_of_studies() -> None:
    texts = ["no focal airspace disease", "clear lungs"]
    scores = compute("coco_bleu4", texts, texts)["coco_bleu4"]
    assert scores.values.tolist() == pytest.approx([1, 0.001], rel=1e-6)
    assert scores.aggregate == pytest.approx(1)


def test_corrected_corpus_is_the_formula_on_the_sum_of_statistics() -> None:
    predictions = ["Mild edema is new.", "Clear.", "Stable small left effusion today."]
    references = ["Mild edema.", "Clear lungs.", "Stable small right effusion today."]
    scores = compute("coco_bleu2", predictions, references, "corrected")["coco_bleu2"]
    # Unigrams 3 + 2 + 5 of 5 + 2 + 6, bigrams 1 + 0 + 3 of 4 + 1 + 5, lengths 13 against 3 + 3 + 6.
    assert scores.aggregate == pytest.approx(np.sqrt(10 / 13 * 4 / 10))
    assert scores.statistics is not None
    assert scores.formula is not None
    assert scores.formula(scores.statistics.sum(axis=0, keepdims=True)).tolist() == [scores.aggregate]


def test_corrected_corpus_leaves_out_orders_that_no_prediction_has() -> None:
    scores = compute(COCO, ["Cardiomegaly", "Edema"], ["Cardiomegaly", "edema"], "corrected")
    assert [scores[key].aggregate for key in COCO] == [1, 1, 1, 1]


def rexrank_tokens(text: str) -> list[str]:
    return [token for token in text.lower().replace(".", " .").split(" ") if token]


@settings(deadline=None)
@given(st.lists(st.tuples(reports, st.lists(reports, min_size=1, max_size=3)), min_size=1, max_size=6))
def test_published_bleu2_equals_nltk(studies: list[tuple[str, list[str]]]) -> None:
    predictions, references = [study[0] for study in studies], [study[1] for study in studies]
    expected = [
        sentence_bleu(
            [rexrank_tokens(reference) for reference in texts],
            rexrank_tokens(prediction),
            weights=(0.5, 0.5),
            smoothing_function=SmoothingFunction().method1,
        )
        for prediction, texts in studies
    ]
    scores = compute("bleu2", predictions, references)["bleu2"]
    assert scores.values.tolist() == pytest.approx(expected, abs=1e-12)
    assert scores.aggregate == pytest.approx(float(np.mean(expected)), abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.tuples(reports, st.lists(reports, min_size=1, max_size=3)), min_size=1, max_size=6))
def test_published_coco_bleu_equals_pycocoevalcap(studies: list[tuple[str, list[str]]]) -> None:
    predictions, references = [study[0] for study in studies], [study[1] for study in studies]
    corpus, each = Bleu(4).compute_score(
        dict(enumerate(references)), {i: [text] for i, text in enumerate(predictions)}, verbose=0
    )
    scores = compute(COCO, predictions, references)
    for order, key in enumerate(COCO):
        assert scores[key].values.tolist() == pytest.approx(each[order], rel=1e-12, abs=0)
        assert scores[key].aggregate == pytest.approx(corpus[order], rel=1e-12, abs=0)


def test_a_new_reference_can_only_add_matches_at_equal_length() -> None:
    one = compute("bleu2", ["mild new edema"], ["mild old edema"])["bleu2"]
    two = compute("bleu2", ["mild new edema"], [["mild old edema", "some new edema"]])["bleu2"]
    assert one.values[0] == pytest.approx(np.sqrt(2 / 3 * 0.1 / 2))
    assert two.values[0] == pytest.approx(np.sqrt(1 / 2))
    assert one.signature == "bleu2|conv:published|tok:rexrank|v:1"
    assert two.signature == "bleu2|conv:published|tok:rexrank|refs:several|v:1"


def column(path: Path, name: str) -> list[str]:
    with path.open(encoding="utf-8", newline="") as stream:
        return [row[name] for row in csv.DictReader(stream)]


def test_published_equals_the_stored_bleu2_of_moerad(shared_data: Path) -> None:
    folder = shared_data / "iu_xray" / "predictions" / "moerad"
    predictions, references = column(folder / "preds.csv", "report"), column(folder / "gts.csv", "report")
    stored = np.array(column(folder / "report_scores.csv", "bleu_score"), dtype=np.float64)
    scores = compute("bleu2", predictions, references)["bleu2"]
    assert len(stored) == 590
    assert np.abs(scores.values - stored).max() <= 1e-12
    prefixed = [f"Findings: {text}" for text in references]
    both = compute("bleu2", [f"Findings: {text}" for text in predictions], prefixed)["bleu2"]
    reference_only = compute("bleu2", predictions, prefixed)["bleu2"]
    assert [scores.aggregate, reference_only.aggregate, both.aggregate] == pytest.approx(
        [0.2704, 0.2627, 0.2754], abs=5e-5
    )


def test_published_equals_the_stored_coco_bleu_of_mrg_rl(shared_data: Path) -> None:
    (folder,) = (path for path in (shared_data / "iu_xray" / "predictions" / "mrg_rl").iterdir() if path.is_dir())
    predictions = json.loads((folder / "test_preds.json").read_text(encoding="utf-8"))
    references = json.loads((folder / "test_refs.json").read_text(encoding="utf-8"))
    stored = json.loads((folder / "test_metrics.json").read_text(encoding="utf-8"))
    scores = compute(COCO, [predictions[study][0] for study in references], list(references.values()))
    assert scores["coco_bleu4"].counts["n"] == 382
    for order, key in enumerate(COCO, start=1):
        assert scores[key].aggregate == pytest.approx(stored[f"Bleu_{order}"], abs=1e-9)
