"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["8 mm nodule.", "A 2 cm mass."]
REFERENCES = ["0.8 cm nodule.", "A 3 cm mass."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {},
        "result": {"measurements": 0.5, "measurements_per_report": [1.0, 0.0], "n_undefined": 0},
    },
    {
        "predictions": ["A 1.2 x 0.9 cm nodule.", "A nodule."],
        "references": ["A 12 mm nodule.", "A nodule."],
        "options": {},
        "result": {"measurements": 0.666667, "measurements_per_report": [0.666667, None], "n_undefined": 1},
    },
    {
        "predictions": ["A 1.2 x 0.9 cm nodule.", "A nodule."],
        "references": ["A 12 mm nodule.", "A nodule."],
        "options": {"convention": "corrected"},
        "result": {"measurements": 0.833333, "measurements_per_report": [0.666667, 1.0]},
    },
]
