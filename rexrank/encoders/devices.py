"""Which devices of this machine encoders run on."""

from rexrank.errors import RexrankError


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
    raise NotImplementedError
