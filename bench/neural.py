"""Time the neural metrics against their originals and against forward passes alone, on the same real report pairs.

    python -m bench.neural [--python .venv-oracle/bin/python] [--weights DIR] [--pairs 590] [--only bertscore,radgraph]

The pairs are those of a public model on the IU-Xray test set (shared data), else invented ones. Checkpoints have
seeded random numbers in the shapes of the published ones, since time does not depend on what a weight is; they are
made once in DIR (default: a temporary folder). Each side runs in a process of its own, on the processor.

rexrank starts from texts with an empty store, loads its models and ends with scores; the second submission has
other texts for the same references. The bound is forward passes alone over the distinct inputs, all layers, at the
best batch size. An original is loaded and called once with all pairs; `make oracle` makes the environment for them.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.neural_run import KEYS
from rexrank.benchmarks import openi
from rexrank.encoders.inventory import TOKENIZERS
from rexrank.encoders.weights import Weights
from rexrank.scoring.encoding import requests
from rexrank.verification import originals
from rexrank.verification.reports import PAIRS, REPORTS
from rexrank.verification.seeded import make

_ROOT = Path(__file__).resolve().parents[1]
_SHARED = Path(os.environ.get("REXRANK_SHARED") or _ROOT.parent / "shared")
_LIMIT_S = 3 * 3600
_STUDIES, _WORDS = 10_000, 40
# What one has to run for all of `KEYS`, one after the other: package, model, and the name that `originals` knows.
_ORIGINALS: Mapping[str, tuple[str, str, str]] = {
    "f1chexbert 0.0.2": ("chexbert", "", "chexbert"),
    "SembScore in batches of 18": ("sembscore", "", "chexbert"),
    "bert-score 0.3.13": ("bertscore", "", "bertscore-distilroberta"),
    "radgraph 0.1.18, XL": ("radgraph", "radgraph-xl", "radgraph-xl"),
    "radgraph 0.1.18, v1": ("radgraph", "radgraph", "radgraph-v1"),
    "RaTEScore 0.6.0": ("ratescore", "", "ratescore"),
}
_COPIES: Mapping[str, tuple[str, str, str]] = {
    "RadGraph-XL in RadEval 2.2.1": ("radeval_radgraph", "radgraph-xl", "radgraph-xl"),
}
_INSTEAD_OF: Mapping[str, tuple[str, ...]] = {
    "f1chexbert": ("f1chexbert 0.0.2", "SembScore in batches of 18"),
    "bertscore": ("bert-score 0.3.13",),
    "radgraph": ("radgraph 0.1.18, XL",),
    "radgraph_combined": ("radgraph 0.1.18, v1",),
    "ratescore": ("RaTEScore 0.6.0",),
}


def real_pairs(pairs: int) -> tuple[list[str], list[str], str]:
    """Predictions, references, and where they come from."""
    folder = _SHARED / "data" / "iu_xray" / "predictions" / "moerad"
    if not folder.is_dir():
        chosen = [PAIRS[number % len(PAIRS)] for number in range(pairs)]
        return [one for one, _ in chosen], [other for _, other in chosen], "invented pairs"
    sides = []
    for name in ("preds.csv", "gts.csv"):
        with (folder / name).open(newline="", encoding="utf-8") as handle:
            sides.append([row["report"] for row in csv.DictReader(handle)][:pairs])
    return sides[0], sides[1], "MoERad's pairs on the IU-Xray test set"


def distinct_findings(count: int, other_than: Sequence[str]) -> list[str]:
    """Real findings that are all different from each other and from other texts."""
    used = set(other_than)
    findings = [report.findings for report in openi.read_reports(openi.archive_path()).values() if report.findings]
    return [text for text in dict.fromkeys(findings) if text not in used][:count]


def invented_studies(count: int) -> tuple[list[str], list[str]]:
    """Predictions and references that are all different."""
    words = sorted({word for report in REPORTS for word in report.split() if word.isalpha()})
    chance = random.Random(0)
    texts = [" ".join(chance.choices(words, k=_WORDS)) for _ in range(2 * count)]
    return texts[:count], texts[count:]


def _run(said: str, kind: str, job: Mapping[str, Any]) -> dict[str, Any]:
    print(f"{said} …", file=sys.stderr, flush=True)
    asked = json.dumps({"options": {}, **job, "kind": kind})
    command = [sys.executable, "-m", "bench.neural_run"]
    done = subprocess.run(
        command, input=asked, stdout=subprocess.PIPE, text=True, cwd=_ROOT, timeout=_LIMIT_S, check=True
    )
    made = dict(json.loads(done.stdout))
    print(f"{said}: {made['total_s']:.1f} s", file=sys.stderr, flush=True)
    return made


def _run_original(python: str, name: str, original: tuple[str, str, str], job: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds and memory of an original; empty where it fails."""
    print(f"{name} …", file=sys.stderr, flush=True)
    package, model, known = original
    script = str(Path(originals.__file__))
    asked = json.dumps({**job, "package": package, "model": model, "original": known, "script": script})
    # Isolated: this folder has files with common names, which would hide modules of the standard library.
    command = [python, "-I", str(_ROOT / "bench" / "original_timings.py")]
    # RaTEScore's splitter of sentences logs each word of a report unless it is told not to.
    settings = {**os.environ, "LOGURU_LEVEL": "WARNING"}
    done = subprocess.run(
        command, input=asked, stdout=subprocess.PIPE, text=True, env=settings, timeout=_LIMIT_S, check=False
    )
    made = dict(json.loads(done.stdout)) if done.returncode == 0 else {}
    print(f"{name}: {_spent(made):.1f} s" if made else f"{name}: failed", file=sys.stderr, flush=True)
    return made


