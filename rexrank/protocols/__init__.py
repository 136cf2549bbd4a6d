"""Named, versioned rule books: metrics, tracks, text preparation, ranking."""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

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

__getattr__ = names_of(__name__, _HOMES)
