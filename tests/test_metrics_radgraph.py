"""RadGraph rewards against the published cases and the table of the specification, and what malformed graphs get."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.metrics import InvalidCall, TextFeatures, compute
from rexrank.metrics.radgraph import LEVELS, Level, reward
from rexrank.terms import CONVENTIONS, Convention

OBSERVATION, ANATOMY, UNCERTAIN = "OBS-DP", "ANAT-DP", "OBS-U"
KEYS = [f"radgraph_{level}" for level in LEVELS]
SECRET = "Secret nodule of the patient"

Graph = dict[str, Any]


def graph(*entities: tuple[Any, ...]) -> Graph:
    """An annotation from (tokens, label, (relation type, number of the target), …)."""
    return {
        "text": "as the package has it",
        "entities": {
            str(number): {
                "tokens": tokens,
                "label": label,
                "start_ix": number,
                "end_ix": number,
                "relations": [[kind, str(target)] for kind, target in relations],
            }
            for number, (tokens, label, *relations) in enumerate(entities, start=1)
        },
    }


def given_graphs(predictions: Sequence[Any], references: Sequence[Sequence[Any]]) -> dict[str, TextFeatures]:
    features = TextFeatures(predictions, references)
    return {"radgraph_xl_graphs": features, "radgraph_v1_graphs": features}


LINKED = graph(("nodule", OBSERVATION, ("located_at", 2)), ("apex", ANATOMY))
LOST = graph(("nodule", OBSERVATION), ("apex", ANATOMY))
UNSURE = graph(("nodule", UNCERTAIN, ("located_at", 2)), ("apex", ANATOMY))
MORE = graph(("nodule", OBSERVATION, ("located_at", 2)), ("apex", ANATOMY), ("scar", OBSERVATION))
CAPITAL, SMALL = graph(("Nodule", OBSERVATION)), graph(("nodule", OBSERVATION), ("scar", OBSERVATION))
EMPTY = graph()


@pytest.mark.parametrize(
    ("prediction", "reference", "published", "combined", "corrected_combined"),
    [
        (MORE, LINKED, 0.8, 0.9, 0.9),
        (LOST, LINKED, (1, 0.5, 0.5), 0.5, 0.5),
        (UNSURE, LINKED, 0.5, 0.25, 0.25),
        (LOST, LOST, 1, 0.5, 1),
        (CAPITAL, SMALL, 0, 0, 2 / 3),
    ],
)
def test_rewards_give_the_tabled_values(
    prediction: Graph, reference: Graph, published: Any, combined: float, corrected_combined: float
) -> None:
    three = published if isinstance(published, tuple) else (published,) * 3
    found = [reward(prediction, reference, level, "published") for level in LEVELS]
    assert found == pytest.approx([*three, combined])
    assert reward(prediction, reference, "combined", "corrected") == pytest.approx(corrected_combined)


def test_folded_case() -> None:
    for level in LEVELS[:3]:
        assert reward(CAPITAL, SMALL, level, "published", lower_case=True) == pytest.approx(2 / 3)
        assert reward(CAPITAL, SMALL, level, "corrected") == pytest.approx(2 / 3)
    sharp, double = graph(("Maß", OBSERVATION)), graph(("MASS", OBSERVATION))
    assert reward(sharp, double, "simple", "published", lower_case=True) == 0
    assert reward(sharp, double, "simple", "corrected") == 1


def test_the_published_cases(shared_data: Path) -> None:
    cases = json.loads((shared_data / "expected" / "cases.json").read_text(encoding="utf-8"))["cases"]
    rewards = [case for case in cases if case["metric"] == "f1radgraph_reward_from_annotations"]
    assert len(rewards) == 7
    for case in rewards:
        assert case["order"] == list(LEVELS[:3])
        for release, lower_case in (("head_87f11a1", True), ("pypi_0_1_18", False)):
            found = [reward(case["hyps"], case["refs"], level, "published", lower_case) for level in LEVELS[:3]]
            assert found == case["expected"][release], (case["id"], release)


def test_published_annotations_score_themselves_perfectly(shared_data: Path) -> None:
    cases = json.loads((shared_data / "expected" / "cases.json").read_text(encoding="utf-8"))["cases"]
    annotations = []
    for case in cases:
        if case["metric"] == "radgraph_processed_annotations(model_type=radgraph-xl)":
            annotations.append(case["expected"]["radgraph_annotations"]["0"])
        elif case["metric"].startswith("radgraph_annotation("):
            annotations.append(case["expected"]["0"])
    assert len(annotations) == 6
    for one in annotations:
        assert [reward(one, one, level, "corrected") for level in LEVELS] == [1, 1, 1, 1]
        assert reward(one, one["entities"], "complete", "published") == 1


@pytest.mark.parametrize("level", LEVELS)
def test_graphs_without_entities(level: Level) -> None:
    assert reward(EMPTY, EMPTY, level, "published") == 0
    assert reward(EMPTY, EMPTY, level, "corrected") is None
    for convention in CONVENTIONS:
        assert reward(EMPTY, LOST, level, convention) == reward(LOST, EMPTY, level, convention) == 0
    assert reward({}, LOST, level, "published") == 0


def test_only_relations_count_for_the_complete_level_of_several_targets() -> None:
    both = graph(("opacity", OBSERVATION, ("modify", 2), ("modify", 3)), ("base", ANATOMY), ("apex", ANATOMY))
    one = graph(("opacity", OBSERVATION, ("modify", 2)), ("base", ANATOMY), ("apex", ANATOMY))
    assert reward(both, one, "complete", "published") == pytest.approx(6 / 7)
    assert reward(both, one, "combined", "published") == pytest.approx((1 + 2 / 3) / 2)
    assert reward(both, one, "partial", "published") == 1


entities = st.tuples(st.sampled_from(["Scar", "scar", "apex", "left base"]), st.sampled_from([OBSERVATION, ANATOMY]))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    drawn = draw(st.lists(entities, max_size=4))
    if not drawn:
        return EMPTY
    relation = st.tuples(st.sampled_from(["modify", "located_at"]), st.integers(1, len(drawn)))
    return graph(*((*entity, *draw(st.lists(relation, max_size=2))) for entity in drawn))


def original(prediction: Graph, reference: Graph, level: Level) -> float:
    """The reward of release 0.1.18, or CXR-Report-Metric's mean of two F1, by counting one element after the other."""

    def elements(of: Graph, what: str) -> list[Any]:
        found: list[Any] = []
        for entity in of["entities"].values():
            name = (entity["tokens"], entity["label"])
            targets = [(kind, of["entities"][target]) for kind, target in entity["relations"]]
            if what == "links":
                found += [(name, (target["tokens"], target["label"]), kind) for kind, target in targets]
            elif what == "simple" or not targets:
                found.append(name)
            elif what == "partial":
                found.append((*name, True))
            else:
                found += [(name[0].lower(), name[1], kind, target["tokens"].lower()) for kind, target in targets]
        return list(dict.fromkeys(found))

    def f1(what: str) -> float:
        mine, theirs = elements(prediction, what), elements(reference, what)
        common = sum(one in theirs for one in mine)
        return 2 * common / (len(mine) + len(theirs)) if common else 0.0

    return (f1("simple") + f1("links")) / 2 if level == "combined" else f1(level)


