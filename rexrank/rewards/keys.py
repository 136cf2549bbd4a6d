"""Which scores can reward a single completion, and on which scale they do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rexrank.errors import shown
from rexrank.metrics import InvalidCall, Unavailable, metric_of, metrics, score_keys
from rexrank.metrics.outcome import Floats
from rexrank.metrics.registry import ScoreKey, hint, keys_named
from rexrank.scoring.encoding import why_not
from rexrank.scoring.plan import own_options
from rexrank.terms import Convention

# Without the option, a study's value depends on the other studies of the call.
_ALONE_WITH = {"cider": "df"}
_SHOWN = 6


@dataclass(frozen=True)
class Scale:
    """From a score to a reward: straight between two scores, and held between 0 and 1.

    Attributes:
        zero: The score whose reward is 0.
        one: The score whose reward is 1; below `zero` where lower scores are better.
    """

    zero: float
    one: float

    @classmethod
    def of(cls, key: str) -> "Scale":
        """The scale of a key: 0 is what a blank report has in `corrected`, 1 what an identical one has.

        Most scores lie between 0 and 1 already, and their rewards are the scores themselves.

        Raises:
            InvalidCall: The score has neither.
        """
        known = score_keys()[key]
        zero, one = known.worst("corrected"), known.best("corrected")
        if zero is None or one is None:
            raise InvalidCall(f"{key} is no reward: neither more nor less of it is better")
        return cls(zero, one)

    def rewards(self, scores: Floats) -> Floats:
        """Rewards of scores, float64 [n] in [0, 1]; nan stays nan."""
        return np.clip((scores - self.zero) / (self.one - self.zero), 0.0, 1.0)

    @property
    def signature(self) -> str:
        """Part of a reward's signature."""
        return f"reward:0={self.zero:.7g},1={self.one:.7g}"


def reward_keys() -> list[str]:
    """The score keys that can be a reward, on some machine and with the options that they need."""
    return [key for key in score_keys() if _has_values(score_keys()[key]) and _runs(key)]


def key_of(name: Any, options: Mapping[str, Any], convention: Convention) -> str:
    """The score key that a name stands for.

    Args:
        name: A score key, or the name of a metric with one key that can be a reward.
        options: Options of the call.
        convention: Of the scores.

    Raises:
        InvalidCall: No such score or metric, one that is no reward, or a metric with several that are.
        Unavailable: It needs a judge or a package that is not here.
    """
    keys = keys_named(name) if isinstance(name, str) else None
    if keys is None:
        raise InvalidCall(f"there is no reward {shown(name)}; {hint(name, [*reward_keys(), *metrics()])}")
    usable = [key for key in keys if _has_values(score_keys()[key])]
    if len(usable) > 1:
        raise InvalidCall(f"{name} has several scores of a study; choose one: {', '.join(usable)}")
    key = (usable or keys)[0]
    own = own_options(metric_of(key).name, options)
    Scale.of(key)  # refuses what is no quality
    _refuse(key, own)
    if reason := why_not(key, own, convention):
        raise Unavailable(reason)
    return key


def _refuse(key: str, options: Mapping[str, Any]) -> None:
    others = [one.key for one in metric_of(key).keys if _has_values(one)]
    if not _has_values(score_keys()[key]):
        way_out = f"choose {_listed(others)}" if others else "choose another score"
        raise InvalidCall(
            f"{key} is no reward: it is computed from all reports together and not a mean of studies; {way_out}"
        )
    option = _ALONE_WITH.get(key)
    if option and options.get(option) is None:
        raise InvalidCall(
            f"{key} is no reward without the option {option}: the document frequencies would be those of the batch, "
            "and rewards depend on it; give those of all references "
            "(rexrank.metrics.cider.document_frequencies(references, convention))"
        )


def _has_values(known: ScoreKey) -> bool:
    """Whether the score is a mean of studies, each with a value of its own, of which more or less is better."""
    # F1 of the kind "samples" is summed like the others, and yet a mean of studies.
    of_studies = known.kind == "mean" or "_samples_" in known.key
    return of_studies and known.of_mean is None and known.direction != "none"


def _runs(key: str) -> bool:
    from rexrank.metrics.features import FEATURES

    return all(FEATURES[need].runs for need in score_keys()[key].needs)


def _listed(keys: Sequence[str]) -> str:
    return " or ".join(keys) if len(keys) <= _SHOWN else f"{', '.join(keys[:_SHOWN])} …"
