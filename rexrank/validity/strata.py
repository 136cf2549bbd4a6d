"""Scores of groups of studies, and whether two systems differ more in one group than in the others.

A mean over all studies hides that most of them are normal and easy. Each group's score is the score itself on the
studies of the group: a mean anew, or a corpus score from the sums of these studies alone.

Each group is compared with all other studies: for one system its score there minus its score in the others; for
two the difference of differences, that is how much more the second leads in the group than in the others (the
interaction of system and group). Studies, or whole patients, are drawn with replacement from all of them, groups and
systems together, and p is that of the paired bootstrap. p is corrected by Holm's method for all groups
tested in the score.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rexrank.comparison.cards import Aligned, aligned
from rexrank.metrics import InvalidCall, score_keys
from rexrank.protocols import UnknownProtocol, load
from rexrank.scoring.progress import Progress, reporting
from rexrank.scoring.scope import Scope
from rexrank.statistics.bootstrap import Interval, intervals
from rexrank.statistics.paired import Pair, holm, p_values
from rexrank.statistics.sample import Flags, Floats, Sample
from rexrank.validity.divisions import Division, Stratum, divisions
from rexrank.validity.sets import EvaluationSet
from rexrank.validity.suppression import Reason, hidden, least_studies

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

ALL = "all"
_ALL_STUDIES = "all studies"
_MOST_SYSTEMS = 2


@dataclass(frozen=True)
class Settings:
    """How groups are scored.

    Attributes:
        minimum: Least number of studies that a group is shown with; None for the host's setting, else 20.
        confidence: Of the intervals, between 0 and 1.
        resamples: Resamples of intervals and tests.
        seed: Seed of both.
    """

    minimum: int | None = None
    confidence: float = 0.95
    resamples: int = 10_000
    seed: int = 0


@dataclass(frozen=True)
class Estimate:
    """A number with its bootstrap interval; each None where there is none.

    Attributes:
        value: The number.
        interval: Lower and upper end.
        undefined_resamples: Resamples without a score, which the interval had to leave out.
    """

    value: float | None
    interval: tuple[float, float] | None = None
    undefined_resamples: int = 0

    @classmethod
    def of(cls, sample: Sample, found: Interval | None) -> "Estimate":
        """The score of a sample with an interval that was drawn for it."""
        if found is None:
            return cls(sample.score)
        return cls(sample.score, (found.low, found.high), found.undefined_draws)

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps(…, allow_nan=False)``."""
        interval = None if self.interval is None else list(self.interval)
        return {"value": self.value, "interval": interval, "undefined_resamples": self.undefined_resamples}


@dataclass(frozen=True)
class Contrast:
    """A group against all other studies.

    Attributes:
        estimate: For one system its score in the group minus that in the others; for two the same of their difference.
        p: Two-sided p value, or None.
        p_holm: Corrected for all groups tested in the score, or None.
        family: Number of those tests.
    """

    estimate: Estimate
    p: float | None
    p_holm: float | None = None
    family: int = 1

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps(…, allow_nan=False)``."""
        return {**self.estimate.to_json(), "p": self.p, "p_holm": self.p_holm, "family": self.family}


@dataclass(frozen=True)
class Row:
    """One score in one group.

    Attributes:
        key: Score key, or name of the table's column.
        division: Word of the division; ``all`` for all studies.
        stratum: Name of the group.
        source: Where the group is known from.
        n: Studies of the group that have a value of every system; None where it is hidden.
        n_undefined: Studies of the group that have none; None where it is hidden.
        hidden: ``small`` or ``complement`` where the group stays hidden, see `rexrank.validity.suppression`.
        scores: Score of each system on these studies; empty where it is hidden.
        difference: Second system minus the first; None with one system, or where it is hidden.
        contrast: The group against the others; None for all studies, or where it is hidden or the others are none.
    """

    key: str
    division: str
    stratum: str
    source: str
    n: int | None
    n_undefined: int | None
    hidden: Reason | None
    scores: tuple[Estimate, ...] = ()
    difference: Estimate | None = None
    contrast: Contrast | None = None

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps(…, allow_nan=False)``."""
        return {
            "score": self.key,
            "division": self.division,
            "stratum": self.stratum,
            "source": self.source,
            "n": self.n,
            "n_undefined": self.n_undefined,
            "hidden": self.hidden,
            "scores": [one.to_json() for one in self.scores],
            "difference": self.difference.to_json() if self.difference else None,
            "contrast": self.contrast.to_json() if self.contrast else None,
        }


