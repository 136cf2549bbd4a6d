"""Which scores are asked for, and which of them this version computes."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rexrank import __version__
from rexrank.errors import shown
from rexrank.metrics import InvalidCall, metric_of, metrics, options_of, score_keys
from rexrank.metrics.inputs import check_names
from rexrank.metrics.registry import hint, keys_named, needs_of
from rexrank.protocols import Protocol, available, load
from rexrank.scoring.encoding import why_not
from rexrank.scoring.scope import Scope
from rexrank.terms import Convention


@dataclass(frozen=True)
class Plan:
    """What will be computed.

    Attributes:
        groups: Metric name to the score keys asked of it, in order.
        unavailable: Score key to the reason why it will not be computed.
        options: Options of the metrics asked for: the caller's, and those that the protocol fixes.
    """

    groups: dict[str, list[str]]
    unavailable: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        """Score keys that will be computed."""
        return [key for keys in self.groups.values() for key in keys]


def plan(
    asked: str | Iterable[str] | None,
    protocol: Protocol,
    options: Mapping[str, Any] | None = None,
    convention: Convention = "published",
    given: Collection[str] = (),
    scope: Scope | None = None,
) -> Plan:
    """Decide what to compute. Whether the files of encoders are here shows later, once the texts are known to be good.

    Args:
        asked: Score keys or names of metrics (all their keys); ``all`` for every metric of reports; None
            for the protocol's list.
        protocol: Rule book in force. Scores of any protocol that no module computes yet are unavailable, not unknown.
        options: Options of the metrics; some scores cannot do without. They stand before those of the protocol.
        convention: Of the scores.
        given: Names of features that the caller brings, so that no encoder has to make them.
        scope: What the reports are; scores that are made for others are unavailable. None where nobody said.

    Raises:
        InvalidCall: A name that is neither, with close ones offered; no name at all; or an option that chooses an
            encoder which does not exist.
    """
    if asked is None:
        wanted = list(protocol.metrics)
    else:
        wanted = [key for name in check_names("metrics", asked) for key in _keys_of(name)]
        if not wanted:
            raise InvalidCall("metrics: name at least one score key or metric")
    settled = _settled(protocol, wanted, options or {})
    groups: dict[str, list[str]] = {}
    unavailable = {}
    for key in dict.fromkeys(wanted):
        if key not in score_keys():
            reason: str | None = f"{key} is not computed by rexrank {__version__}"
        elif asked == "all" and score_keys()[key].opt_in:
            reason = f"{key} is computed where it is asked for by name"
        else:
            reason = (scope or Scope()).why_not(key)
            if reason is None and not is_given(key, settled, given):
                reason = _why_not(key, settled, convention)
        if reason is None:
            groups.setdefault(metric_of(key).name, []).append(key)
        else:
            unavailable[key] = reason
    return Plan(groups, unavailable, settled)


def _settled(protocol: Protocol, keys: Iterable[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The caller's options, and the protocol's for metrics that are asked for and of which the caller says nothing."""
    names = dict.fromkeys(metric_of(key).name for key in keys if key in score_keys())
    known = {f"{name}.{option}" for name in names for option in options_of(name)}
    known |= {option for name in names for option in options_of(name)}
    fixed = {
        option: value
        for option, value in protocol.options.items()
        if option in known and option.rpartition(".")[2] not in given
    }
    return {**fixed, **given}


def is_given(key: str, options: Mapping[str, Any], given: Collection[str]) -> bool:
    """Whether a score needs features, and all of them are given."""
    needs = needs_of(key, own_options(metric_of(key).name, options)) if given else ()
    return bool(needs) and set(needs) <= set(given)


def _why_not(key: str, options: Mapping[str, Any], convention: Convention) -> str | None:
    name = metric_of(key).name
    try:
        return why_not(key, own_options(name, options), convention)
    except InvalidCall as error:
        # Several metrics have an option of this name, and its first word says which option, not whose.
        raise InvalidCall(f"{error} (by {name}; {name}.OPTION means this metric alone)") from None


def own_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that a metric takes.

    Args:
        name: Name of the metric.
        options: By their names, or as ``metric.option`` where metrics share a name and one of them is meant, which
            wins over the plain name.
    """
    known = options_of(name)
    own = {option: value for option, value in options.items() if option in known}
    meant = {
        option.removeprefix(f"{name}."): value for option, value in options.items() if option.startswith(f"{name}.")
    }
    return own | {option: value for option, value in meant.items() if option in known}


def _keys_of(name: str) -> list[str]:
    if name == "all":
        return [key for key in score_keys() if metric_of(key).task == "report"]
    if keys := keys_named(name) or [key for key in _unbuilt() if key == name]:
        return keys
    candidates = [*score_keys(), *metrics(), *_unbuilt()]
    raise InvalidCall(f"there is no metric {shown(name)}; {hint(name, candidates)}")


def _unbuilt() -> list[str]:
    """Score keys that any version of a protocol names and no module computes."""
    named = dict.fromkeys(key for protocol in available() for key in load(protocol).metrics)
    return [key for key in named if key not in score_keys()]
