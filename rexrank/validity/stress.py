"""The stress suite: edit reports on purpose, and see which scores notice what a radiologist would.

Every report is edited in all ways of `rexrank.validity.edits` and scored against itself as it was. Four numbers say
how a score takes it:

- discrimination: how often a report with a harmful edit in one place scores worse than the same report with a harmless
  edit of like size (words that differ, at most twice or half as many); ties count half. 1 always, .5 as a coin does.
  The mean of reports, each the mean of its harmful edits.
- kept: what is left of the way from another report's score up to the report's own, 1 - (own - edited) / (own - other),
  of the sums over reports. 1: the edit costs nothing. 0: it costs as much as another report of the set in its place.
  Kept is linear in the score, so it is the same for a score in any unit, and comparable between scores.
- robustness: kept under all harmless edits, everywhere they can be made, with the size of each change, up or down.
- monotonicity: share of reports whose score falls with the first, the second and the third of three harmful edits.

All intervals draw reports.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from rexrank.metrics import metric_of, metrics, score_keys
from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.registry import keys_named
from rexrank.reports.studies import is_blank
from rexrank.scoring.card import ScoreCard
from rexrank.scoring.progress import Progress, Report, reporting
from rexrank.scoring.scope import ANY, Scope
from rexrank.scoring.score import score
from rexrank.statistics.bootstrap import intervals
from rexrank.statistics.inputs import Floats
from rexrank.statistics.sample import Sample
from rexrank.terms import Convention
from rexrank.validity.stress_texts import (
    ALL,
    DOSES,
    ERRORS,
    JOINED,
    KINDS,
    MOST_ERRORS,
    ONE,
    ORIGINAL,
    OTHER,
    TRUNCATED,
    NothingToStress,
    Variant,
    variants,
)

Sight = Literal["yes", "barely", "no", "unsure"]

RESAMPLES = 2000
# Discrimination of a coin, and that from which on a score sees an edit.
COIN, SEEN = 0.5, 0.75
CONFIDENCE = 0.95
# Sums of the same numbers in another order differ by less, relative to the scores.
_ROUNDING = 1e-9
_LIKE_SIZE = 2.0
Name = tuple[str, str]
_SHORTENED: tuple[Name, ...] = ((TRUNCATED, "75%"), (TRUNCATED, "50%"), (TRUNCATED, "25%"))
_ERRONEOUS: tuple[Name, ...] = tuple((ERRORS, str(number)) for number in range(1, MOST_ERRORS + 1))


@dataclass(frozen=True)
class Estimate:
    """A number over reports.

    Attributes:
        value: The number; None where no report has one.
        interval: Its ends, or None with fewer than two reports.
        n: Reports behind it.
    """

    value: float | None
    interval: tuple[float, float] | None
    n: int


@dataclass(frozen=True)
class Cell:
    """What one edit in one dose does to one score.

    Attributes:
        edit: Name of the edit.
        dose: ``one`` place, ``all`` places, a number of errors, or a share of words kept; empty for whole reports.
        kind: ``harmful``, ``harmless``, or empty for edits of length and whole reports.
        score: Mean score of the edited reports.
        kept: Share of the way from another report's score to the own one that is left.
    """

    edit: str
    dose: str
    kind: str
    score: Estimate
    kept: Estimate


@dataclass(frozen=True)
class Stressed:
    """How one score takes the edits.

    Attributes:
        key: Score key.
        direction: ``higher`` or ``lower``, whichever is better.
        discrimination: Over all harmful edits.
        by_edit: Harmful edit to the discrimination of that edit alone.
        robustness: Kept under harmless edits.
        monotonicity: Share of reports that fall with each of three errors.
        truncation: Share of reports that fall with each further quarter cut off.
        concatenation: Share of reports where own, own with another behind it, and the other stand in this order.
        cells: Edits and doses.
    """

    key: str
    direction: str
    discrimination: Estimate
    by_edit: Mapping[str, Estimate]
    robustness: Estimate
    monotonicity: Estimate
    truncation: Estimate
    concatenation: Estimate
    cells: tuple[Cell, ...]

    def sees(self, edit: str) -> Sight | None:
        """Whether the score tells a harmful edit from harmless ones of like size, by the ends of the interval.

        Returns:
            ``yes`` where it lies above .75, ``barely`` where it lies above .5, ``no`` where it reaches to .5 and stays
            below .75, ``unsure`` where it reaches from the one to the other; None without an interval.
        """
        ends = self.by_edit[edit].interval
        if ends is None:
            return None
        if ends[0] > COIN:
            return "yes" if ends[0] > SEEN else "barely"
        return "no" if ends[1] < SEEN else "unsure"

    @property
    def unseen(self) -> list[str]:
        """Harmful edits that the score does not see."""
        return [name for name in self.by_edit if self.sees(name) == "no"]

    def cell(self, edit: str, dose: str = ONE) -> Cell | None:
        """One cell, or None where no report could be edited so."""
        return next((one for one in self.cells if (one.edit, one.dose) == (edit, dose)), None)


@dataclass(frozen=True)
class Stress:
    """The stress suite's result.

    Attributes:
        source: What the reports are, in words.
        n: Reports.
        seed: Of edits and draws.
        convention: ``published`` or ``corrected``.
        resamples: Of the intervals.
        applied: Edit to the number of reports that it could be made in, and the mean size in words of one place and
            of all places.
        scores: Score key to what the edits do to it.
        unavailable: Score key to the reason why it was not stressed.
        signatures: Score key to what pins its numbers.
    """

    source: str
    n: int
    seed: int
    convention: str
    resamples: int
    applied: Mapping[str, tuple[int, float, float]]
    scores: Mapping[str, Stressed]
    unavailable: Mapping[str, str]
    signatures: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps(…, allow_nan=False)``; no text."""
        found = asdict(self)
        found["confidence"] = CONFIDENCE
        found["applied"] = {
            name: {"kind": KINDS[name], "n": n, "words_one": one, "words_all": every}
            for name, (n, one, every) in self.applied.items()
        }
        for key, one in self.scores.items():
            found["scores"][key]["sees"] = {name: one.sees(name) for name in one.by_edit}
        return found


