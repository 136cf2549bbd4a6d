"""Several systems against a baseline, score by score."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from rexrank.comparison.cards import Aligned, CardsDiffer, aligned, other_patients
from rexrank.comparison.words import sentence
from rexrank.errors import shown
from rexrank.metrics import InvalidCall, score_keys
from rexrank.metrics.inputs import check_choice
from rexrank.metrics.registry import hint, keys_named
from rexrank.protocols import UnknownProtocol, load
from rexrank.scoring.progress import Progress, reporting
from rexrank.statistics.inputs import is_whole
from rexrank.statistics.paired import Estimate, Pair, Paired, Test, holm, paired_tests
from rexrank.statistics.power import ALPHA, detectable
from rexrank.terms import Direction

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

Family = Literal["models", "table"]
FAMILIES: tuple[Family, ...] = get_args(Family)
# More than any archive has, and few enough to be told apart as floats.
_MOST_PLANNED = 10_000_000
Verdict = Literal["better", "worse", "higher", "lower", "undecided", "untested"]


@dataclass(frozen=True)
class Comparison:
    """One system against the baseline in one score.

    Attributes:
        system: Name of the system.
        key: Score key.
        direction: Which values are better.
        paired: Differences of system minus baseline.
        p_holm: p value, corrected for the family; None where there is no test.
        family: Number of tests in the family.
        detectable: Smallest true difference that a test at 5 % finds with a probability of 80 %; None where there is
            none in the score's range.
        detectable_planned: The same for the number of studies that is planned; None without.
    """

    system: str
    key: str
    direction: Direction
    paired: Paired
    p_holm: float | None = None
    family: int = 1
    detectable: float | None = None
    detectable_planned: float | None = None

    @property
    def verdict(self) -> Verdict:
        """What the corrected test says at a level of 5 %; ``higher`` or ``lower`` where neither is better."""
        if self.p_holm is None or self.paired.difference is None:
            return "untested"
        if self.p_holm > ALPHA:
            return "undecided"
        higher = self.paired.difference > 0
        if self.direction == "none":
            return "higher" if higher else "lower"
        return "better" if higher == (self.direction == "higher") else "worse"

    @property
    def tally(self) -> tuple[int, int, int] | None:
        """Studies that the system wins, that are equal and that it loses; None where studies have no value."""
        one = self.paired
        if one.wins is None or one.ties is None or one.losses is None:
            return None
        return (one.losses, one.ties, one.wins) if self.direction == "lower" else (one.wins, one.ties, one.losses)

    @property
    def effect(self) -> Estimate | None:
        """Standardised mean difference, positive where the system is better."""
        return _turned(self.paired.effect, 0.0) if self.direction == "lower" else self.paired.effect

    @property
    def superiority(self) -> Estimate | None:
        """Share of studies in which the system is better, ties counting half."""
        return _turned(self.paired.superiority, 1.0) if self.direction == "lower" else self.paired.superiority

    @property
    def digits(self) -> int:
        """Decimals shown."""
        return score_keys()[self.key].digits + 1

    def to_json(self) -> dict[str, Any]:
        """All numbers, None where there is none."""
        one = self.paired
        tally = self.tally or (None, None, None)
        return {
            "system": self.system,
            "score": self.key,
            "better": self.direction,
            "verdict": self.verdict,
            "n": one.n,
            "n_left_out": one.left_out,
            "units": one.units,
            "system_score": one.scores[0],
            "baseline_score": one.scores[1],
            "difference": one.difference,
            "interval": _list(one.interval),
            "interval_method": one.method,
            "p": one.p,
            "p_holm": self.p_holm,
            "family": self.family,
            "draws": one.draws,
            "exact": one.exact,
            "undefined_draws": one.undefined_draws,
            "undefined_resamples": one.undefined_resamples,
            "wins": tally[0],
            "ties": tally[1],
            "losses": tally[2],
            "effect": _estimate(self.effect),
            "superiority": _estimate(self.superiority),
            "standard_error": one.error,
            "detectable": self.detectable,
            "detectable_planned": self.detectable_planned,
        }


@dataclass(frozen=True)
class Settings:
    """How systems are compared.

    Attributes:
        test: ``randomisation`` or ``bootstrap``.
        resamples: Draws of the test and resamples of the intervals.
        seed: Seed of both.
        confidence: Of the intervals, between 0 and 1.
        family: What Holm's correction counts together: ``models``, all systems in one score; ``table``, all tests.
        planned: Number of studies of a planned comparison, or None.
    """

    test: Test = "randomisation"
    resamples: int = 10_000
    seed: int = 0
    confidence: float = 0.95
    family: Family = "models"
    planned: int | None = None

    def __post_init__(self) -> None:
        check_choice("family", self.family, FAMILIES)
        if self.planned is not None and not (is_whole(self.planned) and 2 <= self.planned <= _MOST_PLANNED):
            raise InvalidCall(
                f"studies: expected a number of planned studies from 2 to {_MOST_PLANNED:,}, got {shown(self.planned)}"
            )


@dataclass(frozen=True)
class Comparisons:
    """Everything that one run compared.

    Attributes:
        baseline: Name of the baseline.
        systems: Names of the others, in order.
        rows: One a system and score; scores in the same order for each system, the one to quote first.
        absent: System to score key to the reason why it is not compared.
        shared: What all cards have in common: protocol, track, convention, text preparation.
        n: Studies of each card.
        unit: ``study`` or ``patient``, which were drawn and swapped as a whole.
        units: Their number.
        warning: Why intervals and tests may be too sure of themselves, or None.
        settings: How they were compared.
    """

    baseline: str
    systems: tuple[str, ...]
    rows: tuple[Comparison, ...]
    absent: dict[str, dict[str, str]]
    shared: dict[str, str]
    n: int
    unit: Literal["study", "patient"]
    units: int
    warning: str | None
    settings: Settings

    def of(self, system: str) -> list[Comparison]:
        """The rows of one system."""
        return [row for row in self.rows if row.system == system]

    @property
    def quoted(self) -> str | None:
        """The score to quote: the first one in order that any system is compared in; None where there is none."""
        own = [rows for system in self.systems if (rows := self.of(system))]
        later = {row.key for rows in own for row in rows[1:]}
        return next((rows[0].key for rows in own if rows[0].key not in later), None)

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps(…, allow_nan=False)``."""
        chosen = self.settings
        return {
            "sentence": sentence(self),
            "baseline": self.baseline,
            "systems": list(self.systems),
            **self.shared,
            "n": self.n,
            "unit": self.unit,
            "units": self.units,
            "warning": self.warning,
            "test": chosen.test,
            "resamples": chosen.resamples,
            "seed": chosen.seed,
            "confidence": chosen.confidence,
            "alpha": ALPHA,
            "correction": {"method": "holm", "family": chosen.family},
            "planned_studies": chosen.planned,
            "comparisons": [row.to_json() for row in self.rows],
            "not_compared": self.absent,
        }


