"""Score cards sorted into sets that may stand side by side, and the names that readers see."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from rexrank.analysis.study_table import StudyTable, direction_of, label_of
from rexrank.analysis.systems import SystemTable
from rexrank.comparison.cards import Aligned, aligned
from rexrank.errors import RexrankError, shown
from rexrank.metrics import metric_of, score_keys
from rexrank.metrics.outcome import Floats
from rexrank.protocols import UnknownProtocol, load

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

MOST_KEYS = 8
BETTER = {"higher": "higher is better", "lower": "lower is better", "none": "neither way is better"}
_DIGITS_OF_SHA = 6
_ON_THE_HUB = re.compile(r"hf://(?:datasets/)?[^/]+/(?P<name>[^/@]+)")


class NamesClash(RexrankError, ValueError):
    """Names of systems that cannot be told apart, or that no card has."""


@dataclass(frozen=True, eq=False)
class CardSet:
    """Cards of one set of references, scored by the same rules.

    Attributes:
        benchmark: What the references are called.
        names: Of the systems, one a card.
        cards: The cards.
        baselines: Names of the systems that are reference points.
    """

    benchmark: str
    names: tuple[str, ...]
    cards: "tuple[ScoreCard, ...]"
    baselines: frozenset[str] = field(default_factory=frozenset)

    @property
    def first(self) -> "ScoreCard":
        """The card that stands for what all have in common."""
        return self.cards[0]

    @property
    def label(self) -> str:
        """Benchmark and track, as a heading."""
        return f"{self.benchmark} · {self.first.track}"

    @property
    def rules(self) -> tuple[str, ...]:
        """What must agree for cards of different benchmarks to stand side by side."""
        first = self.first
        return (f"{first.protocol}@{first.protocol_version}", first.convention, str(first.text_preparation["option"]))

    @cached_property
    def aligned(self) -> Aligned:
        """Samples of all scores that every card has and that resampling can draw."""
        return aligned(self.cards, names=self.names)

    @cached_property
    def keys(self) -> list[str]:
        """Scores that pictures show, the ranking one first: the protocol's, then others, eight at most."""
        judging = [key for key in self.aligned.samples if direction_of(key) != "none"]
        # A score of one label, or one more average of them, is for the table; so is 1 over another score.
        telling = [key for key in judging if score_keys()[key].of_mean is None and not score_keys()[key].family]
        wanted = [key for key in self._of_protocol() if key in telling]
        # Of each further metric the first score: its others mostly say the same.
        metrics = {metric_of(key).name: key for key in reversed(telling)}
        others = [key for key in telling if key in metrics.values() and key not in wanted]
        return list(dict.fromkeys([*wanted, *others]))[:MOST_KEYS]

    def _of_protocol(self) -> list[str]:
        try:
            protocol = load(f"{self.first.protocol}@{self.first.protocol_version}")
        except UnknownProtocol:
            return []
        return [*protocol.ranking, *(column.score_key for column in protocol.columns)]

    @property
    def ranking_key(self) -> str | None:
        """The score that ranks; None where no score can be compared."""
        return self.keys[0] if self.keys else None

    @cached_property
    def order(self) -> list[int]:
        """Positions of the cards, best first by the ranking key."""
        key = self.ranking_key
        if key is None:
            return list(range(len(self.cards)))
        sign = -1.0 if direction_of(key) == "lower" else 1.0
        return sorted(
            range(len(self.cards)), key=lambda index: (-sign * self.cards[index].summary[key], self.names[index])
        )

    @cached_property
    def table(self) -> SystemTable:
        """Scores of the systems that are no reference points, or of all, of those keys that pictures show."""
        every = range(len(self.cards))
        chosen = [index for index in every if self.names[index] not in self.baselines] or list(every)
        values = [[self.cards[index].summary.get(key, np.nan) for key in self.keys] for index in chosen]
        return SystemTable(
            label=self.benchmark,
            names=tuple(self.names[index] for index in chosen),
            keys=tuple(self.keys),
            labels=tuple(label_of(key) for key in self.keys),
            directions=tuple(direction_of(key) for key in self.keys),
            values=np.asarray(values, dtype=np.float64).reshape(len(chosen), len(self.keys)),
        )

    @cached_property
    def studies(self) -> StudyTable:
        """Values of single studies, of those shown scores that have any; systems best first."""
        values = self.aligned.values
        keys = [key for key in self.keys if any(not np.isnan(one).all() for one in values[key])]
        return StudyTable(
            label=self.label,
            names=tuple(self.names[index] for index in self.order),
            baselines=self.baselines,
            keys=tuple(keys),
            values={key: [values[key][index] for index in self.order] for key in keys},
            groups=self.aligned.groups,
        )

    def words(self, side: str, lengths: "Lengths", card: int = 0) -> Floats | None:
        """Words of each study's ``report`` (a card's prediction) or ``reference``, [n]; None where nobody knows them.

        They are a score of the card (``report_words``), or were counted in a file of texts that the card was made of.
        """
        key = f"{side}_words"
        if key in self.aligned.values:
            return self.aligned.values[key][card]
        role = "predictions" if side == "report" else "references"
        known = lengths.get((self.cards[card].inputs[role]["sha256"], self.first.track))
        if known is None:
            return None
        return np.array([known.get(study_id, np.nan) for study_id in self.aligned.study_ids])