def default_keys() -> list[str]:
    """The first score of every metric that reads texts alone, without a model and without a program of its own."""
    return [
        metric.keys[0].key
        for metric in metrics().values()
        if metric.task == "report"
        and metric.missing is None
        and not metric.keys[0].needs
        and not _why_not(metric.keys[0].key)
    ]


def stress(
    texts: Sequence[str],
    keys: Sequence[str] | str | None = None,
    seed: int = 0,
    convention: Convention = "published",
    source: str = "reports",
    resamples: int = RESAMPLES,
    progress: bool | Progress = False,
    **scoring: Any,
) -> Stress:
    """Edit reports, score them, and say which scores notice.

    Args:
        texts: Reports; blank ones are left out.
        keys: Score keys or metric names; ``all`` for every score of reports; None for `default_keys`.
        seed: Of edits and draws.
        convention: ``published`` or ``corrected``.
        source: What the reports are, for tables.
        resamples: Of the intervals.
        progress: True for a bar on stderr after two seconds, or a function as `rexrank.score` takes it.
        scoring: Further arguments of `rexrank.score`: ``device``, ``weights``, ``download``, ``options``, ``language``
            and so on.

    Returns:
        The result. A score that cannot be computed, that is no quality, or that has no value of single reports is in
        ``unavailable`` with its reason.

    Raises:
        NothingToStress: Fewer than two different reports, or `language` is another than that of the edits.
        InvalidCall: No such score or option.
    """
    scope = Scope.of(scoring.get("modality"), scoring.get("language"))
    if why := scope.excludes("the stress suite", (ANY,), ("en",)):
        raise NothingToStress(why)
    kept = [text for text in texts if not is_blank(text)]
    asked = _asked(keys)
    absent = {key: why for key in asked if (why := _why_not(key))}
    possible = [key for key in asked if key not in absent]
    with reporting(progress, total=3) as report:
        report("edit")
        made = variants(kept, seed, lambda done: report.within(f"edit, {done:,} of {len(kept):,} reports"))
        report("score")
        card = _scored(made, kept, possible, convention, report, scoring) if possible else None
        report("compare")
        found = {
            key: _Judged(_Table.of(made, card, key, len(kept)), seed, resamples).all()
            for key in possible
            if card is not None and key in card.summary
        }
    if card is not None:
        absent |= {key: card.unavailable.get(key, f"{key} was not computed") for key in possible if key not in found}
    return Stress(
        source,
        len(kept),
        seed,
        convention,
        resamples,
        _applied(made),
        found,
        absent,
        {key: card.signatures[key] for key in found} if card else {},
    )


