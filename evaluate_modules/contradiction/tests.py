"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Small left effusion. No effusion.", "No large effusion. Small effusion."]
REFERENCES = ["Left effusion.", "Small effusion."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {},
        "result": {"contradiction": 0.5, "contradiction_per_report": [1.0, 0.0], "n_undefined": 0},
    },
    {
        "predictions": ["Edema. No edema.", "Thank you."],
        "references": ["Edema. No edema.", "Thank you."],
        "options": {},
        "result": {"contradiction": 1.0, "contradiction_per_report": [1.0, None], "n_undefined": 1},
    },
    {
        "predictions": ["Edema. No edema.", "Thank you."],
        "references": ["Edema. No edema.", "Thank you."],
        "options": {"convention": "corrected"},
        "result": {"contradiction": 0.0, "contradiction_per_report": [0.0, 0.0]},
    },
]
