"""BLEU: ReXrank's BLEU-2 and COCO's BLEU-1 to BLEU-4.

With clipped matches m_k and n-gram totals t_k of the prediction h, and the
reference length r closest to its own (the shorter one on a tie):

- ``bleu2``, a mean of studies: BP * sqrt(p_1 p_2), p_k = m_k / max(1, t_k), with
  0.1 in place of m_2 = 0 and the score 0 where m_1 = 0; BP = 1 for |h| > r, else
  exp(1 - r / |h|). `published` equals `fast_bleu` and NLTK's ``sentence_bleu``
  with smoothing method 1, as ReXrank calls them (CXR-Report-Metric, Yu et al. 2023).
- ``coco_bleu1`` … ``coco_bleu4``, over the corpus: m, t and lengths are summed first;
  (prod_{k<=n} (m_k + 1e-15) / (t_k + 1e-9))^(1/n), times exp(1 - 1/q) where
  q = (|h| + 1e-15) / (r + 1e-9) < 1 (github.com/salaniz/pycocoevalcap; Chen et al.
  2015). The value of a study is the same formula on its own statistics.

In `corrected` both use the tokeniser `unicode`, leave out orders of which the
prediction has no n-gram, and COCO's two constants are 0. Range [0, 1].
BLEU: Papineni et al., ACL 2002.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rexrank.metrics.ngrams import clipped_matches, ngram_totals
from rexrank.metrics.outcome import Floats, Formula, Outcome
from rexrank.metrics.pairs import Integers, Pairs, PairTokens
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, ScoreKey
from rexrank.metrics.tokenizers import REXRANK, SPLIT, UNICODE
from rexrank.terms import Convention

_ORDERS = 4
_ZERO_BIGRAMS = 0.1
_TINY, _SMALL = 1e-15, 1e-9


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    corpus_keys = [key for key in keys if key != "bleu2"]
    outcomes: dict[str, Outcome] = {}
    if convention == "corrected":
        statistics = _statistics(pairs.tokens(UNICODE), _ORDERS if corpus_keys else 2)
        if "bleu2" in keys:
            outcomes["bleu2"] = _outcome(_bleu2(statistics, convention), statistics, {"tok": UNICODE.name})
        return outcomes | {key: _corpus(key, statistics, convention, UNICODE.name) for key in corpus_keys}
    if "bleu2" in keys:
        statistics = _statistics(pairs.tokens(REXRANK), 2)
        outcomes["bleu2"] = _outcome(_bleu2(statistics, convention), statistics, {"tok": REXRANK.name})
    if corpus_keys:
        statistics = _statistics(pairs.tokens(SPLIT), _ORDERS)
        outcomes |= {key: _corpus(key, statistics, convention, SPLIT.name) for key in corpus_keys}
    return outcomes


def _statistics(tokens: PairTokens, orders: int) -> Floats:
    """Matches by order, totals by order, prediction length, closest reference length: float64 [n, 2 * orders + 2]."""
    lengths = tokens.predictions.lengths
    columns = [clipped_matches(tokens, orders), ngram_totals(tokens.predictions, orders), lengths[:, None]]
    return np.concatenate([*columns, _closest_length(tokens, lengths)[:, None]], axis=1).astype(np.float64)


def _closest_length(tokens: PairTokens, lengths: Integers) -> Integers:
    if tokens.single:
        return tokens.references.lengths
    candidates = tokens.references.lengths
    distance = np.abs(candidates - lengths[tokens.owners])
    order = np.lexsort((candidates, distance, tokens.owners))
    return candidates[order[tokens.first_reference[:-1]]]


def _split(statistics: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    orders = (statistics.shape[1] - 2) // 2
    return statistics[:, :orders], statistics[:, orders:-2], statistics[:, -2], statistics[:, -1]


def _outcome(values: Floats, statistics: Floats, signature: Mapping[str, str]) -> Outcome:
    _, _, predicted, reference = _split(statistics)
    return Outcome(values, signature, prediction_content=predicted > 0, reference_content=reference > 0)


def _brevity(predicted: Floats, reference: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        short = np.exp(1.0 - reference / predicted)
    return np.where(predicted > reference, 1.0, short)


def _bleu2(statistics: Floats, convention: Convention) -> Floats:
    matches, totals, predicted, reference = _split(statistics)
    unigrams = matches[:, 0] / np.maximum(totals[:, 0], 1.0)
    bigrams = np.where(matches[:, 1] > 0, matches[:, 1], _ZERO_BIGRAMS) / np.maximum(totals[:, 1], 1.0)
    mean = np.sqrt(unigrams * bigrams)
    if convention == "corrected":
        mean = np.where(totals[:, 1] > 0, mean, unigrams)
    return np.where(matches[:, 0] > 0, _brevity(predicted, reference) * mean, 0.0)


def _corpus(key: str, statistics: Floats, convention: Convention, tokenizer: str) -> Outcome:
    formula = _formula(key, convention)
    base = _outcome(formula(statistics), statistics, {"tok": tokenizer, "impl": "coco", "agg": "corpus"})
    return replace(base, statistics=statistics, formula=formula)


def _formula(key: str, convention: str) -> Formula:
    order = int(key.removeprefix("coco_bleu"))
    return partial(_coco_published if convention == "published" else _coco_corrected, order=order)


def _formula_of(key: str, parts: Mapping[str, str]) -> Formula | None:
    return None if key == "bleu2" else _formula(key, parts["conv"])


def _coco_published(statistics: Floats, order: int) -> Floats:
    matches, totals, predicted, reference = _split(statistics)
    product = np.prod((matches[:, :order] + _TINY) / (totals[:, :order] + _SMALL), axis=1)
    ratio = (predicted + _TINY) / (reference + _SMALL)
    penalty = np.exp(np.minimum(0.0, 1.0 - 1.0 / ratio))
    return product ** (1.0 / order) * penalty


def _coco_corrected(statistics: Floats, order: int) -> Floats:
    matches, totals, predicted, reference = _split(statistics)
    present = totals[:, :order] > 0
    precisions = np.where(present, matches[:, :order] / np.maximum(totals[:, :order], 1.0), 1.0)
    effective = np.maximum(present.sum(axis=1), 1)
    score = np.prod(precisions, axis=1) ** (1.0 / effective) * _brevity(predicted, reference)
    # Nothing predicted: the worst value, or none where nothing was to be said either.
    return np.where(predicted > 0, score, np.where(reference > 0, 0.0, np.nan))


def _coco_key(order: int) -> ScoreKey:
    return ScoreKey(
        key=f"coco_bleu{order}",
        label=f"COCO BLEU-{order}",
        direction="higher",
        ranges=UNIT_RANGES,
        kind="corpus",
        digits=3,
        modality=("any",),
        language=("any",),
        description=(
            f"Geometric mean of the clipped n-gram precisions up to n = {order} over the whole corpus, "
            "times the penalty for brevity."
        ),
    )


METRIC = Metric(
    name="bleu",
    version="1",
    keys=(
        ScoreKey(
            key="bleu2",
            label="BLEU-2",
            direction="higher",
            ranges=UNIT_RANGES,
            kind="mean",
            digits=3,
            modality=("any",),
            language=("any",),
            description=(
                "Geometric mean of clipped unigram and bigram precision of a report, times the penalty for brevity; "
                "mean of studies."
            ),
        ),
        *(_coco_key(order) for order in range(1, _ORDERS + 1)),
    ),
    compute=_compute,
    formula_of=_formula_of,
    source="Papineni et al., ACL 2002; github.com/rajpurkarlab/CXR-Report-Metric; github.com/salaniz/pycocoevalcap",
    examples=(
        Example("Cardiomegaly", "Cardiomegaly"),
        Example("Stable heart size.\tClear apices.", "Stable heart size. Clear apices."),
        Example("Impression:Stable heart size.", "IMPRESSION: stable heart size."),
        Example("Impression: Stable heart size.", "Stable heart size."),
        Example("hernia(large)", "hernia (large)"),
        Example("Heart enlarged; lungs expanded.", "Heart enlarged lungs expanded."),
        Example("fracture", "no fracture"),
        Example("large hiatal hernia", "large hiatal hernia"),
        Example("Hernia", "hernia"),
    ),
    faults=(
        "ReXrank's tokeniser keeps tabs and line breaks inside tokens and glues all marks but full stops to their "
        "word, and an identical report of one token scores .316.",
        "pycocoevalcap gives an identical report of three words a BLEU-4 of .032, of two words .001; case counts, "
        "unless the Stanford tokeniser is put in front, as R2Gen-style code does not.",
        "pycocoevalcap stops where the ids of both sides differ, without saying which.",
        "`fast_bleu`, which ReXrank calls, often fails to build.",
        "`evaluate`'s bleu and sacrebleu use the tokeniser 13a and a corpus value without smoothing, sacrebleu from 0 "
        "to 100; its references are listed by set and not by study, so two studies as two lists score 100 in silence.",
        "NLTK without smoothing gives 1e-154 to two identical words; its smoothing method 7 can exceed 1.",
        "RadEval runs four passes for BLEU-1 to BLEU-4 and imports torch for them.",
    ),
)
