"""From predictions and references to a score card."""

import logging
import platform
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rexrank import __version__
from rexrank.errors import RefusedInput, RexrankError, shown
from rexrank.metrics import InvalidCall, KeyScores, compute, metric_of, metrics, options_of, score_keys
from rexrank.metrics.inputs import check_choice
from rexrank.metrics.policy import Policy, read_policy
from rexrank.protocols import Prepared, Protocol, load, prepare
from rexrank.protocols.protocol import PreparationOption
from rexrank.reports.problems import Problem, shown_id
from rexrank.reports.reading import Source
from rexrank.reports.studies import Limits, Predictions, References, is_blank
from rexrank.reports.validation import read_pair
from rexrank.scoring.card import ScoreCard, finite
from rexrank.scoring.plan import Plan, plan
from rexrank.scoring.table import counted
from rexrank.statistics import corpus_interval, interval
from rexrank.terms import CONVENTIONS, Convention, Track

if TYPE_CHECKING:
    import pyarrow

Progress = Callable[[str, int, int], None]
T = TypeVar("T")
CONFIDENCE, RESAMPLES, SEED = 0.95, 10_000, 0
_PACKAGES = ("numpy", "pyarrow", "pydantic")
# What the bar calls a metric that waits before it begins, so that nobody takes it for one that hangs.
_SLOW_STARTS = {"meteor": "meteor (its Java program takes about 10 s to start)"}
_log = logging.getLogger(__name__)


def score(
    predictions: Source,
    references: Source,
    protocol: str | Protocol | None = "rexrank",
    track: Track = "findings",
    metrics: str | Iterable[str] | None = None,
    convention: Convention | None = None,
    device: str | None = None,
    cache_dir: str | None = None,
    progress: bool | Progress = True,
    text_preparation: str | None = None,
    limits: Limits | None = None,
    options: Mapping[str, Any] | None = None,
) -> ScoreCard:
    """Score predictions against references.

    Args:
        predictions: ``{study_id: text}``, a path or ``hf://`` address of a JSON, JSONL, CSV, TSV or Parquet file, or
            a list of texts.
        references: The same, where a text may be a list of texts or a record with sections; a list exactly when
            `predictions` is one.
        protocol: Rule book: ``rexrank`` (newest version), ``rexrank@2025-09-05``, ``plain``; None is ``plain``.
        track: ``findings``, ``impression`` or ``report``.
        metrics: Score keys or metric names; ``all`` for every metric of reports; None for the
            protocol's list.
        convention: ``published`` or ``corrected``; None for the protocol's.
        device: Where models run, for metrics that have one; None chooses.
        cache_dir: Folder for features of models, for metrics that have one.
        progress: True for a bar on stderr after two seconds, False for none, or a function that is called with
            ``(stage, done, total)``.
        text_preparation: ``reference``, ``both``, ``none`` or ``sections``, text options (`rexrank.protocols.texts`),
            or both, joined with ``+`` (``sections+lower+deid-drop``); None for the protocol's.
        limits: What a file may hold at most.
        options: Options of the metrics and of their policy by name (``{"stemmer": False}``); docs/metrics.md lists
            them. Each goes to the metrics that have it.

    Returns:
        The score card. A metric that fails is in ``unavailable`` with its reason; the others are computed.

    Raises:
        RefusedInput: The inputs, or a file that an option names, cannot be scored; with every fault.
        UnknownProtocol: No such protocol, version, track or text preparation.
        InvalidCall: No such metric, convention or option, a value that the option does not take, or answers to
            questions with a text preparation for reports.
    """
    started = _now()
    rules = load(protocol)
    chosen = _convention(convention, rules)
    preparation = rules.option(chosen, text_preparation).choice
    rules.check_track(track)
    work = plan(metrics, rules, [name for name, value in (options or {}).items() if value is not None])
    given = dict(options or {})
    policy = _check_options(given, work, chosen)
    _refuse_answers(work, track, preparation)
    # Intervals take as long as scores, so each is a step of its own.
    with _reporting(progress, total=1 + len(work.groups) + len(work.keys)) as step:
        step("read")
        left, right = read_pair(predictions, references, track, limits)
        prepared = prepare(rules, track, right.studies, left.texts, chosen, text_preparation)
        _refuse_nothing(prepared, right, track)
        _refuse_blanks(policy, prepared, left, right)
        results = _Results(dict(work.unavailable), given)
        for name in _in_order(work, given):
            results.add(name, work.groups[name], prepared, chosen, step)
    return _card(started, rules, chosen, track, work, prepared, results, (left, right))


