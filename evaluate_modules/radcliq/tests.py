"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Mild edema.", "Small left effusion."]
REFERENCES = ["No edema.", "Small right effusion."]
COMPONENTS = {"radgraph_combined": [0.2, 0.75], "bertscore": [0.35, 0.9], "sembscore": [0.6, 0.95]}

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": COMPONENTS},
        "result": {
            "radcliq_v1": 0.055939,
            "radcliq_v1_per_report": [1.026441, -0.914563],
            "inv_radcliq_v1": 17.87664,
            "inv_radcliq_v1_per_report": [None, None],
            "n_undefined": 0,
        },
    },
    {
        "predictions": ["Mild edema.", "", "Scar."],
        "references": ["Mild edema.", "Scar.", "Old scar."],
        "options": {
            "features": {
                "radgraph_combined": [0.5, 0.0, None],
                "bertscore": [1.0, -5.550157, 0.5],
                "sembscore": [1.0, 0.4, 0.5],
            },
            "convention": "corrected",
            "keys": ["radcliq_v1"],
        },
        "result": {"radcliq_v1_per_report": [-1.44069, 2.450143, None], "n_empty": 1, "n_undefined": 1},
    },
]
