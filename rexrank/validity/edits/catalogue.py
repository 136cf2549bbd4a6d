"""All kinds of edits, in the order of tables: those that do harm, then those that do none."""

from rexrank.validity.edits import (
    certainty,
    findings,
    laterality,
    looks,
    measurements,
    negation,
    order,
    priors,
    severity,
    slips,
    synonyms,
)
from rexrank.validity.edits.edit import Edit

EDITS: tuple[Edit, ...] = (
    laterality.SWAP,
    negation.DELETED,
    negation.ADDED,
    findings.OMITTED,
    findings.INVENTED,
    severity.CHANGED,
    measurements.CHANGED,
    certainty.CHANGED,
    priors.INVENTED,
    order.CHANGED,
    synonyms.REPLACED,
    looks.CASE,
    looks.SPACE,
    looks.HEADER,
    looks.MASKS,
    slips.TYPED,
)
"""Every edit of a report's own words; `rexrank.validity.edits.lengths` has those of its length."""
