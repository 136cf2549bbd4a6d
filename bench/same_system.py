"""How often do tests find a difference where there is none? A/A trials.

    python -m bench.same_system [DATA] [--trials 1000] [--resamples 999] [--seed 0]

DATA is the folder with ``predictions/moerad`` (default: ``data/iu_xray`` in the folder of real data that the tests
use); without it only the simulation runs.

- Halves: MoERad's 590 reports are scored once. Each trial parts the studies at random into two halves, pairs them at
  random, and tests the one half against the other: two systems that are the same.
- Runs: two simulated runs of one system on the same studies. A run is good or bad at a patient, so the studies of a
  patient hang together (288 patients of 1 to 8 studies, correlation of the differences .2). Tested with patients
  swapped and drawn as a whole, and as if each study were on its own.

A test at 5 % may find a difference in 5 % of the trials; beside each share stands how far chance alone takes it.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

import rexrank
from rexrank.statistics.paired import TESTS, Pair, Test, p_values
from rexrank.statistics.sample import Floats, Sample

LEVEL = 0.05
KEYS = ("bleu2", "rouge_l", "coco_bleu4", "f1labels_micro_14", "f1labels_macro_14")
_PATIENTS, _WITHIN, _LARGEST = 288, 0.2, 8


def halves(samples: Mapping[str, Sample], trials: int, seed: int) -> Iterator[list[Pair]]:
    """Random halves of the studies, paired at random, for each score."""
    generator = np.random.default_rng(seed)
    count = len(next(iter(samples.values())))
    for _ in range(trials):
        left, right = generator.permutation(count)[: count // 2 * 2].reshape(2, -1)
        yield [Pair.of(sample.take(left), sample.take(right)) for sample in samples.values()]


def runs(patients: Sequence[int], trials: int, seed: int) -> Iterator[list[Pair]]:
    """Two runs of one simulated system, whose scores are skewed and hang together within a patient."""
    generator = np.random.default_rng(seed)
    codes = np.asarray(patients)
    for _ in range(trials):
        study = generator.exponential(1, len(codes))
        yield [Pair.of(*(Sample.of_values(study + _run(generator, codes)) for _ in range(2)))]


def _run(generator: np.random.Generator, patients: np.ndarray) -> Floats:
    of_patients = generator.exponential(1, patients.max() + 1)[patients]
    own = generator.exponential(1, len(patients))
    return np.asarray(np.sqrt(_WITHIN) * of_patients + np.sqrt(1 - _WITHIN) * own)


def shares(
    trials: Iterator[list[Pair]], resamples: int, test: Test, groups: Sequence[int] | None = None
) -> list[float]:
    """Share of the trials in which each score differs at a level of 5 %."""
    found = []
    for seed, pairs in enumerate(trials):
        found.append([p is not None and p <= LEVEL for p in p_values(pairs, resamples, seed, groups, test)])
    return [float(share) for share in np.mean(found, axis=0)]


def moerad(folder: Path) -> dict[str, Sample]:
    """MoERad's scores on the 590 studies of IU X-ray, scored once."""
    place = folder / "predictions" / "moerad"
    card = rexrank.score(
        str(place / "preds.csv"), str(place / "gts.csv"), "plain", metrics=KEYS, download=False, progress=False
    )
    samples = {key: card.sample(key) for key in KEYS}
    return {key: sample for key, sample in samples.items() if sample is not None}


def main(words: Sequence[str] | None = None) -> int:
    """Print the shares."""
    arguments = _arguments(words)
    slack = 2 * np.sqrt(LEVEL * (1 - LEVEL) / arguments.trials)
    print(
        f"{arguments.trials:,} trials, {arguments.resamples:,} draws each; chance takes a share of {LEVEL:.1%} to "
        f"{LEVEL - slack:.1%} … {LEVEL + slack:.1%}\n"
    )
    print(f"{'trials':<44} {'test':<14} {'found at 5 %':>12}  {'seconds':>7}")
    if (arguments.data / "predictions" / "moerad").is_dir():
        samples = moerad(arguments.data)
        for test in TESTS:
            start = time.perf_counter()
            trials = halves(samples, arguments.trials, arguments.seed)
            found = shares(trials, arguments.resamples, test)
            for key, share in zip(samples, found, strict=True):
                _print(f"halves of MoERad, {key}", test, share, time.perf_counter() - start)
    else:
        print(f"no MoERad at {arguments.data}; its trials are left out", file=sys.stderr)
    sizes = np.minimum(np.random.default_rng(1).geometric(0.35, _PATIENTS), _LARGEST)
    patients = np.repeat(np.arange(_PATIENTS), sizes).tolist()
    for test in TESTS:
        for name, groups in (("patients whole", patients), ("each study on its own", None)):
            start = time.perf_counter()
            trials = runs(patients, arguments.trials, arguments.seed)
            (share,) = shares(trials, arguments.resamples, test, groups)
            _print(f"runs, {len(patients)} studies, {name}", test, share, time.perf_counter() - start)
    return 0


def _print(name: str, test: str, share: float, seconds: float) -> None:
    print(f"{name:<44} {test:<14} {share:>12.1%}  {seconds:>7.1f}", flush=True)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    shared = Path(os.environ.get("REXRANK_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", metavar="DATA", nargs="?", type=Path, default=shared / "data" / "iu_xray")
    parser.add_argument("--trials", metavar="N", type=int, default=1_000)
    parser.add_argument("--resamples", metavar="N", type=int, default=999)
    parser.add_argument("--seed", metavar="N", type=int, default=0)
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
