"""Scoring: published values on real files, and what happens where something cannot be computed."""

import csv
import json
import pty
import termios
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rexrank
from rexrank.errors import RefusedInput
from rexrank.metrics import InvalidCall, registry
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.protocols import UnknownProtocol
from rexrank.scoring.progress import reporting

REFERENCES = {"a": "The lungs are clear.", "b": "Small left effusion.", "c": "No acute process."}
PREDICTIONS = {"a": "The lungs are clear.", "b": "Small right effusion.", "c": ""}


def score(*arguments: Any, **options: Any) -> rexrank.ScoreCard:
    """A card without a progress bar."""
    return rexrank.score(*arguments, progress=False, **options)


@pytest.fixture(scope="module")
def moerad(shared_data: Path) -> tuple[Path, Path]:
    """Real predictions and their references."""
    folder = shared_data / "iu_xray"
    return folder / "predictions/moerad/preds.csv", folder / "ReXRank_IUXray_test.json"


@pytest.mark.parametrize(
    ("options", "expected", "preparation"),
    [
        ({}, 0.2627, "|prep:findings-ref|"),
        ({"text_preparation": "both"}, 0.2754, "|prep:findings-both|"),
        ({"text_preparation": "none"}, 0.270432, "|tok:rexrank|v:"),
        ({"protocol": "plain"}, 0.270432, "|tok:rexrank|v:"),
    ],
)
def test_text_preparation_moves_the_published_number(
    moerad: tuple[Path, Path], options: dict[str, str], expected: float, preparation: str
) -> None:
    card = score(*moerad, metrics="bleu2", **options)
    assert card.summary["bleu2"] == pytest.approx(expected, abs=5e-5)
    low, high = card.intervals["bleu2"]
    assert low < card.summary["bleu2"] < high
    assert preparation in card.signatures["bleu2"]
    assert (card.n, card.counts["bleu2"]["n_empty"]) == (590, 0)
    assert card.distinct_outputs * 590 == pytest.approx(25)


def test_stored_per_study_values(moerad: tuple[Path, Path]) -> None:
    with moerad[0].with_name("report_scores.csv").open(newline="") as handle:
        stored = [float(row["bleu_score"]) for row in csv.DictReader(handle)]
    card = score(*moerad, protocol="plain", metrics=["bleu2"])
    np.testing.assert_allclose(card.per_study["bleu2"].to_numpy(), stored, rtol=0, atol=1e-12)
    assert card.per_study["study_id"].to_pylist() == list(json.loads(moerad[1].read_text()))


def test_stored_corpus_values(shared_data: Path) -> None:
    (system,) = (shared_data / "iu_xray/predictions/mrg_rl").glob("qwen*")
    card = score(system / "test_preds.json", system / "test_refs.json", protocol="plain")
    stored = json.loads((system / "test_metrics.json").read_text())
    for key, name in [(f"coco_bleu{n}", f"Bleu_{n}") for n in range(1, 5)] + [("rouge_l", "ROUGE_L")]:
        assert card.summary[key] == pytest.approx(stored[name], abs=1e-9)


def test_card_of_invented_reports() -> None:
    card = score(PREDICTIONS, REFERENCES, protocol="plain", metrics=["bleu2", "rouge"])
    assert list(card.summary) == ["bleu2", "rouge_l", "rouge1", "rouge2", "rouge_l_f1"]
    assert card.per_study["bleu2"].to_pylist()[::2] == [1.0, 0.0]
    assert card.counts["bleu2"] == {**card.counts["bleu2"], "n": 3, "n_empty": 1, "n_undefined": 0}
    assert (card.protocol, card.protocol_version, card.track, card.convention) == (
        "plain",
        "2",
        "findings",
        "published",
    )
    assert set(card.packages) >= {"python", "numpy", "pyarrow"}
    assert card.inputs["predictions"]["source"] == "predictions"
    assert card.started_at < card.finished_at