def _checkpoints() -> set[str]:
    """Names of what the encoders load; archives of RadGraph name their tokenizers inside."""
    found = [request.encoder for keys in KEYS.values() for key in keys for request in requests(key, {}, "published")]
    named = {checkpoint.name for encoder in found for checkpoint in encoder.checkpoints}
    return named | {checkpoint.name for checkpoint in TOKENIZERS.values()}


def _files(weights: str) -> dict[str, dict[str, str]]:
    """Repo to the files of its checkpoints here, for the originals."""
    files: dict[str, dict[str, str]] = {}
    place = Weights(weights, download=False)
    for key in (key for keys in KEYS.values() for key in keys):
        for request in requests(key, {}, "published"):
            for located in request.encoder.locate(place):
                paths = {name: str(path) for name, path in located.files.items()}
                files.setdefault(located.checkpoint.repo, {}).update(paths)
    return files


def _print(
    ours: Mapping[str, Any], bound: Mapping[str, Any], theirs: Mapping[str, Mapping[str, float]], names: Sequence[str]
) -> None:
    print(f"\n{'':28}{'rexrank':>10}{'bound':>10}{'ratio':>8}{'originals':>12}{'ratio':>8}")
    for name in names:
        for request in requests(KEYS[name][0], {}, "published")[: name in _INSTEAD_OF]:
            label = request.encoder.label
            spent = [_spent(theirs[one]) for one in _INSTEAD_OF[name] if theirs.get(one)]
            _print_line(label, ours["seconds"][label], bound["seconds"].get(label), spent)
    rest = sum(seconds for name, seconds in ours["seconds"].items() if name.startswith("metric "))
    _print_line("from features to scores", rest, None, [])
    _print_line(
        "all", ours["total_s"], bound["total_s"], [_spent(theirs[name]) for name in _ORIGINALS if theirs.get(name)]
    )
    print(f"import of torch and transformers, not in these: {ours['import_s']:.1f} s")
    print(f"peak memory of rexrank: {ours['peak_gib']:.2f} GiB")
    for name, found in theirs.items():
        figures = "load {load_s:.1f} s, score {score_s:.1f} s, peak {peak_gib:.2f} GiB".format(**found) if found else ""
        print(f"{name}: {figures or 'failed'}")