@dataclass
class _Results:
    """What the metrics returned so far."""

    unavailable: dict[str, str]
    options: Mapping[str, Any]
    scores: dict[str, KeyScores] = field(default_factory=dict)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def add(
        self, name: str, keys: list[str], prepared: Prepared, convention: Convention, step: Callable[[str], None]
    ) -> None:
        """Run one metric; a failure costs that metric alone, but for an option that the caller has to mend."""
        start = time.perf_counter()
        step(name)
        texts = prepared.predictions, prepared.references
        own = _own_options(name, self.options)
        scores = self._attempt(name, keys, lambda: compute(keys, *texts, convention, prepared.name, **own))
        for key, one in (scores or {}).items():
            step(f"interval of {key}")
            ends = self._attempt(name, [key], partial(_interval, one))
            if key not in self.unavailable:
                self._keep(key, one, ends)
        self.seconds[name] = round(time.perf_counter() - start, 3)

    def _attempt(self, name: str, keys: list[str], work: Callable[[], T]) -> T | None:
        """Do ``work``, or note why its keys are unavailable."""
        try:
            return work()
        except RexrankError as error:
            if _is_about_an_option(error, _own_options(name, self.options)):
                raise
            reason = f"{name}: {error}"
        except Exception as error:
            # Only the type: another library's message may quote a report.
            _log.warning("metric %s failed with %s", name, type(error).__name__)
            reason = f"{name} failed with {type(error).__name__}; please report this with the version of rexrank"
        self.unavailable.update(dict.fromkeys(keys, reason))
        return None

    def _keep(self, key: str, scores: KeyScores, ends: tuple[float, float] | None) -> None:
        self.scores[key] = scores
        if finite(scores.aggregate) is None:
            self.unavailable[key] = f"{key} is undefined for {_undefined(scores)}"
        elif ends is not None:
            self.intervals[key] = ends


def _own_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    return {option: value for option, value in options.items() if option in options_of(name)}


def _in_order(work: Plan, options: Mapping[str, Any]) -> list[str]:
    """The metrics; those with an option of their own come first, so that a wrong one is known before long work."""
    return sorted(work.groups, key=lambda name: not any(option in metrics()[name].option_names for option in options))


def _is_about_an_option(error: RexrankError, options: Mapping[str, Any]) -> bool:
    """Whether a metric refused the value of an option, and not a text.

    A call's fault begins with the argument's name; and a metric reads no other file than one that an option names.
    """
    if isinstance(error, RefusedInput):
        return bool(options)
    named = re.match(r"\w+", str(error))
    return isinstance(error, InvalidCall) and named is not None and named[0] in options


def _undefined(scores: KeyScores) -> str:
    """Which studies have no value, and why: every one for itself, or only the set of them."""
    number = counted(len(scores.values), "study")
    if scores.counts["n_undefined"] < len(scores.values):
        return f"the {number} together"
    reasons = [reason for reason, _ in Counter(scores.reasons.values()).most_common()]
    return f"{'all' if len(scores.values) > 1 else 'the'} {number} ({', '.join(reasons)})"


def _interval(scores: KeyScores) -> tuple[float, float] | None:
    if score_keys()[scores.key].kind == "set":
        return None
    if scores.statistics is not None and scores.formula is not None:
        return corpus_interval(scores.statistics, scores.formula, CONFIDENCE, RESAMPLES, SEED)
    return interval(scores.values, CONFIDENCE, RESAMPLES, SEED)


def _card(
    started: str,
    rules: Protocol,
    convention: Convention,
    track: Track,
    work: Plan,
    prepared: Prepared,
    results: _Results,
    inputs: tuple[Predictions, References],
) -> ScoreCard:
    scores = {key: results.scores[key] for key in work.keys if key in results.scores}
    aggregates = {key: finite(one.aggregate) for key, one in scores.items()}
    preparation = {
        "option": str(prepared.option),
        "name": prepared.name,
        "version": rules.text_preparation.version,
    }
    return ScoreCard(
        summary={key: value for key, value in aggregates.items() if value is not None},
        unavailable=results.unavailable,
        per_study=_table(prepared.study_ids, scores),
        counts={key: {name: int(count) for name, count in one.counts.items()} for key, one in scores.items()},
        intervals=results.intervals,
        signatures={key: one.signature for key, one in scores.items()},
        protocol=rules.name,
        protocol_version=rules.version,
        track=track,
        convention=convention,
        text_preparation=preparation,
        n=len(prepared.study_ids),
        left_out=prepared.left_out,
        ignored_predictions=prepared.ignored,
        distinct_outputs=len(set(prepared.predictions)) / len(prepared.predictions),
        inputs={
            "predictions": {"source": inputs[0].source, "sha256": inputs[0].sha256},
            "references": {"source": inputs[1].source, "sha256": inputs[1].sha256},
        },
        interval={"confidence": CONFIDENCE, "method": "percentile bootstrap", "resamples": RESAMPLES, "seed": SEED},
        library_version=__version__,
        packages=_packages(),
        device="cpu",  # no metric of this version needs a model
        started_at=started,
        finished_at=_now(),
        seconds=results.seconds,
    )


