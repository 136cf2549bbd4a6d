"""GREEN: matched findings against clinically significant errors, counted by a language model.

The judge GREEN-radllama2-7b compares a report with its reference and writes counts:
matched findings m, and significant errors of six kinds, (a) false finding, (b) missing
finding, (c) wrong location, (d) wrong severity, (e) comparison that the reference lacks,
(f) omitted comparison. A study scores

    m / (m + sum of the six counts)

and the aggregate is the mean of studies. Range [0, 1]. Insignificant errors do not count.
An answer is read from its last ``<|assistant|>`` and then from its heading ``[Explanation]:`` on.

- `published` reads as the package does: a section ends at its first blank line; the matched
  count is a number and a full stop at the very start of its section; the count of an error is
  the first number between ``: `` and a full stop on its line, and 0 where there is none; where a
  letter stands on several lines, the last of them in alphabetical order counts; a section that
  begins with "No" counts 0. The score is 0 where m is 0, so also where nothing could be read;
  `n_unparsed` counts the answers that `corrected` cannot read.
- `corrected` ends a section at the next bracketed heading, takes a count with or without a full
  stop, at the start or after a label, takes "None" and "No …" for 0, and adds up the counts of a
  letter that stands there several times. An answer is null, ``unparsed``, where either section is
  absent, an error or the matched findings have words but no count, a count has more than three
  digits, or a section stands there twice with different counts. m = 0 without errors is null,
  ``no_findings``.

A failed judge is null, ``failed``. A blank report scores 0. Of several references each has an answer of
its own, and the option `several` says what counts.
Source: Ostmeier et al., Findings of EMNLP 2024; github.com/Stanford-AIMI/GREEN.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from rexrank.errors import shown
from rexrank.metrics import several
from rexrank.metrics.answers import STRICT, TOLERANT, judged, needed_answers, read_answers
from rexrank.metrics.inputs import InvalidCall, check_choice
from rexrank.metrics.outcome import Outcome
from rexrank.metrics.pairs import Pairs
from rexrank.metrics.registry import UNIT_RANGES, Example, Metric, ScoreKey
from rexrank.terms import CONVENTIONS, Convention

KINDS = ("a", "b", "c", "d", "e", "f")

_FEATURE = "green_completion"
_TURN = "<|assistant|>"
_EXPLANATION = "[Explanation]:"
_ECHOED_FORMAT = "[Explanation]:\n    <Explanation>\n"
_END_MARKS = ("</s>", "<unk>")
_ERRORS = "clinically significant errors"
_MATCHED = "matched findings"

_BLANK_LINE = re.compile(r"\n\s*\n")
_PUBLISHED_MATCHED = re.compile(r"\d+\b(?=\.)")
_PUBLISHED_COUNT = re.compile(r"(?<=: )\b\d+\b(?=\.)")
_PUBLISHED_ENTRIES = (re.compile(r"\([a-f]\) .*"), re.compile(r"\([1-6]\) .*"))

# No pattern below lets two neighbours take the same characters, so reading takes time in proportion to the text.
_HEADING = re.compile(
    r"\[[ \t]*+(explanation|clinically significant errors|clinically insignificant errors|matched findings)[ \t]*+\]"
    r"[ \t*_]*+(?::|$)|^[ \t*_#]*+\[[a-z][^\[\]\n]{0,80}\][ \t*_]*+:",
    re.IGNORECASE | re.MULTILINE,
)
_LETTER_MARKS = re.compile(r"(?<![^\s*_,;.])\(([a-f])\)", re.IGNORECASE)
_NUMBER_MARKS = re.compile(r"(?<![^\s*_,;.])\(([1-6])\)")
_LABEL = re.compile(r"[^0-9:=\n]*+[:=]")
# A number that measures something, or begins a range, is no count; "No. of" begins a label.
_COUNT = re.compile(
    r"[\s*_<(\[]*+([0-9]++)(?!\w|[.,][0-9]|\s?(?:[cm]m\b|%|/|(?:[-–x]|to\b|or\b)\s?[0-9]))", re.IGNORECASE
)
_NOTHING = re.compile(
    r"[\s*_<(\[]*+(?:none|no(?!\.?\s?of\b)|nil|n/?a|zero|not applicable)(?!\w)|[\s*_]*+[-–—]+\s*+$", re.IGNORECASE
)
_NUMBERED_LINE = re.compile(r"^[ \t]*+[0-9]++[.)]", re.MULTILINE)
# The judge sees 300 words of a report, so it cannot have counted a thousand findings.
_MOST_DIGITS = 3
_MOST_LABELS = 3
_FILLING = " \t\r\n*_."


@dataclass(frozen=True)
class Counts:
    """What the judge counted.

    Attributes:
        score: m / (m + errors), in [0, 1]; None where the judge found neither a match nor an error.
        matched: Matched findings m.
        errors: Clinically significant errors of the kinds (a) to (f).
    """

    score: float | None
    matched: int
    errors: tuple[int, ...]


def from_completion(text: str | None, convention: Convention) -> Counts | None:
    """Read the judge's answer.

    Args:
        text: The completion, with or without the prompt before it; None where the judge failed.
        convention: ``published`` reads what the package reads, and gives a score of 0 with counts of 0 where it
            finds nothing; ``corrected`` as the module says.

    Returns:
        The counts; None in `corrected` where the answer cannot be read, and in `published` only where the package
        fails: without a text, or with a number too long for Python.

    Raises:
        InvalidCall: `text` is no text, or the convention does not exist.
    """
    check_choice("convention", convention, CONVENTIONS)
    if text is not None and not isinstance(text, str):
        raise InvalidCall(f"text: expected the judge's answer as a str, or None, got {shown(text)}")
    if text is None:
        return None
    return _as_published(text) if convention == "published" else _as_corrected(text)


def _as_published(text: str) -> Counts | None:
    answer = _published_answer(text)
    try:
        errors = _published_errors(_published_section(answer, "Clinically Significant Errors"))
        found = _PUBLISHED_MATCHED.match(_published_section(answer, "Matched Findings"))
        matched = int(found.group()) if found else 0
    except ValueError:  # Python reads no more than some thousand digits
        return None
    return Counts(matched / (matched + sum(errors)) if matched else 0.0, matched, errors)


def _published_answer(text: str) -> str:
    if _EXPLANATION in text:
        text = text.rpartition(_TURN)[2]
        text = text.split(_EXPLANATION)[1] if _ECHOED_FORMAT in text else text.rpartition(_EXPLANATION)[2]
    return _without_end_marks(text.rpartition(_TURN)[2])


def _published_section(answer: str, name: str) -> str:
    """Text of a section; empty where it is absent or says "No", which then counts 0."""
    body = answer.partition(f"[{name}]:")[2].lstrip()
    end = _BLANK_LINE.search(body)
    section = body[: end.start()] if end else body
    return "" if section.startswith("No") else section


def _published_errors(section: str) -> tuple[int, ...]:
    lettered, numbered = (sorted(pattern.findall(section)) for pattern in _PUBLISHED_ENTRIES)
    counts = [0] * len(KINDS)
    for entry in lettered or numbered:
        if found := _PUBLISHED_COUNT.search(entry):
            counts[_place(entry[1])] = int(found.group())
    return tuple(counts)


def _as_corrected(text: str) -> Counts | None:
    answer = _without_end_marks(text.rpartition(_TURN)[2].rpartition(_EXPLANATION)[2])
    errors: set[tuple[int, ...] | None] = set()
    matched: set[int | None] = set()
    for name, section, is_last in _sections(answer):
        if not section.strip() and is_last:  # cut off
            return None
        if name == _ERRORS:
            errors.add(_errors(section))
        elif name == _MATCHED:
            matched.add(_count(section))
    if len(errors) != 1 or len(matched) != 1:
        return None
    (counted,), (number,) = errors, matched
    if counted is None or number is None:
        return None
    total = number + sum(counted)
    return Counts(number / total if total else None, number, counted)


def _sections(answer: str) -> Iterator[tuple[str, str, bool]]:
    """Name in lower case, text, and whether it is the last, of each section with a heading."""
    headings = list(_HEADING.finditer(answer))
    for heading, following in zip_longest(headings, headings[1:]):
        end = following.start() if following else len(answer)
        yield (heading.group(1) or "").lower(), answer[heading.end() : end], following is None


def _errors(section: str) -> tuple[int, ...] | None:
    marks = list(_LETTER_MARKS.finditer(section)) or list(_NUMBER_MARKS.finditer(section))
    if not marks:
        return None if _count(section) != 0 else (0,) * len(KINDS)
    counts = [0] * len(KINDS)
    for mark, following in zip_longest(marks, marks[1:]):
        count = _count(section[mark.end() : following.start() if following else len(section)])
        if count is None:
            return None
        counts[_place(mark.group(1).lower())] += count
    return tuple(counts)


def _count(text: str) -> int | None:
    """The count that a piece of an answer begins with, perhaps after labels; None where it has words but no count."""
    if len(_NUMBERED_LINE.findall(text)) > 1:  # a list of findings, whose first number counts nothing
        return None
    start = len(text) - len(text.lstrip())
    for _ in range(_MOST_LABELS + 1):
        if not text[start:].strip(_FILLING):
            return 0
        if found := _COUNT.match(text, start):
            return int(found.group(1)) if len(found.group(1)) <= _MOST_DIGITS else None
        if _NOTHING.match(text, start):
            return 0
        label = _LABEL.match(text, start)
        if label is None:
            return None
        start = label.end()
    return None


def _place(mark: str) -> int:
    return int(mark) - 1 if mark.isdigit() else KINDS.index(mark)


def _without_end_marks(text: str) -> str:
    for mark in _END_MARKS:
        text = text.replace(mark, "")
    return text


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    needed = needed_answers(pairs, convention, options.get("on_unsupported_language") == "compute")
    answers = read_answers(pairs, _FEATURE, (str,), lambda text, *_: from_completion(text, "corrected"), needed)
    readings = answers.readings
    if convention == "published":
        readings = [from_completion(text, "published") for text in pairs.pair_features(_FEATURE)]
    silent = [at for at, reading in enumerate(readings) if reading is not None and reading.score is None]
    answers = replace(answers, reasons={**answers.reasons, **dict.fromkeys(silent, "no_findings")})
    scores = [None if reading is None else reading.score for reading in readings]
    return {"green": judged(scores, answers, {"parser": STRICT if convention == "published" else TOLERANT})}


def _example(matched: str, errors: str) -> Mapping[str, Any]:
    return {_FEATURE: [f"[Clinically Significant Errors]:\n{errors}\n\n[Matched Findings]:\n{matched}"]}


_PREDICTION, _REFERENCE = "Small left effusion.", "Small left effusion. Old rib fracture."

METRIC = Metric(
    name="green",
    version="1",
    keys=(
        ScoreKey(
            key="green",
            label="GREEN",
            direction="higher",
            ranges=UNIT_RANGES,
            kind="mean",
            digits=3,
            modality=("CXR",),
            language=("en",),
            description="Matched findings over matched findings and significant errors; mean of studies.",
            needs=(_FEATURE,),
        ),
    ),
    compute=_compute,
    source="Ostmeier et al., 2024; github.com/Stanford-AIMI/GREEN",
    options=(several.OPTION,),
    english_only=True,
    examples=(
        Example(
            _PREDICTION,
            _REFERENCE,
            _example("1. effusion", "(b) Missing finding: 1 rib fracture"),
            note="the answer counts a match and, without a full stop behind its number, a missing finding",
        ),
        Example(
            _PREDICTION,
            _REFERENCE,
            {_FEATURE: ["I cannot compare these reports."]},
            note="the answer has no sections and no counts",
        ),
    ),
    faults=(
        "The package counts an answer that it cannot read as 0; of one public run 137 of 200 answers had no section "
        "of matched findings.",
        "The package takes a section of matched findings that begins with a word such as Nodule for an empty one.",
        "RadEval lets the number of matched findings begin any line, so its scores differ from the package's.",
    ),
)
