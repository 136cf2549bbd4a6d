"""Worked examples; each result holds the expected values to six digits."""

ANSWER = """[Clinically Significant Errors]:
(b) Missing a finding: 1. Old fracture

[Matched Findings]:
1. Effusion"""
PREDICTIONS = ["Small effusion.", "Clear lungs."]
REFERENCES = ["Small effusion. Old rib fracture.", "Lungs are clear."]
ANSWERS = [ANSWER, "I cannot compare these reports."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"green_completion": ANSWERS}},
        "result": {"green": 0.25, "green_per_report": [0.5, 0.0]},
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"green_completion": ANSWERS}, "convention": "corrected"},
        "result": {"green": 0.5, "green_per_report": [0.5, None], "n_undefined": 1},
    },
    {
        "predictions": ["", "Small effusion.", "Clear lungs."],
        "references": ["Old scar.", "Old scar.", "Old scar."],
        "options": {
            "features": {
                "green_completion": [ANSWER, None, "[Clinically Significant Errors]:\nNone\n[Matched Findings]:\n2"]
            },
            "convention": "corrected",
        },
        "result": {"green_per_report": [0.0, None, 1.0], "n_empty": 1, "n_undefined": 1},
    },
]
