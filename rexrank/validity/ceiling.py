"""How well one radiologist's report scores against another's, and how much a score hangs on who wrote the reference.

Where a study has several references, each of them is scored as if a model had written it, against the others (leave
one out): the human ceiling. A model is scored against the same others, so against as many references, and a study's
value is the mean over the references that were left out, for both sides alike; in a score of summed statistics each of
them counts as an equal part of its study. Studies with fewer than two references that say something take no part.

Style sensitivity is how far a study's score moves when only the reference is changed: the model's report is
scored against each reference alone, and the lowest and the highest value of the study are compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rexrank.comparison.words import p_text
from rexrank.errors import RexrankError
from rexrank.metrics import score_keys
from rexrank.metrics.outcome import Floats
from rexrank.metrics.pairs import Integers, canonical
from rexrank.metrics.several import OPTION, means
from rexrank.reports import read_references
from rexrank.reports.reading import Source
from rexrank.reports.studies import is_blank
from rexrank.reports.validation import read_pair
from rexrank.scoring.progress import Progress
from rexrank.scoring.score import score
from rexrank.scoring.table import counted
from rexrank.scoring.units import units
from rexrank.statistics.bootstrap import intervals
from rexrank.statistics.paired import Pair, Paired, holm, paired_tests
from rexrank.statistics.power import ALPHA
from rexrank.statistics.sample import Sample
from rexrank.terms import Convention, Direction, Track

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

Verdict = Literal["below", "level", "unclear", "above", "untested"]
Ends = tuple[float, float]
_HUMAN, _MODEL, _ALONE = "human", "model", "alone"


class NoCeiling(RexrankError, ValueError):
    """References from which no ceiling can be measured."""


@dataclass(frozen=True)
class Style:
    """How far a study's score moves with the reference alone.

    Attributes:
        lowest: Mean over studies of the lowest value that one of the references gives.
        highest: Mean of the highest.
        change: Mean of highest minus lowest.
        interval: Bootstrap interval of `change`, or None.
        n: Studies with at least two values.
    """

    lowest: float
    highest: float
    change: float
    interval: Ends | None
    n: int


@dataclass(frozen=True)
class Row:
    """One score of radiologists, and of a model, against the same references.

    Attributes:
        key: Score key.
        direction: Which values are better.
        digits: Decimals for readers.
        human: Score of a radiologist's report against the others.
        interval: Its bootstrap interval, or None.
        readers: Score of the first, second … reference of each study against the others; empty where studies have
            different numbers of them.
        paired: Model minus human on the studies where both have a value; None without a model.
        p_holm: Its p corrected for all scores of the call, or None.
        style: How far the model's score moves with the reference; None without a model, or where studies have no
            values of their own.
        n: Studies in which a radiologist's report has a value.
    """

    key: str
    direction: Direction
    digits: int
    human: float | None
    interval: Ends | None
    n: int
    readers: tuple[float | None, ...] = ()
    paired: Paired | None = None
    p_holm: float | None = None
    style: Style | None = None

    @property
    def verdict(self) -> Verdict:
        """Where the model stands: ``below`` the ceiling, ``level`` where the interval holds 0, ``above`` it.

        ``unclear`` where the interval leaves 0 out, and p corrected for all scores is above 5 %.
        """
        if self.paired is None or self.paired.difference is None or self.paired.interval is None:
            return "untested"
        low, high = self.paired.interval
        if low <= 0 <= high:
            return "level"
        if self.p_holm is None or self.p_holm > ALPHA:
            return "unclear"
        return "above" if (low > 0) == (self.direction == "higher") else "below"


@dataclass(frozen=True)
class Ceiling:
    """The human ceiling of scores.

    Attributes:
        rows: One a score.
        n: Studies with at least two references.
        references: Number of references to the number of these studies that have as many.
        left_out: Studies with fewer.
        repeated: Studies in which two references are the same text: copies raise the ceiling.
        track: Which text is compared.
        convention: Of the scores.
        protocol: Rule book, with its version.
        unit: ``study`` or ``patient``, which were drawn as a whole.
        absent: Score key to the reason why it has no ceiling.
        signatures: Score key to the signature of its values.
        confidence: Of the intervals.
        resamples: Draws of intervals and tests.
        seed: Of the draws.
        has_model: Whether predictions were given.
    """

    rows: tuple[Row, ...]
    n: int
    references: Mapping[int, int]
    left_out: int
    repeated: int
    track: Track
    convention: str
    protocol: str
    unit: Literal["study", "patient"]
    absent: Mapping[str, str] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)
    confidence: float = 0.95
    resamples: int = 10_000
    seed: int = 0
    has_model: bool = False

    @property
    def sentence(self) -> str | None:
        """What the first score says, in words; None where there is none."""
        return _sentence(self.rows[0]) if self.rows else None

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps(…, allow_nan=False)``."""
        return {
            "sentence": self.sentence,
            "protocol": self.protocol,
            "track": self.track,
            "convention": self.convention,
            "n": self.n,
            "references": {str(number): studies for number, studies in self.references.items()},
            "left_out": self.left_out,
            "repeated": self.repeated,
            "unit": self.unit,
            "confidence": self.confidence,
            "resamples": self.resamples,
            "seed": self.seed,
            "ceiling": [_row_json(row) for row in self.rows],
            "not_measured": dict(self.absent),
            "signatures": dict(self.signatures),
        }