def _asked(keys: Sequence[str] | str | None) -> list[str]:
    if keys is None:
        return default_keys()
    names = [word.strip() for word in keys.split(",") if word.strip()] if isinstance(keys, str) else list(keys)
    if names == ["all"]:
        return [key for key, one in score_keys().items() if metric_of(key).task == "report" and not one.opt_in]
    found: dict[str, None] = {}
    for name in names:
        found |= dict.fromkeys(keys_named(name) or [metric_of(name).name])
    if not found:
        raise InvalidCall("metrics: name at least one score; `rexrank metrics` lists what there is")
    return list(found)


def _why_not(key: str) -> str | None:
    """Why a score cannot be stressed at all."""
    one = score_keys()[key]
    if metric_of(key).task != "report":
        return f"{key} compares answers to questions, not reports"
    if one.direction == "none":
        return f"{key} is no quality: neither more nor less of it is better"
    if one.kind == "set" or one.of_mean is not None:
        return f"{key} has no value of single reports"
    return None


def _scored(
    made: Sequence[Variant],
    texts: Sequence[str],
    keys: Sequence[str],
    convention: Convention,
    report: Report,
    scoring: Mapping[str, Any],
) -> ScoreCard:
    names = [str(position) for position in range(len(made))]
    return score(
        dict(zip(names, (one.text for one in made), strict=True)),
        dict(zip(names, (texts[one.report] for one in made), strict=True)),
        "plain",
        metrics=list(keys),
        convention=convention,
        progress=lambda stage, done, total: report.within(f"{stage}, step {done} of {total}"),
        groups=dict(zip(names, (one.report for one in made), strict=True)),
        **scoring,
    )


def _applied(made: Sequence[Variant]) -> dict[str, tuple[int, float, float]]:
    sizes: dict[Name, list[int]] = {}
    for one in made:
        sizes.setdefault(one.name, []).append(one.size)
    return {
        name: (len(sizes[name, ONE]), float(np.mean(sizes[name, ONE])), float(np.mean(sizes[name, ALL])))
        for name in KINDS
        if (name, ONE) in sizes
    }


@dataclass(frozen=True, eq=False)
class _Table:
    """Values of one score, the higher the better, and the sizes of the edits.

    Attributes:
        key: Score key.
        sign: 1 where the score is better the higher it is, else -1.
        values: Edit and dose to values, [reports]; nan where there is none.
        sizes: Edit and dose to words that differ, [reports]; nan where the edit could not be made.
    """

    key: str
    sign: int
    values: Mapping[Name, Floats]
    sizes: Mapping[Name, Floats]

    @classmethod
    def of(cls, made: Sequence[Variant], card: ScoreCard, key: str, reports: int) -> "_Table":
        sign = 1 if score_keys()[key].direction == "higher" else -1
        column = sign * card.per_study.column(key).to_numpy()
        values = {one.name: np.full(reports, np.nan) for one in made}
        sizes = {name: np.full(reports, np.nan) for name in values}
        for one, value in zip(made, column, strict=True):
            values[one.name][one.report] = value
            sizes[one.name][one.report] = one.size
        return cls(key, sign, values, sizes)

    def __getitem__(self, name: Name) -> Floats:
        return self.values.get(name, np.full(len(self.values[ORIGINAL]), np.nan))


