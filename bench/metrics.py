"""Time the lexical metrics against their originals on the same invented reports.

    python -m bench.metrics [--pairs 10000] [--words 60] [--seed 0]

Both sides start from text and end with one value a study (and the corpus value
where there is one); the run stops with an error where they do not agree.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rexrank.metrics import compute

_TOLERANCE = 1e-9
_VOCABULARY = (
    "no the of is are and with in there right left lower upper lobe lung lungs clear heart size normal mild moderate "
    "severe small large effusion pleural pneumothorax opacity opacities consolidation atelectasis edema pulmonary "
    "vascular congestion mediastinal contours silhouette cardiac enlarged stable unchanged acute focal airspace "
    "disease fracture rib degenerative changes spine thoracic catheter tube tip line port overlying bilateral basilar "
    "hyperinflated calcified granuloma hilar prominent tortuous aorta scarring interstitial nodular density measuring "
    "compared prior evidence suggests likely possible"
)


@dataclass(frozen=True)
class Work:
    """The same task for both sides.

    Attributes:
        name: What is computed.
        original: Name of the original.
        ours: Gives arrays by name.
        theirs: Gives arrays by the same names.
    """

    name: str
    original: str
    ours: Callable[[], dict[str, np.ndarray]]
    theirs: Callable[[], dict[str, np.ndarray]]


def invented_reports(pairs: int, words: int, seed: int) -> tuple[list[str], list[str]]:
    """Predictions and references of about the given number of words; predictions are disturbed references."""
    generator = random.Random(seed)
    vocabulary = _VOCABULARY.split()
    weights = [1 / rank for rank in range(1, len(vocabulary) + 1)]
    predictions, references = [], []
    for _ in range(pairs):
        reference = generator.choices(vocabulary, weights, k=words)
        kept = [word if generator.random() < 0.6 else generator.choices(vocabulary, weights)[0] for word in reference]
        cut = generator.randrange(words)
        predictions.append(_sentences(kept[cut:] + kept[:cut]))
        references.append(_sentences(reference))
    return predictions, references


def _sentences(words: Sequence[str]) -> str:
    parts = [" ".join(words[start : start + 8]).capitalize() for start in range(0, len(words), 8)]
    return ". ".join(parts) + "."


def _ours(keys: Sequence[str], predictions: list[str], references: list[str]) -> dict[str, np.ndarray]:
    scores = compute(keys, predictions, references)
    values = {key: scores[key].values for key in keys}
    return values | {f"{key} aggregate": np.array([scores[key].aggregate]) for key in keys}


def _with_means(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return values | {f"{key} aggregate": np.array([column.mean()]) for key, column in values.items()}


def _nltk_bleu2(predictions: list[str], references: list[str]) -> dict[str, np.ndarray]:
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    def tokens(text: str) -> list[str]:
        return [token for token in text.lower().replace(".", " .").split(" ") if token]

    smoothing = SmoothingFunction().method1
    scores = [
        sentence_bleu([tokens(reference)], tokens(prediction), weights=(0.5, 0.5), smoothing_function=smoothing)
        for prediction, reference in zip(predictions, references, strict=True)
    ]
    return _with_means({"bleu2": np.array(scores, dtype=np.float64)})


def _coco_bleu(predictions: list[str], references: list[str]) -> dict[str, np.ndarray]:
    from pycocoevalcap.bleu.bleu import Bleu

    corpus, studies = Bleu(4).compute_score(_by_id(references), _by_id(predictions), verbose=0)
    values = {f"coco_bleu{order}": np.array(studies[order - 1]) for order in range(1, 5)}
    return values | {f"coco_bleu{order} aggregate": np.array([corpus[order - 1]]) for order in range(1, 5)}


def _coco_rouge(predictions: list[str], references: list[str]) -> dict[str, np.ndarray]:
    from pycocoevalcap.rouge.rouge import Rouge

    mean, studies = Rouge().compute_score(_by_id(references), _by_id(predictions))
    return {"rouge_l": np.asarray(studies), "rouge_l aggregate": np.array([mean])}


def _by_id(texts: list[str]) -> dict[int, list[str]]:
    return {position: [text] for position, text in enumerate(texts)}


def _rouge_score(kinds: dict[str, str], predictions: list[str], references: list[str]) -> dict[str, np.ndarray]:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(list(kinds.values()), use_stemmer=True)
    scores = [
        scorer.score(reference, prediction) for prediction, reference in zip(predictions, references, strict=True)
    ]
    return _with_means({key: np.array([score[kind].fmeasure for score in scores]) for key, kind in kinds.items()})


def works(predictions: list[str], references: list[str]) -> list[Work]:
    """The tasks that are timed."""
    coco = [f"coco_bleu{order}" for order in range(1, 5)]
    longest = {"rouge_l_f1": "rougeL"}
    all_three = {"rouge1": "rouge1", "rouge2": "rouge2", **longest}
    texts = (predictions, references)
    return [
        Work("BLEU-2", "nltk sentence_bleu", lambda: _ours(["bleu2"], *texts), lambda: _nltk_bleu2(*texts)),
        Work("COCO BLEU-1..4", "pycocoevalcap Bleu(4)", lambda: _ours(coco, *texts), lambda: _coco_bleu(*texts)),
        Work("ROUGE-L (COCO)", "pycocoevalcap Rouge", lambda: _ours(["rouge_l"], *texts), lambda: _coco_rouge(*texts)),
        Work(
            "ROUGE-L F1",
            "rouge_score, stemmer",
            lambda: _ours(list(longest), *texts),
            lambda: _rouge_score(longest, *texts),
        ),
        Work(
            "ROUGE-1, -2, -L F1",
            "rouge_score, stemmer",
            lambda: _ours(list(all_three), *texts),
            lambda: _rouge_score(all_three, *texts),
        ),
    ]


def _timed(call: Callable[[], dict[str, np.ndarray]]) -> tuple[float, dict[str, np.ndarray]]:
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result


def _difference(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> float:
    return max(float(np.abs(ours[name] - theirs[name]).max()) for name in theirs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a number differs from the original's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    predictions, references = invented_reports(chosen.pairs, chosen.words, chosen.seed)
    for work in works(predictions[:2], references[:2]):  # imports and caches of both sides stay out of the timing
        work.ours()
        work.theirs()
    print(f"{chosen.pairs:,} pairs of {chosen.words} words, seed {chosen.seed}")
    print(f"{'':20}{'rexrank':>10}{'original':>10}{'ratio':>8}{'largest difference':>20}")
    different = False
    for work in works(predictions, references):
        print(f"{work.name}: rexrank and {work.original} …", file=sys.stderr, flush=True)
        own_seconds, own = _timed(work.ours)
        seconds, theirs = _timed(work.theirs)
        difference = _difference(own, theirs)
        different |= not difference <= _TOLERANCE
        figures = f"{own_seconds:>9.3f}s{seconds:>9.3f}s{seconds / own_seconds:>7.1f}x{difference:>20.1e}"
        print(f"{work.name:20}{figures}  {work.original}", flush=True)
    if different:
        print("a number differs from the original's", file=sys.stderr)
    return int(different)


if __name__ == "__main__":
    raise SystemExit(main())