def compare(
    cards: "Mapping[str, ScoreCard]",
    baseline: str | None = None,
    keys: str | Sequence[str] | None = None,
    settings: Settings | None = None,
    progress: bool | Progress = False,
) -> Comparisons:
    """Compare systems with a baseline on the studies that they share.

    Args:
        cards: Score card by name, at least two.
        baseline: Name of the one that the others are compared with; the first by default.
        keys: Score keys or names of metrics, the one to quote first; None for every score that judges quality and that
            both cards have, the protocol's ranking keys first.
        settings: How to compare.
        progress: As in `rexrank.score`.

    Raises:
        CardsDiffer: Cards that may not be compared, with every reason.
        InvalidCall: Fewer than two cards, or an unknown name.
        InvalidStatistics: Wrong test, number of resamples, seed or confidence.
    """
    names = list(cards)
    if len(names) < 2:
        raise InvalidCall(f"a comparison needs at least two score cards, got {len(names)}")
    first = names[0] if baseline is None else baseline
    if first not in cards:
        raise InvalidCall(f"baseline: no card is called {shown(first)}; there are {', '.join(names)}")
    chosen = settings or Settings()
    others = [name for name in names if name != first]
    wanted = None if keys is None else expanded(keys)
    pairs = _aligned(cards, first, others, wanted)
    ordered = wanted if wanted is not None else _ranking_first(cards[first])
    rows: list[Comparison] = []
    with reporting(progress, total=len(others)) as report:
        for name in others:
            report(f"{name} against {first}")
            rows += _compared(name, pairs[name], ordered, chosen)
    groups = next((one.groups for one in pairs.values() if one.groups is not None), None)
    return Comparisons(
        baseline=first,
        systems=tuple(others),
        rows=tuple(_corrected(rows, chosen.family)),
        absent={name: pairs[name].absent for name in others},
        shared=_shared(cards[first]),
        n=cards[first].n,
        unit="study" if groups is None else "patient",
        units=cards[first].n if groups is None else len(set(groups)),
        warning=None if groups is not None else _warning(cards.values()),
        settings=chosen,
    )


def expanded(names: str | Sequence[str]) -> list[str]:
    """Score keys that names of keys and of metrics stand for; a text is one name.

    Raises:
        InvalidCall: Unknown names, or none.
    """
    found: list[str] = []
    for name in [names] if isinstance(names, str) else names:
        keys = keys_named(name)
        if keys is None:
            raise InvalidCall(f"keys: unknown score or metric {shown(name)}; {hint(name, score_keys())}")
        found += keys
    if not found:
        raise InvalidCall("keys: name at least one score key or metric")
    return list(dict.fromkeys(found))


