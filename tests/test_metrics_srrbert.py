"""SRR-BERT's scores from label sets against values of scikit-learn and the table of the specification."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.encoders import find
from rexrank.encoders.encoder import UnknownEncoder
from rexrank.metrics import InvalidCall, TextFeatures, compute
from rexrank.metrics.srrbert import Measure, per_study, statistics, weighted
from rexrank.statistics import corpus_interval
from rexrank.terms import CONVENTIONS, Convention

KEYS = ["srrbert_precision", "srrbert_recall", "srrbert_f1"]
MEASURES: list[Measure] = ["precision", "recall", "f1"]
PREDICTED: list[set[str]] = [{"a", "b"}, {"a"}, {"b", "c"}, set(), {"e"}, {"c"}]
REFERRED: list[set[str]] = [{"a"}, {"a", "d"}, {"b"}, {"c"}, set(), {"c"}]


def srrbert(
    predicted: list[Any],
    referred: list[Any],
    convention: Convention = "corrected",
    texts: list[tuple[str, str]] | None = None,
    **options: Any,
) -> Any:
    pairs = texts or [(f"Report {at}.", f"Reference {at}.") for at in range(len(predicted))]
    features = {"srrbert_labels": TextFeatures(predicted, [[labels] for labels in referred])}
    predictions, references = [list(side) for side in zip(*pairs, strict=True)]
    return compute(KEYS, predictions, references, convention, features=features, **options)


def aggregates(scores: Any) -> list[float | None]:
    return [scores[key].aggregate for key in KEYS]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_scores_of_a_set_are_scikit_learns_weighted_averages(convention: Convention) -> None:
    # classification_report(..., zero_division=0)["weighted avg"] of scikit-learn 1.9.1.
    scores = srrbert(PREDICTED, REFERRED, convention)
    assert aggregates(scores) == pytest.approx([0.5833333333333334, 0.6666666666666666, 0.611111111111111], abs=1e-15)


@pytest.mark.parametrize(
    ("seed", "studies", "labels", "share", "expected"),
    [
        (1, 40, 12, 0.2, (0.5949869836662289, 0.6037735849056604, 0.5852526370915304)),
        (2, 200, 55, 0.05, (0.5495561921877451, 0.5277246653919694, 0.5308708082565448)),
        (3, 9, 4, 0.5, (0.7570512820512822, 0.7692307692307693, 0.7492251338405185)),
    ],
)
def test_many_labels(seed: int, studies: int, labels: int, share: float, expected: tuple[float, ...]) -> None:
    # The same report of scikit-learn 1.9.1 on the same draws.
    generator = np.random.default_rng(seed)
    predicted, referred, both = (generator.random((studies, labels)) < share for _ in range(3))
    sums = statistics(predicted | both, referred | both).sum(axis=0, keepdims=True)
    for convention in CONVENTIONS:
        values = [float(weighted(sums, measure, convention)[0]) for measure in MEASURES]
        assert values == pytest.approx(expected, abs=1e-12)


def test_the_table_of_the_specification() -> None:
    published, corrected = (srrbert([set()], [set()], convention) for convention in CONVENTIONS)
    assert aggregates(published) == [0, 0, 0]
    assert aggregates(corrected) == [None] * 3
    for key in KEYS:
        assert published[key].values.tolist() == [1]
        assert corrected[key].reasons == {0: "no_content"}
    published, corrected = (srrbert([{"a", "b"}], [{"a", "b"}], convention) for convention in CONVENTIONS)
    assert published["srrbert_f1"].values[0] == pytest.approx(1 - 5e-9, abs=1e-12)
    assert published["srrbert_precision"].values[0] == pytest.approx(1 - 1e-8, abs=1e-12)
    assert [corrected[key].values[0] for key in KEYS] == [1, 1, 1]
    assert aggregates(published) == aggregates(corrected) == [1, 1, 1]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_study_is_worth_the_share_of_labels_that_both_sides_have(convention: Convention) -> None:
    expected = [1 / 2, 1 / 2, 1 / 2, 0, 0, 1]
    for key in KEYS:
        assert srrbert(PREDICTED, REFERRED, convention)[key].values.tolist() == pytest.approx(expected, abs=1e-7)


def test_labels_that_no_reference_has_make_a_set_0_and_not_null() -> None:
    for convention in CONVENTIONS:
        assert aggregates(srrbert([{"a"}, set()], [set(), set()], convention)) == [0, 0, 0]
    assert srrbert([{"a"}, set()], [set(), set()])["srrbert_f1"].counts["n_undefined"] == 1


def test_blank_and_unread_predictions_have_no_labels_and_cost_recall() -> None:
    texts = [("Effusion.", "Effusion. Scar."), (" ", "Scar."), ("肺野清晰。", "Scar."), ("Clear.", "肺野清晰。")]
    for unread in (None, {"a"}):
        scores = srrbert([{"a"}, unread, unread, {"a"}], [{"a"}, {"a"}, {"a"}, None], "corrected", texts)
        recall = scores["srrbert_recall"]
        assert recall.values[:3].tolist() == [1, 0, 0]
        assert recall.reasons == {3: "unsupported_language"}
        assert recall.aggregate == pytest.approx(1 / 3)
        assert scores["srrbert_precision"].aggregate == 1
    computed = srrbert([{"a"}] * 3, [{"a"}] * 3, "corrected", texts[:3], on_unsupported_language="compute")
    assert computed["srrbert_recall"].aggregate == pytest.approx(2 / 3)
    left_out = srrbert([{"a"}] * 3, [{"a"}] * 3, "corrected", texts[:3], on_empty_prediction="undefined")
    assert left_out["srrbert_recall"].aggregate == pytest.approx(1 / 2)


def test_identical_texts_are_worth_1_whatever_was_found_in_them() -> None:
    texts = [("Effusion.", "Effusion."), ("Clear.", "Clear."), ("Scar.", "Old scar.")]
    scores = srrbert([{"a"}, set(), {"b"}], [{"a", "b"}, set(), {"b"}], "corrected", texts)
    assert scores["srrbert_f1"].values.tolist() == [1, 1, 1]
    assert aggregates(scores) == [1, 1, 1]


def test_a_failed_encoder_leaves_its_study_out() -> None:
    for convention in CONVENTIONS:
        scores = srrbert([{"a"}, None, {"a"}], [{"a"}, {"a"}, None], convention)
        assert scores["srrbert_recall"].reasons == {1: "failed", 2: "failed"}
        assert aggregates(scores) == [1, 1, 1]


def test_intervals_come_from_whole_studies() -> None:
    scores = srrbert(PREDICTED * 20, REFERRED * 20)["srrbert_f1"]
    low, high = corpus_interval(scores.statistics, scores.formula, resamples=500) or (math.nan, math.nan)
    assert 0.45 < low < scores.aggregate < high < 0.75


marks = st.integers(1, 5).flatmap(
    lambda studies: st.integers(0, 4).flatmap(
        lambda labels: st.lists(
            st.lists(st.tuples(st.booleans(), st.booleans()), min_size=labels, max_size=labels),
            min_size=studies,
            max_size=studies,
        )
    )
)


@settings(deadline=None)
@given(marks, st.sampled_from(MEASURES))
def test_conventions_differ_only_where_nothing_was_found(drawn: Any, measure: Measure) -> None:
    array = np.array(drawn, dtype=bool).reshape(len(drawn), -1, 2)
    predicted, referred = array[:, :, 0], array[:, :, 1]
    rows = statistics(predicted, referred)
    published, corrected = (
        partial(weighted, measure=measure, convention=convention)(rows.sum(axis=0, keepdims=True))[0]
        for convention in CONVENTIONS
    )
    assert 0 <= published <= 1
    assert corrected == published or (math.isnan(corrected) and not array.any())
    values = per_study(predicted, referred, measure, "corrected")
    assert np.array_equal(np.isnan(values), ~(predicted | referred).any(axis=1))
    assert np.allclose(np.nan_to_num(values, nan=1.0), per_study(predicted, referred, measure, "published"), atol=2e-8)
    order = np.random.default_rng(0).permutation(array.shape[1])
    reordered = statistics(predicted[:, order], referred[:, order]).sum(axis=0, keepdims=True)
    assert weighted(reordered, measure, "published")[0] == pytest.approx(published, abs=1e-12)


def test_signatures_and_any_collection_of_names() -> None:
    for form in (["a", "a", "b"], ("a", "b"), {"a": 1, "b": 1}.keys(), np.array(["a", "b"])):
        assert srrbert([form], [{"a", "b"}])["srrbert_f1"].values.tolist() == [1]
    signatures = [srrbert([["a"]], [["a"]], convention)["srrbert_f1"].signature for convention in CONVENTIONS]
    encoder = "enc:srr-bert|model:leaves_with_statuses|max:512|split:builtin"
    assert signatures == [
        f"srrbert_f1|conv:published|{encoder}|avg:weighted|zero:0|w:unverified|v:1",
        f"srrbert_f1|conv:corrected|{encoder}|avg:weighted|zero:null|w:unverified|v:1",
    ]
    other = srrbert([["a"]], [["a"]], model="upper", max_length=128)["srrbert_f1"].signature
    assert "|model:upper|max:128|split:builtin|" in other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "middle"}, r'^model: expected one of leaves, .*, upper_with_statuses, got "middle"$'),
        ({"model": 3}, r"^model: expected one of .*, got 3$"),
        ({"max_length": 2}, r"^max_length: expected a whole number of tokens from 3 to 512, got 2$"),
        ({"max_length": 513}, r"^max_length: .*, got 513$"),
        ({"max_length": True}, r"^max_length: .*, got True$"),
        ({"max_length": "128"}, r"^max_length: "),
    ],
)
def test_options_that_no_classifier_has_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidCall, match=message):
        srrbert([["a"]], [["a"]], **options)
    with pytest.raises(UnknownEncoder, match=message):
        find("srrbert_labels", options)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("effusion", r"\.predictions\[0\]: expected a collection of label names, got str$"),
        ({"effusion": 1}, r"\.predictions\[0\]: expected a collection of label names, got dict$"),
        (3, r"\.predictions\[0\]: expected a collection of label names, got int$"),
        ([0, 1], r"\.predictions\[0\]: expected label names, got a value of type int$"),
        ([None], r"\.predictions\[0\]: expected label names, got a value of type NoneType$"),
    ],
)
def test_wrong_labels_are_refused_by_their_place(item: Any, message: str) -> None:
    with pytest.raises(InvalidCall, match=message):
        srrbert([item], [["a"]])


def test_texts_in_the_place_of_labels_do_not_fill_the_memory() -> None:
    with pytest.raises(InvalidCall, match=r"got 1,001 different label names.*, not texts$"):
        srrbert([[f"secret {number}" for number in range(1001)]], [["secret 1"]])
