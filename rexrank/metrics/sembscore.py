"""SembScore: cosine of the CheXbert embeddings of two reports.

With the last hidden states a and b of [CLS] (CheXbert's encoder in evaluation mode, without
pooler or heads), a study scores a · b / (|a| |b|); of several references the best counts; the
aggregate is the mean of studies. Where a vector has length 0 there is no score.

`published` is the cosine itself, also of blank reports, [-1, 1]. `corrected` raises negative
cosines to 0 and counts them in ``n_clamped``, [0, 1]; a blank report scores 0, an identical
one exactly 1. RadCliQ takes the cosine as it is.

CheXbert: Smit et al., EMNLP 2020; as a metric: Endo et al., ML4H 2021 and Yu et al., Patterns 2023
(github.com/rajpurkarlab/CXR-Report-Metric).
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rexrank.metrics.encoded import failures, read_numbers, read_studies
from rexrank.metrics.features import TextFeatures
from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.outcome import Floats, Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import Example, Metric, ScoreKey
from rexrank.terms import Convention

_FEATURE = "chexbert_cls"
_SIGNATURE = {"enc": "chexbert", "pool": "cls", "max": "512", "w": "unverified"}


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    studies = list(read_studies(pairs, _FEATURE, _read_vector))
    encoded = np.array([study is not None for study in studies])
    values = np.full(len(studies), np.nan)
    values[encoded] = _best_cosines([study for study in studies if study is not None])
    reasons = dict.fromkeys(np.flatnonzero(np.isnan(values)).tolist(), "zero_vector") | failures(studies)
    clamped = None
    if convention == "corrected":
        clamped = values < 0
        values = np.maximum(values, 0.0)
    full = np.ones(len(pairs), dtype=bool)
    return {key: Outcome(values, _SIGNATURE, full, full, clamped=clamped, reasons=reasons) for key in keys}


def _read_vector(item: Any, where: str) -> NDArray[Any]:
    vector = read_numbers(item, where, "d")
    if not np.isfinite(vector).all():
        raise InvalidCall(f"{where}: a number of the vector is not finite")
    return vector


def _best_cosines(studies: Sequence[tuple[NDArray[Any], list[NDArray[Any]]]]) -> Floats:
    """Cosine of each prediction with the nearest of its references; nan where a vector has length 0."""
    if not studies:
        return np.empty(0)
    counts = [len(references) for _, references in studies]
    predictions = _stacked([prediction for prediction, _ in studies])
    references = _stacked(list(chain.from_iterable(references for _, references in studies)))
    if predictions.shape[1] != references.shape[1]:
        raise _unequal()
    predictions = np.repeat(predictions, counts, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = _dots(predictions, references) / np.sqrt(
            _dots(predictions, predictions) * _dots(references, references)
        )
    firsts = np.concatenate([[0], np.cumsum(counts[:-1], dtype=np.int64)])
    # Rounding may take a cosine past 1.
    return np.clip(np.maximum.reduceat(cosines, firsts), -1.0, 1.0)


def _dots(one: Floats, other: Floats) -> Floats:
    return np.einsum("ij,ij->i", one, other)


def _stacked(vectors: Sequence[NDArray[Any]]) -> Floats:
    if len({len(vector) for vector in vectors}) > 1:
        raise _unequal()
    return np.stack(vectors).astype(np.float64)


def _unequal() -> InvalidCall:
    return InvalidCall(f"features[{_FEATURE!r}]: the vectors have different lengths; give those of one encoder")


METRIC = Metric(
    name="sembscore",
    version="1",
    keys=(
        ScoreKey(
            key="sembscore",
            label="SembScore",
            direction="higher",
            ranges={"published": (-1.0, 1.0), "corrected": (0.0, 1.0)},
            kind="mean",
            digits=3,
            modality=("CXR",),
            language=("en",),
            description="Cosine of the CheXbert embeddings of a report and its reference; mean of studies.",
            needs=(_FEATURE,),
        ),
    ),
    compute=_compute,
    source="Smit et al., EMNLP 2020; Endo et al., ML4H 2021; github.com/rajpurkarlab/CXR-Report-Metric",
    english_only=True,
    examples=(
        Example(
            "Clear lungs.",
            "Large effusion.",
            {_FEATURE: TextFeatures([[3.0, 4.0]], [[[4.0, -4.0]]])},
            note="the vectors point apart",
        ),
        Example(
            "",
            "Large effusion.",
            {_FEATURE: TextFeatures([[1.0, 0.0]], [[[3.0, 4.0]]])},
            note="the encoder gives a vector to the blank text too",
        ),
    ),
    faults=(
        "CXR-Report-Metric cuts texts at 512 tokens without saying so, scores a blank report like any other and fails "
        "on NaN in its table.",
        "A vector of length 0 gives NaN in CXR-Report-Metric and 0 in RadEval.",
    ),
)
