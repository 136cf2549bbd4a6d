r"""Unsupported prior: predictions that compare with an earlier study, where none is known.

A prediction compares where it says that something is new, stable, unchanged, improved, worse,
persistent or resolved, "again" seen or "no longer" seen, speaks of an interval change, or names
an earlier examination ("compared to the prior study"). What is old in itself does not compare
("prior surgery", "chronic", "increased lung markings"), nor does the remark that there is nothing
to compare with, or the advice to compare.

The option `prior` says for each study whether an earlier one is known; `rexrank.score` takes it
from the references' file: a column `prior` or `comparison`, or "Comparison: …" in the context,
where "None" means no. Without it none is known. A reference that compares knows of one.

A study with a known prior is null, ``prior_known``. Any other has the value 1 where the prediction
compares, else 0; the score is the mean of studies, the share of inventions. Range [0, 1], lower is
better. A blank prediction scores 1, the worst. Both conventions are the same, but that `corrected`
gives 0 to identical texts. English only. docs/audits.md states how often the rules are right.

The question is that of Ramesh et al., Improving Radiology Report Generation Systems by Removing
Hallucinated References to Non-existent Priors, ML4H 2022; the rules are our own.
"""

import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from rexrank.labels import RULE_VERSION
from rexrank.labels.sentences import sentences
from rexrank.metrics.audited import audit
from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, Option, ScoreKey
from rexrank.terms import Convention

_EXAM = (
    r"(?:stud(?:y|ies)|exam(?:ination)?s?|films?|radiographs?|x ?rays?|images?|imaging|chest|cxr|ct|scans?|pet|"
    r"tomograms?|reports?)"
)
_COMPARES = re.compile(
    rf"""
    \b(?:stable|stably|unchanged)\b
    | \bredemonstrat\w+
    | \b(?:re|once\ )?again\b
    | \b(?:interval|interim|as\ before)\b
    | \bno\ longer\b
    | \b(?:no|without)\ (?:(?:significant|interval|definite|appreciable|substantial|obvious|radiographic|further|gross|
      other|acute\ interval|marked|major|interim|or)\ ){{0,4}}?changed?\b
    | \b(?:has|have|had)\ not\ (?:\w+\ )?changed\b
    | \bnew(?:ly)?\b(?!\ york)
    | \b(?:improv|worsen|progress|resol(?:ved|ution|ving)|persist)\w*
    | \b(?:has|have|had)\ (?:\w+\ ){{0,2}}?(?:increased|decreased|enlarged|cleared|developed)\b
    | \b(?:increas|decreas)(?:ed|ing|e)\ (?:\w+\ ){{0,4}}?
      (?:since|compared|from\ (?:the\ )?(?:prior|previous|last|{_EXAM}))\b
    | \b(?:slightly\ |mildly\ |somewhat\ )?(?:larger|smaller|better|worse)\b(?=.{{0,80}}\b(?:than|prior|previous|now)\b)
    | \bnow\b
    | \bremains?\b
    | \b(?:as|when|again)\ compared\b
    | \bcompar(?:ed|ison)\ (?:to|with|is\ made|was\ made)\b
    | \bin\ comparison\b
    | \bsince\ (?:the\ )?(?:prior|previous|last|that|\w*\ ?{_EXAM}|\d)
    | \b(?:prior|previous|earlier|last|comparison|old)\ (?:\w+\ ){{0,3}}?{_EXAM}\b
    | \b(?:from|than|to|on|with)\ (?:the\ )?(?:prior|previous|before)\b(?=\W|$)
    | \bpreviously\ (?:seen|noted|described|identified|demonstrated|visualized|reported|present)\b
    | \b(?:not|was|were|as)\ (?:seen|present|noted)\ (?:previously|before)\b
    | \b(?:similar|as)\ (?:\w+\ ){{0,4}}?to\ (?:the\ )?(?:prior|previous|comparison)\b
    """,
    re.VERBOSE,
)
# No further than one remark reaches: without a limit, a text without full stops would take time by its square.
_NEAR = r"[^,]{0,80}?"
_EARLIER = r"(?:prior|previous|comparisons?|comparable|compare|older?|earlier)"
# What stands behind one of these is not what is denied: "no change from the prior study", "not seen on prior".
_TURNS = r"(?:since|from|to|than|on|with|as|by|compared|chang\w+|new|interval)"
_NO_COMPARISON = re.compile(
    rf"\b(?:no|without|not|none|lack of|absence of)\b(?:(?!\b{_TURNS}\b)[^,]){{0,80}}?\b{_EARLIER}\b"
    rf"(?:{_NEAR}\b{_EXAM}\b|{_NEAR}\b(?:available|comparison)\b|[^,]{{0,80}}$)"
    rf"|\b{_EARLIER}\b{_NEAR}\b(?:not (?:\w+ )?|un)available\b"
)
_ADVICE = re.compile(
    r"\b(?:recommend|suggest(?:ed|ion)?\b(?! of)|advis|consider(?:ed|ation)?\b|would be (?:helpful|of benefit|useful)|"
    r"may be helpful|if (?:available|indicated|clinically|there|symptoms|persist\w*)|could be (?:obtained|considered)|"
    r"obtain|follow ?up|should be)"
)
# These say it of the finding, also where a part of the sentence behind a comma gives advice.
_CHANGE = re.compile(
    r"\b(?:stable|stably|unchanged|redemonstrat\w+|again|interval|interim|no longer|new(?:ly)?|improv\w*|worsen\w*|"
    r"progress\w*)\b"
)
_WORD, _DEIDENTIFIED = re.compile(r"[a-z0-9']+|,"), re.compile("x{2,}")
_IF = re.compile(r"\bif\b")
_ANSWERS: Mapping[str, bool] = {"yes": True, "no": False}


