"""Records in memory before the store: what stays, what goes to disk, what goes first."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rexrank.encoders.packing import text_key
from rexrank.encoders.recent import Recent
from rexrank.encoders.store import Store


def record(number: int, size: int = 4) -> dict[str, Any]:
    return {"vector": np.full(size, number, dtype=np.float32)}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store") as opened:
        yield opened


def test_all_stays_in_memory_and_lasting_texts_go_to_disk(store: Store) -> None:
    recent = Recent(store)
    recent.begin(["lasting"])
    recent.put("shelf", [("passing", record(1)), ("lasting", record(2))])
    assert recent.missing("shelf", ["passing", "lasting", "other"]) == [2]
    assert store.missing("shelf", ["passing", "lasting"]) == [0]
    for text, number in (("passing", 1), ("lasting", 2)):
        found = recent.get("shelf", text)
        assert found is not None
        assert found["vector"].tolist() == [number] * 4
    assert recent.get("shelf", "other") is None
    assert recent.missing("another shelf", ["passing"]) == [0]


def test_what_is_on_disk_is_read_once(store: Store) -> None:
    store.put("shelf", [("old", record(7))])
    recent = Recent(store)
    assert recent.missing("shelf", ["new", "old"]) == [0]
    recent.get("shelf", "old")
    store._remove("shelf", text_key("old"))
    assert store.get("shelf", "old") is None
    found = recent.get("shelf", "old")
    assert found is not None
    assert found["vector"].tolist() == [7] * 4


def test_without_a_store_memory_is_all() -> None:
    recent = Recent(None)
    recent.begin(["a"])
    recent.put("shelf", [("a", record(1)), ("b", record(2))])
    assert recent.missing("shelf", ["a", "b", "c"]) == [2]
    recent.close()
    assert recent.missing("shelf", ["a", "b"]) == [0, 1]


def test_what_was_not_used_for_longest_goes_first_and_only_when_asked() -> None:
    recent = Recent(None, limit_bytes=3 * 16)
    recent.put("shelf", [(name, record(1)) for name in "abcde"])
    assert recent.missing("shelf", list("abcde")) == []
    recent.get("shelf", "a")
    recent.trim()
    assert recent.missing("shelf", list("abcde")) == [1, 2]
    recent.put("shelf", [("a", record(9))])
    recent.trim()
    assert recent.missing("shelf", list("ade")) == [], "a record that is put twice counts once"


def test_a_record_does_not_hold_its_batch() -> None:
    batch = np.zeros((1000, 8), dtype=np.float32)
    recent = Recent(None)
    recent.put("shelf", [("a", {"vector": batch[3]})])
    found = recent.get("shelf", "a")
    assert found is not None
    assert found["vector"].base is None
