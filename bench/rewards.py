"""Time reward functions as a trainer calls them: batch after batch, new completions for references that repeat.

    python -m bench.rewards [--weights DIR] [--size tiny|base] [--completions 64] [--group 8] [--only bleu2,radcliq_v1]

Each reward runs in a process of its own on the processor, with one thread and an empty store, and what is printed are
seconds of the processor, so that what runs beside does not count. Columns: importing and `make`; the first
batch, models loaded; the median of further batches, whose completions are new and whose references were in the batch
before; a batch whose references are new too; a batch that was there already. Beside them what `rexrank.score` takes for
one such batch in a process that has the libraries loaded.

Without DIR the checkpoints have seeded random numbers: ``tiny`` ones show what rexrank adds to the encoders, ``base``
ones have the published shapes, and time does not depend on what a weight is.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.neural import invented_studies
from rexrank.encoders.inventory import TOKENIZERS
from rexrank.scoring.encoding import requests
from rexrank.verification.seeded import make

_ROOT = Path(__file__).resolve().parents[1]
_REWARDS: Mapping[str, str | Mapping[str, float]] = {
    "bleu2": "bleu2",
    "rouge_l": "rouge_l",
    "f1labels_samples_14": "f1labels_samples_14",
    "sembscore": "sembscore",
    "bertscore": "bertscore",
    "radgraph_partial": "radgraph_partial",
    "ratescore": "ratescore",
    "radcliq_v1": "radcliq_v1",
    "radgraph_partial + bleu2": {"radgraph_partial": 0.5, "bleu2": 0.5},
}
_COLUMNS = ("make", "first", "next", "new references", "again", "score()")
_FURTHER = 5
_ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def run(job: Mapping[str, Any]) -> dict[str, float]:
    """Seconds by column, in the process of one reward."""
    completions, references = invented_studies((_FURTHER + 3) * job["completions"])
    size, group = job["completions"], job["group"]
    batches = [completions[start : start + size] for start in range(0, len(completions), size)]
    same = [references[at // group] for at in range(size)]
    other = [references[size + at // group] for at in range(size)]
    seconds = {}
    settings = {"weights": job["weights"], "device": "cpu", "download": False, "progress": False}

    def timed(column: str, work: Any) -> float:
        begun = time.process_time()
        work()
        seconds[column] = time.process_time() - begun
        return seconds[column]

    def made() -> Any:
        from rexrank import rewards

        return rewards.make(job["what"], cache_dir=job["store"], **settings)

    begun = time.process_time()
    reward = made()
    seconds["make"] = time.process_time() - begun
    timed("first", lambda: reward(completions=batches[0], reference=same))
    further = [timed("next", lambda at=at: reward(completions=batches[at], reference=same)) for at in _numbers()]
    seconds["next"] = statistics.median(further)
    timed("new references", lambda: reward(completions=batches[-2], reference=other))
    timed("again", lambda: reward(completions=batches[-2], reference=other))
    timed("score()", lambda: _score(job, batches[-1], same, settings))
    return seconds


def _numbers() -> range:
    return range(1, 1 + _FURTHER)


def _score(job: Mapping[str, Any], predictions: Sequence[str], references: Sequence[str], settings: Any) -> None:
    import rexrank

    rexrank.score(
        list(predictions), list(references), protocol="plain", metrics=_keys(job["what"]), convention="corrected",
        cache_dir=job["store"], **settings,
    )  # fmt: skip


def _checkpoints(chosen: Sequence[str]) -> set[str]:
    """Names of what the encoders of rewards load; archives of RadGraph name their tokenizers inside."""
    keys = [key for name in chosen for key in _keys(_REWARDS.get(name, name))]
    found = [request.encoder for key in keys for request in requests(key, {}, "corrected")]
    named = {checkpoint.name for encoder in found for checkpoint in encoder.checkpoints}
    return named | {checkpoint.name for checkpoint in TOKENIZERS.values()}


def _keys(what: str | Mapping[str, float]) -> list[str]:
    return [what] if isinstance(what, str) else list(what)


def main() -> None:
    """Print a line a reward."""
    parser = argparse.ArgumentParser(prog="python -m bench.rewards")
    parser.add_argument("--weights", help="folder with checkpoints")
    parser.add_argument("--size", choices=("tiny", "base"), default="tiny", help="of seeded checkpoints")
    parser.add_argument("--completions", type=int, default=64, help="in a batch")
    parser.add_argument("--group", type=int, default=8, help="completions of one prompt")
    parser.add_argument("--only", help="names of rewards, with commas between them")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        print(json.dumps(run(json.loads(arguments.job))))
        return
    chosen = arguments.only.split(",") if arguments.only else list(_REWARDS)
    with tempfile.TemporaryDirectory() as folder:
        weights = arguments.weights or str(Path(folder) / "weights")
        if not arguments.weights:
            Path(weights).mkdir()
            make(Path(weights), arguments.size, sorted(_checkpoints(chosen)))
        prompts = -(-arguments.completions // arguments.group)
        print(f"{arguments.completions} completions of {prompts} prompts, seconds of the processor")
        print(f"{'':<26}" + "".join(f"{column:>16}" for column in _COLUMNS), flush=True)
        for number, name in enumerate(chosen):
            job = {
                "what": _REWARDS.get(name, name),
                "weights": weights,
                "store": str(Path(folder) / f"store{number}"),
                "completions": arguments.completions,
                "group": arguments.group,
            }
            command = [sys.executable, "-m", "bench.rewards", "--job", json.dumps(job)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=_ROOT, env=_ONE_THREAD, check=True)
            seconds = json.loads(done.stdout)
            print(f"{name:<26}" + "".join(f"{seconds[column]:>16.3f}" for column in _COLUMNS), flush=True)


if __name__ == "__main__":
    main()