@dataclass(frozen=True, eq=False)
class _Judged:
    """From the values of one score to what is said of it."""

    table: _Table
    seed: int
    resamples: int

    def all(self) -> Stressed:
        """Everything, with intervals that are all found in one call."""
        table, names, harmful = self.table, self._names(), [name for name, kind in KINDS.items() if kind == "harmful"]
        wins = {name: self._wins(name) for name in harmful}
        samples = {
            "discrimination": Sample.of_values(_mean(list(wins.values()))),
            "robustness": self._kept(self._harmless_change()),
            "monotonicity": self._falls(*_ERRONEOUS),
            "truncation": self._falls(*_SHORTENED),
            "concatenation": self._falls(JOINED, OTHER),
            **{f"wins {name}": Sample.of_values(wins[name]) for name in harmful},
            **{f"score {name}": Sample.of_values(table.sign * table[name]) for name in names},
            **{f"kept {name}": self._kept(table[ORIGINAL] - table[name]) for name in names},
        }
        found = self._estimates(samples)
        return Stressed(
            key=table.key,
            direction=score_keys()[table.key].direction,
            discrimination=found["discrimination"],
            by_edit={name: found[f"wins {name}"] for name in harmful},
            robustness=found["robustness"],
            monotonicity=found["monotonicity"],
            truncation=found["truncation"],
            concatenation=found["concatenation"],
            cells=tuple(
                Cell(*name, KINDS.get(name[0], ""), found[f"score {name}"], found[f"kept {name}"]) for name in names
            ),
        )

    def _names(self) -> list[Name]:
        """Edits and doses in the order of tables."""
        known = [(edit, dose) for edit in KINDS for dose in DOSES]
        known += [*_ERRONEOUS, *_SHORTENED, JOINED, OTHER]
        return [name for name in known if name in self.table.values]

    def _estimates(self, samples: Mapping[str, Sample]) -> dict[str, Estimate]:
        found = intervals(list(samples.values()), CONFIDENCE, self.resamples, self.seed)
        return {
            name: Estimate(
                sample.score,
                None if one is None or sample.score is None else (one.low, one.high),
                int(sample.defined.sum()),
            )
            for (name, sample), one in zip(samples.items(), found, strict=True)
        }

    def _wins(self, edit: str) -> Floats:
        """Of the harmless edits of like size, the share that scores better than a harmful one, [reports]."""
        mine, words = self.table[edit, ONE], self.table.sizes.get((edit, ONE), self.table[edit, ONE])
        found = []
        for name, kind in KINDS.items():
            for dose in DOSES if kind == "harmless" else ():
                theirs, size = self.table[name, dose], self.table.sizes.get((name, dose))
                if size is None:
                    continue
                with np.errstate(invalid="ignore", divide="ignore"):
                    alike = (size > 0) & (np.abs(np.log2(size / words)) <= np.log2(_LIKE_SIZE))
                    better = np.where(_equal(mine, theirs), 0.5, (theirs > mine).astype(np.float64))
                found.append(np.where(alike & ~np.isnan(mine) & ~np.isnan(theirs), better, np.nan))
        return _mean(found)

    def _harmless_change(self) -> Floats:
        """Mean size of the change under harmless edits that are made everywhere, [reports]."""
        own = self.table[ORIGINAL]
        return _mean([np.abs(own - self.table[name, ALL]) for name, kind in KINDS.items() if kind == "harmless"])

    def _kept(self, lost: Floats) -> Sample:
        """What is left of the way from another report's score: 1 - lost / (own - other), of the sums."""
        way = self.table[ORIGINAL] - self.table[OTHER]
        missing = np.isnan(lost) | np.isnan(way)
        statistics = np.stack([np.where(missing, np.nan, lost), np.where(missing, np.nan, way)], axis=1)
        return Sample(statistics, _left)

    def _falls(self, *names: Name) -> Sample:
        """Whether the score falls from the own report on at every step; undefined where a value is missing."""
        chain = [self.table[name] for name in (ORIGINAL, *names)]
        steps = [(later < earlier) & ~_equal(earlier, later) for earlier, later in pairwise(chain)]
        missing = np.isnan(np.stack(chain)).any(axis=0)
        return Sample.of_values(np.where(missing, np.nan, np.all(steps, axis=0).astype(np.float64)))


def _left(sums: Floats) -> Floats:
    """Shares kept, [b, 2] to [b]; nan where another report scores no worse than the own one."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(sums[:, 1] > 0, 1 - sums[:, 0] / sums[:, 1], np.nan))


def _equal(first: Floats, second: Floats) -> Any:
    return np.abs(first - second) <= _ROUNDING * (np.abs(first) + np.abs(second))


def _mean(columns: Sequence[Floats]) -> Floats:
    """Mean of what is there, [reports]; nan where nothing is."""
    stacked = np.stack(columns)
    known = ~np.isnan(stacked)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, stacked, 0).sum(axis=0) / known.sum(axis=0))
