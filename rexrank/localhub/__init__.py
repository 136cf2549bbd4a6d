"""The Hub's HTTP interface on one machine, for work without a network.

The unmodified clients work with it: ``huggingface_hub``, ``datasets``,
``evaluate``, ``transformers``. Nothing of the server is imported before use.
"""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "Fault": "rexrank.localhub.faults",
    "Limits": "rexrank.localhub.limits",
    "create_app": "rexrank.localhub.app",
    "running": "rexrank.localhub.serve",
}
__all__ = ["Fault", "Limits", "create_app", "running"]

if TYPE_CHECKING:
    from rexrank.localhub.app import create_app
    from rexrank.localhub.faults import Fault
    from rexrank.localhub.limits import Limits
    from rexrank.localhub.serve import running

__getattr__ = names_of(__name__, _HOMES)
