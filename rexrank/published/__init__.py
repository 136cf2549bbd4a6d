"""The published record: tables of ReXrank and CXPMRG-Bench as they were printed, ranked and checked.

Names are fetched on first use, so importing this package reads no table.
"""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "PublishedRow": "rexrank.published.record",
    "Snapshot": "rexrank.published.record",
    "UnknownTable": "rexrank.published.record",
    "rows": "rexrank.published.record",
    "snapshots": "rexrank.published.record",
}

__all__ = ["PublishedRow", "Snapshot", "UnknownTable", "rows", "snapshots"]

if TYPE_CHECKING:
    from rexrank.published.record import PublishedRow, Snapshot, UnknownTable, rows, snapshots

__getattr__ = names_of(__name__, _HOMES)
