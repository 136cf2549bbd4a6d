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
_DEFAULTS: Mapping[Convention, Mapping[str, Any]] = {
    "published": dict.fromkeys(_BLANKS) | {"on_unsupported_language": "compute"},
    "corrected": {
        "on_empty_reference": "undefined",
        "on_empty_prediction": "worst",
        "on_unsupported_language": "undefined",
    },
}


@dataclass(frozen=True)
class Policy:
    """What happens to studies with a blank side, or one that an English-only metric cannot read.

    Attributes:
        convention: The convention the policy belongs to.
        on_empty_reference: ``undefined``, ``worst`` or ``error``; None keeps the original's value (``published``).
        on_empty_prediction: Likewise.
        on_unsupported_language: ``undefined`` (a reference outside the Latin script gives no score, and a prediction
            outside it against one inside says nothing) or ``compute``.
    """

    convention: Convention
    on_empty_reference: Treatment | None
    on_empty_prediction: Treatment | None
    on_unsupported_language: Literal["undefined", "compute"]

    def signature(self, score_key: ScoreKey, english_only: bool) -> dict[str, str]:
        """Parts for the signature of a key: what differs from the convention's default, and bears on the key."""
        if score_key.direction == "none":
            return {}
        chosen = {name: getattr(self, name) for name in (OPTION_NAMES if english_only else _BLANKS)}
        defaults = _DEFAULTS[self.convention]
        return {name.removeprefix("on_"): str(value) for name, value in chosen.items() if value != defaults[name]}


def read_policy(convention: Convention, options: Mapping[str, Any]) -> Policy:
    """Read the policy options of a call.

    Raises:
        InvalidCall: A value is none of those that the option takes.
    """
    chosen = dict(_DEFAULTS[convention])
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
    # What overflowed is no score.
    values = np.where(np.isfinite(outcome.values), outcome.values, np.nan)
    verdict = _Verdict(values, score_key, policy, dict(outcome.reasons))
    if outcome.worst is not None:
        verdict.worst = outcome.worst
    if score_key.direction != "none":
        _settle(verdict, outcome, pairs, english_only)
    if outcome.undefined is not None:
        verdict.undefine(~np.isnan(verdict.values), outcome.undefined)
    lost = np.isnan(verdict.values)
    return Judged(
        values=verdict.values,
        statistics=_statistics(outcome, verdict.silenced, lost),
        counts=_counts(outcome, pairs, verdict, english_only),
        reasons={
            position: verdict.reasons.get(position, "original_fails") for position in np.flatnonzero(lost).tolist()
        },
    )


def _settle(verdict: "_Verdict", outcome: Outcome, pairs: Pairs, english_only: bool) -> None:
    """Settle one exception after the other; a later one overrules those before it."""
    policy = verdict.policy
    blank, empty = pairs.blank_predictions, pairs.blank_references
    visible = ~blank & ~empty
    if policy.convention == "corrected":
        verdict.silence(without_content(outcome, pairs), "worst", "no_content")
        verdict.undefine(visible & ~outcome.prediction_content & ~outcome.reference_content, "no_content")
    if english_only and policy.on_unsupported_language == "undefined":
        verdict.silence(visible & pairs.foreign_predictions, "worst", "unsupported_language")
        verdict.undefine(visible & pairs.foreign_references, "unsupported_language")
    if policy.convention == "corrected":
        verdict.perfect(pairs.identical)
    verdict.silence(blank & ~empty, policy.on_empty_prediction, "empty_prediction")
    verdict.treat(~blank & empty, policy.on_empty_reference, "empty_reference")
    verdict.treat(blank & empty, policy.on_empty_reference, "both_empty")


def without_content(outcome: Outcome, pairs: Pairs) -> Flags:
    """Predictions that are not blank but say nothing that the metric knows, where a reference does, bool [n]."""
    visible = ~pairs.blank_predictions & ~pairs.blank_references
    return visible & ~outcome.prediction_content & outcome.reference_content


def _statistics(outcome: Outcome, silenced: Flags, lost: Flags) -> Floats | None:
    """The statistics that belong to the values in the end."""
    if outcome.statistics is None:
        return None
    silent = outcome.statistics if outcome.silent is None else outcome.silent
    return np.where(lost[:, None], np.nan, np.where(silenced[:, None], silent, outcome.statistics))


def _counts(outcome: Outcome, pairs: Pairs, verdict: "_Verdict", english_only: bool) -> dict[str, int]:
    computed = ~verdict.settled & ~np.isnan(verdict.values)
    counts = {
        "n": len(pairs),
        "n_empty": int(pairs.blank_predictions.sum()),
        "n_empty_reference": int(pairs.blank_references.sum()),
        "n_identical": int(pairs.identical.sum()),
        "n_no_content": int(without_content(outcome, pairs).sum()),
        "n_truncated": 0,
        "n_undefined": int(np.isnan(verdict.values).sum()),
    }
    if english_only:
        counts["n_unsupported_language"] = int((pairs.foreign_predictions | pairs.foreign_references).sum())
    if outcome.clamped is not None:
        counts["n_clamped"] = int((outcome.clamped & computed).sum())
    return {**counts, **outcome.counts}


class _Verdict:
    """Values of one key, while one exception after the other is settled.

    Attributes:
        values: One value a study, float64 [n].
        policy: The policy of the call.
        worst: What a report that says nothing gets; None where there is nothing like it.
        reasons: Why a study has no value, by position; where it has one in the end they are void.
        settled: Whose value is not the formula's any more, bool [n].
        silenced: Whose prediction counts as a blank one, bool [n].
    """

    def __init__(self, values: Floats, score_key: ScoreKey, policy: Policy, reasons: dict[int, str]) -> None:
        self.values, self.policy, self.reasons = values, policy, reasons
        self.settled, self.silenced = np.zeros((2, len(values)), dtype=bool)
        self._formula_decides = score_key.blank == "formula"
        self.worst, self._best = score_key.worst(policy.convention), score_key.best(policy.convention)

    def undefine(self, where: Flags, reason: str) -> None:
        """Take the values away; a metric's own reason for having none stands before having no content."""
        for position in np.flatnonzero(where).tolist():
            known = reason == "no_content" and np.isnan(self.values[position])
            self.reasons[position] = self.reasons.get(position, reason) if known else reason
        self._give(where, np.nan)

    def treat(self, where: Flags, treatment: Treatment | None, reason: str) -> None:
        """Give the worst value or none, as the treatment says; None leaves what the formula gave."""
        if treatment == "undefined" or (treatment == "worst" and self.worst is None and not self._formula_decides):
            self.undefine(where, reason)
        elif treatment == "worst" and not self._formula_decides:
            self._give(where, self.worst)

    def silence(self, where: Flags, treatment: Treatment | None, reason: str) -> None:
        """Treat predictions that say nothing; those that get the worst value take part in a corpus score as blank."""
        self.treat(where, treatment, reason)
        if treatment == "worst" and not self._formula_decides:
            self.silenced |= where

    def perfect(self, where: Flags) -> None:
        """Give identical texts the best value."""
        if self._best is not None:
            self._give(where, self._best)
            self.silenced &= ~where

    def _give(self, where: Flags, value: float | None) -> None:
        self.values[where] = value
        self.settled |= where
