"""Blank, empty and identical texts: the same rules for every lexical metric."""

import numpy as np
import pytest

from rexrank.metrics import InvalidCall, compute
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs, canonical
from rexrank.metrics.policy import judge, read_policy
from rexrank.metrics.registry import ScoreKey
from rexrank.reports.studies import is_blank

KEYS = ["bleu2", *(f"coco_bleu{order}" for order in range(1, 5)), "rouge_l", "rouge1", "rouge2", "rouge_l_f1"]
BLANKS = ["", " ", "\n\t ", "\u200b", "\u00a0\ufeff\x00"]
REPORT = "No focal airspace disease is seen."


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("key", KEYS)
def test_corrected_blank_prediction_is_worst_and_counted(key: str, blank: str) -> None:
    scores = compute(key, [blank, REPORT], [REPORT, REPORT], "corrected")[key]
    assert scores.values.tolist() == [0, 1]
    assert (scores.counts["n"], scores.counts["n_empty"], scores.counts["n_undefined"]) == (2, 1, 0)
    assert scores.reasons == {}


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("key", KEYS)
def test_corrected_blank_reference_is_null_with_a_reason(key: str, blank: str) -> None:
    scores = compute(key, [REPORT, blank, REPORT], [blank, blank, REPORT], "corrected")[key]
    assert np.isnan(scores.values).tolist() == [True, True, False]
    assert scores.reasons == {0: "empty_reference", 1: "both_empty"}
    assert (scores.counts["n_undefined"], scores.counts["n_empty_reference"], scores.counts["n_empty"]) == (2, 2, 1)
    assert scores.aggregate == 1


@pytest.mark.parametrize("key", KEYS)
def test_nothing_defined_has_no_aggregate(key: str) -> None:
    assert compute(key, [REPORT], [""], "corrected")[key].aggregate is None


def test_published_keeps_what_the_originals_say_about_blanks() -> None:
    scores = compute(KEYS, ["", REPORT, ""], [REPORT, "", ""])
    assert scores["bleu2"].values.tolist() == [0, 0, 0]
    assert scores["rouge_l"].values.tolist() == [0, 0, 1]
    assert scores["rouge1"].values.tolist() == scores["rouge_l_f1"].values.tolist() == [0, 0, 0]
    for order in range(1, 5):
        prediction_blank, reference_blank, _ = scores[f"coco_bleu{order}"].values
        assert prediction_blank == 0
        assert 0 < reference_blank < 1e-3
    for key in KEYS:
        assert scores[key].counts["n_undefined"] == 0
        assert scores[key].counts["n_empty"] == 2


def test_options_change_values_and_signature() -> None:
    predictions, references = ["", REPORT, REPORT], [REPORT, "", REPORT]
    scores = compute("bleu2", predictions, references, "corrected", on_empty_reference="worst")["bleu2"]
    assert scores.values.tolist() == [0, 0, 1]
    assert scores.signature == "bleu2|conv:corrected|tok:unicode|empty_reference:worst|v:1"
    scores = compute("bleu2", predictions, references, "corrected", on_empty_prediction="undefined")["bleu2"]
    assert scores.reasons == {0: "empty_prediction", 1: "empty_reference"}
    assert scores.signature == "bleu2|conv:corrected|tok:unicode|empty_prediction:undefined|v:1"
    default = compute("bleu2", predictions, references, "corrected", on_empty_reference="undefined")["bleu2"]
    assert default.signature == "bleu2|conv:corrected|tok:unicode|v:1"
    published = compute("bleu2", predictions, references, on_empty_reference="undefined")["bleu2"]
    assert published.reasons == {1: "empty_reference"}
    assert published.signature == "bleu2|conv:published|tok:rexrank|empty_reference:undefined|v:1"


