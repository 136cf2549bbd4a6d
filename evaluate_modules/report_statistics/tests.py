"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Clear lungs.", "Clear lungs.", "No acute disease."]
REFERENCES = ["Small effusion.", "Old rib fracture.", "Clear lungs."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"training": ["Clear lungs.", "Mild edema."]},
        "result": {
            "report_words": 2.333333,
            "report_words_per_report": [2.0, 2.0, 3.0],
            "report_distinct": 0.666667,
            "report_vocabulary": 5,
            "report_in_training": 0.666667,
            "report_in_training_per_report": [1.0, 1.0, 0.0],
            "reference_in_training": 0.333333,
            "n_undefined": 0,
        },
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"convention": "corrected"},
        "result": {
            "report_distinct": 0.666667,
            "reference_distinct": 1.0,
            "reference_words": 2.333333,
            "report_distinct_per_report": [None, None, None],
        },
    },
    {
        "predictions": ["", "Scar."],
        "references": [["Old scar.", "Scar."], ["Scar.", ""]],
        "options": {"keys": ["report_words", "reference_words"]},
        "result": {"report_words_per_report": [0.0, 1.0], "reference_words_per_report": [1.5, 0.5], "n_empty": 1},
    },
]
