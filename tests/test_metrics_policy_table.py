"""One policy for every score of the registry: missing, blank, foreign and over-long reports, in both conventions.

All situations stand in one call, each a study of its own, so that a program which a metric starts is started once. A
metric added to the registry is tested here at once; one that needs an encoder or a judge gets invented features.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import feature_makers
import numpy as np
import pytest

from rexrank.metrics import InvalidCall, compute, metric_of, score_keys
from rexrank.metrics.computation import KeyScores
from rexrank.reports.scripts import outside_latin
from rexrank.reports.studies import is_blank
from rexrank.terms import CONVENTIONS, Convention

REPORT = "Mild new edema. Heart is enlarged."
OTHER = "No new edema. Heart size is normal; small stable effusion."
CYRILLIC = "Лёгкие без очаговых теней. Сердце не расширено."
MIXED = "No new edema: без отёка лёгких и выпота."
LONG = ("Small stable nodule, new effusion. " * 5800)[:200_000]


@dataclass(frozen=True)
class Situation:
    """A study and what becomes of it in `corrected`.

    Attributes:
        prediction: The model's text.
        reference: The radiologist's.
        value: ``worst``, ``best``, ``null``, ``any`` (finite, or null with a reason of the metric's own).
        reason: Why the value is null.
        english: What becomes of it under a metric that reads English alone, where that is something else.
        english_reason: Likewise.
    """

    prediction: str
    reference: str
    value: str
    reason: str | None = None
    english: str | None = None
    english_reason: str | None = None


SITUATIONS = {
    "plain": Situation(REPORT, OTHER, "any"),
    "blank prediction": Situation("", OTHER, "worst"),
    "prediction of white space": Situation(" \n\t\u00a0", OTHER, "worst"),
    "prediction of zero width": Situation("\u200b\ufeff\u200d", OTHER, "worst"),
    "prediction of control characters": Situation("\x00\x1b", OTHER, "worst"),
    "blank reference": Situation(REPORT, "", "null", "empty_reference"),
    "reference of white space": Situation(REPORT, "\u2003\r\n", "null", "empty_reference"),
    "reference of zero width": Situation(REPORT, "\u200b", "null", "empty_reference"),
    "both blank": Situation("", "", "null", "both_empty"),
    "both blank in another way": Situation("\u200b", " \n", "null", "both_empty"),
    "identical": Situation(REPORT, REPORT, "best"),
    "identical but for white space": Situation(f"\n{REPORT}".replace(" ", "\u00a0 "), REPORT, "best"),
    "foreign prediction": Situation(CYRILLIC, OTHER, "any", english="worst"),
    "prediction of a third foreign letters": Situation(MIXED, OTHER, "any", english="worst"),
    "foreign reference": Situation(REPORT, CYRILLIC, "any", english="null", english_reason="unsupported_language"),
    "both foreign": Situation(MIXED, CYRILLIC, "any", english="null", english_reason="unsupported_language"),
    "identical foreign": Situation(CYRILLIC, CYRILLIC, "best"),
    "blank prediction of a foreign reference": Situation("", CYRILLIC, "worst"),
    "foreign prediction of a blank reference": Situation(CYRILLIC, "", "null", "empty_reference"),
    "over-long prediction": Situation(LONG, OTHER, "any"),
    "over-long reference": Situation(REPORT, LONG, "any"),
    "identical over-long": Situation(LONG, LONG, "best"),
    "last": Situation(OTHER, REPORT, "any"),
}
NAMES = list(SITUATIONS)
# METEOR's program searches alignments for minutes in texts of that length, until its time limit ends it.
SHORTER = {"meteor": 800}
# Options without which a metric has nothing to compute from.
NEEDED: dict[str, dict[str, Any]] = {"report_statistics": {"training": [OTHER]}}

# What the originals print for ("", r), (h, "") and ("", ""), as specs measured it; None where it is tiny but not 0.
ORIGINAL: dict[str, tuple[float | None, float | None, float | None]] = {
    "bleu2": (0, 0, 0),
    "coco_bleu1": (0, None, 0),
    "coco_bleu2": (0, None, 0),
    "coco_bleu3": (0, None, 0),
    "coco_bleu4": (0, None, 0),
    "rouge_l": (0, 0, 1),
    "rouge1": (0, 0, 0),
    "rouge2": (0, 0, 0),
    "rouge_l_f1": (0, 0, 0),
    "meteor": (0, 0, 0),
    "cider": (0, 0, 0),
    # OTHER names two terms of change, REPORT one.
    "temporal_f1": (1e-10, 1e-10, 1),
}
TINY = 1e-3

# METEOR's program needs long to start.
every_key = pytest.mark.parametrize(
    "key",
    [
        pytest.param(key, marks=[pytest.mark.slow] if metric_of(key).name == "meteor" else [])
        for key in score_keys()
        if metric_of(key).task == "report"
    ],
)
every_convention = pytest.mark.parametrize("convention", CONVENTIONS)


def score(keys: Sequence[str], names: Sequence[str], convention: Convention, **options: Any) -> dict[str, KeyScores]:
    """Scores of one metric's keys for the named situations."""
    metric = metric_of(keys[0])
    if metric.missing and (lacking := metric.missing()):
        pytest.skip(lacking)
    longest = SHORTER.get(metric.name, len(LONG))
    predictions = [SITUATIONS[name].prediction[:longest] for name in names]
    references = [SITUATIONS[name].reference[:longest] for name in names]
    needed = dict.fromkeys(need for key in keys for need in score_keys()[key].needs)
    features = feature_makers.features_of(needed, predictions, [[reference] for reference in references])
    options |= NEEDED.get(metric.name, {})
    return compute(keys, predictions, references, convention, features=features, **options)


@cache
def scores_of_metric(name: str, convention: Convention) -> dict[str, KeyScores]:
    return score([key for key in score_keys() if metric_of(key).name == name], NAMES, convention)


def scores(key: str, convention: Convention) -> KeyScores:
    """Scores of all situations, computed once a metric."""
    return scores_of_metric(metric_of(key).name, convention)[key]


def has_values(found: KeyScores) -> bool:
    """Whether studies have a value of their own, and the score judges at all."""
    return score_keys()[found.key].direction != "none" and "only_together" not in found.reasons.values()


@every_key
def test_corrected_follows_the_table(key: str) -> None:
    found = scores(key, "corrected")
    if "only_together" in found.reasons.values():
        assert len(found.reasons) == len(NAMES)
        return
    known = score_keys()[key]
    ends = {"worst": known.worst("corrected"), "best": known.best("corrected")}
    for position, (name, situation) in enumerate(SITUATIONS.items()):
        foreign_only = metric_of(key).english_only and situation.english is not None
        expected = situation.english if foreign_only else situation.value
        reason = situation.english_reason if foreign_only else situation.reason
        value = found.values[position]
        if known.direction == "none" or (expected == "worst" and known.blank == "formula"):
            expected = "any"
        if expected == "null":
            assert (math.isnan(value), found.reasons.get(position)) == (True, reason), name
        elif expected == "any" or ends[str(expected)] is None:
            assert math.isnan(value) == bool(found.reasons.get(position)), name
        else:
            assert value == ends[str(expected)], name
            assert position not in found.reasons, name


@every_key
@every_convention
def test_values_are_finite_and_in_range_or_null_with_a_reason(key: str, convention: Convention) -> None:
    found = scores(key, convention)
    low, high = score_keys()[key].range(convention)
    for position, value in enumerate(found.values.tolist()):
        if math.isnan(value):
            assert found.reasons[position], NAMES[position]
        else:
            assert math.isfinite(value), NAMES[position]
            assert low is None or value >= low, NAMES[position]
            assert high is None or value <= high, NAMES[position]
            assert position not in found.reasons, NAMES[position]
    assert found.aggregate is None or math.isfinite(found.aggregate)


@every_key
@every_convention
def test_counts(key: str, convention: Convention) -> None:
    found = scores(key, convention)
    rows = SITUATIONS.values()
    assert found.counts["n"] == len(NAMES)
    assert found.counts["n_empty"] == sum(is_blank(row.prediction) for row in rows) == 7
    assert found.counts["n_empty_reference"] == sum(is_blank(row.reference) for row in rows) == 6
    assert found.counts["n_identical"] == 4
    undefined = [reason for reason in found.reasons.values() if reason != "only_together"]
    assert found.counts["n_undefined"] == len(undefined)
    foreign = sum(outside_latin(row.prediction) or outside_latin(row.reference) for row in rows)
    assert found.counts.get("n_unsupported_language") == (foreign if metric_of(key).english_only else None)


@every_key
def test_published_keeps_what_the_original_says_about_blanks(key: str) -> None:
    found = scores(key, "published")
    policy = {"empty_prediction", "empty_reference", "both_empty", "no_content", "unsupported_language"}
    assert not policy & set(found.reasons.values())
    if key not in ORIGINAL:
        return
    for name, expected in zip(("blank prediction", "blank reference", "both blank"), ORIGINAL[key], strict=True):
        value = found.values[NAMES.index(name)]
        if expected is None:
            assert 0 < value < TINY, name
        else:
            assert value == pytest.approx(expected, rel=1e-6, abs=1e-12), name


MISSING: list[tuple[tuple[list[Any], list[Any]], str]] = [
    (([REPORT, None], [OTHER, OTHER]), r"predictions\[1\]: expected str, got NoneType"),
    (([REPORT, REPORT, math.nan], [OTHER] * 3), r"predictions\[2\]: expected str, got float"),
    (([REPORT, REPORT], [None, OTHER]), r"references\[0\]: expected str or list of str, got NoneType"),
    (([REPORT, REPORT], [OTHER, math.nan]), r"references\[1\]: expected str or list of str, got float"),
    (([REPORT], [[OTHER, None]]), r"references\[0\]\[1\]: expected str, got NoneType"),
    (([REPORT, REPORT], [OTHER]), "predictions has 2 items but references has 1"),
    (([], []), "hold no items"),
]


@pytest.mark.parametrize("key", score_keys())
@every_convention
def test_what_is_missing_is_refused_before_anything_is_computed(key: str, convention: Convention) -> None:
    for arguments, words in MISSING:
        with pytest.raises(InvalidCall, match=words) as caught:
            compute(key, *arguments, convention)
        assert "edema" not in str(caught.value)


@every_key
def test_treatment_of_blanks_can_be_chosen_and_is_signed(key: str) -> None:
    names = ["plain", "blank prediction", "blank reference", "both blank", "last", "identical"]
    options = {"on_empty_prediction": "undefined", "on_empty_reference": "worst"}
    found = score([key], names, "corrected", **options)[key]
    if not has_values(found):
        return
    assert "empty_reference:worst" in found.signature
    assert "empty_prediction:undefined" in found.signature
    assert found.reasons[1] == "empty_prediction"
    worst = score_keys()[key].worst("corrected")
    if score_keys()[key].blank != "formula" and worst is not None:
        assert found.values[[2, 3]].tolist() == [worst, worst]
    for option, argument in (("on_empty_prediction", "predictions[1]"), ("on_empty_reference", "references[2]")):
        with pytest.raises(InvalidCall) as caught:
            score([key], names, "published", **{option: "error"})
        assert str(caught.value) == f"{argument}: the text is blank (2 affected)"


@every_key
def test_english_alone_can_be_overridden(key: str) -> None:
    if not metric_of(key).english_only:
        return
    names = ["plain", "foreign prediction", "foreign reference", "last", "identical"]
    found = score([key], names, "corrected", on_unsupported_language="compute")[key]
    assert "unsupported_language" not in found.reasons.values()
    assert "unsupported_language:compute" in found.signature
    assert found.counts["n_unsupported_language"] == 2


@every_key
@every_convention
def test_the_strange_do_not_touch_the_others(key: str, convention: Convention) -> None:
    together = scores(key, convention)
    if not has_values(together) or metric_of(key).name == "cider":
        return  # CIDEr takes its document frequencies from the references of the call
    plain = ["plain", "last"]
    alone = score([key], plain, convention)[key]
    expected = together.values[[NAMES.index(name) for name in plain]]
    np.testing.assert_allclose(alone.values, expected, rtol=1e-9, atol=1e-12)


@every_key
@every_convention
def test_the_score_of_a_part_follows_from_what_its_studies_have_in_the_whole(key: str, convention: Convention) -> None:
    whole = scores(key, convention)
    if score_keys()[key].kind == "set" or metric_of(key).name == "cider":
        return
    chosen = NAMES[::2]
    rows = [NAMES.index(name) for name in chosen]
    columns = whole.values[:, None] if whole.statistics is None else whole.statistics
    kept = columns[rows][~np.isnan(columns[rows]).any(axis=1)]
    expected = kept.mean() if whole.formula is None else whole.formula(kept.sum(axis=0, keepdims=True))[0]
    found = score([key], chosen, convention)[key].aggregate
    assert (math.nan if found is None else found) == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
