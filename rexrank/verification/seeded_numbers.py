"""Numbers of seeded checkpoints: the same on every machine and with every version of every library."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Tensor:
    """What a tensor of a checkpoint looks like.

    Attributes:
        shape: Its dimensions.
        spread: Standard deviation of its numbers, which are spread evenly around `centre`.
        centre: Their mean; one for each of the last dimension, where it is a tuple.
        mirrored: Whether each second column is the negative of the one before it. What comes out of inputs that are
            positive on average, as those behind a ReLU are, is then 0 on average.
    """

    shape: tuple[int, ...]
    spread: float
    centre: float | tuple[float, ...] = 0.0
    mirrored: bool = False


Layout = Mapping[str, Tensor]
"""Tensors of a checkpoint by name, in the order of the published file."""


def fill(checkpoint: str, layout: Layout) -> dict[str, Floats]:
    """Make the tensors of a checkpoint.

    Each is drawn from its own generator, seeded by the checkpoint's and the tensor's name: a tensor more or less
    changes no other.

    Args:
        checkpoint: Name of the checkpoint.
        layout: Its tensors.

    Returns:
        Float32 arrays by name, in the order of the layout.
    """
    return {name: _draw(f"{checkpoint}/{name}", tensor) for name, tensor in layout.items()}


def _draw(seed: str, tensor: Tensor) -> Floats:
    # NumPy promises the raw stream of a generator for good, but not what its distributions make of it.
    generator = np.random.PCG64(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:16], "little"))
    count = math.prod(tensor.shape)
    raw: NDArray[Any] = generator.random_raw((count + 1) // 2).astype("<u8", copy=False).view("<u4")[:count]
    # 24 bits are exact in float32, and so is every step from here on but the scaling and the shift.
    unit = (raw >> np.uint32(8)).astype(np.float32) * np.float32(2**-23) - np.float32(1)
    unit *= np.float32(tensor.spread * math.sqrt(3))
    drawn: Floats = unit.reshape(tensor.shape)
    drawn += np.array(tensor.centre, np.float32)
    if tensor.mirrored:
        drawn[:, 1::2] = -drawn[:, : drawn.shape[1] // 2 * 2 : 2]
    return drawn