def _share_of_words(new: Sequence[str], known: Sequence[str]) -> float:
    """Words of the distinct new texts among those of all: what a second submission cannot save."""
    words = [sum(len(text.split()) for text in set(texts)) for texts in (new, known)]
    return words[0] / sum(words)


def _spent(found: Mapping[str, float]) -> float:
    return found["load_s"] + found["score_s"]


def _print_line(label: str, ours: float, bound: float | None, theirs: Sequence[float]) -> None:
    least = f"{bound:>9.1f}s{ours / bound:>8.2f}" if bound else f"{'':18}"
    original = f"{sum(theirs):>11.1f}s{sum(theirs) / ours:>7.1f}x" if theirs else ""
    print(f"{label:28}{ours:>9.1f}s{least}{original}", flush=True)


def _print_memory(weights: str, temporary: str) -> None:
    """Token vectors of full width of many studies, by one layer, and every other feature at the smallest size."""
    predictions, references = invented_studies(_STUDIES)
    job = {"predictions": predictions, "references": references}
    one_layer = {"model": "FremyCompany/BioLORD-2023-C", "layer": 1}
    wide = _run(
        f"{_STUDIES:,} studies, token vectors of full width",
        "score",
        {**job, "only": ["bertscore"], "options": one_layer, "weights": weights, "store": f"{temporary}/wide"},
    )
    print(f"{_STUDIES:,} studies, token vectors of width 768: peak {wide['peak_gib']:.2f} GiB, {wide['total_s']:.0f} s")
    tiny = f"{temporary}/tiny"
    make(Path(tiny), "tiny", _checkpoints())
    small = _run(
        f"{_STUDIES:,} studies, all metrics",
        "score",
        {**job, "only": None, "weights": tiny, "store": f"{temporary}/small"},
    )
    print(f"{_STUDIES:,} studies, all metrics, tiny models: peak {small['peak_gib']:.2f} GiB, {small['total_s']:.0f} s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="interpreter of the environment with the originals")
    parser.add_argument("--weights", help="folder for the seeded checkpoints")
    parser.add_argument("--pairs", type=int, default=590)
    parser.add_argument("--size", choices=("tiny", "base"), default="base", help="shapes of the checkpoints")
    parser.add_argument("--only", metavar="A,B", help=f"some of {', '.join(KEYS)}")
    parser.add_argument("--memory", action="store_true", help=f"instead, the memory that {_STUDIES:,} studies take")
    chosen = parser.parse_args(arguments)
    names = chosen.only.split(",") if chosen.only else list(KEYS)
    with tempfile.TemporaryDirectory(prefix="bench-neural-") as temporary:
        weights = chosen.weights or f"{temporary}/weights"
        if not Path(weights).is_dir() or not any(Path(weights).iterdir()):
            make(Path(weights), chosen.size, _checkpoints())
        if chosen.memory:
            _print_memory(weights, temporary)
            return 0
        predictions, references, source = real_pairs(chosen.pairs)
        print(f"{len(predictions):,} of {source}, {len({*predictions, *references}):,} different texts")
        job = {"weights": weights, "store": f"{temporary}/store", "only": names, "references": references}
        ours = _run("rexrank", "score", {**job, "predictions": predictions})
        others = {**job, "predictions": distinct_findings(len(predictions), [*predictions, *references])}
        second = _run("rexrank, second submission", "score", others)
        again = _run("rexrank, the same without the first", "score", {**others, "store": f"{temporary}/other"})
        bound = _run("forward passes alone", "bound", {**job, "predictions": predictions})
        theirs = {}
        if chosen.python:
            asked = {"files": _files(weights), "predictions": predictions, "references": references}
            for name, original in {**_ORIGINALS, **_COPIES}.items():
                theirs[name] = _run_original(chosen.python, name, original, asked)
        _print(ours, bound, theirs, names)
        print(
            f"second submission, {len(others['predictions'])} distinct predictions: {second['total_s']:.1f} s, "
            f"{second['total_s'] / again['total_s']:.2f} of the {again['total_s']:.1f} s without the first; "
            f"{_share_of_words(others['predictions'], references):.2f} of the words are new"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
