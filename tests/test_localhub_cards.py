"""Metadata of cards is read safely."""

import json

import pytest

from rexrank.localhub import cards
from rexrank.localhub.cards import CardError


def card(text: str) -> str:
    return f"---\n{text}\n---\n# Card\n"


def test_metadata_becomes_json() -> None:
    text = card("license: mit\ndate: 2026-01-31\nv: .nan\n1: yes\nconfigs:\n- config_name: default\n  data_files: x")
    data = cards.metadata("\ufeff" + text.replace("\n", "\r\n"))
    assert json.loads(json.dumps(data, allow_nan=False)) == {
        "license": "mit",
        "date": "2026-01-31",
        "v": None,
        "1": True,
        "configs": [{"config_name": "default", "data_files": "x"}],
    }


@pytest.mark.parametrize("text", ["", "# Only text", "---\nnever closed: yes\n", "--- \n---\n", "x\n---\na: b\n---\n"])
def test_texts_without_metadata(text: str) -> None:
    assert cards.metadata(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "- a list",
        "text",
        "a: &x [1]\nb: *x",
        "a: !!python/object/apply:os.system ['true']",
        "a: !!python/name:os.system",
        "? [a]\n: b",
        "[" * 5000,
        "a: " + "x" * 300_000,
        "a: \x07",
        "a: 0x" + "f" * 20_000,
        "a: 9999-99-99",
    ],
)
def test_metadata_that_is_refused(text: str) -> None:
    with pytest.raises(CardError):
        cards.metadata(card(text))


def test_aliases_cannot_grow() -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(CardError, match="alias"):
        cards.metadata(card("\n".join(levels)))


def test_places_are_named_by_line_of_the_file() -> None:
    assert cards.faults(card("a: b\nc: d: e")) == ["the metadata is not valid YAML in line 3, column 5"]


def test_fields_of_the_wrong_type_are_named() -> None:
    assert cards.faults(card("tags: [1, 2]\nlanguage: no\nlicense: mit")) == [
        '"tags" must be text or a list of texts',
        '"language" must be text or a list of texts',
    ]


def test_tags_come_from_the_usual_fields() -> None:
    data = cards.metadata(card("tags: [x, x, 7]\nlicense: mit\nlanguage: [en, de]\npipeline_tag: image-to-text"))
    assert cards.tags(data) == ["x", "license:mit", "language:en", "language:de", "image-to-text"]
