"""Batches of similar length, within a budget of tokens, halved where memory runs out."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")

# Tokens of a batch, padding included. More gain nothing on a processor, whose caches they leave.
_BUDGETS = {"cpu": 2048, "cuda": 65536, "mps": 8192}


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
        size = max(1, budget // max(1, lengths[order[start]]))
        batch = order[start : start + size]
        try:
            made = run([items[position] for position in batch])
        except (RuntimeError, MemoryError) as error:
            if not _is_out_of_memory(error):
                raise
            made = None
        if made is None and len(batch) > 1:
            _free_memory()
            budget = max(1, len(batch) // 2 * lengths[order[start]])
            continue
        yield from zip(batch, [None] if made is None else made, strict=True)
        start += len(batch)


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether a device or this machine has no memory left; torch says so of the processor's in words alone."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in words or "can't allocate memory" in words


def _free_memory() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
