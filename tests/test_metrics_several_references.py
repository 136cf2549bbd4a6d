"""Several references of a study, in metrics that compare with one."""

import json
import math
from itertools import pairwise
from pathlib import Path

import feature_makers
import numpy as np
import pytest

from rexrank import score
from rexrank.errors import RefusedInput
from rexrank.labels import NAMES
from rexrank.metrics import InvalidCall, compute, metrics
from rexrank.metrics.features import PairFeatures, TextFeatures, of_kept_references, read_features
from rexrank.reports import Limits, read_references
from rexrank.terms import CONVENTIONS, TRACKS, Convention

EDEMA, EFFUSION, BOTH = "Mild pulmonary edema.", "Small pleural effusion.", "Pulmonary edema and pleural effusion."
CLEAR, CHANGED = "The lungs are clear.", "Edema has worsened."
PREDICTIONS = [EDEMA, EFFUSION, CLEAR, BOTH]
REFERENCES = [[EFFUSION, BOTH, EDEMA], [EDEMA], [EDEMA, CLEAR], [EFFUSION, CHANGED]]
ONE = [name for name, metric in metrics().items() if "several" in metric.option_names]
per_convention = pytest.mark.parametrize("convention", CONVENTIONS)


def scored(name, predictions, references, convention="corrected", **options):  # type: ignore[no-untyped-def]
    keys = [key.key for key in metrics()[name].keys]
    needs = dict.fromkeys(need for key in metrics()[name].keys for need in key.needs)
    features = feature_makers.features_of(needs, predictions, references)
    return compute(keys, predictions, references, convention, features=features, **options)


def test_the_metrics_without_a_form_of_their_own_have_the_option() -> None:
    assert {"crimson", "f1chexbert", "f1labels", "fineradscore", "green", "radcliq", "srrbert"} <= set(ONE)
    assert not {"bleu", "rouge", "cider", "meteor", "bertscore", "radgraph", "temporal_f1", "laterality"} & set(ONE)
    with pytest.raises(InvalidCall, match='unknown option "several"'):
        compute("bleu2", ["a"], [["a", "b"]], several="best")
    with pytest.raises(InvalidCall, match="several: expected best or mean"):
        compute("f1labels_micro_14", ["a"], ["a"], several="worst")


@pytest.mark.parametrize("name", ONE)
@per_convention
def test_each_reference_counts_as_if_it_were_the_only_one(name: str, convention: Convention) -> None:
    flat = [(text, one) for text, texts in zip(PREDICTIONS, REFERENCES, strict=True) for one in texts]
    alone = scored(name, [text for text, _ in flat], [[one] for _, one in flat], convention)
    starts = np.cumsum([0, *map(len, REFERENCES)])
    best, mean = (scored(name, PREDICTIONS, REFERENCES, convention, several=rule) for rule in ("best", "mean"))
    for key, one in alone.items():
        parts = [one.values[start:end] for start, end in pairwise(starts)]
        for position, part in enumerate(parts):
            if key.startswith("inv_"):  # its studies have no values of their own
                continue
            if np.isnan(part).all():
                assert math.isnan(mean[key].values[position])
            else:
                assert mean[key].values[position] == pytest.approx(np.nanmean(part))
            assert np.isnan(best[key].values[position]) or best[key].values[position] in part
        assert best[key].counts["n"] == mean[key].counts["n"] == len(PREDICTIONS)
        assert "|refs:best|" in best[key].signature
        assert "|refs:mean|" in mean[key].signature
        assert "refs:" not in one.signature


@pytest.mark.parametrize(
    ("name", "key", "least"),
    [("green", "green", False), ("radcliq", "radcliq_v1", True), ("crimson", "crimson", False)],
)
def test_the_best_is_the_lowest_where_low_is_good(name: str, key: str, least: bool) -> None:
    each = [scored(name, [EDEMA], [[one]])[key].values[0] for one in REFERENCES[0][:2]]
    found = scored(name, [EDEMA], [REFERENCES[0][:2]])[key].values[0]
    assert found == (min(each) if least else max(each))
    assert each[0] != each[1]


