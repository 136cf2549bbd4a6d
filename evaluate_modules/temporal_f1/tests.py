"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Stable nodule, new scar.", "Clear lungs."]
REFERENCES = ["Stable nodule.", "The lungs are clear."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {},
        "result": {
            "temporal_f1": 0.833333,
            "temporal_f1_per_report": [0.666667, 1.0],
            "signature": "temporal_f1|conv:published|terms:44|v:1",
        },
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"convention": "corrected"},
        "result": {"temporal_f1": 0.666667, "temporal_f1_per_report": [0.666667, None], "n_undefined": 1},
    },
    {
        "predictions": ["", "Increased/new nodule."],
        "references": [["Larger nodule.", "Nodule."], ["New nodule.", "Nodule increased."]],
        "options": {"convention": "corrected"},
        "result": {"temporal_f1_per_report": [0.0, 1.0], "n_empty": 1},
    },
]
