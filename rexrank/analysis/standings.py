"""The section on scores and ranks of one set of cards, and the facts above it."""

from functools import partial

from rexrank.analysis.blocks import Block, Folded, Paragraph, Picture, Points, Section, Table, listed
from rexrank.analysis.cards import BETTER, CardSet
from rexrank.analysis.study_table import digits_of, direction_of, label_of
from rexrank.figures import Figure, Row, intervals
from rexrank.figures.scales import number
from rexrank.layout import percent, rounded
from rexrank.statistics.draws import Draws
from rexrank.statistics.ranks import LEAST_UNITS, RankRange, rank_ranges

# Share of different texts up to which a system is said to repeat itself.
_FEW_DISTINCT = 0.1


def facts(cards: CardSet) -> list[Block]:
    """What was scored, how, and what has to be known before a number is read."""
    first = cards.first
    unit = (
        "studies" if first.interval.get("unit", "study") == "study" else f"{first.interval.get('units', 0):,} patients"
    )
    blocks: list[Block] = [
        Paragraph(
            f"{_counted(cards)}, {first.n:,} studies. Protocol "
            f"{first.protocol}@{first.protocol_version}, convention {first.convention}. Intervals: resamples of {unit}."
        )
    ]
    notes = [f"Left out: {count:,} studies ({reason})." for reason, count in first.left_out.items()]
    if warning := first.interval.get("warning"):
        notes.append(f"Take care: {warning}.")
    for name, card in zip(cards.names, cards.cards, strict=True):
        distinct = round(card.distinct_outputs * card.n)
        if card.n > 1 and card.distinct_outputs <= _FEW_DISTINCT:
            texts = "one text" if distinct == 1 else f"only {distinct:,} different texts"
            notes.append(f"{name} has {texts} for {card.n:,} studies.")
    if notes:
        blocks.append(Points(tuple(notes)))
    return blocks


def _counted(cards: CardSet) -> str:
    """How many systems there are, and how many reference points."""
    points = len(cards.baselines & set(cards.names))
    systems = len(cards.cards) - points
    counts = {"system": systems, "reference point": points}
    return " and ".join(f"{count} {what}{'s' if count > 1 else ''}" for what, count in counts.items() if count)


def scores_and_ranks(cards: CardSet) -> Section:
    """Scores with intervals, ranks with ranges."""
    key = cards.ranking_key
    if key is None:
        return Section("Scores and ranks", (Paragraph("No score stands in every card, so there is nothing to rank."),))
    places = ranges(cards, key)
    head = (
        f"{label_of(key)} is the score that ranks here; {BETTER[direction_of(key)]}. The line around a dot is its "
        f"{percent(cards.first.interval['confidence'])} interval: where the score would likely lie with other studies "
        "of the same kind."
    )
    blocks: list[Block] = [
        Picture(partial(_forest, cards, key), _see_forest(cards, key)),
        Paragraph(head, quiet=True),
        _ranking_table(cards, key, places),
    ]
    others = [
        Picture(partial(_forest, cards, other), f"{label_of(other)}: {BETTER[direction_of(other)]}.")
        for other in cards.keys[1:]
    ]
    if others:
        blocks.append(Folded(f"Pictures of {len(others)} more scores", tuple(others)))
    blocks.append(Folded("All scores with their intervals", (_all_scores(cards),)))
    return Section("Scores and ranks", tuple(blocks), told=_told_of_ranks(cards, key, places))


def ranges(cards: CardSet, key: str) -> list[RankRange] | None:
    """Rank of each card with its range; None for a single card, or for too few studies or patients."""
    draws = Draws.of(len(cards.aligned.study_ids), groups=cards.aligned.groups)
    if len(cards.cards) < 2 or draws.units < LEAST_UNITS:
        return None
    return rank_ranges(cards.aligned.samples[key], direction_of(key), draws)


def _forest(cards: CardSet, key: str) -> Figure:
    rows = []
    for index in cards.order:
        card, name = cards.cards[index], cards.names[index]
        low, high = card.intervals.get(key, (None, None))
        rows.append(Row(name, card.summary.get(key), low, high, name in cards.baselines))
    return intervals(rows, f"{label_of(key)}, {cards.label}", direction_of(key), digits=digits_of(key))


