"""Comparing what an original gives for texts with what rexrank gives.

An original's answer is first put into a short form, which is also what tests keep: graphs as a digest with their sizes,
floats rounded. Texts and pairs are named by their place in the list, from 0; no text is ever shown.
"""

import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rexrank.labels import NAMES
from rexrank.metrics import TextFeatures, compute
from rexrank.metrics.bertscore import match
from rexrank.metrics.ratescore import Entity
from rexrank.reports.studies import is_blank
from rexrank.verification.ties import can_score

TOLERANCE = 1e-5
"""Largest difference of two numbers that counts as none; in a row with numbers beyond 1, as a part of the largest."""

Pair = tuple[str, str]
Answer = Mapping[str, Any]
Items = Mapping[str, Any]
"""What rexrank makes of each text, by the text."""

_DIGITS = 7
_DIGEST = 16
_ERROR = "error"
_LEVELS = ("simple", "partial", "complete")
_AVERAGES = {"micro": "micro avg", "macro": "macro avg", "weighted": "weighted avg", "samples": "samples avg"}
_CLASSES = ("blank", "positive", "negative", "uncertain")
# Below these, random weights or the texts say so little that equality proves nothing.
_LEAST_SHARE, _LEAST_SHARE_OF_RELATIONS = 0.5, 0.2
_LEAST_KINDS = 10
_LEAST_SPREAD = 0.001
_WITHOUT_SENTENCE = 0.5
_WHITE_SPACE = "the original fails on a report of white space alone"
_OPPOSED = (
    "P and R differ in sign, which real encoders never give; F is 0 here, and in the original what the formula gives"
)
_NO_ENTITIES = "the original drops a report that has no sentence of three characters"
_NO_SENTENCE = (
    "the original drops a report that has no sentence of three characters, so that a list gets fewer scores and later "
    "pairs the wrong partner; here such a pair has .5"
)
_EQUALLY_NEAR = (
    "an entity is as near to several of different types, and the original takes any of them, as its last digits fall; "
    "here it is the first"
)


@dataclass(frozen=True)
class Comparison:
    """One kind of output of one original beside ours.

    Attributes:
        what: What is compared (``graphs``).
        unit: What the numbers count: ``text``, ``pair`` or ``score``.
        compared: How many of them were.
        differences: Number and how it differs, of those that differ.
        largest: Largest difference of two numbers, as in `TOLERANCE`; None where things are equal or not.
        known: Documented faults of the original that are not compared, each with the numbers concerned.
        content: What occurs in what was compared, in words.
        hollow: Why their being equal would prove nothing, in words; empty where it does.
    """

    what: str
    unit: str
    compared: int
    differences: tuple[tuple[int, str], ...] = ()
    largest: float | None = None
    known: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    content: str = ""
    hollow: str = ""

    @property
    def equal(self) -> bool:
        """Whether all are equal and that proves something."""
        return self.compared > 0 and not self.differences and not self.hollow


def shortened(answer: Answer) -> dict[str, Any]:
    """The short form of an original's answer."""
    short = dict(answer)
    if "graphs" in short:
        short["graphs"] = [_unless_failed(_graph_form, one) for one in short["graphs"]]
    if "sentences" in short:
        short["sentences"] = [_unless_failed(len, one) for one in short["sentences"]]
    rounded: dict[str, Any] = _rounded(short)
    return rounded


def compare_radgraph(
    answer: Answer, items: Items, texts: Sequence[str], pairs: Sequence[Pair], model: str
) -> list[Comparison]:
    """Compare graphs and rewards.

    Args:
        answer: Short form of the answer.
        items: Graph of each text.
        texts: Texts of the job.
        pairs: Pairs of the job, prediction first.
        model: Option `model` of the metric (``xl``).
    """
    theirs, rewards = answer["graphs"], answer["rewards"]
    known = {_WHITE_SPACE: [at for at, text in enumerate(texts) if _failed(theirs[at]) and _is_white(text)]}
    ours = [_graph_form(items[text]["entities"]) for text in texts]
    graphs = _exact("graphs", "text", theirs, ours, _said_of_graphs, known)
    entities, relations = ([form[part] for form in theirs if not _failed(form)] for part in (0, 1))
    content = f"{sum(entities):,} entities, {sum(relations):,} relations"
    enough = _share(entities) >= _LEAST_SHARE and _share(relations) >= _LEAST_SHARE_OF_RELATIONS
    keys = [f"radgraph_{level}" for level in _LEVELS]
    features = {f"radgraph_{model}_graphs": _sides(pairs, items)}
    scores = compute(keys, *_split(pairs), features=features, model=model)
    values = np.stack([scores[key].values for key in keys], axis=1)
    known = {_WHITE_SPACE: [at for at, pair in enumerate(pairs) if _failed(rewards[at]) and any(map(_is_white, pair))]}
    return [_with_content(graphs, content, enough), _close("rewards", "pair", rewards, values, known)]


