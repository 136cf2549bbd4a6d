"""Time one original package on report pairs; started by `bench.neural` under the interpreter that holds the originals.

Reads a job as `rexrank/verification/originals.py` does, with the path of that file in ``script``, and prints seconds of
loading and of scoring, and the peak memory of the process. Each original is called once with all pairs, as its users
do.
"""

import importlib
import importlib.util
import json
import os
import resource
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

Job = dict[str, Any]
Score = Callable[[list[str], list[str]], Any]


def _radgraph(job: Job) -> Score:
    from radgraph import F1RadGraph

    scorer = F1RadGraph(reward_level="all", model_type=job["model"])
    return lambda predictions, references: scorer(hyps=predictions, refs=references)


def _radeval_radgraph(job: Job) -> Score:
    # The copy imports itself by a name that the package no longer has; its own __init__ files import much more.
    found = importlib.util.find_spec("radeval")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("radeval")
    root = Path(found.submodule_search_locations[0])
    for name in ("RadEval", "RadEval.metrics", "RadEval.metrics.radgraph"):
        module = types.ModuleType(name)
        module.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = module
    core = importlib.import_module("RadEval.metrics.radgraph._vendor.core")
    scorer = core.F1RadGraph(reward_level="all", model_type=job["model"])
    return lambda predictions, references: scorer(hyps=predictions, refs=references)


def _chexbert(job: Job) -> Score:
    from f1chexbert import F1CheXbert

    scorer = F1CheXbert()
    return lambda predictions, references: scorer(hyps=predictions, refs=references)


def _sembscore(job: Job) -> Score:
    """CheXbert once more, as CXR-Report-Metric runs it: a pass of its own over both sides in batches of 18."""
    import pandas as pd
    import torch
    from f1chexbert import F1CheXbert

    inside = importlib.import_module("f1chexbert.f1chexbert")
    scorer = F1CheXbert()

    def encode(texts: list[str]) -> None:
        rows = inside.tokenize(pd.Series(texts), scorer.tokenizer)
        for start in range(0, len(rows), 18):
            batch = [torch.LongTensor(row) for row in rows[start : start + 18]]
            ids = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True)
            mask = inside.generate_attention_masks(ids, [len(row) for row in batch], scorer.device)
            with torch.no_grad():
                scorer.model.bert(ids, attention_mask=mask)

    return lambda predictions, references: (encode(predictions), encode(references))


def _bertscore(job: Job) -> Score:
    from bert_score import BERTScorer

    scorer = BERTScorer(
        model_type="distilroberta-base", num_layers=5, lang="en", rescale_with_baseline=True, batch_size=256
    )
    return lambda predictions, references: scorer.score(predictions, references)


def _ratescore(job: Job) -> Score:
    from RaTEScore import RaTEScore

    scorer = RaTEScore(use_gpu=False)
    return lambda predictions, references: scorer.compute_score(predictions, references)


ORIGINALS: dict[str, Callable[[Job], Score]] = {
    "radgraph": _radgraph,
    "radeval_radgraph": _radeval_radgraph,
    "chexbert": _chexbert,
    "sembscore": _sembscore,
    "bertscore": _bertscore,
    "ratescore": _ratescore,
}


def main() -> int:
    """Run the job on stdin."""
    job = json.load(sys.stdin)
    answer = os.dup(1)
    os.dup2(2, 1)
    sys.path.insert(0, str(Path(job["script"]).parent))
    originals = importlib.import_module(Path(job["script"]).stem)
    with tempfile.TemporaryDirectory(prefix="originals-") as folder:
        originals.prepare(job, Path(folder).resolve())
        started = time.perf_counter()
        score = ORIGINALS[job["package"]](job)
        loaded = time.perf_counter()
        score(job["predictions"], job["references"])
        done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    with os.fdopen(answer, "w", encoding="utf-8") as out:
        json.dump({"load_s": loaded - started, "score_s": done - loaded, "peak_gib": peak}, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
