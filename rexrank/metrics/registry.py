"""What is known about each score: its metric, direction, range, kind and audience.

The registry imports every module of this package and collects those with a
top-level `METRIC`, so a new metric is one new file.
"""

import pkgutil
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from rexrank import __version__
from rexrank.errors import shown
from rexrank.metrics.features import FEATURES
from rexrank.metrics.inputs import InvalidCall
from rexrank.terms import Convention, Direction

if TYPE_CHECKING:
    from rexrank.metrics.outcome import Formula, Outcome
    from rexrank.metrics.pairs import Pairs

Range = tuple[float | None, float | None]
UNIT_RANGES: Mapping[Convention, Range] = {"published": (0.0, 1.0), "corrected": (0.0, 1.0)}

# How close names are offered for an unknown one: at most so many, with so much in common, from so many letters on, and
# from how many on where they stand within a name: "all" is the end of several, and none of them is meant.
_OFFERED, _ALIKE, _SHORTEST, _SHORTEST_WITHIN = 3, 0.6, 2, 4


@dataclass(frozen=True)
class ScoreKey:
    """One column of results.

    Attributes:
        key: Name in files and code (``bleu2``).
        label: Name for readers (``BLEU-2``).
        direction: Whether the higher or the lower value is the better one.
        ranges: Lowest and highest value per convention; None where unbounded.
        kind: ``mean`` (mean of studies), ``corpus`` (computed from summed statistics; a metric may be a mean in one
            convention) or ``set`` (of all reports together, without an interval).
        digits: Decimals shown on pages. Files keep full precision.
        modality: Modalities the score is made for; ``any`` for all.
        language: Languages it is made for, as ISO 639-1 codes; ``any`` for all.
        description: One sentence with the formula in words.
        needs: Names of the features (`rexrank.metrics.features`) without which texts cannot be scored.
        blank: The value of a report that says nothing, where that is not the worst end of the range; ``formula``
            where the metric itself decides.
        perfect: The value of an identical report, where that is not the best end of the range.
        requires: Names of the metric's options without which it cannot be computed.
        of_mean: Turns means of the values, [b], into what is shown, [b], nan where undefined; the studies then have no
            value of their own (``inv_radcliq_v1``).
        opt_in: Whether it is computed only where it is asked for by its own name.
        family: What it has in common with other keys, where they differ in one word alone (``f1labels_<label>`` of
            ``f1labels_edema``); pages list them in one row.
    """

    key: str
    label: str
    direction: Direction
    ranges: Mapping[Convention, Range] = field(hash=False)
    kind: Literal["mean", "corpus", "set"]
    digits: int
    modality: tuple[str, ...]
    language: tuple[str, ...]
    description: str
    needs: tuple[str, ...] = ()
    blank: Literal["worst", "formula"] | Mapping[Convention, float] = field(default="worst", hash=False)
    perfect: Mapping[Convention, float] | None = field(default=None, hash=False)
    requires: tuple[str, ...] = ()
    of_mean: "Formula | None" = field(default=None, hash=False)
    opt_in: bool = False
    family: str = ""

    def range(self, convention: Convention) -> Range:
        """Lowest and highest value under a convention; None where unbounded."""
        return self.ranges[convention]

    def best(self, convention: Convention) -> float | None:
        """The value of an identical report, or None where there is none."""
        if self.perfect is not None:
            return self.perfect[convention]
        return None if self.direction == "none" else self.ranges[convention][1 if self.direction == "higher" else 0]

    def worst(self, convention: Convention) -> float | None:
        """The value of a report that says nothing, or None where there is none."""
        if isinstance(self.blank, Mapping):
            return self.blank[convention]
        return None if self.direction == "none" else self.ranges[convention][0 if self.direction == "higher" else 1]


Compute = Callable[["Pairs", Sequence[str], Convention, Mapping[str, Any]], Mapping[str, "Outcome"]]
NeedsOf = Callable[[ScoreKey, Mapping[str, Any]], tuple[str, ...]]
FormulaOf = Callable[[str, Mapping[str, str]], "Formula | None"]