def compare_chexbert(
    answer: Answer, labels: Items, vectors: Items, texts: Sequence[str], pairs: Sequence[Pair]
) -> list[Comparison]:
    """Compare labels, [CLS] vectors, F1 and SembScore.

    Args:
        answer: Short form of the answer.
        labels: Codes of each text.
        vectors: [CLS] vector of each text.
        texts: Texts of the job.
        pairs: Pairs of the job, prediction first.
    """
    codes = answer["codes"]
    given = [code for row in codes if not _failed(row) for code in row]
    counts = np.bincount(np.array(given, dtype=np.int64), minlength=len(_CLASSES))
    content = ", ".join(f"{count:,} {name}" for count, name in zip(counts, _CLASSES, strict=True))
    named = _exact(
        "labels", "text", codes, [[int(code) for code in labels[text]] for text in texts], _said_of_labels, {}
    )
    return [
        _with_content(named, content, bool(counts.all()) and len({str(row) for row in codes}) >= _LEAST_KINDS),
        _close("[CLS] vectors", "text", answer["vectors"], np.array([vectors[text] for text in texts], np.float64)),
        _compare_f1(answer, labels, pairs),
        _compare_sembscore(answer, vectors, texts, pairs),
    ]


def _compare_f1(answer: Answer, labels: Items, pairs: Sequence[Pair]) -> Comparison:
    """The four averages of F1 over 14 and over 5 labels."""
    theirs = [[answer["reports"][count][name]["f1-score"]] for count in ("14", "5") for name in _AVERAGES.values()]
    keys = [f"f1chexbert_{average}_{count}" for count in ("14", "5") for average in _AVERAGES]
    scores = compute(keys, *_split(pairs), features={"chexbert_labels": _sides(pairs, labels)})
    return _close("F1", "score", theirs, np.array([[scores[key].aggregate] for key in keys], dtype=np.float64))


def _compare_sembscore(answer: Answer, vectors: Items, texts: Sequence[str], pairs: Sequence[Pair]) -> Comparison:
    """Cosines of the original's vectors, since the package has the vectors and no such score."""
    theirs = {text: _unless_failed(_unit, row) for text, row in zip(texts, answer["vectors"], strict=True)}
    cosines = [
        next((side for side in sides if _failed(side)), None) or [float(sides[0] @ sides[1])]
        for sides in ([theirs[text] for text in pair] for pair in pairs)
    ]
    score = compute("sembscore", *_split(pairs), features={"chexbert_cls": _sides(pairs, vectors)})["sembscore"]
    return _close("SembScore", "pair", cosines, score.values[:, None])


def compare_bertscore(answer: Answer, items: Items, pairs: Sequence[Pair], model: str) -> list[Comparison]:
    """Compare P, R and F, and F rescaled.

    Args:
        answer: Short form of the answer.
        items: Token vectors of each text.
        pairs: Pairs of the job, prediction first.
        model: Option `model` of the metric (``rexrank``).
    """
    theirs = answer["raw"]
    opposed = [at for at, one in enumerate(theirs) if not _failed(one) and (one[0] or 0.0) * (one[1] or 0.0) < 0]
    rows = [_unless_failed(_match_form, one) for one in theirs]
    ours = np.array([match(items[prediction], items[reference]) for prediction, reference in pairs])
    values = np.array([one[-1] for one in rows if not _failed(one) and one[-1]])
    spread = float(np.ptp(values)) if len(values) else 0.0
    raw = _with_content(_close("P, R, F", "pair", rows, ours), f"F spreads over {spread:.3f}", spread > _LEAST_SPREAD)
    raw = replace(raw, known=_places({_OPPOSED: opposed}))
    if not answer["rescaled"]:
        return [raw]
    first = pairs[: len(answer["rescaled"])]
    features = {"bertscore_tokens": _sides(first, items)}
    score = compute("bertscore", *_split(first), features=features, model=model, rescale=True)["bertscore"]
    rescaled = [_unless_failed(lambda one: [one[-1]], one) for one in answer["rescaled"]]
    known = {_OPPOSED: [at for at in opposed if at < len(first)]}
    return [raw, _close("F rescaled", "pair", rescaled, score.values[:, None], known)]


