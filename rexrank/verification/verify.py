"""Proof that rexrank's encoders give the originals' numbers: both run on the same invented texts and weights."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from rexrank import encoders
from rexrank.encoders import inventory
from rexrank.encoders.encoder import EncoderFailure
from rexrank.encoders.inventory import Checkpoint
from rexrank.encoders.weights import MissingWeights, Weights
from rexrank.verification import comparison
from rexrank.verification.comparison import Answer, Comparison, Items, Pair, shortened
from rexrank.verification.reports import PAIRS, REPORTS
from rexrank.verification.running import OriginalFailed, run_original

TEXTS: tuple[str, ...] = tuple(dict.fromkeys(chain(REPORTS, *PAIRS)))
"""Every text that is compared, once; differences are named by the place in it, from 0, and in `PAIRS`."""

Compare = Callable[[Answer, Mapping[str, Items]], list[Comparison]]
Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Original:
    """One original, what it reads, and what of ours it is compared with.

    Attributes:
        name: Name as `originals.py` has it.
        checkpoints: What it loads.
        features: Features of ours that it is compared with.
        compare: Takes its answer in short form and each feature of every text.
        options: Options that choose our encoder.
        prepared: What a caller of the original does to a text before, where published numbers came about so.
    """

    name: str
    checkpoints: tuple[Checkpoint, ...]
    features: tuple[str, ...]
    compare: Compare
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    prepared: Callable[[str], str] = str


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
        OriginalFailed: It fails or takes too long.
    """
    located = [weights.locate(checkpoint) for checkpoint in original.checkpoints]
    job = {
        "original": original.name,
        "texts": [original.prepared(text) for text in TEXTS],
        "pairs": [[original.prepared(text) for text in pair] for pair in PAIRS],
        "files": {one.checkpoint.repo: {name: str(path) for name, path in one.files.items()} for one in located},
        "threads": threads,
    }
    return shortened(run_original(python, job, limit_s, lambda done, of: tell(f"{original.name}: original", done, of)))
