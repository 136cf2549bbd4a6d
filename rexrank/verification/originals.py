"""Run one of the original packages on texts, unmodified, and print what it gives as JSON.

This file imports nothing of rexrank: `rexrank verify` starts it under the interpreter of the environment in which the
originals are installed, which cannot hold rexrank itself. It reads a job from stdin:

    {"original": one of `ORIGINALS`, "texts": [text, …], "pairs": [[prediction, reference], …],
     "files": {repo: {path in the repo: path on this machine}}, "threads": number of threads or 0 for torch's choice}

and prints one JSON object on stdout. A text or pair on which the original fails has ``{"error": name of the error}`` in
its place. Lines ``@progress done all`` go to stderr.

The originals fetch their weights from the Hub. Here they find the files of the job in a folder in the form of the Hub's
cache, and everything runs offline, on the processor.
"""

import importlib
import importlib.metadata
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Job = Mapping[str, Any]

_REVISION = "0" * 40
_RADGRAPHS = {"radgraph-v1": "radgraph", "radgraph-xl": "radgraph-xl", "radgraph-modern": "modern-radgraph-xl"}
_BERTSCORES = {
    "bertscore-distilroberta": ("distilroberta-base", 5, True),
    "bertscore-distilbert": ("distilbert-base-uncased", 5, True),
    "bertscore-roberta-large": ("roberta-large", 17, True),
    "bertscore-modern": ("IAMJB/RadEvalModernBERT", 22, False),
}
_SCORERS = "StanfordAIMI/RRG_scorers"
_RATE_NER = "Angelakeke/RaTE-NER-Deberta"
_WHOLE_PAIRS = 30
_HARMLESS = "Normal chest."
# f1chexbert's marks of CheXbert's classes: blank, positive, negative, uncertain.
_CODES = {"": 0, 1: 1, 0: 2, -1: 3}


def radgraph(job: Job) -> dict[str, Any]:
    """Graph of every text alone, and the three rewards of every pair.

    Of most pairs the rewards are made from the graphs of their texts, since reading them again takes long. Pairs with
    a text without a graph, and the first others, go through the package as a whole.
    """
    from radgraph import F1RadGraph
    from radgraph.rewards import compute_reward

    scorer = F1RadGraph(reward_level="all", model_type=_RADGRAPHS[job["original"]])
    graphs = _each(lambda text: scorer.radgraph([text])["0"]["entities"], job["texts"])
    known = {
        text: {"entities": graph} for text, graph in zip(job["texts"], graphs, strict=True) if "error" not in graph
    }
    whole = set(map(tuple, job["pairs"][:_WHOLE_PAIRS]))

    def rewards(pair: Sequence[str]) -> list[float]:
        if all(pair) and all(text in known for text in pair) and tuple(pair) not in whole:
            return list(compute_reward(known[pair[0]], known[pair[1]], "all"))
        # Empty texts do not reach the model, and a list of nothing else fails.
        company = [] if all(pair) else [_HARMLESS]
        return [level[0] for level in scorer(hyps=[pair[0], *company], refs=[pair[1], *company])[1]]

    return {"graphs": graphs, "rewards": _each(rewards, job["pairs"])}


def chexbert(job: Job) -> dict[str, Any]:
    """Codes and [CLS] vector of every text, and the reports on all pairs."""
    import pandas as pd
    import torch
    from f1chexbert import F1CheXbert

    # The package's name of the module is hidden by nothing, but its class has nearly the same.
    inside = importlib.import_module("f1chexbert.f1chexbert")
    scorer = F1CheXbert()

    def vector(text: str) -> list[float]:
        ids = torch.LongTensor(inside.tokenize(pd.Series([text]), scorer.tokenizer))
        mask = inside.generate_attention_masks(ids, [ids.shape[1]], scorer.device)
        return scorer.model.bert(ids, attention_mask=mask)[0][0, 0].tolist()

    predictions, references = (list(side) for side in zip(*job["pairs"], strict=True))
    accuracy, per_study, labels_14, labels_5 = scorer(hyps=predictions, refs=references)
    return {
        "codes": _each(
            lambda text: [_CODES[mark] for mark in scorer.get_label(text, mode="classification")], job["texts"]
        ),
        "positive": _each(scorer.get_label, job["texts"]),
        "vectors": _each(vector, job["texts"]),
        "names": list(scorer.target_names),
        "reports": {"14": labels_14, "5": labels_5},
        "accuracy": float(accuracy),
        "accuracy_per_study": [float(one) for one in per_study],
    }


def bertscore(job: Job) -> dict[str, Any]:
    """P, R and F of every pair alone, and rescaled those of the first pairs, where the package has a baseline.

    In a batch a token without any similar token is given the similarity 0 of the padding, if there is padding, so its
    score would depend on the neighbours. With real weights there are no such tokens.
    """
    from bert_score import BERTScorer

    model, layer, has_baseline = _BERTSCORES[job["original"]]

    def scores(pairs: Sequence[Sequence[str]], rescaled: bool) -> list[Any]:
        scorer = BERTScorer(model_type=model, num_layers=layer, lang="en", rescale_with_baseline=rescaled)

        def alone(pair: Sequence[str]) -> list[float]:
            try:
                found = scorer.score([pair[0]], [pair[1]])
            except IndexError:  # no token at all, not even a special one
                found = scorer.score([pair[0], _HARMLESS], [pair[1], _HARMLESS])
            return [one[0].item() for one in found]

        return _each(alone, pairs)

    first = job["pairs"][:_WHOLE_PAIRS]
    return {"raw": scores(job["pairs"], False), "rescaled": scores(first, True) if has_baseline else None}


