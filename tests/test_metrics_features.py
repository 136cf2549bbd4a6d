"""What every metric gets from the core: features, values for blank reports of its own, reasons, scripts, whole sets."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from feature_makers import features_of

from rexrank.metrics import InvalidCall, TextFeatures, Unavailable, compute, metric_of, score_keys, why_unavailable
from rexrank.metrics.features import FEATURES, PairFeatures, of_kept_references, read_features
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.policy import Judged, judge, read_policy
from rexrank.metrics.ratescore import Entity
from rexrank.metrics.registry import ScoreKey, needs_of

REPORT, RUSSIAN = "Mild edema.", "Лёгкие без очагов."


def score_key(**changed: Any) -> ScoreKey:
    ranges = {"published": (-1.0, 1.0), "corrected": (-1.0, 1.0)}
    fields: dict[str, Any] = {"key": "x", "label": "X", "direction": "higher", "ranges": ranges, "kind": "mean"}
    fields |= {"digits": 2, "modality": ("any",), "language": ("any",), "description": "."}
    return ScoreKey(**{**fields, **changed})


def judged(
    key: ScoreKey, predictions: list[str], outcome: Outcome, english_only: bool = False, **options: Any
) -> Judged:
    pairs = Pairs(predictions, [(REPORT,)] * len(predictions))
    return judge(outcome, key, pairs, read_policy("corrected", options), english_only)


def outcome(values: list[float], content: list[bool] | None = None, **more: Any) -> Outcome:
    full = np.ones(len(values), dtype=bool)
    return Outcome(np.array(values), {}, full if content is None else np.array(content), full, **more)


def test_a_key_may_say_what_a_blank_and_what_an_identical_report_is_worth() -> None:
    key = score_key(blank={"published": 0.1, "corrected": 0.0}, perfect={"published": 0.8, "corrected": 0.9})
    assert judged(key, ["", REPORT, "Clear."], outcome([0.5, 0.5, 0.5])).values.tolist() == [0.0, 0.9, 0.5]
    assert (key.worst("published"), key.best("published")) == (0.1, 0.8)
    assert hash(key) == hash(score_key())


def test_a_metric_may_decide_about_blank_reports_itself() -> None:
    result = judged(
        score_key(blank="formula"), ["", "Clear.", "Clear."], outcome([0.3, 0.4, np.nan], [False, False, True])
    )
    assert result.values[:2].tolist() == [0.3, 0.4]
    assert result.reasons == {2: "original_fails"}
    asked = judged(score_key(blank="formula"), [""], outcome([0.3]), on_empty_prediction="undefined")
    assert asked.reasons == {0: "empty_prediction"}


def test_a_descriptive_number_is_left_alone() -> None:
    key = score_key(direction="none")
    assert judged(key, ["", REPORT], outcome([0.0, 2.0], [False, True])).values.tolist() == [0.0, 2.0]
    assert key.best("corrected") is key.worst("corrected") is None


def test_the_reason_of_a_metric_stands() -> None:
    lost = outcome([np.nan, np.nan, 0.5], [True, True, True], reasons={0: "unparsed", 2: "not used"})
    assert judged(score_key(), ["A.", "B.", "C."], lost).reasons == {0: "unparsed", 1: "original_fails"}
    none = Outcome(np.array([np.nan]), {}, np.zeros(1, bool), np.zeros(1, bool), reasons={0: "no_terms"})
    assert judged(score_key(), ["A."], none).reasons == {0: "no_terms"}
    identical = judged(score_key(), [REPORT], outcome([np.nan], reasons={0: "unparsed"}))
    assert (identical.values.tolist(), identical.reasons) == ([1.0], {})


def test_scripts_that_an_english_metric_cannot_read() -> None:
    pairs = Pairs([REPORT, RUSSIAN, RUSSIAN], [(RUSSIAN,), (REPORT,), (RUSSIAN,)])
    whole = outcome([0.5, 0.5, 0.5])
    result = judge(whole, score_key(), pairs, read_policy("corrected", {}), english_only=True)
    assert result.reasons == {0: "unsupported_language"}
    assert result.values[1:].tolist() == [-1, 1]
    assert result.counts["n_unsupported_language"] == 3
    lexical = judge(whole, score_key(), pairs, read_policy("corrected", {}))
    assert lexical.values[:2].tolist() == [0.5, 0.5]
    assert "n_unsupported_language" not in lexical.counts
    override = read_policy("corrected", {"on_unsupported_language": "compute"})
    assert judge(whole, score_key(), pairs, override, english_only=True).values[:2].tolist() == [0.5, 0.5]
    assert override.signature(score_key(), english_only=True) == {"unsupported_language": "compute"}
    published = judge(whole, score_key(), pairs, read_policy("published", {}), english_only=True)
    assert published.values.tolist() == [0.5, 0.5, 0.5]
    asked = read_policy("published", {"on_unsupported_language": "undefined"})
    chosen = judge(whole, score_key(), pairs, asked, english_only=True)
    assert (chosen.values[1], chosen.reasons) == (-1, {0: "unsupported_language", 2: "unsupported_language"})
    assert asked.signature(score_key(), english_only=True) == {"unsupported_language": "undefined"}
    with pytest.raises(InvalidCall, match="on_unsupported_language: expected one of undefined, compute"):
        read_policy("corrected", {"on_unsupported_language": "worst"})


def test_a_signature_shows_only_options_that_bear_on_the_score() -> None:
    options = {"on_unsupported_language": "compute", "on_empty_reference": "worst"}
    policy = read_policy("corrected", options)
    assert policy.signature(score_key(), english_only=False) == {"empty_reference": "worst"}
    assert policy.signature(score_key(direction="none"), english_only=True) == {}
    assert read_policy("published", {"on_unsupported_language": "compute"}).signature(score_key(), True) == {}


def test_only_a_prediction_that_says_nothing_counts_as_blank_in_a_corpus_score() -> None:
    pairs = Pairs(["", "Dots.", RUSSIAN, "Edema.", "Edema."], [(REPORT,), (REPORT,), (REPORT,), ("",), (REPORT,)])
    statistics, silent = np.arange(10.0).reshape(5, 2), np.full((5, 2), -1.0)
    content = np.array([False, False, True, True, True])
    given = Outcome(np.full(5, 0.5), {}, content, ~pairs.blank_references, statistics=statistics, silent=silent)
    policy = read_policy("corrected", {"on_empty_reference": "worst"})
    found = judge(given, score_key(kind="corpus"), pairs, policy, english_only=True)
    assert found.values.tolist() == [-1, -1, -1, -1, 0.5]
    assert found.statistics is not None
    np.testing.assert_array_equal(found.statistics, [*silent[:3], *statistics[3:]])


def test_values_beyond_the_range_are_counted_where_they_count() -> None:
    pairs = Pairs(
        ["", REPORT, "...", RUSSIAN, REPORT, "Clear.", "Scar."], [(REPORT,)] * 4 + [(RUSSIAN,)] + [(".",)] * 2
    )
    content = np.array([False, True, False, True, True, True, True])
    values = np.array([0.0, 0, 0, 0, 0, 0, np.nan])
    given = Outcome(values, {}, content, np.ones(7, dtype=bool), clamped=np.ones(7, dtype=bool))
    found = judge(given, score_key(), pairs, read_policy("corrected", {}), english_only=True)
    assert found.counts["n_clamped"] == 1
    published = judge(given, score_key(), pairs, read_policy("published", {}), english_only=True)
    assert published.counts["n_clamped"] == 6
    assert "n_clamped" not in judged(score_key(), ["Clear."], outcome([0.5])).counts


def test_what_overflows_is_no_score() -> None:
    features = {"radgraph_combined": [0.5, 0.5], "bertscore": [-1e308, 0.5], "sembscore": [0.5, 0.5]}
    with np.errstate(over="ignore"):
        found = compute("radcliq_v1", ["Clear.", "Scar."], [REPORT, REPORT], features=features)["radcliq_v1"]
    assert found.reasons == {0: "original_fails"}
    assert found.aggregate == found.values[1]


def test_a_column_of_pandas_is_taken_in_its_order() -> None:
    vectors = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    column = pd.Series(vectors, index=[2, 0, 1])
    features = {"chexbert_cls": TextFeatures(column, column.map(lambda vector: [vector]))}
    found = compute("sembscore", ["A.", "B.", "C."], [REPORT] * 3, features=features)["sembscore"]
    assert found.values == pytest.approx([1, 1, 1])


def test_features_have_to_fit_the_texts() -> None:
    counts = [1, 2]
    good = TextFeatures([1, 2], [[1], [1, 2]])
    assert read_features({"chexbert_cls": good, "bertscore": [0.1, 0.2]}, counts)["chexbert_cls"] == good
    form = re.escape('expected {"predictions": […], "references": [[…], …]} (or TextFeatures), got ')
    for wrong, message in (
        ({"chexbert": good}, 'unknown name "chexbert"; known are chexbert_labels'),
        ({"chexbert_cls": [1, 2]}, f"{form}list"),
        ({"chexbert_cls": {"predictions": [1, 2]}}, f"{form}a dict without references"),
        ({"chexbert_cls": {"predictions": [1, 2], "references": [[1], [1, 2]], "d": 3}}, f"{form}a dict with further"),
        ({"chexbert_cls": TextFeatures([1], [[1], [1, 2]])}, "predictions has 1 items, and there are 2 texts"),
        ({"chexbert_cls": TextFeatures([1, 2], [[1], [1]])}, r"references\[1\] has 1 items, and there are 2 texts"),
        ({"bertscore": [0.1]}, "has 1 items, and there are 2 texts"),
        ({"bertscore": 0.1}, "expected a list, got float"),
        ({"bertscore": {0: 0.1, 1: 0.2}}, "expected a list, got dict"),
        ({"chexbert_cls": TextFeatures("ab", [[1], [1, 2]])}, "expected a list, got str"),
        ([good], "features: expected a dict, got list"),
    ):
        with pytest.raises(InvalidCall, match=message):
            read_features(wrong, counts)
    kept = of_kept_references(good, [[0], [1]])
    assert isinstance(kept, TextFeatures)
    assert (kept.predictions, list(kept.references), kept.references[1]) == ([1, 2], [[1], [2]], [2])
    pairs = PairFeatures([0.1])
    assert of_kept_references(pairs, [[0]]) is pairs


def test_features_of_references_are_read_one_study_at_a_time() -> None:
    read: list[int] = []

    class Recorded(Sequence[Any]):
        def __init__(self, items: Sequence[Any], at: int) -> None:
            self.items, self.at = items, at

        def __len__(self) -> int:
            return len(self.items)

        def __getitem__(self, index: Any) -> Any:
            if index < len(self.items):
                read.append(self.at)
            return self.items[index]

    vectors = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    references = [Recorded([vector], at) for at, vector in enumerate(vectors)]
    given = read_features({"chexbert_cls": TextFeatures(vectors, references)}, [1, 1, 1])
    kept = of_kept_references(given["chexbert_cls"], [[0], [0], [0]])
    assert isinstance(kept, TextFeatures)
    assert set(read) <= {0}  # the first tells which form it is
    assert next(iter(kept.references)) == [vectors[0]]
    assert set(read) == {0}


def test_what_pins_an_encoder_stands_in_signature_and_counts() -> None:
    predictions, references = [[1.0, 0.0]], [[[1.0, 1.0]]]
    features = TextFeatures(predictions, references, {"w": "0123abcd", "dtype": "fp32"}, {"n_truncated": 2})
    found = compute("sembscore", ["A."], ["B."], features={"chexbert_cls": features})["sembscore"]
    assert "|w:0123abcd|dtype:fp32|" in found.signature
    assert found.counts["n_truncated"] == 2
    components = {
        name: PairFeatures([0.5], {"w": weights}, {"n_truncated": cut})
        for name, weights, cut in (("radgraph_combined", "aa", 0), ("bertscore", "bb", 1), ("sembscore", "aa", 3))
    }
    one = compute("radcliq_v1", ["A."], ["B."], features=components)["radcliq_v1"]
    assert "|w:aa+bb|" in one.signature
    assert one.counts["n_truncated"] == 3


ITEMS: dict[str, list[Any]] = {
    "chexbert_labels": [[0] * 14, np.zeros(14, dtype=np.int8)],
    "chexbert_cls": [[0.5, 1.0], np.ones(3), [0.5]],
    "radgraph_xl_graphs": [{"entities": {}}, {}],
    "radgraph_v1_graphs": [{"entities": {}}, {}],
    "radgraph_modern_graphs": [{"entities": {}}, {}],
    "bertscore_tokens": [[[1.0, 0.0], [0.0, 1.0]], np.eye(2)],
    "minilm_tokens": [[[1.0], [1.0]], np.eye(3)],
    "ratescore_entities": [
        [],
        [Entity("scar", "DISEASE", [1.0])],
        [{"type": "DISEASE", "vector": [1.0]}, {"type": "DISEASE", "vector": [1.0]}],
    ],
    "srrbert_labels": [[], ["edema"], {"edema", "scar"}],
}


def test_every_feature_of_texts_is_told_from_a_list_with_one() -> None:
    assert set(ITEMS) == {name for name, feature in FEATURES.items() if feature.of == "text"}
    for name, items in ITEMS.items():
        for chosen in ([*items, None], items[:1], items[1:], [None]):
            listed = [[item] for item in chosen]
            counts = [1] * len(chosen)
            for references in (chosen, listed, tuple(listed)):
                given = {name: {"predictions": chosen, "references": references}}
                found = read_features(given, counts)[name]
                assert isinstance(found, TextFeatures)
                assert all(found.references[at][0] is item for at, item in enumerate(chosen)), name
                assert list(map(len, found.references)) == counts


@pytest.mark.parametrize("name", [name for name, feature in FEATURES.items() if feature.of == "text"])
def test_features_are_taken_as_a_json_file_has_them(name: str) -> None:
    predictions, references = ["Mild edema.", "Small scar."], ["Edema.", "A scar, small."]
    options = {"model": "modern"} if name == "radgraph_modern_graphs" else {}
    keys = [key for key in score_keys() if metric_of(key).name == "radgraph" or not options]
    keys = [key for key in keys if needs_of(key, options) == (name,)]
    (made,) = features_of([name], predictions, [[text] for text in references]).values()
    assert isinstance(made, TextFeatures)
    plain = json.loads(json.dumps(as_json({"predictions": made.predictions, "references": made.references})))
    flat = {**plain, "references": [items[0] for items in plain["references"]]}
    wanted = compute(keys, predictions, references, features={name: made}, **options)
    for given in (plain, flat, TextFeatures(**flat)):
        for texts in (references, [[text] for text in references]):
            found = compute(keys, predictions, texts, features={name: given}, **options)
            assert [found[key].values.tolist() for key in keys] == [wanted[key].values.tolist() for key in keys]
    several = [[text, text] for text in references]
    with pytest.raises(InvalidCall, match=r"references\[0\]"):
        compute(keys, predictions, several, features={name: flat}, **options)


def as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: as_json(one) for name, one in value.items()}
    if isinstance(value, Entity):
        return value._asdict() | {"vector": as_json(value.vector)}
    if isinstance(value, list | tuple | set):
        return [as_json(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def test_vectors_may_be_one_array() -> None:
    vectors = np.array([[3.0, 4.0], [0.0, 1.0]])
    flat = compute(
        "sembscore",
        ["A.", "B."],
        ["C.", "D."],
        features={"chexbert_cls": {"predictions": vectors, "references": vectors}},
    )
    assert flat["sembscore"].values.tolist() == [1, 1]
    listed = {"predictions": vectors, "references": vectors[:, None]}
    found = compute("sembscore", ["A.", "B."], ["C.", "D."], features={"chexbert_cls": listed})
    assert found["sembscore"].values.tolist() == [1, 1]


def test_a_call_without_features_shows_how_they_are_given() -> None:
    with pytest.raises(Unavailable) as caught:
        compute("radgraph_simple", [REPORT], [REPORT])
    assert str(caught.value).endswith(
        'give features={"radgraph_xl_graphs": {"predictions": […], "references": [[…], …]}}'
    )


def test_a_score_without_its_features_says_what_it_needs() -> None:
    needing = [key for key, found in score_keys().items() if found.needs]
    assert needing
    for key in needing:
        reason = why_unavailable(key)
        assert reason
        assert all(FEATURES[name].made_by in reason for name in score_keys()[key].needs)
        with pytest.raises(Unavailable, match=key):
            compute(key, [REPORT], [REPORT])


def test_a_score_of_the_mean_leaves_studies_without_values() -> None:
    components = {name: [0.9, 0.8, 0.5] for name in score_keys()["inv_radcliq_v1"].needs}
    texts = (
        ["A small nodule.", "Clear lungs.", "No edema."],
        ["A small nodule seen.", "Clear lungs now.", "No edema now."],
    )
    both = compute(["radcliq_v1", "inv_radcliq_v1"], *texts, features=components)
    inverse = both["inv_radcliq_v1"]
    mean = both["radcliq_v1"].aggregate
    assert mean is not None
    assert inverse.aggregate == (pytest.approx(1 / mean) if mean > 0 else None)
    assert np.isnan(inverse.values).all()
    assert set(inverse.reasons.values()) == {"only_together"}
    assert metric_of("inv_radcliq_v1").name == "radcliq"
