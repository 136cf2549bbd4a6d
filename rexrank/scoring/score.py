"""From predictions and references to a score card."""

import logging
import os
import platform
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from rexrank import __version__
from rexrank.encoders.devices import devices
from rexrank.errors import RefusedInput, RexrankError, shown
from rexrank.metrics import (
    Features,
    InvalidCall,
    KeyScores,
    Unavailable,
    compute,
    metric_of,
    metrics,
    options_of,
    score_keys,
)
from rexrank.metrics.inputs import check_choice, check_names
from rexrank.metrics.policy import Policy, read_policy
from rexrank.metrics.report_statistics import read_training
from rexrank.protocols import Prepared, Protocol, load, prepare
from rexrank.protocols.protocol import PreparationOption
from rexrank.reports.known import attributes_of
from rexrank.reports.problems import Problem, shown_id
from rexrank.reports.reading import Source
from rexrank.reports.studies import Limits, Predictions, References, is_blank
from rexrank.reports.validation import read_pair
from rexrank.scoring import label_files
from rexrank.scoring.card import ScoreCard, finite
from rexrank.scoring.diversity import diversity
from rexrank.scoring.encoding import EncoderSettings, Encoding, Request
from rexrank.scoring.encoding import requests as requests_of
from rexrank.scoring.label_files import GivenLabels
from rexrank.scoring.plan import Plan, is_given, own_options, plan
from rexrank.scoring.progress import Progress, Report, reporting
from rexrank.scoring.questions import asked, asks_questions
from rexrank.scoring.scope import Scope
from rexrank.scoring.table import counted
from rexrank.scoring.units import Units, units
from rexrank.statistics.bootstrap import DEFAULT, Interval, intervals
from rexrank.statistics.sample import Sample
from rexrank.terms import CONVENTIONS, Convention, Track

if TYPE_CHECKING:
    import pyarrow

