"""F1 of CheXpert-14 labels that `rexrank.labels` reads by rules, without weights.

Every text gets one of four codes for each label: blank, positive, negative, uncertain.
Positive and uncertain count as present (option `uncertain`), blank and negative as absent.
With tp, fp and fn of a label over the studies, F1 = 2 tp / (2 tp + fp + fn); ``micro`` takes
the sums over the labels, ``macro`` the mean over the labels, ``macro_supported`` over those
that a reference has, ``weighted`` weights by how many have them, ``samples`` is the mean of
studies, each over its labels; ``_5`` are Cardiomegaly, Edema, Consolidation, Atelectasis and
Pleural Effusion; ``f1labels_edema`` and the like are the F1 of one label. Each study's own
value is its F1 over these labels. ``f1labels_ce_precision``, ``f1labels_ce_recall`` and
``f1labels_ce_f1`` are R2Gen's clinical efficacy on these labels: macro over the 14, where only
positive counts as present unless the option `uncertain` says otherwise. Range [0, 1].

The F1 of a label that neither side has is 0/0, and so is that of a study without labels.

- `published`: scikit-learn's numbers: such an F1 counts as 0 (option `zero_division`) in every
  mean, so perfect predictions of a set in which 4 of 14 labels occur have a macro F1 of 4/14.
- `corrected`: such a label is left out of the means, ``n_labels`` counts those that remain; such
  a study is null, ``no_positive_label``; where no label remains there is no score. A blank
  prediction has all labels blank, and identical texts have a study value of 1.

Our own labeller: comparable with itself alone, so its rule version is in the signature. Of several
references the option `several` says what counts; the nearest is the one with the best F1 over all
14 labels, the same for every key. Definition: f1chexbert 0.0.2 (github.com/Stanford-AIMI/f1chexbert).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rexrank.labels import RULE_VERSION, label
from rexrank.metrics.label_scores import (
    OPTIONS,
    Labelled,
    efficacy_keys,
    formula_of,
    keys_of,
    outcomes,
)
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import Example, Metric
from rexrank.terms import Convention


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    return outcomes("f1labels", pairs, _labelled(pairs), keys, convention, options, {"rules": RULE_VERSION})


def _labelled(pairs: Pairs) -> Labelled:
    """Labels of both sides; each distinct text is read once."""
    references = [texts[0] for texts in pairs.references]
    rows = {text: row for row, text in enumerate(dict.fromkeys([*pairs.predictions, *references]))}
    codes = label(list(rows))
    predicted, referred = (codes[[rows[text] for text in side]] for side in (pairs.predictions, references))
    none_lost = np.zeros(len(pairs), dtype=bool)
    return Labelled(predicted, referred, none_lost, none_lost)


METRIC = Metric(
    name="f1labels",
    version="1",
    keys=(*keys_of("f1labels", "F1-labels"), *efficacy_keys("f1labels", "F1-labels")),
    compute=_compute,
    formula_of=formula_of("f1labels"),
    source="github.com/Stanford-AIMI/f1chexbert (averages); Irvin et al., AAAI 2019 (labels)",
    options=(replace(OPTIONS[0], default="positive; for `f1labels_ce_*`: negative"), *OPTIONS[1:]),
    english_only=True,
    examples=(
        Example("Mild pulmonary edema.", "Pulmonary edema."),
        Example("Small effusion.", "Pulmonary edema and small effusion."),
    ),
    faults=(
        "Macro F1 over labels that never occur counts each as 0, so it measures the labels of the set more than the "
        "predictions.",
        "The public CheXpert labeller gives a blank report No Finding.",
    ),
)
