"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Pulmonary edema.", "Edema.", "Small right effusion."]
REFERENCES = ["Pulmonary edema.", "Edema, cardiomegaly.", "Small pleural effusion."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {},
        "result": {
            "f1labels_micro_14": 0.857143,
            "f1labels_micro_14_per_report": [1.0, 0.666667, 1.0],
            "f1labels_macro_14": 0.142857,
            "f1labels_samples_14": 0.888889,
            "f1labels_edema": 1.0,
            "n_undefined": 0,
        },
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"convention": "corrected", "keys": ["f1labels_macro_14", "f1labels_edema"]},
        "result": {
            "f1labels_macro_14": 0.666667,
            "f1labels_edema_per_report": [1.0, 1.0, None],
            "n_undefined": 1,
        },
    },
    {
        "predictions": ["", "Edema."],
        "references": ["Pulmonary edema.", "Edema."],
        "options": {"keys": "f1labels_micro_5", "uncertain": "negative"},
        "result": {"f1labels_micro_5": 0.666667, "f1labels_micro_5_per_report": [0.0, 1.0], "n_empty": 1},
    },
]
