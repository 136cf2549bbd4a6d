"""Time the intervals of many scores, and scipy.stats.bootstrap doing the same work.

    python -m bench.statistics [--studies 10000] [--resamples 10000] [--without-scipy]

Twenty scores of invented values: 16 means of studies, corpus BLEU-2 and BLEU-4, micro and macro F1 of 14 labels. scipy
resamples each of them for itself; where that would take minutes it does a share of the resamples, in batches of a
bounded size, and its time is extrapolated and marked with ≈. Below stand intervals of both on shared cases; the run
stops with an error where an end differs by more than chance in the draws allows.
"""

import argparse
import resource
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from rexrank.metrics.f1 import Marks, Score
from rexrank.metrics.formulas import formula_of
from rexrank.statistics.bootstrap import METHODS, Method, intervals
from rexrank.statistics.sample import Floats, Sample

MEANS = 16
# Ends of two runs differ by this many standard errors of their draws at most.
_APART = 5.0
_SCIPY_RESAMPLES = 100
_SCIPY_BATCH = 10
# Density of the standard normal at its 2.5 % point, and what the share below such an end varies by in one draw.
_DENSITY, _SPREAD = 0.0584, (0.025 * 0.975) ** 0.5


def samples(studies: int, seed: int = 0) -> list[Sample]:
    """Twenty scores of the same studies."""
    generator = np.random.default_rng(seed)
    found = [Sample.of_values(generator.beta(1.5, 4, studies)) for _ in range(MEANS)]
    right = generator.beta(3, 4, studies)
    predicted, referred = generator.poisson(30, (2, studies)) + 4
    totals = np.stack([predicted - order for order in range(4)], axis=1)
    matches = generator.binomial(totals, np.stack([right ** (1 + order) for order in range(4)], axis=1))
    counts = np.concatenate([matches, totals, predicted[:, None], referred[:, None]], axis=1).astype(np.float64)
    found += [Sample(counts, _bleu(order), range=(0.0, 1.0)) for order in (2, 4)]
    marked = Marks(*(generator.random((2, studies, 14)) < np.linspace(0.02, 0.4, 14)))
    micro, macro = Score("f1", "micro", 0.0), Score("f1", "macro", 0.0)
    return found + [Sample(score.statistics(marked), score.formula, range=(0.0, 1.0)) for score in (micro, macro)]


def _bleu(order: int) -> Callable[[Floats], Floats]:
    formula = formula_of(f"coco_bleu{order}|conv:published|tok:split|impl:coco|agg:corpus|v:1")
    assert formula is not None
    return formula


def scipy_interval(sample: Sample, resamples: int, method: str, seed: int = 0) -> tuple[float, float]:
    """The same interval from scipy.

    Args:
        sample: A score whose studies all have values.
        resamples: Number of resamples.
        method: ``percentile`` or ``BCa``.
        seed: Seed of the draws.
    """
    from scipy.stats import bootstrap

    def statistic(*columns: Floats, axis: int) -> Floats:
        if sample.is_mean:
            return np.asarray(columns[0].mean(axis=axis))
        sums = np.stack([column.sum(axis=axis) for column in columns], axis=-1)
        return sample.formula(sums.reshape(-1, sums.shape[-1])).reshape(sums.shape[:-1])

    columns = [sample.statistics[:, 0]] if sample.is_mean else list(sample.statistics.T)
    found = bootstrap(
        columns,
        statistic,
        n_resamples=resamples,
        paired=True,
        vectorized=True,
        method=method,
        batch=_SCIPY_BATCH,
        rng=np.random.default_rng(seed),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    """What work takes on the clock and of the processors, which differ where other work runs beside it."""
    start, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - used


def _time_ours(scores: Sequence[Sample], resamples: int) -> None:
    for method in METHODS:
        clock, used = _seconds(partial(intervals, scores, resamples=resamples, method=method))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"rexrank, {method:<13}{clock:>9.1f} s  {used:>9.1f} s   peak memory {peak:.2f} GiB", flush=True)


def _time_scipy(scores: Sequence[Sample], resamples: int) -> None:
    few = min(_SCIPY_RESAMPLES, resamples)
    clock, used = _seconds(lambda: [scipy_interval(sample, few, "percentile") for sample in scores])
    about = f"   ≈, from {few:,} resamples" if few < resamples else ""
    print(f"scipy.stats.bootstrap {clock * resamples / few:>9.1f} s  {used * resamples / few:>9.1f} s{about}")


def _compare(resamples: int) -> bool:
    """Print intervals of both on shared cases, and say whether they agree."""
    shared = samples(200, seed=1)
    rows = {"mean": shared[0], "corpus BLEU-2": shared[MEANS], "micro F1": shared[-2], "macro F1": shared[-1]}
    agree = True
    print(f"\n200 studies, {resamples:,} resamples{'rexrank':>19}{'scipy':>21}{'apart, in standard errors':>29}")
    methods: list[tuple[Method, str]] = [("percentile", "percentile"), ("bca", "BCa")]
    for name, sample in rows.items():
        for ours, theirs in methods:
            found = intervals([sample], resamples=resamples, method=ours)[0]
            assert found is not None
            low, high = scipy_interval(sample, resamples, theirs, seed=2)
            error = 2**0.5 * _SPREAD / _DENSITY * (high - low) / 3.92 / resamples**0.5
            apart = max(abs(found.low - low), abs(found.high - high)) / error
            agree &= apart <= _APART
            ends = f"{found.low:.4f} … {found.high:.4f}{low:>11.4f} … {high:.4f}"
            print(f"{name:<16}{theirs:<14}{ends:>47}{apart:>18.1f}")
    return agree


def main(arguments: list[str] | None = None) -> int:
    """Print both times and the shared cases."""
    parser = argparse.ArgumentParser(prog="python -m bench.statistics", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--studies", type=int, default=10_000)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--without-scipy", action="store_true", help="leave out what is compared with")
    options = parser.parse_args(arguments)
    scores = samples(options.studies)
    print(f"{len(scores)} scores × {options.studies:,} studies × {options.resamples:,} resamples")
    print(f"{'':<22}{'clock':>11}  {'processor':>11}")
    _time_ours(scores, options.resamples)
    if options.without_scipy:
        return 0
    _time_scipy(scores, options.resamples)
    if not _compare(options.resamples):
        print("the intervals of both differ by more than chance", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
