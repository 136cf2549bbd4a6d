"""Worked examples; each result holds the expected values to six digits."""

EFFUSION = {"text": "effusion", "type": "ABNORMALITY", "vector": [1.0, 0.0]}
NONE = {"text": "no effusion", "type": "NON-ABNORMALITY", "vector": [0.9, 0.43588989]}
PREDICTIONS = ["Effusion.", "As before."]
REFERENCES = ["No effusion.", "No effusion."]
ENTITIES = {"predictions": [[EFFUSION], []], "references": [[NONE], [NONE]]}

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"ratescore_entities": ENTITIES}},
        "result": {"ratescore": 0.642245, "ratescore_per_report": [0.78449, 0.5]},
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"ratescore_entities": ENTITIES}, "convention": "corrected"},
        "result": {"ratescore": 0.392245, "ratescore_per_report": [0.78449, 0.0]},
    },
    {
        "predictions": ["", "Effusion."],
        "references": ["Effusion.", "No effusion."],
        "options": {
            "features": {"ratescore_entities": {"predictions": [[], [EFFUSION]], "references": [[EFFUSION], [NONE]]}},
            "affinity": "short",
            "convention": "corrected",
        },
        "result": {"ratescore_per_report": [0.0, 0.325042], "n_empty": 1},
    },
]