@settings(deadline=None, max_examples=200)
@given(graphs(), graphs(), st.sampled_from(LEVELS))
def test_published_rewards_equal_the_original_counts(prediction: Graph, reference: Graph, level: Level) -> None:
    assert reward(prediction, reference, level, "published") == pytest.approx(original(prediction, reference, level))


@settings(deadline=None, max_examples=200)
@given(graphs(), graphs(), st.sampled_from(LEVELS), st.sampled_from(CONVENTIONS))
def test_rewards_are_symmetric_and_bounded(one: Graph, other: Graph, level: Level, convention: Convention) -> None:
    there, back = reward(one, other, level, convention), reward(other, one, level, convention)
    assert (there is None) == (back is None) == (convention == "corrected" and one == other == EMPTY)
    if there is not None:
        assert there == pytest.approx(back)
        assert 0 <= there <= 1
    itself = reward(one, one, level, "corrected")
    assert itself == (1 if one["entities"] else None)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (None, "expected a graph as the radgraph package writes it, got NoneType"),
        (SECRET, "expected a graph as the radgraph package writes it, got str"),
        ({"entities": [SECRET]}, "expected entities by their ids, got list"),
        ({"0": {"text": SECRET, "entities": {}}}, 'entity "0": tokens has to be a text, and is missing'),
        ({"1": SECRET}, 'entity "1": expected tokens, label and relations, got str'),
        ({SECRET: 1}, "entity a text of 28 characters: expected tokens, label and relations, got int"),
        ({"1": {"tokens": 3, "label": SECRET, "relations": []}}, "tokens has to be a text, and is of type int"),
        ({"1": {"tokens": SECRET, "relations": []}}, "label has to be a text, and is missing"),
        ({"1": {"tokens": SECRET, "label": "x"}}, "relations has to be a list, and is missing"),
        (
            {"1": {"tokens": SECRET, "label": "x", "relations": SECRET}},
            "relations has to be a list, and is of type str",
        ),
        (
            {"1": {"tokens": SECRET, "label": "x", "relations": [["modify", "7"]]}},
            r'entity "1", relations\[0\]: there is no entity "7" in this graph',
        ),
        (
            {"1": {"tokens": SECRET, "label": "x", "relations": [["modify", [1]]]}},
            "there is no entity a value of type list",
        ),
        ({"1": {"tokens": SECRET, "label": "x", "relations": [["modify"]]}}, r"expected \[type, id of the target\]"),
        ({"1": {"tokens": SECRET, "label": "x", "relations": ["modify"]}}, r"expected \[type, id of the target\]"),
    ],
)
def test_malformed_graphs_are_named_and_never_quoted(broken: Any, message: str) -> None:
    with pytest.raises(InvalidCall, match=message) as caught:
        reward(LINKED, broken, "simple", "published")
    assert str(caught.value).startswith("reference_graph")
    with pytest.raises(InvalidCall, match=r"^prediction_graph") as caught:
        reward(broken, LINKED, "simple", "corrected")
    assert SECRET not in str(caught.value)
    if broken is not None:
        features = given_graphs([LINKED, LINKED], [[LINKED], [LINKED, broken]])
        with pytest.raises(InvalidCall, match=r"^features\['radgraph_v1_graphs'\].references\[1\]\[1\]"):
            compute("radgraph_combined", ["A.", "B."], ["C.", ["D.", "E."]], features=features)


