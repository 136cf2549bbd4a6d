"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Pacemaker in place.", "A right PICC."]
REFERENCES = ["Clear lungs.", "A central venous catheter."]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {},
        "result": {"invented_device": 0.5, "invented_device_per_report": [1.0, 0.0], "n_undefined": 0},
    },
    {
        "predictions": ["Sternal wires.", "No pacemaker."],
        "references": ["Median sternotomy.", "Clear lungs."],
        "options": {},
        "result": {"invented_device": 0.0, "invented_device_per_report": [0.0, 0.0], "n_undefined": 0},
    },
    {
        "predictions": ["Sternal wires.", "No pacemaker."],
        "references": ["Median sternotomy.", "Clear lungs."],
        "options": {"convention": "corrected"},
        "result": {"invented_device": 0.0, "invented_device_per_report": [0.0, 0.0]},
    },
]