def compares(text: str) -> bool:
    """Whether a report compares with an earlier study."""
    return any(map(_sentence_compares, sentences(text)))


def _sentence_compares(sentence: str) -> bool:
    plain = " ".join(word for word in _WORD.findall(sentence) if not _DEIDENTIFIED.fullmatch(word))
    if _COMPARES.search(plain) is None or _NO_COMPARISON.search(plain) is not None:
        return False
    advice = _ADVICE.search(plain)
    if advice is None:
        return True
    before = plain[: max(0, plain.rfind(",", 0, advice.start()))]
    return _CHANGE.search(before) is not None and _IF.search(before) is None


def read_prior(given: Any, count: int) -> Set[int] | None:
    """Positions of the studies of which an earlier one is known; None where nothing was said.

    Raises:
        InvalidCall: Not a list with ``yes``, ``no`` or None for each study.
    """
    if given is None:
        return None
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence | np.ndarray):
        raise InvalidCall(f"prior: expected a list with yes, no or None for each study, got {type(given).__name__}")
    if len(given) != count:
        raise InvalidCall(f"prior: got {len(given)} items, and there are {count} texts; give one for each study")
    for position, one in enumerate(given):
        if one is not None and not (isinstance(one, str) and one in _ANSWERS):
            raise InvalidCall(f"prior[{position}]: expected yes, no or None, got {type(one).__name__}")
    return {position for position, one in enumerate(given) if one == "yes"}


def _judge(prediction: bool, references: Sequence[bool]) -> float | str:
    return "prior_known" if any(references) else float(prediction)


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    known = read_prior(options.get("prior"), len(pairs))
    signature = {"rules": RULE_VERSION, "prior": "unknown" if known is None else "given"}
    outcome = audit(pairs, compares, _judge, "lower", signature)
    if not known:
        return {"unsupported_prior": outcome}
    return {"unsupported_prior": _without(outcome, known - set(np.flatnonzero(pairs.blank_predictions).tolist()))}


def _without(outcome: Outcome, known: Set[int]) -> Outcome:
    """The outcome without the studies of which a prior is known."""
    values = outcome.values.copy()
    values[list(known)] = np.nan
    reasons = {**outcome.reasons, **dict.fromkeys(known, "prior_known")}
    return Outcome(values, outcome.signature, outcome.prediction_content, outcome.reference_content, reasons=reasons)


METRIC = Metric(
    name="unsupported_prior",
    version="2",
    keys=(
        ScoreKey(
            key="unsupported_prior",
            label="Unsupported prior",
            direction="lower",
            ranges=UNIT_RANGES,
            kind="mean",
            digits=3,
            modality=("any",),
            language=("en",),
            description="Share of predictions that compare with an earlier study, of the studies without a known one.",
        ),
    ),
    compute=_compute,
    source="Ramesh et al., ML4H 2022 (the question); rexrank (the rules)",
    options=(
        Option(
            "prior",
            'list with "yes", "no" or None for each study',
            "none is known; `rexrank.score` takes it from the references",
            "Whether an earlier study is known.",
        ),
    ),
    context=("prior",),
    english_only=True,
    is_audit=True,
    examples=(Example("The nodule is stable.", "The nodule is stable."),),
)
