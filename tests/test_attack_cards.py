"""Score cards that were cut, changed or written by another version: refused in one sentence, never half read."""

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

import rexrank
from rexrank.scoring import UnreadableCard

TEXTS = {"a": "Lungs clear.", "b": "Small effusion."}


@pytest.fixture(scope="module")
def card() -> rexrank.ScoreCard:
    """A card of two studies."""
    return rexrank.score(TEXTS, TEXTS, protocol="plain", metrics=["bleu2", "rouge_l"], progress=False)


def saved(card: rexrank.ScoreCard, folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A saved card whose JSON was changed afterwards."""
    card.save(folder)
    content = json.loads((folder / "card.json").read_text())
    change(content)
    (folder / "card.json").write_text(json.dumps(content))
    return folder


FIELDS = [
    "protocol",
    "track",
    "n",
    "left_out",
    "distinct_outputs",
    "summary",
    "intervals",
    "interval",
    "unavailable",
    "counts",
    "signatures",
    "inputs",
    "packages",
    "seconds",
    "per_study",
]


@pytest.mark.parametrize("value", [None, [1], True, {"bleu2": [None]}, {"bleu2": "high"}, float("nan"), [[[]]]])
@pytest.mark.parametrize("field", FIELDS)
def test_fields_of_another_type_are_refused(card: rexrank.ScoreCard, tmp_path: Path, field: str, value: object) -> None:
    folder = saved(card, tmp_path / "card", lambda content: content.update({field: value}))
    loaded = loaded_or_refused(folder)
    if loaded is not None:  # an object of the right kind
        assert isinstance(getattr(loaded, field), dict)
        json.dumps(loaded.to_json(), allow_nan=False)


def loaded_or_refused(folder: Path) -> rexrank.ScoreCard | None:
    """The card, or None where it is refused on purpose."""
    try:
        return rexrank.ScoreCard.load(folder)
    except UnreadableCard:
        return None


@pytest.mark.parametrize("field", [*FIELDS, "schema_version"])
def test_missing_fields_are_refused(card: rexrank.ScoreCard, tmp_path: Path, field: str) -> None:
    folder = saved(card, tmp_path / "card", lambda content: content.pop(field))
    with pytest.raises(UnreadableCard):
        rexrank.ScoreCard.load(folder)


@pytest.mark.parametrize(
    ("version", "advice"), [(0, "score again"), (2, "install a newer rexrank"), (True, "again"), ("1", "again")]
)
def test_other_versions_say_what_to_do(card: rexrank.ScoreCard, tmp_path: Path, version: object, advice: str) -> None:
    folder = saved(card, tmp_path / "card", lambda content: content.update(schema_version=version))
    with pytest.raises(UnreadableCard, match=advice):
        rexrank.ScoreCard.load(folder)


@pytest.mark.parametrize("text", [b"", b"\xff\xfe", b"[" * 100_000, b'{"schema_version": 1}', b"null", b'{"a": NaN}'])
def test_broken_json_is_refused(card: rexrank.ScoreCard, tmp_path: Path, text: bytes) -> None:
    card.save(tmp_path)
    (tmp_path / "card.json").write_bytes(text)
    with pytest.raises(UnreadableCard):
        rexrank.ScoreCard.load(tmp_path)


def test_half_a_surrogate_pair_is_refused(card: rexrank.ScoreCard, tmp_path: Path) -> None:
    folder = saved(card, tmp_path, lambda content: content.update(protocol="\ud800"))
    with pytest.raises(UnreadableCard):
        rexrank.ScoreCard.load(folder)


TABLES: dict[str, Callable[[pyarrow.Table], pyarrow.Table]] = {
    "fewer studies": lambda table: table.slice(0, 1),
    "no ids": lambda table: table.drop_columns(["study_id"]),
    "no scores": lambda table: table.select(["study_id"]),
    "a column of text": lambda table: table.append_column("report", pyarrow.array(["x", "y"])),
    "ids as numbers": lambda table: table.set_column(0, "study_id", pyarrow.array([1, 2])),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_that_is_not_the_cards_is_refused(card: rexrank.ScoreCard, tmp_path: Path, kind: str) -> None:
    card.save(tmp_path)
    buffer = io.BytesIO()
    parquet.write_table(TABLES[kind](card.per_study), buffer)
    replace_table(tmp_path, buffer.getvalue())
    with pytest.raises(UnreadableCard, match="other studies or scores"):
        rexrank.ScoreCard.load(tmp_path)


def test_a_table_that_is_no_parquet_is_refused(card: rexrank.ScoreCard, tmp_path: Path) -> None:
    card.save(tmp_path)
    replace_table(tmp_path, b"PAR1 and no more")
    with pytest.raises(UnreadableCard, match="no readable Parquet"):
        rexrank.ScoreCard.load(tmp_path)


def replace_table(folder: Path, data: bytes) -> None:
    """Put another table into a saved card, with its sha256 corrected."""
    (folder / "per_study.parquet").write_bytes(data)
    content = json.loads((folder / "card.json").read_text())
    content["per_study"]["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / "card.json").write_text(json.dumps(content))


def test_a_tilde_is_the_home_folder(card: rexrank.ScoreCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    card.save("~/card")
    assert (tmp_path / "card" / "card.json").exists()
    assert not (tmp_path / "~").exists()
    assert rexrank.ScoreCard.load("~/card").summary == card.summary
    (tmp_path / "p.json").write_text(json.dumps(TEXTS))
    assert rexrank.validate("~/p.json", TEXTS) == []
    assert rexrank.validate("~nobody-of-that-name/p.json", TEXTS)[0].code == "file_missing"
