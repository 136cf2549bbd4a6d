"""docs/metrics.md and docs/features.md explain what a reader meets: signatures, reasons, tokenisers, features."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from feature_makers import features_of

from rexrank.metrics import compute, metrics, score_keys
from rexrank.metrics.computation import KeyScores
from rexrank.metrics.documentation import features_table, is_number, markdown, scores_table
from rexrank.metrics.features import FEATURES, TextFeatures
from rexrank.metrics.outcome import REASONS
from rexrank.metrics.signature import PARTS

ROOT = Path(__file__).resolve().parents[1]
REPORT, OTHER, RUSSIAN = "Mild new edema. Heart is enlarged.", "No focal airspace disease.", "Лёгкие без очагов."
STUDIES = [
    *((REPORT, OTHER), ("", ""), ("", REPORT), (REPORT, ""), ("...", OTHER), ("...", "!!")),
    *((RUSSIAN, REPORT), (REPORT, RUSSIAN), (REPORT, REPORT), ("A nodule.", "Two nodules."), ("Scar.", "Old scar.")),
]
OPTIONS: dict[str, dict[str, Any]] = {
    "report_statistics": {"training": [REPORT]},
    "vqa": {"categories": ["one"] * len(STUDIES)},
}
POLICIES: list[dict[str, Any]] = [
    {"convention": "published", "on_unsupported_language": "undefined", "preparation": "findings-ref"},
    {"convention": "corrected"},
    {"convention": "corrected", "on_empty_prediction": "undefined", "on_empty_reference": "worst"},
]
# The Java program is not started here.
NAMES = [name for name in metrics() if name != "meteor"]


def scored(name: str, broken: bool, **options: Any) -> list[KeyScores]:
    """Scores of all keys of a metric, of features that stand for what an encoder may do wrong where asked."""
    predictions, references = map(list, zip(*STUDIES, strict=True))
    needs = dict.fromkeys(need for key in metrics()[name].keys for need in key.needs)
    features = features_of(needs, predictions, [[text] for text in references])
    keys = [key.key for key in metrics()[name].keys]
    if broken:
        features = {need: _broken(need, one) for need, one in features.items()}
    return list(compute(keys, predictions, references, features=features, **OPTIONS.get(name, {}), **options).values())


def _broken(name: str, given: Any) -> Any:
    """An encoder that failed for the first study, and something that nobody can score for the last two."""
    if isinstance(given, TextFeatures):
        predictions = [None, *given.predictions[1:]]
        if name == "chexbert_cls":
            predictions[-1] = np.zeros_like(given.predictions[-1])
        return TextFeatures(predictions, given.references)
    if name == "bertscore":
        return [None, *given[1:-1], -1e308]
    if name == "green_completion":
        nothing = "[Clinically Significant Errors]:\n(a) False: 0.\n\n[Matched Findings]:\nNone."
        return [None, *given[1:-2], "I cannot say.", nothing]
    if name == "finding_matches":
        weighs_none = {"reference_findings": [{"id": 1, "entailed": True}], "predicted_findings": []}
        return [None, *given[1:-2], weighs_none, given[-1]]
    return [None, *given[1:]]


@pytest.fixture(scope="module")
def reached() -> list[KeyScores]:
    with np.errstate(over="ignore"):
        found = [
            scores
            for name in NAMES
            for policy in POLICIES
            for broken in (False, True)
            for scores in scored(name, broken, **policy)
        ]
    several = compute("bleu2", [REPORT], [[REPORT, OTHER]])["bleu2"]
    return [*found, several, compute("cider", ["A scar."], ["The scar."], "corrected")["cider"]]


def test_every_part_of_a_signature_is_explained(reached: list[KeyScores]) -> None:
    parts = {part.split(":")[0] for scores in reached for part in scores.signature.split("|")[1:]}
    # Features that are given say nothing of the encoder; `rexrank.scoring` adds this where one ran.
    assert parts | {"dtype"} == set(PARTS)


def test_every_reason_is_explained(reached: list[KeyScores]) -> None:
    assert {reason for scores in reached for reason in scores.reasons.values()} == set(REASONS)


def test_the_page_of_metrics_explains_what_is_met(reached: list[KeyScores]) -> None:
    page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    introduction = page.partition("\n## bertscore")[0]
    assert "{" not in introduction.replace("`{", "")
    for name, what in {**PARTS, **REASONS}.items():
        assert f"\n| `{name}` | {what} |" in introduction
    tokenisers = {part[4:] for scores in reached for part in scores.signature.split("|") if part.startswith("tok:")}
    for name in {*tokenisers, "meteor-norm"}:
        assert f"\n| `{name}` | " in introduction


def test_names_in_papers_lead_to_keys() -> None:
    introduction = markdown_or_page().partition("## Tokenisers")[0]
    rows = introduction.partition("| in papers | key |\n| --- | --- |\n")[2].splitlines()
    named = [name for row in rows for name in re.findall(r"`([a-z0-9_]+)`", row)]
    assert len(named) > 20
    assert set(named) - {"rouge_score"} <= set(score_keys())


@cache
def markdown_or_page() -> str:
    """The page as it is written now, or as it stands where METEOR's Java is not here."""
    lacking = any(found.missing and found.missing() for found in metrics().values())
    return (ROOT / "docs/metrics.md").read_text(encoding="utf-8") if lacking else markdown()


