"""Which devices of this machine encoders run on."""

import os
import re
from types import ModuleType

from rexrank.errors import RexrankError, shown

_CUDA = re.compile(r"cuda(?::(0|[1-9]\d{0,3}))?")


class UnknownDevice(RexrankError, ValueError):
    """A device that does not exist here; one sentence for readers."""


def devices(asked: str | None = None) -> list[str]:
    """Torch devices to encode on.

    Args:
        asked: A device (``cpu``, ``mps``, ``cuda``, ``cuda:1``) or several, with commas between them; ``cuda`` is every
            one that ``CUDA_VISIBLE_DEVICES`` leaves. None for ``REXRANK_DEVICE``, and where that is not set for what
            is there: CUDA, else MPS, else the processor.

    Returns:
        At least one, each named as torch names it. A device may stand there twice where it was asked for twice.

    Raises:
        UnknownDevice: No such device, or not on this machine.
    """
    if asked is not None and not isinstance(asked, str):
        raise UnknownDevice(f"device: expected a name such as cpu or cuda:0, got {shown(asked)}")
    wanted = asked or os.environ.get("REXRANK_DEVICE")
    if wanted is None or not wanted.strip():
        return _what_is_there()
    return [device for name in wanted.split(",") for device in _devices(name.strip().lower())]


def _what_is_there() -> list[str]:
    torch = _torch()
    if torch is None:
        return ["cpu"]
    if count := _count(torch):
        return [f"cuda:{number}" for number in range(count)]
    return ["mps"] if torch.backends.mps.is_available() else ["cpu"]


def _devices(name: str) -> list[str]:
    """The devices of one name."""
    if name == "cpu":
        return ["cpu"]
    match = _CUDA.fullmatch(name)
    if match is None and name != "mps":
        raise UnknownDevice(f"device {shown(name)} is unknown; known are cpu, mps, cuda and cuda:0, cuda:1 …")
    torch = _torch()
    if torch is None:
        raise UnknownDevice(f'device "{name}" needs torch, which is not installed: pip install "rexrank[metrics]"')
    if match is None:
        if not torch.backends.mps.is_available():
            raise UnknownDevice('device "mps" is not on this machine; it is the graphics processor of a Mac')
        return ["mps"]
    count = _count(torch)
    if count == 0:
        raise UnknownDevice(f'device "{name}" is not on this machine: {_why_no_cuda(torch)}')
    if match[1] is None:
        return [f"cuda:{number}" for number in range(count)]
    if int(match[1]) >= count:
        raise UnknownDevice(f'device "{name}" is not on this machine; the last CUDA device here is cuda:{count - 1}')
    return [name]


def _torch() -> ModuleType | None:
    try:
        import torch
    except ImportError:
        return None
    return torch


def _count(torch: ModuleType) -> int:
    return int(torch.cuda.device_count()) if torch.cuda.is_available() else 0


def _why_no_cuda(torch: ModuleType) -> str:
    if torch.version.cuda is None:
        return "the torch that is installed is built without CUDA"
    if (visible := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return f"CUDA_VISIBLE_DEVICES is {shown(visible)}, which leaves no CUDA device"
    return "torch finds no CUDA device"
