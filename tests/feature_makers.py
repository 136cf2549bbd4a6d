"""Invented features of texts, for metrics that need an encoder or a judge.

Everything follows from the words of the texts, so equal texts have equal features and
texts with common words have similar ones, whichever order and whichever neighbours they
come in. What an encoder would make of a blank text stands here too.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np

from rexrank.metrics.features import FEATURES, Features, TextFeatures
from rexrank.metrics.finding_matches import ERRORS, SIGNIFICANCES
from rexrank.metrics.fineradscore import lines
from rexrank.metrics.ratescore import TYPES, Entity

_WIDTH = 12
_LONGEST = 510
_GRAPH_LABELS = (
    "Anatomy::definitely present",
    "Observation::definitely present",
    "Observation::definitely absent",
    "Observation::uncertain",
)
_RELATIONS = ("located_at", "modify", "suggestive_of")
_SIGNIFICANCE = ("urgent", "actionable_not_urgent", "not_actionable_not_urgent", "benign_expected")
_SEVERITIES = ("Not actionable", "Actionable nonurgent error", "Urgent error", "Emergent error")


def features_of(
    names: Iterable[str], predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> dict[str, Features]:
    """Features of the names given, in the form that `rexrank.metrics.compute` takes."""
    made: dict[str, Features] = {}
    for name in names:
        if FEATURES[name].of == "pair":
            make_pair = PAIR_MAKERS[name]
            made[name] = [
                [make_pair(text, [one]) for one in texts] for text, texts in zip(predictions, references, strict=True)
            ]
        else:
            make = TEXT_MAKERS[name]
            made[name] = TextFeatures(
                [make(text) for text in predictions], [[make(text) for text in texts] for texts in references]
            )
    return made


def words(text: str) -> list[str]:
    """Words in lower case, as many as an encoder would read."""
    return re.findall(r"\w+", text.lower())[:_LONGEST]


@cache
def number(word: str, salt: str = "") -> int:
    """A whole number that follows from a word."""
    return int.from_bytes(sha256(f"{salt} {word}".encode()).digest()[:4])


@cache
def vector(word: str, salt: str) -> np.ndarray:
    """A vector that follows from a word."""
    made = np.random.default_rng(number(word, salt)).normal(size=_WIDTH)
    made.flags.writeable = False
    return made


def chexbert_labels(text: str) -> np.ndarray:
    labels = np.zeros(14, dtype=np.int8)
    for word in words(text):
        labels[number(word) % 14] = number(word, "code") % 4
    return labels


def chexbert_cls(text: str) -> np.ndarray:
    start = vector("[CLS]", "chexbert")
    return start + sum((vector(word, "chexbert") for word in words(text)), np.zeros(_WIDTH))


def token_vectors(salt: str) -> Callable[[str], np.ndarray]:
    def make(text: str) -> np.ndarray:
        return np.stack([vector(token, salt) for token in ("[CLS]", *words(text), "[SEP]")])

    return make


def graph(text: str) -> dict[str, Any]:
    found = words(text)
    entities: dict[str, Any] = {}
    for place, word in enumerate(found, start=1):
        linked = place < len(found) and number(word, "linked") % 2
        relations = [[_RELATIONS[number(word, "relation") % 3], str(place + 1)]] if linked else []
        label = _GRAPH_LABELS[number(word, "label") % len(_GRAPH_LABELS)]
        entities[str(place)] = {"tokens": word, "label": label, "relations": relations}
    return {"entities": entities}


def compared(prediction: str, references: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Words of both, of the prediction alone and of the references alone, in alphabetical order."""
    said, true = set(words(prediction)), {word for text in references for word in words(text)}
    return sorted(said & true), sorted(said - true), sorted(true - said)


def similarity(prediction: str, references: Sequence[str]) -> float:
    """Share of common words, 1 for equal texts and 0 where one has none."""
    common, false, missing = compared(prediction, references)
    return len(common) / max(1, len(common) + len(false) + len(missing))


def bertscore(prediction: str, references: Sequence[str]) -> float:
    return 2 * similarity(prediction, references) - 1