def _see_forest(cards: CardSet, key: str) -> str:
    best, worst = cards.order[0], cards.order[-1]
    hollow = " Hollow dots are reference points and no models." if cards.baselines & set(cards.names) else ""
    if len(cards.cards) == 1:
        return f"{label_of(key)} of {cards.names[0]} on {cards.benchmark}.{hollow}"
    return (
        f"{label_of(key)} on {cards.benchmark}, best on top: from {cards.names[best]} to {cards.names[worst]}. "
        f"Where lines overlap widely, the order is open.{hollow}"
    )


def _ranking_table(cards: CardSet, key: str, places: list[RankRange] | None) -> Table:
    rows = []
    for index in cards.order:
        place = "–" if places is None else f"{places[index].rank} ({_span(places[index])})"
        first = "–" if places is None else rounded(places[index].p_first)
        rows.append(
            (cards.names[index], _with_interval(cards, index, key), place, first, f"{_defined(cards, index, key):,}")
        )
    head = ("System", f"{label_of(key)} (interval)", "Rank (range)", "First in", "n")
    return Table(
        head,
        tuple(rows),
        "A rank's range holds the places that these studies leave open; “first in”: "
        "share of resamples in which the system comes first.",
    )


def _span(place: RankRange) -> str:
    return str(place.low) if place.low == place.high else f"{place.low}–{place.high}"


def _defined(cards: CardSet, index: int, key: str) -> int:
    counts = cards.cards[index].counts.get(key, {})
    return counts.get("n", cards.first.n) - counts.get("n_undefined", 0)


def _with_interval(cards: CardSet, index: int, key: str) -> str:
    card = cards.cards[index]
    if key not in card.summary:
        return "–"
    digits = digits_of(key)
    value = number(card.summary[key], digits)
    if key not in card.intervals:
        return value
    low, high = card.intervals[key]
    return f"{value} ({number(low, digits)} to {number(high, digits)})"


def _all_scores(cards: CardSet) -> Table:
    keys = list(dict.fromkeys(key for card in cards.cards for key in card.summary))
    rows = tuple(
        (f"{label_of(key)} ({key})", *(_with_interval(cards, index, key) for index in cards.order)) for key in keys
    )
    return Table(("Score", *(cards.names[index] for index in cards.order)), rows)


def _told_of_ranks(cards: CardSet, key: str, places: list[RankRange] | None) -> tuple[str, ...]:
    best = cards.order[0]
    score = f"{label_of(key)} {_with_interval_in_words(cards, best, key)}"
    if len(cards.cards) < 2:
        return (f"{cards.names[best]} has {score}; there is no other system to compare it with.",)
    if places is None:
        few = f"fewer than {LEAST_UNITS} studies, or patients, are too few to say whether the order is more than chance"
        return (f"{cards.names[best]} scores best: {score}; but {few}.",)
    told = [f"{cards.names[best]} scores best: {score}. {_lead(cards, best, places)}"]
    told += _floors(cards, key)
    return tuple(told)


def _lead(cards: CardSet, best: int, places: list[RankRange]) -> str:
    others = [index for index in cards.order if index != best]
    equal = [cards.names[index] for index in others if places[index].rank == 1]
    rivals = [cards.names[index] for index in others if places[index].rank > 1 and places[index].low == 1]
    said = []
    if equal:
        said.append(f"{listed(equal)} {'has' if len(equal) == 1 else 'have'} the same score.")
    if rivals:
        said.append(f"These studies do not tell it apart from {listed(rivals)}.")
    if not said and places[best].high > 1:
        said.append(f"These studies leave its rank open between 1 and {places[best].high}.")
    return " ".join(said) or "It is ahead of every other system beyond chance."


def _floors(cards: CardSet, key: str) -> list[str]:
    """Models that score no better than a reference point."""
    floors = [index for index in cards.order if cards.names[index] in cards.baselines]
    if not floors:
        return []
    best_floor = floors[0]
    behind = [
        cards.names[index]
        for index in cards.order[cards.order.index(best_floor) + 1 :]
        if cards.names[index] not in cards.baselines
    ]
    if not behind:
        return []
    verb = "does" if len(behind) == 1 else "do"
    return [
        f"{listed(behind)} {verb} not score better than {cards.names[best_floor]}, which is only a reference point."
    ]


def _with_interval_in_words(cards: CardSet, index: int, key: str) -> str:
    card, digits = cards.cards[index], digits_of(key)
    if key not in card.intervals:
        return number(card.summary[key], digits)
    low, high = card.intervals[key]
    ends = f"{number(low, digits)} to {number(high, digits)}"
    return f"{number(card.summary[key], digits)} ({percent(card.interval['confidence'])} interval {ends})"
