"""Worked examples; each result holds the expected values to six digits."""

END = [1.0, 0.0]
PREDICTIONS = ["Scar.", ""]
REFERENCES = ["Scars.", "Edema."]
VECTORS = {
    "predictions": [[END, [3.0, 4.0], END], [END, END]],
    "references": [[END, [2.0, 4.0], END], [END, [4.0, -3.0], END]],
}

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"bertscore_tokens": VECTORS}},
        "result": {"bertscore": -2.327906, "bertscore_per_report": [0.894345, -5.550157], "n_empty": 1},
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"bertscore_tokens": VECTORS}, "convention": "corrected"},
        "result": {"bertscore": 0.447173, "bertscore_per_report": [0.894345, 0.0]},
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"minilm_tokens": VECTORS}},
        "result": {"bertscore_minilm": 0.491935, "bertscore_minilm_per_report": [0.98387, 0.0]},
    },
]
