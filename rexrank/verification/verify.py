"""Proof that rexrank's encoders give the originals' numbers: both run on the same invented texts and weights."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rexrank import encoders
from rexrank.encoders import inventory
from rexrank.encoders.encoder import Encoder, EncoderFailure, Record
from rexrank.encoders.weights import MissingWeights, Weights
from rexrank.verification import comparison
from rexrank.verification.comparison import Answer, Comparison, Items, shortened
from rexrank.verification.reports import PAIRS, REPORTS
from rexrank.verification.running import OriginalFailed, run_original
from rexrank.verification.seeded import Kind, make

TEXTS: tuple[str, ...] = tuple(dict.fromkeys(chain(REPORTS, *PAIRS)))
"""Every text that is compared, once; differences are named by the place in it, from 0, and in `PAIRS`."""

Compare = Callable[[Answer, Mapping[str, Items]], list[Comparison]]
Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Original:
    """One original, what it reads, and what of ours it is compared with.

    Attributes:
        name: Name as `originals.py` has it.
        features: Features of ours that it is compared with; the encoders that make them read the same files.
        compare: Takes its answer in short form and each feature of every text.
        options: Options that choose our encoder.
        prepared: What a caller of the original does to a text before, where published numbers came about so.
    """

    name: str
    features: tuple[str, ...]
    compare: Compare
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    prepared: Callable[[str], str] = str

    @property
    def encoders(self) -> list[Encoder]:
        """Our encoders that it is compared with."""
        found = (encoders.find(feature, self.options) for feature in self.features)
        return list({encoder.name: encoder for encoder in found if encoder}.values())


@dataclass(frozen=True)
class Verdict:
    """What came of one original.

    Attributes:
        name: Name of the original.
        versions: Versions of its packages, by name.
        comparisons: What was compared.
        missing: Why nothing could be compared for want of files, in one sentence.
        failure: Why the original or ours gave nothing, in one sentence.
    """

    name: str
    versions: Mapping[str, str] = field(default_factory=dict)
    comparisons: tuple[Comparison, ...] = ()
    missing: str = ""
    failure: str = ""

    @property
    def equal(self) -> bool:
        """Whether everything of it was compared and is equal."""
        return bool(self.comparisons) and all(one.equal for one in self.comparisons)


def ask(original: Original, python: Path, weights: Weights, limit_s: float, threads: int, tell: Tell) -> Answer:
    """Run an original on all texts and pairs.

    Args:
        original: Which.
        python: Interpreter of the environment that holds it.
        weights: Where its files are looked for.
        limit_s: Seconds after which it is killed.
        threads: Threads of torch; 0 for its own choice.
        tell: Called with what goes on and how far it is.

    Returns:
        Its answer in short form.

    Raises:
        MissingWeights: A checkpoint is not here.
        EncoderFailure: An archive is damaged.
        OriginalFailed: It fails or takes too long.
    """
    located = [one for encoder in original.encoders for one in encoder.locate(weights)]
    job = {
        "original": original.name,
        "texts": [original.prepared(text) for text in TEXTS],
        "pairs": [[original.prepared(text) for text in pair] for pair in PAIRS],
        "files": {
            repo: {name: str(path.absolute()) for name, path in one.files.items()}
            for one in located
            for repo in one.checkpoint.repos
        },
        "threads": threads,
    }
    answer = run_original(python, job, limit_s, lambda done, of: tell(f"{original.name}: original", done, of))
    return {**shortened(answer), "texts": texts_digest()}


def texts_digest() -> str:
    """Digest of all texts and pairs, which tells an answer to these texts from one to others."""
    return hashlib.sha256(json.dumps([TEXTS, PAIRS]).encode()).hexdigest()


def encode(original: Original, weights: Weights, tell: Tell) -> dict[str, Items]:
    """Encode all texts with our encoders.

    Args:
        original: Which original they are compared with.
        weights: Where their files are looked for.
        tell: Called with what goes on and how far it is.

    Returns:
        Items of every text by feature.

    Raises:
        MissingWeights: A checkpoint is not here.
        EncoderFailure: An encoder cannot be loaded, or fails on a text.
    """
    items: dict[str, Items] = {}
    for encoder in original.encoders:
        model = encoder.load(encoder.locate(weights), "cpu")
        records: dict[int, Record] = {}
        for position, record in model.encode(TEXTS):
            if record is None:
                raise EncoderFailure(f"{encoder.label} failed on text {position}")
            records[position] = record
            tell(f"{original.name}: rexrank", len(records), len(TEXTS))
        for feature, item_of in encoder.features.items():
            items[feature] = {text: item_of(records[position], text) for position, text in enumerate(TEXTS)}
    return items


def judge(original: Original, answer: Answer, items: Mapping[str, Items]) -> Verdict:
    """Compare the short form of an original's answer with ours."""
    return Verdict(original.name, answer["versions"], tuple(original.compare(answer, items)))


