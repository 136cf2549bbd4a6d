"""RadGraph rewards: F1 of the entities and relations that two reports have in common.

Each report is a graph: entities with tokens and a label (kind and certainty), and
typed relations between them. A graph is taken as a set, so duplicates count once, and two
graphs score F1 = 2 P R / (P + R), 0 where P + R = 0. An entity contributes

- ``radgraph_simple``: (tokens, label);
- ``radgraph_partial``: (tokens, label, whether it has a relation); papers report this
  one as "F1-RadGraph";
- ``radgraph_complete``: without relations (tokens, label), else for each relation
  (tokens, label, type, tokens of the target);
- ``radgraph_combined``: the mean of the F1 of ``radgraph_simple`` and the F1 of
  ((tokens, label), (tokens, label) of the target, type). It is RadCliQ's component, on
  graphs of the first RadGraph model; the others take graphs of RadGraph-XL.

`published`: tokens as in the text, and only the relations of ``radgraph_complete`` in
lower case, as release 0.1.18 of the package has it (signature ``case:0.1.18``);
``lower_case=True`` puts all tokens into lower case, as its development version does
(``case:fold``). A graph without entities, or a blank text, scores 0.

`corrected`: case is folded everywhere; where neither side has a relation
``radgraph_combined`` is the F1 of the entities alone; two graphs without entities
have no score.

Of several references the best counts; the aggregate is the mean of studies. Range [0, 1]; a
blank report scores 0. Graphs: Jain et al., NeurIPS Datasets and Benchmarks 2021;
rewards: Delbrouck et al., Findings of EMNLP 2022 and github.com/Stanford-AIMI/radgraph;
``radgraph_combined``: Yu et al., Patterns 2023 and
github.com/rajpurkarlab/CXR-Report-Metric.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rexrank.errors import shown
from rexrank.metrics.encoded import FAILED, read_studies
from rexrank.metrics.features import TextFeatures
from rexrank.metrics.inputs import InvalidCall, check_choice, check_flag
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, Option, ScoreKey
from rexrank.terms import CONVENTIONS, Convention

Level = Literal["simple", "partial", "complete", "combined"]
LEVELS: tuple[Level, ...] = get_args(Level)

_PREFIX = "radgraph_"
_MODELS = {"v1": "radgraph_v1_graphs", "xl": "radgraph_xl_graphs", "modern": "radgraph_modern_graphs"}
_XL, _V1 = _MODELS["xl"], _MODELS["v1"]
_LEVEL_OF = {f"{_PREFIX}{level}": level for level in LEVELS}
_COMBINED = f"{_PREFIX}combined"

Fold = Callable[[str], str]


class _Relation(NamedTuple):
    kind: str
    tokens: str
    label: str


class _Entity(NamedTuple):
    tokens: str
    label: str
    relations: tuple[_Relation, ...]


Graph = tuple[_Entity, ...]
_EMPTY: Graph = ()


class _Case(NamedTuple):
    """How tokens are compared: in general, and in the relations of the level `complete`."""

    general: Fold
    relations: Fold


def reward(
    prediction_graph: Mapping[str, Any],
    reference_graph: Mapping[str, Any],
    level: Level,
    convention: Convention,
    lower_case: bool = False,
) -> float | None:
    """Score the graph of a prediction against that of its reference.

    Args:
        prediction_graph: Annotation of the radgraph package: ``{"entities": {"1": {"tokens": …, "label": …,
            "relations": [[type, id], …]}, …}}``, or the entities alone; further fields are not looked at.
        reference_graph: The same of the reference.
        level: ``simple``, ``partial``, ``complete`` or ``combined``.
        convention: ``published`` or ``corrected``.
        lower_case: Whether `published` compares in lower case, as the package's development version does;
            `corrected` always folds case.

    Returns:
        The score in [0, 1]; None in `corrected` where both graphs are without entities.

    Raises:
        InvalidCall: A graph has another form, or an option another value; names the entity, never its tokens.
    """
    check_choice("level", level, LEVELS)
    check_choice("convention", convention, CONVENTIONS)
    case = _case(convention, check_flag("lower_case", lower_case))
    prediction = _read_graph(prediction_graph, "prediction_graph")
    return _reward(prediction, _read_graph(reference_graph, "reference_graph"), level, convention, case)


def _reward(prediction: Graph, reference: Graph, level: Level, convention: Convention, case: _Case) -> float | None:
    if convention == "corrected" and not prediction and not reference:
        return None
    if level == "combined":
        return _combined(prediction, reference, convention, case)
    return _f1(_elements(prediction, level, case), _elements(reference, level, case))


def _combined(prediction: Graph, reference: Graph, convention: Convention, case: _Case) -> float:
    entities = _f1(_elements(prediction, "simple", case), _elements(reference, "simple", case))
    predicted, referred = _links(prediction, case), _links(reference, case)
    if convention == "corrected" and not predicted and not referred:
        return entities
    return (entities + _f1(predicted, referred)) / 2


def _elements(graph: Graph, level: Level, case: _Case) -> Set[tuple[str | bool, ...]]:
    if level == "simple":
        return {(case.general(entity.tokens), entity.label) for entity in graph}
    if level == "partial":
        return {(case.general(entity.tokens), entity.label, bool(entity.relations)) for entity in graph}
    alone = {(case.general(entity.tokens), entity.label) for entity in graph if not entity.relations}
    fold = case.relations
    return alone | {
        (fold(entity.tokens), entity.label, relation.kind, fold(relation.tokens))
        for entity in graph
        for relation in entity.relations
    }


def _links(graph: Graph, case: _Case) -> Set[tuple[str, ...]]:
    """Relations with the labels of both ends."""
    fold = case.general
    return {
        (fold(entity.tokens), entity.label, fold(relation.tokens), relation.label, relation.kind)
        for entity in graph
        for relation in entity.relations
    }


def _f1(prediction: Set[tuple[Any, ...]], reference: Set[tuple[Any, ...]]) -> float:
    common = len(prediction & reference)
    if not common:
        return 0.0
    precision, recall = common / len(prediction), common / len(reference)
    return 2 * precision * recall / (precision + recall)


def _case(convention: Convention, lower_case: bool) -> _Case:
    if convention == "corrected":
        return _Case(str.casefold, str.casefold)
    return _Case(str.lower if lower_case else str, str.lower)


def _read_graph(graph: Any, where: str) -> Graph:
    if not isinstance(graph, Mapping):
        raise InvalidCall(f"{where}: expected a graph as the radgraph package writes it, got {type(graph).__name__}")
    entities = graph.get("entities", graph)
    if not isinstance(entities, Mapping):
        raise InvalidCall(f"{where}: expected entities by their ids, got {type(entities).__name__}")
    for number, entity in entities.items():
        _check_entity(number, entity, where)
    return tuple(
        _Entity(entity["tokens"], entity["label"], _relations(number, entity, entities, where))
        for number, entity in entities.items()
    )


def _check_entity(number: Any, entity: Any, where: str) -> None:
    if not isinstance(entity, Mapping):
        raise _wrong(where, number, f": expected tokens, label and relations, got {type(entity).__name__}")
    for field in ("tokens", "label"):
        if not isinstance(entity.get(field), str):
            raise _wrong(where, number, f": {field} has to be a text, and is {_kind(entity, field)}")
    if not isinstance(entity.get("relations"), list | tuple):
        raise _wrong(where, number, f": relations has to be a list, and is {_kind(entity, 'relations')}")


def _relations(
    number: Any, entity: Mapping[str, Any], entities: Mapping[Any, Any], where: str
) -> tuple[_Relation, ...]:
    relations = []
    for index, pair in enumerate(entity["relations"]):
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise _wrong(where, number, f", relations[{index}]: expected [type, id of the target], got something else")
        kind, target = pair
        if not isinstance(target, str | int) or target not in entities:
            raise _wrong(where, number, f", relations[{index}]: there is no entity {shown(target)} in this graph")
        relations.append(_Relation(kind, entities[target]["tokens"], entities[target]["label"]))
    return tuple(relations)


def _wrong(where: str, number: Any, fault: str) -> InvalidCall:
    return InvalidCall(f"{where}, entity {shown(number)}{fault}")


def _kind(entity: Mapping[str, Any], field: str) -> str:
    return f"of type {type(entity[field]).__name__}" if field in entity else "missing"


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    lower_case = check_flag("lower_case", options.get("lower_case", False))
    outcomes: dict[str, Outcome] = {}
    for model, feature in _MODELS.items():
        levels = [_LEVEL_OF[key] for key in keys if _model_of(key, options) == model]
        if levels:
            outcomes |= _outcomes(pairs, model, feature, levels, convention, lower_case)
    return outcomes


def _model_of(key: str, options: Mapping[str, Any]) -> str:
    model = options.get("model") or ("v1" if key == _COMBINED else "xl")
    return check_choice("model", model, tuple(_MODELS))


def _needs_of(score_key: ScoreKey, options: Mapping[str, Any]) -> tuple[str, ...]:
    return (_MODELS[_model_of(score_key.key, options)],)


def _outcomes(
    pairs: Pairs, model: str, feature: str, levels: Sequence[Level], convention: Convention, lower_case: bool
) -> dict[str, Outcome]:
    """Rewards of the graphs of one model."""
    case = _case(convention, lower_case)
    values = np.full((len(levels), len(pairs)), np.nan)
    predicted, referred = np.ones((2, len(pairs)), dtype=bool)
    reasons: dict[int, str] = {}
    for position, study in enumerate(read_studies(pairs, feature, _read_graph, blank=_EMPTY)):
        if study is None:
            reasons[position] = FAILED
            continue
        prediction, references = study
        predicted[position], referred[position] = bool(prediction), any(references)
        for row, level in enumerate(levels):
            values[row, position] = _best(prediction, references, level, convention, case)
    signature = {
        "model": model,
        "case": "fold" if lower_case or convention == "corrected" else "0.1.18",
        "dup": "set",
        "w": "unverified",
    }
    return {
        f"{_PREFIX}{level}": Outcome(values[row], {"level": level} | signature, predicted, referred, reasons=reasons)
        for row, level in enumerate(levels)
    }


def _best(prediction: Graph, references: Sequence[Graph], level: Level, convention: Convention, case: _Case) -> float:
    rewards = [_reward(prediction, reference, level, convention, case) for reference in references]
    return max((value for value in rewards if value is not None), default=np.nan)


def _key(level: Level, label: str, needs: str, modality: tuple[str, ...], description: str) -> ScoreKey:
    return ScoreKey(
        key=f"{_PREFIX}{level}",
        label=label,
        direction="higher",
        ranges=UNIT_RANGES,
        kind="mean",
        digits=3,
        modality=modality,
        language=("en",),
        description=description,
        needs=(needs,),
    )


def _graph(*entities: tuple[str, str]) -> Mapping[str, Any]:
    return {
        "entities": {
            str(number): {"tokens": tokens, "label": label, "relations": []}
            for number, (tokens, label) in enumerate(entities, start=1)
        }
    }


def _example(prediction: str, reference: str, predicted: Any, referred: Any, note: str) -> Example:
    graphs = TextFeatures([predicted], [[referred]])
    return Example(prediction, reference, {_XL: graphs, _V1: graphs}, note=note)


# What each model was trained on.
_XL_MODALITIES, _V1_MODALITIES = ("CXR", "CT", "MR"), ("CXR",)
_PRESENT = "Observation::definitely present"

METRIC = Metric(
    name="radgraph",
    version="1",
    keys=(
        _key("simple", "RadGraph (simple)", _XL, _XL_MODALITIES, "F1 of entities with their labels; mean of studies."),
        _key(
            "partial",
            "RadGraph (partial)",
            _XL,
            _XL_MODALITIES,
            "F1 of entities with their labels and whether they have a relation; mean of studies.",
        ),
        _key(
            "complete",
            "RadGraph (complete)",
            _XL,
            _XL_MODALITIES,
            "F1 of entities with their labels and relations; mean of studies.",
        ),
        _key(
            "combined",
            "RadGraph (combined)",
            _V1,
            _V1_MODALITIES,
            "Mean of the F1 of entities and the F1 of relations; RadCliQ's.",
        ),
    ),
    compute=_compute,
    source=(
        "Jain et al., NeurIPS Datasets and Benchmarks 2021; Delbrouck et al., Findings of EMNLP 2022; "
        "github.com/Stanford-AIMI/radgraph 0.1.18; github.com/rajpurkarlab/CXR-Report-Metric"
    ),
    options=(
        Option(
            "model",
            "v1, xl or modern",
            "xl; v1 for `radgraph_combined`",
            "Which RadGraph model reads the reports: the first one, RadGraph-XL, or the one on ModernBERT.",
        ),
        Option(
            "lower_case",
            "True or False",
            "False in `published`; `corrected` always folds case",
            "Whether tokens are compared in lower case, as the package's development version does.",
        ),
    ),
    needs_of=_needs_of,
    english_only=True,
    examples=(
        _example(
            "Nodule.",
            "Nodule, scar.",
            _graph(("Nodule", _PRESENT)),
            _graph(("nodule", _PRESENT), ("scar", _PRESENT)),
            "the entities are Nodule, and nodule and scar; no relations",
        ),
        _example(
            *("Scar", "Scar", _graph(("Scar", _PRESENT)), _graph(("Scar", _PRESENT))), "one equal entity, no relation"
        ),
        _example("As before.", "No comparison.", _graph(), _graph(), "no entity was found in either"),
    ),
    faults=(
        "radgraph 0.1.18 compares case-sensitively and its development version does not: they differ on more than a "
        "third of real pairs, by about a tenth of the mean.",
        "radgraph fails for a whole batch where one text is white space, never wraps a bare string of references and "
        "drops a report silently where its encoding fails.",
        "`combined` of CXR-Report-Metric is .5 for identical reports without relations; RadEval tests it as 1.",
        "CXR-Report-Metric skips blank reports and fails later with a KeyError; it cuts an id at its underscore and "
        "keeps the larger F1 of the studies that collapse.",
        'rad-metric\'s "radgraph f1" is the level `complete`, without saying so.',
    ),
)