def green_completion(prediction: str, references: Sequence[str]) -> str:
    common, false, missing = compared(prediction, references)
    return (
        "[Explanation]:\nInvented.\n\n"
        "[Clinically Significant Errors]:\n"
        f"(a) False report of a finding: {len(false)}. invented\n(b) Missing a finding: {len(missing)}. invented\n\n"
        "[Clinically Insignificant Errors]:\n(a) False report of a finding: 0.\n\n"
        f"[Matched Findings]:\n{len(common)}. invented"
    )


def crimson_evaluation(prediction: str, references: Sequence[str]) -> dict[str, Any]:
    common, false, missing = compared(prediction, references)

    def findings(side: str, found: Sequence[str]) -> list[dict[str, str]]:
        significance = [_SIGNIFICANCE[number(word, "significance") % 4] for word in found]
        return [
            {"id": f"{side}{place}", "finding": word, "clinical_significance": weight}
            for place, (word, weight) in enumerate(zip(found, significance, strict=True), start=1)
        ]

    matched = [{"ref_id": f"R{place}", "pred_id": f"P{place}"} for place in range(1, len(common) + 1)]
    attributes = [
        {**pair, "severity": "significant", "error_types": ["location"], "explanation": "invented"}
        for pair, word in zip(matched, common, strict=True)
        if number(word, "attribute") % 4 == 0
    ]
    after = len(common) + 1
    return {
        "reference_findings": findings("R", [*common, *missing]),
        "predicted_findings": findings("P", [*common, *false]),
        "matched_findings": matched,
        "errors": {
            "false_findings": [f"P{after + place}" for place in range(len(false))],
            "missing_findings": [f"R{after + place}" for place in range(len(missing))],
            "attribute_errors": attributes,
        },
    }


def finding_matches(prediction: str, references: Sequence[str]) -> dict[str, Any]:
    """Each word is a finding; equal words match, some of them with an error."""
    common, false, missing = compared(prediction, references)

    def findings(side: str, found: Sequence[str]) -> list[dict[str, str]]:
        return [
            {"id": f"{side} {word}", "significance": SIGNIFICANCES[number(word, "significance") % 4]} for word in found
        ]

    return {
        "reference_findings": findings("R", [*common, *missing]),
        "predicted_findings": findings("P", [*common, *false]),
        "matches": [
            {"ref_id": f"R {word}", "pred_id": f"P {word}", "errors": ERRORS[number(word, "errors") % 3]}
            for word in common
        ],
    }


def fineradscore_answer(prediction: str, references: Sequence[str]) -> dict[str, Any]:
    """One correction for each line that can have one, and one insertion where the references say more."""
    _, false, missing = compared(prediction, references)
    wrong: dict[str, str] = {str(line): word for line, word in zip(range(len(lines(prediction))), false, strict=False)}
    if missing:
        wrong["None"] = missing[0]
    return {
        line: {
            "corrections": ["invented."],
            "clinical severity": _SEVERITIES[number(word, "severity") % 4],
            "comments": "invented",
            "error category": "False prediction of finding",
        }
        for line, word in wrong.items()
    }


def ratescore_entities(text: str) -> list[Entity]:
    return [Entity(word, TYPES[number(word, "entity") % len(TYPES)], vector(word, "biolord")) for word in words(text)]


def srrbert_labels(text: str) -> set[str]:
    return {f"label {number(word, 'srr') % 9}" for word in words(text) if number(word, "kept") % 3}


TEXT_MAKERS: Mapping[str, Callable[[str], Any]] = {
    "chexbert_labels": chexbert_labels,
    "chexbert_cls": chexbert_cls,
    "radgraph_xl_graphs": graph,
    "radgraph_v1_graphs": graph,
    "radgraph_modern_graphs": graph,
    "bertscore_tokens": token_vectors("distilroberta"),
    "minilm_tokens": token_vectors("minilm"),
    "ratescore_entities": ratescore_entities,
    "srrbert_labels": srrbert_labels,
}
PAIR_MAKERS: Mapping[str, Callable[[str, Sequence[str]], Any]] = {
    "radgraph_combined": similarity,
    "bertscore": bertscore,
    "sembscore": similarity,
    "green_completion": green_completion,
    "crimson_evaluation": crimson_evaluation,
    "fineradscore_answer": fineradscore_answer,
    "finding_matches": finding_matches,
}