def ratescore(job: Job) -> dict[str, Any]:
    """Sentences and entities of every text alone, and the score of every pair alone.

    Of the first pairs also those with the short table, and those of all of them as one list.
    """
    from RaTEScore import RaTEScore

    inside = importlib.import_module("RaTEScore.score")
    scorer = RaTEScore(use_gpu=False)
    short = RaTEScore(use_gpu=False, affinity_matrix="short")

    def entities(text: str) -> list[Any]:
        found = inside.run_ner(
            [text], scorer.idx2label, scorer.tokenizer, scorer.model, scorer.device, scorer.batch_size
        )
        return [list(entity) for entity in found[0]]

    first = job["pairs"][:_WHOLE_PAIRS]
    return {
        "sentences": _each(lambda text: inside.sentence_split([text])[0], job["texts"]),
        "entities": _each(entities, job["texts"]),
        "long": _each(lambda pair: scorer.compute_score([pair[0]], [pair[1]])[0], job["pairs"]),
        "short": _each(lambda pair: short.compute_score([pair[0]], [pair[1]])[0], first),
        "as_a_list": scorer.compute_score(*(list(side) for side in zip(*first, strict=True))),
    }


ORIGINALS: Mapping[str, Callable[[Job], dict[str, Any]]] = {
    **dict.fromkeys(_RADGRAPHS, radgraph),
    "chexbert": chexbert,
    **dict.fromkeys(_BERTSCORES, bertscore),
    "ratescore": ratescore,
}
_DISTRIBUTIONS = {
    "radgraph": "radgraph",
    "chexbert": "f1chexbert",
    "bertscore": "bert-score",
    "ratescore": "RaTEScore",
}


def _each(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """What a function makes of every item; where it raises, the name of the error."""
    made = []
    for done, item in enumerate(items):
        if done % 20 == 0:
            print(f"@progress {done} {len(items)}", file=sys.stderr, flush=True)
        try:
            made.append(function(item))
        except Exception as error:
            made.append({"error": type(error).__name__})
    return made


def _offer(files: Mapping[str, Mapping[str, str]], cache: Path) -> None:
    """Lay links to files in the form of the Hub's cache, as if each repo had been downloaded."""
    for repo, paths in files.items():
        folder = cache / f"models--{repo.replace('/', '--')}"
        (folder / "refs").mkdir(parents=True, exist_ok=True)
        (folder / "refs" / "main").write_text(_REVISION)
        _link(paths, folder / "snapshots" / _REVISION)


def _link(paths: Mapping[str, str], folder: Path) -> None:
    for name, path in paths.items():
        link = folder / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)


def prepare(job: Job, folder: Path) -> None:
    """Let the originals find their files; before any of them is imported, since they read the environment then."""
    os.environ.update(
        # Without a GPU originals and ours do the same arithmetic, and radgraph and RaTEScore need no patch.
        CUDA_VISIBLE_DEVICES="",
        HF_HOME=str(folder / "hub"),
        HF_HUB_OFFLINE="1",
        HF_HUB_DISABLE_PROGRESS_BARS="1",
        HOME=str(folder),  # appdirs asks it on macOS
        MPLCONFIGDIR=str(folder / "matplotlib"),
        TOKENIZERS_PARALLELISM="false",
        XDG_CACHE_HOME=str(folder / "cache"),
    )
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE", "HF_ENDPOINT", "HF_TOKEN"):
        os.environ.pop(name, None)
    files = job["files"]
    scorers = files.get(_SCORERS, {})
    _offer(files, folder / "hub" / "hub")
    if model := _RADGRAPHS.get(job["original"]):
        own = _own_cache("radgraph") / importlib.metadata.version("radgraph")
        _offer({_SCORERS: scorers}, own)
        _link(files.get(model, {}), own / model)  # where the user has unpacked the archive already
    _link({name: path for name, path in scorers.items() if name == "chexbert.pth"}, _own_cache("chexbert"))


def _own_cache(package: str) -> Path:
    from appdirs import user_cache_dir

    return Path(user_cache_dir(package))


def _versions(original: str) -> dict[str, str]:
    names = (_DISTRIBUTIONS[original.partition("-")[0]], "torch", "transformers", "nltk")
    return {name: importlib.metadata.version(name) for name in names}


def _plain(value: Any) -> Any:
    """The value with None for what JSON cannot say: nan and infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def main() -> int:
    """Run the job on stdin."""
    job = json.load(sys.stdin)
    # What the originals print goes to stderr, so that stdout holds the answer alone.
    answer = os.dup(1)
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory(prefix="originals-") as folder:
        prepare(job, Path(folder).resolve())
        import torch

        if job.get("threads"):
            torch.set_num_threads(job["threads"])
        # Only radgraph keeps the gradients' bookkeeping on; without it no number changes and long reports fit.
        with torch.no_grad():
            made = ORIGINALS[job["original"]](job)
    made["versions"] = _versions(job["original"])
    with os.fdopen(answer, "w", encoding="utf-8") as out:
        json.dump(_plain(made), out, allow_nan=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