def compare_ratescore(answer: Answer, items: Items, texts: Sequence[str], pairs: Sequence[Pair]) -> list[Comparison]:
    """Compare entities and scores.

    Args:
        answer: Short form of the answer.
        items: Entities of each text.
        texts: Texts of the job.
        pairs: Pairs of the job, prediction first.
    """
    theirs = answer["entities"]
    without = {text for text, sentences in zip(texts, answer["sentences"], strict=True) if not sentences}
    known = {_NO_ENTITIES: [place for place, text in enumerate(texts) if _failed(theirs[place]) and text in without]}
    ours = [
        one if not _failed(one) and _same_entities(one, items[text]) else [entity[:2] for entity in items[text]]
        for one, text in zip(theirs, texts, strict=True)
    ]
    entities = _exact("entities", "text", theirs, ours, _said_of_entities, known)
    counts = [len(one) for one in theirs if not _failed(one)]
    entities = _with_content(entities, f"{sum(counts):,} entities", _share(counts) >= _LEAST_SHARE)
    return [entities, *(_compare_rate(answer, items, pairs, without, table) for table in ("long", "short"))]


def _compare_rate(answer: Answer, items: Items, pairs: Sequence[Pair], without: Set[str], table: str) -> Comparison:
    theirs = answer[table]
    pairs = pairs[: len(theirs)]
    left_out = [place for place, pair in enumerate(pairs) if _failed(theirs[place]) and not without.isdisjoint(pair)]
    score = compute("ratescore", *_split(pairs), features={"ratescore_entities": _sides(pairs, items)}, affinity=table)[
        "ratescore"
    ]
    # What stands in for a score that the original does not give is fixed, so it is compared too.
    rows = [
        [_WITHOUT_SENTENCE] if place in left_out else _unless_failed(lambda value: [value], value)
        for place, value in enumerate(theirs)
    ]
    made = _close(f"scores ({table})", "pair", rows, score.values[:, None])
    tied = []
    for place, _ in made.differences:
        one, other = (items[text] for text in pairs[place])
        if not _failed(theirs[place]) and can_score(theirs[place], one, other, table, TOLERANCE):
            tied.append(place)
    if tied:
        made = _close(made.what, "pair", rows, score.values[:, None], {_EQUALLY_NEAR: tied})
    return replace(made, known={**made.known, **_places({_NO_SENTENCE: left_out})})


def _same_entities(theirs: Sequence[Sequence[str]], ours: Sequence[Entity]) -> bool:
    """Whether types and words are the same; the original shows the pieces that its tokenizer makes of a word.

    These are in another Unicode form, and only a part of a character where the tokenizer takes one apart.
    """
    return len(theirs) == len(ours) and all(
        kind == entity.type and _canonical(words) in _canonical(entity.text)
        for (words, kind), entity in zip(theirs, ours, strict=True)
    )


