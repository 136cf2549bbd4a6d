"""How often do groups of studies differ where they are drawn at random?

    python -m bench.random_groups [DATA] [--trials 400] [--resamples 499] [--seed 0]

DATA is the folder with ``predictions/moerad``, as for `bench.same_system`. MoERad's 590 reports are scored once. Each
trial draws a group of studies at random and tests the score in the group against the score in all other studies, as
`rexrank strata` does. A test at 5 % may find a difference in 5 % of the trials.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.same_system import LEVEL, moerad
from rexrank.statistics.paired import p_values
from rexrank.statistics.sample import Sample
from rexrank.validity.strata import apart

SIZES = (20, 50, 295)


def shares(samples: Mapping[str, Sample], size: int, trials: int, resamples: int, seed: int) -> list[float]:
    """Share of the trials in which a random group of a size differs from the others, for each score."""
    generator = np.random.default_rng(seed)
    n = len(next(iter(samples.values())))
    found = []
    for trial in range(trials):
        inside = np.isin(np.arange(n), generator.choice(n, size, replace=False))
        pairs = [apart(one, one.defined & inside, one.defined & ~inside) for one in samples.values()]
        found.append([p is not None and p <= LEVEL for p in p_values(pairs, resamples, trial, test="bootstrap")])
    return [float(share) for share in np.mean(found, axis=0)]


def main(words: Sequence[str] | None = None) -> int:
    """Print the shares."""
    shared = Path(os.environ.get("REXRANK_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=shared / "data" / "iu_xray")
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=499)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(words)
    samples = moerad(asked.data)
    print(f"{asked.trials:,} trials, {asked.resamples:,} draws each\n")
    print("  ".join([f"{'group':>5}", *(f"{key:>17}" for key in samples)]))
    for size in SIZES:
        found = shares(samples, size, asked.trials, asked.resamples, asked.seed)
        print("  ".join([f"{size:>5}", *(f"{share:>17.1%}" for share in found)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
