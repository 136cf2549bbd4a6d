"""METEOR 1.5, computed by the original Java program (`-l en -norm`) that pycocoevalcap carries.

The program makes words of a text, in small letters, and aligns those of prediction h
and reference r by four matchers: exact, stem, synonym, paraphrase, with the weights
w = 1, 0.6, 0.8, 0.6. Content words weigh d = 0.75, function words 1 - d. Then

- P = sum over matchers of w (d * matched content + (1 - d) * matched function words of h), over
  d * content + (1 - d) * function words of h; R likewise for r;
- F = 1 / ((1 - a) / P + a / R), a = 0.85;
- frag = chunks / mean number of matched words of h and r, where a study of which every word of both sides is
  matched in one chunk counts 0 chunks;
- score = (1 - g * frag^b) F, b = 0.2, g = 0.6, and 0 where that is 0/0. Range [0, 1].

Of several references the best one counts.

- ``meteor_mean``: the mean of the studies' scores.
- ``meteor_corpus``: the same formula on lengths, matches and chunks summed over all studies, which
  is what the program and pycocoevalcap print. It is not a mean.
- ``meteor``: the corpus score in `published`, the mean in `corrected`.

`corrected` takes texts in NFC with single spaces; `published` takes them as they are, and an
empty text scores 0. In both, control characters and the separator ``|||`` count as a space. A
study on which the program twice ends or works for too long has no value, with the reason
`failed`. Study scores can differ from the program's in the last digit, as its power function
does; sums are exact. What HF `evaluate` calls METEOR is another metric (NLTK's) and not comparable.
METEOR: Denkowski and Lavie, WMT 2014; github.com/salaniz/pycocoevalcap.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rexrank.external import meteor as program
from rexrank.metrics.outcome import Floats, Formula, Outcome
from rexrank.metrics.pairs import Pairs, canonical
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, ScoreKey
from rexrank.terms import Convention

_ALPHA, _BETA, _GAMMA, _DELTA = 0.85, 0.2, 0.6, 0.75
_MATCHER_WEIGHTS = (1.0, 0.6, 0.8, 0.6)
_CHUNKS = 20
_OF_REFERENCE = (1, 3)


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    if convention == "corrected":
        predictions: Sequence[str] = [canonical(text) for text in pairs.predictions]
        references: Sequence[Sequence[str]] = [[canonical(text) for text in texts] for texts in pairs.references]
    else:
        predictions, references = pairs.predictions, pairs.references
    statistics = program.statistics(predictions, references)
    statistics[_whole(statistics), _CHUNKS] = 0
    mean = _outcome(statistics)
    corpus = replace(
        mean,
        signature={**mean.signature, "agg": "corpus"},
        statistics=statistics,
        silent=_of_silence(statistics),
        formula=_FORMULAS[convention],
    )
    is_corpus = {"meteor": convention == "published", "meteor_corpus": True, "meteor_mean": False}
    return {key: corpus if is_corpus[key] else mean for key in keys}


def _formula_of(key: str, parts: Mapping[str, str]) -> Formula | None:
    return _FORMULAS[parts["conv"]] if parts.get("agg") == "corpus" else None


def _outcome(statistics: Floats) -> Outcome:
    failed = np.flatnonzero(np.isnan(statistics).any(axis=1)).tolist()
    return Outcome(
        values=np.where(np.isnan(statistics).any(axis=1), np.nan, score(statistics)),
        signature={"tok": "meteor-norm", "impl": "java1.5", "agg": "mean"},
        prediction_content=statistics[:, 0] != 0,
        reference_content=statistics[:, 1] != 0,
        counts={"n_failed": len(failed)},
        reasons=dict.fromkeys(failed, "failed"),
    )


def score(statistics: Floats) -> Floats:
    """The program's formula.

    Args:
        statistics: Statistics of studies, or their sums, as `rexrank.external.meteor` describes them, [n, 23]; but no
            chunk where a study is matched as a whole.

    Returns:
        Scores from 0 to 1, [n]; 0 where nothing matches, nan where the statistics are.
    """
    lengths, function_words = statistics[:, :2], statistics[:, 2:4]
    weighted_lengths = _DELTA * (lengths - function_words) + (1 - _DELTA) * function_words
    content, function = _matches(statistics)
    weighted = np.zeros_like(weighted_lengths)
    for number, weight in enumerate(_MATCHER_WEIGHTS):
        weighted += content[:, number] * weight * _DELTA
    for number, weight in enumerate(_MATCHER_WEIGHTS):
        weighted += function[:, number] * weight * (1 - _DELTA)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = (weighted / weighted_lengths).T
        mean = 1 / ((1 - _ALPHA) / precision + _ALPHA / recall)
        fragments = statistics[:, _CHUNKS] / ((statistics[:, _CHUNKS + 1] + statistics[:, _CHUNKS + 2]) / 2)
        scores = mean * (1 - _GAMMA * fragments**_BETA)
    return np.where(np.isnan(statistics).any(axis=1), np.nan, np.where(np.isnan(scores), 0, np.maximum(scores, 0)))


def _of_silence(statistics: Floats) -> Floats:
    """The statistics of studies whose prediction is blank: only their references are left."""
    silent = np.zeros_like(statistics)
    silent[:, _OF_REFERENCE] = statistics[:, _OF_REFERENCE]
    return silent


def _corrected(sums: Floats) -> Floats:
    nothing = (sums[:, 0] == 0) & (sums[:, 1] == 0)
    return np.where(nothing, np.nan, score(sums))


_FORMULAS = {"published": score, "corrected": _corrected}


def _matches(statistics: Floats) -> tuple[Floats, Floats]:
    """Matched content and function words, each [n, matchers, 2 sides]."""
    by_matcher = statistics[:, 4:_CHUNKS].reshape(len(statistics), len(_MATCHER_WEIGHTS), 2, 2)
    return by_matcher[:, :, 0], by_matcher[:, :, 1]


def _whole(statistics: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where every word of both sides is matched in one chunk: no fragment, which the program does not add up either."""
    matched = np.add(*_matches(statistics)).sum(axis=1)
    return (matched == statistics[:, :2]).all(axis=1) & (statistics[:, _CHUNKS] == 1)


