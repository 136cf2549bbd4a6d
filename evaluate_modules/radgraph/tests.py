"""Worked examples; each result holds the expected values to six digits."""

PRESENT = "Observation::definitely present"
NODULE = {
    "1": {"tokens": "Nodule", "label": PRESENT, "relations": [["located_at", "2"]]},
    "2": {"tokens": "apex", "label": "Anatomy::definitely present", "relations": []},
}
LOOSE = {
    "1": {"tokens": "nodule", "label": PRESENT, "relations": []},
    "2": {"tokens": "apex", "label": "Anatomy::definitely present", "relations": []},
}
EMPTY = {"entities": {}}
PREDICTIONS = ["Nodule in the apex.", "Apex, nodule."]
REFERENCES = ["A nodule: apex.", "Apex, nodule."]
GRAPHS = {"predictions": [NODULE, LOOSE], "references": [LOOSE, LOOSE]}

test_cases = [
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {"features": {"radgraph_xl_graphs": GRAPHS}},
        "result": {
            "radgraph_simple": 0.75,
            "radgraph_partial": 0.75,
            "radgraph_partial_per_report": [0.5, 1.0],
            "radgraph_complete": 0.75,
        },
    },
    {
        "predictions": PREDICTIONS,
        "references": REFERENCES,
        "options": {
            "features": {"radgraph_xl_graphs": GRAPHS, "radgraph_v1_graphs": GRAPHS},
            "convention": "corrected",
            "keys": ["radgraph_simple", "radgraph_combined"],
        },
        "result": {"radgraph_simple": 1.0, "radgraph_combined": 0.75, "radgraph_combined_per_report": [0.5, 1.0]},
    },
    {
        "predictions": ["", "As before."],
        "references": [["Nodule.", ""], ["No comparison.", "Unchanged."]],
        "options": {
            "features": {
                "radgraph_v1_graphs": {"predictions": [EMPTY, EMPTY], "references": [[LOOSE, EMPTY], [EMPTY, EMPTY]]}
            },
            "convention": "corrected",
        },
        "result": {"radgraph_combined_per_report": [0.0, None], "n_empty": 1, "n_undefined": 1},
    },
]
