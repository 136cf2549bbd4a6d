"""F1 of CheXbert's labels and clinical efficacy, from features that an encoder would give."""

import math
from typing import Any

import numpy as np
import pytest

from rexrank.labels import NAMES
from rexrank.metrics import InvalidCall, TextFeatures, Unavailable, compute, metrics, score_keys, why_unavailable
from rexrank.metrics.f1 import AVERAGES, clinical_efficacy, f1, per_study

KEYS = [key.key for key in metrics()["f1chexbert"].keys]
EFFICACY = ["ce_precision", "ce_recall", "ce_f1"]
TEXTS = ["Mild edema.", "Small effusion.", "Scar.", "Clear lungs."]
OTHERS = ["Edema.", "Effusion, atelectasis.", "Nodule.", "Clear."]


def codes_of(*reports: dict[str, int]) -> list[list[int]]:
    return [[report.get(name, 0) for name in NAMES] for report in reports]


PREDICTED = codes_of({"Edema": 1}, {"Pleural Effusion": 3, "Edema": 2}, {}, {"No Finding": 1})
REFERRED = codes_of({"Edema": 1}, {"Pleural Effusion": 1, "Atelectasis": 3}, {"Lung Lesion": 2}, {"No Finding": 1})


def scored(
    keys: Any, convention: Any, predicted: Any = PREDICTED, referred: Any = REFERRED, **call: Any
) -> dict[str, Any]:
    features = {"chexbert_labels": TextFeatures(predicted, [[one] for one in referred])}
    texts = {"predictions": TEXTS, "references": OTHERS, **call}
    return compute(keys, convention=convention, features=features, **texts)


def test_the_keys_of_the_design() -> None:
    assert KEYS[:-3] == [key.key.replace("f1labels", "f1chexbert") for key in metrics()["f1labels"].keys[:-3]]
    assert KEYS[-3:] == EFFICACY
    for key in KEYS:
        assert score_keys()[key].needs == ("chexbert_labels",)
        assert "CheXbert" in str(why_unavailable(key))
        with pytest.raises(Unavailable, match=key):
            compute(key, TEXTS, OTHERS)


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_scores_are_those_of_the_label_arrays(convention: Any) -> None:
    found = scored(KEYS, convention)
    for average in AVERAGES:
        for number in (14, 5):
            expected = f1(PREDICTED, REFERRED, average, convention, labels=number)
            assert found[f"f1chexbert_{average}_{number}"].aggregate == pytest.approx(expected)
    assert [found[key].aggregate for key in EFFICACY] == pytest.approx(
        list(clinical_efficacy(PREDICTED, REFERRED, convention))
    )
    values = found["f1chexbert_micro_14"].values
    assert np.array_equal(values, per_study(PREDICTED, REFERRED, convention), equal_nan=True)


def test_clinical_efficacy_takes_uncertain_for_absent_unless_told() -> None:
    assert scored("ce_recall", "corrected")["ce_recall"].aggregate == pytest.approx(2 / 3)
    assert "|uncertain:negative|" in scored("ce_recall", "corrected")["ce_recall"].signature
    told = scored(["ce_recall", "f1chexbert_edema"], "corrected", uncertain="positive")
    assert told["ce_recall"].aggregate == pytest.approx(3 / 4)
    assert all("|uncertain:positive|" in scores.signature for scores in told.values())
    assert all(scores.signature.endswith("|enc:chexbert|max:512|w:unverified|v:1") for scores in told.values())


def test_precision_and_recall_of_a_study_leave_out_what_is_undefined() -> None:
    found = scored(EFFICACY, "corrected")
    columns = {key: found[key].values.tolist() for key in EFFICACY}
    assert [math.isnan(value) for value in columns["ce_precision"]] == [False, True, True, False]
    assert [math.isnan(value) for value in columns["ce_recall"]] == [False, False, True, False]
    assert (columns["ce_recall"][1], columns["ce_f1"][1]) == (0, 0)
    assert found["ce_recall"].counts["n_labels"] == 3
    assert scored("ce_precision", "published")["ce_precision"].values.tolist() == [1, 0, 0, 1]


