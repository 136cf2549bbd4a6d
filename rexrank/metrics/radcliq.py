"""RadCliQ: the number of errors that radiologists would find in a report, predicted from four scores.

With x = (``radgraph_combined``, ``bertscore``, ``sembscore``, ``bleu2``) of a study, its score is the sum of
c (x - m) / s over the four, plus an intercept; means m, scales s, coefficients c and the intercept are those of
the published linear models (v0: 200, v1: 160 reports read by radiologists). Lower is better, and 0
is the training mean: good reports are negative. The aggregate is the mean of studies. ``inv_radcliq_v1`` is 1
divided by that mean, as ReXrank's board shows it, and undefined where the mean is not above 0; it is for display
only, since 1/x is not monotone across 0, and no study has one.

The features are taken as their metrics give them, not as percent: ``radgraph_combined`` from 0 to 1, ``bertscore``
up to 1 and ``sembscore`` from -1 to 1; another value is refused.

`published` takes ReXrank's ``bleu2``, and the value of a blank report is the formula's: for v1 11.612594 - .994772 s
with the SembScore s. `corrected` takes ``bleu2`` and ``radgraph_combined`` of that convention, and BERTScore and
SembScore as they are, not clamped; a blank report gets the value of four zeros, 2.450143 (v0: 5.516161), and an
identical one that of four ones, -1.440690 (v0: -.242133). A study without one of the components has no score.

Of several references each has components of its own, and the option `several` says what counts: never the
best of each component from another reference.

v1 gives BLEU no weight. In v0 its weight is positive, so more overlap of words makes a
report worse there, and an identical text is not the lowest value possible. Yu et al., Patterns 2023;
coefficients: github.com/rajpurkarlab/CXR-Report-Metric, commit 9c9ecad.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rexrank.metrics import several
from rexrank.metrics.bleu import METRIC as BLEU
from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.outcome import Floats, Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import Example, Metric, ScoreKey
from rexrank.terms import Convention

# In the order of the models' columns; the first three are features of a study.
_COMPONENTS = ("radgraph_combined", "bertscore", "sembscore", "bleu2")
_FEATURES = _COMPONENTS[:3]
# BERTScore has no lower end that every encoder keeps; of texts without words it is -5.550157.
_RANGES: Mapping[str, tuple[float, float]] = {
    "radgraph_combined": (0.0, 1.0),
    "bertscore": (-np.inf, 1.0),
    "sembscore": (-1.0, 1.0),
    "bleu2": (0.0, 1.0),
}
_ROUNDING = 1e-6


class _Model(NamedTuple):
    """A linear model on standardised components, with its value of an identical and of a blank report."""

    means: tuple[float, ...]
    scales: tuple[float, ...]
    coefficients: tuple[float, ...]
    intercept: float
    perfect: float
    floor: float

    def predict(self, components: Sequence[Floats]) -> Floats:
        """Scores, [n], of components [n] each; added one by one, so that no study depends on its neighbours."""
        total = np.zeros(len(components[0]))
        for values, mean, scale, coefficient in zip(
            components, self.means, self.scales, self.coefficients, strict=True
        ):
            total += (values - mean) / scale * coefficient
        return total + self.intercept

    @property
    def lowest(self) -> float:
        """The lowest value of components up to 1 that are not below 0 where their weight is positive."""
        ends = [np.array([1.0 if coefficient < 0 else 0.0]) for coefficient in self.coefficients]
        return float(self.predict(ends)[0])


_V0 = _Model(
    means=(0.5398376019082272, 0.6312549595000001, 0.7716797866672277, 0.4607372064809605),
    scales=(0.3018344440559102, 0.22466950746141123, 0.24750333805236252, 0.30336670936092264),
    coefficients=(-0.4796252644863446, -0.6762170542369337, -0.46366575161751994, 0.2165861905287535),
    intercept=1.641666666666666,
    perfect=-0.24213342294409346,
    floor=5.516160804054495,
)
_V1 = _Model(
    means=(0.5379231241355762, 0.6175725628125001, 0.7647942121140658, 0.44738335396242174),
    scales=(0.3028258411486429, 0.22430938459304575, 0.2539439110169773, 0.2989271671041838),
    coefficients=(-0.37708368261038905, -0.37030009974480316, -0.25261621789593225, 4.315048405024756e-12),
    intercept=2.466552561323256e-10,
    perfect=-1.4406902828047017,
    floor=2.4501430833271307,
)
_MODELS = {"radcliq_v0": _V0, "radcliq_v1": _V1, "inv_radcliq_v1": _V1}


def v0(radgraph_combined: ArrayLike, bertscore: ArrayLike, sembscore: ArrayLike, bleu2: ArrayLike) -> Floats:
    """RadCliQ-v0 of each study from its components.

    Args:
        radgraph_combined: Mean F1 of RadGraph's entities and relations, [n]; nan or None where there is none.
        bertscore: Rescaled F of distilroberta-base, not clamped, [n].
        sembscore: Cosine of CheXbert embeddings, not clamped, [n].
        bleu2: ReXrank's BLEU-2, [n].

    Returns:
        Predicted numbers of errors, lower is better, float64 [n]; nan where a component is nan. An identical
        report, all components 1, has -.242133; components of 0 have 5.516161.

    Raises:
        InvalidCall: A component is not a list of numbers, has one outside its range, or is not as long as the others.
    """
    return _V0.predict(_checked((radgraph_combined, bertscore, sembscore, bleu2)))


def v1(radgraph_combined: ArrayLike, bertscore: ArrayLike, sembscore: ArrayLike, bleu2: ArrayLike) -> Floats:
    """RadCliQ-v1 of each study from its components.

    Args:
        radgraph_combined: Mean F1 of RadGraph's entities and relations, [n]; nan or None where there is none.
        bertscore: Rescaled F of distilroberta-base, not clamped, [n].
        sembscore: Cosine of CheXbert embeddings, not clamped, [n].
        bleu2: ReXrank's BLEU-2, [n].

    Returns:
        Predicted numbers of errors, lower is better, float64 [n]; nan where a component is nan. An identical
        report, all components 1, has -1.440690; components of 0 have 2.450143.

    Raises:
        InvalidCall: A component is not a list of numbers, has one outside its range, or is not as long as the others.
    """
    return _V1.predict(_checked((radgraph_combined, bertscore, sembscore, bleu2)))


def _checked(components: Sequence[ArrayLike]) -> list[Floats]:
    read = [_read(values, name, name) for values, name in zip(components, _COMPONENTS, strict=True)]
    for values, name in zip(read, _COMPONENTS, strict=True):
        if len(values) != len(read[0]):
            raise InvalidCall(
                f"{name} has {len(values)} values, and {_COMPONENTS[0]} has {len(read[0])}; give one a study"
            )
    return read


def _read(values: Any, component: str, where: str) -> Floats:
    array = _numbers(values, where)
    low, high = _RANGES[component]
    if outside := np.flatnonzero((array < low - _ROUNDING) | (array > high + _ROUNDING)).tolist():
        limits = f"at most {high:g}" if np.isinf(low) else f"from {low:g} to {high:g}"
        raise InvalidCall(
            f"{where}[{outside[0]}]: expected a number {limits}, got {array[outside[0]]:g} ({len(outside)} affected); "
            "did you give percent?"
        )
    return array


def _numbers(values: Any, where: str) -> Floats:
    try:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        given = np.asarray(values)
        # Conversion alone would also take texts that look like numbers, and dates.
        if given.dtype.kind not in "biufO" or (
            given.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in given.flat)
        ):
            raise TypeError
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise InvalidCall(f"{where}: expected a list of numbers with one a study") from None
    if array.ndim != 1:
        raise InvalidCall(f"{where}: expected a list of numbers with one a study, got {array.ndim} dimensions")
    if infinite := np.flatnonzero(np.isinf(array)).tolist():
        raise InvalidCall(f"{where}[{infinite[0]}]: the value is infinite")
    return array


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    bleu = BLEU.compute(pairs, ["bleu2"], convention, {})["bleu2"]
    given = [_read(pairs.pair_features(name), name, f"features[{name!r}]") for name in _FEATURES]
    components = [*given, bleu.values]
    signature = {
        "rg": f"v1-combined-{'0.1.18' if convention == 'published' else 'fold'}",
        "bertscore": "distilroberta-base-l5-rescaled",
        "sembscore": "chexbert-cls",
        "bleu": "-".join(bleu.signature.values()),
        "w": "unverified",
    }
    full = np.ones(len(pairs), dtype=bool)
    missing = np.flatnonzero(np.isnan(components).any(axis=0)).tolist()
    reasons = dict.fromkeys(missing, "undefined_component")
    return {key: Outcome(_MODELS[key].predict(components), signature, full, full, reasons=reasons) for key in keys}


def _inverse(means: Floats) -> Floats:
    positive = means > 0
    return np.where(positive, 1.0 / np.where(positive, means, 1.0), np.nan)


def _key(key: str, label: str, direction: Literal["lower", "higher"], description: str) -> ScoreKey:
    model = _MODELS[key]
    inverse = direction == "higher"
    return ScoreKey(
        key=key,
        label=label,
        direction=direction,
        ranges={
            "published": (0.0, None) if inverse else (None, None),
            "corrected": (0.0, None) if inverse else (model.lowest, None),
        },
        kind="corpus" if inverse else "mean",
        digits=3,
        modality=("CXR",),
        language=("en",),
        description=description,
        needs=_FEATURES,
        # Of `inv_radcliq_v1` these are the values that are averaged before the mean is turned round.
        blank={"published": model.floor, "corrected": model.floor},
        perfect={"published": model.perfect, "corrected": model.perfect},
        of_mean=_inverse if inverse else None,
    )


def _example(prediction: str, reference: str, components: Sequence[float]) -> Example:
    features = {name: [value] for name, value in zip(_FEATURES, components, strict=True)}
    return Example(prediction, reference, features)


METRIC = Metric(
    name="radcliq",
    version="1",
    keys=(
        _key(
            "radcliq_v0",
            "RadCliQ-v0",
            "lower",
            "Number of errors predicted from RadGraph, BERTScore, SembScore and BLEU-2, first model; mean of studies.",
        ),
        _key(
            "radcliq_v1",
            "RadCliQ-v1",
            "lower",
            "Number of errors predicted from RadGraph, BERTScore, SembScore and BLEU-2, second model; mean of studies.",
        ),
        _key(
            "inv_radcliq_v1",
            "1/RadCliQ-v1",
            "higher",
            "1 divided by the mean RadCliQ-v1, as ReXrank shows it; for display only, undefined where the mean is not "
            "above 0.",
        ),
    ),
    compute=_compute,
    source="Yu et al., Patterns 2023; github.com/rajpurkarlab/CXR-Report-Metric 9c9ecad",
    options=(several.OPTION,),
    english_only=True,
    examples=(
        _example("", "Mild edema.", [0.0, -5.550157, 0.4]),
        _example("Mild edema.", "Mild edema.", [0.5, 1.0, 1.0]),
    ),
    faults=(
        "RadEval weights BERTScore by idf of the references: an identical report alone gets 9.372605 for -1.440690, "
        "and a score depends on the others in the call.",
        "RadEval gives 1/mean for all and raw values for each report under one key: the higher aggregate is better, "
        "and the lower report.",
        "Five rows in the ReXrank-metric README mix two runs: only one agrees with its own components.",
        "CXR-Report-Metric casts ids to whole numbers, cuts them at an underscore and scores the shared ids alone; its "
        "coefficients are pickles that scikit-learn of today does not read.",
        'The range "(0, +inf)" that is stated for the score is wrong: good reports are negative.',
    ),
)
