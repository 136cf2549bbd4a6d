"""What the scores of one file of predictions mean: scores, floors, groups of studies, diversity and stress in one.

An audit runs the parts of `rexrank.validity` on one system. The predictions are scored first; every part after that
may fail, and then says why, at no cost to the others. `rexrank.validity.audit_answers` puts it in plain words,
`rexrank.validity.audit_page` on a page.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from rexrank.errors import RexrankError
from rexrank.metrics import metric_of, metrics, score_keys
from rexrank.protocols import UnknownProtocol, load
from rexrank.reports.reading import Source
from rexrank.scoring.encoding import EncoderSettings
from rexrank.scoring.progress import Progress, Report, reporting
from rexrank.scoring.score import score
from rexrank.terms import Convention
from rexrank.validity.floors import Floors, build_floors
from rexrank.validity.over_floor import OverFloor, over_floor
from rexrank.validity.sets import EvaluationSet
from rexrank.validity.strata import Estimate, Strata, strata
from rexrank.validity.strata import Settings as StrataSettings
from rexrank.validity.stress import Stress, stress
from rexrank.validity.stress_reports import chosen

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

_log = logging.getLogger(__name__)

# Beside those of the protocol, so that a page without neural models does not hang on one score.
_FURTHER = ("bleu2", "rouge_l", "cider", "f1labels_micro_14")
_MOST_LEADING = 3
NORMAL = "normal"
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Part(Generic[Found]):
    """A part of an audit, or the reason why there is none.

    Attributes:
        found: The part; None where it was not computed.
        why: The reason, a sentence without its full stop; empty where there is a part.
    """

    found: Found | None
    why: str = ""


@dataclass(frozen=True)
class Settings:
    """How a file is audited.

    Attributes:
        protocol: Rule book.
        metrics: Score keys or names of metrics; None for the protocol's and a few more. The audits of single
            errors come on top.
        convention: ``published`` or ``corrected``; None for the protocol's.
        stress_reports: Reports of the set that the stress suite edits at most; 0 for no stress suite.
        minimum: Least number of studies that a group is shown with; None for the host's setting, else 20.
        shows_studies: Whether ids of single studies may stand on the page.
        floors: Floors that were built before, by the same rules; None to build them from the set's training split.
        scoring: Further arguments of `rexrank.score`: ``device``, ``weights``, ``download``, ``modality`` and so on.
    """

    protocol: str = "rexrank"
    metrics: Sequence[str] | None = None
    convention: Convention | None = None
    stress_reports: int = 100
    minimum: int | None = None
    shows_studies: bool = False
    floors: Floors | None = None
    scoring: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Audit:
    """Everything that is known of one file of predictions.

    Attributes:
        name: Of the system.
        evaluation_set: The studies that it was scored on.
        card: Its score card.
        settings: How it was audited.
        floors: Blind floors, scored on the same studies.
        over: How far the system is above its floor in each score.
        against: Score key to floor and system on normal and on abnormal studies.
        groups: Its leading scores in groups of studies.
        stressed: What edits do to the scores.
    """

    name: str
    evaluation_set: EvaluationSet
    card: "ScoreCard"
    settings: Settings
    floors: Part[Floors]
    over: Part[OverFloor]
    against: Part[Mapping[str, Strata]]
    groups: Part[Strata]
    stressed: Part[Stress]

    @property
    def qualities(self) -> list[str]:
        """Scores of whole reports that the card has, those that rank first; the audits of single errors are none."""
        return qualities(self.card)

    @property
    def leading(self) -> list[str]:
        """Scores that are looked at most closely: the protocol's ranking ones, then others, three at most."""
        return leading(self.card)

    def above(self, key: str) -> Estimate | None:
        """The system's score minus its floor's, on the studies where both have a value; None where there is none."""
        row = self.over.found.row(key) if self.over.found else None
        return None if row is None else Estimate(row.paired.difference, row.paired.interval)


def audit(
    predictions: Source,
    evaluation_set: EvaluationSet,
    name: str = "the system",
    settings: Settings | None = None,
    progress: bool | Progress = False,
) -> Audit:
    """Audit a file of predictions.

    Args:
        predictions: As `rexrank.score` takes them.
        evaluation_set: References, training texts and what is known of each study.
        name: What the system is called.
        settings: How.
        progress: True for a bar on stderr after two seconds, or a function as `rexrank.score` takes it.

    Raises:
        RefusedInput: Predictions that cannot be scored; with every fault.
        InvalidCall: No such metric, convention or option.
        UnknownProtocol: No such rule book.
    """
    how = settings or Settings()
    with reporting(progress, total=5) as tell:
        tell("scores")
        card = _scored(predictions, evaluation_set, how, tell)
        tell("floors")
        floors = _attempt("the blind floors", lambda: _floors(card, evaluation_set, how, tell))
        over = _attempt("the system over floors", lambda: _over(card, floors))
        tell("system against floors")
        against = _attempt("floors beside the system", lambda: _against(name, card, floors, evaluation_set, how))
        tell("groups of studies")
        groups = _attempt("scores of groups", lambda: _groups(name, card, evaluation_set, how))
        tell("stress suite")
        stressed = _attempt("the stress suite", lambda: _stressed(card, evaluation_set, how, tell))
    return Audit(name, evaluation_set, card, how, floors, over, against, groups, stressed)


