"""CheXpert-14 labels of reports by rules, without weights.

Example:
    >>> import rexrank
    >>> row = rexrank.labels.label(["Small left pleural effusion. No pneumothorax."])[0]
    >>> row[rexrank.labels.NAMES.index("Pleural Effusion")], row[rexrank.labels.NAMES.index("Pneumothorax")]
    (np.int8(1), np.int8(2))
"""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "BLANK": "rexrank.labels.names",
    "NAMES": "rexrank.labels.names",
    "NEGATIVE": "rexrank.labels.names",
    "POSITIVE": "rexrank.labels.names",
    "RULE_VERSION": "rexrank.labels.names",
    "UNCERTAIN": "rexrank.labels.names",
    "Mention": "rexrank.labels.labeller",
    "Sentence": "rexrank.labels.labeller",
    "label": "rexrank.labels.labeller",
    "mentions": "rexrank.labels.labeller",
    "read_sentences": "rexrank.labels.labeller",
}

__all__ = [
    "BLANK",
    "NAMES",
    "NEGATIVE",
    "POSITIVE",
    "RULE_VERSION",
    "UNCERTAIN",
    "Mention",
    "Sentence",
    "label",
    "mentions",
    "read_sentences",
]

if TYPE_CHECKING:
    from rexrank.labels.labeller import Mention, Sentence, label, mentions, read_sentences
    from rexrank.labels.names import BLANK, NAMES, NEGATIVE, POSITIVE, RULE_VERSION, UNCERTAIN

__getattr__ = names_of(__name__, _HOMES)