def test_scores_that_no_module_computes_are_unavailable_with_the_reason() -> None:
    card = score(PREDICTIONS, REFERENCES)
    assert list(card.summary) == ["bleu2"]
    assert (
        card.unavailable["crimson"]
        == f"crimson needs the judge of CRIMSON, which rexrank {rexrank.__version__} does not run"
    )
    assert set(card.summary) | set(card.unavailable) == set(rexrank.protocols.load().metrics)
    assert score(PREDICTIONS, REFERENCES, metrics=["green"]).summary == {}


def test_all_is_every_metric_of_reports() -> None:
    card = score(PREDICTIONS, REFERENCES, metrics="all")
    of_reports = {key for key in registry.score_keys() if registry.metric_of(key).task == "report"}
    assert set(card.summary) | set(card.unavailable) == of_reports


@pytest.mark.parametrize("names", [["blue2"], ["bleu2", "ruge_l"], [], "BLEU-2"])
def test_unknown_metrics_are_wrong_usage_with_close_names(names: Any) -> None:
    with pytest.raises(InvalidCall, match=r"did you mean .*(bleu2|rouge_l)|at least one"):
        score(PREDICTIONS, REFERENCES, metrics=names)


def test_other_wrong_names() -> None:
    with pytest.raises(UnknownProtocol):
        score(PREDICTIONS, REFERENCES, protocol="rexrank@1999")
    with pytest.raises(UnknownProtocol):
        score(PREDICTIONS, REFERENCES, track="history")
    with pytest.raises(UnknownProtocol):
        score(PREDICTIONS, REFERENCES, protocol="plain", text_preparation="both")
    with pytest.raises(InvalidCall):
        score(PREDICTIONS, REFERENCES, convention="parity")


def replace_rouge(monkeypatch: pytest.MonkeyPatch, compute: registry.Compute, **changes: Any) -> None:
    """Put another computation behind the registry's ROUGE keys, which may be changed too."""
    own = tuple(replace(key, **changes) for key in registry.metrics()["rouge"].keys)
    other = registry.Metric("rouge", "1", own, compute, source="this test")
    names, keys, owners = registry._found()
    keys = {**keys, **{key.key: key for key in own}}
    replaced = {key: other if metric.name == "rouge" else metric for key, metric in owners.items()}
    monkeypatch.setattr(registry, "_found", lambda: ({**names, "rouge": other}, keys, replaced))


def test_a_failing_metric_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(pairs: Pairs, keys: Any, convention: Any, options: Mapping[str, Any]) -> Any:
        raise ZeroDivisionError(pairs.predictions[0])

    replace_rouge(monkeypatch, fail)
    card = score(PREDICTIONS, REFERENCES, protocol="plain", metrics=["rouge_l", "bleu2"])
    assert list(card.summary) == ["bleu2"]
    assert "rouge failed with ZeroDivisionError" in card.unavailable["rouge_l"]
    assert PREDICTIONS["a"] not in json.dumps(card.to_json())


@pytest.mark.parametrize("defined", [[], [1]])
def test_undefined_values_are_null_and_counted(monkeypatch: pytest.MonkeyPatch, defined: list[int]) -> None:
    def partly(pairs: Pairs, keys: Any, convention: Any, options: Mapping[str, Any]) -> dict[str, Outcome]:
        values = np.full(len(pairs.predictions), np.nan)
        values[defined] = 0.25
        found = np.ones(len(values), dtype=bool)
        return {key: Outcome(values, {}, found, found) for key in keys}

    replace_rouge(monkeypatch, partly)
    card = score({"a": "x", "b": "y"}, {"a": "v", "b": "w"}, metrics=["rouge_l"])
    assert card.per_study["rouge_l"].to_pylist() == [None, 0.25 if defined else None]
    assert card.counts["rouge_l"]["n_undefined"] == 2 - len(defined)
    assert card.summary == ({"rouge_l": 0.25} if defined else {})
    assert card.unavailable == (
        {} if defined else {"rouge_l": "rouge_l is undefined for all 2 studies (original_fails)"}
    )
    json.dumps(card.to_json(), allow_nan=False)


