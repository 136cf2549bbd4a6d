"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Small left effusion.", "Opacity in the right base."]
REFERENCES = ["Small right effusion.", "Right basal opacity. Left effusion."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {},
        "result": {"laterality": 0.5, "laterality_per_report": [0.0, 1.0], "n_undefined": 0},
    },
    {
        "predictions": ["Bilateral effusions.", "The lungs are clear."],
        "references": ["Left effusion.", "The lungs are clear."],
        "options": {},
        "result": {"laterality": 0.5, "laterality_per_report": [0.5, None], "n_undefined": 1},
    },
    {
        "predictions": ["Bilateral effusions.", "The lungs are clear."],
        "references": ["Left effusion.", "The lungs are clear."],
        "options": {"convention": "corrected"},
        "result": {"laterality": 0.75, "laterality_per_report": [0.5, 1.0]},
    },
]