Lengths = Mapping[tuple[str, str], Mapping[str, float]]
"""Words of each study's text, by the sha256 of its file and the track."""


def card_sets(
    cards: "Sequence[ScoreCard]",
    names: Sequence[str],
    benchmarks: Mapping[str, str] | None = None,
    baselines: Sequence[str] = (),
) -> list[CardSet]:
    """Sort cards into sets that may stand side by side, in the order in which each set comes first.

    Args:
        cards: Any score cards.
        names: Of the systems, one a card; equal names in different sets are the same system.
        benchmarks: Name of a benchmark by the name of its references (file, or Hub address) or the beginning of
            their sha256; other sets are called after their references.
        baselines: Names of systems that are reference points and no models.

    Raises:
        NamesClash: Two cards of one set have the same name, a baseline is none of the names, or a benchmark's
            references are no card's.
    """
    if unknown := [name for name in baselines if name not in names]:
        raise NamesClash(f"baseline {shown(unknown[0])} is no card's name; these are {', '.join(sorted(set(names)))}")
    grouped: dict[tuple[str, ...], list[int]] = {}
    for position, card in enumerate(cards):
        grouped.setdefault(_identity(card), []).append(position)
    called = _benchmark_names([cards[members[0]] for members in grouped.values()], benchmarks or {})
    found = []
    for members, benchmark in zip(grouped.values(), called, strict=True):
        own = [names[position] for position in members]
        if twice := [name for name, count in Counter(own).items() if count > 1]:
            raise NamesClash(f"two cards of {benchmark} are called {shown(twice[0])}; give each a name with --names")
        found.append(
            CardSet(benchmark, tuple(own), tuple(cards[position] for position in members), frozenset(baselines))
        )
    return found


def _identity(card: "ScoreCard") -> tuple[str, ...]:
    return (
        card.inputs["references"]["sha256"],
        card.track,
        f"{card.protocol}@{card.protocol_version}",
        card.convention,
        str(card.text_preparation["option"]),
    )


def _benchmark_names(cards: "Sequence[ScoreCard]", given: Mapping[str, str]) -> list[str]:
    """Names of the sets, equal exactly where the references are."""
    for word in given:
        if not any(_is_of(card, word) for card in cards):
            known = dict.fromkeys(card.inputs["references"]["source"] for card in cards)
            raise NamesClash(f"no card has the references {shown(word)}; these are {', '.join(known) or 'none'}")
    by_sha = {card.inputs["references"]["sha256"]: _called(card, given) for card in cards}
    taken = Counter(by_sha.values())
    distinct = {sha: name if taken[name] == 1 else f"{name} ({sha[:_DIGITS_OF_SHA]})" for sha, name in by_sha.items()}
    return [distinct[card.inputs["references"]["sha256"]] for card in cards]


def _called(card: "ScoreCard", given: Mapping[str, str]) -> str:
    for word, name in given.items():
        if _is_of(card, word):
            return name
    source = card.inputs["references"]["source"]
    on_the_hub = _ON_THE_HUB.match(source)
    return on_the_hub["name"] if on_the_hub else PurePath(source).name


def _is_of(card: "ScoreCard", word: str) -> bool:
    """Whether a card's references have this name, or a sha256 that begins so."""
    source, sha = card.inputs["references"]["source"], card.inputs["references"]["sha256"]
    return word == source or (len(word) >= _DIGITS_OF_SHA and sha.startswith(word))