def _table(study_ids: list[str], scores: Mapping[str, KeyScores]) -> "pyarrow.Table":
    import numpy as np
    import pyarrow

    columns = {"study_id": pyarrow.array(study_ids, pyarrow.string())}
    for key, one in scores.items():
        columns[key] = pyarrow.array(one.values, pyarrow.float64(), mask=~np.isfinite(one.values))
    return pyarrow.table(columns)


def _check_options(given: Mapping[str, Any], work: Plan, convention: Convention) -> Policy:
    """The policy that the options choose; all are checked as far as no metric is needed for it.

    Options of an unavailable metric are known too.
    """
    asked = dict.fromkeys(metric_of(key).name for key in (*work.keys, *work.unavailable) if key in score_keys())
    known = dict.fromkeys(option for name in asked for option in options_of(name))
    for option in given:
        if option not in known:
            listed = ", ".join(known) or "none"
            raise InvalidCall(f"unknown option {shown(option)}; the metrics asked for take {listed}")
    return read_policy(convention, given)


def _refuse_answers(work: Plan, track: Track, preparation: PreparationOption) -> None:
    """Refuse to put ``Findings: `` before answers to questions: each would count as wrong."""
    answers = [key for key in work.keys if metric_of(key).task == "vqa"]
    if answers and track == "findings" and preparation in {"reference", "both"}:
        raise InvalidCall(
            f"metrics: {answers[0]} compares answers, and the text preparation {preparation} puts a header "
            "before them; choose the protocol plain"
        )


def _refuse_blanks(policy: Policy, prepared: Prepared, predictions: Predictions, references: References) -> None:
    """Stop where an option calls blank texts an error, and name the studies."""
    sides = (
        ("on_empty_prediction", policy.on_empty_prediction, predictions.source, prepared.predictions),
        ("on_empty_reference", policy.on_empty_reference, references.source, prepared.references),
    )
    problems = [
        Problem("wrong_type", source, shown_id(study_id), None, f"the text is blank, which {option}=error refuses")
        for option, treatment, source, texts in sides
        if treatment == "error"
        for study_id, text in zip(prepared.study_ids, texts, strict=True)
        if all(map(is_blank, [text] if isinstance(text, str) else text))
    ]
    if problems:
        raise RefusedInput(problems)


def _refuse_nothing(prepared: Prepared, references: References, track: Track) -> None:
    if not prepared.study_ids:
        number = len(references)
        studies = "its only study lacks" if number == 1 else f"none of its {number:,} studies has"
        message = f"{studies} the texts of the track {track}"
        raise RefusedInput([Problem("missing_ids", references.source, None, track, message)])


def _convention(asked: str | None, rules: Protocol) -> Convention:
    if asked is None:
        return rules.convention
    return cast(Convention, check_choice("convention", asked, CONVENTIONS))


@contextmanager
def _reporting(progress: bool | Progress, total: int) -> Iterator[Callable[[str], None]]:
    """Give a function that says which stage begins; the bar shows once two seconds have passed."""
    done = 0
    stage = ""

    if callable(progress):

        def begin(name: str) -> None:
            nonlocal done, stage
            progress(name, done, total)
            done, stage = done + 1, name

        yield begin
        progress(stage, total, total)
        return

    from tqdm import tqdm

    with tqdm(total=total, delay=2, file=sys.stderr, leave=False, disable=None if progress else True) as bar:

        def advance(name: str) -> None:
            nonlocal done
            bar.set_description(_SLOW_STARTS.get(name, name), refresh=False)
            bar.update(min(done, 1))
            done += 1
            if name in _SLOW_STARTS:
                bar.refresh()  # the delay would show nothing before the next stage

        yield advance


def _packages() -> dict[str, str]:
    found: dict[str, Any] = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