def ceiling(
    references: Source,
    predictions: Source | None = None,
    metrics: str | Sequence[str] | None = None,
    protocol: str = "rexrank",
    track: Track = "findings",
    convention: Convention | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    progress: bool | Progress = False,
    rule: str | None = None,
    **settings: Any,
) -> Ceiling:
    """Measure the human ceiling of scores, and where a model stands below it.

    Args:
        references: As for `rexrank.score`, with several references for some studies.
        predictions: A model's reports of the same studies; None to measure the ceiling alone.
        metrics: Score keys and names of metrics; None for the protocol's.
        protocol: Rule book.
        track: ``findings``, ``impression`` or ``report``.
        convention: None for the protocol's.
        confidence: Of the intervals, between 0 and 1.
        resamples: Draws of intervals and tests.
        seed: Of the draws.
        progress: As in `rexrank.score`.
        rule: ``best`` or ``mean``, option `several` of the metrics that compare with one reference and are asked for;
            None for the convention's.
        **settings: Further arguments of `rexrank.score` (``device``, ``download`` …).

    Raises:
        RefusedInput: Files that cannot be read, or do not fit each other; with every fault.
        NoCeiling: No study has two references that say something.
        InvalidCall: No such metric, convention or option.
        InvalidStatistics: Options of the draws out of range.
    """
    if predictions is None:
        known, texts = read_references(references, track), None
    else:
        left, known = read_pair(predictions, references, track)
        texts = left.texts
    referred = {
        study_id: [text for text in study.texts(track) if not is_blank(text)]
        for study_id, study in known.studies.items()
    }
    several = {study_id: found for study_id, found in referred.items() if len(found) > 1}
    if not several:
        raise NoCeiling(
            f"none of the {counted(len(referred), 'study')} has two references of the track {track}; give a list of "
            "texts for a study, from different radiologists"
        )
    drawn = units(list(several), known)
    rounds = _Rounds.of(several, texts)
    card = score(
        rounds.predictions,
        rounds.references,
        protocol=protocol,
        track=track,
        metrics=metrics,
        convention=convention,
        groups="study",
        progress=progress,
        options=None if rule is None else {OPTION.name: rule},
        **settings,
    )
    measure = _Measure(rounds, card, drawn.groups, confidence, resamples, seed)
    rows, absent = measure.rows()
    numbers = [len(found) for found in several.values()]
    return Ceiling(
        rows=rows,
        n=len(several),
        references={number: numbers.count(number) for number in sorted(set(numbers))},
        left_out=len(referred) - len(several),
        repeated=sum(len(set(map(canonical, found))) < len(found) for found in several.values()),
        track=track,
        convention=card.convention,
        protocol=f"{card.protocol}@{card.protocol_version}" if card.protocol_version else card.protocol,
        unit=drawn.unit,
        absent=absent,
        signatures={row.key: card.signatures[row.key] for row in rows},
        confidence=confidence,
        resamples=resamples,
        seed=seed,
        has_model=texts is not None,
    )


