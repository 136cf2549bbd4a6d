"""Worked examples; each result holds the expected values to six digits."""

EVALUATION = {
    "reference_findings": [
        {"id": "R1", "finding": "pneumothorax", "clinical_significance": "urgent"},
        {"id": "R2", "finding": "scar", "clinical_significance": "not_actionable_not_urgent"},
    ],
    "predicted_findings": [{"id": "P1", "finding": "pneumothorax", "clinical_significance": "urgent"}],
    "matched_findings": [{"ref_id": "R1", "pred_id": "P1"}],
    "errors": {
        "false_findings": [],
        "missing_findings": ["R2"],
        "attribute_errors": [{"ref_id": "R1", "pred_id": "P1", "severity": "significant", "error_types": ["location"]}],
    },
}
UNREADABLE = "I cannot compare these reports."
PREDICTIONS = ["Left pneumothorax.", "Nodule."]
REFERENCES = ["Right pneumothorax. Old scar.", "No nodule."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"crimson_evaluation": [EVALUATION, UNREADABLE]}},
        "result": {"crimson": 0.5333, "crimson_per_report": [0.5333, None], "n_undefined": 1},
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {
            "features": {"crimson_evaluation": [EVALUATION, {**EVALUATION, "errors": {}}]},
            "convention": "corrected",
        },
        "result": {"crimson": 0.533333, "crimson_per_report": [0.533333, None], "n_undefined": 1},
    },
    {
        "predictions": ["", "Nodule."],
        "references": ["Scar.", "Nodule."],
        "options": {"features": {"crimson_evaluation": [UNREADABLE, UNREADABLE]}, "convention": "corrected"},
        "result": {"crimson_per_report": [0.0, 1.0], "n_empty": 1},
    },
]
