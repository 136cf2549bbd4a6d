"""Several errors in one report, each in a sentence of its own."""

from collections.abc import Iterable, Sequence

from rexrank.validity.edits.edit import Chance, Change, Edit, Report


def errors(report: Report, edits: Sequence[Edit], number: int, seed: int) -> list[Change]:
    """Changes of harmful edits, no two in one sentence, so that none undoes or hides another.

    Args:
        report: The report.
        edits: Edits to take them from; as many kinds as can be are used.
        number: How many at most.
        seed: Of the choice; the first k are those that a smaller number would give.

    Returns:
        As many as there are, at most `number`.
    """
    chance = Chance("errors", seed, report.text)
    queues = chance.shuffled(edit.places(report, seed) for edit in edits if edit.kind == "harmful")
    found: list[Change] = []
    used: set[int] = set()
    for change in _in_turn(queues):
        touched = _touched(report, change)
        if len(found) < number and not touched & used:
            found.append(change)
            used |= touched
    return found


def _in_turn(queues: Sequence[Sequence[Change]]) -> Iterable[Change]:
    """The first of each queue, then the second of each …"""
    longest = max(map(len, queues), default=0)
    return (queue[turn] for turn in range(longest) for queue in queues if turn < len(queue))


def _touched(report: Report, change: Change) -> set[int]:
    """Positions of the sentences that a change reaches."""
    return {
        position
        for position, one in enumerate(report.sentences)
        for start, end, _ in change.spans
        if start <= one.end and end >= one.start
    }