def test_the_inverse_of_a_mean_takes_the_references_that_its_mean_takes() -> None:
    found = scored("radcliq", PREDICTIONS, REFERENCES)
    assert found["inv_radcliq_v1"].statistics is not None
    np.testing.assert_array_equal(found["inv_radcliq_v1"].statistics[:, 0], found["radcliq_v1"].values)


def test_a_corpus_score_takes_the_nearest_reference_or_a_part_of_each() -> None:
    keys = ["f1labels_micro_14", "f1labels_edema", "f1labels_pleural_effusion", "f1labels_ce_recall"]
    best = compute(keys, PREDICTIONS, REFERENCES)
    nearest = compute(keys, PREDICTIONS, [EDEMA, EDEMA, CLEAR, EFFUSION])
    assert {key: one.aggregate for key, one in best.items()} == {key: one.aggregate for key, one in nearest.items()}
    mean = compute("f1labels_edema", [EDEMA], [[EDEMA, EFFUSION]], several="mean")["f1labels_edema"]
    # Half a hit and half an edema that is not there: 2 * .5 / (1 + .5).
    assert mean.aggregate == pytest.approx(1 / 1.5)
    assert mean.values[0] == 0.5


def test_agreeing_that_nothing_is_there_is_nearer_than_missing_something() -> None:
    for convention in CONVENTIONS:
        found = compute("f1labels_edema", [CLEAR, EDEMA], [[EDEMA, CLEAR], EDEMA], convention)["f1labels_edema"]
        assert found.aggregate == 1.0
        assert found.counts["n_support"] == 1


def test_an_identical_text_is_the_nearest_in_corrected() -> None:
    odd = "Sternotomy wires are intact."
    found = compute("f1labels_edema", [odd], [[CLEAR, odd]], "corrected")["f1labels_edema"]
    assert (found.values[0], found.counts["n_identical"], found.reasons) == (1.0, 1, {})


def test_blank_references_among_others_say_nothing_in_corrected() -> None:
    found = scored("green", [EDEMA], [["", EDEMA, " "]])["green"]
    assert (found.values[0], found.counts["n_empty_reference"]) == (1.0, 0)
    assert scored("green", [EDEMA], [["", " "]])["green"].reasons == {0: "empty_reference"}


def test_a_failed_answer_costs_one_reference_and_not_the_study() -> None:
    answer = feature_makers.green_completion(EDEMA, [BOTH])
    found = compute("green", [EDEMA], [[EFFUSION, BOTH]], features={"green_completion": [[None, answer]]})["green"]
    assert found.values[0] == compute("green", [EDEMA], [BOTH], features={"green_completion": [answer]})["green"].values
    assert (found.counts["n_failed"], found.counts["n_undefined"]) == (1, 0)
    lost = compute("green", [EDEMA], [[EFFUSION, BOTH]], features={"green_completion": [None]})["green"]
    assert lost.reasons == {0: "failed"}


def test_features_of_pairs_are_lists_by_reference() -> None:
    with pytest.raises(InvalidCall, match=r"features\['bertscore'\]\[0\] has 2 items"):
        read_features({"bertscore": [[0.1, 0.2]]}, [3])
    components = {name: [0.1, [0.2, 0.3]] for name in ("radgraph_combined", "bertscore")} | {"sembscore": [0.1, 0.2]}
    with pytest.raises(InvalidCall, match=r"features\['sembscore'\]\[1\]: the study has 2 references, and CheXbert"):
        compute("radcliq_v1", ["a", "b"], ["c", ["d", "e"]], features=components)
    kept = of_kept_references(PairFeatures([[1, 2], 3]), [[1], [0]])
    assert isinstance(kept, PairFeatures)
    assert kept.of_single_references() == [2, 3]
    # As it stands in a JSON file, and lists of one for studies with one reference.
    answers = json.loads(json.dumps([[feature_makers.crimson_evaluation(EDEMA, [EDEMA])]]))
    assert compute("crimson", [EDEMA], [EDEMA], features={"crimson_evaluation": answers})["crimson"].aggregate == 1.0


