"""The same sentences in another order."""

from collections.abc import Sequence

from rexrank.validity.edits.edit import Chance, Change, Edit, Report


def _changes(report: Report, chance: Chance) -> Sequence[Change]:
    """Pairs of neighbours that change places; a sentence that leans on the one before moves with it."""
    blocks = _blocks(report)
    start = chance.below(2) if len(blocks) > 2 else 0
    return [
        Change(((*first, report.text[slice(*second)]), (*second, report.text[slice(*first)])))
        for first, second in zip(blocks[start::2], blocks[start + 1 :: 2], strict=False)
        if report.text[slice(*first)] != report.text[slice(*second)]
    ]


def _blocks(report: Report) -> list[tuple[int, int]]:
    """Sentences with those that lean on them, in reports without numbered items, line breaks and headers."""
    text = report.text.strip()
    if "\n" in text or ":" in text or not text.endswith((".", "!", "?")):
        return []
    blocks: list[tuple[int, int]] = []
    for one in report.sentences:
        if one.leans and blocks:
            blocks[-1] = blocks[-1][0], one.end
        else:
            blocks.append((one.start, one.end))
    return blocks


CHANGED = Edit("sentence_order", "harmless", "Neighbouring sentences change places.", _changes)
