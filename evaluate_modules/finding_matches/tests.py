"""Worked examples; each result holds the expected values to six digits."""

MATCHES = {
    "reference_findings": [
        {"id": "R1", "significance": "critical"},
        {"id": "R2", "significance": "notable"},
        {"id": "R3", "significance": "routine"},
    ],
    "predicted_findings": [
        {"id": "P1", "significance": "critical"},
        {"id": "P2", "significance": "urgent"},
        {"id": "P3", "significance": "notable"},
    ],
    "matches": [
        {"ref_id": "R1", "pred_id": "P1", "errors": "minor"},
        {"ref_id": "R3", "pred_id": "P2", "errors": "major"},
    ],
}
ENTAILED = {
    "reference_findings": [{"id": 1, "entailed": True}, {"id": 2, "entailed": True}],
    "predicted_findings": [{"id": 1, "entailed": True}, {"id": 2, "entailed": False}],
}
UNREADABLE = "I cannot compare these reports."
PREDICTIONS = ["Pneumothorax. Large heart. Nodule.", "Effusion. Scar."]
REFERENCES = ["Small pneumothorax. Old rib fracture. Normal heart.", "Pleural effusion, small."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"finding_matches": [MATCHES, ENTAILED]}},
        "result": {
            "findings_precision": 0.416667,
            "findings_recall": 0.666667,
            "findings_f1": 0.512821,
            "findings_recall_all": 0.6,
            "findings_recall_triage": 1.0,
            "findings_recall_triage_per_report": [1.0, None],
            "findings_misses_actionable": 1.0,
            "findings_false_actionable": 2.0,
            "findings_errors_actionable": 3.0,
        },
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"finding_matches": [UNREADABLE, ENTAILED]}, "convention": "corrected"},
        "result": {"findings_precision": 0.5, "findings_precision_per_report": [None, 0.5], "n_unparsed": 1},
    },
    {
        "predictions": ["", "Scar."],
        "references": ["Scar.", "Scar."],
        "options": {"features": {"finding_matches": [MATCHES, MATCHES]}, "convention": "corrected"},
        "result": {
            "findings_recall_per_report": [0.0, 1.0],
            "findings_misses_critical_per_report": [1.0, 0.0],
            "findings_false_all_per_report": [0.0, 0.0],
            "n_empty": 1,
        },
    },
]