def _aligned(
    cards: "Mapping[str, ScoreCard]", baseline: str, others: Sequence[str], keys: Sequence[str] | None
) -> dict[str, Aligned]:
    """Each system beside the baseline; all that keeps any of them apart is refused at once."""
    found, reasons = {}, []
    for name in others:
        try:
            one = aligned([cards[baseline], cards[name]], keys, [baseline, name])
            found[name] = one if keys is not None else _judging(one)
        except CardsDiffer as error:
            reasons += error.reasons
    if reasons:
        raise CardsDiffer(list(dict.fromkeys(reasons)))
    return _by_patient(found)


def _by_patient(pairs: Mapping[str, Aligned]) -> dict[str, Aligned]:
    """The pairs with the patients that any of them knows; all have the studies of the baseline in its order."""
    knowing = {name: one.groups for name, one in pairs.items() if one.groups is not None}
    if not knowing:
        return dict(pairs)
    owner, groups = next(iter(knowing.items()))
    for name, theirs in knowing.items():
        if theirs != groups:
            raise other_patients(name, owner)
    return {name: replace(one, groups=groups) for name, one in pairs.items()}


def _judging(one: Aligned) -> Aligned:
    """Without the scores that only describe reports."""
    silent = {key for key in (*one.samples, *one.absent) if key in score_keys() and _direction(key) == "none"}
    samples = {key: found for key, found in one.samples.items() if key not in silent}
    return replace(one, samples=samples, absent={key: why for key, why in one.absent.items() if key not in silent})


def _direction(key: str) -> Direction:
    return score_keys()[key].direction


def _ranking_first(card: "ScoreCard") -> list[str]:
    """The protocol's ranking keys, then the card's others."""
    try:
        ranking = load(f"{card.protocol}@{card.protocol_version}").ranking
    except UnknownProtocol:  # a rule book of the caller's own
        ranking = ()
    return list(dict.fromkeys([*ranking, *card.summary]))


def _compared(system: str, one: Aligned, ordered: Sequence[str], chosen: Settings) -> list[Comparison]:
    keys = [key for key in ordered if key in one.samples]
    pairs = [
        Pair.of(one.samples[key][1], one.samples[key][0], (one.values[key][1], one.values[key][0])) for key in keys
    ]
    tested = paired_tests(pairs, chosen.resamples, chosen.seed, one.groups, chosen.test, chosen.confidence)
    return [
        Comparison(
            system,
            key,
            _direction(key),
            paired,
            detectable=_possible(key, paired.detectable),
            detectable_planned=_possible(key, _planned(paired, chosen.planned)),
        )
        for key, paired in zip(keys, tested, strict=True)
    ]


def _planned(paired: Paired, planned: int | None) -> float | None:
    if planned is None or paired.error is None:
        return None
    return detectable(paired.error, paired.units, planned / paired.n)


def _possible(key: str, difference: float | None) -> float | None:
    """The difference, or None where no two scores are so far apart."""
    for low, high in score_keys()[key].ranges.values():
        if difference is None or (low is not None and high is not None and difference > high - low):
            return None
    return difference


def _corrected(rows: Sequence[Comparison], family: Family) -> list[Comparison]:
    """The rows with the p values that Holm's correction gives each family."""
    families: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        if row.paired.p is not None:
            families.setdefault(row.key if family == "models" else "", []).append(place)
    found = list(rows)
    for places in families.values():
        values = holm(row.paired.p for place in places if (row := rows[place]).paired.p is not None)
        for place, value in zip(places, values, strict=True):
            found[place] = replace(rows[place], p_holm=value, family=len(places))
    return found


def _shared(card: "ScoreCard") -> dict[str, str]:
    return {
        "protocol": f"{card.protocol}@{card.protocol_version}",
        "track": card.track,
        "convention": card.convention,
        "text_preparation": card.text_preparation["name"] or "texts as they are",
    }


def _warning(cards: "Iterable[ScoreCard]") -> str | None:
    """Why patients may repeat unknown, where a card says so."""
    return next((str(found) for card in cards if (found := card.interval.get("warning"))), None)


def _turned(estimate: Estimate | None, whole: float) -> Estimate | None:
    """The same estimate seen from the other system."""
    if estimate is None:
        return None
    ends = estimate.interval
    turned = None if ends is None else (whole - ends[1], whole - ends[0])
    return replace(estimate, value=whole - estimate.value, interval=turned)


def _estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    ends = _list(estimate.interval)
    return {"value": estimate.value, "interval": ends, "undefined_resamples": estimate.undefined_draws}


def _list(ends: tuple[float, float] | None) -> list[float] | None:
    return None if ends is None else list(ends)
