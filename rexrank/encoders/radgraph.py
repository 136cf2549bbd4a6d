"""Not built yet."""

from collections.abc import Mapping
from typing import Any

from rexrank.encoders.encoder import Encoder

ENCODERS: tuple[Encoder, ...] = ()


def find(feature: str, options: Mapping[str, Any]) -> Encoder | None:
    """The encoder of a feature, or None."""
    return None
