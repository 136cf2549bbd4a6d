"""Worked examples; each result holds the expected values to six digits."""

PREDICTIONS = ["A", "(B)", "The answer is D.", "C"]
REFERENCES = ["A", "B", "D", "A"]
CATEGORIES = ["Presence Assessment", "Presence Assessment", "Negation Assessment", "Negation Assessment"]

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"categories": CATEGORIES},
        "result": {
            "vqa_accuracy_macro": 0.5,
            "vqa_accuracy_micro": 0.5,
            "vqa_accuracy_micro_per_report": [1.0, 1.0, 0.0, 0.0],
        },
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"categories": ["x", "y", "y", "y"], "convention": "corrected"},
        "result": {"vqa_accuracy_macro": 0.833333, "vqa_accuracy_micro": 0.75},
    },
    {
        "predictions": ["", "no effusion", "B. Effusion"],
        "references": [["A"], ["No effusion."], ["B"]],
        "options": {"choices": [["A. Edema", "B. Scar"], ["Effusion", "No effusion"], ["A. Edema", "B. Effusion"]]},
        "result": {"vqa_accuracy_micro": 0.333333, "vqa_accuracy_micro_per_report": [0.0, 0.0, 1.0], "n_empty": 1},
    },
]