def test_wrong_options_are_refused() -> None:
    with pytest.raises(InvalidCall, match="level: expected simple or partial or complete or combined, got"):
        reward(LINKED, LINKED, "all", "published")  # type: ignore[arg-type]
    with pytest.raises(InvalidCall, match="convention: expected published or corrected, got"):
        reward(LINKED, LINKED, "simple", "parity")  # type: ignore[arg-type]
    with pytest.raises(InvalidCall, match="lower_case: expected True or False, got str"):
        reward(LINKED, LINKED, "simple", "published", lower_case="no")  # type: ignore[arg-type]
    with pytest.raises(InvalidCall, match="lower_case: expected True or False, got int"):
        compute("radgraph_simple", ["A."], ["B."], features=given_graphs([LINKED], [[LINKED]]), lower_case=1)


def test_the_keys_take_the_graphs_of_their_model() -> None:
    features = {
        "radgraph_xl_graphs": TextFeatures([LOST], [[LINKED]]),
        "radgraph_v1_graphs": TextFeatures([MORE], [[LINKED]]),
    }
    scores = compute(KEYS, ["A."], ["B."], features=features)
    assert [scores[key].aggregate for key in KEYS] == pytest.approx([1, 0.5, 0.5, 0.9])
    assert scores["radgraph_partial"].signature == (
        "radgraph_partial|conv:published|level:partial|model:xl|case:0.1.18|dup:set|w:unverified|v:1"
    )
    folded = compute("radgraph_combined", ["A."], ["B."], features=features, lower_case=True)["radgraph_combined"]
    assert "|level:combined|model:v1|case:fold|" in folded.signature
    corrected = compute("radgraph_combined", ["A."], ["B."], "corrected", features=features)["radgraph_combined"]
    assert "|case:fold|" in corrected.signature


