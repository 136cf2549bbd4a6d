"""FineRadScore: how severe the worst line of a report is, from a language model's corrections.

The prediction is split into numbered lines (`lines`). The judge answers with JSON: the number
of each wrong line, or "None" for a line to be inserted, maps to {"corrections", "clinical
severity", "comments", "error category"}; a line without an entry is right. Severities: Not
actionable 1, Actionable nonurgent error 2, Urgent error 3, Emergent error 4; case, a hyphen
and the word "error" do not matter.

- ``fineradscore``: the worst severity of a study, 0 without any correction; mean of studies.
- ``fineradscore_mean``: the mean severity of its lines and insertions; mean of studies.
- ``inv_fineradscore``: 1 / ``fineradscore`` of the set, for display; null where that is 0.

The authors publish prompts and severities but no number, and ReXrank does not say how it made
one of them; both conventions take the worst severity. An answer is null, ``unparsed``, where it
is no such JSON, a key is neither a line nor "None", or a severity is an unknown word. Severity
and correction in each other's place, as in one of the authors' examples, are put right.

- `published` reads JSON as Python does: of equal keys the last counts.
- `corrected` also refuses lines that the prediction does not have and a line that stands there
  twice, and takes several insertions under equal keys or in a list.

With ``parser=tolerant`` what stands around the outermost braces is removed, and the text of JSON
that still cannot be read is repaired as for CRIMSON. Range 0 (no correction) to 4, lower is better. A
failed judge is null, ``failed``. A blank report scores 4. Of several references each has an answer of
its own, and the option `several` says what counts.
Source: Huang et al., "FineRadScore", 2024; github.com/rajpurkarlab/FineRadScore.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rexrank.metrics import several
from rexrank.metrics.answers import (
    PARSERS,
    STRICT,
    judged,
    needed_answers,
    read_answers,
    read_json,
    refuse_constant,
    repaired_json,
)
from rexrank.metrics.inputs import InvalidCall, check_choice
from rexrank.metrics.outcome import Floats, Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import Example, Metric, Option, ScoreKey
from rexrank.terms import CONVENTIONS, Convention

SEVERITIES: Mapping[str, int] = {"not actionable": 1, "actionable nonurgent": 2, "urgent": 3, "emergent": 4}
WORST = 4.0

_FEATURE = "fineradscore_answer"
_INSERTION = "None"
# No stop after a digit ends a line, so decimals and numbered lists stay whole; "Dr. " does end one.
_END_OF_LINE = re.compile(r"(?<!\d)\. ")


@dataclass(frozen=True)
class Correction:
    """One entry of the judge's answer.

    Attributes:
        line: Number of the wrong line, from 0; None for a line to be inserted.
        severity: 1 to 4.
    """

    line: int | None
    severity: int


@dataclass(frozen=True)
class Corrections:
    """What the judge would correct in one report.

    Attributes:
        entries: Its corrections, in its order.
        lines: Number of lines of the report.
    """

    entries: tuple[Correction, ...]
    lines: int

    @property
    def worst(self) -> int:
        """The worst severity, 0 without corrections."""
        return max((entry.severity for entry in self.entries), default=0)

    @property
    def mean(self) -> float:
        """Mean severity of lines and insertions, 0 where there are none."""
        places = self.lines + sum(entry.line is None for entry in self.entries)
        # Several entries of one line, or of lines that do not exist, would else exceed the scale.
        places = max(places, len(self.entries))
        return sum(entry.severity for entry in self.entries) / places if places else 0.0


def lines(prediction: str) -> list[str]:
    """Split a prediction into the lines that the judge numbers from 0.

    A line ends with a full stop and a space, unless a digit precedes them. Quotes are removed, and each line ends in
    one full stop.

    Raises:
        InvalidCall: The prediction is no text.
    """
    if not isinstance(prediction, str):
        raise InvalidCall(f"prediction: expected the report as a str, got {type(prediction).__name__}")
    pieces = (piece.replace('"', "").strip() for piece in _END_OF_LINE.split(prediction))
    return [f"{piece.rstrip(' .')}." for piece in pieces if piece.replace(".", "").strip()]


def from_answer(answer: object, prediction: str, convention: Convention, parser: str = STRICT) -> Corrections | None:
    """Read the judge's answer about one prediction.

    Args:
        answer: The judge's JSON object, or the text that should hold it; None where the judge failed.
        prediction: The report that was judged.
        convention: ``published`` or ``corrected``.
        parser: How a text is read: ``strict`` or ``tolerant``.

    Returns:
        The corrections; None where the answer cannot be read.

    Raises:
        InvalidCall: The prediction is no text, or the convention or the parser does not exist.
    """
    check_choice("convention", convention, CONVENTIONS)
    check_choice("parser", parser, PARSERS)
    if isinstance(answer, str):
        answer = _parsed(answer, convention, parser)
    if not isinstance(answer, Mapping):
        return None
    number = len(lines(prediction))
    entries: list[Correction] = []
    try:
        for key, value in answer.items():
            entries.extend(_entries(key, value))
    except (AttributeError, KeyError, TypeError, ValueError):  # what Python says of a part of another form
        return None
    if convention == "corrected" and not _fits(entries, number):
        return None
    return Corrections(tuple(entries), number)


def _parsed(text: str, convention: Convention, parser: str) -> Any:
    hooks = (None, None) if convention == "published" else (_with_insertions, refuse_constant)
    if parser == STRICT:
        return read_json(text, *hooks)
    text = text[max(text.find("{"), 0) : text.rfind("}") + 1]
    found = read_json(text, *hooks)
    return repaired_json(text, *hooks) if found is None else found


def _with_insertions(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which insertions under equal keys become a list; any other key may stand there once."""
    found: dict[str, Any] = {}
    inserted: list[Any] = []
    for key, value in pairs:
        if key == _INSERTION:
            inserted.extend(value if isinstance(value, list) else [value])
        elif key in found:
            raise ValueError("a key stands twice")
        found[key] = inserted if key == _INSERTION else value
    return found


