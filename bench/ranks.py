"""How often the range of a rank holds the true rank, and how long a board's ranges take.

    python -m bench.ranks [--trials 1000] [--rows 300]

Ten systems are judged on the same invented studies; their true means are a fixed step apart, so their true ranks are
known. Beside our ranges stand the middle 95 % of the resampled ranks, which many leaderboards show. Coverage is that of
the worst system. Steps are in standard errors of a difference of two systems.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rexrank.statistics.draws import Draws
from rexrank.statistics.ranks import rank_ranges
from rexrank.statistics.sample import Sample

Floats = NDArray[np.float64]

_SYSTEMS = 10
_RESAMPLES = 500
_NOISE = 0.5
_TAILS = (0.025, 0.975)


@dataclass(frozen=True)
class Case:
    """Invented studies: how many, of how many patients (None: each of its own), how skewed, how close the systems."""

    n: int
    step: float
    patients: int | None = None
    skewed: bool = False


CASES = (
    Case(5, 0.1),
    Case(10, 0.1),
    Case(10, 0.1, skewed=True),
    Case(62, 0.1),
    Case(62, 0.1, skewed=True),
    Case(62, 0.5),
    Case(62, 1.5),
    Case(590, 0.1),
    Case(590, 0.5),
    Case(400, 0.1, patients=50),
    Case(400, 0.5, patients=50),
)


def coverage(case: Case, trials: int) -> tuple[float, float, float, float]:
    """Coverage of the worst system and mean number of ranks, of our ranges and of the middle of resampled ranks."""
    truth = np.arange(_SYSTEMS, 0, -1)
    held, widths = np.zeros((2, _SYSTEMS)), np.zeros(2)
    for trial in range(trials):
        values, groups = _values(case, np.random.default_rng(trial))
        draws = Draws.of(case.n, _RESAMPLES, seed=trial, groups=groups)
        samples = [Sample.of_values(column) for column in values.T]
        ours = np.array([(one.low, one.high) for one in rank_ranges(samples, "higher", draws)])
        for method, (low, high) in enumerate((ours.T, _middle(draws.scores(samples)))):
            held[method] += (low <= truth) & (truth <= high)
            widths[method] += (high - low + 1).mean()
    worst, width = held.min(axis=1) / trials, widths / trials
    return float(worst[0]), float(width[0]), float(worst[1]), float(width[1])


def _values(case: Case, generator: np.random.Generator) -> tuple[Floats, list[int] | None]:
    """Values of each system, [n, systems], and the patient of each study."""
    groups = None if case.patients is None else np.sort(generator.integers(0, case.patients, size=case.n))
    own = _noise(case, generator, case.n)
    errors = 2 * _NOISE**2 / case.n
    if groups is not None:
        # A tenth of what tells systems apart is the patient's.
        own = np.sqrt(0.9) * own + np.sqrt(0.1) * _noise(case, generator, case.patients or 0)[groups]
        sizes = np.bincount(groups)
        errors *= 0.9 + 0.1 * (sizes**2).sum() / case.n
    shared = generator.normal(size=(case.n, 1))
    values = shared + _NOISE * own + case.step * np.sqrt(errors) * np.arange(_SYSTEMS)
    return values, None if groups is None else groups.tolist()


def _noise(case: Case, generator: np.random.Generator, n: int) -> Floats:
    if case.skewed:
        return np.asarray(generator.exponential(size=(n, _SYSTEMS)) - 1)
    return np.asarray(generator.normal(size=(n, _SYSTEMS)))


def _middle(drawn: Floats) -> tuple[Floats, Floats]:
    """Percentiles of the ranks that the systems have in the resamples."""
    ranks = 1 + (drawn[:, None, :] > drawn[None, :, :]).sum(axis=0)
    low, high = np.quantile(ranks, _TAILS, axis=1, method="inverted_cdf")
    return low, high


def seconds(rows: int, n: int, resamples: int) -> float:
    """Time for the ranges of one group of a board."""
    generator = np.random.default_rng(0)
    values = generator.normal(size=(n, 1)) + generator.normal(size=(n, rows)) + np.linspace(0, 1, rows)
    samples = [Sample.of_values(column) for column in values.T]
    start = time.perf_counter()
    rank_ranges(samples, "higher", Draws.of(n, resamples))
    return time.perf_counter() - start


def main(argv: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1_000, help="data sets of each case")
    parser.add_argument("--rows", type=int, default=300, help="rows of the board that is timed")
    arguments = parser.parse_args(argv)
    print("| studies | patients | step | values | range holds | ranks | middle holds | ranks |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for case in CASES:
        ours, ranks, middle, its_ranks = coverage(case, arguments.trials)
        kind = "skewed" if case.skewed else "normal"
        print(
            f"| {case.n} | {case.patients or '–'} | {case.step} | {kind} | {ours:.1%} | {ranks:.1f} | {middle:.1%} | "
            f"{its_ranks:.1f} |",
            flush=True,
        )
    from rexrank.board.ranges import RESAMPLES

    print()
    for n in (590, 2_347):
        took = seconds(arguments.rows, n, RESAMPLES)
        print(f"{arguments.rows} rows, {n:,} studies, {RESAMPLES:,} resamples: {took:.1f} s")


if __name__ == "__main__":
    main()