@dataclass(frozen=True)
class Option:
    """A keyword option of a metric, as its documentation shows it.

    Attributes:
        name: The keyword.
        values: What it takes, in words (``True or False``).
        default: What holds without it, in words.
        description: One sentence.
    """

    name: str
    values: str
    default: str
    description: str


@dataclass(frozen=True)
class Example:
    """A pair of invented reports on which the conventions differ; its values are computed for the documentation.

    Attributes:
        prediction: The model's text.
        reference: The radiologist's.
        features: Features by name, for keys that need them.
        options: Options of the call.
        note: What the features say, in words, where the texts alone do not show why the conventions differ.
    """

    prediction: str
    reference: str
    features: Mapping[str, Any] = field(default_factory=dict, hash=False)
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    note: str = ""


@dataclass(frozen=True)
class Metric:
    """One metric: a file of this package, whose docstring is its definition.

    Attributes:
        name: Name of the metric, which may serve several score keys.
        version: Part of every signature; raised whenever any value can change.
        keys: The score keys it computes.
        compute: ``(pairs, keys, convention, options) -> {key: Outcome}``. It
            scores every pair by the formula alone; `policy` decides about
            blank, empty and identical texts afterwards.
        source: Paper and repository that define it.
        options: The keyword options it accepts.
        encoder_options: Names of those options that choose the encoder of its features.
        context: Names of those options that take what is known of each study beside its texts, one item a study;
            `rexrank.score` fills in the attribute of the same name (`rexrank.reports.known`).
        needs_of: Gives the names of the features that a score needs under options; None where options change nothing.
        english_only: Whether it understands English alone, so that a reference in another script has no score.
        is_audit: Whether it looks in each study for one kind of error alone, whatever else is wrong; `rexrank audit`
            brings these along.
        task: ``report``, or ``vqa`` for answers to questions; ``all`` names the metrics of reports.
        missing: Says in one sentence what the metric lacks on this machine, or None; looked up before computing.
        formula_of: From a score key and the parts of its signature to the formula of its summed statistics, None for a
            mean of studies; None where all its scores are such means.
        examples: The smallest pairs on which the conventions differ.
        faults: Known faults of other implementations, one sentence each.
    """

    name: str
    version: str
    keys: tuple[ScoreKey, ...]
    compute: Compute
    source: str
    options: tuple[Option, ...] = ()
    encoder_options: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    needs_of: NeedsOf | None = None
    english_only: bool = False
    is_audit: bool = False
    task: Literal["report", "vqa"] = "report"
    missing: Callable[[], str | None] | None = None
    formula_of: FormulaOf | None = None
    examples: tuple[Example, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def option_names(self) -> tuple[str, ...]:
        """Names of the options."""
        return tuple(option.name for option in self.options)


@cache
def _found() -> tuple[dict[str, Metric], dict[str, ScoreKey], dict[str, Metric]]:
    package = import_module("rexrank.metrics")
    by_name: dict[str, Metric] = {}
    keys: dict[str, ScoreKey] = {}
    owners: dict[str, Metric] = {}
    for module_info in pkgutil.iter_modules(package.__path__):
        module = import_module(f"rexrank.metrics.{module_info.name}")
        if hasattr(module, "METRIC"):
            _register(module.METRIC, by_name, keys, owners)
    return by_name, keys, owners


def _register(metric: Metric, by_name: dict[str, Metric], keys: dict[str, ScoreKey], owners: dict[str, Metric]) -> None:
    if metric.name in by_name:
        raise RuntimeError(f"two metrics are named {metric.name!r}")
    by_name[metric.name] = metric
    for score_key in metric.keys:
        if unknown := [name for name in score_key.requires if name not in metric.option_names]:
            raise RuntimeError(f"{score_key.key} requires {unknown[0]!r}, which is no option of {metric.name}")
        if unknown := [name for name in score_key.needs if name not in FEATURES]:
            raise RuntimeError(f"{score_key.key} needs {unknown[0]!r}, which rexrank.metrics.features does not list")
        if score_key.key in keys:
            raise RuntimeError(
                f"score key {score_key.key!r} belongs to both {owners[score_key.key].name!r} and {metric.name!r}"
            )
        keys[score_key.key] = score_key
        owners[score_key.key] = metric


def metrics() -> Mapping[str, Metric]:
    """Every metric by name."""
    return MappingProxyType(_found()[0])


def score_keys() -> Mapping[str, ScoreKey]:
    """Every score key by its name, in the order of the files."""
    return MappingProxyType(_found()[1])


def hint(name: object, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the closest known ones, or where all of them are listed."""
    close = _close(name, list(dict.fromkeys(known))) if isinstance(name, str) else []
    return f"did you mean {' or '.join(close)}?" if close else "`rexrank metrics` lists what there is"


def _close(name: str, known: Sequence[str]) -> list[str]:
    """Known names that begin with it, else with a word that does, else written nearly alike; the shortest first."""
    wanted = re.sub(r"[\W_]+", "_", name.lower()).strip("_")
    if len(wanted) < _SHORTEST:
        return []
    begin = [one for one in known if one.startswith(wanted)]
    within = [one for one in known if f"_{wanted}" in one and len(wanted) >= _SHORTEST_WITHIN]
    found = sorted(begin, key=len) or sorted(within, key=len) or get_close_matches(wanted, known, _OFFERED, _ALIKE)
    return found[:_OFFERED]


def keys_named(name: str) -> list[str] | None:
    """The score keys that a name stands for.

    Args:
        name: A score key, which stands for itself, or the name of a metric, which stands for all of its keys but those
            that have to be asked for by name.

    Returns:
        The keys, or None where it is neither; `hint` then offers close ones.
    """
    if name in score_keys():
        return [name]
    return [key.key for key in metrics()[name].keys if not key.opt_in] if name in metrics() else None


def metric_of(key: str) -> Metric:
    """The metric that computes a score key.

    Raises:
        InvalidCall: No metric computes it.
    """
    owners = _found()[2]
    if not isinstance(key, str) or key not in owners:
        raise InvalidCall(f"unknown score key {shown(key)}; {hint(key, owners)}")
    return owners[key]


def makers_of(features: Iterable[str]) -> str:
    """The encoders and judges that make features, in words."""
    return " and ".join(dict.fromkeys(FEATURES[name].made_by for name in features))


def _who_runs(features: Iterable[str]) -> str:
    if all(FEATURES[name].runs for name in features):
        return "rexrank.score runs, and a formula alone does not"
    return f"rexrank {__version__} does not run"


def needs_of(key: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the features without which a score cannot be computed under options, those that are None aside.

    Raises:
        InvalidCall: No metric computes the score, or an option has a value that the metric does not take.
    """
    metric, score_key = metric_of(key), score_keys()[key]
    given = {name: value for name, value in options.items() if value is not None}
    return metric.needs_of(score_key, given) if metric.needs_of else score_key.needs


def why_unavailable(key: str, options: Collection[str] = ()) -> str | None:
    """Why a score cannot be computed by `compute` from texts alone here, in one sentence; None where it can.

    Scores that need an encoder are computed by `rexrank.score`, which runs it.

    Args:
        key: Score key.
        options: Names of the options that are given.

    Raises:
        InvalidCall: No metric computes it.
    """
    metric = metric_of(key)
    needs = score_keys()[key].needs
    if needs:
        return f"{key} needs {makers_of(needs)}, which {_who_runs(needs)}"
    for option in metric.options:
        if option.name in score_keys()[key].requires and option.name not in options:
            return f"{key} needs the option {option.name} ({option.values})"
    return metric.missing() if metric.missing else None
