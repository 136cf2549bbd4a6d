"""Named, versioned rule books: metrics, tracks, text preparation, ranking."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Column": "rexrank.protocols.protocol",
    "Prepared": "rexrank.protocols.preparation",
    "Protocol": "rexrank.protocols.protocol",
    "UnknownProtocol": "rexrank.protocols.protocol",
    "available": "rexrank.protocols.loader",
    "load": "rexrank.protocols.loader",
    "prepare": "rexrank.protocols.preparation",
}

__all__ = ["Column", "Prepared", "Protocol", "UnknownProtocol", "available", "load", "prepare"]

if TYPE_CHECKING:
    from rexrank.protocols.loader import available, load
    from rexrank.protocols.preparation import Prepared, prepare
    from rexrank.protocols.protocol import Column, Protocol, UnknownProtocol


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rexrank.protocols' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
