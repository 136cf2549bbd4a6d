"""What reports look like as texts: length, variety, and copies of training reports. Nothing here is better or worse.

Words are those of the tokeniser ``unicode-words``: NFC, section headers dropped, lower-case,
no punctuation; in scripts without spaces each character. Two reports are the same where they
are equal after NFC, with section headers dropped as by that tokeniser, and with every run of white
space as one space. So neither the "Findings: " that a protocol puts before a text nor a header that
one file has and the other lacks makes a copy look new.

- ``report_words``: words of a prediction, mean of studies.
- ``report_distinct``: different predictions divided by predictions. 1 where no two agree; a
  system that writes one report for everybody has 1 / n.
- ``report_vocabulary``: different words in all predictions.
- ``report_in_training``: share of the predictions that are the same as a training report
  (option `training`; without it the score is unavailable). Blank predictions are not. Text
  options of a protocol (``lower``, ``deid-drop`` …) are not applied to training reports: give
  them treated alike.

``reference_words``, ``reference_distinct``, ``reference_vocabulary`` and
``reference_in_training`` are the same of the references, to compare with; of several
references all are taken (in `corrected` those that say something), and a study's value is
the mean over its own.

Both conventions are the same else. Blank reports count, with 0 words. A distinct share and a
vocabulary depend on the number of studies; compare them between systems on one set.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from os import PathLike
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rexrank.errors import RefusedInput, shown
from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.outcome import Floats, Outcome
from rexrank.metrics.pairs import Integers, Pairs, Rows, canonical
from rexrank.metrics.registry import Metric, Option, Range, ScoreKey
from rexrank.metrics.tokenizers import UNICODE_WORDS, drop_headers
from rexrank.reports.reading import read_references
from rexrank.reports.studies import Study, is_blank, whole_report
from rexrank.terms import Convention

_TOKENS = {"tok": UNICODE_WORDS.name}
_LACKING = "training: expected a list of reports, or the path of a file of reports"


def _compute(
    pairs: Pairs, keys: Sequence[str], convention: Convention, options: Mapping[str, Any]
) -> dict[str, Outcome]:
    training = read_training(options["training"]) if any(key.endswith("_in_training") for key in keys) else frozenset()
    sides = {side: _Side(pairs, is_prediction=side == "report") for side in ("report", "reference")}
    found: dict[str, Outcome] = {}
    for key in keys:
        side, what = key.split("_", 1)
        found[key] = sides[side].outcome(what, training)
    return found


class _Side:
    """The predictions or the references of a call."""

    def __init__(self, pairs: Pairs, is_prediction: bool) -> None:
        self._pairs = pairs
        self._is_prediction = is_prediction
        self._counts: Integers = np.ones(len(pairs), dtype=np.int64)
        if not is_prediction:
            self._counts = np.array([len(texts) for texts in pairs.references])

    def outcome(self, what: str, training: frozenset[str]) -> Outcome:
        """The outcome of ``words``, ``distinct``, ``vocabulary`` or ``in_training``."""
        if what == "words":
            return self._mean(self._rows.lengths, _TOKENS)
        if what == "vocabulary":
            return self._whole(len(np.unique(self._rows.ids)), _TOKENS)
        texts = self._canonical()
        if what == "distinct":
            return self._whole(len(set(texts)) / len(texts), {})
        return self._mean(np.array([text in training for text in texts]), _named(training))

    @property
    def _rows(self) -> Rows:
        tokens = self._pairs.tokens(UNICODE_WORDS)
        return tokens.predictions if self._is_prediction else tokens.references

    def _canonical(self) -> list[str]:
        texts = self._pairs.predictions if self._is_prediction else chain.from_iterable(self._pairs.references)
        return list(map(same_form, texts))

    def _mean(self, of_texts: NDArray[Any], signature: Mapping[str, str]) -> Outcome:
        """The outcome of a number a text; the mean of them where a study has several texts."""
        first = np.concatenate([[0], np.cumsum(self._counts)[:-1]])
        return self._outcome(np.add.reduceat(of_texts.astype(np.float64), first) / self._counts, signature)

    def _whole(self, value: float, signature: Mapping[str, str]) -> Outcome:
        return self._outcome(np.zeros(len(self._counts)), signature, float(value))

    def _outcome(self, values: Floats, signature: Mapping[str, str], aggregate: float | None = None) -> Outcome:
        seen = np.ones(len(values), dtype=bool)
        return Outcome(values, signature, seen, seen, aggregate=aggregate)


def same_form(text: str) -> str:
    """What two reports have in common that are the same: NFC, without section headers, white space made alike."""
    return canonical(drop_headers(unicodedata.normalize("NFC", text)))


def read_training(training: Any) -> frozenset[str]:
    """The texts of training reports, with white space and Unicode made alike and without section headers.

    Args:
        training: Texts, or the path or ``hf://`` address of a file in any form that references have. Of a record
            with sections each section counts, and so does the whole report, also where the record has only its
            sections.

    Raises:
        InvalidCall: Something else, or no text at all.
        RefusedInput: The file cannot be read, with every fault.
    """
    if isinstance(training, str | PathLike):
        studies = _studies(training)
        texts = [text for study in studies for text in _texts_of(study) if text]
    elif isinstance(training, Sequence | set | frozenset) and not isinstance(training, bytes | bytearray):
        texts = list(training)
    else:
        raise InvalidCall(f"{_LACKING}, got {type(training).__name__}")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidCall(f"training[{position}]: expected str, got {type(text).__name__}")
    known = frozenset(compared for text in texts if not is_blank(compared := same_form(text)))
    if not known:
        raise InvalidCall(f"{_LACKING}, got none that says anything")
    return known


def _studies(source: str | PathLike[str]) -> Iterable[Study]:
    try:
        return read_references(source, track="report").studies.values()
    except RefusedInput as refused:
        if [problem.code for problem in refused.problems] != ["file_missing"]:
            raise
        name = shown(PurePath(source).name or str(source))
        why = refused.problems[0].message
        raise InvalidCall(f"training: {name}: {why}; give the path of a file of reports, or a list of them") from None


def _texts_of(study: Study) -> Iterator[str | None]:
    yield from (study.findings, study.impression, study.report, *study.alternatives)
    if study.findings and study.impression:
        yield whole_report(study.findings, study.impression)
        yield f"{study.findings} {study.impression}"


def _named(training: frozenset[str]) -> dict[str, str]:
    """Number and fingerprint of the training reports, whatever their order."""
    digest = sha256("\0".join(sorted(training)).encode(errors="surrogatepass")).hexdigest()
    return {"training": f"{len(training)}+{digest[:8]}"}


def _key(key: str, label: str, whole: bool, digits: int, most: float | None, description: str) -> ScoreKey:
    ranges: dict[Convention, Range] = {"published": (0.0, most), "corrected": (0.0, most)}
    return ScoreKey(
        key=key,
        label=label,
        direction="none",
        ranges=ranges,
        kind="set" if whole else "mean",
        digits=digits,
        modality=("any",),
        language=("any",),
        description=description,
        requires=("training",) if key.endswith("_in_training") else (),
    )


def _keys(side: str, title: str, texts: str) -> tuple[ScoreKey, ...]:
    return (
        _key(f"{side}_words", f"{title} words", False, 1, None, f"Number of words; mean of {texts}."),
        _key(f"{side}_distinct", f"{title} distinct", True, 3, 1.0, f"Share of different texts among {texts}."),
        _key(f"{side}_vocabulary", f"{title} vocabulary", True, 0, None, f"Number of different words in {texts}."),
        _key(
            f"{side}_in_training",
            f"{title} in training",
            False,
            3,
            1.0,
            f"Share of {texts} that are the same as a training report.",
        ),
    )


METRIC = Metric(
    name="report_statistics",
    version="1",
    keys=(*_keys("report", "Report", "all predictions"), *_keys("reference", "Reference", "all references")),
    compute=_compute,
    source="rexrank",
    options=(
        Option(
            "training",
            "texts of training reports, or a file of them in the form of references",
            "none",
            "What `report_in_training` and `reference_in_training` compare with.",
        ),
    ),
)