def test_the_page_of_features_holds_their_table() -> None:
    page = (ROOT / "docs/features.md").read_text(encoding="utf-8")
    assert features_table() in page, "docs/features.md: put rexrank.metrics.documentation.features_table() there anew"
    assert all(f"| `{name}` | {feature.made_by} |" in page for name, feature in FEATURES.items())
    for anchor in re.findall(r"metrics\.md#([a-z-]+)", page):
        heads = re.findall(r"^## (.+)$", markdown_or_page(), re.MULTILINE)
        assert anchor in [head.lower().replace(" ", "-") for head in heads]


def test_examples_say_what_their_features_say() -> None:
    for metric in metrics().values():
        notes = [example.note for example in metric.examples]
        assert len(set(filter(None, notes))) == len(list(filter(None, notes))), metric.name
        for example in metric.examples:
            assert bool(example.note) == any(not is_number(one) for one in example.features.values()), metric.name


@pytest.mark.parametrize("name", ["f1labels", "f1chexbert"])
def test_labels_share_a_row(name: str) -> None:
    table = scores_table(metrics()[name])
    (row,) = [line for line in table.splitlines() if f"`{name}_<label>`" in line]
    labels = [key.key.removeprefix(f"{name}_") for key in metrics()[name].keys if key.family]
    assert len(labels) == 14
    assert f"F1 of the label `<label>`, which is one of {', '.join(f'`{label}`' for label in labels)}." in row
    others = [key for key in metrics()[name].keys if not key.family]
    assert len(table.splitlines()) == 2 + len(others) + 1
    assert all(f"| `{key.key}` |" in table for key in others)


def test_descriptions_of_scores_differ() -> None:
    for metric in metrics().values():
        described = [key.description for key in metric.keys]
        assert len(set(described)) == len(described), metric.name


def test_the_column_of_blank_reports_is_what_a_set_of_them_gets() -> None:
    for name in NAMES:
        table = scores_table(metrics()[name])
        texts = ["", ""], ["Mild edema. Stable heart.", "Old scar of the heart."]
        needs = dict.fromkeys(need for key in metrics()[name].keys for need in key.needs)
        features = features_of(needs, texts[0], [[text] for text in texts[1]])
        options = {"categories": ["one", "two"]} if name == "vqa" else {}
        keys = [key for key in metrics()[name].keys if key.direction != "none" and key.blank != "formula"]
        found = compute([key.key for key in keys], *texts, "corrected", features=features, **options) if keys else {}
        for key, scores in found.items():
            shown = re.search(rf"^\| `{key}` \|.* \| ([^|]+) \|$", table, re.MULTILINE)
            assert shown is not None
            assert scores.aggregate is not None
            assert f"{scores.aggregate:g}" == shown[1], key
