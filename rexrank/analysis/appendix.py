"""What was not computed and why, and what pins each number."""

from collections.abc import Sequence

from rexrank.analysis.blocks import Block, Folded, Paragraph, Points, Section, Table, listed
from rexrank.analysis.cards import CardSet
from rexrank.scoring.table import by_reason


def not_computed(sets: Sequence[CardSet], further: Sequence[str] = ()) -> Section:
    """Scores that are absent, each with its reason, and analyses that the cards do not allow.

    Args:
        sets: The cards.
        further: Sentences on analyses that were not made.
    """
    items = [sentence for one in sets for sentence in _absent(one)]
    items += further
    blocks: tuple[Block, ...] = (Points(tuple(dict.fromkeys(items))),) if items else ()
    return Section("Not computed, and why", blocks or (Paragraph("Everything was computed."),), level=2)


def _absent(cards: CardSet) -> list[str]:
    sentences = []
    reasons: dict[tuple[str, str], list[str]] = {}
    for name, card in zip(cards.names, cards.cards, strict=True):
        for reason, keys in by_reason(card.unavailable).items():
            reasons.setdefault((listed(keys, 6), reason), []).append(name)
    for (lacking, reason), names in reasons.items():
        whose = "" if len(names) == len(cards.names) else f" of {listed(names)}"
        sentences.append(f"{cards.label}: {lacking}{whose}: {reason}.")
    for reason, keys in by_reason(cards.aligned.absent).items():
        sentences.append(
            f"{cards.label}: {listed(keys, 6)} {'is' if len(keys) == 1 else 'are'} not compared: {reason}."
        )
    return sentences


def signatures(sets: Sequence[CardSet]) -> Section:
    """The line that pins each number, the files behind it, and the versions."""
    tables: list[Block] = []
    for one in sets:
        known: dict[tuple[str, str], list[str]] = {}
        for name, card in zip(one.names, one.cards, strict=True):
            for key, signature in card.signatures.items():
                known.setdefault((key, signature), []).append(name)
        rows = [
            (key, signature, "all" if len(names) == len(one.names) else ", ".join(names))
            for (key, signature), names in known.items()
        ]
        tables.append(Table(("Score", "Signature", "Systems"), tuple(rows), one.label, is_text=True))
        tables.append(_files(one))
    return Section("How the numbers came about", (Folded("Signatures, files and versions", tuple(tables)),), level=2)


def _files(cards: CardSet) -> Table:
    rows = [
        (name, card.inputs["predictions"]["sha256"][:16], card.library_version, card.finished_at)
        for name, card in zip(cards.names, cards.cards, strict=True)
    ]
    references = cards.first.inputs["references"]["sha256"][:16]
    head = ("System", "Predictions, sha256", "rexrank", "Scored at")
    return Table(head, tuple(rows), f"{cards.label}; references of sha256 {references}", is_text=True)
