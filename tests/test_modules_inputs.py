"""Inputs of the evaluate modules: what is refused, in which words, and what stays behind."""

import warnings
from typing import Any

import numpy as np
import pytest

evaluate = pytest.importorskip("evaluate", reason="the extra 'metrics' is not installed")

from rexrank.metrics import compute as metric_compute  # noqa: E402
from rexrank.modules.checked import Checked  # noqa: E402
from rexrank.modules.inputs import check_call  # noqa: E402

MARK = "ZEBRAFISH"
PREDICTIONS = [f"Small left effusion {MARK}.", "Clear lungs."]
REFERENCES = ["Small right effusion.", f"Lungs are clear {MARK}."]


class Module(Checked, evaluate.Metric):
    """A module as the folders of evaluate_modules/ define them."""

    metric = "rouge"

    def _info(self) -> Any:
        return self.describe("What it is.", "", ">>> more.words", papers=[], code=[])


@pytest.fixture
def module(tmp_path: Any) -> Module:
    return Module(cache_dir=str(tmp_path))


BAD_CALLS = [
    ({}, "no items: give predictions and references, or collect some with add_batch first"),
    ({"predictions": [], "references": []}, "no items: predictions and references are empty lists"),
    ({"predictions": PREDICTIONS}, "references: missing; give a list with one item a report"),
    ({"references": REFERENCES}, "predictions: missing; give a list with one item a report"),
    ({"predictions": f"{MARK}", "references": REFERENCES}, "predictions: expected a list, got str"),
    ({"predictions": PREDICTIONS, "references": {"a": MARK}}, "references: expected a list, got dict"),
    (
        {"predictions": PREDICTIONS, "references": [MARK]},
        "predictions has 2 and references has 1 items; give one reference for each prediction",
    ),
    (
        {"predictions": [MARK, None, float("nan")], "references": [MARK] * 3},
        "predictions[1]: expected str, got NoneType (2 items affected)",
    ),
    (
        {"predictions": [MARK] * 4, "references": [MARK, 2.5, b"x", [MARK, [MARK]]]},
        "references[1]: expected str or list of str, got float (3 items affected)",
    ),
    (
        {"predictions": PREDICTIONS, "references": [[MARK], []]},
        "references[1]: expected str or list of str, got an empty list (1 item affected)",
    ),
    (
        {"predictions": PREDICTIONS, "references": [[MARK], [MARK, [MARK]]]},
        "references[1]: expected str or list of str, got list holding list of str (1 item affected)",
    ),
    (
        {"predictions": PREDICTIONS, "references": [[MARK], [MARK, None]]},
        "references[1]: expected str or list of str, got list holding NoneType (1 item affected)",
    ),
    (
        {"predictions": PREDICTIONS, "references": [MARK, [MARK]]},
        "references: expected strings or lists of strings throughout, got both; the first list is at 1",
    ),
    (
        {"predictions": [MARK, f"{MARK}\ud800"], "references": REFERENCES},
        "predictions[1]: expected str, got str with half a surrogate pair (1 item affected)",
    ),
    (
        {"predictions": [MARK, 3], "references": REFERENCES, "ids": ["s1", "s2"]},
        'predictions[1] (id "s2"): expected str, got int (1 item affected)',
    ),
    (
        {"predictions": PREDICTIONS, "references": REFERENCES, "ids": ["s1", "s1"]},
        'ids[1]: "s1" is there twice; ids must be unique',
    ),
    (
        {"predictions": PREDICTIONS, "references": REFERENCES, "ids": ["s1"]},
        "ids has 1 and predictions has 2 items; give one id for each prediction",
    ),
    (
        {"predictions": PREDICTIONS, "references": REFERENCES, "ids": ["s1", 2]},
        "ids[1]: expected str, got int (1 item affected)",
    ),
    (
        {"predictions": PREDICTIONS, "references": REFERENCES, "keys": ["bleu2"]},
        'keys: expected some of rouge_l, rouge1, rouge2, rouge_l_f1; got "bleu2"',
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD_CALLS, ids=range(len(BAD_CALLS)))
def test_a_bad_call_is_refused_in_one_sentence_without_text(
    module: Module, call: dict[str, Any], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared below
        module.compute(**call)
    assert str(caught.value) == message
    assert MARK not in str(caught.value) + "".join(capfd.readouterr())
    assert len(module) == 0


def test_a_refused_convention_leaves_the_module_usable(module: Module) -> None:
    with pytest.raises(ValueError, match="convention"):
        module.compute(predictions=PREDICTIONS, references=REFERENCES, convention="best")
    assert module.compute(predictions=["a b"], references=["a b"])["rouge1_per_report"] == [1.0]


def test_results_are_those_of_the_library(module: Module) -> None:
    for convention in ("published", "corrected"):
        expected = metric_compute(["rouge_l", "rouge1"], PREDICTIONS, REFERENCES, convention=convention)
        found = module.compute(
            predictions=PREDICTIONS, references=REFERENCES, convention=convention, keys=list(expected)
        )
        for key in ("rouge_l", "rouge1"):
            assert found[key] == expected[key].aggregate
            assert found[f"{key}_per_report"] == expected[key].values.tolist()
        assert found["signature"].split(" ") == [expected["rouge_l"].signature, expected["rouge1"].signature]
        assert (found["n_empty"], found["n_truncated"], found["n_undefined"]) == (0, 0, 0)


def test_a_blank_prediction_is_valid_and_counted(module: Module) -> None:
    found = module.compute(predictions=["", "a b"], references=["a b", "a b"], keys="rouge1")
    assert found["rouge1_per_report"] == [0.0, 1.0]
    assert found["n_empty"] == 1
    assert set(found) == {"rouge1", "rouge1_per_report", "signature", "n_empty", "n_truncated", "n_undefined"}


def test_an_undefined_value_is_none_and_counted(module: Module) -> None:
    found = module.compute(predictions=["", "a b"], references=["", "a b"], convention="corrected")
    assert found["rouge1_per_report"] == [None, 1.0]
    assert found["n_undefined"] == 1
    only = module.compute(predictions=[""], references=[""], convention="corrected", keys=["rouge1"])
    assert only["rouge1"] is None


def test_several_references_a_report(module: Module) -> None:
    found = module.compute(predictions=["a b", "c d"], references=[["x y", "a b"], ["c d"]], keys=["rouge1"])
    assert found["rouge1_per_report"] == [1.0, 1.0]


def test_arrays_and_tuples_are_lists_too(module: Module) -> None:
    expected = module.compute(predictions=PREDICTIONS, references=REFERENCES)
    assert module.compute(predictions=np.array(PREDICTIONS), references=tuple(REFERENCES)) == expected


def test_batches_add_up(module: Module) -> None:
    expected = module.compute(predictions=PREDICTIONS, references=REFERENCES)
    module.add_batch(predictions=PREDICTIONS[:1], references=REFERENCES[:1])
    module.add(prediction=PREDICTIONS[1], reference=REFERENCES[1])
    assert module.compute(ids=["s1", "s2"]) == expected
    assert len(module) == 0


def test_a_refused_batch_is_not_kept(module: Module) -> None:
    module.add_batch(predictions=["a b"], references=["a b"])
    with pytest.raises(ValueError, match=r"predictions\[1\]: expected str, got int"):
        module.add_batch(predictions=["x", 1], references=["y", "z"])
    with pytest.raises(ValueError, match="got both in two batches"):
        module.add_batch(predictions=["x"], references=[["y"]])
    with pytest.raises(ValueError, match="ids: not an argument"):
        module.add_batch(predictions=["x"], references=["y"], ids=["s1"])
    assert module.compute()["rouge1_per_report"] == [1.0]


def test_collected_rows_never_enter_a_call_with_inputs(module: Module) -> None:
    module.add_batch(predictions=["x"], references=["y"])
    with pytest.warns(UserWarning, match="1 collected"):
        found = module.compute(predictions=["a b"], references=["a b"])
    assert found["rouge1_per_report"] == [1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module.compute(predictions=["a b"], references=["a b"])


def test_several_processes_are_refused(tmp_path: Any) -> None:
    with pytest.raises(ValueError, match="num_process: only 1"):
        Module(cache_dir=str(tmp_path), num_process=2)


def test_no_cache_file_is_written(tmp_path: Any) -> None:
    module = Module(cache_dir=str(tmp_path), keep_in_memory=False)
    module.add_batch(predictions=["a"], references=["a"])
    module.compute()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_help_texts_survive(module: Module) -> None:
    for method in (module.compute, module.add, module.add_batch):
        assert (method.__doc__ or "").endswith(">>> more.words\n")


def test_check_call_keeps_one_shape() -> None:
    assert check_call(["a"], ["b"]) == (["a"], ["b"])
    assert check_call(("a",), (("b", "c"),)) == (["a"], [["b", "c"]])