def _entries(key: object, value: Any) -> Iterator[Correction]:
    line = _line(key)
    entries = value if line is None and isinstance(value, list | tuple) else [value]
    for entry in entries:
        severity = SEVERITIES.get(_plain(entry.get("clinical severity")))
        yield Correction(line, SEVERITIES[_plain(entry.get("corrections"))] if severity is None else severity)


def _line(key: object) -> int | None:
    """Number of a line, None for an insertion; else an error that the caller takes for unreadable."""
    if isinstance(key, str):
        name = key.strip()
        if name == _INSERTION:
            return None
        if not (name.isascii() and name.isdigit()):
            raise ValueError("a key is neither a line nor None")
        return int(name)
    if key is None or (isinstance(key, int) and not isinstance(key, bool) and key >= 0):
        return key
    raise TypeError("a key is neither a line nor None")


def _plain(severity: object) -> str:
    """A severity without what does not matter: case, hyphens, full stops and the word error."""
    if not isinstance(severity, str):
        return ""
    words = severity.lower().replace("non-", "non").replace("-", " ").strip(" \t\n.").split()
    joined = " ".join(words[:-1] if words[-1:] == ["error"] else words)
    return joined.replace("non urgent", "nonurgent")


def _fits(entries: Sequence[Correction], number: int) -> bool:
    """Whether each line that is corrected exists and is corrected once."""
    corrected = [entry.line for entry in entries if entry.line is not None]
    return len(set(corrected)) == len(corrected) and all(line < number for line in corrected)


def _inverse(means: Floats) -> Floats:
    return np.divide(1.0, means, out=np.full(means.shape, np.nan), where=means > 0)


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    parser = check_choice("parser", options.get("parser", STRICT), PARSERS)
    answers = read_answers(
        pairs,
        _FEATURE,
        (str, Mapping),
        lambda answer, prediction, _: from_answer(answer, prediction, convention, parser),
        needed_answers(pairs, convention, reads_all_scripts=True),
    )
    worst = [None if reading is None else float(reading.worst) for reading in answers.readings]
    mean = [None if reading is None else reading.mean for reading in answers.readings]
    signature = {"parser": parser}
    outcomes = {
        "fineradscore": judged(worst, answers, signature | {"agg": "worst"}),
        "fineradscore_mean": judged(mean, answers, signature | {"agg": "mean"}),
        "inv_fineradscore": judged(worst, answers, signature | {"agg": "worst"}),
    }
    return {key: outcomes[key] for key in keys}


def _severity_key(key: str, label: str, description: str) -> ScoreKey:
    return ScoreKey(
        key=key,
        label=label,
        direction="lower",
        ranges={"published": (0.0, WORST), "corrected": (0.0, WORST)},
        kind="mean",
        digits=3,
        modality=("CXR",),
        language=("any",),
        description=description,
        needs=(_FEATURE,),
    )


def _example(line: str, severity: str) -> Mapping[str, Any]:
    entry = {"corrections": "[delete]", "clinical severity": severity, "comments": "", "error category": []}
    return {_FEATURE: [{line: entry}]}


_PREDICTION, _REFERENCE = "Lungs clear. Large effusion.", "Lungs clear. No effusion."

METRIC = Metric(
    name="fineradscore",
    version="1",
    keys=(
        _severity_key("fineradscore", "FineRadScore", "Severity of the worst error, 0 to 4; mean of studies."),
        _severity_key(
            "fineradscore_mean", "FineRadScore (mean)", "Mean severity of lines and insertions; mean of studies."
        ),
        ScoreKey(
            key="inv_fineradscore",
            label="1/FineRadScore",
            direction="higher",
            ranges={"published": (1 / WORST, None), "corrected": (1 / WORST, None)},
            kind="mean",
            digits=3,
            modality=("CXR",),
            language=("any",),
            description="1 over the mean of FineRadScore, for display; null where that is 0.",
            needs=(_FEATURE,),
            blank={"published": WORST, "corrected": WORST},
            perfect={"published": 0.0, "corrected": 0.0},
            of_mean=_inverse,
        ),
    ),
    compute=_compute,
    source='Huang et al., "FineRadScore", 2024; github.com/rajpurkarlab/FineRadScore',
    options=(
        Option(
            "parser",
            "strict or tolerant",
            "strict",
            "Whether an answer given as text must be JSON, or may stand among words and be repaired as for CRIMSON.",
        ),
        several.OPTION,
    ),
    examples=(
        Example(
            _PREDICTION,
            _REFERENCE,
            _example("7", "Urgent error"),
            note="the answer corrects line 7 (urgent error), which the prediction does not have",
        ),
    ),
    faults=(
        "The authors' script computes no number; how ReXrank made one is not documented.",
        "The authors' script asks again without end where every call to the judge fails.",
        "One of the authors' examples for the judge has correction and severity in each other's place.",
    ),
)
