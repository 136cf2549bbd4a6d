"""Checks of printed values against each other: what cannot be, or hardly can, is flagged and never mended.

A printed value stands for all values that round to it, so no check fires where some such values would pass it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from statistics import median
from typing import Literal

import numpy as np

from rexrank.metrics import radcliq
from rexrank.published.record import PublishedRow
from rexrank.published.scores import printed_score

Kind = Literal[
    "radcliq", "impossible_f1", "harmonic_f1", "equal_rows", "bleu_ratio", "rouge_below_meteor", "vqa_overall", "noted"
]
_COMPONENTS = ("radgraph_combined", "bertscore", "sembscore", "bleu2")
_CATEGORIES = (
    "vqa_differential_diagnosis",
    "vqa_geometric_information_assessment",
    "vqa_location_and_distribution_assessment",
    "vqa_negation_assessment",
    "vqa_presence_assessment",
)
# A comparison of floats that were written in decimals.
_SLACK = 1e-9
# Two rows are alike where so many values are equal and no other one differs by more than the last printed digit.
_EQUAL_VALUES = 5
# Of all tables with several BLEU only two rows are further than this from the median ratio of their table.
_RATIO, _RATIO_ROWS = 0.1, 5


@dataclass(frozen=True)
class Flag:
    """What is odd about a row.

    Attributes:
        kind: The check that found it; ``noted`` for what the record itself says.
        message: One phrase for the reader.
    """

    kind: Kind
    message: str


def flags(rows: Sequence[PublishedRow]) -> list[tuple[Flag, ...]]:
    """Check rows, each for itself and among those of its table.

    Args:
        rows: Whole tables, in any order; rows of a table that are left out are not compared with.

    Returns:
        The flags of each row, in the order of the rows.
    """
    found: list[list[Flag]] = [[flag for check in _OF_A_ROW for flag in check(row)] for row in rows]
    tables: dict[tuple[str, ...], list[int]] = {}
    for position, row in enumerate(rows):
        tables.setdefault(row.table, []).append(position)
    for positions in tables.values():
        members = [rows[position] for position in positions]
        for check in _OF_A_TABLE:
            for member, flag in check(members):
                found[positions[member]].append(flag)
    return [(*own, *(Flag("noted", note) for note in row.notes)) for own, row in zip(found, rows, strict=True)]


def follows_formula(row: PublishedRow, key: str = "radcliq_v1") -> bool | None:
    """Whether the printed RadCliQ, or its inverse, follows from the printed means of its components.

    RadCliQ is linear, so its mean is that of the components' means (Yu et al., Patterns 2023).

    Args:
        row: A row of ReXrank.
        key: ``radcliq_v0`` or ``radcliq_v1``.

    Returns:
        None where RadCliQ or a component was not printed.
    """
    printed, expected = _printed_radcliq(row, key), _recomputed_radcliq(row, key)
    if printed is None or expected is None:
        return None
    return printed[0] <= expected + _half_width(key) + _SLACK and printed[1] >= expected - _half_width(key) - _SLACK


def _printed_radcliq(row: PublishedRow, key: str) -> tuple[float, float] | None:
    """Lowest and highest score that the printed cell can stand for."""
    half = _half_step(key)
    raw, inverse = row.scores.get(key), row.scores.get(f"inv_{key}")
    if raw is not None:
        return raw - half, raw + half
    return None if inverse is None or inverse <= half else (1 / (inverse + half), 1 / (inverse - half))


def _recomputed_radcliq(row: PublishedRow, key: str) -> float | None:
    means = [mean for component in _COMPONENTS if (mean := row.scores.get(component)) is not None]
    return _radcliq(key, means) if len(means) == len(_COMPONENTS) else None


def _radcliq(key: str, means: Sequence[float]) -> float:
    formula = radcliq.v0 if key == "radcliq_v0" else radcliq.v1
    radgraph, bertscore, sembscore, bleu = ([mean] for mean in means)
    return float(formula(radgraph, bertscore, sembscore, bleu)[0])


@cache
def _half_width(key: str) -> float:
    """By how much the rounding of the components can move the score."""
    origin, steps = _radcliq(key, [0.0] * len(_COMPONENTS)), np.eye(len(_COMPONENTS)).tolist()
    slopes = [abs(_radcliq(key, step) - origin) for step in steps]
    return sum(slope * _half_step(component) for slope, component in zip(slopes, _COMPONENTS, strict=True))


def _half_step(key: str) -> float:
    """How far a true value can be from the printed one."""
    return float(0.5 * 10.0 ** -printed_score(key).digits)


def _off_formula(row: PublishedRow) -> Iterator[Flag]:
    for key in ("radcliq_v0", "radcliq_v1"):
        expected = _recomputed_radcliq(row, key)
        if expected is None or follows_formula(row, key) is not False:
            continue
        label, value = printed_score(key).label, expected
        if row.scores.get(key) is None:
            label, value = f"1/{label}", 1 / expected
        yield Flag(
            "radcliq", f"{label} does not follow from the printed means of its components: recomputed {value:.3f}"
        )


def _clinical(row: PublishedRow) -> tuple[float, float, float] | None:
    precision, recall, f1 = (row.scores.get(f"ce_{name}") for name in ("precision", "recall", "f1"))
    return None if precision is None or recall is None or f1 is None else (precision, recall, f1)


def _impossible_f1(row: PublishedRow) -> Iterator[Flag]:
    """F1 of a class is at most the mean of its precision and recall, and so are averages of it over classes."""
    if (found := _clinical(row)) is None:
        return
    precision, recall, f1 = found
    mean, half = (precision + recall) / 2, _half_step("ce_f1")
    if f1 - mean > 2 * half + _SLACK:
        larger = max(precision, recall)
        above = f", and above the larger of both, {larger:.3f}" if f1 - larger > 2 * half + _SLACK else ""
        yield Flag(
            "impossible_f1",
            f"F1 {f1:.3f} is above the mean of precision and recall, {mean:.4f}{above}: no average over classes or "
            "studies can be",
        )


def _harmonic_f1(row: PublishedRow) -> Iterator[Flag]:
    """Averages over classes hardly ever meet the harmonic mean of the averaged precision and recall."""
    if (found := _clinical(row)) is None:
        return
    precision, recall, f1 = found
    harmonic = 2 * precision * recall / (precision + recall)
    if abs(f1 - harmonic) <= 2 * _half_step("ce_f1") + _SLACK:
        yield Flag(
            "harmonic_f1",
            f"F1 {f1:.3f} is the harmonic mean of the printed precision and recall, {harmonic:.4f}, unlike most rows: "
            "a micro average, or computed from averages",
        )


def _vqa_overall(row: PublishedRow) -> Iterator[Flag]:
    parts = [row.scores.get(category) for category in _CATEGORIES]
    values = [part for part in parts if part is not None]
    if len(values) < len(_CATEGORIES):
        return
    macro, micro = row.scores.get("vqa_accuracy_macro"), row.scores.get("vqa_accuracy_micro")
    mean, step = sum(values) / len(values), 2 * _half_step("vqa_accuracy_macro")
    if macro is not None and abs(macro - mean) > step + _SLACK:
        yield Flag("vqa_overall", f"overall accuracy is not the mean of the categories, {mean:.4f}")
    if micro is not None and not min(values) - step <= micro <= max(values) + step:
        yield Flag("vqa_overall", "overall accuracy lies outside those of the categories")


def _equal_rows(rows: Sequence[PublishedRow]) -> Iterator[tuple[int, Flag]]:
    for (i, one), (j, other) in combinations(enumerate(rows), 2):
        shared = [
            (key, a, b) for key, a in one.scores.items() if a is not None and (b := other.scores.get(key)) is not None
        ]
        equal = sum(a == b for _, a, b in shared)
        if equal >= _EQUAL_VALUES and all(abs(a - b) <= 2 * _half_step(key) + _SLACK for key, a, b in shared):
            said = f"{equal} of {len(shared)} values equal those of"
            yield i, Flag("equal_rows", f"{said} {other.model}: one row looks copied")
            yield j, Flag("equal_rows", f"{said} {one.model}: one row looks copied")


def _bleu_ratio(rows: Sequence[PublishedRow]) -> Iterator[tuple[int, Flag]]:
    for lower in ("coco_bleu3", "coco_bleu2"):
        ratios = {
            position: four / base
            for position, row in enumerate(rows)
            if (four := row.scores.get("coco_bleu4")) and (base := row.scores.get(lower))
        }
        if len(ratios) < _RATIO_ROWS:
            continue
        middle = median(ratios.values())
        for position, ratio in ratios.items():
            if abs(ratio / middle - 1) > _RATIO:
                yield (
                    position,
                    Flag(
                        "bleu_ratio",
                        f"BLEU-4 is {ratio:.3f} of BLEU-{lower[-1]}, where {middle:.3f} is usual in this table",
                    ),
                )


def _rouge_below_meteor(rows: Sequence[PublishedRow]) -> Iterator[tuple[int, Flag]]:
    differences = {
        position: rouge - meteor
        for position, row in enumerate(rows)
        if (rouge := row.scores.get("rouge_l")) is not None and (meteor := row.scores.get("meteor")) is not None
    }
    below = [position for position, difference in differences.items() if difference < 0]
    # Where most rows are so, it is no oddity of one.
    if 2 * len(below) < len(differences):
        for position in below:
            yield (
                position,
                Flag("rouge_below_meteor", "ROUGE-L is below METEOR, the reverse of the other rows: they look swapped"),
            )


_OF_A_ROW: tuple[Callable[[PublishedRow], Iterable[Flag]], ...] = (
    _off_formula,
    _impossible_f1,
    _harmonic_f1,
    _vqa_overall,
)
_OF_A_TABLE: tuple[Callable[[Sequence[PublishedRow]], Iterable[tuple[int, Flag]]], ...] = (
    _equal_rows,
    _bleu_ratio,
    _rouge_below_meteor,
)
