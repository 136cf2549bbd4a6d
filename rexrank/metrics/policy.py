"""One policy, for every metric, for blank, empty and identical texts.

`published` keeps what the original prints. `corrected` obeys the laws: an
identical text gets the best value exactly, a blank prediction the worst, and a
study whose reference says nothing gets no value; nothing is ever nan without a
reason and a count.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from rexrank.metrics.inputs import InvalidCall, check_choice
from rexrank.metrics.outcome import Flags, Floats, Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import ScoreKey
from rexrank.terms import Convention

Treatment = Literal["undefined", "worst", "error"]
OPTIONS = ("on_empty_reference", "on_empty_prediction")
_TREATMENTS: tuple[Treatment, ...] = get_args(Treatment)
_CORRECTED_DEFAULTS: dict[str, Treatment] = {"on_empty_reference": "undefined", "on_empty_prediction": "worst"}


@dataclass(frozen=True)
class Policy:
    """What happens to studies with a blank side.

    Attributes:
        convention: The convention the policy belongs to.
        on_empty_reference: ``undefined``, ``worst`` or ``error``; None keeps the original's value (``published``).
        on_empty_prediction: Likewise.
    """

    convention: Convention
    on_empty_reference: Treatment | None
    on_empty_prediction: Treatment | None

    @property
    def signature(self) -> dict[str, str]:
        """Parts for the signature: only what differs from the convention's default."""
        defaults = _defaults(self.convention)
        chosen = {"on_empty_reference": self.on_empty_reference, "on_empty_prediction": self.on_empty_prediction}
        return {name.removeprefix("on_"): str(value) for name, value in chosen.items() if value != defaults[name]}


def _defaults(convention: Convention) -> Mapping[str, Treatment | None]:
    return _CORRECTED_DEFAULTS if convention == "corrected" else dict.fromkeys(OPTIONS)


def read_policy(convention: Convention, options: Mapping[str, Any]) -> Policy:
    """Read the policy options of a call.

    Raises:
        InvalidCall: A value is not one of ``undefined``, ``worst`` and ``error``.
    """
    chosen: dict[str, Any] = dict(_defaults(convention))
    for name in OPTIONS:
        value = options.get(name)
        if value is None:
            continue
        chosen[name] = check_choice(name, value, _TREATMENTS, "one of ")
    return Policy(convention, **chosen)


def refuse_blanks(policy: Policy, pairs: Pairs) -> None:
    """Stop before any computation where an option asks for an error.

    Raises:
        InvalidCall: A side is blank that may not be; names the first position and the number.
    """
    sides = (
        ("references", policy.on_empty_reference, pairs.blank_references),
        ("predictions", policy.on_empty_prediction, pairs.blank_predictions),
    )
    for argument, treatment, blank in sides:
        if treatment == "error" and blank.any():
            raise InvalidCall(f"{argument}[{int(blank.argmax())}]: the text is blank ({int(blank.sum())} affected)")


@dataclass(frozen=True)
class Judged:
    """Scores of one key after the policy.

    Attributes:
        values: One value a study, float64 [n]; nan exactly where `reasons` has an entry.
        statistics: Sufficient statistics with nan rows where the study is undefined, or None.
        counts: ``n``, ``n_empty``, ``n_empty_reference``, ``n_identical``, ``n_no_content``, ``n_truncated``,
            ``n_undefined`` and what the metric counted.
        reasons: Why a study has no value, by position.
    """

    values: Floats
    statistics: Floats | None
    counts: dict[str, int]
    reasons: dict[int, str]


def judge(outcome: Outcome, score_key: ScoreKey, pairs: Pairs, policy: Policy) -> Judged:
    """Apply the policy to the values of a formula.

    Args:
        outcome: What the metric computed from the texts as they are.
        score_key: The key, whose best and worst values are used.
        pairs: The texts.
        policy: The policy of this call.

    Returns:
        Values with all exceptions settled, their counts and their reasons.
    """
    values = outcome.values.astype(np.float64, copy=True)
    reasons: dict[int, str] = {}

    def undefine(where: Flags, reason: str) -> None:
        values[where] = np.nan
        reasons.update(dict.fromkeys(np.flatnonzero(where).tolist(), reason))

    def treat(where: Flags, treatment: Treatment | None, reason: str) -> None:
        worst = score_key.worst(policy.convention)
        if treatment == "undefined" or (treatment == "worst" and worst is None):
            undefine(where, reason)
        elif treatment == "worst":
            values[where] = worst

    visible = ~pairs.blank_predictions & ~pairs.blank_references
    silent = visible & ~outcome.prediction_content & outcome.reference_content
    if policy.convention == "corrected":
        treat(silent, "worst", "no_content")
        undefine(visible & ~outcome.prediction_content & ~outcome.reference_content, "no_content")
        if (best := score_key.best(policy.convention)) is not None:
            values[pairs.identical] = best
            for position in np.flatnonzero(pairs.identical).tolist():
                reasons.pop(position, None)
    treat(pairs.blank_predictions & ~pairs.blank_references, policy.on_empty_prediction, "empty_prediction")
    treat(~pairs.blank_predictions & pairs.blank_references, policy.on_empty_reference, "empty_reference")
    treat(pairs.blank_predictions & pairs.blank_references, policy.on_empty_reference, "both_empty")

    lost = np.flatnonzero(np.isnan(values)).tolist()
    reasons.update({position: "original_fails" for position in lost if position not in reasons})
    statistics = outcome.statistics
    if statistics is not None and lost:
        statistics = statistics.copy()
        statistics[lost] = np.nan
    counts = {
        "n": len(pairs),
        "n_empty": int(pairs.blank_predictions.sum()),
        "n_empty_reference": int(pairs.blank_references.sum()),
        "n_identical": int(pairs.identical.sum()),
        "n_no_content": int(silent.sum()),
        "n_truncated": 0,
        "n_undefined": len(lost),
        **outcome.counts,
    }
    return Judged(values, statistics, counts, reasons)