T = TypeVar("T")
CONFIDENCE, RESAMPLES, SEED = 0.95, 10_000, 0
_PACKAGES = ("numpy", "pyarrow", "pydantic")
_ENCODERS_PACKAGES = ("torch", "transformers", "tokenizers")
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
    weights: str | None = None,
    download: bool = True,
    cache: bool = True,
    groups: Mapping[str, Hashable] | Literal["study"] | None = None,
    labels: tuple[Source, Source] | None = None,
    training: str | os.PathLike[str] | Sequence[str] | None = None,
    modality: str | None = None,
    language: str | None = None,
) -> ScoreCard:
    """Score predictions against references.

    Args:
        predictions: ``{study_id: text}``, a path or ``hf://`` address of a JSON, JSONL, CSV, TSV or Parquet file, or
            a list of texts.
        references: The same, where a text may be a list of texts or a record with sections; a list exactly when
            `predictions` is one. Where scores of answers alone are asked for, a file of questions
            (`rexrank.reports.questions`) too, which then may be the predictions as well.
        protocol: Rule book: ``rexrank`` (newest version), ``rexrank@2025-09-05``, ``cxpmrg``, ``cxpmrg-iu``, ``plain``;
            None is ``plain``.
        track: ``findings``, ``impression`` or ``report``.
        metrics: Score keys or metric names; ``all`` for every metric of reports; None for the
            protocol's list.
        convention: ``published`` or ``corrected``; None for the protocol's.
        device: Where encoders run: ``cpu``, ``mps``, ``cuda``, ``cuda:1``, or several with commas between them; None
            for ``REXRANK_DEVICE``, else what is there.
        cache_dir: Folder in which the features of texts are kept for other runs; None for ``REXRANK_CACHE``, else the
            default one. It holds no text.
        progress: True for a bar on stderr after two seconds, False for none, or a function that is called with
            ``(stage, done, total)``.
        text_preparation: ``reference``, ``both``, ``none`` or ``sections``, text options (`rexrank.protocols.texts`),
            or both, joined with ``+`` (``sections+lower+deid-drop``); None for the protocol's.
        limits: What a file may hold at most.
        options: Options of the metrics and of their policy by name (``{"stemmer": False}``); docs/metrics.md lists
            them. Each goes to the metrics that have it, ``metric.option`` to that metric alone. They stand before those
            that the protocol fixes.
        weights: Folder with the checkpoints of encoders; None for ``REXRANK_WEIGHTS``. docs/weights.md.
        download: Whether checkpoints that are not here are fetched from the Hub.
        cache: Whether features of texts are kept for other runs.
        groups: What is drawn as a whole for intervals: patient by study id; ``study`` to draw single studies; None
            for the patients that the references name, single studies where they name none.
        labels: CheXpert labels of the predictions and of the references, as files of a labeller or the like
            (`rexrank.scoring.label_files`), which stand in for CheXbert's in ``f1chexbert_*`` and ``ce_*``.
        training: Texts of training reports, or a file of them in the form of references; the card's ``diversity`` then
            says how many predictions and references stand there word for word.
        modality: What the images show (``CXR``, ``CT``, ``MR``); scores made for others are then unavailable. None for
            what the references' ``benchmark.yaml`` says, if they have one; ``any`` refuses nothing.
        language: ISO 639-1 code of the texts, likewise.

    Returns:
        The score card. A metric that fails, or lacks its weights, is in ``unavailable`` with its reason; the others
        are computed.

    Raises:
        RefusedInput: The inputs, or a file that an option names, cannot be scored; with every fault.
        UnknownProtocol: No such protocol, version, track or text preparation.
        InvalidCall: No such metric, convention or option, a value that the option does not take, a modality or
            language of another form, or answers to questions with a text preparation for reports.
        UnknownDevice: No such device.
        NoFolder: `weights` names no folder.
    """
    started = _now()
    rules = load(protocol)
    chosen = _convention(convention, rules)
    preparation = rules.option(chosen, text_preparation).choice
    rules.check_track(track)
    brought = (label_files.FEATURE,) if labels is not None else ()
    scope = Scope.of(modality, language, references)
    if metrics is not None and not isinstance(metrics, str):
        metrics = check_names("metrics", metrics)
    answers = asks_questions(metrics)
    found = asked(predictions, references, limits) if answers else None
    if found is not None:
        predictions, references = found.answers, found.right
        options = {**found.options, **(options or {})}
        groups = found.groups or "study" if groups is None else groups
    work = plan(metrics, rules, options, chosen, brought, scope)
    given = work.options
    policy = _check_options(given, work, chosen)
    _refuse_answers(work, track, preparation)
    settings = EncoderSettings(device, cache_dir, cache, weights, download, progress is True)
    requests = _requests(work, given, chosen, brought)
    if requests:
        devices(device)  # refused before any work
    with reporting(progress, total=2 + len(requests) + len(work.groups)) as report:
        report("read")
        left, right = read_pair(predictions, references, track, limits)
        prepared = prepare(rules, track, right.studies, left.texts, chosen, text_preparation)
        _refuse_nothing(prepared, right, track)
        _refuse_blanks(policy, prepared, left, right)
        drawn = units(prepared.study_ids, right, groups)
        learnt = None if training is None else read_training(training)
        labelled = None if labels is None else label_files.read_labels(labels, prepared.study_ids, limits)
        known = {study_id: attributes_of(right.studies[study_id]) for study_id in prepared.study_ids}
        with Encoding(prepared.predictions, prepared.references, chosen, settings, given) as encoding:
            results = _Results(dict(work.unavailable), given, encoding, drawn, labelled, known)
            for request in requests:
                results.encode(request, report)
            for name in _in_order(work, given):
                results.add(name, work.groups[name], prepared, chosen, report)
            results.measure(chosen, report)
    # Answers are few and alike by their nature.
    various = {} if answers else diversity(prepared.predictions, prepared.references, learnt).to_json()
    scope = scope if answers else scope.looked_at(prepared.references)
    card = _card(started, rules, chosen, track, work, prepared, results, (left, right), various, scope)
    return card if found is None else found.named(card)


def _requests(work: Plan, options: Mapping[str, Any], convention: Convention, given: Collection[str]) -> list[Request]:
    """What encoders have to do, each once."""
    found = [
        request
        for name, keys in work.groups.items()
        for key in keys
        if not is_given(key, options, given)
        for request in requests_of(key, own_options(name, options), convention)
    ]
    return list({request.encoder.name: request for request in reversed(found)}.values())[::-1]


