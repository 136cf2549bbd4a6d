"""Labels of reports: words of each class, negated by a word before them in their sentence."""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rexrank.labels.names import NAMES, NEGATIVE, POSITIVE, UNCERTAIN
from rexrank.reports.studies import is_blank

_WORDS = {
    "Cardiomegaly": r"cardiomegaly|enlarged heart|enlarged cardiac silhouette",
    "Lung Opacity": r"opacit\w+|infiltrates?",
    "Lung Lesion": r"nodules?|mass(?:es)?",
    "Edema": r"o?edema",
    "Consolidation": r"consolidations?",
    "Pneumonia": r"pneumonia",
    "Atelectasis": r"atelecta\w+",
    "Pneumothorax": r"pneumothora(?:x|ces)",
    "Pleural Effusion": r"effusions?",
    "Fracture": r"fractures?",
    "Support Devices": r"catheter|tube|pacemaker",
}
_FINDING = {name: re.compile(rf"\b(?:{words})\b") for name, words in _WORDS.items()}
_NEGATION = re.compile(r"\b(?:no|without|free of)\b")
_DOUBT = re.compile(r"\b(?:may|possible|possibly)\b")


def label(texts: Sequence[str]) -> npt.NDArray[np.int8]:
    """Label reports with CheXpert's fourteen classes.

    Args:
        texts: Reports.

    Returns:
        int8 [n, 14] in the order of ``NAMES``: 0 blank, 1 positive, 2 negative, 3 uncertain.
    """
    labels = np.zeros((len(texts), len(NAMES)), dtype=np.int8)
    for row, text in zip(labels, texts, strict=True):
        if is_blank(text):
            continue
        for sentence in text.lower().split("."):
            for name, words in _FINDING.items():
                if found := words.search(sentence):
                    before = sentence[: found.start()]
                    code = NEGATIVE if _NEGATION.search(before) else UNCERTAIN if _DOUBT.search(before) else POSITIVE
                    column = NAMES.index(name)
                    row[column] = min(row[column] or code, code)
        row[-1] = not np.isin(row[:12], (POSITIVE, UNCERTAIN)).any()
    return labels
