"""Wrong arguments of every public function: one clear error of rexrank, and never a word of a report in it."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import rexrank
from rexrank import protocols, statistics
from rexrank.errors import RexrankError, shown
from rexrank.metrics import compute, metric_of

SECRET = "Axolotl"
TEXT = f"{SECRET} sign in both lungs."
TEXTS = {"a": TEXT, "b": "Lungs clear."}

WRONG: dict[str, Any] = {
    "text": TEXT,
    "numpy text": np.str_(TEXT),
    "bytes": TEXT.encode(),
    "tuple": (TEXT,),
    "list": [TEXT],
    "list of lists": [[TEXT]],
    "mapping": TEXTS,
    "unhashable keys": [TEXTS],
    "array": np.array([TEXT, TEXT]),
    "series": pandas.Series(TEXTS),
    "frame": pandas.DataFrame({"report": [TEXT, TEXT]}),
    "generator": (text for text in [TEXT]),
    "set": {TEXT},
    "number": 7,
    "fraction": 1.5,
    "nan": float("nan"),
    "empty": "",
    "object": object(),
    "path": Path("nowhere"),
}


def score(**options: Any) -> object:
    """Score two texts with one argument of the caller's choice."""
    return rexrank.score(TEXTS, TEXTS, **{"metrics": "bleu2", "progress": False, **options})


CALLS: dict[str, Callable[[Any], object]] = {
    "protocol": lambda wrong: score(protocol=wrong),
    "track": lambda wrong: score(track=wrong),
    "metrics": lambda wrong: score(metrics=wrong),
    "convention": lambda wrong: score(convention=wrong),
    "text_preparation": lambda wrong: score(text_preparation=wrong),
    "limits": lambda wrong: score(limits=wrong),
    "load": protocols.load,
    "validate limits": lambda wrong: rexrank.validate(TEXTS, TEXTS, limits=wrong),
    "compute keys": lambda wrong: compute(wrong, [TEXT], [TEXT]),
    "compute convention": lambda wrong: compute("bleu2", [TEXT], [TEXT], wrong),
    "compute preparation": lambda wrong: compute("bleu2", [TEXT], [TEXT], preparation=wrong),
    "compute policy": lambda wrong: compute("bleu2", [TEXT], [TEXT], on_empty_reference=wrong),
    "metric_of": metric_of,
    "interval confidence": lambda wrong: statistics.interval([0.1, 0.2], confidence=wrong),
    "interval resamples": lambda wrong: statistics.interval([0.1, 0.2], resamples=wrong),
    "interval seed": lambda wrong: statistics.interval([0.1, 0.2], seed=wrong),
    "interval groups": lambda wrong: statistics.interval([0.1, 0.2, 0.3], groups=wrong),
    "interval values": statistics.interval,
    "read_sections": rexrank.read_sections,
    "card load": rexrank.ScoreCard.load,
}
# Not wrong in that place: one number is a valid seed or number of resamples, any text can be split.
RIGHT = {
    ("interval seed", "number"),
    ("interval resamples", "number"),
    ("read_sections", "text"),
    ("read_sections", "numpy text"),
    ("read_sections", "empty"),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments_are_refused_without_a_word_of_a_report(call: str, wrong: str) -> None:
    if (call, wrong) in RIGHT:
        CALLS[call](WRONG[wrong])
        return
    with pytest.raises(RexrankError) as caught:
        CALLS[call](WRONG[wrong])
    assert SECRET not in str(caught.value)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert len(str(caught.value)) < 1000


def test_texts_in_the_place_of_keys() -> None:
    # compute(predictions, references, keys) is the order of many other libraries.
    with pytest.raises(RexrankError) as caught:
        compute([TEXT], ["Lungs clear."], ["bleu2"])
    assert "a text of" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_names_are_shown_and_texts_described() -> None:
    assert shown("blue2") == '"blue2"'
    assert shown(95) == "95"
    assert shown(10**9_000) == shown(-(10**70)) == "a long number"
    assert shown(None) == "None"
    assert shown(TEXT) == f"a text of {len(TEXT)} characters"
    assert shown("x" * 61) == "a text of 61 characters"
    assert shown("") == "an empty text"
    assert shown([TEXT]) == "a value of type list"


@pytest.mark.parametrize("metrics", [["all"], "all", ["bleu2", "all"]])
def test_all_is_understood_in_a_list_too(metrics: Any) -> None:
    card = rexrank.score(TEXTS, TEXTS, metrics=metrics, progress=False)
    assert {"bleu2", "rouge_l", "coco_bleu4"} <= set(card.summary)


@pytest.mark.parametrize("name", ["", "rexrank@", "@", "plain@"])
def test_half_a_protocol_name_is_no_name(name: str) -> None:
    with pytest.raises(protocols.UnknownProtocol):
        protocols.load(name)


def test_the_device_on_the_card_is_where_models_ran() -> None:
    assert rexrank.score(TEXTS, TEXTS, metrics="bleu2", device="cuda", progress=False).device == "cpu"


@pytest.mark.parametrize(
    "values",
    [
        ["0.5", "0.25"],
        np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
        [10**400, 1],
        [b"1", b"2"],
        [1j, 2],
    ],
)
def test_values_that_are_no_numbers_give_no_interval(values: Any) -> None:
    with pytest.raises(statistics.InvalidStatistics, match=r"^values: expected numbers"):
        statistics.interval(values)


def test_masked_and_missing_values_are_undefined() -> None:
    masked = np.ma.MaskedArray([0.1, 0.2, 9.0], mask=[False, False, True])
    assert statistics.interval(masked) == statistics.interval([0.1, 0.2])
    assert statistics.interval([0.1, 0.2, None]) == statistics.interval([0.1, 0.2])  # type: ignore[arg-type]
    assert statistics.interval(pandas.array([0.1, 0.2, None], dtype="Float64")) == statistics.interval([0.1, 0.2])


def test_missing_groups_of_pandas_are_missing() -> None:
    with pytest.raises(statistics.InvalidStatistics, match=r"groups\[0\]: the group is missing"):
        statistics.interval([0.1, 0.2], groups=[pandas.NA, "p2"])


def test_a_path_may_be_bytes(tmp_path: Path) -> None:
    class BytesPath:
        def __fspath__(self) -> bytes:
            return bytes(tmp_path / "p.csv")

    (tmp_path / "p.csv").write_text(f"study_id,report\na,{TEXT}\n")
    assert rexrank.validate(BytesPath(), {"a": "x"}) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [b"p.csv", bytearray(b"p.csv"), memoryview(b"p.csv"), range(2)])
def test_bytes_are_no_list_of_texts(wrong: Any) -> None:
    problems = rexrank.validate(wrong, ["x"])
    assert [problem.code for problem in problems] == ["not_an_object"]
    assert type(wrong).__name__ in problems[0].message


def test_modules_repeat_no_text_given_as_an_id() -> None:
    from rexrank.metrics import InvalidCall
    from rexrank.modules.inputs import check_call

    for predictions, references, ids in (
        ([TEXT, TEXT], ["x", "y"], [TEXT, TEXT]),
        ([TEXT, 5], ["x", "y"], [TEXT, f"{SECRET} sign"]),
        ([TEXT, "x"], ["x", None], [TEXT, f"{SECRET} sign"]),
    ):
        with pytest.raises(InvalidCall) as caught:
            check_call(predictions, references, ids)
        assert SECRET not in str(caught.value)
    with pytest.raises(InvalidCall, match=r'predictions\[1\] \(id "s2"\)'):
        check_call([TEXT, 5], ["x", "y"], ["s1", "s2"])
