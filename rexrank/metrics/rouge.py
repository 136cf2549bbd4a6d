"""ROUGE: COCO's ROUGE-L, and ROUGE-1, ROUGE-2 and ROUGE-L as `rouge_score` computes them.

With precision P and recall R of the longest common subsequence (ROUGE-L) or of
clipped n-grams (ROUGE-n), a study scores (1 + b²) P R / (R + b² P), and 0 where P
or R is 0; the aggregate is the mean of studies. Range [0, 1].

- ``rouge_l`` published: tokens between single spaces, empty ones kept, case kept;
  b = 1.2; of several references the largest P and the largest R are taken, each for
  itself (github.com/salaniz/pycocoevalcap; Chen et al. 2015). It has no stemmer,
  whatever the option says.
- ``rouge1``, ``rouge2``, ``rouge_l_f1`` published: lower-case runs of a-z and 0-9, Porter
  stems of words longer than three letters unless ``stemmer=False``, b = 1; of several
  references the best score (github.com/google-research/google-research, folder rouge).

In `corrected` all use the words of the tokeniser `unicode` (``stemmer=True`` stems English
words), b = 1 and the best reference, so ``rouge_l`` and ``rouge_l_f1`` agree; two texts
without a word (for ``rouge2``: two words) have no score unless they are identical.
ROUGE: Lin, ACL workshop "Text Summarization Branches Out" 2004.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rexrank.metrics.inputs import check_flag
from rexrank.metrics.lcs import lcs_lengths
from rexrank.metrics.ngrams import clipped_matches
from rexrank.metrics.outcome import Flags, Floats, Outcome
from rexrank.metrics.pairs import Integers, Pairs, PairTokens
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, Option, ScoreKey
from rexrank.metrics.tokenizers import ALNUM, ALNUM_STEMMED, SPACE, UNICODE_STEMMED, UNICODE_WORDS
from rexrank.terms import Convention

_COCO_BETA = 1.2
_ORDERS = {"rouge1": 1, "rouge2": 2}


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    stemmer = check_flag("stemmer", options.get("stemmer", convention == "published"))
    stem = "porter" if stemmer else "none"
    if convention == "corrected":
        tokens = pairs.tokens(UNICODE_STEMMED if stemmer else UNICODE_WORDS)
        return _best_reference(tokens, keys, {"tok": "unicode-words", "stem": stem, "beta": "1"})
    outcomes: dict[str, Outcome] = {}
    if "rouge_l" in keys:
        outcomes["rouge_l"] = _coco(pairs.tokens(SPACE))
    if others := [key for key in keys if key != "rouge_l"]:
        tokens = pairs.tokens(ALNUM_STEMMED if stemmer else ALNUM)
        outcomes |= _best_reference(tokens, others, {"tok": "alnum", "stem": stem, "impl": "rouge_score"})
    return outcomes


def _coco(tokens: PairTokens) -> Outcome:
    each = tokens.by_reference()
    matches = lcs_lengths(each)
    precision = _best(tokens, matches / np.maximum(each.predictions.lengths, 1))
    recall = _best(tokens, matches / np.maximum(each.references.lengths, 1))
    predicted, referred = _content(tokens, 1)
    signature = {"tok": SPACE.name, "impl": "coco", "beta": str(_COCO_BETA)}
    return Outcome(_f_measure(precision, recall, _COCO_BETA), signature, predicted, referred)


def _best_reference(tokens: PairTokens, keys: Sequence[str], signature: Mapping[str, str]) -> dict[str, Outcome]:
    """Harmonic means of precision and recall against the reference where that is highest."""
    each = tokens.by_reference()
    matches: dict[str, Integers] = {}
    if counted := [key for key in keys if key in _ORDERS]:
        ngrams = clipped_matches(each, max(_ORDERS[key] for key in counted))
        matches |= {key: ngrams[:, _ORDERS[key] - 1] for key in counted}
    if longest := [key for key in keys if key not in _ORDERS]:
        matches |= dict.fromkeys(longest, lcs_lengths(each))
    outcomes: dict[str, Outcome] = {}
    for key in keys:
        order = _ORDERS.get(key, 1)
        precision = matches[key] / np.maximum(each.predictions.lengths - order + 1, 1)
        recall = matches[key] / np.maximum(each.references.lengths - order + 1, 1)
        predicted, referred = _content(tokens, order)
        outcomes[key] = Outcome(_best(tokens, _f_measure(precision, recall, 1.0)), signature, predicted, referred)
    return outcomes


def _f_measure(precision: Floats, recall: Floats, beta: float) -> Floats:
    weight = beta**2
    with np.errstate(invalid="ignore"):
        score = (1 + weight) * precision * recall / (recall + weight * precision)
    return np.where((precision > 0) & (recall > 0), score, 0.0)


def _best(tokens: PairTokens, by_reference: Floats) -> Floats:
    """Largest value of each study over its references."""
    return by_reference if tokens.single else np.maximum.reduceat(by_reference, tokens.first_reference[:-1])


def _content(tokens: PairTokens, order: int) -> tuple[Flags, Flags]:
    longest = _best(tokens, tokens.references.lengths.astype(np.float64))
    return tokens.predictions.lengths >= order, longest >= order


def _key(key: str, label: str, language: str, description: str) -> ScoreKey:
    return ScoreKey(
        key=key,
        label=label,
        direction="higher",
        ranges=UNIT_RANGES,
        kind="mean",
        digits=3,
        modality=("any",),
        language=(language,),
        description=description,
    )


METRIC = Metric(
    name="rouge",
    version="1",
    keys=(
        _key(
            "rouge_l",
            "ROUGE-L (COCO)",
            "any",
            "F-measure of the longest common subsequence with recall weighted by 1.2 (corrected: 1); mean of studies.",
        ),
        _key("rouge1", "ROUGE-1", "en", "F1 of clipped words, stemmed; mean of studies."),
        _key("rouge2", "ROUGE-2", "en", "F1 of clipped word pairs, stemmed; mean of studies."),
        _key("rouge_l_f1", "ROUGE-L F1", "en", "F1 of the longest common subsequence of stems; mean of studies."),
    ),
    compute=_compute,
    source="Lin, 2004; github.com/salaniz/pycocoevalcap; github.com/google-research/google-research (rouge)",
    options=(
        Option("stemmer", "True or False", "True in `published`, False in `corrected`", "Whether words are stemmed."),
    ),
    examples=(
        Example("", ""),
        Example("Stable right scar", "stable right scar"),
        Example("stable  right scar", "stable right scar"),
        Example("opacities", "opacity"),
        Example("opacities", "opacity", options={"stemmer": True}),
        Example("Лёгкие без теней", "Лёгкие без теней"),
        Example("...", "..."),
        Example("scar", "scar"),
    ),
    faults=(
        "pycocoevalcap's ROUGE-L gives 1 to two empty texts and counts the empty tokens between two spaces; it can "
        "take precision and recall from different references.",
        "`rouge_score` keeps a-z and 0-9 alone, so identical texts in other scripts score 0, and so does ROUGE-2 of "
        "one word.",
        "`evaluate`'s rouge does not stem, and its default aggregate is the median of 1,000 bootstrap means without a "
        "seed: not the mean, and another number in every run.",
        '`evaluate.load("rouge")` needs the network and NLTK; its README shows two values for one example.',
        "Each of these measures the longest common subsequence in quadratic time in Python.",
    ),
)
