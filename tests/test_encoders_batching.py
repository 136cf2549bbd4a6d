"""Batches: every item once, the longest first, within the budget, and halved where the memory runs out."""

import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.encoders.batching import budget_of, in_batches, is_out_of_memory

LENGTHS = st.lists(st.integers(0, 40), max_size=60)


class Machine:
    """Doubles numbers, as long as a batch with its padding has room in it; writes down what it is given."""

    def __init__(self, room: int = sys.maxsize) -> None:
        self.room = room
        self.batches: list[list[int]] = []

    def run(self, batch: list[int]) -> list[int]:
        if max(batch) * len(batch) > self.room:
            raise MemoryError
        self.batches.append(batch)
        return [2 * item for item in batch]


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 100))
def test_every_item_comes_once_from_batches_within_the_budget(lengths: list[int], budget: int) -> None:
    machine = Machine()
    made = list(in_batches(lengths, lengths, machine.run, budget))
    assert sorted(made) == [(position, 2 * length) for position, length in enumerate(lengths)]
    for batch in machine.batches:
        assert len(batch) == 1 or len(batch) * max(batch) <= budget
    flat = [item for batch in machine.batches for item in batch]
    assert flat == sorted(flat, reverse=True), "the longest first"


def test_a_batch_is_as_large_as_the_budget_allows() -> None:
    machine = Machine()
    list(in_batches([10] * 25, [10] * 25, machine.run, 100))
    assert list(map(len, machine.batches)) == [10, 10, 5]


def test_equal_lengths_keep_their_order() -> None:
    assert [position for position, _ in in_batches("abcd", [3, 7, 3, 7], list, 100)] == [1, 3, 0, 2]


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 100), st.integers(1, 400))
def test_out_of_memory_halves_batches_and_loses_only_what_is_too_large_alone(
    lengths: list[int], room: int, budget: int
) -> None:
    machine = Machine(room)
    made = dict(in_batches(lengths, lengths, machine.run, budget))
    expected = {at: 2 * length if length <= room else None for at, length in enumerate(lengths)}
    assert made == expected


def test_what_did_not_fit_is_not_tried_again() -> None:
    machine = Machine(room=100)
    tried: list[int] = []

    def run(batch: list[int]) -> list[int]:
        tried.append(len(batch))
        return machine.run(batch)

    list(in_batches([10] * 100, [10] * 100, run, 640))
    # 64 do not fit, nor do 32 and 16; from then on there are 8 in a batch.
    assert tried == [64, 32, 16, *[8] * 12, 4]


def test_other_errors_are_not_swallowed() -> None:
    def run(batch: list[int]) -> list[int]:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="mat1"):
        list(in_batches([1, 2], [1, 1], run, 10))


def test_a_result_too_few_is_a_fault() -> None:
    def run(batch: list[int]) -> Sequence[int]:
        return batch[1:]

    with pytest.raises(ValueError, match="shorter"):
        list(in_batches([1, 2], [1, 1], run, 10))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB"), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"), True),
        (
            RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory"),
            True,
        ),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("CUDA error: device-side assert triggered"), False),
        (ValueError("wrong"), False),
    ],
)
def test_what_counts_as_out_of_memory(error: Exception, expected: bool) -> None:
    assert is_out_of_memory(error) is expected


def test_budgets() -> None:
    assert budget_of("cpu") < budget_of("mps") < budget_of("cuda") == budget_of("cuda:1")
    assert budget_of("xla") == budget_of("cpu")


_STARVED = """
import resource
import torch
from rexrank.encoders.batching import in_batches

torch.set_num_threads(1)
torch.ones(8) @ torch.ones(8)
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + (400 << 20), resource.RLIM_INFINITY))
tried = []

def run(batch):
    tried.append(len(batch))
    return [float(one) for one in torch.ones(len(batch), sum(batch) // len(batch), 1 << 20).sum(dim=(1, 2))]

# 4 MiB of numbers each: 128 of them do not fit into 400 MiB, and 64 do. The last alone does not.
made = dict(in_batches([1] * 200 + [500], [1] * 200 + [500], run, 128))
assert made.pop(200) is None, made
assert made == dict.fromkeys(range(200), float(1 << 20))
print(*tried)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are those of Linux")
def test_a_processor_without_memory() -> None:
    done = subprocess.run([sys.executable, "-c", _STARVED], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "128", "64", "64", "64", "8"]
