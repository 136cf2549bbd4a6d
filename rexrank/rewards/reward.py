"""Reward functions that TRL's trainers call, from the scores of this library."""

import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rexrank.errors import shown
from rexrank.metrics import InvalidCall, KeyScores, compute, metric_of, options_of, score_keys
from rexrank.metrics.inputs import check_choice
from rexrank.metrics.outcome import Floats
from rexrank.metrics.policy import read_policy
from rexrank.reports.studies import is_blank
from rexrank.rewards.keys import Scale, key_of
from rexrank.rewards.sessions import own_device, session
from rexrank.rewards.texts import Texts, read_completions, read_known, read_references
from rexrank.scoring.encoding import EncoderSettings, Encoding, requests
from rexrank.scoring.plan import own_options
from rexrank.scoring.session import Session
from rexrank.terms import CONVENTIONS, Convention

Extract = Callable[[str], str]

_PROBE = "The lungs are clear."


class _Row(NamedTuple):
    """A completion with its references and what else is known of its study, by the names of a call."""

    report: str
    references: Texts
    known: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Part:
    """One score of a reward.

    Attributes:
        key: Score key.
        weight: What its reward, in [0, 1], is multiplied with.
        options: Options of its metric.
        scale: From the score to its reward.
    """

    key: str
    weight: float
    options: Mapping[str, Any] = field(hash=False)
    scale: Scale


@dataclass
class Counts:
    """What a reward met so far.

    Attributes:
        n: Completions.
        n_empty: Blank completions, once the report was taken out of them.
        n_no_reference: Completions of rows without a reference; their reward is None.
        n_undefined: Completions that have no value though there is a reference; their reward is None.
        n_truncated: Texts that an encoder cut, over the distinct pairs of each call.
        reasons: Score key and reason to the number of completions without a value.
    """

    n: int = 0
    n_empty: int = 0
    n_no_reference: int = 0
    n_undefined: int = 0
    n_truncated: int = 0
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)


