"""Batches of similar length, within a budget of tokens, halved where memory runs out."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")

# Tokens of a batch, padding included. On a processor more cost time: they leave its caches and bring more padding
# (BERT's width, reports of 50 tokens: 2048 take 15 % more than 1024, and with several threads 512 do).
_BUDGETS = {"cpu": 1024, "cuda": 65536, "mps": 8192}
# A batch that holds so many tokens takes no item that is shorter than this part of its longest.
_ENOUGH_TOKENS, _SHORTEST = 256, 0.9
# Of CUDA and MPS, of torch on a processor, and of the libraries for matrices on CUDA.
_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "not enough memory", "status_alloc_failed")


def budget_of(device: str) -> int:
    """Tokens that one batch may hold on a torch device."""
    return _BUDGETS.get(device.partition(":")[0], _BUDGETS["cpu"])


def in_batches(
    items: Sequence[Item],
    lengths: Sequence[int],
    run: Callable[[list[Item]], Sequence[Made]],
    budget: int,
) -> Iterator[tuple[int, Made | None]]:
    """Run items in batches, the longest first.

    Args:
        items: What `run` takes.
        lengths: Tokens of each item; those of a batch are padded to its longest.
        run: Takes a batch, gives one result an item in the same order.
        budget: Tokens that a batch may hold, padding included; a longer item is a batch of its own.

    Yields:
        Position and result of every item; None where the memory does not suffice for the item alone.
    """
    order = sorted(range(len(items)), key=lambda position: lengths[position], reverse=True)
    start = 0
    while start < len(order):
        longest = max(1, lengths[order[start]])
        batch = _alike(order[start : start + max(1, budget // longest)], lengths)
        made = _made(run, [items[position] for position in batch])
        if made is None:
            _free_memory()
        if made is None and len(batch) > 1:
            # Shorter items that follow may fill as many tokens as have a chance now, and no more.
            budget = len(batch) // 2 * longest
            continue
        yield from zip(batch, [None] if made is None else made, strict=True)
        start += len(batch)


def _alike(batch: list[int], lengths: Sequence[int]) -> list[int]:
    """Those of a batch, the longest first, for whose sake not much has to be padded."""
    longest = lengths[batch[0]]
    return [
        position
        for number, position in enumerate(batch)
        if number * longest < _ENOUGH_TOKENS or lengths[position] >= _SHORTEST * longest
    ]


def _made(run: Callable[[list[Item]], Sequence[Made]], batch: list[Item]) -> Sequence[Made] | None:
    """What comes out of a batch; None where the memory does not suffice for it."""
    try:
        return run(batch)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    return None


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a device or this machine has no memory left; torch says so of the processor's in words alone."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or any(sign in words for sign in _OUT_OF_MEMORY)


def _free_memory() -> None:
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
