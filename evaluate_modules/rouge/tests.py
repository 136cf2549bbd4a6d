"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Small left effusion.", "Heart enlarged; lungs expanded."]
REFERENCES = ["Small right effusion.", "Heart enlarged lungs expanded."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {},
        "result": {"rouge_l": 0.708333, "rouge1": 0.833333, "rouge2": 0.5, "rouge_l_f1": 0.833333},
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"convention": "corrected", "keys": ["rouge_l"]},
        "result": {
            "rouge_l": 0.833333,
            "rouge_l_per_report": [0.666667, 1.0],
            "signature": "rouge_l|conv:corrected|tok:unicode-words|stem:none|beta:1|v:1",
        },
    },
    {
        "predictions": ["stable  right scar", "Stable right scar"],
        "references": [["stable right scar"], ["stable right scar"]],
        "options": {"keys": ["rouge_l", "rouge_l_f1"]},
        "result": {"rouge_l_per_report": [0.879808, 0.666667], "rouge_l_f1_per_report": [1.0, 1.0]},
    },
]
