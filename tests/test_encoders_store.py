"""The store of features: what was put comes back to the bit, nothing else ever does, and it stays within its limit."""

import contextlib
import logging
import os
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from store_program import SHELF, are_equal, fill, is_right, record_of, text_of

from rexrank.encoders.encoder import EncoderFailure
from rexrank.encoders.packing import Damaged, pack, unpack
from rexrank.encoders.store import DEFAULT_LIMIT_BYTES, Store, default_folder, limit_from_environment, open_store
from rexrank.errors import WrongSetting

DAMAGES = 25


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a store may lie."""
    return tmp_path / "features"


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """A folder in memory where there is such a place: many stores in it cost no waiting for a disk."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as made:
        yield Path(made)


def database_in(folder: Path) -> Path:
    """The newest file of a store."""
    return max(folder.glob("*.sqlite3"), key=lambda path: int(path.stem.rsplit("-", 1)[1]))


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[sqlite3.Connection]:
    """A store's file as SQLite shows it."""
    connection = sqlite3.connect(database_in(folder), isolation_level=None, timeout=1)
    try:
        yield connection
    finally:
        connection.close()


def size_of(folder: Path) -> int:
    """Bytes of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def age(folder: Path, seconds: int, count: int = 10**6) -> None:
    """Make the first records older than they are, and each a second younger than the one before."""
    with opened(folder) as connection:
        connection.execute(f"UPDATE entries SET used_at = used_at + payload - {seconds} WHERE payload <= {count}")


def filled(folder: Path, count: int) -> list[str]:
    """Texts whose records are in a new store."""
    with Store(folder) as store:
        fill(store, range(count))
    return [text_of(number) for number in range(count)]


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3)])
def test_arrays_of_all_plain_types_and_shapes_come_back(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    back = unpack(pack({"a": array}))["a"]
    assert (back.dtype, back.shape) == (array.dtype, shape)
    assert np.array_equal(back, array)
    assert back.flags.writeable
    assert back.flags.aligned


def test_byte_order_and_memory_layout_do_not_matter() -> None:
    array = np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3))
    back = unpack(pack({"a": array, "b": array[:, ::2]}))
    assert back["a"].dtype == np.dtype("<i4")
    assert back["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert back["b"].tolist() == [[0, 2], [3, 5]]


@pytest.mark.parametrize("array", [np.array(["words"]), np.array([object()]), np.array([1j]), np.array(["2020"], "M8")])
def test_other_things_than_numbers_are_no_record(array: Any) -> None:
    with pytest.raises(TypeError, match='"a" is an array of'):
        pack({"a": array})


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"nothing",
        b"{}x",
        b"5",
        b'[["a"]]',
        b'[["a","|O",[1]]]',
        b'[["a","<f4",[-1]]]',
        b'[["a","<f4",[1.5]]]',
        b'[["a","<f4",[true]]]',
        b'[["a","<f4",["1"]]]',
        b'[[1,"<f4",[1]]]',
        b'[["a",["<f4"],[1]]]',
        b'[["a","<f4",[3]]]',
        b'[["a","<f4",[1000000000000,1000000000000]]]',
        b'[["a","<f4",' + b"[1]," * 3000 + b"[1]]]",
        b"[" * 100_000,
    ],
)
def test_bytes_that_are_no_record_are_told(header: bytes) -> None:
    with pytest.raises(Damaged):
        unpack(len(header).to_bytes(4, "little") + header + b"1234")


def test_a_record_comes_back_in_another_process_of_the_same_folder(folder: Path) -> None:
    texts = ["", " ", "Kein Erguß.", "A\ud800B", "x" * 100_000, text_of(1)]
    with Store(folder) as store:
        assert store.missing(SHELF, texts) == list(range(len(texts)))
        assert store.get(SHELF, texts[0]) is None
        store.put(SHELF, ((text, record_of(text)) for text in texts))
        store.put(SHELF, [])
    with Store(folder) as store:
        assert store.missing(SHELF, [*texts, "new"]) == [len(texts)]
        assert store.missing("another shelf", texts) == list(range(len(texts)))
        assert store.get("another shelf", texts[0]) is None
        for text in texts:
            found = store.get(SHELF, text)
            assert found is not None
            assert are_equal(found, record_of(text))


def test_a_second_record_of_a_text_takes_the_place_of_the_first(folder: Path) -> None:
    with Store(folder) as store:
        for value in range(3):
            store.put(SHELF, [("text", {"a": np.full(100_000, value)})])
        found = store.get(SHELF, "text")
    assert found is not None
    assert found["a"][0] == 2
    with opened(folder) as connection:
        assert connection.execute("SELECT count(*) FROM payloads").fetchone() == (1,)


def test_what_was_made_before_a_failure_is_kept(folder: Path) -> None:
    def records() -> Iterator[tuple[str, Any]]:
        yield text_of(0), record_of(text_of(0))
        raise RuntimeError("the model broke")

    with Store(folder) as store, pytest.raises(RuntimeError, match="the model broke"):
        store.put(SHELF, records())
    with Store(folder) as store:
        assert is_right(store, 0)


def test_no_word_of_a_text_reaches_the_disk_and_nobody_else_may_look(folder: Path) -> None:
    filled(folder, 20)
    content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"zebrafish" not in content
    assert folder.stat().st_mode & 0o777 == 0o700
    assert database_in(folder).stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_the_groups_stays_the_groups(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o770)
    filled(folder, 1)
    assert database_in(folder).stat().st_mode & 0o777 == 0o660
    assert (folder / "runs").stat().st_mode & 0o777 == 0o770


def test_a_store_without_a_folder_is_gone_when_it_is_closed() -> None:
    store = Store(None)
    fill(store, range(3))
    assert is_right(store, 2)
    assert store.folder.stat().st_mode & 0o777 == 0o700
    store.close()
    assert not store.folder.exists()


def test_what_a_killed_run_left_in_the_temporary_folder_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Store(None) as alive, Store(None) as killed:
        left = shutil.copytree(killed.folder, tmp_path / "rexrank-features-left")
        for path in (left, alive.folder):
            os.utime(path, (time.time() - 3600,) * 2)
        Store(None).close()
        assert not left.exists()
        assert alive.folder.exists()
        assert killed.folder.exists()


def test_a_folder_that_cannot_be_written_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for wanted in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/rexrank")):
        with pytest.raises(OSError, match=r"^features cannot be kept in \S+ \([^)]+\); name a folder of yours"):
            Store(wanted)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_of_somebody_else_is_told_in_one_sentence(folder: Path) -> None:
    folder.mkdir(mode=0o500)
    with pytest.raises(OSError, match=r"\(Permission denied\)"):
        Store(folder)


def test_a_run_goes_on_without_a_folder_that_can_be_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    with open_store(tmp_path / "file", 10**9) as store:
        assert store.folder != tmp_path / "file"
        fill(store, range(3))
        assert is_right(store, 2)
    assert "name a folder of yours (--cache-dir, REXRANK_CACHE)" in caplog.text
    monkeypatch.setenv("REXRANK_CACHE", str(tmp_path / "default"))
    with open_store(None, 10**9) as store:
        assert store.folder == tmp_path / "default"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    with pytest.raises(EncoderFailure, match="features cannot be kept in"):
        open_store(tmp_path / "file", 10**9)


def test_the_limit_holds_on_disk_and_the_newest_stay(folder: Path) -> None:
    filled(folder, 200)
    age(folder, 7200)
    before = size_of(folder)
    limit = before // 3
    Store(folder, limit_bytes=limit).close()
    assert limit // 2 < size_of(folder) <= limit
    with Store(folder) as store:
        kept = [number for number in range(200) if is_right(store, number)]
    assert kept == list(range(kept[0], 200))
    assert 40 < len(kept) < 80


def test_what_is_used_again_stays_longest(folder: Path) -> None:
    texts = filled(folder, 100)
    age(folder, 7200)
    limit = size_of(folder) // 2
    with Store(folder, limit_bytes=limit) as store:
        assert store.missing(SHELF, texts[:20]) == []
    with Store(folder) as store:
        kept = [number for number in range(100) if is_right(store, number)]
    assert kept[:20] == list(range(20))
    assert kept[20:] == list(range(kept[20], 100))
    assert len(kept) < 60


def test_reading_writes_nothing(folder: Path) -> None:
    texts = filled(folder, 50)
    before = database_in(folder).read_bytes()
    with Store(folder) as store:
        assert store.missing(SHELF, texts) == []
        assert all(is_right(store, number) for number in range(50))
        assert [path.stat().st_size for path in folder.glob("*-wal")] == [0]
    assert database_in(folder).read_bytes() == before


def test_the_records_of_a_run_that_goes_on_stay_and_go_when_it_has_ended(folder: Path) -> None:
    texts = filled(folder, 100)
    age(folder, 7200)
    limit = size_of(folder) // 4
    with Store(folder) as going_on:
        assert going_on.missing(SHELF, texts[:60]) == []
        Store(folder, limit_bytes=limit).close()
        assert all(is_right(going_on, number) for number in range(60))
        assert not any(is_right(going_on, number) for number in range(60, 100))
    Store(folder, limit_bytes=limit).close()
    assert size_of(folder) <= limit


def test_a_run_makes_room_for_what_it_makes(folder: Path) -> None:
    filled(folder, 200)
    age(folder, 7200)
    limit = size_of(folder) // 2
    with Store(folder, limit_bytes=limit) as store:
        fill(store, range(200, 230))
        assert not any(is_right(store, number) for number in range(80))
        assert all(is_right(store, number) for number in range(200, 230))
    assert size_of(folder) <= limit


def test_a_run_keeps_all_that_it_makes_even_beyond_the_limit(folder: Path) -> None:
    with Store(folder, limit_bytes=1) as store:
        fill(store, range(100))
        assert all(is_right(store, number) for number in range(100))
    assert size_of(folder) < 200_000


def test_a_time_that_has_not_come_is_no_reason_to_stay(folder: Path) -> None:
    filled(folder, 100)
    age(folder, -(10**9), count=90)
    limit = size_of(folder) // 4
    Store(folder, limit_bytes=limit).close()
    with Store(folder) as store:
        assert all(is_right(store, number) for number in range(90, 100))


def damage(path: Path, generator: random.Random) -> None:
    """Change some bytes, or cut the file off, or put zeros or another place's content in a part of it."""
    content = bytearray(path.read_bytes())
    kind = generator.randrange(5)
    if kind == 0:
        for _ in range(generator.choice([1, 10, 1000])):
            content[generator.randrange(len(content))] ^= generator.randrange(1, 256)
    elif kind == 1:
        del content[generator.randrange(len(content)) :]
    else:
        size = generator.choice([16, 4096, 16384, 100_000])
        start, other = (generator.randrange(1 + len(content) // 4096) * 4096 for _ in range(2))
        content[start : start + size] = bytes(size) if kind == 2 else content[other : other + size]
    path.write_bytes(content)


@pytest.mark.parametrize("journal", [False, True], ids=["file", "journal"])
def test_damage_anywhere_never_gives_a_wrong_record(quick_folder: Path, journal: bool) -> None:
    whole = quick_folder / "whole"
    with Store(whole) as store:
        fill(store, range(16))
        if not journal:
            store.close()
        shutil.copytree(whole, quick_folder / "copy")
    generator = random.Random(4)
    lost = 0
    for attempt in range(DAMAGES):
        broken = shutil.copytree(quick_folder / "copy", quick_folder / str(attempt))
        for path in broken.glob("*.sqlite3-wal" if journal else "*.sqlite3"):
            damage(path, generator)
        with Store(broken) as store:
            missing = store.missing(SHELF, [text_of(number) for number in range(16)])
            wrong = [number for number in range(16) if not is_right(store, number)]
            lost += bool(wrong)
            assert set(missing) <= set(wrong)
            # Damage of the file itself may be found as late as now, and takes along what was right before.
            for _ in range(4):
                fill(store, wrong)
                wrong = [number for number in range(16) if not is_right(store, number)]
            assert not wrong
        with Store(broken, limit_bytes=400_000) as store:
            fill(store, range(16, 22))
            assert all(is_right(store, number) for number in range(16, 22))
        shutil.rmtree(broken)
    assert lost > DAMAGES // 4


def test_a_damaged_record_is_told_once_and_made_anew(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    texts = filled(folder, 10)
    with opened(folder) as connection:
        connection.execute("UPDATE payloads SET bytes = zeroblob(length(bytes)) WHERE id IN (1, 2)")
        connection.execute("UPDATE entries SET payload = 4 WHERE payload = 3")
        connection.execute("UPDATE entries SET payload = 400 WHERE payload = 5")
        connection.execute("UPDATE entries SET used_at = 'never' WHERE payload = 6")
        connection.execute("UPDATE entries SET checksum = 17 WHERE payload = 7")
    with Store(folder) as store, caplog.at_level(logging.WARNING):
        assert store.missing(SHELF, texts) == []
        assert [number for number in range(10) if not is_right(store, number)] == [0, 1, 2, 3, 4, 6]
        # The fourth went with the third, which named its content.
        assert store.missing(SHELF, texts) == [0, 1, 2, 3, 4, 6]
    assert len(caplog.records) == 1
    assert "a record of" in caplog.text
    assert "zebrafish" not in caplog.text


def test_a_file_of_many_damaged_records_is_replaced(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    filled(folder, 40)
    with opened(folder) as connection:
        connection.execute("UPDATE payloads SET bytes = zeroblob(length(bytes)) WHERE id < 20")
    with Store(folder) as store:
        assert not any(is_right(store, number) for number in range(40))
        fill(store, range(40))
        assert all(is_right(store, number) for number in range(40))
    assert len(caplog.records) == 2
    assert "starts anew" in caplog.text
    assert [path.name for path in folder.glob("*.sqlite3")] == ["features-v1-2.sqlite3"]


@pytest.mark.parametrize("kind", ["garbage", "zeros", "another program", "newer", "a missing column"])
def test_a_file_that_is_not_ours_is_replaced(folder: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    filled(folder, 10)
    path = database_in(folder)
    if kind in ("garbage", "zeros"):
        path.write_bytes(bytes(50_000) if kind == "zeros" else random.Random(1).randbytes(50_000))
    else:
        with opened(folder) as connection:
            if kind == "newer":
                connection.execute("PRAGMA user_version = 99")
            elif kind == "a missing column":
                connection.execute("ALTER TABLE entries DROP COLUMN size")
            else:
                connection.executescript("DROP TABLE payloads; CREATE TABLE payloads (a, b)")
    with Store(folder) as store:
        fill(store, range(5))
        assert is_right(store, 4)
        assert not is_right(store, 7)
    assert not path.exists()
    assert "was damaged; it starts anew" in caplog.text
    with Store(folder) as store:
        assert is_right(store, 4)


def test_an_empty_file_is_taken(folder: Path) -> None:
    folder.mkdir()
    (folder / "features-v1-1.sqlite3").touch()
    filled(folder, 1)
    assert [path.name for path in folder.glob("*.sqlite3")] == ["features-v1-1.sqlite3"]


def test_who_has_a_file_open_that_another_replaces_goes_on_in_the_new_one(folder: Path) -> None:
    with Store(folder) as one:
        fill(one, range(5))
        damaged = database_in(folder)
        with Store(folder) as other:
            with opened(folder) as connection:
                connection.execute("DROP TABLE payloads")
            assert not is_right(other, 0)
            fill(other, range(5, 10))
            assert not is_right(one, 0)
            assert is_right(one, 7)
            fill(one, range(5))
            assert all(is_right(other, number) for number in range(10))
    assert not damaged.exists()
    assert len(list(folder.glob("features-*"))) == 1


def test_a_folder_that_vanishes_during_a_run_costs_nothing_but_its_records(folder: Path) -> None:
    with Store(folder) as store:
        fill(store, range(5))
        shutil.rmtree(folder)
        assert not is_right(store, 0)
        fill(store, range(5))
        assert all(is_right(store, number) for number in range(5))
        assert store.missing(SHELF, [text_of(number) for number in range(6)]) == [5]


def test_who_waits_for_others_waits_no_longer_than_said(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    texts = filled(folder, 20)
    with opened(folder) as holder, Store(folder, patience_seconds=0.3) as store:
        holder.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        fill(store, range(20, 30))
        fill(store, range(30, 40))
        assert all(is_right(store, number) for number in range(40))
        assert store.missing(SHELF, [*texts, *map(text_of, range(20, 41))]) == [40]
        assert time.monotonic() - started < 3
        holder.execute("ROLLBACK")
    assert len(caplog.records) == 1
    assert "features are not kept in" in caplog.text
    assert "other processes hold it" in caplog.text


def test_reading_waits_no_longer_than_said(folder: Path) -> None:
    texts = filled(folder, 20)
    with opened(folder) as holder:
        assert holder.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
        holder.execute("BEGIN EXCLUSIVE")
        started = time.monotonic()
        with Store(folder, patience_seconds=0.3) as store:
            assert store.missing(SHELF, texts) == list(range(20))
            assert not any(is_right(store, number) for number in range(20))
            fill(store, range(20))
            assert all(is_right(store, number) for number in range(20))
            assert time.monotonic() - started < 5
            holder.execute("ROLLBACK")
    with Store(folder) as store:
        assert all(is_right(store, number) for number in range(20))


def test_the_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("REXRANK_CACHE", "REXRANK_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "rexrank" / "features"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert default_folder() == tmp_path / "caches" / "rexrank" / "features"
    monkeypatch.setenv("REXRANK_HOME", str(tmp_path / "home"))
    assert default_folder() == tmp_path / "home" / "features"
    monkeypatch.setenv("REXRANK_CACHE", "~/mine")
    assert default_folder() == tmp_path / "mine"


def test_the_limit_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REXRANK_CACHE_LIMIT_GB", raising=False)
    assert limit_from_environment() == DEFAULT_LIMIT_BYTES
    monkeypatch.setenv("REXRANK_CACHE_LIMIT_GB", "0.5")
    assert limit_from_environment() == 2**29
    for nonsense in ("0", "-1", "much", "nan", "inf"):
        monkeypatch.setenv("REXRANK_CACHE_LIMIT_GB", nonsense)
        with pytest.raises(WrongSetting, match="REXRANK_CACHE_LIMIT_GB is"):
            limit_from_environment()
