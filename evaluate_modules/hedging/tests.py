"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Possible pneumonia. No effusion.", "No pneumothorax."]
REFERENCES = ["Pneumonia. No effusion.", "No pneumothorax."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {},
        "result": {"hedging": 0.75, "hedging_per_report": [0.5, 1.0], "n_undefined": 0},
    },
    {
        "predictions": ["No edema.", "Thank you."],
        "references": ["Edema.", "Thank you."],
        "options": {},
        "result": {"hedging": 0.0, "hedging_per_report": [0.0, None], "n_undefined": 1},
    },
    {
        "predictions": ["No edema.", "Thank you."],
        "references": ["Edema.", "Thank you."],
        "options": {"convention": "corrected"},
        "result": {"hedging": 0.5, "hedging_per_report": [0.0, 1.0]},
    },
]
