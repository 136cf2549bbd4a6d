"""A comparison with a film that nobody has compared with."""

from collections.abc import Sequence

from rexrank.validity.edits.cues import COMPARISON
from rexrank.validity.edits.edit import Chance, Change, Edit, Report

_CLAIMS = (
    "Compared with the prior radiograph, there has been interval worsening.",
    "Compared with the prior radiograph, there has been interval improvement.",
    "These findings are new since the previous examination.",
    "The appearance is unchanged from the previous examination.",
)


def _changes(report: Report, chance: Chance) -> Sequence[Change]:
    """One claim at the end of a report that compares with nothing."""
    if COMPARISON.search(report.text) or not report.sentences:
        return []
    end = report.sentences[-1].end
    return [Change.of(end, end, f" {chance.choice(_CLAIMS)}")]


INVENTED = Edit("prior_invented", "harmful", "A sentence compares with an earlier film that nobody named.", _changes)
