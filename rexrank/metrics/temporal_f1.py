"""Temporal F1: whether both reports speak of change in the same words.

The 44 words of `TERMS` that stand in a report as whole words, in any case, are its set; with
tp common words of prediction h and reference r (of several references, all their words), a
study scores the F1 of the two sets; the aggregate is the mean of studies. Range [0, 1].

- `published` (Libra, and RadEval after it): line breaks, ``_`` and ``-`` become spaces, every other
  character but word characters, white space and ``. , : ; ( )`` is deleted, so ``increased/new``
  is one word that is none of the 44. With e = 1e-10, P = (tp + e) / (|h| + e), R = (tp + e) / (|r| + e),
  F = 2 P R / (P + R + e). Without a word in r the score is 1 if h has none either, else e.
- `corrected`: the deleted characters become spaces, invisible ones nothing; F = 2 tp / (|h| + |r|);
  where neither text has a word, null with the reason ``no_temporal_terms``.

A blank prediction has no words in `published` and scores 0 in `corrected`. Neither convention
knows negation ("no new nodule" contains *new*), and synonyms do not match. English only.
Zhang et al., Libra, Findings of ACL 2025; github.com/X-iZhang/Libra, github.com/jbdel/RadEval.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, ScoreKey
from rexrank.terms import Convention

_TERMS = (
    "bigger change cleared constant decrease decreased decreasing elevated elevation enlarged enlargement enlarging "
    "expanded greater growing improved improvement improving increase increased increasing larger new persistence "
    "persistent persisting progression progressive reduced removal resolution resolved resolving smaller stability "
    "stable stably unaltered unchanged unfolded worse worsen worsened worsening"
)
TERMS = tuple(_TERMS.split())
_BITS = {term: 1 << number for number, term in enumerate(TERMS)}
_EPSILON = 1e-10
_SEPARATORS = re.compile(r"[\n_-]+")
_DELETED = re.compile(r"[^\w\s.,:;()]")
_WORDS = re.compile(r"\w+")


class _Found(dict[str, int]):
    """The words of each text as a set of bits; every text is read once."""

    def __init__(self, convention: Convention) -> None:
        self.convention = convention

    def __missing__(self, text: str) -> int:
        plain = _SEPARATORS.sub(" ", text)
        if self.convention == "published":
            plain = _DELETED.sub("", plain)
        elif not plain.isascii():
            visible = (one for one in unicodedata.normalize("NFC", plain) if unicodedata.category(one) != "Cf")
            plain = "".join(visible)
        found = _BITS.keys() & set(_WORDS.findall(plain.lower()))
        bits = self[text] = sum(_BITS[term] for term in found)
        return bits


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    found = _Found(convention)
    predicted_sets = np.array([found[text] for text in pairs.predictions], dtype=np.int64)
    reference_sets = np.array(
        [reduce(or_, [found[text] for text in texts]) for texts in pairs.references], dtype=np.int64
    )
    common, predicted, referred = (
        np.bitwise_count(sets).astype(np.float64)
        for sets in (predicted_sets & reference_sets, predicted_sets, reference_sets)
    )
    signature = {"terms": str(len(TERMS))}
    reasons: dict[int, str] = {}
    if convention == "published":
        precision, recall = (common + _EPSILON) / (predicted + _EPSILON), (common + _EPSILON) / (referred + _EPSILON)
        values = 2 * precision * recall / (precision + recall + _EPSILON)
        values = np.where(referred > 0, values, np.where(predicted > 0, _EPSILON, 1.0))
    else:
        neither = predicted + referred == 0
        values = np.where(neither, np.nan, 2 * common / np.maximum(predicted + referred, 1))
        reasons = dict.fromkeys(np.flatnonzero(neither).tolist(), "no_temporal_terms")
    return {"temporal_f1": Outcome(values, signature, predicted > 0, referred > 0, reasons=reasons)}


METRIC = Metric(
    name="temporal_f1",
    version="1",
    keys=(
        ScoreKey(
            key="temporal_f1",
            label="Temporal F1",
            direction="higher",
            ranges=UNIT_RANGES,
            kind="mean",
            digits=3,
            modality=("any",),
            language=("en",),
            description="F1 of the sets of words that speak of change, out of a list of 44; mean of studies.",
        ),
    ),
    compute=_compute,
    source="Zhang et al., Findings of ACL 2025; github.com/X-iZhang/Libra; github.com/jbdel/RadEval",
    english_only=True,
    examples=(
        Example("Stable nodule.", "Stable nodule."),
        Example("Stable nodule.", "Unchanged nodule."),
        Example("Stable nodule, new scar.", "Stable nodule."),
        Example("Increased/new nodule.", "New nodule."),
        Example("New nodule.", "A nodule."),
        Example("A nodule.", "The nodule."),
    ),
    faults=(
        "The original gives 1 to every pair without a word of change, whatever the two reports say.",
        "The original deletes slashes and other marks instead of separating, so `increased/new` matches nothing.",
        "The original downloads a Stanza model at every construction, fails offline and takes 17 ms a study, though "
        "its entities are filtered down to the same 44 words.",
        "No implementation knows negation: `no new nodule` contains `new`.",
    ),
)