def test_a_blank_prediction_has_all_labels_blank_in_corrected_alone() -> None:
    hallucinated = codes_of({"Edema": 1}, *[{"No Finding": 1}] * 3)
    call = {"predictions": ["", "x", "y", "z"]}
    corrected = scored(["f1chexbert_edema", "ce_recall"], "corrected", hallucinated, **call)
    assert corrected["f1chexbert_edema"].values[0] == 0
    assert corrected["f1chexbert_edema"].counts["n_predicted"] == 0
    assert corrected["ce_recall"].values[0] == 0
    assert scored("f1chexbert_edema", "published", hallucinated, **call)["f1chexbert_edema"].values[0] == 1


def test_a_text_in_another_script_says_nothing_unless_told() -> None:
    russian = {"predictions": ["Лёгкие без очагов."] * 4}
    found = scored("f1chexbert_micro_14", "corrected", **russian)["f1chexbert_micro_14"]
    assert (found.aggregate, found.counts["n_unsupported_language"]) == (0, 4)
    computed = scored("f1chexbert_micro_14", "corrected", on_unsupported_language="compute", **russian)
    plain = scored("f1chexbert_micro_14", "corrected")
    assert computed["f1chexbert_micro_14"].aggregate == plain["f1chexbert_micro_14"].aggregate


def test_identical_texts_have_the_best_value_whatever_the_encoder_made_of_them() -> None:
    call = {"predictions": ["Edema.", *TEXTS[1:]], "references": [" Edema.\n", *OTHERS[1:]]}
    differing = [codes_of({})[0], *PREDICTED[1:]]
    found = scored(["f1chexbert_edema", "f1chexbert_fracture"], "corrected", differing, **call)
    assert found["f1chexbert_edema"].values[0] == found["f1chexbert_fracture"].values[0] == 1
    assert found["f1chexbert_edema"].aggregate == 1


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_a_failed_encoder_costs_its_study_alone(convention: Any) -> None:
    for predicted, referred in (([None, *PREDICTED[1:]], REFERRED), (PREDICTED, [None, *REFERRED[1:]])):
        found = scored(KEYS, convention, predicted, referred)
        for key in KEYS:
            assert found[key].reasons[0] == "failed"
        expected = f1(PREDICTED[1:], REFERRED[1:], "macro", convention)
        assert found["f1chexbert_macro_14"].aggregate == pytest.approx(expected)
        assert found["f1chexbert_macro_14"].counts["n_no_content"] == 1


def test_a_blank_prediction_needs_no_label_but_its_reference_does() -> None:
    blank = [0] * 14
    features = {"chexbert_labels": {"predictions": [None, blank, None], "references": [REFERRED[0], None, None]}}
    texts = ["", "", "Scar."], ["Edema.", "Edema.", "Scar."]
    for key in KEYS:
        found = compute(key, *texts, "corrected", features=features)[key]
        assert found.reasons[1] == "failed"
        assert found.reasons.get(0) in (None, "no_positive_label")
        assert found.reasons.get(2) in (None, "no_positive_label"), (
            "identical texts have equal labels, whatever they are"
        )


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ([0] * 13, r"features\['chexbert_labels'\]\.predictions\[2\]: expected 14 codes"),
        ("positive edema", r"predictions\[2\]: expected 14 codes"),
        (3, r"predictions\[2\]: expected 14 codes"),
        (dict.fromkeys(NAMES, 0), r"predictions\[2\]: expected 14 codes"),
        ([0] * 13 + [4], r"predictions\[2, 13\]: expected 0 \(blank\), .*, got 4"),
        ([0.5] * 14, "expected whole numbers"),
        ([None] * 14, "expected whole numbers"),
        ([[0]] * 14, "rows of several lengths"),
    ],
)
def test_features_that_are_no_labels(item: Any, message: str) -> None:
    with pytest.raises(InvalidCall, match=message) as caught:
        scored("ce_f1", "published", [*PREDICTED[:2], item, PREDICTED[3]])
    assert "edema" not in str(caught.value)


def test_features_may_be_arrays_of_any_integers() -> None:
    arrays = [np.array(PREDICTED, dtype=np.int8), [np.array(row, dtype=np.uint8) for row in REFERRED]]
    assert scored("ce_f1", "published", *arrays)["ce_f1"].aggregate == pytest.approx(
        scored("ce_f1", "published")["ce_f1"].aggregate
    )
