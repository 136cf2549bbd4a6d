"""F1 of CheXbert's labels, and clinical efficacy.

CheXbert gives every text one of four codes for each of the 14 CheXpert labels: blank,
positive, negative, uncertain. The keys ``f1chexbert_*`` are those of ``f1labels_*``, on these
labels: positive and uncertain count as present (option `uncertain`), blank and negative as
absent; F1 = 2 tp / (2 tp + fp + fn) of each label, put together as ``micro``, ``macro``,
``macro_supported``, ``weighted`` or ``samples`` over 14 labels or five, or label by label.
``ce_precision``, ``ce_recall`` and ``ce_f1`` are R2Gen's clinical efficacy: tp / (tp + fp),
tp / (tp + fn) and F1, macro over the 14 labels, where only positive counts as present; the
option `uncertain` changes that too. Each study's own value is the measure over its labels.
Range [0, 1]. A label that neither side has makes 0/0, and so does a study without labels.

- `published`: scikit-learn's numbers: 0/0 counts as 0 in every mean (option `zero_division`;
  rad-metric has 1). A blank text has the labels that CheXbert gives it.
- `corrected`: such a label is left out of the means, ``n_labels`` counts those that remain; such
  a study is null, ``no_positive_label``; where no label remains there is no score. A blank
  prediction has all labels blank, and identical texts have a study value of 1.

A failed encoder is null, ``failed``. Of several references the option `several` says what counts;
the nearest is the one with the best F1 over all 14 labels, the same for every key. Sources: Smit et al., EMNLP 2020;
github.com/Stanford-AIMI/f1chexbert (0.0.2); Chen et al., EMNLP 2020,
github.com/cuhksz-nlp/R2Gen (compute_ce.py); arXiv 2410.00379 (CXPMRG).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rexrank.labels import BLANK, NAMES, NEGATIVE, POSITIVE, UNCERTAIN
from rexrank.metrics.f1 import Codes, checked_codes
from rexrank.metrics.features import TextFeatures
from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.label_scores import (
    OPTIONS,
    Labelled,
    efficacy_keys,
    formula_of,
    keys_of,
    outcomes,
)
from rexrank.metrics.outcome import Flags, Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import Example, Metric
from rexrank.terms import Convention

_FEATURE = "chexbert_labels"
_SIGNATURE = {"enc": "chexbert", "max": "512", "w": "unverified"}


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    return outcomes("f1chexbert", pairs, _labelled(pairs), keys, convention, options, _SIGNATURE)


def _labelled(pairs: Pairs) -> Labelled:
    features = pairs.text_features(_FEATURE)
    predictions, lost_predictions = _codes("predictions", features.predictions)
    references, lost_references = _codes("references", [items[0] for items in features.references])
    return Labelled(predictions, references, lost_predictions, lost_references)


def _codes(side: str, items: Sequence[Any]) -> tuple[Codes, Flags]:
    """Codes of each text, and which the encoder failed to give."""
    failed = np.array([item is None for item in items], dtype=bool)
    blank = [BLANK] * len(NAMES)
    rows = [
        blank if item is None else _row(f"features[{_FEATURE!r}].{side}[{at}]", item) for at, item in enumerate(items)
    ]
    return checked_codes(f"features[{_FEATURE!r}].{side}", rows), failed


def _row(where: str, item: Any) -> Any:
    try:
        length = len(item)
    except TypeError:
        length = -1
    if isinstance(item, str | bytes | Mapping) or length != len(NAMES):
        raise InvalidCall(f"{where}: expected {len(NAMES)} codes in the order of rexrank.labels.NAMES, or None")
    return item


def _example(prediction: Mapping[str, int], reference: Mapping[str, int]) -> dict[str, TextFeatures]:
    codes = [[labels.get(name, BLANK) for name in NAMES] for labels in (prediction, reference)]
    return {_FEATURE: TextFeatures([codes[0]], [[codes[1]]])}


METRIC = Metric(
    name="f1chexbert",
    version="1",
    keys=(*keys_of("f1chexbert", "F1-CheXbert", (_FEATURE,)), *efficacy_keys(needs=(_FEATURE,))),
    compute=_compute,
    formula_of=formula_of("f1chexbert"),
    source="Smit et al., EMNLP 2020; github.com/Stanford-AIMI/f1chexbert; Chen et al., EMNLP 2020 (R2Gen)",
    options=(replace(OPTIONS[0], default="positive; for `ce_*`: negative"), *OPTIONS[1:]),
    english_only=True,
    examples=(
        Example(
            "Mild edema, no effusion.",
            "Pulmonary edema.",
            _example({"Edema": POSITIVE, "Pleural Effusion": NEGATIVE}, {"Edema": POSITIVE}),
            note="edema is positive in both, effusion negative",
        ),
        Example(
            "Edema may be present.",
            "Edema and effusion.",
            _example({"Edema": UNCERTAIN}, {"Edema": POSITIVE, "Pleural Effusion": POSITIVE}),
            note="edema is uncertain in the prediction, and both are positive in the reference",
        ),
    ),
    faults=(
        "f1chexbert 0.0.2 fails with scikit-learn 1.8 and later, whose private check of targets returns more values.",
        "f1chexbert reads a file of reference labels with eval and uses it again when the references have changed.",
        "f1chexbert loads its checkpoint with strict=False, so a wrong file goes unnoticed.",
        "RadEval's per-sample f1chexbert is the accuracy over labels, not F1.",
        "rad-metric counts labels that never occur as 1 in its macro F1, F1-CheXbert as 0.",
        "R2Gen's clinical efficacy counts uncertain labels as absent, F1-CheXbert as present.",
    ),
)