class Reward:
    """A reward function: called with completions and the columns of their rows, it gives a number each.

    It follows the contract of ``reward_funcs`` of TRL's ``GRPOTrainer`` and ``RLOOTrainer``. Models are loaded once in
    a process and shared by all rewards with the same settings; several threads may call it. It can be pickled: what
    comes out loads its own models where it is.

    Attributes:
        parts: The scores it is made of.
        convention: ``published`` or ``corrected``.
        counts: What it met so far.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        name: str,
        convention: Convention = "corrected",
        column: str | None = None,
        extract: Extract | None = None,
        settings: EncoderSettings | None = None,
        recipe: tuple[Any, Mapping[str, Any]] | None = None,
    ) -> None:
        """Use `make`.

        Args:
            parts: The scores it is made of.
            name: What trainers call it in their logs.
            convention: Of the scores.
            column: Name of the column with references.
            extract: Takes the report out of a completion's text.
            settings: Where and how encoders run.
            recipe: Arguments of the call of `make` that it came from.
        """
        self.__name__ = self.__qualname__ = name
        self.parts = tuple(parts)
        self.convention = convention
        self.counts = Counts()
        self._column, self._extract = column, extract
        self._settings = settings or EncoderSettings()
        self._recipe = recipe
        self._lock = threading.Lock()
        self._signature: str | None = None
        # What some metrics take of each study beside its texts comes from columns of the same name.
        self._context = tuple(dict.fromkeys(name for part in parts for name in metric_of(part.key).context))

    def __call__(
        self,
        prompts: Sequence[Any] | None = None,
        completions: Sequence[Any] | None = None,
        completion_ids: Sequence[Any] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Reward completions.

        Args:
            prompts: Not looked at.
            completions: Texts, or lists of chat messages, of which the assistant's last one counts.
            completion_ids: Not looked at.
            **columns: Columns of the data set, one item a completion, the references among them; what else a trainer
                passes is not looked at. A reference is a text or a list of texts; None leaves the row without a reward.

        Returns:
            One number a completion, the higher the better, 0 to the sum of the weights; None where a row has no
            reference or a score has no value.

        Raises:
            InvalidCall: A completion or reference of another form; names the position, never quotes a text.
            Unavailable: An encoder cannot be run.
        """
        reports = [self._report(text, at) for at, text in enumerate(read_completions(completions))]
        column, references = read_references(columns, self._column, len(reports))
        known = read_known(columns, self._context, len(reports))
        rows = [
            _Row(report, texts, tuple(values[at] for values in known.values()))
            for at, (report, texts) in enumerate(zip(reports, references, strict=True))
        ]
        # Most rows of a batch share their reference, and a model that has settled repeats itself.
        distinct = list(dict.fromkeys(row for row in rows if row.references))
        try:
            scores = self._scores(distinct, list(known)) if distinct else []
        except InvalidCall as error:
            raise _in_rows(error, column, rows, distinct) from None
        rewards = dict(zip(distinct, self._rewards(scores).tolist(), strict=True)) if distinct else {}
        found = [rewards.get(row, math.nan) for row in rows]
        self._note(rows, distinct, scores)
        return [None if math.isnan(value) else value for value in found]

    @property
    def signature(self) -> str:
        """What pins the numbers: for each score its weight, its signature and its scale.

        Of the newest call; before the first one, of a call with one reference a row, which loads what it needs.
        """
        return self._signature or self._signed(self._scores([_Row(_PROBE, (_PROBE,))], ()))

    def _signed(self, scores: Sequence[KeyScores]) -> str:
        return " + ".join(
            f"{part.weight:g}*{one.signature}|{part.scale.signature}"
            for part, one in zip(self.parts, scores, strict=True)
        )

    def __repr__(self) -> str:
        """Name and scores, as in a log."""
        return f"<Reward {self.__name__}: {' + '.join(f'{part.weight:g}*{part.key}' for part in self.parts)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as the call that made it: neither models nor open files go along."""
        if self._recipe is None:
            raise InvalidCall("only a reward that rexrank.rewards.make gave can be pickled")
        return _make_again, self._recipe

    def _report(self, text: str, position: int) -> str:
        if self._extract is None:
            return text
        report = self._extract(text)
        if not isinstance(report, str):
            raise InvalidCall(
                f"extract gave {shown(report)} for completions[{position}]; it has to give a text, an empty one where "
                "the completion holds no report"
            )
        return report

    def _session(self) -> Session:
        return session(self._settings)

    def _scores(self, rows: Sequence[_Row], known: Sequence[str]) -> list[KeyScores]:
        """Scores of distinct rows, by part.

        Args:
            rows: The rows.
            known: Names of what is known of their studies.
        """
        texts = [row.report for row in rows], [row.references for row in rows]
        columns = {name: [row.known[at] for row in rows] for at, name in enumerate(known)}
        policy = {name: value for part in self.parts for name, value in part.options.items()}
        opened = self._session()
        with opened.lock, Encoding(*texts, self.convention, policy=policy, session=opened) as encoding:
            return [self._score(part, texts, columns, encoding) for part in self.parts]

    def _score(
        self,
        part: Part,
        texts: tuple[list[str], list[Texts]],
        columns: Mapping[str, list[Any]],
        encoding: Encoding,
    ) -> KeyScores:
        known = {name: values for name, values in columns.items() if name in metric_of(part.key).context}
        options: dict[str, Any] = {**part.options, **known}
        features = encoding.features(part.key, part.options)
        return compute(part.key, texts[0], texts[1], self.convention, features=features, **options)[part.key]

    def _rewards(self, scores: Sequence[KeyScores]) -> Floats:
        """Rewards of pairs from their scores by part, float64 [pairs]; nan where a score has no value."""
        weighted = [part.weight * part.scale.rewards(one.values) for part, one in zip(self.parts, scores, strict=True)]
        return np.sum(weighted, axis=0)

    def _note(self, rows: Sequence[_Row], distinct: Sequence[_Row], scores: Sequence[KeyScores]) -> None:
        """Count what a call met, and keep its signature."""
        times = Counter(rows)
        reasons: Counter[tuple[str, str]] = Counter()
        undefined: set[int] = set()
        for one in scores:
            for position in np.flatnonzero(np.isnan(one.values)).tolist():
                undefined.add(position)
                reasons[one.key, one.reasons[position]] += times[distinct[position]]
        with self._lock:
            self._signature = self._signed(scores) if scores else self._signature
            self.counts.n += len(rows)
            self.counts.n_empty += sum(is_blank(row.report) for row in rows)
            self.counts.n_no_reference += sum(not row.references for row in rows)
            self.counts.n_undefined += sum(times[distinct[position]] for position in undefined)
            self.counts.n_truncated += max((one.counts.get("n_truncated", 0) for one in scores), default=0)
            self.counts.reasons += reasons


