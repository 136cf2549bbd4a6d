"""Time every metric of texts against its original package on the same real report pairs.

    python -m bench.metrics [--pairs 3000] [--only cider,meteor]

The reports are Open-i's, read from the package torchxrayvision: the findings of a report are the reference, and
the nearest text of another half of the collection is the prediction. Both sides start from text and end with one
value a study and the aggregate; the run stops with an error where they do not agree. METEOR's Java is started by
both sides before the clock.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from rexrank.benchmarks import openi
from rexrank.benchmarks.nearest import nearest
from rexrank.metrics import compute, metrics, why_unavailable

_TOLERANCE = 1e-9
_WARM_PAIRS = 20


@dataclass(frozen=True)
class Work:
    """The same task for both sides.

    Attributes:
        metric: Name of the metric in the registry.
        keys: Scores that are computed.
        original: Name of the original, or why there is none to compare with.
        theirs: Predictions and references to arrays by the names of `_ours`; None without an original.
    """

    metric: str
    keys: tuple[str, ...]
    original: str
    theirs: Callable[[list[str], list[str]], dict[str, np.ndarray]] | None = None


def real_pairs(pairs: int) -> tuple[list[str], list[str]]:
    """Predictions and references: findings of Open-i, and for each the nearest findings of the other half."""
    reports = openi.read_reports(openi.archive_path())
    findings = [report.findings for report in reports.values() if report.findings]
    halves = findings[::2], findings[1::2]
    predictions, references = [], []
    for queries, documents in (halves, halves[::-1]):
        for query, position in zip(queries, nearest(queries, documents), strict=True):
            if position is not None:
                predictions.append(documents[position])
                references.append(query)
    if len(references) < pairs:
        raise SystemExit(f"Open-i gives {len(references):,} pairs; ask for fewer than {pairs:,}")
    return predictions[:pairs], references[:pairs]


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


def _coco_cider(predictions: list[str], references: list[str]) -> dict[str, np.ndarray]:
    from pycocoevalcap.cider.cider import Cider

    mean, studies = Cider().compute_score(_by_id(references), _by_id(predictions))
    return {"cider": np.asarray(studies), "cider aggregate": np.array([mean])}


@cache
def _started_meteor() -> Any:
    from pycocoevalcap.meteor.meteor import Meteor

    return Meteor()


def _coco_meteor(predictions: list[str], references: list[str]) -> dict[str, np.ndarray]:
    aggregate, studies = _started_meteor().compute_score(_by_id(references), _by_id(predictions))
    return {"meteor": np.asarray(studies), "meteor aggregate": np.array([aggregate])}


COCO = tuple(f"coco_bleu{order}" for order in range(1, 5))
ROUGE = {"rouge1": "rouge1", "rouge2": "rouge2", "rouge_l_f1": "rougeL"}
WORKS = (
    Work("bleu", ("bleu2",), "nltk sentence_bleu", _nltk_bleu2),
    Work("bleu", COCO, "pycocoevalcap Bleu(4)", _coco_bleu),
    Work("rouge", ("rouge_l",), "pycocoevalcap Rouge", _coco_rouge),
    Work("rouge", tuple(ROUGE), "rouge_score, stemmer", partial(_rouge_score, ROUGE)),
    Work("cider", ("cider",), "pycocoevalcap Cider", _coco_cider),
    Work("meteor", ("meteor",), "pycocoevalcap Meteor, one Java process", _coco_meteor),
    Work("temporal_f1", ("temporal_f1",), "no original installs: it downloads a Stanza model when it starts"),
    Work("f1labels", ("f1labels_micro_14",), "no original: the labeller is rexrank's own"),
    Work("report_statistics", ("report_words",), "no original: descriptive"),
    Work("laterality", ("laterality",), "no original: the rules are rexrank's own"),
    Work("hedging", ("hedging",), "no original: the rules are rexrank's own"),
    Work("measurements", ("measurements",), "no original: the rules are rexrank's own"),
    Work("unsupported_prior", ("unsupported_prior",), "no original: the rules are rexrank's own"),
    Work("invented_device", ("invented_device",), "no original: the rules are rexrank's own"),
    Work("contradiction", ("contradiction",), "no original: the rules are rexrank's own"),
)


def _timed(call: Callable[[], dict[str, np.ndarray]]) -> tuple[float, dict[str, np.ndarray]]:
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result


def _difference(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> float:
    return max(float(np.abs(ours[name] - theirs[name]).max()) for name in theirs)


def _untimed() -> list[str]:
    """Metrics of texts that no work names: a new one has to be timed here."""
    texts_alone = {
        metric.name
        for metric in metrics().values()
        if metric.task == "report" and not all(key.needs for key in metric.keys)
    }
    return sorted(texts_alone - {work.metric for work in WORKS})


def _line(work: Work, predictions: list[str], references: list[str]) -> tuple[str, bool]:
    """One row of the table, and whether a number differs from the original's."""
    name = work.keys[0] if len(work.keys) == 1 else f"{work.keys[0]} … {work.keys[-1]}"
    print(f"{name}: rexrank and {work.original} …", file=sys.stderr, flush=True)
    start = f"{name:24}"
    seconds, ours = _timed(lambda: _ours(work.keys, predictions, references))
    rate = f"{seconds:>9.3f}s{len(predictions) / seconds:>10,.0f}/s"
    if work.theirs is None:
        return f"{start}{rate}{'':>40}  {work.original}", False
    theirs = work.theirs
    their_seconds, values = _timed(lambda: theirs(predictions, references))
    difference = _difference(ours, values)
    figures = f"{their_seconds:>9.3f}s{their_seconds / seconds:>9.1f}x{difference:>20.1e}"
    return f"{start}{rate}{figures}  {work.original}", not difference <= _TOLERANCE


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a number differs from the original's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=3_000)
    parser.add_argument("--only", metavar="A,B", help="names of metrics (default: all)")
    chosen = parser.parse_args(arguments)
    if untimed := _untimed():
        raise SystemExit(f"bench/metrics.py times no {untimed[0]}; add it to WORKS")
    only = chosen.only.split(",") if chosen.only else [work.metric for work in WORKS]
    works = [work for work in WORKS if work.metric in only and not why_unavailable(work.keys[0])]
    predictions, references = real_pairs(chosen.pairs)
    for work in works:  # imports, caches and Java of both sides stay out of the timing
        _ours(work.keys, predictions[:_WARM_PAIRS], references[:_WARM_PAIRS])
        if work.theirs:
            work.theirs(predictions[:_WARM_PAIRS], references[:_WARM_PAIRS])
    print(f"{chosen.pairs:,} pairs of Open-i findings")
    print(f"{'':24}{'rexrank':>10}{'pairs':>12}{'original':>10}{'ratio':>10}{'largest difference':>20}")
    different = False
    for work in works:
        line, differs = _line(work, predictions, references)
        print(line, flush=True)
        different |= differs
    if different:
        print("a number differs from the original's", file=sys.stderr)
    return int(different)


if __name__ == "__main__":
    raise SystemExit(main())