def test_undefined_studies_leave_the_corpus() -> None:
    with_blank = compute("coco_bleu2", ["Mild edema.", REPORT], ["Mild edema is new.", ""], "corrected")["coco_bleu2"]
    alone = compute("coco_bleu2", ["Mild edema."], ["Mild edema is new."], "corrected")["coco_bleu2"]
    assert with_blank.aggregate == alone.aggregate
    assert with_blank.statistics is not None
    assert np.isnan(with_blank.statistics).all(axis=1).tolist() == [False, True]


def test_errors_on_request_name_position_and_number() -> None:
    with pytest.raises(InvalidCall, match=r"references\[1\]: the text is blank \(2 affected\)"):
        compute("bleu2", [REPORT] * 3, [REPORT, " ", ""], on_empty_reference="error")
    with pytest.raises(InvalidCall, match=r"predictions\[0\]: the text is blank \(1 affected\)"):
        compute("bleu2", [""], [REPORT], "corrected", on_empty_prediction="error")
    with pytest.raises(InvalidCall, match='on_empty_reference: expected one of undefined, worst, error, got "zero"'):
        compute("bleu2", [REPORT], [REPORT], on_empty_reference="zero")


@pytest.mark.parametrize("key", KEYS)
def test_identical_after_canonicalisation_is_best_even_without_a_token(key: str) -> None:
    texts = ["caf\u00e9\n gro\u00df ", "...", "FINDINGS:", "X"]
    others = ["cafe\u0301 gro\u00df", "...", " FINDINGS: ", "X"]
    scores = compute(key, texts, others, "corrected")[key]
    assert scores.values.tolist() == [1, 1, 1, 1]
    assert scores.counts["n_identical"] == 4
    assert scores.reasons == {}


@pytest.mark.parametrize("key", KEYS)
def test_text_that_says_nothing(key: str) -> None:
    scores = compute(key, ["FINDINGS:", REPORT, "FINDINGS:"], [REPORT, "FINDINGS:", "IMPRESSION:"], "corrected")[key]
    assert scores.values[:2].tolist() == [0, 0]
    assert np.isnan(scores.values[2])
    assert scores.reasons == {2: "no_content"}
    assert scores.counts["n_no_content"] == 1


def test_blank_reference_beside_a_real_one_is_ignored_in_corrected() -> None:
    with_blank = compute(KEYS, ["Mild edema."], [["", "Mild edema is new."]], "corrected")
    alone = compute(KEYS, ["Mild edema."], ["Mild edema is new."], "corrected")
    for key in KEYS:
        assert with_blank[key].values.tolist() == alone[key].values.tolist()


def test_preparation_stands_before_the_version() -> None:
    scores = compute(["bleu2"], ["a"], ["a"], preparation="findings-ref")["bleu2"]
    assert scores.signature == "bleu2|conv:published|tok:rexrank|prep:findings-ref|v:1"
    with pytest.raises(InvalidCall, match="preparation: expected a name"):
        compute("bleu2", ["a"], ["a"], preparation="two|parts")


def test_a_score_without_a_worst_value_is_null_for_a_blank_prediction() -> None:
    unbounded = ScoreKey(
        *("x", "X", "higher"), {"published": (None, 1), "corrected": (None, 1)}, "mean", 2, ("any",), ("any",), "."
    )
    pairs = Pairs(["", REPORT], [(REPORT,), (REPORT,)])
    outcome = Outcome(np.array([-3.0, 0.5]), {}, np.array([False, True]), np.array([True, True]))
    judged = judge(outcome, unbounded, pairs, read_policy("corrected", {}))
    assert np.isnan(judged.values[0])
    assert judged.values[1] == 1
    assert judged.reasons == {0: "empty_prediction"}


def test_blank_and_canonical() -> None:
    assert all(map(is_blank, BLANKS))
    assert not any(map(is_blank, [".", " \u200b.", "肺"]))
    assert canonical("  cafe\u0301\t\n x\u00a0y ") == "caf\u00e9 x y"
