"""Worked examples; each result holds the expected values to six digits."""

EDEMA = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
EFFUSION = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
EFFUSION_ATELECTASIS = [0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]
NO_FINDING = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
UNSURE_EDEMA = [0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
PREDICTIONS = ["Edema.", "Effusion.", "Mild edema."]
REFERENCES = ["Edema is seen.", "Effusion, atelectasis.", "Normal."]
LABELS = {
    "predictions": [EDEMA, EFFUSION, EDEMA],
    "references": [EDEMA, EFFUSION_ATELECTASIS, NO_FINDING],
}

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"chexbert_labels": LABELS}},
        "result": {
            "f1chexbert_micro_14": 0.571429,
            "f1chexbert_macro_14": 0.119048,
            "f1chexbert_weighted_14": 0.416667,
            "f1chexbert_samples_14_per_report": [1.0, 0.666667, 0.0],
            "f1chexbert_micro_5": 0.666667,
            "ce_f1": 0.119048,
        },
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {
            "features": {"chexbert_labels": LABELS},
            "convention": "corrected",
            "keys": ["f1chexbert_macro_14", "f1chexbert_edema"],
        },
        "result": {
            "f1chexbert_macro_14": 0.416667,
            "f1chexbert_edema_per_report": [1.0, None, 0.0],
            "n_undefined": 1,
        },
    },
    {
        "predictions": ["", "Edema?"],
        "references": ["Edema.", "Edema."],
        "options": {
            "features": {"chexbert_labels": {"predictions": [EDEMA, UNSURE_EDEMA], "references": [EDEMA, EDEMA]}},
            "convention": "corrected",
            "uncertain": "ignore",
            "keys": ["f1chexbert_micro_5", "ce_recall"],
        },
        "result": {"f1chexbert_micro_5": 0.0, "f1chexbert_micro_5_per_report": [0.0, None], "n_empty": 1},
    },
]
