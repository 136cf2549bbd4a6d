"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Small left effusion.", "Heart enlarged; lungs expanded."]
REFERENCES = ["Small right effusion.", "Heart enlarged lungs expanded."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {},
        "result": {"bleu2": 0.566228, "bleu2_per_report": [0.5, 0.632456], "coco_bleu1": 0.714286, "n_empty": 0},
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"convention": "corrected", "keys": ["bleu2"]},
        "result": {
            "bleu2": 0.603553,
            "bleu2_per_report": [0.5, 0.707107],
            "signature": "bleu2|conv:corrected|tok:unicode|v:1",
        },
    },
    {
        "predictions": ["", "Mild edema. Mild edema. Mild edema."],
        "references": [["Clear lungs."], ["Mild edema."]],
        "options": {"keys": ["bleu2"]},
        "result": {"bleu2": 0.144338, "bleu2_per_report": [0.0, 0.288675], "n_empty": 1, "n_undefined": 0},
    },
]
