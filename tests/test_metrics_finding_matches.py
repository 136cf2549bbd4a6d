"""Scores over findings: the forms of RadFact and RadMatch, and what an answer may look like."""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from rexrank.metrics import InvalidCall, Unavailable, compute, metrics
from rexrank.metrics.computation import KeyScores
from rexrank.metrics.finding_matches import ERRORS, SIGNIFICANCES, TIERS, read_matches
from rexrank.metrics.formulas import formula_of
from rexrank.statistics.draws import Draws
from rexrank.statistics.sample import Sample
from rexrank.terms import Convention

KEYS = [key.key for key in metrics()["finding_matches"].keys]
SECRET = "axolotl"


def scored(answers: Sequence[Any], convention: Convention = "corrected", **options: Any) -> dict[str, KeyScores]:
    texts = [f"prediction {place}" for place in range(len(answers))]
    references = [f"reference {place}" for place in range(len(answers))]
    return compute(KEYS, texts, references, convention, features={"finding_matches": answers}, **options)


def answer(reference: Sequence[str], predicted: Sequence[str], *matches: tuple[int, int, str]) -> dict[str, Any]:
    """Findings by the first letters of their significance, and matches by their positions."""
    words = {word[0]: word for word in SIGNIFICANCES}
    sides = [
        [{"id": place, "significance": words[letter], "text": SECRET} for place, letter in enumerate(side)]
        for side in (reference, predicted)
    ]
    listed = [{"ref_id": one, "pred_id": other, "errors": errors} for one, other, errors in matches]
    return {"reference_findings": sides[0], "predicted_findings": sides[1], "matches": listed}


def entailed(reference: Sequence[bool], predicted: Sequence[bool]) -> dict[str, Any]:
    return {
        f"{side}_findings": [{"id": place, "entailed": one} for place, one in enumerate(found)]
        for side, found in (("reference", reference), ("predicted", predicted))
    }


def test_radfact_takes_means_of_studies_and_f1_of_these_means() -> None:
    found = scored([entailed([True, False], [True]), entailed([], [False, False, True]), entailed([True], [])])
    assert found["findings_precision"].values.tolist() == pytest.approx([1, 1 / 3, np.nan], nan_ok=True)
    assert found["findings_recall"].values.tolist() == pytest.approx([0.5, np.nan, 1], nan_ok=True)
    precision, recall = 2 / 3, 0.75
    assert found["findings_precision"].aggregate == pytest.approx(precision)
    assert found["findings_recall"].aggregate == pytest.approx(recall)
    assert found["findings_f1"].aggregate == pytest.approx(2 * precision * recall / (precision + recall))
    # Of each study: of one where a side has no finding nothing is right.
    assert found["findings_f1"].values.tolist() == pytest.approx([2 / 3, 0, 0])
    assert found["findings_precision"].reasons == {2: "no_finding_listed"}
    assert found["findings_errors_all"].values.tolist() == [1, 2, 0]


def test_one_error_counts_once_on_the_side_that_the_tier_says() -> None:
    # A notable finding that an urgent claim contradicts: missed among the actionable ones, false among the urgent.
    found = scored([answer("n", "u", (0, 0, "major"))])
    numbers = {key.removeprefix("findings_"): one.aggregate for key, one in found.items()}
    assert (numbers["misses_actionable"], numbers["false_actionable"], numbers["errors_actionable"]) == (1, 0, 1)
    assert (numbers["misses_triage"], numbers["false_triage"], numbers["errors_triage"]) == (0, 1, 1)
    assert (numbers["misses_critical"], numbers["false_critical"]) == (0, 0)
    assert (numbers["recall_actionable"], numbers["recall_triage"], numbers["precision_triage"]) == (0, None, 0)
    assert found["findings_recall_triage"].reasons == {0: "no_finding_listed"}


def test_a_finding_with_one_right_match_is_a_hit() -> None:
    found = scored([answer("cu", "c", (0, 0, "minor"), (1, 0, "major"))])
    assert found["findings_recall_all"].aggregate == 0.5
    assert found["findings_precision_all"].aggregate == 1.0
    assert found["findings_misses_triage"].aggregate == 1.0
    assert found["findings_misses_critical"].aggregate == 0.0