@dataclass
class _Results:
    """What the metrics returned so far."""

    unavailable: dict[str, str]
    options: Mapping[str, Any]
    encoding: Encoding
    units: Units
    labels: GivenLabels | None = None
    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    scores: dict[str, KeyScores] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def encode(self, request: Request, report: Report) -> None:
        """Run one encoder; a failure costs the scores that need it, and no other."""
        start = time.perf_counter()
        name, label = request.encoder.name, request.encoder.label
        report(label)
        try:
            self.encoding.run(request, lambda done, total: report.within(f"{label}, {done:,} of {total:,} texts"))
        except Exception as error:
            _log.warning("encoder %s failed with %s", name, type(error).__name__)
            reason = f"{label} failed with {type(error).__name__}; please report this with the version of rexrank"
            self.encoding.fail(request, reason)
        self.seconds[name] = round(time.perf_counter() - start, 3)

    def add(self, name: str, keys: list[str], prepared: Prepared, convention: Convention, report: Report) -> None:
        """Run one metric; a failure costs that metric alone, but for an option that the caller has to mend."""
        start = time.perf_counter()
        report(name)
        texts = prepared.predictions, prepared.references
        own = {**self._known(name, prepared), **own_options(name, self.options)}
        possible, features = self._features(name, keys, own)
        if possible:
            work = partial(compute, possible, *texts, convention, prepared.name, features, **own)
            self.scores |= self._attempt(name, possible, work) or {}
        self.seconds[name] = round(time.perf_counter() - start, 3)

    def _known(self, name: str, prepared: Prepared) -> dict[str, list[str | None]]:
        """What the references say of each study, for those options of a metric that take it; nothing said is None."""
        found = {
            option: [self.attributes[study_id].get(option) for study_id in prepared.study_ids]
            for option in metrics()[name].context
        }
        return {option: values for option, values in found.items() if any(value is not None for value in values)}

    def measure(self, convention: Convention, report: Report) -> None:
        """Find the intervals of all scores, from the same draws; a failure costs the score that it is about alone."""
        start = time.perf_counter()
        report("intervals")
        samples: dict[str, Sample] = {}
        for key, one in self.scores.items():
            if finite(one.aggregate) is None:
                self.unavailable[key] = f"{key} is undefined for {_undefined(one)}"
            elif (sample := _sample(one, convention)) is not None:
                samples[key] = sample
        self.intervals = {key: one for key, one in self._intervals(samples).items() if one is not None}
        self.seconds["intervals"] = round(time.perf_counter() - start, 3)

    def _intervals(self, samples: Mapping[str, Sample]) -> dict[str, Interval | None]:
        measure = partial(intervals, confidence=CONFIDENCE, resamples=RESAMPLES, seed=SEED, groups=self.units.groups)
        try:
            return dict(zip(samples, measure(list(samples.values())), strict=True))
        except Exception:  # which of them it is shows one by one
            found = {
                key: self._attempt(metric_of(key).name, [key], partial(measure, [sample]))
                for key, sample in samples.items()
            }
        for key in found:
            if key in self.unavailable:
                del self.scores[key]
        return {key: one[0] for key, one in found.items() if one is not None}

    def _features(
        self, name: str, keys: list[str], options: Mapping[str, Any]
    ) -> tuple[list[str], dict[str, Features]]:
        """Those keys whose features are to be had, and these; a key whose encoder failed is noted."""
        possible: list[str] = []
        features: dict[str, Features] = {}
        brought = {} if self.labels is None else {label_files.FEATURE: self.labels.features}
        for key in keys:
            found = self._attempt(name, [key], partial(self.encoding.features, key, options, brought))
            if found is not None:
                possible.append(key)
                features |= found
        return possible, {**features, **brought}

    def _attempt(self, name: str, keys: list[str], work: Callable[[], T]) -> T | None:
        """Do ``work``, or note why its keys are unavailable."""
        try:
            return work()
        except RexrankError as error:
            if _is_about_an_option(error, own_options(name, self.options)):
                raise
            reason = str(error) if isinstance(error, Unavailable) else f"{name}: {error}"
        except Exception as error:
            # Only the type: another library's message may quote a report.
            _log.warning("metric %s failed with %s", name, type(error).__name__)
            reason = f"{name} failed with {type(error).__name__}; please report this with the version of rexrank"
        self.unavailable.update(dict.fromkeys(keys, reason))
        return None


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


def _sample(scores: KeyScores, convention: Convention) -> Sample | None:
    """What an interval of the score draws from; None for a score of the whole set, which no study adds to."""
    score_key = score_keys()[scores.key]
    if score_key.kind == "set":
        return None
    if scores.statistics is not None and scores.formula is not None:
        return Sample(scores.statistics, scores.formula, range=score_key.range(convention))
    return Sample.of_values(scores.values)