def test_what_only_the_set_leaves_undefined_has_no_interval_either(monkeypatch: pytest.MonkeyPatch) -> None:
    def above_half(pairs: Pairs, keys: Any, convention: Any, options: Mapping[str, Any]) -> dict[str, Outcome]:
        found = np.ones(2, dtype=bool)
        values = np.array([0.0, 1.0])
        return {key: Outcome(values, {}, found, found) for key in keys}

    replace_rouge(monkeypatch, above_half, of_mean=lambda means: np.where(means > 0.5, means, np.nan))
    card = score({"a": "x", "b": "y"}, {"a": "v", "b": "w"}, metrics=["rouge_l"])
    assert card.unavailable == {"rouge_l": "rouge_l is undefined for the 2 studies together"}
    assert (card.summary, card.intervals) == ({}, {})


def test_undefined_for_all_says_why() -> None:
    card = score({"a": "Mass.", "b": ""}, {"a": "Clear.", "b": "Clear."}, metrics=["cider"], convention="corrected")
    assert card.unavailable == {"cider": "cider is undefined for all 2 studies (degenerate_reference_statistics)"}
    assert card.counts["cider"]["n_undefined"] == 2


def test_options_of_metrics_that_are_unavailable_are_known() -> None:
    options = {"lower_case": True, "on_empty_prediction": "undefined"}
    card = score(PREDICTIONS, REFERENCES, metrics=["bleu2", "radgraph_simple"], options=options)
    assert list(card.summary) == ["bleu2"]
    assert "empty_prediction:undefined" in card.signatures["bleu2"]
    with pytest.raises(InvalidCall, match='unknown option "lower_case"; the metrics asked for take on_empty'):
        score(PREDICTIONS, REFERENCES, metrics=["bleu2"], options=options)
    with pytest.raises(InvalidCall, match="on_empty_reference: expected one of undefined, worst, error"):
        score(PREDICTIONS, REFERENCES, metrics=["bleu2"], options={"on_empty_reference": "zero"})


def own_options() -> list[tuple[str, str]]:
    """Every option of every metric that texts can be scored by, with a key that reads it."""
    return [
        (next(key.key for key in found.keys if not key.requires or option.name in key.requires), option.name)
        for found in registry.metrics().values()
        if not found.keys[0].needs
        for option in found.options
        if option.name != "training"  # another key than the first needs it
    ] + [("report_in_training", "training")]


@pytest.mark.parametrize(("key", "option"), own_options())
def test_a_wrong_value_of_any_option_is_the_callers_fault(key: str, option: str) -> None:
    with pytest.raises(InvalidCall, match=f"^{option}"):
        score(PREDICTIONS, REFERENCES, protocol="plain", metrics=["bleu2", key], options={option: object()})


def test_answers_get_no_header_before_them() -> None:
    answers, right = {"1": "A", "2": "(B)"}, {"1": "A", "2": "C"}
    with pytest.raises(InvalidCall, match=r"vqa_accuracy_micro compares answers.* choose the protocol plain"):
        score(answers, right, metrics=["bleu2", "vqa_accuracy_micro"])
    card = score(answers, right, metrics="vqa", protocol="plain", options={"categories": ["x", "y"]})
    assert card.summary == {"vqa_accuracy_macro": 0.5, "vqa_accuracy_micro": 0.5}


def test_a_rule_for_several_references_is_for_the_metrics_that_compare_with_one() -> None:
    several = {"a": ["Mild edema.", "Pleural effusion."]}
    asked = ["bleu2", "f1labels_micro_14"]
    card = score({"a": "Pleural effusion."}, several, protocol="plain", metrics=asked, options={"several": "mean"})
    assert card.summary == {"bleu2": 1.0, "f1labels_micro_14": 0.5}
    assert "|refs:several|" in card.signatures["bleu2"]
    assert "|refs:mean|" in card.signatures["f1labels_micro_14"]