def by_hand(answers: Sequence[Mapping[str, Any]], pool: Sequence[str]) -> dict[str, float | None]:
    """RadMatch's definitions, pair by pair, over all studies."""
    totals = dict.fromkeys(("refs", "hits", "preds", "right", "missed", "false"), 0)
    for one in answers:
        reference = {finding["id"]: finding["significance"] for finding in one["reference_findings"]}
        predicted = {finding["id"]: finding["significance"] for finding in one["predicted_findings"]}
        pairs = [(match["ref_id"], match["pred_id"], match["errors"] != "major") for match in one["matches"]]
        credited = {ref for ref, _, right in pairs if right}
        totals["refs"] += sum(word in pool for word in reference.values())
        totals["hits"] += sum(reference[ref] in pool for ref in credited)
        totals["preds"] += sum(word in pool for word in predicted.values())
        totals["right"] += sum(predicted[pred] in pool for pred in {pred for _, pred, right in pairs if right})
        unmatched = set(predicted) - {pred for _, pred, _ in pairs}
        totals["false"] += sum(predicted[pred] in pool for pred in unmatched)
        for ref in {ref for ref, _, _ in pairs} - credited:
            if reference[ref] not in pool and any(predicted[pred] in pool for at, pred, _ in pairs if at == ref):
                totals["false"] += 1
    missed = totals["refs"] - totals["hits"]
    return {
        "recall": totals["hits"] / totals["refs"] if totals["refs"] else None,
        "precision": totals["right"] / totals["preds"] if totals["preds"] else None,
        "misses": missed / len(answers),
        "false": totals["false"] / len(answers),
        "errors": (missed + totals["false"]) / len(answers),
    }


@pytest.mark.parametrize("seed", range(8))
def test_tiers_are_those_of_radmatch(seed: int) -> None:
    draw = random.Random(seed)
    answers = []
    for _ in range(12):
        reference, predicted = ("".join(draw.choices("cunr", k=draw.randrange(5))) for _ in range(2))
        ends = [(one, other) for one in range(len(reference)) for other in range(len(predicted)) if draw.random() < 0.3]
        answers.append(answer(reference, predicted, *((*pair, draw.choice(ERRORS)) for pair in ends)))
    for convention in ("published", "corrected"):
        found = scored(answers, convention)  # type: ignore[arg-type]
        for tier, pool in TIERS.items():
            for measure, value in by_hand(answers, pool).items():
                assert found[f"findings_{measure}_{tier}"].aggregate == pytest.approx(value), (measure, tier)


def test_findings_without_significance_have_no_tier_but_all() -> None:
    one = answer("cu", "c", (0, 0, "none"))
    del one["reference_findings"][1]["significance"]
    found = scored([one, answer("c", "c", (0, 0, "none"))])
    assert found["findings_recall_all"].aggregate == pytest.approx(2 / 3)
    assert found["findings_recall_critical"].reasons == {0: "no_significance"}
    assert found["findings_errors_actionable"].counts["n_undefined"] == 1
    assert found["findings_recall_critical"].aggregate == 1.0


def test_blank_and_identical_reports() -> None:
    answers = [answer("cn", ""), answer("cn", "c", (0, 0, "major"))]
    features = {"finding_matches": answers}
    found = compute(KEYS, ["", "Nodule."], ["Nodule.", "Nodule."], "corrected", features=features)
    for measure in ("precision", "recall", "f1"):
        assert found[f"findings_{measure}"].values.tolist() == [0.0, 1.0]
    assert found["findings_recall_all"].aggregate == 0.5
    assert found["findings_misses_all"].values.tolist() == [2.0, 0.0]
    assert found["findings_false_all"].values.tolist() == [0.0, 0.0]
    assert found["findings_f1"].aggregate == pytest.approx(0.5)
    published = compute(KEYS, ["", "Nodule."], ["Nodule.", "Nodule."], "published", features=features)
    assert published["findings_precision"].reasons == {0: "no_finding_listed"}
    assert published["findings_f1"].aggregate is None
    assert (
        compute(KEYS, ["a"], ["b"], "corrected", features={"finding_matches": answers[1:]})["findings_f1"].aggregate
        == 0
    )


def test_a_corpus_score_is_the_same_from_its_sums() -> None:
    draw = random.Random(3)
    answers = [answer("cunr", "cu", (draw.randrange(4), 0, draw.choice(ERRORS))) for _ in range(20)]
    for key, one in scored(answers).items():
        assert (formula_of(one.signature) is None) == (one.statistics is None), key
        if one.statistics is None:
            continue
        sample = Sample(one.statistics, formula_of(one.signature))  # type: ignore[arg-type]
        assert sample.score == pytest.approx(one.aggregate)
        scores = Draws.of(20, 200, 1).scores([sample])[0]
        assert np.nanmin(scores) >= 0
        assert np.nanmax(scores) <= 1


