"""Controlled edits of reports, one file a kind: what each changes, and whether it does harm."""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "EDITS": "rexrank.validity.edits.catalogue",
    "Change": "rexrank.validity.edits.edit",
    "Edit": "rexrank.validity.edits.edit",
    "Report": "rexrank.validity.edits.edit",
    "edited": "rexrank.validity.edits.edit",
    "errors": "rexrank.validity.edits.several",
}

__all__ = ["EDITS", "Change", "Edit", "Report", "edited", "errors"]

if TYPE_CHECKING:
    from rexrank.validity.edits.catalogue import EDITS
    from rexrank.validity.edits.edit import Change, Edit, Report, edited
    from rexrank.validity.edits.several import errors

__getattr__ = names_of(__name__, _HOMES)