@pytest.mark.parametrize("option", ["on_empty_prediction", "on_empty_reference"])
def test_blank_texts_that_an_option_refuses_are_named_by_their_study(option: str) -> None:
    text = {"text_preparation": "deid-drop", "protocol": "plain"}
    with pytest.raises(RefusedInput) as caught:
        score({"a": "x", "b": "XXXX"}, {"a": "x", "b": "XXXX"}, **text, options={option: "error"})
    (problem,) = caught.value.problems
    assert problem.study_id == "b"
    assert problem.file == ("predictions" if option == "on_empty_prediction" else "references")
    assert option in problem.message


def test_a_table_in_memory_is_refused_with_the_way_to_give_it() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(RefusedInput, match=r"got DataFrame; give dict\(zip\(df"):
        score(pandas.DataFrame({"study_id": ["a"], "report": ["x"]}), {"a": "x"})


def test_one_study_has_scores_and_no_interval() -> None:
    card = score({"a": "Clear."}, {"a": "Clear."}, protocol="plain")
    assert card.summary["rouge_l"] == 1.0
    assert card.intervals == {}


def test_studies_without_the_section_leave_the_track() -> None:
    references = {
        "a": {"section_findings": "Lungs clear.", "section_impression": "Normal."},
        "b": {"section_findings": None, "section_impression": "Mass."},
    }
    card = score({"a": "Lungs clear.", "b": "Mass."}, references)
    assert (card.n, card.left_out, card.ignored_predictions) == (1, {"no findings": 1}, 1)
    assert card.per_study["study_id"].to_pylist() == ["a"]
    with pytest.raises(RefusedInput, match="its only study has no text for the track findings"):
        score({"b": "Mass."}, {"b": references["b"]})
    with pytest.raises(RefusedInput, match="its only study lacks the texts of the track report"):
        score({"b": "Mass."}, {"b": references["b"]}, track="report", convention="corrected")


def test_order_of_predictions_does_not_matter() -> None:
    card = score(PREDICTIONS, REFERENCES)
    turned = score(dict(reversed(PREDICTIONS.items())), REFERENCES)
    assert card.per_study.equals(turned.per_study)
    assert card.inputs["predictions"] == turned.inputs["predictions"]


def test_lists_and_several_references() -> None:
    card = score(["Lungs clear.", "Mass."], [["Heart normal.", "Lungs clear."], "Mass."], protocol=None)
    assert card.summary["rouge_l"] == 1.0
    assert card.per_study["study_id"].to_pylist() == ["0", "1"]


def test_progress_is_reported_to_a_function() -> None:
    seen: list[tuple[str, int, int]] = []
    rexrank.score(
        PREDICTIONS,
        REFERENCES,
        protocol="plain",
        metrics=["bleu2", "rouge_l"],
        progress=lambda *step: seen.append(step),
    )
    stages = ["read", "bleu", "rouge", "intervals"]
    assert seen == [(stage, done, 4) for done, stage in enumerate(stages)] + [(stages[-1], 4, 4)]


def test_a_terminal_shows_at_once_that_a_program_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    with open(theirs, "w") as terminal, open(ours, "rb", buffering=0) as seen:
        monkeypatch.setattr("sys.stderr", terminal)
        with reporting(True, total=2) as step:
            step("read")
            step("meteor")
            assert b"meteor (its Java program takes about 10 s to start)" in seen.read(1000)


def test_a_progress_function_can_stop_the_run() -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if done:
            raise InterruptedError(stage)

    with pytest.raises(InterruptedError):
        rexrank.score(PREDICTIONS, REFERENCES, progress=stop)


def test_faults_of_both_inputs_are_raised_together() -> None:
    with pytest.raises(RefusedInput) as caught:
        score({"a": 1, "d": "x"}, {"a": "x", "b": "y"})
    assert [problem.code for problem in caught.value.problems] == ["wrong_type", "missing_ids", "extra_ids"]
