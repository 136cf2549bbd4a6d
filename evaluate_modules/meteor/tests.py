"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["Small left effusion.", "No rib fracture.", "right scar stable"]
REFERENCES = ["Small right effusion.", "rib fracture", "stable right scar"]
EACH = [0.312715, 0.454923, 0.446735]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {},
        "result": {
            "meteor": 0.394635,
            "meteor_corpus": 0.394635,
            "meteor_mean": 0.404791,
            "meteor_per_report": EACH,
            "n_empty": 0,
        },
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"convention": "corrected", "keys": ["meteor"]},
        "result": {
            "meteor": 0.404791,
            "meteor_per_report": EACH,
            "signature": "meteor|conv:corrected|tok:meteor-norm|impl:java1.5|agg:mean|v:1",
        },
    },
    {
        "predictions": ["", "Clear\nlungs ||| today"],
        "references": [["Clear lungs."], ["Clear lungs today", "No effusion."]],
        "options": {"keys": ["meteor_mean"]},
        "result": {"meteor_mean": 0.5, "meteor_mean_per_report": [0.0, 1.0], "n_empty": 1},
    },
]
