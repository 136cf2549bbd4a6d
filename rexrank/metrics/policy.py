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
from rexrank.metrics.registry import Option, ScoreKey
from rexrank.terms import Convention

Treatment = Literal["undefined", "worst", "error"]
OPTIONS = (
    Option(
        "on_empty_reference",
        "undefined, worst or error",
        "undefined; `published`: the original's value",
        "What becomes of a study whose reference is blank.",
    ),
    Option(
        "on_empty_prediction",
        "undefined, worst or error",
        "worst; `published`: the original's value",
        "What becomes of a blank prediction.",
    ),
    Option(
        "on_unsupported_language",
        "undefined or compute",
        "undefined; `published`: compute",
        "Whether an English-only metric scores a reference outside the Latin script.",
    ),
)
OPTION_NAMES = tuple(option.name for option in OPTIONS)
_TREATMENTS: tuple[Treatment, ...] = get_args(Treatment)
_BLANKS = OPTION_NAMES[:2]
_LANGUAGES = ("undefined", "compute")
_CORRECTED_DEFAULTS: dict[str, Any] = {
    "on_empty_reference": "undefined",
    "on_empty_prediction": "worst",
    "on_unsupported_language": "undefined",
}


@dataclass(frozen=True)
class Policy:
    """What happens to studies with a blank side, or one that an English-only metric cannot read.

    Attributes:
        convention: The convention the policy belongs to.
        on_empty_reference: ``undefined``, ``worst`` or ``error``; None keeps the original's value (``published``).
        on_empty_prediction: Likewise.
        on_unsupported_language: ``undefined`` (a reference outside the Latin script gives no score, and a prediction
            outside it against one inside says nothing) or ``compute``; None computes (``published``).
    """

    convention: Convention
    on_empty_reference: Treatment | None
    on_empty_prediction: Treatment | None
    on_unsupported_language: Literal["undefined", "compute"] | None

    @property
    def signature(self) -> dict[str, str]:
        """Parts for the signature: only what differs from the convention's default."""
        defaults = _defaults(self.convention)
        chosen = {name: getattr(self, name) for name in OPTION_NAMES}
        return {name.removeprefix("on_"): str(value) for name, value in chosen.items() if value != defaults[name]}


def _defaults(convention: Convention) -> Mapping[str, Any]:
    return _CORRECTED_DEFAULTS if convention == "corrected" else dict.fromkeys(OPTION_NAMES)


def read_policy(convention: Convention, options: Mapping[str, Any]) -> Policy:
    """Read the policy options of a call.

    Raises:
        InvalidCall: A value is none of those that the option takes.
    """
    chosen: dict[str, Any] = dict(_defaults(convention))
    for name in OPTION_NAMES:
        value = options.get(name)
        if value is None:
            continue
        chosen[name] = check_choice(name, value, _TREATMENTS if name in _BLANKS else _LANGUAGES, "one of ")
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
            ``n_undefined``, for English-only metrics ``n_unsupported_language``, and what the metric counted.
        reasons: Why a study has no value, by position.
    """

    values: Floats
    statistics: Floats | None
    counts: dict[str, int]
    reasons: dict[int, str]


def judge(outcome: Outcome, score_key: ScoreKey, pairs: Pairs, policy: Policy, english_only: bool = False) -> Judged:
    """Apply the policy to the values of a formula.

    Args:
        outcome: What the metric computed from the texts as they are.
        score_key: The key, whose best and worst values are used.
        pairs: The texts.
        policy: The policy of this call.
        english_only: Whether the metric understands English alone.

    Returns:
        Values with all exceptions settled, their counts and their reasons.
    """
    values = outcome.values.astype(np.float64, copy=True)
    verdict = _Verdict(values, score_key, policy, dict(outcome.reasons), np.zeros(len(values), dtype=bool))
    visible = ~pairs.blank_predictions & ~pairs.blank_references
    silent = visible & ~outcome.prediction_content & outcome.reference_content
    descriptive = score_key.direction == "none"
    if policy.convention == "corrected" and not descriptive:
        verdict.treat(silent, "worst", "no_content")
        verdict.undefine(visible & ~outcome.prediction_content & ~outcome.reference_content, "no_content")
        if english_only and policy.on_unsupported_language != "compute":
            verdict.treat(visible & pairs.foreign_predictions, "worst", "unsupported_language")
            verdict.undefine(visible & pairs.foreign_references, "unsupported_language")
        verdict.perfect(pairs.identical)
    if not descriptive:
        blank, empty = pairs.blank_predictions, pairs.blank_references
        verdict.treat(blank & ~empty, policy.on_empty_prediction, "empty_prediction")
        verdict.treat(~blank & empty, policy.on_empty_reference, "empty_reference")
        verdict.treat(blank & empty, policy.on_empty_reference, "both_empty")
    if outcome.undefined is not None:
        verdict.undefine(~np.isnan(verdict.values), outcome.undefined)

    lost = np.flatnonzero(np.isnan(verdict.values)).tolist()
    reasons = {position: verdict.reasons.get(position, "original_fails") for position in lost}
    statistics = outcome.statistics
    if statistics is not None and outcome.silent is not None:
        statistics = np.where(verdict.silenced[:, None], outcome.silent, statistics)
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
        **({"n_unsupported_language": _number_foreign(pairs)} if english_only else {}),
        **outcome.counts,
    }
    return Judged(verdict.values, statistics, counts, reasons)


def _number_foreign(pairs: Pairs) -> int:
    return int((pairs.foreign_predictions | pairs.foreign_references).sum())


@dataclass
class _Verdict:
    """Values of one key, while one exception after the other is settled."""

    values: Floats
    score_key: ScoreKey
    policy: Policy
    reasons: dict[int, str]
    silenced: Flags

    def undefine(self, where: Flags, reason: str) -> None:
        """Take the values away; a metric's own reason for having none stands."""
        for position in np.flatnonzero(where).tolist():
            known = reason == "no_content" and np.isnan(self.values[position])
            self.reasons[position] = self.reasons.get(position, reason) if known else reason
        self.values[where] = np.nan

    def treat(self, where: Flags, treatment: Treatment | None, reason: str) -> None:
        """Give the worst value or none, as the treatment says; None leaves what the formula gave."""
        if treatment == "worst" and self.score_key.blank == "formula":
            return
        worst = self.score_key.worst(self.policy.convention)
        if treatment == "undefined" or (treatment == "worst" and worst is None):
            self.undefine(where, reason)
        elif treatment == "worst":
            self.values[where] = worst
            self.silenced |= where

    def perfect(self, where: Flags) -> None:
        """Give identical texts the best value."""
        best = self.score_key.best(self.policy.convention)
        if best is not None:
            self.values[where] = best
            self.silenced &= ~where