def test_blank_empty_and_identical_texts() -> None:
    predictions = ["", "  ", "Thanks.", "Nodule.", "Thanks.", "Scar.", "As before."]
    references = ["Nodule.", "Nodule.", "Nodule.", " ", "Noted.", "Scar.", "As before."]
    features = given_graphs(
        [LOST, None, EMPTY, LOST, EMPTY, LOST, EMPTY], [[LOST], [LOST], [LOST], [LOST], [EMPTY], [MORE], [EMPTY]]
    )
    published = compute(KEYS, predictions, references, features=features)
    for key in KEYS:
        assert published[key].values[:5].tolist() == [0] * 5, "a blank text has no graph, whatever was given"
        assert 0 < published[key].values[5] < 1
        assert published[key].values[6] == 0
        assert published[key].reasons == {}
    for key, scores in compute(KEYS, predictions, references, "corrected", features=features).items():
        assert scores.values[[0, 1, 2, 5, 6]].tolist() == [0, 0, 0, 1, 1], key
        assert scores.reasons == {3: "empty_reference", 4: "no_content"}
        counted = {name: scores.counts[name] for name in ("n_empty", "n_identical", "n_no_content", "n_undefined")}
        assert counted == {"n_empty": 2, "n_identical": 2, "n_no_content": 1, "n_undefined": 2}


def test_of_several_references_the_best_counts() -> None:
    references = [["A.", "B.", "C."]]
    features = given_graphs([LOST], [[UNSURE, LOST, EMPTY]])
    for convention in CONVENTIONS:
        scores = compute("radgraph_simple", ["D."], references, convention, features=features)["radgraph_simple"]
        assert scores.values.tolist() == [1]
        assert "|refs:several|" in scores.signature
    blank_first = given_graphs([LOST], [[LOST, UNSURE]])
    half = compute("radgraph_simple", ["D."], [["", "B."]], features=blank_first)["radgraph_simple"]
    assert half.values.tolist() == [0.5]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_failed_encoder_costs_only_its_study(convention: Convention) -> None:
    features = given_graphs([None, LOST, LOST], [[LOST], [LOST, None], [LOST]])
    for scores in compute(KEYS, ["A.", "B.", "C."], ["D.", ["E.", "F."], "G."], convention, features=features).values():
        assert scores.reasons == {0: "failed", 1: "failed"}
        assert np.isnan(scores.values[:2]).all()
        assert scores.aggregate == scores.values[2] > 0


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_order_and_neighbours_do_not_matter(convention: Convention) -> None:
    kinds = [LINKED, LOST, UNSURE, MORE, EMPTY, CAPITAL, SMALL]
    pairs = [(one, other) for one in kinds for other in kinds]
    order = np.random.default_rng(0).permutation(len(pairs))

    def scored(chosen: Sequence[int]) -> dict[str, list[float]]:
        texts = [f"Report {index}." for index in chosen]
        features = given_graphs([pairs[index][0] for index in chosen], [[pairs[index][1]] for index in chosen])
        scores = compute(KEYS, texts, ["Reference."] * len(texts), convention, features=features)
        return {key: scores[key].values.tolist() for key in KEYS}

    whole, mixed = scored(range(len(pairs))), scored(order.tolist())
    for key in KEYS:
        np.testing.assert_array_equal(np.array(whole[key])[order], mixed[key])
    for index in order[:5].tolist():
        alone = scored([index])
        for key in KEYS:
            np.testing.assert_array_equal(alone[key], whole[key][index : index + 1])
