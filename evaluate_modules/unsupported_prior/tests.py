"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["The nodule is stable.", "A nodule."]
REFERENCES = ["A nodule.", "A nodule."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {},
        "result": {"unsupported_prior": 0.5, "unsupported_prior_per_report": [1.0, 0.0], "n_undefined": 0},
    },
    {
        "predictions": ["New edema.", "New edema."],
        "references": ["Edema.", "Edema, unchanged."],
        "options": {},
        "result": {"unsupported_prior": 1.0, "unsupported_prior_per_report": [1.0, None], "n_undefined": 1},
    },
    {
        "predictions": ["New edema.", "New edema."],
        "references": ["Edema.", "Edema, unchanged."],
        "options": {"convention": "corrected"},
        "result": {"unsupported_prior": 1.0, "unsupported_prior_per_report": [1.0, None]},
    },
    {
        "predictions": ["New edema.", "New edema."],
        "references": ["Edema.", "Edema."],
        "options": {"prior": ["yes", "no"]},
        "result": {"unsupported_prior_per_report": [None, 1.0]},
    },
]