def seeded(folder: Path, size: Kind) -> Callable[[Original], AbstractContextManager[Weights]]:
    """Checkpoints of fixed numbers, made for one original after the other, since all of them together are large.

    Args:
        folder: Where they are made; what is made there is gone afterwards.
        size: ``tiny`` or ``base``.
    """

    @contextmanager
    def made(original: Original) -> Iterator[Weights]:
        before = os.environ.get("REXRANK_HOME")
        with TemporaryDirectory(dir=folder) as own:
            make(Path(own), size, _names_of(original))
            os.environ["REXRANK_HOME"] = f"{own}/home"  # where our encoders unpack archives
            try:
                yield Weights(own, download=False)
            finally:
                os.environ.pop("REXRANK_HOME")
                if before is not None:
                    os.environ["REXRANK_HOME"] = before

    return made


def _names_of(original: Original) -> list[str]:
    """Names of all checkpoints that an original may ask for."""
    read = [checkpoint for encoder in original.encoders for checkpoint in encoder.checkpoints]
    beside = [inventory.tokenizer_of(repo) for checkpoint in read for repo in checkpoint.tokenizers]
    return list(dict.fromkeys(checkpoint.name for checkpoint in (*read, *beside)))


def verify(
    python: Path,
    weights_of: Callable[[Original], AbstractContextManager[Weights]],
    names: Iterable[str],
    limit_s: float = 7200.0,
    threads: int = 0,
    tell: Tell = lambda what, done, of: None,
    record: Callable[[str, Answer], None] = lambda name, answer: None,
) -> Iterator[Verdict]:
    """Run originals and ours, and compare.

    Args:
        python: Interpreter of the environment that holds the originals.
        weights_of: Gives where the checkpoints of an original are looked for (`seeded`).
        names: Names of `ORIGINALS`.
        limit_s: Seconds after which an original is killed.
        threads: Threads of torch in the originals; 0 for its own choice.
        tell: Called with what goes on, how much is done and of how much.
        record: Called with the short form of each answer.

    Yields:
        What came of each original, as it is done.
    """
    for name in names:
        original = ORIGINALS[name]
        try:
            with weights_of(original) as weights:
                answer = ask(original, python, weights, limit_s, threads, tell)
                record(name, answer)
                yield judge(original, answer, encode(original, weights, tell))
        except MissingWeights as error:
            yield Verdict(name, missing=str(error))
        except (OriginalFailed, EncoderFailure) as error:
            yield Verdict(name, failure=str(error))
        except Exception as error:  # costs this original alone, after hours for others
            yield Verdict(name, failure=f"{type(error).__name__} in rexrank; please report this with its version")


def _one_space(text: str) -> str:
    """What ReXrank does to texts before BERTScore."""
    return re.sub(" +", " ", text)


def _radgraph(model: str) -> Original:
    feature = f"radgraph_{model}_graphs"
    return Original(
        f"radgraph-{model}",
        (feature,),
        lambda answer, items: comparison.compare_radgraph(answer, items[feature], TEXTS, PAIRS, model),
        {"model": model},
    )


def _bertscore(name: str, model: str, prepared: Callable[[str], str] = str) -> Original:
    return Original(
        f"bertscore-{name}",
        ("bertscore_tokens",),
        lambda answer, items: comparison.compare_bertscore(answer, items["bertscore_tokens"], PAIRS, model),
        {"model": model},
        prepared,
    )


def _chexbert(answer: Answer, items: Mapping[str, Items]) -> list[Comparison]:
    return comparison.compare_chexbert(answer, items["chexbert_labels"], items["chexbert_cls"], TEXTS, PAIRS)


def _ratescore(answer: Answer, items: Mapping[str, Items]) -> list[Comparison]:
    return comparison.compare_ratescore(answer, items["ratescore_entities"], TEXTS, PAIRS)


ORIGINALS: Mapping[str, Original] = {
    one.name: one
    for one in (
        _radgraph("v1"),
        _radgraph("xl"),
        _radgraph("modern"),
        Original("chexbert", ("chexbert_labels", "chexbert_cls"), _chexbert),
        _bertscore("distilroberta", "rexrank", _one_space),
        _bertscore("distilbert", "radeval"),
        _bertscore("roberta-large", "roberta-large"),
        _bertscore("modern", "radeval-modern"),
        Original("ratescore", ("ratescore_entities",), _ratescore),
    )
}
"""Every original that can be run, by its name."""