def test_features_of_texts_go_with_their_reference() -> None:
    edema, clear = [int(name == "Edema") for name in NAMES], [0] * len(NAMES)
    given = TextFeatures([edema], [[clear, edema]])
    found = compute("f1chexbert_edema", ["a"], [["b", "c"]], features={"chexbert_labels": given})["f1chexbert_edema"]
    assert found.aggregate == 1.0


def test_a_score_card_says_by_which_rule(tmp_path: Path) -> None:
    predictions = dict(zip("abcd", PREDICTIONS, strict=True))
    references = dict(zip("abcd", REFERENCES, strict=True))
    card = score(predictions, references, "plain", metrics=["bleu2", "f1labels_micro_14"], progress=False)
    assert "|refs:several|" in card.signatures["bleu2"]
    assert "|refs:best|" in card.signatures["f1labels_micro_14"]
    assert card.intervals["f1labels_micro_14"][0] <= card.summary["f1labels_micro_14"]
    path = tmp_path / "references.json"
    path.write_text(json.dumps(references))
    again = score(predictions, str(path), "plain", metrics=["bleu2", "f1labels_micro_14"], progress=False)
    assert again.summary == card.summary


def test_records_hold_lists_of_references() -> None:
    both = [f"FINDINGS: {EDEMA} IMPRESSION: {EFFUSION}", f"FINDINGS: {BOTH} IMPRESSION: {CLEAR}"]
    records = {
        "lists": {"findings": [EDEMA, EFFUSION, ""], "impression": [CLEAR], "patient_id": 7},
        "reports": {"report": both, "patient_id": 8},
        "one": {"findings": EDEMA, "impression": CLEAR},
        "late": {"report": [f"IMPRESSION: {CLEAR}", both[0]]},
    }
    findings, impression, report = (read_references(records, track).studies for track in TRACKS)
    assert [findings[name].texts("findings") for name in records] == [
        [EDEMA, EFFUSION],
        [EDEMA, BOTH],
        [EDEMA],
        [EDEMA],
    ]
    assert [len(impression[name].texts("impression")) for name in records] == [1, 2, 1, 2]
    assert report["reports"].texts("report") == both
    assert report["lists"].texts("report") == [f"Findings: {EDEMA} Impression: {CLEAR}", f"Findings: {EFFUSION}"]
    assert findings["lists"].patient_id == "7"


def test_a_whole_report_is_of_one_reader_where_another_left_out_a_section() -> None:
    records = {"a": {"findings": ["", EFFUSION], "impression": [CLEAR, EDEMA]}}
    whole, findings = (read_references(records, track).studies["a"] for track in ("report", "findings"))
    assert whole.texts("report") == [f"Impression: {CLEAR}", f"Findings: {EFFUSION} Impression: {EDEMA}"]
    assert findings.texts("findings") == [EFFUSION]
    records["a"]["impression"] = ["", EDEMA]
    assert read_references(records, "report").studies["a"].texts("report") == [
        f"Findings: {EFFUSION} Impression: {EDEMA}"
    ]


def test_lists_count_towards_the_limits_of_a_file() -> None:
    records = {"a": {"findings": [EDEMA, EFFUSION]}}
    characters = len(EDEMA) + len(EFFUSION)
    assert read_references(records, limits=Limits(unpacked_bytes=characters)).studies
    with pytest.raises(RefusedInput, match="more than 42 characters together"):
        read_references(records, limits=Limits(unpacked_bytes=42))