@cache
def single_errors() -> tuple[str, ...]:
    """Scores that find one kind of error alone, in single studies; a report may be bad in all other ways."""
    return tuple(key.key for metric in metrics().values() if metric.is_audit for key in metric.keys)


def qualities(card: "ScoreCard") -> list[str]:
    """Scores of whole reports, those that rank first; neither audits of single errors nor one label of many."""
    fitting = [
        key
        for key in card.summary
        if (known := score_keys().get(key))
        and known.direction != "none"
        and known.of_mean is None
        and known.kind != "set"
        and key not in single_errors()
    ]
    try:
        ranking = load(f"{card.protocol}@{card.protocol_version}").ranking
    except UnknownProtocol:  # a rule book of the caller's own
        ranking = ()
    first = [key for key in ranking if key in fitting]
    return list(dict.fromkeys([*first, *fitting]))


def leading(card: "ScoreCard") -> list[str]:
    """The first few of these, each of another metric."""
    first = {metric_of(key).name: key for key in reversed(qualities(card))}
    return [key for key in qualities(card) if key in first.values()][:_MOST_LEADING]


def _attempt(what: str, build: Callable[[], Found]) -> Part[Found]:
    """A part, or the reason why there is none: one that fails costs no other."""
    try:
        return Part(build())
    except RexrankError as error:
        return Part(None, str(error).rstrip("."))
    except Exception as error:
        # Only the type: another library's message may quote what it was given.
        _log.warning("%s failed with %s", what, type(error).__name__)
        return Part(None, f"it failed with {type(error).__name__}; please report this with the version of rexrank")


def _scored(predictions: Source, known: EvaluationSet, how: Settings, tell: Report) -> "ScoreCard":
    training = [text for study in known.training if (text := study.text(known.track))]
    return score(
        predictions,
        known.references,
        how.protocol,
        known.track,
        metrics=_asked(how),
        convention=how.convention,
        training=training or None,
        progress=_within(tell, "scores"),
        **how.scoring,
    )


def _asked(how: Settings) -> list[str]:
    wanted = [*load(how.protocol).metrics, *_FURTHER] if how.metrics is None else how.metrics
    return list(dict.fromkeys([*wanted, *single_errors()]))


def _floors(card: "ScoreCard", known: EvaluationSet, how: Settings, tell: Report) -> Floors:
    if how.floors is not None:
        return how.floors
    _need_quality(card)
    if not known.training:
        raise RexrankError(f"no training reports of {known.name} are known here; give a file of them with --train")
    given = how.scoring
    settings = EncoderSettings(
        given.get("device"), weights=given.get("weights"), download=bool(given.get("download", True)), progress=False
    )
    return build_floors(
        known, qualities(card), how.protocol, how.convention, settings=settings, progress=_within(tell, "floors")
    )


def _over(card: "ScoreCard", floors: Part[Floors]) -> OverFloor:
    if floors.found is None:
        raise RexrankError(floors.why)
    return over_floor(card, floors.found, qualities(card))


def _against(
    name: str, card: "ScoreCard", floors: Part[Floors], known: EvaluationSet, how: Settings
) -> Mapping[str, Strata]:
    if floors.found is None:
        raise RexrankError(floors.why)
    found = {}
    for key in qualities(card):
        floor = floors.found.of(key)
        if floor is not None:
            cards = {shown_floor(floor.name): floor.card, name: card}
            found[key] = strata(cards, known, [key], [NORMAL], StrataSettings(how.minimum))
    return found


def shown_floor(name: str) -> str:
    """What readers call a floor; its own name says that it is one."""
    return name.removeprefix("Floor - ")


def _need_quality(card: "ScoreCard") -> None:
    if not qualities(card):
        raise RexrankError("no score of whole reports could be computed")


def _groups(name: str, card: "ScoreCard", known: EvaluationSet, how: Settings) -> Strata:
    _need_quality(card)
    return strata({name: card}, known, leading(card), settings=StrataSettings(how.minimum))


def _stressed(card: "ScoreCard", known: EvaluationSet, how: Settings, tell: Report) -> Stress:
    if not how.stress_reports:
        raise RexrankError("it was not asked for")
    texts, _ = chosen(references=known.references, track=known.track, number=how.stress_reports)
    keys = list(dict.fromkeys([*qualities(card), *single_errors()]))
    return stress(
        texts,
        keys,
        convention=cast("Convention", card.convention),
        source=f"{known.track} of {known.name}",
        progress=_within(tell, "stress suite"),
        # The texts alone do not say what the benchmark says of them.
        **{**how.scoring, **{name: card.scope.get(name) for name in ("modality", "language")}},
    )


def _within(tell: Report, stage: str) -> Progress:
    return lambda inner, done, total: tell.within(f"{stage}: {inner}, step {done} of {total}")
