"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Small left effusion.", "Heart enlarged; lungs expanded.", "Stable scar."]
REFERENCES = ["Small right effusion.", "Heart enlarged lungs expanded.", "Stable scar."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {},
        "result": {
            "cider": 3.125,
            "cider_per_report": [1.666667, 2.708333, 5.0],
            "signature": "cider|conv:published|tok:split|n:4|sigma:6|df:refs(3)|v:1",
        },
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"convention": "corrected"},
        "result": {"cider": 5.690293, "cider_per_report": [2.5, 4.570879, 10.0], "n_undefined": 0},
    },
    {
        "predictions": ["Clear lungs.", ""],
        "references": ["Clear lungs.", "Clear lungs."],
        "options": {"convention": "corrected"},
        "result": {"cider": None, "cider_per_report": [None, None], "n_empty": 1, "n_undefined": 2},
    },
    {
        "predictions": ["Large stable hernia."],
        "references": [["Hernia.", "Stable hernia."]],
        "options": {"df": {"n": 100, "df": {"hernia": 5, "stable": 20}}, "convention": "corrected"},
        "result": {"cider_per_report": [4.405643]},
    },
]
