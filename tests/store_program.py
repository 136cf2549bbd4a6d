"""Records that tests can tell right from wrong, and a process that writes or reads them.

``python store_program.py write FOLDER FIRST COUNT`` writes until it is killed or through, and names what is kept.
``… read FOLDER FIRST COUNT`` reads again and again until its input ends; a wrong record is a failure.
``… full FOLDER COUNT BYTES`` writes and reads where no file may grow beyond a size.
``… stream FOLDER COUNT`` writes large records and tells by how many MiB the memory grew.
"""

import functools
import hashlib
import json
import resource
import select
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rexrank.encoders.store import Store

SHELF = "tests/1/0123456789abcdef"


def text_of(number: int) -> str:
    """An invented report."""
    return f"Chest film {number}: the lungs are clear, no zebrafish effusion."


@functools.lru_cache(maxsize=400)
def record_of(text: str) -> dict[str, NDArray[Any]]:
    """A record that belongs to this text alone, of 3 KB to 60 KB."""
    seed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    generator = np.random.default_rng(list(seed))
    return {
        "vectors": generator.standard_normal((1 + seed[0] % 20, 768), dtype=np.float32),
        "labels": generator.integers(0, 4, 14).astype(np.int8),
        "n_truncated": np.array(seed[1]),
    }


def are_equal(one: Mapping[str, NDArray[Any]], other: Mapping[str, NDArray[Any]]) -> bool:
    """Whether two records are the same to the bit."""
    return list(one) == list(other) and all(
        one[name].dtype == other[name].dtype and np.array_equal(one[name], other[name]) for name in one
    )


def fill(store: Store, numbers: Iterable[int]) -> None:
    """Keep the records of texts."""
    store.put(SHELF, ((text_of(number), record_of(text_of(number))) for number in numbers))


def is_right(store: Store, number: int) -> bool:
    """Whether the record of a text is there; one that is there has to be the right one."""
    found = store.get(SHELF, text_of(number))
    if found is None:
        return False
    assert are_equal(found, record_of(text_of(number))), "a wrong record"
    return True


def _write(folder: str, first: str, count: str) -> None:
    with Store(folder) as store:
        for number in range(int(first), int(first) + int(count)):
            fill(store, [number])
            print(number, flush=True)


def _read(folder: str, first: str, count: str) -> None:
    seen = 0
    with Store(folder) as store:
        while not select.select([sys.stdin], [], [], 0)[0]:
            seen += sum(is_right(store, number) for number in range(int(first), int(first) + int(count)))
    print(seen)


def _full(folder: str, count: str, size: str) -> None:
    with Store(folder) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
        fill(store, range(int(count)))
        missing = store.missing(SHELF, [text_of(number) for number in range(int(count))])
        print(json.dumps([len(missing), sum(is_right(store, number) for number in range(int(count)))]))


def _stream(folder: str, count: str) -> None:
    vectors = np.random.default_rng(0).standard_normal((66, 768), dtype=np.float32)

    def records() -> Iterator[tuple[str, dict[str, NDArray[Any]]]]:
        for number in range(int(count)):
            yield text_of(number), {"vectors": vectors + np.float32(number)}

    with Store(folder) as store:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        store.put(SHELF, records())
        print(json.dumps((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024))


if __name__ == "__main__":
    warnings.simplefilter("error")
    sys.path.insert(0, str(Path(__file__).parent))
    {"write": _write, "read": _read, "full": _full, "stream": _stream}[sys.argv[1]](*sys.argv[2:])
