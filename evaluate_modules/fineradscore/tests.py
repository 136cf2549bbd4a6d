"""Worked examples; each result holds the expected values to six digits."""

WRONG = {
    "1": {
        "corrections": "No effusion.",
        "clinical severity": "Urgent error",
        "comments": "There is none.",
        "error category": ["False prediction of finding"],
    }
}
PREDICTIONS = ["Lungs clear. Large effusion.", "Old scar."]
REFERENCES = ["Lungs clear. No effusion.", "Scar."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"fineradscore_answer": [WRONG, {}]}},
        "result": {
            "fineradscore": 1.5,
            "fineradscore_per_report": [3.0, 0.0],
            "fineradscore_mean": 0.75,
            "inv_fineradscore": 0.666667,
            "inv_fineradscore_per_report": [None, None],
            "n_undefined": 0,
        },
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"fineradscore_answer": [{"7": WRONG["1"]}, "no JSON"]}},
        "result": {"fineradscore_per_report": [3.0, None], "n_undefined": 1},
    },
    {
        "predictions": ["", *PREDICTIONS],
        "references": ["Scar.", *REFERENCES],
        "options": {
            "features": {"fineradscore_answer": [{}, {"7": WRONG["1"]}, "Here it is: {}"]},
            "parser": "tolerant",
            "convention": "corrected",
            "keys": ["fineradscore"],
        },
        "result": {"fineradscore": 2.0, "fineradscore_per_report": [4.0, None, 0.0], "n_empty": 1},
    },
]
