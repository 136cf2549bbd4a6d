"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Mild edema.", "Clear lungs."]
REFERENCES = ["No edema.", "Large effusion."]
VECTORS = {"predictions": [[3.0, 4.0], [3.0, 4.0]], "references": [[4.0, 3.0], [4.0, -4.0]]}

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"chexbert_cls": VECTORS}},
        "result": {"sembscore": 0.409289, "sembscore_per_report": [0.96, -0.141421]},
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"chexbert_cls": VECTORS}, "convention": "corrected"},
        "result": {"sembscore": 0.48, "sembscore_per_report": [0.96, 0.0], "n_undefined": 0},
    },
    {
        "predictions": ["", "Edema."],
        "references": [["Edema.", "Mild edema."], ["Mild edema.", "Scar."]],
        "options": {
            "features": {
                "chexbert_cls": {
                    "predictions": [[1.0, 0.0], [3.0, 4.0]],
                    "references": [[[3.0, 4.0], [4.0, 3.0]], [[4.0, 3.0], [0.0, -1.0]]],
                }
            },
            "convention": "corrected",
        },
        "result": {"sembscore_per_report": [0.0, 0.96], "n_empty": 1},
    },
]
