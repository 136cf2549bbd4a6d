"""Measure how often a 95 % interval holds the truth, in simulation.

    python -m bench.coverage [--trials 2000] [--resamples 1000] [--seed 0] [CASE…]

Sets of studies are drawn from populations whose true score is known: scores of studies with a long right tail
(exponential, skewness 2), F1 of one rare label, macro F1 over 14 labels of which some are rare, and corpus BLEU-2. Sets
have 62 studies, 590, or 2,347 of 289 patients, whose numbers of studies are as uneven as log-normal ones with sigma 1
(1 to 83), and whose latent normal variables correlate within a patient by ICC. A CASE keeps the rows whose name it
is part of.

``truth`` is the score of the population; ``set`` the score expected of a set of this size, which differs where
a set lacks labels that the population has. The expected score is the mean over the trials.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from rexrank.metrics.f1 import Marks, Score, undefined_value
from rexrank.metrics.formulas import formula_of
from rexrank.statistics.bootstrap import DEFAULT, METHODS, Interval, Method, intervals
from rexrank.statistics.sample import Floats, Sample
from rexrank.terms import CONVENTIONS, Convention

Size = tuple[int, float | None]
STUDIES, PATIENTS = 2_347, 289
# Shares of studies that have each of 14 labels: common ones and rare ones, as in sets of chest radiographs.
PREVALENCE = (0.35, 0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01, 0.005)
# Labels that are found, and false alarms as a share of the positives.
FOUND, ALARMS = 0.4, 0.6
_BLEU = "coco_bleu2|conv:published|tok:split|impl:coco|agg:corpus|v:1"
_SETS_AT_ONCE = 250
_NO_WIDTH = 1e-12


@dataclass(frozen=True)
class Case:
    """One population and one size of sets.

    Attributes:
        name: What is scored.
        studies: Number of studies of a set.
        icc: Correlation within patients; None where each study is of another patient.
        samples: Makes the samples of that many sets.
        truth: Score of the population.
    """

    name: str
    studies: int
    icc: float | None
    samples: Callable[["Case", int, np.random.Generator], list[Sample]]
    truth: float

    @property
    def groups(self) -> list[int] | None:
        """Patient of each study."""
        return None if self.icc is None else _patients()

    def normal(self, generator: np.random.Generator, width: int = 1) -> Floats:
        """Standard normal variables that correlate within patients, [studies, width]."""
        noise = generator.normal(size=(self.studies, width))
        if self.groups is None or not self.icc:
            return noise
        shared = generator.normal(size=(PATIENTS, width))[self.groups]
        return np.sqrt(self.icc) * shared + np.sqrt(1 - self.icc) * noise


@dataclass(frozen=True)
class Coverage:
    """What the intervals of one method did in a case.

    Attributes:
        truth: Share that holds the score of the population.
        expected: Share that holds the score expected of a set of this size.
        below: Share that lies wholly below the truth.
        above: Share that lies wholly above it.
        flat: Share of no width, as all resamples score alike; a card marks such an interval as no certainty.
        width: Mean width.
    """

    truth: float
    expected: float
    below: float
    above: float
    flat: float
    width: float


def patient_sizes() -> NDArray[np.int64]:
    """Numbers of studies of 289 patients, 2,347 together."""
    weights = np.random.default_rng(5).lognormal(0, 1, PATIENTS)
    sizes = np.maximum(1, np.floor(weights / weights.sum() * STUDIES)).astype(np.int64)
    # What rounding took goes to the largest ones.
    for index in np.argsort(-sizes)[: STUDIES - sizes.sum()]:
        sizes[index] += 1
    return sizes


@cache
def _patients() -> list[int]:
    return [patient for patient, size in enumerate(patient_sizes().tolist()) for _ in range(size)]


def cases() -> list[Case]:
    """The rows of the table."""
    sizes: list[Size] = [(62, None), (590, None), (STUDIES, 0.0), (STUDIES, 0.05), (STUDIES, 0.1)]
    found = [Case("mean of skewed scores", *size, _skewed, 1.0) for size in sizes]
    truth = _bleu_truth()
    found += [Case("corpus BLEU-2", *size, _bleu, truth) for size in sizes]
    rare: list[tuple[float, Size]] = [(0.2, (62, None)), (0.1, (62, None))]
    rare += [(share, (590, None)) for share in (0.05, 0.02, 0.01)]
    rare += [(share, (STUDIES, icc)) for share in (0.05, 0.01) for icc in (0.0, 0.1)]
    for convention in CONVENTIONS:
        for share, size in rare:
            draw = partial(_labels, convention, [share])
            found.append(Case(f"F1 of a label with {share:.0%}, {convention}", *size, draw, f1_of(share)))
    truth = float(np.mean([f1_of(share) for share in PREVALENCE]))
    for convention in CONVENTIONS:
        draw = partial(_labels, convention, PREVALENCE)
        found += [Case(f"macro F1 over 14, {convention}", *size, draw, truth) for size in sizes if size[1] != 0.05]
    return found


def f1_of(share: float) -> float:
    """F1 of a label in the population, by the share of studies that have it."""
    return 2 * FOUND * share / (share + FOUND * share + ALARMS * share)


def measure(case: Case, trials: int, resamples: int, seed: int) -> dict[Method, Coverage]:
    """How often the intervals of each method hold the truth.

    Args:
        case: What is drawn.
        trials: Number of sets.
        resamples: Number of resamples of each.
        seed: Seed of the sets, and of the resamples.
    """
    generator = np.random.default_rng([seed, case.studies])
    scores: list[float] = []
    found: dict[Method, list[Interval | None]] = {method: [] for method in METHODS}
    for start in range(0, trials, _SETS_AT_ONCE):
        samples = case.samples(case, min(_SETS_AT_ONCE, trials - start), generator)
        scores += [np.nan if sample.score is None else sample.score for sample in samples]
        for method in METHODS:
            found[method] += intervals(samples, 0.95, resamples, seed, case.groups, method)
    return {method: _coverage(ends, case.truth, float(np.nanmean(scores))) for method, ends in found.items()}


def _coverage(found: Sequence[Interval | None], truth: float, expected: float) -> Coverage:
    # A set without an interval claims nothing.
    ends = np.array([(one.low, one.high) for one in found if one is not None])
    low, high = ends[:, 0] - _NO_WIDTH, ends[:, 1] + _NO_WIDTH
    return Coverage(
        truth=float(((low <= truth) & (truth <= high)).mean()),
        expected=float(((low <= expected) & (expected <= high)).mean()),
        below=float((high < truth).mean()),
        above=float((truth < low).mean()),
        flat=float((ends[:, 0] == ends[:, 1]).mean()),
        width=float((ends[:, 1] - ends[:, 0]).mean()),
    )


def _skewed(case: Case, sets: int, generator: np.random.Generator) -> list[Sample]:
    return [Sample.of_values(-np.log(ndtr(case.normal(generator)[:, 0]))) for _ in range(sets)]


def _bleu(case: Case, sets: int, generator: np.random.Generator) -> list[Sample]:
    """Reports of log-normal lengths, of which a share that differs from study to study is right."""
    formula = formula_of(_BLEU)
    assert formula is not None
    return [Sample(_bleu_statistics(case, generator), formula, range=(0.0, 1.0)) for _ in range(sets)]


def _bleu_statistics(case: Case, generator: np.random.Generator) -> Floats:
    latent = case.normal(generator, 3)
    predicted = np.ceil(np.exp(3.3 + 0.4 * latent[:, 0]))
    referred = np.ceil(np.exp(3.4 + 0.4 * latent[:, 1]))
    right = ndtr(latent[:, 2] - 0.5)
    totals = np.stack([np.maximum(predicted - order, 0) for order in range(4)], axis=1)
    chances = np.stack([right ** (1 + order) for order in range(4)], axis=1)
    matches = generator.binomial(totals.astype(np.int64), chances)
    return np.concatenate([matches, totals, predicted[:, None], referred[:, None]], axis=1)


@cache
def _bleu_truth() -> float:
    """BLEU-2 of a million studies."""
    formula = formula_of(_BLEU)
    assert formula is not None
    statistics = _bleu_statistics(Case("", 1_000_000, None, _bleu, np.nan), np.random.default_rng(1))
    return float(formula(statistics.sum(axis=0, keepdims=True))[0])


def _labels(
    convention: Convention, shares: Sequence[float], case: Case, sets: int, generator: np.random.Generator
) -> list[Sample]:
    """Labels of which some are found, and false alarms."""
    score = Score("f1", "macro" if len(shares) > 1 else "micro", undefined_value(convention))
    rates = np.asarray(shares)
    alarms = ALARMS * rates / (1 - rates)
    made = []
    for _ in range(sets):
        referred = case.normal(generator, len(rates)) < ndtri(rates)
        predicted = case.normal(generator, len(rates)) < ndtri(np.where(referred, FOUND, alarms))
        marked = Marks(predicted, referred)
        statistics = score.statistics(marked)
        if len(rates) == 1:
            # A study in which neither side has the label has no value in `corrected`.
            statistics[np.isnan(score.per_study(marked))] = np.nan
        made.append(Sample(statistics, score.formula, range=(0.0, 1.0)))
    return made


def _row(case: Case, found: dict[Method, Coverage]) -> str:
    drawn = f"{case.studies:,}" if case.icc is None else f"{case.studies:,} of {PATIENTS}, ICC {case.icc:g}"
    shown = "".join(f"{one.truth:>8.1%}{one.expected:>7.1%}" for one in found.values())
    one = found[DEFAULT]
    return f"{case.name:<34}{drawn:<21}{shown}{one.below:>8.1%}{one.above:>7.1%}{one.flat:>7.1%}"


def main(arguments: list[str] | None = None) -> int:
    """Print the table row by row."""
    parser = argparse.ArgumentParser(prog="python -m bench.coverage", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="part of the names of rows (default: all)")
    parser.add_argument("--trials", type=int, default=2_000, help="sets of studies a row (default: %(default)s)")
    parser.add_argument("--resamples", type=int, default=1_000, help="resamples a set (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    start = time.process_time()
    print(f"Share of 95 % intervals that hold the true score, and the one expected of a set; {options.trials:,} sets")
    print(f"{'':<55}" + "".join(f"{method:>15}" for method in METHODS) + f"{DEFAULT:>22}")
    print(
        f"{'score':<34}{'studies':<21}"
        + f"{'truth':>8}{'set':>7}" * len(METHODS)
        + f"{'below':>8}{'above':>7}{'flat':>7}"
    )
    for case in cases():
        if not options.cases or any(part in case.name for part in options.cases):
            print(_row(case, measure(case, options.trials, options.resamples, options.seed)), flush=True)
    print(f"{time.process_time() - start:.0f} s of processor time", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
