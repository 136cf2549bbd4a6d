"""Cards that may be compared, brought to the same studies in the same order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rexrank.errors import RexrankError, WrongType, shown
from rexrank.metrics import score_keys
from rexrank.metrics.outcome import Floats
from rexrank.statistics.sample import Sample

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

_SHA_DIGITS = 8
_SHOWN_IDS = 3
_ONE_FILE = "score both against the same file of references"


class CardsDiffer(RexrankError, ValueError):
    """Cards whose numbers must not stand side by side.

    Attributes:
        reasons: Every difference, each in one sentence with the way out.
    """

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = list(reasons)
        super().__init__("\n".join(self.reasons))


@dataclass(frozen=True, eq=False)
class Aligned:
    """Scores of several cards on the same studies.

    Attributes:
        names: Of the cards.
        study_ids: The studies, in the order of the first card.
        groups: Number of the patient of each study, in that order; None where no card knows the patients.
        samples: Score key to the sample of each card, in the order of the cards, its rows in that of `study_ids`.
        values: Score key to each card's values of single studies, [n]; nan where undefined, all nan where only the
            whole set has such a score.
        absent: Score key that was asked for to the sentence that says why it is not compared.
    """

    names: tuple[str, ...]
    study_ids: tuple[str, ...]
    groups: list[int] | None
    samples: dict[str, list[Sample]]
    values: dict[str, list[Floats]]
    absent: dict[str, str]


def aligned(
    cards: "Sequence[ScoreCard]", keys: str | Iterable[str] | None = None, names: Sequence[str] | None = None
) -> Aligned:
    """Bring cards to the same studies in the same order, or say why they may not be compared.

    Args:
        cards: At least one.
        keys: Score keys, or one; None for all that some card has. Those of the whole set, and those that a card lacks,
            are absent with a reason.
        names: What messages call the cards; numbers by default.

    Returns:
        The samples of each key that every card has.

    Raises:
        CardsDiffer: Other references, protocol, track, convention, text preparation, studies or patients; or another
            signature of a key that was named in `keys`. Without `keys` such a key is absent with the reason.
        InvalidCall: Another version of its metric computed a key that was named in `keys`.
        UnreadableCard: A card was saved without the statistics of such a key.
        WrongType: There is no card.
    """
    if not cards:
        raise WrongType("cards: expected at least one score card")
    called = tuple(names or (f"card {number}" for number in range(1, len(cards) + 1)))
    first = cards[0]
    faults = [
        fault for card, name in zip(cards, called, strict=True) for fault in _faults(first, card, called[0], name)
    ]
    if faults:
        raise CardsDiffer(faults)
    if isinstance(keys, str):
        keys = [keys]
    asked = list(dict.fromkeys(keys if keys is not None else (key for card in cards for key in card.summary)))
    absent = {key: why for key in asked if (why := _lacking(cards, called, key))}
    others = {key: why for key in asked if key not in absent and (why := _other_signature(cards, called, key))}
    if others and keys is not None:
        raise CardsDiffer(list(others.values()))
    absent |= others
    orders = [_order(first, card) for card in cards]
    samples: dict[str, list[Sample]] = {}
    for key in (key for key in asked if key not in absent):
        try:
            samples[key] = _samples(cards, orders, key)
        except RexrankError as error:
            if keys is not None:
                raise
            absent[key] = str(error)
    values = {key: [_values(card, key)[order] for card, order in zip(cards, orders, strict=True)] for key in samples}
    study_ids = tuple(first.per_study.column("study_id").to_pylist())
    return Aligned(called, study_ids, _groups(cards, orders, called), samples, values, absent)


def _faults(first: "ScoreCard", card: "ScoreCard", left: str, right: str) -> list[str]:
    """What keeps two cards apart, beside the signatures of single scores."""
    faults = []
    known, other = first.inputs["references"], card.inputs["references"]
    if known["sha256"] != other["sha256"]:
        faults.append(
            f"{right} was scored against other references than {left} ({_reference(other)}, not {_reference(known)}); "
            f"{_ONE_FILE}"
        )
    rules, others = f"{first.protocol}@{first.protocol_version}", f"{card.protocol}@{card.protocol_version}"
    fields = (
        ("protocol", rules, others, f"--protocol {rules}"),
        ("track", first.track, card.track, f"--track {first.track}"),
        ("convention", first.convention, card.convention, f"--convention {first.convention}"),
        ("text preparation", *map(_preparation, (first, card)), f"--text-preparation {_preparation(first)}"),
    )
    faults += [
        f"{right} has the {name} {theirs} and {left} {ours}; score {right} again with {option}"
        for name, ours, theirs, option in fields
        if ours != theirs
    ]
    return faults or _other_studies(first, card, left, right)


def _reference(known: dict[str, str]) -> str:
    return f"{known['source']} of sha256 {known['sha256'][:_SHA_DIGITS]}"


def _preparation(card: "ScoreCard") -> str:
    return str(card.text_preparation["option"])


def _other_studies(first: "ScoreCard", card: "ScoreCard", left: str, right: str) -> list[str]:
    ours, theirs = (set(one.per_study.column("study_id").to_pylist()) for one in (first, card))
    if ours == theirs:
        return []
    apart = sorted(ours ^ theirs)
    named = ", ".join(map(shown, apart[:_SHOWN_IDS])) + (" …" if len(apart) > _SHOWN_IDS else "")
    return [f"{len(apart):,} studies are in only one of {left} and {right} ({named}); {_ONE_FILE}"]


def _lacking(cards: "Sequence[ScoreCard]", names: Sequence[str], key: str) -> str | None:
    """Why a score cannot be compared at all, or None where every card has it."""
    lacking = [(card, name) for card, name in zip(cards, names, strict=True) if key not in card.summary]
    if lacking:
        card, name = lacking[0]
        return f"{name} lacks it: {card.unavailable.get(key, 'it was not asked for when the card was made')}"
    if key not in score_keys():
        return "this version of rexrank does not know it"
    if score_keys()[key].kind == "set":
        return "only the whole set of reports has such a score, so no study can be drawn"
    return None


def _other_signature(cards: "Sequence[ScoreCard]", names: Sequence[str], key: str) -> str | None:
    ours = cards[0].signatures[key]
    for card, name in zip(cards, names, strict=True):
        theirs = card.signatures[key]
        if theirs != ours:
            return (
                f"{key} of {name} and {names[0]} came about in different ways ({_differing(theirs, ours)}); "
                "score both again with the same rexrank, options and weights"
            )
    return None


def _differing(theirs: str, ours: str) -> str:
    """The parts that only one of two signatures has."""
    left, right = theirs.split("|"), ours.split("|")
    only_left, only_right = (
        [part for part in one if part not in other] for one, other in ((left, right), (right, left))
    )
    return f"{', '.join(map(shown, only_left)) or 'nothing'}, not {', '.join(map(shown, only_right)) or 'nothing'}"


def _order(first: "ScoreCard", card: "ScoreCard") -> np.ndarray:
    """Positions in a card of the studies of the first one, [n]."""
    places = {one: place for place, one in enumerate(card.per_study.column("study_id").to_pylist())}
    return np.array([places[one] for one in first.per_study.column("study_id").to_pylist()], dtype=np.int64)


def _groups(cards: "Sequence[ScoreCard]", orders: Sequence[np.ndarray], names: Sequence[str]) -> list[int] | None:
    """The patients that any of the cards knows."""
    found: list[int] | None = None
    owner = ""
    for card, order, name in zip(cards, orders, names, strict=True):
        if card.groups is None:
            continue
        groups = _renumbered([card.groups[place] for place in order])
        if found is not None and groups != found:
            raise other_patients(name, owner)
        found, owner = groups, name
    return found


def other_patients(name: str, owner: str) -> CardsDiffer:
    """What keeps two cards apart of which each knows patients."""
    return CardsDiffer(
        [f"{name} and {owner} say differently which studies are of one patient; score both with the same"]
    )


def _renumbered(groups: Sequence[int]) -> list[int]:
    numbers: dict[int, int] = {}
    return [numbers.setdefault(group, len(numbers)) for group in groups]


def _samples(cards: "Sequence[ScoreCard]", orders: Sequence[np.ndarray], key: str) -> list[Sample]:
    found = [(card.sample(key), order) for card, order in zip(cards, orders, strict=True)]
    return [sample.take(order) for sample, order in found if sample is not None]


def _values(card: "ScoreCard", key: str) -> Floats:
    return np.asarray(card.per_study.column(key).to_numpy(), dtype=np.float64)
