"""Encoding on several devices: every text once, whatever befalls the processes, and no text outside pipe and memory."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from waiting import until

from rexrank.encoders import find
from rexrank.encoders.encoder import Encoded, EncoderFailure, Model
from rexrank.encoders.sharding import encode, encode_here, loader
from rexrank.encoders.store import Store
from rexrank.encoders.weights import Weights
from rexrank.verification.reports import REPORTS

SHELF = "lengths/1/0123456789abcdef"
TEXTS = [f"{number} " + "small zebrafish effusion " * (number % 17) for number in range(300)]


class Lengths(Model):
    """Encodes a text as its length and its own process; some words tell it to fail, in any process but one."""

    def __init__(self, spared: int, device: str, notes: Path | None) -> None:
        self.spared = spared
        self.device = device
        self.notes = notes

    def encode(self, texts: Sequence[str]) -> Iterator[Encoded]:
        if self.notes is not None:
            (self.notes / str(os.getpid())).write_bytes(Path("/proc/self/cmdline").read_bytes() + str(texts).encode())
        for position in reversed(range(len(texts))):
            text = texts[position]
            if os.getpid() != self.spared:
                if "die" in text:
                    os.kill(os.getpid(), signal.SIGKILL)
                if "hang" in text:
                    time.sleep(600)
                if "break" in text:
                    raise ValueError(text)
            if "nothing" in text:
                yield position, None
            else:
                yield position, {"length": np.array(len(text)), "process": np.array(os.getpid())}


def load_lengths(spared: int, notes: Path | None, device: str) -> Model:
    """A model of this module, also in another process."""
    return Lengths(spared, device, notes)


def load_nothing(device: str) -> Model:
    """A model that cannot be loaded."""
    raise EncoderFailure("lengths/model.pt is not the published file")


def load_here_alone(spared: int, device: str) -> Model:
    """A model that ends any process but one."""
    if os.getpid() != spared:
        sys.exit(3)
    return Lengths(spared, device, None)


def loading(notes: Path | None = None) -> Callable[[str], Model]:
    """What loads a model that spares this process."""
    return partial(load_lengths, os.getpid(), notes)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store(tmp_path / "features", patience_seconds=1.0) as opened:
        yield opened


def processes(store: Store, texts: Sequence[str]) -> list[int]:
    """The process that encoded each text, whose record has to be right."""
    found = []
    for text in texts:
        record = store.get(SHELF, text)
        assert record is not None
        assert record["length"] == len(text)
        found.append(int(record["process"]))
    return found


def test_one_device_starts_no_process(store: Store) -> None:
    texts = [*TEXTS, "nothing", "nothing at all"]
    told: list[int] = []
    assert encode(loading(), texts, ["cpu"], store, SHELF, told.append) == [300, 301]
    assert sum(told) == len(texts)
    assert len(told) > 100
    assert set(processes(store, TEXTS)) == {os.getpid()}


def test_few_texts_start_no_process(store: Store) -> None:
    assert encode(loading(), TEXTS[:150], ["cpu", "cpu"], store, SHELF, lambda more: None) == []
    assert set(processes(store, TEXTS[:150])) == {os.getpid()}
    assert encode(loading(), [], ["cpu", "cpu"], store, SHELF, lambda more: None) == []


def test_several_devices_share_the_texts(store: Store, tmp_path: Path) -> None:
    texts = ["nothing", *TEXTS, "A\ud800B"]
    told: list[int] = []
    notes = tmp_path / "notes"
    notes.mkdir()
    assert encode(loading(notes), texts, ["cpu", "cpu"], store, SHELF, told.append) == [0]
    assert sum(told) == len(texts)
    by = processes(store, texts[1:])
    assert len(set(by)) == 2
    assert os.getpid() not in by
    lengths = [sum(len(text) for text, one in zip(TEXTS, by, strict=False) if one == process) for process in set(by)]
    assert abs(lengths[0] - lengths[1]) < 0.02 * sum(lengths)
    for note in notes.iterdir():
        command = note.read_bytes().split(b"[", 1)[0]
        assert b"rexrank.encoders.worker" in command
        assert b"zebrafish" not in command
    content = b"".join(path.read_bytes() for path in store.folder.rglob("*") if path.is_file())
    assert b"zebrafish" not in content


@pytest.mark.parametrize("word", ["die", "break"])
def test_what_a_process_leaves_is_done_here(store: Store, word: str, caplog: pytest.LogCaptureFixture) -> None:
    texts = [*TEXTS, f"{word} " * 200, "nothing"]
    told: list[int] = []
    assert encode(loading(), texts, ["cpu", "cpu"], store, SHELF, told.append) == [301]
    assert sum(told) == len(texts)
    by = processes(store, texts[:301])
    assert by[300] == os.getpid()
    assert 1 < len(set(by)) <= 3
    assert "is encoded in this one" in caplog.text
    assert ("signal 9" in caplog.text) == (word == "die")
    assert ("ValueError in the model" in caplog.text) == (word == "break")
    assert "zebrafish" not in caplog.text
    assert "break break" not in caplog.text


def test_a_process_that_hangs_is_ended(store: Store) -> None:
    started = time.monotonic()
    texts = [*TEXTS, "hang"]
    assert encode(loading(), texts, ["cpu", "cpu"], store, SHELF, lambda more: None, silence_seconds=4) == []
    assert processes(store, texts)[300] == os.getpid()
    assert time.monotonic() - started < 30


def test_processes_that_cannot_load_leave_all_to_this_one(store: Store) -> None:
    load = partial(load_here_alone, os.getpid())
    assert encode(load, TEXTS, ["cpu", "cpu"], store, SHELF, lambda more: None) == []
    assert set(processes(store, TEXTS)) == {os.getpid()}


def test_a_model_that_cannot_be_loaded_anywhere_is_told(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(EncoderFailure, match=r"lengths/model\.pt is not the published file"):
        encode(load_nothing, TEXTS, ["cpu", "cpu"], store, SHELF, lambda more: None)
    assert "encoding on cpu failed: lengths/model.pt" in caplog.text


def test_a_store_that_takes_nothing_costs_no_work(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    holder = sqlite3.connect(next(store.folder.glob("*.sqlite3")), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert encode(loading(), TEXTS, ["cpu", "cpu"], store, SHELF, lambda more: None) == []
    by = processes(store, TEXTS)
    assert len(set(by)) == 2
    assert os.getpid() not in by
    holder.close()
    assert "other processes hold it" in caplog.text


def test_a_model_that_stops_midway_leaves_what_it_made(store: Store) -> None:
    with pytest.raises(ValueError, match="break"):
        encode_here(Lengths(0, "cpu", None), ["break", *TEXTS[:10]], store, SHELF, lambda more: None)
    assert len(processes(store, TEXTS[:10])) == 10


def test_processes_end_with_their_parent(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; sys.path[:0] = [sys.argv[1]]; from test_encoders_sharding import *\n"
        "notes = pathlib.Path(sys.argv[2])\n"
        "with Store(notes / 'features') as store:\n"
        "    texts = [*TEXTS, *(f'hang {number}' for number in range(100))]\n"
        "    encode(loading(notes), texts, ['cpu', 'cpu'], store, SHELF, lambda more: None)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path)])
    until(lambda: len(list(tmp_path.glob("[0-9]*"))) == 2, seconds=120, process=parent)
    children = [Path("/proc") / note.name for note in tmp_path.glob("[0-9]*")]
    assert all(child.exists() for child in children)
    parent.kill()
    parent.wait()
    until(lambda: not any(child.exists() and _is_alive(child) for child in children), seconds=60)


def test_ctrl_c_is_the_parents_alone_from_the_first_moment(store: Store, tmp_path: Path) -> None:
    found: list[int] = []

    def look() -> None:
        while not found:
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    if b"rexrank.encoders.worker" not in (process / "cmdline").read_bytes():
                        continue
                    status = (process / "status").read_text()
                    if f"\nPPid:\t{os.getpid()}\n" in status:
                        found.append(_signals(status, "SigBlk") | _signals(status, "SigIgn"))

    looking = threading.Thread(target=look)
    looking.start()
    assert encode(loading(), TEXTS, ["cpu", "cpu"], store, SHELF, lambda more: None) == []
    looking.join(10)
    assert found[0] & 1 << (signal.SIGINT - 1)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def _signals(status: str, name: str) -> int:
    return int(status.split(f"\n{name}:\t", 1)[1].split("\n", 1)[0], 16)


def _is_alive(process: Path) -> bool:
    try:
        return "\nState:\tZ" not in (process / "status").read_text()
    except OSError:
        return False


@pytest.mark.slow
def test_processes_encode_as_this_one_does(seeded_weights: Path, tmp_path: Path) -> None:
    encoder = find("chexbert_labels", {})
    assert encoder is not None
    load = loader("chexbert_labels", {}, encoder.locate(Weights(seeded_weights, download=False)))
    texts = list(dict.fromkeys(REPORTS))[:60]
    with Store(tmp_path / "here") as here, Store(tmp_path / "there") as there:
        assert encode(load, texts, ["cpu"], here, SHELF, lambda more: None) == []
        assert encode(load, texts, ["cpu", "cpu"], there, SHELF, lambda more: None, least_texts=1) == []
        for text in texts:
            one, other = here.get(SHELF, text), there.get(SHELF, text)
            assert one is not None
            assert other is not None
            assert list(one) == list(other)
            for name in one:
                np.testing.assert_allclose(one[name], other[name], rtol=0, atol=1e-5)
