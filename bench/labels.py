"""Measure the rule labeller on Open-i's human labels, and time it.

    python -m bench.labels [DATA] [--resamples 2000] [--seed 0]

DATA is the folder with ``labels_negbio_gold14.csv`` (default: ``data/iu_xray`` in the folder of real data that the
tests use); the reports come from ``NLMCXR_reports.tgz`` there, or else from the installed torchxrayvision package.

FINDINGS and IMPRESSION of 3,851 studies are cut by a hash of the text, so that equal texts stay together: phrases and
rules were tuned on one half alone, and the other is what counts. For pneumothorax, consolidation and edema, which are
rare, every study counts, and each error is named by the number of its report.

The human labels are headings given to whole studies, not labels of texts, so the yardstick reads the labeller's
mentions its own way: see ``CONCEPTS`` and ``PRESENT_CUES``.
"""

import argparse
import csv
import hashlib
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rexrank.benchmarks import openi
from rexrank.errors import RexrankError
from rexrank.labels import NAMES, POSITIVE, RULE_VERSION, UNCERTAIN, Mention, label, mentions

Flags = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.float64]

GOLD = "labels_negbio_gold14.csv"
ARCHIVE = "NLMCXR_reports.tgz"
# What each heading covers. Congestion and heart failure belong to the class Edema, but not to the heading; the heading
# of effusions covers the pericardium; a nodule counts calcified or not, a nodular opacity does not. The column Hernia
# holds no positive label and is left out. A study with a device is not "normal" to the headings.
CONCEPTS: Mapping[str, frozenset[str]] = {
    "Atelectasis": frozenset({"atelectasis", "collapse"}),
    "Cardiomegaly": frozenset({"cardiomegaly", "heart"}),
    "Effusion": frozenset({"effusion", "pericardial effusion"}),
    "Pneumothorax": frozenset({"pneumothorax"}),
    "Consolidation": frozenset({"consolidation"}),
    "Edema": frozenset({"edema"}),
    "Pneumonia": frozenset({"pneumonia"}),
    "Infiltration": frozenset({"infiltrate"}),
    "Mass": frozenset({"mass"}),
    "Nodule": frozenset({"nodule", "calcified nodule"}),
    "Emphysema": frozenset({"emphysema"}),
    "Fibrosis": frozenset({"fibrosis"}),
    "Pleural_Thickening": frozenset({"pleural thickening"}),
}
NORMAL = "normal"
RARE = ("Pneumothorax", "Consolidation", "Edema")
# Uncertain findings that the headings mostly hold; those that may, could or are suggested to be there they mostly lack.
PRESENT_CUES = frozenset({"or", "/", "vs", "versus", "likely", "probable", "probably", "borderline"})


class NoData(RexrankError):
    """The human labels are not where they were looked for."""


@dataclass(frozen=True)
class Yardstick:
    """Reports and their human labels.

    Attributes:
        numbers: Number n of each report's ``<n>.xml``.
        texts: FINDINGS and IMPRESSION, an empty line between.
        gold: Human labels by column of the file, bool [n] each.
        reporting: Which studies belong to the reporting half, bool [n].
    """

    numbers: tuple[int, ...]
    texts: tuple[str, ...]
    gold: Mapping[str, Flags]
    reporting: Flags


@dataclass(frozen=True)
class Agreement:
    """How predicted labels agree with human ones.

    Attributes:
        found: Positive on both sides.
        extra: Positive for the labeller alone.
        missed: Positive for the humans alone.
        low: Lower end of the 95 % interval of F1.
        high: Upper end.
    """

    found: int
    extra: int
    missed: int
    low: float
    high: float

    @property
    def f1(self) -> float:
        """2 found / (2 found + extra + missed); nan where nothing is positive."""
        return float(_f1(*np.array([self.found, self.extra, self.missed], dtype=np.float64)))


def default_folder() -> Path:
    """``data/iu_xray`` in the folder of real data beside the checkout, or where ``REXRANK_SHARED`` says."""
    shared = os.environ.get("REXRANK_SHARED") or Path(__file__).resolve().parents[2] / "shared"
    return Path(shared) / "data" / "iu_xray"


def read(folder: Path) -> Yardstick:
    """Read the human labels and their reports.

    Args:
        folder: Holds the file of labels, and the archive of reports unless torchxrayvision is installed.

    Raises:
        NoData: The folder holds no labels.
        BenchmarkError: There is no archive, or it is another one.
    """
    if not (folder / GOLD).is_file():
        raise NoData(
            f"{folder} holds no {GOLD}: Open-i's human labels (github.com/ncbi-nlp/NegBio, openi_gld_std14.csv) are "
            "not part of rexrank; name the folder that holds them"
        )
    archive = folder / ARCHIVE
    reports = openi.read_reports(archive if archive.is_file() else openi.archive_path())
    with (folder / GOLD).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    numbers = tuple(int(row["filename"].removeprefix("CXR")) for row in rows)
    texts = tuple(
        "\n\n".join(part for part in (reports[number].findings, reports[number].impression) if part)
        for number in numbers
    )
    gold = {name: np.array([row[name] == "1" for row in rows]) for name in (*CONCEPTS, NORMAL)}
    return Yardstick(numbers, texts, gold, np.array([in_reporting_half(text) for text in texts]))


