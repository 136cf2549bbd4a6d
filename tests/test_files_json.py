"""JSON files have one form, byte for byte: what is on a Hub must not change with the library."""

import pytest

from rexrank.files import json_bytes


def test_the_form_of_a_file() -> None:
    document = {"name": "Ünï", "at": {"b": [1, 0.5], "a": None}}
    written = '{\n  "name": "Ünï",\n  "at": {\n    "b": [\n      1,\n      0.5\n    ],\n    "a": null\n  }\n}\n'
    assert json_bytes(document) == written.encode()
    assert json_bytes({"b": 1, "a": 2}, sort_keys=True) == b'{\n  "a": 2,\n  "b": 1\n}\n'


def test_half_a_surrogate_pair_can_be_told_of() -> None:
    assert json_bytes({"path": "\ud800é"}, ascii_only=True) == b'{\n  "path": "\\ud800\\u00e9"\n}\n'


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_no_json(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_bytes({"value": value})
