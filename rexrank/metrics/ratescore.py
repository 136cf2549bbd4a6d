"""RaTEScore: entities of two reports matched by meaning, weighed by their types.

RaTE-NER finds the entities of a report, of the types ABNORMALITY, NON-ABNORMALITY, DISEASE,
NON-DISEASE and ANATOMY, and BioLORD turns each into a vector. Each entity e of one report
meets the most similar entity e' of the other (of equally similar ones the first). With their
cosine c, the affinity w of the type of e to the type of e', and g = 1, or the penalty where
one type is DISEASE or ABNORMALITY and the other NON-DISEASE or NON-ABNORMALITY,

    directed = sum of c · w · g / sum of w

and a study scores the harmonic mean of the two directions, 0 where both are 0; the aggregate
is the mean of studies. Affinities and penalty come from one of two tables, ``long`` (default)
or ``short``, which were fitted to long and to short texts. Of several references the best
counts.

- `published`: .5 where either report has no entity. Negative cosines go in as they are, so a
  score can leave [0, 1]. Entities of sentences with less than three characters do not count,
  nor one that the end of its sentence leaves open and another adjoins.
- `corrected`: all entities count. A directed score below 0 counts 0, so scores are in [0, 1].
  Only one report with entities: 0; neither, and other words: null, ``no_content``.

A failed encoder is null, ``failed``. A blank report scores 0 in `corrected`.
Source: Zhao et al., EMNLP 2024; RaTEScore 0.6.0, github.com/MAGIC-AI4Med/RaTEScore.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rexrank.errors import shown
from rexrank.metrics.encoded import FAILED, read_numbers, read_studies
from rexrank.metrics.features import TextFeatures
from rexrank.metrics.inputs import InvalidCall, check_choice
from rexrank.metrics.outcome import Floats, Outcome
from rexrank.metrics.pairs import Integers, Pairs
from rexrank.metrics.registry import Example, Metric, Option, ScoreKey
from rexrank.terms import CONVENTIONS, Convention

TYPES = ("ABNORMALITY", "NON-ABNORMALITY", "DISEASE", "NON-DISEASE", "ANATOMY")

_FEATURE = "ratescore_entities"
_PRESENT = ("ABNORMALITY", "DISEASE")
_ABSENT = ("NON-ABNORMALITY", "NON-DISEASE")
_WITHOUT_ENTITIES = 0.5
# Cosines of equal vectors differ in their last digits, by where they stand in a product of matrices.
_EQUAL = 1e-12


class Entity(NamedTuple):
    """One entity of a report.

    Attributes:
        text: Its words, for readers; the score does not look at them.
        type: One of `TYPES`.
        vector: Its embedding, [d], of any length but not all zeros; all entities of a call have the same d.
    """

    text: str
    type: str
    vector: ArrayLike


class Affinity(NamedTuple):
    """How much a match of two entities counts, by the types of the entity and of the one that it meets.

    Attributes:
        weights: Weights w, [5, 5], in the order of `TYPES`.
        factors: Factors g, [5, 5]: the penalty where one type says present and the other absent, else 1.
    """

    weights: Floats
    factors: Floats


def _affinity(penalty: float, *weights: Sequence[float]) -> Affinity:
    factors = np.ones((len(TYPES), len(TYPES)))
    for present in map(TYPES.index, _PRESENT):
        for absent in map(TYPES.index, _ABSENT):
            factors[present, absent] = factors[absent, present] = penalty
    return Affinity(np.array(weights), factors)


# MAGIC-AI4Med/RaTEScore, commit a970406 (MIT licence), affinity_matrix/long_weight.json and short_weight.json.
AFFINITIES: Mapping[str, Affinity] = {
    "long": _affinity(
        0.8716553966489615,
        (0.4276119164393705, 0.5431049700217344, 0.0034478181112993847, 0.27005425386213877, 0.6240929990607657),
        (0.16546764653692908, 0.0009357166071730684, 0.719397354576018, 0.0927333564267591, 0.018670610691852826),
        (0.8396510075734789, 0.9820689020512646, 0.8460555030578727, 0.3789136708096537, 0.9950209388542061),
        (0.7759420231214385, 0.03860183811876373, 0.10073046076318157, 0.34065681486566446, 0.1839139293714062),
        (0.7487824274337533, 0.02097055139911715, 0.4592143222158069, 0.00013736314126696204, 0.2856134859160784),
    ),
    "short": _affinity(
        0.3611577852354489,
        (0.4070293318365468, 0.9479148658006686, 0.28342529466226446, 0.23875064111146294, 0.6952639610605605),
        (0.1712744286898638, 0.0007887930317199857, 0.00045065329822896076, 0.8555432840895761, 0.4485149671497294),
        (0.8840397619834857, 0.6962283914800402, 0.19018958438059513, 0.943727057946997, 0.9637659445696822),
        (0.9555801066212176, 0.05650711141169969, 0.6072996585919443, 0.3214769399791204, 0.13122106162635216),
        (0.5829759950441763, 0.794672584951181, 0.0006059634829551632, 0.27982942400798977, 0.7709590751917746),
    ),
}


@dataclass(frozen=True)
class Entities:
    """The entities of one report, as numbers.

    Attributes:
        types: Numbers of their types, int64 [m].
        vectors: Their directions, float64 [m, d].
    """

    types: Integers
    vectors: Floats

    def __len__(self) -> int:
        return len(self.types)


def score(prediction: Sequence[Entity], reference: Sequence[Entity], affinity: str, convention: Convention) -> float:
    """RaTEScore of one pair of reports.

    Args:
        prediction: Entities of the prediction.
        reference: Entities of the reference.
        affinity: ``long`` or ``short``.
        convention: ``published`` or ``corrected``.

    Returns:
        The score; nan in `corrected` where neither report has an entity.

    Raises:
        InvalidCall: An entity of another form, or an unknown affinity or convention.
    """
    table = AFFINITIES[check_choice("affinity", affinity, tuple(AFFINITIES))]
    check_choice("convention", convention, CONVENTIONS)
    return _score(_read(prediction, "prediction"), _read(reference, "reference"), table, convention, "prediction")


def _score(prediction: Entities, reference: Entities, affinity: Affinity, convention: Convention, where: str) -> float:
    if not len(prediction) or not len(reference):
        if convention == "published":
            return _WITHOUT_ENTITIES
        return 0.0 if len(prediction) or len(reference) else np.nan
    if prediction.vectors.shape[1] != reference.vectors.shape[1]:
        raise InvalidCall(
            f"{where}: the vectors have {prediction.vectors.shape[1]} numbers and those of its reference "
            f"{reference.vectors.shape[1]}; encode both alike"
        )
    similarities = prediction.vectors @ reference.vectors.T
    precision = _directed(similarities, prediction.types, reference.types, affinity)
    recall = _directed(similarities.T, reference.types, prediction.types, affinity)
    if convention == "corrected":
        precision, recall = max(precision, 0.0), max(recall, 0.0)
    mean = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return min(mean, 1.0) if convention == "corrected" else mean


def _directed(similarities: Floats, types: Integers, other_types: Integers, affinity: Affinity) -> float:
    """Score of the entities of one report against those of the other, whose cosines are [m, k]."""
    nearest = (similarities >= similarities.max(axis=1, keepdims=True) - _EQUAL).argmax(axis=1)
    met = types, other_types[nearest]
    weights = affinity.weights[met]
    gains = similarities[np.arange(len(types)), nearest] * weights * affinity.factors[met]
    return float(gains.sum() / weights.sum())


def _read(item: Any, where: str) -> Entities:
    if isinstance(item, str | bytes | Mapping) or not isinstance(item, Sequence):
        raise InvalidCall(f"{where}: expected a list of entities, got {type(item).__name__}")
    types: list[int] = []
    vectors: list[NDArray[Any]] = []
    for index, entity in enumerate(item):
        kind, vector = _type_and_vector(entity, f"{where}[{index}]")
        if not isinstance(kind, str) or kind not in TYPES:
            raise InvalidCall(f"{where}[{index}].type: expected one of {', '.join(TYPES)}, got {shown(kind)}")
        types.append(TYPES.index(kind))
        vectors.append(read_numbers(vector, f"{where}[{index}].vector", "d"))
    if len({len(vector) for vector in vectors}) > 1:
        raise InvalidCall(f"{where}: the entities have vectors of several lengths; encode all alike")
    directions = _directions(np.array(vectors, dtype=np.float64), where) if vectors else np.empty((0, 0))
    return Entities(np.array(types, dtype=np.int64), directions)


def _type_and_vector(entity: Any, where: str) -> tuple[Any, Any]:
    """The parts of an entity that count, from an `Entity` or from its fields as JSON has them."""
    if isinstance(entity, Mapping):
        if absent := [field for field in ("type", "vector") if field not in entity]:
            raise InvalidCall(f"{where}: the entity has no {' and no '.join(absent)}")
        return entity["type"], entity["vector"]
    if not isinstance(entity, tuple) or len(entity) != len(Entity._fields):
        raise InvalidCall(
            f'{where}: expected {{"text": …, "type": …, "vector": […]}} or an Entity, got {type(entity).__name__}'
        )
    _, kind, vector = entity
    return kind, vector


def _directions(vectors: Floats, where: str) -> Floats:
    """The vectors with a length of 1, [m, d]."""
    largest = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True)
    wrong = ~np.isfinite(largest) | (largest == 0)
    if wrong.any():
        place = f"{where}[{int(wrong.argmax())}].vector"
        raise InvalidCall(f"{place}: expected finite numbers that are not all 0")
    scaled: Floats = vectors / largest  # so that no square overflows or vanishes
    return scaled / np.sqrt((scaled**2).sum(axis=1, keepdims=True))


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    name = check_choice("affinity", options.get("affinity", "long"), tuple(AFFINITIES))
    blank = _read([], "") if convention == "corrected" else None
    values = np.full(len(pairs), np.nan)
    predicted, referred = np.ones((2, len(pairs)), dtype=bool)
    reasons: dict[int, str] = {}
    for position, study in enumerate(read_studies(pairs, _FEATURE, _read, blank)):
        if study is None:
            reasons[position] = FAILED
            continue
        prediction, references = study
        where = f"features[{_FEATURE!r}].predictions[{position}]"
        scores = [_score(prediction, reference, AFFINITIES[name], convention, where) for reference in references]
        values[position] = np.fmax.reduce(scores)  # the best; nan only where all are
        predicted[position], referred[position] = len(prediction) > 0, any(map(len, references))
    return {_KEY: Outcome(values, {"affinity": name}, predicted, referred, reasons=reasons)}


def _example(prediction: Sequence[Entity], reference: Sequence[Entity]) -> Mapping[str, Any]:
    return {_FEATURE: TextFeatures([prediction], [[reference]])}


_KEY = "ratescore"
_ENTITY = Entity("effusion", "ABNORMALITY", (1.0, 0.0))

METRIC = Metric(
    name="ratescore",
    version="2",
    keys=(
        ScoreKey(
            key=_KEY,
            label="RaTEScore",
            direction="higher",
            ranges={"published": (None, None), "corrected": (0.0, 1.0)},
            kind="mean",
            digits=3,
            modality=("any",),
            language=("en",),
            description="Harmonic mean of two weighted mean similarities of entities; mean of studies.",
            needs=(_FEATURE,),
            blank={"published": 0.0, "corrected": 0.0},
            perfect={"published": 1.0, "corrected": 1.0},
        ),
    ),
    compute=_compute,
    source="Zhao et al., EMNLP 2024; RaTEScore 0.6.0, github.com/MAGIC-AI4Med/RaTEScore",
    options=(Option("affinity", "long or short", "long", "The table of affinities and the penalty."),),
    english_only=True,
    examples=(
        Example("Seen.", "Effusion.", _example([], [_ENTITY]), note="an entity was found in the reference alone"),
        Example("Seen.", "Unchanged.", _example([], []), note="no entity was found in either"),
    ),
    faults=(
        "The package drops a report without a sentence of three characters from its list, so all later pairs meet "
        "the wrong partner and the list of scores is shorter; here that study alone is concerned.",
        "The package gives .5 to a report in which nothing was found.",
        "Where the same words have several types in a report, the package lets an entity meet any of them, by the last "
        "digits of its arithmetic; here it is the first.",
        "The package fails without CUDA unless told so, and cannot run beside numpy 2.",
        "RadEval's copy returns three things where the package returns one.",
    ),
)