def in_reporting_half(text: str) -> bool:
    """Which half a text belongs to, whatever study it stands in."""
    return bool(hashlib.sha256(text.encode()).digest()[0] & 1)


def predict(texts: Sequence[str]) -> dict[str, Flags]:
    """The labeller's word on each column of the human labels, bool [n] each."""
    found = [{mention.concept for mention in mentions(text) if present(mention)} for text in texts]
    columns = {name: np.array([not concepts.isdisjoint(each) for each in found]) for name, concepts in CONCEPTS.items()}
    labels = label(texts)
    no_finding, device = (labels[:, NAMES.index(name)] == POSITIVE for name in ("No Finding", "Support Devices"))
    return columns | {NORMAL: no_finding & ~device}


def present(mention: Mention) -> bool:
    """Whether the headings would hold a mention."""
    if mention.status == UNCERTAIN:
        return not PRESENT_CUES.isdisjoint(mention.cue.split())
    return mention.status == POSITIVE


def agreement(gold: Flags, predicted: Flags, texts: Sequence[str], resamples: int, seed: int) -> Agreement:
    """F1 with its interval from a bootstrap over the different texts.

    Args:
        gold: Human labels, bool [n].
        predicted: Ours, bool [n].
        texts: Reports, [n]; equal ones are drawn together.
        resamples: Number of draws.
        seed: Of the draws.
    """
    groups = np.unique(np.array(texts, dtype=object), return_inverse=True)[1]
    cells = (gold & predicted, ~gold & predicted, gold & ~predicted)
    counts = np.stack([np.bincount(groups, weights=cell) for cell in cells])  # [3, texts]
    draws = np.random.default_rng(seed).multinomial(
        counts.shape[1], np.full(counts.shape[1], 1 / counts.shape[1]), resamples
    )
    drawn = _f1(*(counts @ draws.T))
    low, high = (np.nan, np.nan) if np.isnan(drawn).all() else np.nanpercentile(drawn, [2.5, 97.5])
    found, extra, missed = (int(cell.sum()) for cell in cells)
    return Agreement(found, extra, missed, float(low), float(high))


def _f1(found: Counts, extra: Counts, missed: Counts) -> Counts:
    total = 2 * found + extra + missed
    return np.divide(2 * found, total, out=np.full_like(total, np.nan), where=total > 0)


def reports_per_second(texts: Sequence[str]) -> float:
    """Reports a second of processor time, where none of them has been labelled before in this process."""
    label(["Heart size is normal."])  # the phrases are read once a process
    start = time.process_time()
    label(texts)
    return len(texts) / (time.process_time() - start)


def _line(name: str, result: Agreement) -> str:
    positives = result.found + result.missed
    counts = f"{positives:>10}{result.found:>7}{result.extra:>7}{result.missed:>8}"
    return f"{name:20}{counts}{result.f1:>8.3f}   {result.low:.3f} to {result.high:.3f}"


def _print_table(title: str, lines: Iterable[str]) -> None:
    print(f"\n{title}")
    print(f"{'':20}{'positives':>10}{'found':>7}{'extra':>7}{'missed':>8}{'F1':>8}   95 % interval")
    for line in lines:
        print(line)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; 1 where the data are absent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=default_folder())
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    try:
        yardstick = read(chosen.data)
    except RexrankError as error:
        print(error, file=sys.stderr)
        return 1
    speed = reports_per_second(yardstick.texts)
    print(f"rules {RULE_VERSION}: {len(yardstick.texts):,} reports, {speed:,.0f} reports a second on one core")
    predicted = predict(yardstick.texts)
    for title, half in (("reporting half", yardstick.reporting), ("tuning half", ~yardstick.reporting)):
        results = _agreements(yardstick, predicted, half, (*CONCEPTS, NORMAL), chosen.resamples, chosen.seed)
        _print_table(f"{title}: {half.sum():,} studies", (_line(name, result) for name, result in results.items()))
    every = np.ones(len(yardstick.texts), dtype=bool)
    results = _agreements(yardstick, predicted, every, RARE, chosen.resamples, chosen.seed)
    _print_table(f"all {every.sum():,} studies", (_line(name, result) for name, result in results.items()))
    for name in RARE:
        wrong = {"extra": predicted[name] & ~yardstick.gold[name], "missed": yardstick.gold[name] & ~predicted[name]}
        for kind, flags in wrong.items():
            listed = sorted(number for number, flag in zip(yardstick.numbers, flags, strict=True) if flag)
            print(f"{name}, {kind}: {' '.join(f'CXR{number}' for number in listed) or 'none'}")
    return 0


def _agreements(
    yardstick: Yardstick, predicted: Mapping[str, Flags], part: Flags, names: Sequence[str], resamples: int, seed: int
) -> dict[str, Agreement]:
    texts = [text for text, taken in zip(yardstick.texts, part, strict=True) if taken]
    return {
        name: agreement(yardstick.gold[name][part], predicted[name][part], texts, resamples, seed) for name in names
    }


if __name__ == "__main__":
    raise SystemExit(main())