def _card(
    started: str,
    rules: Protocol,
    convention: Convention,
    track: Track,
    work: Plan,
    prepared: Prepared,
    results: _Results,
    inputs: tuple[Predictions, References],
    various: dict[str, Any],
    scope: Scope,
) -> ScoreCard:
    scores = {key: results.scores[key] for key in work.keys if key in results.scores}
    aggregates = {key: finite(one.aggregate) for key, one in scores.items()}
    preparation = {
        "option": str(prepared.option),
        "name": prepared.name,
        "version": rules.text_preparation.version,
        **({} if prepared.truncated is None else {"n_truncated": prepared.truncated}),
    }
    return ScoreCard(
        summary={key: value for key, value in aggregates.items() if value is not None},
        unavailable=results.unavailable,
        per_study=_table(prepared.study_ids, scores),
        counts={key: _counts(one, results.intervals.get(key)) for key, one in scores.items()},
        intervals={key: (one.low, one.high) for key, one in results.intervals.items()},
        signatures={key: one.signature for key, one in scores.items()},
        protocol=rules.name,
        protocol_version=rules.version,
        track=track,
        convention=convention,
        text_preparation=preparation,
        n=len(prepared.study_ids),
        left_out=prepared.left_out,
        ignored_predictions=prepared.ignored,
        diversity=various,
        scope=scope.to_json(),
        distinct_outputs=len(set(prepared.predictions)) / len(prepared.predictions),
        inputs={
            "predictions": {"source": inputs[0].source, "sha256": inputs[0].sha256},
            "references": {"source": inputs[1].source, "sha256": inputs[1].sha256},
            **(results.labels.inputs if results.labels else {}),
        },
        interval={
            "confidence": CONFIDENCE,
            "method": f"{DEFAULT} bootstrap",
            "resamples": RESAMPLES,
            "seed": SEED,
            **results.units.to_json(),
        },
        library_version=__version__,
        packages=_packages(_ENCODERS_PACKAGES if results.encoding.used else ()),
        device=",".join(results.encoding.devices) if results.encoding.used else "cpu",
        started_at=started,
        finished_at=_now(),
        seconds=results.seconds,
        weights=_weights(results.encoding),
        groups=results.units.groups,
        statistics=_statistics(scores),
    )


def _counts(scores: KeyScores, interval: Interval | None) -> dict[str, int]:
    """Counts of studies, and of the resamples that its interval had to do without."""
    counts = {name: int(count) for name, count in scores.counts.items()}
    if interval is not None and interval.undefined_draws:
        counts["n_undefined_draws"] = interval.undefined_draws
    return counts


def _weights(encoding: Encoding) -> dict[str, dict[str, str]]:
    """The files that encoders used, by the name of their checkpoint."""
    return {
        one.checkpoint.name: {
            "repo": one.checkpoint.repo,
            "revision": one.revision or "",
            "fingerprint": one.fingerprint,
            "status": one.status,
        }
        for located in encoding.used.values()
        for one in located
    }


def _table(study_ids: list[str], scores: Mapping[str, KeyScores]) -> "pyarrow.Table":
    import numpy as np
    import pyarrow

    columns = {"study_id": pyarrow.array(study_ids, pyarrow.string())}
    for key, one in scores.items():
        columns[key] = pyarrow.array(one.values, pyarrow.float64(), mask=~np.isfinite(one.values))
    return pyarrow.table(columns)


def _statistics(scores: Mapping[str, KeyScores]) -> "pyarrow.Table | None":
    """Sufficient statistics of the corpus scores, one list a study."""
    import numpy as np
    import pyarrow

    columns = {}
    for key, one in scores.items():
        if one.statistics is None:
            continue
        rows = np.ascontiguousarray(one.statistics, dtype=np.float64)
        offsets = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
        lost = pyarrow.array(np.isnan(rows).any(axis=1))
        columns[key] = pyarrow.ListArray.from_arrays(pyarrow.array(offsets), pyarrow.array(rows.ravel()), mask=lost)
    return pyarrow.table(columns) if columns else None


def _check_options(given: Mapping[str, Any], work: Plan, convention: Convention) -> Policy:
    """The policy that the options choose; all are checked as far as no metric is needed for it.

    Options of an unavailable metric are known too.
    """
    asked = dict.fromkeys(metric_of(key).name for key in (*work.keys, *work.unavailable) if key in score_keys())
    known = dict.fromkeys(option for name in asked for option in options_of(name))
    known |= dict.fromkeys(f"{name}.{option}" for name in asked for option in options_of(name))
    for option in given:
        if option not in known:
            listed = ", ".join(name for name in known if "." not in name) or "none"
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


def _packages(further: Iterable[str]) -> dict[str, str]:
    found: dict[str, Any] = {"python": platform.python_version()}
    for name in (*_PACKAGES, *further):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