@dataclass(frozen=True)
class Strata:
    """Scores of one or two systems by groups of studies.

    Attributes:
        set_name: What the studies are called.
        track: Which text was compared.
        systems: Names, one or two; the first is the baseline.
        keys: Scores, the one to quote first.
        rows: For each score all studies, then each group in the order of the divisions.
        absent: Word of a division to the reason why it is not there.
        not_scored: Score key to the reason why it has no rows.
        n: Number of studies.
        unit: ``study`` or ``patient``, which were drawn as a whole.
        minimum: Least number of studies that a group is shown with.
        settings: How they were scored.
    """

    set_name: str
    track: str
    systems: tuple[str, ...]
    keys: tuple[str, ...]
    rows: tuple[Row, ...]
    absent: Mapping[str, str]
    not_scored: Mapping[str, str]
    n: int
    unit: Literal["study", "patient"]
    minimum: int
    settings: Settings = field(default_factory=Settings)

    def of(self, key: str) -> list[Row]:
        """The rows of one score."""
        return [row for row in self.rows if row.key == key]

    def row(self, key: str, stratum: str = _ALL_STUDIES, division: str | None = None) -> Row | None:
        """The row of one group in one score, or None where there is none."""
        return next(
            (one for one in self.of(key) if one.stratum == stratum and division in (None, one.division)),
            None,
        )

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps(…, allow_nan=False)``; hidden groups have no number."""
        chosen = self.settings
        return {
            "set": self.set_name,
            "track": self.track,
            "systems": list(self.systems),
            "n": self.n,
            "unit": self.unit,
            "minimum": self.minimum,
            "confidence": chosen.confidence,
            "resamples": chosen.resamples,
            "seed": chosen.seed,
            "test": "bootstrap",
            "correction": {"method": "holm", "family": "groups of one score"},
            "strata": [row.to_json() for row in self.rows],
            "absent": dict(self.absent),
            "not_scored": dict(self.not_scored),
        }


def strata(
    cards: "Mapping[str, ScoreCard] | Aligned",
    evaluation_set: EvaluationSet,
    keys: Sequence[str] | Literal["all"] | None = None,
    by: Iterable[str] | None = None,
    settings: Settings | None = None,
    progress: bool | Progress = False,
) -> Strata:
    """Score groups of studies.

    Args:
        cards: One or two score cards by name, the baseline first; or scores that are aligned already.
        evaluation_set: What is known of the studies.
        keys: Score keys, the one to quote first; ``all`` for every score of the cards; None for the protocol's ranking
            keys that every card has, else for the first score that judges quality.
        by: Words of divisions (`rexrank.validity.divisions`); None for all.
        settings: How to score.
        progress: As in `rexrank.score`.

    Raises:
        CardsDiffer: Cards that may not be compared.
        InvalidCall: Not one or two systems, or unknown words.
        BenchmarkError: There are studies that the set lacks.
        RefusedInput: The ``benchmark.yaml`` beside the references cannot be read.
        InvalidStatistics: Wrong number of resamples, seed or confidence.
        WrongSetting: The host's least number of studies is no number.
    """
    chosen = settings or Settings()
    minimum = least_studies(chosen.minimum)
    scored = cards if isinstance(cards, Aligned) else _of_cards(cards, keys)
    if not 1 <= len(scored.names) <= _MOST_SYSTEMS:
        raise InvalidCall(f"strata: expected one or two systems, got {len(scored.names)}")
    parted, absent = divisions(evaluation_set, scored.study_ids, by, _scope(cards, evaluation_set))
    everyone = Division(ALL, "", (Stratum(_ALL_STUDIES, np.ones(len(scored.study_ids), dtype=np.bool_)),))
    tested = {key: _Scored.of(samples) for key, samples in scored.samples.items()}
    rows: list[Row] = []
    with reporting(progress, total=1 + len(parted) + len(tested)) as report:
        for division in (everyone, *parted):
            report(division.name)
            rows += _scored_division(division, tested, scored, minimum, chosen)
        for key in tested:
            report(f"tests of {key}")
            mine = [place for place, row in enumerate(rows) if row.key == key]
            found = _contrasts([rows[place] for place in mine], tested[key], parted, scored, chosen)
            for place, row in zip(mine, found, strict=True):
                rows[place] = row
    return Strata(
        set_name=evaluation_set.name,
        track=evaluation_set.track,
        systems=scored.names,
        keys=tuple(tested),
        rows=tuple(row for key in tested for row in _ordered([one for one in rows if one.key == key])),
        absent=absent,
        not_scored=scored.absent,
        n=len(scored.study_ids),
        unit="study" if scored.groups is None else "patient",
        minimum=minimum,
        settings=chosen,
    )


def _scope(cards: "Mapping[str, ScoreCard] | Aligned", known: EvaluationSet) -> Scope:
    """What the cards say that the reports are, else what the benchmark of the references says."""
    for card in () if isinstance(cards, Aligned) else cards.values():
        if card.scope.get("modality") or card.scope.get("language"):
            return Scope(card.scope.get("modality"), card.scope.get("language"))
    return Scope.of(None, None, known.references)


def _of_cards(cards: "Mapping[str, ScoreCard]", keys: Sequence[str] | Literal["all"] | None) -> Aligned:
    names = list(cards)
    if not names:
        raise InvalidCall("strata: expected one or two systems, got 0")
    found = aligned([cards[name] for name in names], None if keys == "all" else keys, names)
    if keys is not None:
        return found
    wanted = _to_quote(cards[names[0]], list(found.samples))
    return replace(found, samples={key: found.samples[key] for key in wanted}, absent={})


def _to_quote(card: "ScoreCard", there: Sequence[str]) -> list[str]:
    try:
        ranking = load(f"{card.protocol}@{card.protocol_version}").ranking
    except UnknownProtocol:  # a rule book of the caller's own
        ranking = ()
    judging = [key for key in there if score_keys()[key].direction != "none"]
    return [key for key in ranking if key in judging] or judging[:1]


@dataclass(frozen=True, eq=False)
class _Scored:
    """One score of one or two systems on the studies where every one has a value.

    Attributes:
        systems: Its samples; nan where a study lacks a value of any.
        leading: What is compared between groups: the score itself, or the second minus the first.
    """

    systems: tuple[Sample, ...]
    leading: Sample

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "_Scored":
        if len(samples) == 1:
            return cls((samples[0],), samples[0])
        pair = Pair.of(samples[1], samples[0])
        return cls((pair.second, pair.first), pair.difference)

    @property
    def all(self) -> tuple[Sample, ...]:
        """Every number that a row shows: the systems, and their difference where there are two."""
        return self.systems if len(self.systems) == 1 else (*self.systems, self.leading)

    @property
    def defined(self) -> Flags:
        """Studies that every system has a value of, [n]."""
        return self.leading.defined


def _scored_division(
    division: Division, tested: Mapping[str, _Scored], scored: Aligned, minimum: int, chosen: Settings
) -> Iterator[Row]:
    reasons = _reasons(division, tested, minimum)
    for place, stratum in enumerate(division.strata):
        if not stratum.is_listed:
            continue
        estimates = _estimates(stratum, tested, [key for key in tested if not reasons[key][place]], scored, chosen)
        for key, one in tested.items():
            row = Row(key, division.name, stratum.name, division.source, None, None, reasons[key][place])
            if row.hidden:
                yield replace(row, stratum=stratum.veiled or stratum.name)
                continue
            n = int((one.defined & stratum.rows).sum())
            systems = len(one.systems)
            difference = estimates[key][systems] if systems == _MOST_SYSTEMS else None
            yield replace(
                row, n=n, n_undefined=stratum.n - n, scores=tuple(estimates[key][:systems]), difference=difference
            )


def _reasons(division: Division, tested: Mapping[str, _Scored], minimum: int) -> dict[str, list[Reason | None]]:
    """Score key to what stays hidden: by the number of studies, and by that of the studies with a value."""
    if division.name == ALL:
        return {key: [None] for key in tested}
    of_all = hidden([stratum.n for stratum in division.strata], minimum)
    found = {}
    for key, one in tested.items():
        of_key = hidden([int((one.defined & stratum.rows).sum()) for stratum in division.strata], minimum)
        found[key] = [left or right for left, right in zip(of_all, of_key, strict=True)]
    return found


def _estimates(
    stratum: Stratum, tested: Mapping[str, _Scored], shown: Sequence[str], scored: Aligned, chosen: Settings
) -> dict[str, list[Estimate]]:
    """Scores of a group with their intervals."""
    if not shown:
        return {}
    samples = [one.take(stratum.rows) for key in shown for one in tested[key].all]
    groups = None if scored.groups is None else np.asarray(scored.groups)[stratum.rows].tolist()
    ends = intervals(samples, chosen.confidence, chosen.resamples, chosen.seed, groups)
    estimates = [Estimate.of(one, found) for one, found in zip(samples, ends, strict=True)]
    width = len(samples) // len(shown)
    return {key: estimates[place * width : (place + 1) * width] for place, key in enumerate(shown)}


def _contrasts(
    rows: Sequence[Row], one: _Scored, parted: Sequence[Division], scored: Aligned, chosen: Settings
) -> list[Row]:
    """The rows of one score with each group against the others; the same two groups are tested once."""
    flags = {(division.name, stratum.name): stratum.rows for division in parted for stratum in division.strata}
    pairs: dict[bytes, Pair] = {}
    places: dict[int, tuple[bytes, bool]] = {}
    for place, row in enumerate(rows):
        if row.division == ALL or row.hidden:
            continue
        inside, outside = (one.defined & rows_ for rows_ in _both(flags[row.division, row.stratum]))
        if not inside.any() or not outside.any():
            continue
        turned = bool(outside[np.argmax(one.defined)])
        name = (outside if turned else inside).tobytes()
        places[place] = name, turned
        if name not in pairs:
            first, second = (outside, inside) if turned else (inside, outside)
            pairs[name] = apart(one.leading, first, second)
    if not pairs:
        return list(rows)
    tested = list(pairs.values())
    options = (chosen.resamples, chosen.seed, scored.groups)
    p = p_values(tested, *options, test="bootstrap")
    ends = intervals([pair.difference for pair in tested], chosen.confidence, *options)
    corrected = iter(holm(found for found in p if found is not None))
    contrasts = {
        name: Contrast(
            Estimate.of(pair.difference, interval),
            found,
            None if found is None else next(corrected),
            sum(value is not None for value in p),
        )
        for (name, pair), found, interval in zip(pairs.items(), p, ends, strict=True)
    }
    return [
        replace(row, contrast=_turned(contrasts[places[place][0]], places[place][1])) if place in places else row
        for place, row in enumerate(rows)
    ]


def apart(sample: Sample, inside: Flags, outside: Flags) -> Pair:
    """A score in one group against the same in another, in a form in which studies of both are drawn together.

    Args:
        sample: The score, or the difference of two.
        inside: Studies of the one group, [n].
        outside: Studies of the other, none of them in the first.
    """
    return Pair(_only(sample, inside), _only(sample, outside))


def _both(rows: Flags) -> tuple[Flags, Flags]:
    return rows, ~rows


def _only(sample: Sample, rows: Flags) -> Sample:
    """The score on some of the studies, in a form in which all of them are drawn: the others add nothing.

    A last column counts the studies of the group, as sums of nothing may differ from 0 by rounding: a resample without
    any of them has no score.
    """
    counted = np.concatenate([sample.statistics, np.ones((len(sample), 1))], axis=1)
    formula = sample.formula

    def of_group(sums: Floats) -> Floats:
        scores = np.full(len(sums), np.nan)
        there = sums[:, -1] > 0
        scores[there] = formula(sums[there, :-1])
        return scores

    statistics = np.where((rows | ~sample.defined)[:, None], counted, 0.0)
    return Sample(statistics, of_group, range=sample.range)


def _turned(contrast: Contrast, turned: bool) -> Contrast:
    """The same contrast seen from the other side."""
    value, ends = contrast.estimate.value, contrast.estimate.interval
    if not turned or value is None:
        return contrast
    estimate = replace(contrast.estimate, value=-value, interval=None if ends is None else (-ends[1], -ends[0]))
    return replace(contrast, estimate=estimate)


def _ordered(rows: Sequence[Row]) -> list[Row]:
    """Hidden findings last, by name: their order is not to say which of them is more frequent."""
    last = sorted((row for row in rows if row.division == "finding" and row.hidden), key=lambda row: row.stratum)
    places = [place for place, row in enumerate(rows) if row.division == "finding"]
    if not last:
        return list(rows)
    end = places[-1] + 1
    return [*(row for row in rows[:end] if row not in last), *last, *rows[end:]]
