"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Effusion.", "Seen.", "Nothing new."]
REFERENCES = ["Pleural effusion.", "Old scar.", "As before."]
LABELS = {"predictions": [["effusion"], [], []], "references": [["effusion"], ["scar"], []]}

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"srrbert_labels": LABELS}},
        "result": {
            "srrbert_precision": 0.5,
            "srrbert_recall": 0.5,
            "srrbert_f1": 0.5,
            "srrbert_f1_per_report": [1.0, 0.0, 1.0],
        },
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"srrbert_labels": LABELS}, "convention": "corrected"},
        "result": {"srrbert_f1": 0.5, "srrbert_f1_per_report": [1.0, 0.0, None], "n_undefined": 1},
    },
    {
        "predictions": ["", "Scar, edema."],
        "references": ["Scar.", "Scar."],
        "options": {
            "features": {
                "srrbert_labels": {"predictions": [[], ["scar", "edema"]], "references": [["scar"], ["scar"]]}
            },
            "convention": "corrected",
            "keys": ["srrbert_recall"],
        },
        "result": {"srrbert_recall": 0.5, "srrbert_recall_per_report": [0.0, 0.5], "n_empty": 1},
    },
]
