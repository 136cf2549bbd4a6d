"""Sentences and entities that other reports share are read by their models once, also by later runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rexrank.encoders import find
from rexrank.encoders.encoder import Model, Record
from rexrank.encoders.parts import Output, Parts
from rexrank.encoders.sharding import encode_here
from rexrank.encoders.store import Store
from rexrank.encoders.weights import Weights
from rexrank.verification.reports import REPORTS

torch = pytest.importorskip("torch")

TEXTS = list(dict.fromkeys(text for text in REPORTS if text.strip()))[:40]
FEATURES = ("ratescore_entities", "srrbert_labels")
SHELF = "shelf"


def load(feature: str, folder: Path) -> Model:
    encoder = find(feature, {})
    assert encoder is not None
    return encoder.load(encoder.locate(Weights(folder, download=False)), "cpu")


def rows_read(model: Model, texts: Sequence[str], store: Store, monkeypatch: pytest.MonkeyPatch) -> int:
    """Rows that the transformers of a model read for texts."""
    from transformers import PreTrainedModel

    count = 0
    plain = torch.nn.Module.__call__

    def counting(module: Any, *given: Any, **named: Any) -> Any:
        nonlocal count
        if isinstance(module, PreTrainedModel) and module.base_model is module:
            count += len(given[0] if given else named["input_ids"])
        return plain(module, *given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(torch.nn.Module, "__call__", counting)
        assert encode_here(model, texts, store, SHELF, lambda more: None) == []
    return count


def records(store: Store, texts: Sequence[str]) -> list[Record]:
    found = [store.get(SHELF, text) for text in texts]
    assert all(found)
    return [record for record in found if record is not None]


@pytest.mark.parametrize("feature", FEATURES)
def test_a_later_run_reads_new_sentences_alone(
    feature: str, seeded_weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    longer = [f"{text.rstrip('.')}. {TEXTS[0]}" for text in TEXTS]
    with Store(tmp_path / "alone") as store:
        alone = rows_read(load(feature, seeded_weights), longer, store, monkeypatch)
        expected = records(store, longer)
    with Store(tmp_path / "kept") as store:
        assert rows_read(load(feature, seeded_weights), TEXTS, store, monkeypatch) > len(TEXTS)
    with Store(tmp_path / "kept") as store:
        assert rows_read(load(feature, seeded_weights), longer, store, monkeypatch) < alone / 5
        for one, other in zip(records(store, longer), expected, strict=True):
            assert one.keys() == other.keys()
            for name in one:
                np.testing.assert_allclose(one[name], other[name], atol=1e-5)


@pytest.mark.parametrize("feature", FEATURES)
def test_what_is_kept_holds_no_word(feature: str, seeded_weights: Path, tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        encode_here(load(feature, seeded_weights), ["Pneumothorax xylophone."], store, SHELF, lambda more: None)
    content = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()).lower()
    assert b"xylophone" not in content


class Doubling:
    """Makes twice the ids of a row, and remembers which rows it was asked for; a row of one id is too much for it."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def __call__(self, rows: list[list[int]]) -> Iterator[tuple[int, Output | None]]:
        self.asked += rows
        for number in reversed(range(len(rows))):
            yield number, None if len(rows[number]) == 1 else np.array(rows[number]) * 2


def test_outputs_come_once_each_and_what_failed_is_tried_again(tmp_path: Path) -> None:
    rows = [[1, 2], [3], [4, 5, 6], [12], [1, 2]]
    with Store(tmp_path) as store:
        for asked in (rows, [[3], [12]]):
            run, parts = Doubling(), Parts("part")
            parts.keep_in(store, SHELF)
            found = dict(parts.outputs(rows, run))
            assert sorted(found) == list(range(len(rows)))
            assert [None if one is None else one.tolist() for one in found.values() if one is None] == [None, None]
            assert all(one is None or one.tolist() == [2 * i for i in rows[at]] for at, one in found.items())
            assert sorted(run.asked) == sorted(asked)


def test_ids_are_told_apart_and_so_are_models(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for name, shelf, rows in (
            ("a", "s", [[1, 23]]),
            ("a", "s", [[12, 3]]),
            ("b", "s", [[1, 23]]),
            ("a", "t", [[1, 23]]),
        ):
            run, parts = Doubling(), Parts(name)
            parts.keep_in(store, shelf)
            list(parts.outputs(rows, run))
            assert run.asked == rows


def test_without_a_place_all_is_made_anew() -> None:
    run, parts = Doubling(), Parts("part")
    for _ in range(2):
        assert len(list(parts.outputs([[1, 2]], run))) == 1
    assert run.asked == [[1, 2], [1, 2]]


def test_a_damaged_output_is_made_anew(tmp_path: Path) -> None:
    class Forgetting(Store):
        def get(self, shelf: str, text: str) -> Record | None:
            return None

    with Forgetting(tmp_path) as store:
        for _ in range(2):
            run, parts = Doubling(), Parts("part")
            parts.keep_in(store, SHELF)
            assert [one.tolist() for _, one in parts.outputs([[1, 2]], run) if one is not None] == [[2, 4]]
            assert run.asked == [[1, 2]]
