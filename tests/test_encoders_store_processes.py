"""The store under several processes, kill -9 and a full disk: what is read is right, and what is kept stays."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from store_program import SHELF, Store, fill, is_right, text_of

PROGRAM = Path(__file__).with_name("store_program.py")
KILLS = 5


def start(*arguments: object) -> "subprocess.Popen[str]":
    """The program in a process of its own."""
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def told(process: "subprocess.Popen[str]") -> list[int]:
    """Numbers that a process printed, which must have ended well."""
    output, _ = process.communicate("", timeout=120)
    assert process.returncode == 0
    return [int(line) for line in output.split()]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where a store may lie."""
    yield tmp_path / "features"
    shutil.rmtree(tmp_path / "features", ignore_errors=True)


def test_several_write_and_read_at_once(folder: Path) -> None:
    # Two of the writers keep the same texts.
    writers = [start("write", folder, first, 40) for first in (0, 0, 40, 80)]
    readers = [start("read", folder, 0, 120) for _ in range(2)]
    assert sorted(number for writer in writers for number in told(writer)) == sorted([*range(120), *range(40)])
    assert all(told(reader)[-1] > 0 for reader in readers)
    with Store(folder) as store:
        assert store.missing(SHELF, [text_of(number) for number in range(120)]) == []
        assert all(is_right(store, number) for number in range(120))
    assert len(list(folder.glob("*.sqlite3"))) == 1


def test_what_was_kept_outlives_kill_9_at_any_moment(folder: Path) -> None:
    generator = random.Random(7)
    kept: set[int] = set()
    reader = start("read", folder, 0, 50)
    for attempt in range(KILLS):
        writers = [start("write", folder, first, 10**6) for first in (1000 * attempt, 1000 * attempt + 500)]
        for writer in writers:
            assert writer.stdout is not None
            kept.add(int(writer.stdout.readline()))
        time.sleep(generator.uniform(0, 0.1))
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            output, _ = writer.communicate(timeout=30)
            # The last line may be cut off by the kill.
            kept.update(int(line) for line in output.split("\n")[:-1])
        with Store(folder) as store:
            assert all(is_right(store, number) for number in kept if number >= 1000 * attempt)
    assert len(kept) > 4 * KILLS
    with Store(folder) as store:
        assert all(is_right(store, number) for number in kept)
    assert [path.name for path in folder.glob("*.sqlite3")] == ["features-v1-1.sqlite3"]
    assert told(reader)[-1] > 0
    # A killed run holds nothing back.
    Store(folder, limit_bytes=200_000).close()
    assert sum(path.stat().st_size for path in folder.glob("*")) <= 300_000


def test_a_full_disk_does_not_end_a_run(folder: Path) -> None:
    process = start("full", folder, 200, 1_500_000)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(output) == [0, 200]
    with Store(folder) as store:
        assert len(store.missing(SHELF, [text_of(number) for number in range(200)])) > 100
        fill(store, range(200))
        assert all(is_right(store, number) for number in range(200))


def test_few_records_are_in_memory_however_many_are_put(folder: Path) -> None:
    # 300 MB; a batch of 64 MiB is in memory as records, and once more while it is written.
    process = start("stream", folder, 1500)
    assert told(process)[0] < 200


def test_a_killed_run_is_no_run_that_goes_on(folder: Path) -> None:
    writer = start("write", folder, 0, 10**6)
    assert writer.stdout is not None
    writer.stdout.readline()
    assert len(list((folder / "runs").iterdir())) == 1
    writer.kill()
    writer.communicate(timeout=30)
    Store(folder).close()
    Store(folder, limit_bytes=1).close()
    assert list((folder / "runs").iterdir()) == []