def _canonical(words: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", words).split())


def _split(pairs: Sequence[Pair]) -> tuple[list[str], list[str]]:
    return [prediction for prediction, _ in pairs], [reference for _, reference in pairs]


def _sides(pairs: Sequence[Pair], items: Items) -> TextFeatures:
    return TextFeatures([items[prediction] for prediction, _ in pairs], [[items[reference]] for _, reference in pairs])


def _exact(
    what: str,
    unit: str,
    theirs: Sequence[Any],
    ours: Sequence[Any],
    said: Callable[[Any, Any], str],
    known: Mapping[str, Sequence[int]],
) -> Comparison:
    """Compare things that are equal or not."""
    aside = {place for places in known.values() for place in places}
    differences = [
        (place, _said_of_failure(one) if _failed(one) else said(one, other))
        for place, (one, other) in enumerate(zip(theirs, ours, strict=True))
        if place not in aside and one != other
    ]
    return Comparison(what, unit, len(theirs) - len(aside), tuple(differences), known=_places(known))


def _close(
    what: str,
    unit: str,
    theirs: Sequence[Any],
    ours: NDArray[np.float64],
    known: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> Comparison:
    """Compare rows of numbers; where the original has none, ours has to have none either."""
    aside = {place for places in known.values() for place in places}
    largest, differences = 0.0, []
    for place, (one, other) in enumerate(zip(theirs, ours, strict=True)):
        if place in aside:
            continue
        if _failed(one):
            differences.append((place, _said_of_failure(one)))
            continue
        row = np.array(one, dtype=np.float64)
        if row.shape != other.shape or (np.isnan(row) != np.isnan(other)).any():
            differences.append((place, f"original {_said_of_row(row)}, here {_said_of_row(other)}"))
            continue
        gap = float(np.nanmax(np.abs(row - other), initial=0.0) / np.nanmax(np.abs(row), initial=1.0))
        largest = max(largest, gap)
        if gap > TOLERANCE:
            differences.append((place, f"differs by {gap:.1e}"))
    return Comparison(what, unit, len(theirs) - len(aside), tuple(differences), largest, _places(known))


def _with_content(made: Comparison, content: str, enough: bool) -> Comparison:
    return replace(made, content=content, hollow="" if enough else f"too little occurs in it ({content})")


def _places(known: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    return {why: tuple(places) for why, places in known.items() if places}


def _match_form(scores: Sequence[float | None]) -> list[float]:
    """P, R and F as they are here; where a text has no token, P and R of some encoders are no numbers, and F is 0."""
    precision, recall, f = (value or 0.0 for value in scores)
    return [precision, recall, f if precision * recall > 0 else 0.0]


def _graph_form(entities: Mapping[str, Any]) -> list[Any]:
    """Number of entities and of relations, and a digest of all."""
    rows = [
        [
            number,
            *(entity[part] for part in ("tokens", "label", "start_ix", "end_ix")),
            list(map(list, entity["relations"])),
        ]
        for number, entity in entities.items()
    ]
    return [len(rows), sum(len(row[-1]) for row in rows), _digest(rows)]


def _digest(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()[:_DIGEST]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, Mapping):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def _is_white(text: str) -> bool:
    return bool(text) and is_blank(text)


def _failed(one: Any) -> bool:
    return isinstance(one, Mapping) and set(one) == {_ERROR}


def _unless_failed(form: Callable[[Any], Any], one: Any) -> Any:
    return one if _failed(one) else form(one)


def _unit(row: Sequence[float]) -> NDArray[np.float64]:
    vector = np.array(row, dtype=np.float64)
    unit: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return unit


def _share(counts: Sequence[int]) -> float:
    """Share of those that are not 0."""
    return float(np.count_nonzero(counts)) / max(1, len(counts))


def _said_of_failure(one: Mapping[str, str]) -> str:
    return f"the original fails ({one[_ERROR]})"


def _said_of_graphs(one: Sequence[Any], other: Sequence[Any]) -> str:
    if one[:2] == other[:2]:
        return f"other entities or relations, {one[0]} and {one[1]} of them on both sides"
    return f"original {one[0]} entities, {one[1]} relations, here {other[0]}, {other[1]}"


def _said_of_entities(one: Sequence[Any], other: Sequence[Any]) -> str:
    if len(one) != len(other):
        return f"original {len(one)} entities, here {len(other)}"
    return f"others, {len(one)} on both sides"


def _said_of_labels(one: Sequence[int], other: Sequence[int]) -> str:
    return "; ".join(
        f"{name}: original {code}, here {here}"
        for name, code, here in zip(NAMES, one, other, strict=True)
        if code != here
    )


def _said_of_row(row: NDArray[np.float64]) -> str:
    return f"{row[0]:.6f}" if row.shape == (1,) else f"{len(row)} numbers"