def _key(key: str, label: str, kind: str, description: str) -> ScoreKey:
    return ScoreKey(
        key=key,
        label=label,
        direction="higher",
        ranges=UNIT_RANGES,
        kind="mean" if kind == "mean" else "corpus",
        digits=3,
        modality=("any",),
        language=("en",),
        description=description,
    )


_WORDS = "Weighted precision and recall of aligned words, stems, synonyms and paraphrases, less for scattered matches; "

METRIC = Metric(
    name="meteor",
    version="1",
    keys=(
        _key("meteor", "METEOR", "corpus", f"{_WORDS}of summed statistics (corrected: mean of studies)."),
        _key("meteor_corpus", "METEOR (corpus)", "corpus", f"{_WORDS}of summed statistics."),
        _key("meteor_mean", "METEOR (mean)", "mean", f"{_WORDS}mean of studies."),
    ),
    compute=_compute,
    formula_of=_formula_of,
    source="Denkowski and Lavie, WMT 2014; github.com/salaniz/pycocoevalcap",
    english_only=True,
    missing=program.missing,
    examples=(Example("No effusion.", ""), Example("Cafe\u0301", "Caf\u00e9")),
    faults=(
        "pycocoevalcap sends line breaks as they are, so one in a report shifts every later score or waits for ever.",
        "pycocoevalcap keeps its lock where an exception strikes, and then hangs at exit.",
        "pycocoevalcap takes the separator ||| out of predictions but leaves it in references, where it splits them.",
        "HF evaluate's meteor is NLTK's: an identical report of one word scores 0.5, and it downloads WordNet.",
        "Papers that average the scores of studies and those that print the program's corpus score call both METEOR.",
    ),
)