@dataclass(frozen=True)
class _Rounds:
    """Every comparison, by an id of its own: side, study, and the reference that it is about.

    Attributes:
        numbers: How many references each study has.
        predictions: Id to the text that is scored.
        references: Id to what it is compared with.
    """

    numbers: tuple[int, ...]
    predictions: Mapping[str, str]
    references: Mapping[str, list[str]]

    @classmethod
    def of(cls, several: Mapping[str, list[str]], texts: Mapping[str, str] | None) -> "_Rounds":
        predictions: dict[str, str] = {}
        references: dict[str, list[str]] = {}
        for study, (study_id, found) in enumerate(several.items()):
            for one, text in enumerate(found):
                others = [*found[:one], *found[one + 1 :]]
                sides = {_HUMAN: (text, others)}
                if texts is not None:
                    sides |= {_MODEL: (texts[study_id], others), _ALONE: (texts[study_id], [text])}
                for side, (written, compared) in sides.items():
                    predictions[_id(side, study, one)] = written
                    references[_id(side, study, one)] = compared
        return cls(tuple(map(len, several.values())), predictions, references)

    @property
    def first(self) -> Integers:
        """Where the comparisons of each study begin, and the end, int64 [n + 1]."""
        return np.concatenate([[0], np.cumsum(self.numbers, dtype=np.int64)])

    def ids(self, side: str) -> Iterator[str]:
        """The ids of a side, study by study."""
        return (_id(side, study, one) for study, number in enumerate(self.numbers) for one in range(number))


def _id(side: str, study: int, one: int) -> str:
    return f"{side} {study} {one}"


@dataclass(frozen=True)
class _Measure:
    """Rows of a ceiling from the card of all comparisons."""

    rounds: _Rounds
    card: "ScoreCard"
    groups: Sequence[int] | None
    confidence: float
    resamples: int
    seed: int

    def rows(self) -> tuple[tuple[Row, ...], dict[str, str]]:
        """One row a score, and why others have none."""
        # Of a score without any value the card counts comparisons, not studies.
        absent = {
            key: f"{key} has no value in any comparison" if key in self.card.signatures else why
            for key, why in self.card.unavailable.items()
        }
        found: list[Row] = []
        for key in self.card.summary:
            if score_keys()[key].direction == "none":
                continue
            sample = self.card.sample(key)
            if sample is None:
                absent[key] = "only a whole set has such a score, and no study adds to it"
            else:
                found.append(self._row(key, sample))
        return tuple(_corrected(found)), absent

    def _row(self, key: str, sample: Sample) -> Row:
        known = score_keys()[key]
        human = self._of_studies(sample, _HUMAN)
        row = Row(
            key=key,
            direction=known.direction,
            digits=known.digits,
            human=human.score,
            interval=self._interval(human),
            n=int(human.defined.sum()),
            readers=self._readers(sample),
        )
        if _id(_MODEL, 0, 0) not in self.rounds.predictions:
            return row
        model = self._of_studies(sample, _MODEL)
        pair = Pair.of(model, human, (self._values(key, _MODEL), self._values(key, _HUMAN)))
        options = (self.resamples, self.seed, self.groups)
        (paired,) = paired_tests([pair], *options, confidence=self.confidence)
        return replace(row, paired=paired, style=self._style(key))

    def _positions(self, side: str) -> Integers:
        places = {found: place for place, found in enumerate(self.card.per_study.column("study_id").to_pylist())}
        return np.array([places[one] for one in self.rounds.ids(side)], dtype=np.int64)

    def _of_studies(self, sample: Sample, side: str) -> Sample:
        """Studies instead of comparisons, each the mean of its own."""
        rows = sample.statistics[self._positions(side)]
        folded = replace(sample, statistics=means(rows, self.rounds.first))
        return Sample.of_values(folded.statistics[:, 0]) if sample.is_mean else folded

    def _values(self, key: str, side: str) -> Floats:
        """The mean value of each study, [n]."""
        column = self.card.per_study.column(key).to_numpy()[self._positions(side)]
        return means(np.asarray(column, dtype=np.float64)[:, None], self.rounds.first)[:, 0]

    def _readers(self, sample: Sample) -> tuple[float | None, ...]:
        """The score of the first reference of every study against the others, of the second, and so on."""
        if len(set(self.rounds.numbers)) > 1:
            return ()
        positions = self._positions(_HUMAN).reshape(len(self.rounds.numbers), -1)
        return tuple(sample.take(column).score for column in positions.T)

    def _style(self, key: str) -> Style | None:
        column = np.asarray(self.card.per_study.column(key).to_numpy(), dtype=np.float64)[self._positions(_ALONE)]
        ends = []
        for start, end in zip(self.rounds.first[:-1], self.rounds.first[1:], strict=True):
            values = column[start:end]
            values = values[~np.isnan(values)]
            ends.append((values.min(), values.max()) if len(values) > 1 else (np.nan, np.nan))
        low, high = np.array(ends).T
        change = Sample.of_values(high - low)
        if change.score is None:
            return None
        return Style(
            float(np.nanmean(low)),
            float(np.nanmean(high)),
            change.score,
            self._interval(change),
            int(change.defined.sum()),
        )

    def _interval(self, sample: Sample) -> Ends | None:
        (found,) = intervals([sample], self.confidence, self.resamples, self.seed, self.groups)
        return None if found is None else (found.low, found.high)


