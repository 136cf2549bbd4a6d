"""A finding that the report no longer has, and one that it never had."""

from collections.abc import Iterator, Sequence

from rexrank.labels import POSITIVE, mentions
from rexrank.validity.edits.cues import present
from rexrank.validity.edits.edit import Chance, Change, Edit, Report

# Class, and a sentence of our own that states a finding of it.
_INVENTED = (
    ("Pleural Effusion", "There is a moderate right pleural effusion."),
    ("Pneumothorax", "There is a small left apical pneumothorax."),
    ("Lung Lesion", "A 12 mm nodule is seen in the right upper lobe."),
    ("Fracture", "There is an acute fracture of the left sixth rib."),
    ("Consolidation", "There is dense consolidation in the left lower lobe."),
    ("Edema", "There is moderate pulmonary edema."),
    ("Atelectasis", "There is collapse of the right middle lobe."),
    ("Support Devices", "A right chest port ends in the superior vena cava."),
    ("Cardiomegaly", "The heart is severely enlarged."),
)


def _omitted(report: Report, chance: Chance) -> Iterator[Change]:
    """One change a sentence that states a finding which no other sentence states, nor leans on.

    The last sentence that is left is never taken.
    """
    stated = [{one.concept for one in present(said)} for _, said in report.said()]
    positive = [any(one.status == POSITIVE for one in mentions(said)) for _, said in report.said()]
    kept = len(report.sentences)
    for position, concepts in enumerate(stated):
        others = set[str]().union(*stated[:position], *stated[position + 1 :])
        leant_on = position + 1 < len(report.sentences) and report.sentences[position + 1].leans
        if positive[position] and concepts and not concepts & others and not leant_on and kept > 1:
            kept -= 1
            yield Change.of(*_with_gap(report, position), "")


def _with_gap(report: Report, position: int) -> tuple[int, int]:
    """A sentence with the white space behind it; the last one with that before it."""
    one = report.sentences[position]
    if position + 1 < len(report.sentences):
        return one.start, report.sentences[position + 1].start
    return report.sentences[position - 1].end, one.end


def _omitted_listed(report: Report, chance: Chance) -> Sequence[Change]:
    found = list(_omitted(report, chance))
    # Two neighbours at the end would both take the gap between them.
    if len(found) > 1 and found[-1].spans[0][0] < found[-2].spans[0][1]:
        found.pop()
    return found


def _invented(report: Report, chance: Chance) -> Sequence[Change]:
    """One change a class that the report states nothing of, each behind another sentence."""
    known = {one.name for one in present(report.text)}
    possible = chance.shuffled(said for name, said in _INVENTED if name not in known)
    places = chance.shuffled(one.end for one in report.sentences)
    found = [Change.of(end, end, f" {said}") for end, said in zip(places, possible, strict=False)]
    return sorted(found, key=lambda change: change.spans)


OMITTED = Edit("finding_omitted", "harmful", "A sentence that alone states a finding is left out.", _omitted_listed)
INVENTED = Edit(
    "finding_invented", "harmful", "A sentence with a finding that the report lacks is added.", _invented, 3
)