def test_answers_in_text_and_none_at_all() -> None:
    good = json.dumps(entailed([True], [True]))
    found = scored([good, f"{SECRET} {good}", None, json.dumps({"matches": []}), "[]"])["findings_recall"]
    assert found.reasons == {1: "unparsed", 2: "failed", 3: "unparsed", 4: "unparsed"}
    assert (found.aggregate, found.counts["n_unparsed"], found.counts["n_failed"]) == (1.0, 3, 1)
    with pytest.raises(Unavailable, match="a judge of findings"):
        compute("findings_f1", ["a"], ["b"])


def changed(field: str, value: Any) -> dict[str, Any]:
    """A good answer with one thing changed; `field` is where, its parts with dots between them."""
    found = answer("cu", "c", (0, 0, "minor"))
    *path, last = (int(part) if part.isdigit() else part for part in field.split("."))
    place: Any = found
    for part in path:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return found


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("reference_findings", None, r"\.reference_findings: expected a list"),
        ("predicted_findings", {"id": 1}, r"\.predicted_findings: expected a list, got dict"),
        ("matches", SECRET, r"\.matches: expected a list, got str"),
        (
            "matches",
            None,
            r"\.reference_findings\[0\]\.entailed: expected true or false, since the answer has no matches",
        ),
        ("reference_findings.1", SECRET, r"\.reference_findings\[1\]: expected an object with an id, got str"),
        (
            "reference_findings.1.id",
            None,
            r"\.reference_findings\[1\]\.id: expected a text or a whole number, got None",
        ),
        ("reference_findings.1.id", 0, r"\.reference_findings\[1\]\.id: the id stands there twice"),
        (
            "reference_findings.0.id",
            True,
            r"\.reference_findings\[0\]\.id: expected a text or a whole number, got bool",
        ),
        (
            "predicted_findings.0.significance",
            SECRET,
            r"\.predicted_findings\[0\]\.significance: expected critical, urg",
        ),
        (
            "predicted_findings.0.significance",
            ["u"],
            r"\.predicted_findings\[0\]\.significance: expected critical, urg",
        ),
        ("predicted_findings.0.entailed", True, r"\.predicted_findings\[0\]\.entailed: the answer has matches too"),
        ("matches.0", 5, r"\.matches\[0\]: expected an object with ref_id and pred_id, got int"),
        ("matches.0.ref_id", 7, r"\.matches\[0\]\.ref_id: no finding of that side has this id"),
        ("matches.0.pred_id", SECRET, r"\.matches\[0\]\.pred_id: no finding of that side has this id"),
        ("matches.0.pred_id", [SECRET], r"\.matches\[0\]\.pred_id: expected a text or a whole number, got list"),
        ("matches.0.errors", SECRET, r"\.matches\[0\]\.errors: expected none, minor, major"),
    ],
)
def test_a_fault_is_named_by_its_field_and_never_quoted(field: str, value: Any, said: str) -> None:
    with pytest.raises(InvalidCall, match=r"^features\['finding_matches'\]\[1\]" + said) as caught:
        scored([entailed([True], [True]), changed(field, value)])
    assert SECRET not in str(caught.value)
    with pytest.raises(InvalidCall, match="^matches" + said):
        read_matches(changed(field, value))


def test_of_several_references_each_has_an_answer() -> None:
    near, far = entailed([True], [True]), entailed([False, True], [False])
    features = {"finding_matches": [[far, near], near]}
    found = compute(KEYS, ["a", "b"], [["c", "d"], "e"], features=features)
    assert found["findings_recall"].aggregate == 1.0
    assert found["findings_errors_all"].aggregate == 0.0
    # Precision and recall come from the same reference: 2/3 against 1/2.
    two = [entailed([True] * 2, [True, False]), entailed([True, False, False], [True])]
    both = compute(KEYS, ["a"], [["b", "c"]], features={"finding_matches": [two]})
    assert [both[f"findings_{one}"].aggregate for one in ("precision", "recall")] == [0.5, 1.0]
    mean = compute(KEYS, ["a", "b"], [["c", "d"], "e"], features=features, several="mean")
    assert mean["findings_recall"].aggregate == pytest.approx((0.75 + 1) / 2)
    # Half a study with one of two findings, half one with one of one, and a whole one.
    assert mean["findings_recall_all"].aggregate == pytest.approx((1 + 1) / (1.5 + 1))
    broken = {"finding_matches": [[far, {**near, "predicted_findings": 3}], near]}
    with pytest.raises(
        InvalidCall, match=r"^features\['finding_matches'\]\[0\]\[1\]\.predicted_findings: expected a list"
    ):
        compute(KEYS, ["a", "b"], [["c", "d"], "e"], features=broken)
