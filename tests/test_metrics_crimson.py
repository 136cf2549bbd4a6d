"""CRIMSON against the published cases, the table of the specification, and answers of every kind."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.metrics import InvalidCall, compute
from rexrank.metrics.answers import repaired_json, strict_json
from rexrank.metrics.crimson import evaluate, from_evaluation
from rexrank.terms import CONVENTIONS, Convention

WEIGHTS = ["urgent", "actionable_not_urgent", "not_actionable_not_urgent", "benign_expected", "other"]


def finding(identifier: Any, significance: str = "actionable_not_urgent") -> dict[str, Any]:
    return {"id": identifier, "finding": "invented", "clinical_significance": significance}


def evaluation(
    reference: list[Any],
    predicted: list[Any],
    matched: list[tuple[Any, Any]],
    false: list[Any] | None = None,
    missing: list[Any] | None = None,
    flaws: list[tuple[Any, Any, str]] | None = None,
) -> dict[str, Any]:
    return {
        "reference_findings": reference,
        "predicted_findings": predicted,
        "matched_findings": [{"ref_id": one, "pred_id": other} for one, other in matched],
        "errors": {
            "false_findings": false or [],
            "missing_findings": missing or [],
            "attribute_errors": [
                {"ref_id": one, "pred_id": other, "severity": severity, "error_types": ["location"], "explanation": ""}
                for one, other, severity in flaws or []
            ],
        },
    }


TABLE = [
    (
        evaluation(
            [finding("R1", "urgent"), finding("R2", "not_actionable_not_urgent")],
            [finding("P1", "urgent"), finding("P2")],
            [("R1", "P1")],
            ["P2"],
            ["R2"],
            [("R1", "P1", "significant")],
        ),
        (2 / 3 - 0.5) / 1.25,
    ),
    (
        evaluation(
            [finding("R1", "not_actionable_not_urgent")],
            [finding("P1", "not_actionable_not_urgent"), finding("P2", "urgent")],
            [("R1", "P1")],
            ["P2"],
        ),
        -0.75 / 1.75,
    ),
    (evaluation([finding("R1"), finding("R2")], [finding("P1")], [("R1", "P1")]), 0.5),
]
GOOD = TABLE[0][0]


@pytest.mark.parametrize(("answer", "score"), TABLE)
def test_crimson_gives_the_tabled_values(answer: dict[str, Any], score: float) -> None:
    assert from_evaluation(answer, "published") == round(score, 4)
    assert from_evaluation(answer, "corrected") == pytest.approx(score, abs=1e-15)
    assert from_evaluation(json.dumps(answer), "corrected") == from_evaluation(answer, "corrected")


def test_published_cases(shared_data: Path) -> None:
    cases = json.loads((shared_data / "expected" / "cases.json").read_text(encoding="utf-8"))["cases"]
    chosen = [case for case in cases if case["metric"] == "crimson_from_evaluation_json"]
    assert len(chosen) == 11
    for case in chosen:
        expected, parts = case["expected"], evaluate(case["hyps"], "published")
        assert from_evaluation(case["hyps"], "published") == expected["crimson_score"], case["id"]
        assert from_evaluation(case["hyps"], "corrected") == pytest.approx(expected["crimson_score"], abs=5e-5)
        assert parts is not None
        assert parts.total == expected["metrics"]["N_G"]
        assert parts.correct == pytest.approx(expected["metrics"]["correct"])
        assert parts.false == expected["metrics"]["E_penalty"]


def without(answer: dict[str, Any], *path: Any) -> dict[str, Any]:
    return replaced(answer, None, *path, remove=True)


def replaced(answer: dict[str, Any], value: Any, *path: Any, remove: bool = False) -> dict[str, Any]:
    changed = deepcopy(answer)
    part: Any = changed
    for step in path[:-1]:
        part = part[step]
    if remove:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    "answer",
    [
        without(GOOD, "reference_findings"),
        without(GOOD, "errors"),
        without(GOOD, "errors", "attribute_errors"),
        without(GOOD, "reference_findings", 0, "id"),
        without(GOOD, "predicted_findings", 0, "clinical_significance"),
        without(GOOD, "matched_findings", 0, "ref_id"),
        without(GOOD, "matched_findings", 0, "pred_id"),
        replaced(GOOD, "R2", "reference_findings", 0, "id"),
        replaced(GOOD, "P1", "predicted_findings", 1, "id"),
        replaced(GOOD, ["P2", "P2"], "errors", "false_findings"),
        replaced(GOOD, ["P3"], "errors", "false_findings"),
        replaced(GOOD, ["P1"], "errors", "missing_findings"),
        replaced(GOOD, "R3", "matched_findings", 0, "ref_id"),
        replaced(GOOD, "R1", "matched_findings", 0, "pred_id"),
        replaced(GOOD, "P3", "errors", "attribute_errors", 0, "pred_id"),
        replaced(GOOD, float("nan"), "reference_findings", 0, "id"),
        replaced(GOOD, True, "reference_findings", 0, "id"),
        replaced(GOOD, ["urgent"], "reference_findings", 0, "clinical_significance"),
        replaced(GOOD, "P2", "errors", "false_findings"),
        replaced(GOOD, {"P2": 1}, "errors", "false_findings"),
        replaced(GOOD, [], "errors"),
        replaced(GOOD, "R1", "matched_findings", 0),
    ],
)
def test_corrected_takes_no_answer_in_which_something_does_not_fit(answer: dict[str, Any]) -> None:
    assert from_evaluation(answer, "corrected") is None


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        # What crimson-score 0.2.0 gives.
        ({}, 1.0),
        (without(GOOD, "errors"), 0.8),
        (without(GOOD, "matched_findings", 0, "ref_id"), None),
        (without(GOOD, "matched_findings", 0, "pred_id"), 0.1333),
        (without(GOOD, "reference_findings", 0, "id"), None),
        (replaced(GOOD, ["P9"], "errors", "false_findings"), 0.5333),
        (replaced(GOOD, "P2", "errors", "false_findings"), 0.5333),
        (replaced(GOOD, None, "errors", "false_findings"), None),
        (replaced(GOOD, "R1", "reference_findings", 1, "id"), -0.2941),
        (replaced(GOOD, ["urgent"], "reference_findings", 0, "clinical_significance"), None),
        (replaced(GOOD, None, "errors", "attribute_errors", 0, "error_types"), None),
        (replaced(GOOD, ["P1"], "matched_findings", 0, "pred_id"), 0.1333),
        (replaced(GOOD, [], "errors"), None),
    ],
)
def test_published_is_as_lenient_as_the_package(answer: dict[str, Any], score: float | None) -> None:
    assert from_evaluation(answer, "published") == score


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("answer", [None, 1, float("nan"), True, [], [{}], "", "null", "[]", "3", "{", "sorry", b"{}"])
def test_what_is_no_object_cannot_be_read(answer: object, convention: Convention) -> None:
    assert from_evaluation(answer, convention) is None


BROKEN = [
    # What the repairs of crimson-score 0.2.0 make of it.
    ('{"a": "x “y” z"}', {"a": 'x "y" z'}),
    ('{"ref_id":"R3","pred_old","pred_id":"P2"}', {"ref_id": "R3", "pred_id": "P2"}),
    ('{"pred_old","pred_id":"P2"}', {"pred_id": "P2"}),
    ('{"a":[],attribute_errors":[]}', {"a": [], "attribute_errors": []}),
    ('{a":1}', {"a": 1}),
    ('{"a":["":["R1"]}', {"a": ["R1"]}),
    ('{"a":"left\\_lung \\L"}', {"a": "left\\_lung \\L"}),
    ('{"a":"it’s"}', {"a": "it\\'s"}),
    ('{"a":"so-called "mass" here","b":1}', {"a": 'so-called "mass" here', "b": 1}),
    ('{"a":1,"a":2}', {"a": 1}),
    ('{"a":["P1","P2","P3"],"x","b":1}', {"a": ["P1", "P3"], "b": 1}),
    ('{"a":', None),
    ('{"a":"' + 'x "y" z ' * 40 + '"}', None),
]


@pytest.mark.parametrize(("text", "repaired"), BROKEN)
def test_tolerant_repairs_step_by_step(text: str, repaired: Any) -> None:
    assert repaired_json(text) == repaired
    assert strict_json(text) is None or not text.isascii()  # curly quotes are no fault of JSON


def test_parsers_belong_to_conventions_and_can_be_chosen() -> None:
    text = (
        json.dumps(GOOD).replace('"matched_findings"', 'matched_findings"').replace("invented", 'so-called "mass" here')
    )
    assert from_evaluation(text, "published") == 0.1333
    assert from_evaluation(text, "published", "strict") is None
    assert from_evaluation(text, "corrected") is None
    assert from_evaluation(text, "corrected", "tolerant") == from_evaluation(GOOD, "corrected")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD)[:-1] + ', "errors": {}}',
        json.dumps({**GOOD, "note": float("nan")}),
        "[" * 100_000,
        '{"a":' * 100_000,
        json.dumps({**GOOD, "note": 1}).replace(": 1}", f": {'9' * 5000}}}"),
        "\ufeff" + json.dumps(GOOD),
        f"```json\n{json.dumps(GOOD)}\n```",
        json.dumps(GOOD) * 2,
    ],
)
def test_strict_takes_nothing_but_one_plain_object(text: str) -> None:
    assert from_evaluation(text, "corrected", "strict") is None


HOSTILE = [
    '{"a":' * 200_000,
    ',"' + "x" * 10**6,
    '"' * 10**6,
    ", " * 500_000,
    ',"a"' + " " * 10**6,
    ',"a"   ' * 150_000,
    "{" + " " * 10**6 + "a",
    "1" * 10**6 + ",",
    "1   " * 250_000,
    "\\" * 10**6,
    "{a" * 400_000,
    '{"a":"' + 'b "c" ' * 160_000 + '"}',
    '{"a":"' + "“" * 500_000,
]


@pytest.mark.timeout(60)  # a pattern that tries everything twice takes hours
@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_long_hostile_answers_are_read_in_one_pass(number: int) -> None:
    assert from_evaluation(HOSTILE[number], "published", "tolerant") is None


@st.composite
def sound_evaluations(draw: st.DrawFn) -> dict[str, Any]:
    weights = st.sampled_from(WEIGHTS)
    reference = [finding(f"R{at}", draw(weights)) for at in range(draw(st.integers(0, 4)))]
    predicted = [finding(f"P{at}", draw(weights)) for at in range(draw(st.integers(0, 4)))]
    pairs = [(one["id"], other["id"]) for one in reference for other in predicted]
    matched = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=4)) if pairs else []
    severities = st.sampled_from(["significant", "negligible", "other"])
    flaws = [(*pair, draw(severities)) for pair in matched if draw(st.booleans())]
    free = [one["id"] for one in predicted if one["id"] not in {other for _, other in matched}]
    missed = [one["id"] for one in reference if one["id"] not in {other for other, _ in matched}]
    return evaluation(reference, predicted, matched, free, missed, flaws)


@given(sound_evaluations())
def test_scores_are_in_range_and_conventions_agree_where_all_fits(answer: dict[str, Any]) -> None:
    corrected, published = from_evaluation(answer, "corrected"), from_evaluation(answer, "published")
    assert corrected is not None
    assert published is not None
    assert -1 < corrected <= 1
    assert published == round(corrected, 4)
    parts = evaluate(answer, "corrected")
    assert parts is not None
    assert (corrected < 0) == (parts.false > parts.correct)
    assert parts.unplaced == 0
    assert from_evaluation(json.dumps(answer), "published", "tolerant") == published


@given(sound_evaluations(), st.sampled_from(WEIGHTS))
def test_a_false_finding_never_raises_a_score(answer: dict[str, Any], significance: str) -> None:
    worse = deepcopy(answer)
    worse["predicted_findings"].append(finding("P-new", significance))
    worse["errors"]["false_findings"].append("P-new")
    before, after = (from_evaluation(one, "corrected") for one in (answer, worse))
    assert before is not None
    assert after is not None
    assert after <= before


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "ref_id", "errors", "false_findings", "matched_findings"]), inner, max_size=4
            )
        ),
        max_leaves=12,
    ),
    st.sampled_from(CONVENTIONS),
)
def test_no_answer_raises(answer: Any, convention: Convention) -> None:
    for form in (
        answer,
        json.dumps(answer),
        replaced(GOOD, answer, "errors"),
        replaced(GOOD, answer, "matched_findings"),
    ):
        found = from_evaluation(form, convention)
        assert found is None or -1 <= found <= 1


def crimson(answers: list[Any], convention: Convention = "corrected", **options: Any) -> Any:
    predictions = ["" if answer == "blank" else f"Report {at}." for at, answer in enumerate(answers)]
    references = [f"Reference {at}." for at in range(len(answers))]
    features = {"crimson_evaluation": [None if answer == "blank" else answer for answer in answers]}
    return compute("crimson", predictions, references, convention, features=features, **options)["crimson"]


def test_the_metric_counts_what_it_could_not_use() -> None:
    unplaced = evaluation([finding("R1")], [finding("P1"), finding("P2"), finding("P3")], [("R1", "P1")])
    scores = crimson([GOOD, json.dumps(unplaced), "{", None, "blank"])
    assert scores.values[:2].tolist() == [pytest.approx(2 / 15), 1]
    assert np.isnan(scores.values[2:4]).all()
    assert scores.values[4] == 0
    assert scores.reasons == {2: "unparsed", 3: "failed"}
    counted = {
        name: scores.counts[name] for name in ("n_inconsistent", "n_unparsed", "n_failed", "n_undefined", "n_empty")
    }
    assert counted == {"n_inconsistent": 2, "n_unparsed": 1, "n_failed": 1, "n_undefined": 2, "n_empty": 1}
    assert scores.aggregate == pytest.approx((2 / 15 + 1 + 0) / 3)
    blank = compute("crimson", [""], ["Reference."], "corrected", features={"crimson_evaluation": [unplaced]})[
        "crimson"
    ]
    assert blank.counts["n_inconsistent"] == 0  # its score does not come from the answer


def test_options_and_signatures() -> None:
    fenced = json.dumps(GOOD).replace('"errors"', 'errors"')
    assert crimson([fenced]).reasons == {0: "unparsed"}
    assert crimson([fenced], parser="tolerant").values.tolist() == [pytest.approx(2 / 15)]
    assert crimson([fenced], "published").values.tolist() == [0.1333]
    assert crimson([GOOD]).signature == "crimson|conv:corrected|parser:strict|v:1"
    assert crimson([GOOD], "published").signature == "crimson|conv:published|parser:tolerant|v:1"
    with pytest.raises(InvalidCall, match="parser: expected strict or tolerant"):
        crimson([GOOD], parser="lenient")


def test_wrong_calls_are_refused_without_a_word_of_the_answer() -> None:
    with pytest.raises(InvalidCall, match=r"\[0\]: expected str or mapping, or None, got int$"):
        crimson([5])
    with pytest.raises(InvalidCall, match=r"\[0\]: the study has 2 references, and the judge of CRIMSON compares"):
        compute("crimson", ["a"], [["b", "c"]], features={"crimson_evaluation": [GOOD]})
    with pytest.raises(InvalidCall, match="convention"):
        from_evaluation(GOOD, "other")  # type: ignore[arg-type]
