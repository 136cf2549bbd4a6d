"""The Hub as a store with compare-and-swap, on top of huggingface_hub."""

from rexrank.hub.clock import Clock
from rexrank.hub.connection import Entry, Hub, Identity, View, connect
from rexrank.hub.errors import Contention, HubError
from rexrank.hub.swap import Change, converge, patiently, swap

__all__ = [
    "Change",
    "Clock",
    "Contention",
    "Entry",
    "Hub",
    "HubError",
    "Identity",
    "View",
    "connect",
    "converge",
    "patiently",
    "swap",
]
