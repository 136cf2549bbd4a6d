"""What a call is refused for, and that the message never holds text."""

from typing import Any

import numpy as np
import pytest

from rexrank.errors import RexrankError
from rexrank.metrics import InvalidCall, Unavailable, compute, metrics

SECRET = "confidential wording"


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        ([SECRET, None, 3.5], [SECRET] * 3, "predictions[1]: expected str, got NoneType (2 items affected)"),
        ([SECRET, float("nan")], [SECRET] * 2, "predictions[1]: expected str, got float (1 item affected)"),
        ([SECRET], [SECRET.encode()], "references[0]: expected str or list of str, got bytes (1 item affected)"),
        ([SECRET] * 2, [[SECRET], [SECRET, 7]], "references[1][1]: expected str, got int (1 item affected)"),
        ([SECRET], [[]], "references[0]: expected at least one reference, got an empty list"),
        ([[SECRET]], [SECRET], "predictions[0]: expected str, got list (1 item affected)"),
        (SECRET, [SECRET], "predictions: expected a list with one item a study, got str"),
        ([SECRET], SECRET, "references: expected a list with one item a study, got str"),
        ({"a": SECRET}, [SECRET], "predictions: expected a list with one item a study, got dict"),
        (None, [SECRET], "predictions: expected a list with one item a study, got NoneType"),
        ([SECRET] * 2, [SECRET], "predictions has 2 items but references has 1; give one reference entry"),
        ([], [], "predictions and references hold no items"),
    ],
)
def test_bad_texts_are_refused_in_one_sentence(predictions: Any, references: Any, message: str) -> None:
    with pytest.raises(InvalidCall) as caught:
        compute("bleu2", predictions, references)
    assert message in str(caught.value)
    assert "confidential" not in str(caught.value)
    assert isinstance(caught.value, RexrankError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"keys": ["bleu2", "bleu9"]}, 'there is no score key or metric "bleu9"; did you mean bleu or bleu2?'),
        ({"keys": []}, "keys: name at least one score key"),
        ({"convention": "parity"}, 'convention: expected published or corrected, got "parity"'),
        ({"smoothing": 1}, 'unknown option "smoothing"; these metrics take on_empty_prediction, on_empty_reference'),
        ({"stemmer": True}, 'unknown option "stemmer"'),
    ],
)
def test_bad_options_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidCall) as caught:
        compute(**{"keys": ["bleu2"], "predictions": ["a"], "references": ["a"], **arguments})
    assert message in str(caught.value)


def test_any_sequence_of_strings_will_do() -> None:
    expected = compute("bleu2", ["mild edema", "clear"], ["edema", "clear"])["bleu2"].values.tolist()
    for kind in (tuple, np.array, iter):
        assert (
            compute("bleu2", kind(["mild edema", "clear"]), kind(["edema", "clear"]))["bleu2"].values.tolist()
            == expected
        )
    mixed = compute("bleu2", ["mild edema", "clear"], ["edema", ["clear"]])["bleu2"]
    assert mixed.values.tolist() == expected


def test_a_score_asked_twice_is_given_once_in_the_order_asked() -> None:
    assert list(compute(["rouge1", "bleu2", "rouge1"], ["a"], ["a"])) == ["rouge1", "bleu2"]


def test_the_name_of_a_metric_stands_for_its_keys() -> None:
    texts = ["Mild edema."], ["Edema."]
    assert list(compute("rouge", *texts)) == [key.key for key in metrics()["rouge"].keys]
    assert list(compute(["rouge1", "rouge", "bleu2"], *texts)) == ["rouge1", "rouge_l", "rouge2", "rouge_l_f1", "bleu2"]
    assert len(compute("f1labels", *texts)) == 27
    assert list(compute("cider", *texts)) == ["cider"]
    with pytest.raises(Unavailable, match="radgraph_simple needs RadGraph-XL"):
        compute("radgraph", *texts)


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("f1", "did you mean f1labels or f1chexbert or "),
        ("all", "`rexrank metrics` lists what there is"),
        ("CIDEr", "did you mean cider?"),
        ("radgraf", "did you mean radgraph"),
        ("BERTScore", "did you mean bertscore or bertscore_minilm?"),
        ("rougeL", "did you mean rouge_l"),
        ("precision", "did you mean ce_precision or srrbert_precision or findings_precision?"),
        ("x", "`rexrank metrics` lists what there is"),
        ("---", "`rexrank metrics` lists what there is"),
        ("1/RadCliQ-v1", "did you mean radcliq_v1 or inv_radcliq_v1"),
    ],
)
def test_close_names_are_offered_and_no_others(name: str, offered: str) -> None:
    with pytest.raises(InvalidCall) as caught:
        compute(name, ["a"], ["b"])
    assert str(caught.value).startswith(f'keys: there is no score key or metric "{name}"; {offered}')
