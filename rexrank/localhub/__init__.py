"""The Hub's HTTP interface on one machine, for work without a network.

The unmodified clients work with it: ``huggingface_hub``, ``datasets``,
``evaluate``, ``transformers``. Nothing of the server is imported before use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Fault": "rexrank.localhub.faults",
    "Limits": "rexrank.localhub.limits",
    "create_app": "rexrank.localhub.app",
    "running": "rexrank.localhub.serve",
}
__all__ = ["Fault", "Limits", "accounts", "create_app", "running"]

if TYPE_CHECKING:
    from rexrank.localhub import accounts
    from rexrank.localhub.app import create_app
    from rexrank.localhub.faults import Fault
    from rexrank.localhub.limits import Limits
    from rexrank.localhub.serve import running


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "accounts":
        return import_module("rexrank.localhub.accounts")
    raise AttributeError(f"module 'rexrank.localhub' has no attribute {name!r}")