def _corrected(rows: Sequence[Row]) -> list[Row]:
    """Rows whose p is corrected for all of them."""
    found = list(rows)
    tested = [(place, row.paired.p) for place, row in enumerate(rows) if row.paired and row.paired.p is not None]
    for (place, _), value in zip(tested, holm(p for _, p in tested), strict=True):
        found[place] = replace(found[place], p_holm=value)
    return found


def _sentence(row: Row) -> str:
    form = f".{row.digits}f"
    if row.human is None:
        return f"{row.key} has no value for a radiologist's report."
    said = f"One radiologist's report has {row.key} {row.human:{form}} against the others"
    paired = row.paired
    if paired is None or paired.difference is None or paired.interval is None:
        return f"{said}, over {counted(row.n, 'study')}."
    low, high = paired.interval
    numbers = f"{paired.difference:+{form}}, interval {low:+{form}} to {high:+{form}}, Holm p {p_text(row.p_holm)}"
    words = {
        "below": "the model stands below that",
        "above": "the model stands above that, which says that it writes like the average and not that it reads better",
        "level": "no difference to the model is seen, which is not to say that there is none",
        "unclear": "a difference to the model is not sure, given how many scores were looked at",
    }
    return f"{said}; {words[row.verdict]} ({numbers})."


def _row_json(row: Row) -> dict[str, Any]:
    paired, style = row.paired, row.style
    told: dict[str, Any] = {
        "score": row.key,
        "better": row.direction,
        "human": row.human,
        "interval": _listed(row.interval),
        "n": row.n,
        "readers": list(row.readers),
    }
    if paired is not None:
        told |= {
            "verdict": row.verdict,
            "model": paired.scores[0],
            "human_paired": paired.scores[1],
            "difference": paired.difference,
            "difference_interval": _listed(paired.interval),
            "p": paired.p,
            "p_holm": row.p_holm,
            "n_paired": paired.n,
            "detectable": paired.detectable,
        }
    if style is not None:
        told["style"] = {
            "lowest": style.lowest,
            "highest": style.highest,
            "change": style.change,
            "interval": _listed(style.interval),
            "n": style.n,
        }
    return told


def _listed(ends: Ends | None) -> list[float] | None:
    return None if ends is None else list(ends)