def make(
    what: str | Mapping[str, float],
    *,
    column: str | None = None,
    extract: Extract | None = None,
    convention: Convention = "corrected",
    name: str | None = None,
    device: str | None = None,
    cache_dir: str | None = None,
    cache: bool = True,
    weights: str | None = None,
    download: bool = True,
    progress: bool = True,
    **options: Any,
) -> Reward:
    """Make a reward function of a score, or of a weighted sum of scores.

    A reward lies in [0, 1] and higher is better. It is the score itself where that already is so; other scores go
    through a straight line on which a blank report has 0 and an identical one 1 (`rexrank.rewards.keys.Scale`): RadCliQ
    is turned round, CIDEr divided by 10, and what lies beyond the ends is held there.

    Args:
        what: A score key, the name of a metric with one score of studies (``bleu``), or weights by such names.
        column: Name of the column with references; None for ``reference``, or else ``ground_truth`` or ``report``.
        extract: Takes a completion's text and gives the report in it, an empty text where there is none.
        convention: ``corrected``, in which an identical text has the best value and a blank one the worst whatever the
            score, or ``published``, which keeps the oddities of the originals, for a model to find.
        name: What trainers call it in their logs; None for the keys.
        device: Where encoders run, one device; None for the one of ``LOCAL_RANK``, ``REXRANK_DEVICE`` or what is there.
        cache_dir: Folder in which features of references are kept; None for the default one.
        cache: Whether they are kept on disk at all; completions never are.
        weights: Folder with the checkpoints of encoders; None for ``REXRANK_WEIGHTS``.
        download: Whether checkpoints that are not here are fetched from the Hub.
        progress: Whether a line and a bar on stderr show what is fetched.
        **options: Options of the metrics and of the policy (docs/metrics.md).

    Returns:
        The reward function.

    Raises:
        InvalidCall: No such score, one that is no reward of a single report, a wrong weight, option or convention.
        Unavailable: A score needs a judge or a package that is not here.
        MissingWeights: A checkpoint is not here and cannot be fetched.
        UnknownDevice: No such device.
        NoFolder: `weights` names no folder.
    """
    recipe = (
        what,
        {
            "column": column,
            "extract": extract,
            "convention": convention,
            "name": name,
            "device": device,
            "cache_dir": cache_dir,
            "cache": cache,
            "weights": weights,
            "download": download,
            "progress": progress,
            **options,
        },
    )
    check_choice("convention", convention, CONVENTIONS)
    weighted = {what: 1.0} if isinstance(what, str) else _read_weights(what)
    parts = [_part(one, weight, options, convention) for one, weight in weighted.items()]
    _check(parts, options, convention)
    needed = [request for part in parts for request in requests(part.key, part.options, convention)]
    settings = EncoderSettings(own_device(device) if needed else device, cache_dir, cache, weights, download, progress)
    opened = session(settings)
    if needed:
        opened.devices  # noqa: B018 (a device that is none is refused at once)
    for request in needed:  # files too: training shall not end at its first reward
        opened.locate(request.encoder)
    called = name or "+".join(part.key for part in parts)
    return Reward(parts, called, convention, column, extract, settings, recipe)


def _make_again(what: Any, arguments: Mapping[str, Any]) -> Reward:
    return make(what, **arguments)


def _read_weights(what: Any) -> dict[str, float]:
    if not isinstance(what, Mapping) or not what:
        raise InvalidCall(f"a reward is made of a score key or of weights by score keys, got {shown(what)}")
    for name, weight in what.items():
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not is_number or not math.isfinite(weight) or weight <= 0:
            raise InvalidCall(f"the weight of {shown(name)} has to be a number above 0, got {shown(weight)}")
    return {name: float(weight) for name, weight in what.items()}


def _part(name: str, weight: float, options: Mapping[str, Any], convention: Convention) -> Part:
    key = key_of(name, options, convention)
    own = own_options(metric_of(key).name, options)
    return Part(key, weight, {option: value for option, value in own.items() if value is not None}, Scale.of(key))


def _check(parts: Sequence[Part], options: Mapping[str, Any], convention: Convention) -> None:
    """Refuse a score that stands there twice, and options that no part has or that have a wrong value."""
    if twice := [key for key, number in Counter(part.key for part in parts).items() if number > 1]:
        raise InvalidCall(f"{twice[0]} stands twice among the weights, once under the name of its metric")
    names = dict.fromkeys(metric_of(part.key).name for part in parts)
    known = dict.fromkeys(option for name in names for option in options_of(name))
    for option in options:
        if option not in known and option not in {f"{name}.{one}" for name in names for one in options_of(name)}:
            raise InvalidCall(f"unknown option {shown(option)}; this reward takes {', '.join(known)}")
    for part in parts:
        if given := [name for name in metric_of(part.key).context if name in part.options]:
            raise InvalidCall(f"{given[0]} differs from study to study; give it as a column {given[0]} of the data set")
        read_policy(convention, part.options)
        if part.options and not score_keys()[part.key].needs:  # a wrong value shows on any pair
            compute(part.key, [_PROBE], [_PROBE], convention, **part.options)


def _in_rows(error: InvalidCall, column: str, rows: Sequence[_Row], distinct: Sequence[_Row]) -> InvalidCall:
    """Name the row of the caller's that a metric refused, where it names one of the distinct rows."""
    match = re.match(r"(\w+)\[(\d+)\]", str(error))
    if match is None:
        return error
    argument = {"predictions": "completions", "references": column}.get(match[1], match[1])
    return InvalidCall(f"{argument}[{rows.index(distinct[int(match[2])])}]{str(error)[match.end() :]}")
