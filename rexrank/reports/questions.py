"""Questions about images with the answers to choose from, in the form of ReXVQA.

One record a question: ``question``, ``options`` (``["A. …", "B. …"]``), ``correct_answer`` (a letter, or the text of an
option), ``category``, ``subcategory``, and in a file of predictions ``model_prediction``. Further fields that are read
where they are there: ``study_id`` (or ``StudyInstanceUid``) and ``patient_id``, by which questions hang together.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rexrank.errors import RefusedInput
from rexrank.reports.json_files import Fields
from rexrank.reports.problems import Problem, shown_id
from rexrank.reports.reading import PATIENT_FIELDS, PREDICTION_FIELDS, Reader, Source, collect_predictions
from rexrank.reports.studies import Limits, is_blank

IDS = ("question_id", "id", "study_id")
ANSWER = "correct_answer"
STUDY_FIELDS = ("study_id", "StudyInstanceUid")
_FIELDS = Fields((ANSWER,), ("question", "options", "category", "subcategory", *STUDY_FIELDS, *PATIENT_FIELDS), IDS)
_FIELDS_WITH_PREDICTIONS = Fields(_FIELDS.texts, (*_FIELDS.others, *PREDICTION_FIELDS[:2]), IDS)
# More letters than these nobody offers.
_MOST_OPTIONS = 26
_LETTER_ALONE = re.compile(r"\s*\(?[A-Za-z][.):]\s*")


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        question_id: Opaque id.
        right: The right answer as the file has it.
        options: What there is to choose from, as the file has it; empty for a question that is answered in words.
        question: The question, or None where the file does not have it.
        category: Its kind (``Negation Assessment``), or None.
        study_id: Study that it is about, or None.
        patient_id: Patient, or None.
    """

    question_id: str
    right: str
    options: tuple[str, ...] = ()
    question: str | None = None
    category: str | None = None
    study_id: str | None = None
    patient_id: str | None = None


@dataclass(frozen=True)
class Questions:
    """A file of questions, in its order.

    Attributes:
        questions: The questions; all with options, or none.
        answers: Question id to the model's answer; None where the file has none.
        source: Name of the file, Hub address, or ``references`` for objects.
        sha256: Of the file's bytes; empty for objects.
    """

    questions: Sequence[Question]
    answers: Mapping[str, str] | None = field(default=None)
    source: str = "references"
    sha256: str = ""

    @property
    def options(self) -> list[list[str]] | None:
        """The options of each question, or None where they are answered in words."""
        offered = [list(one.options) for one in self.questions]
        return offered if all(offered) else None

    @property
    def categories(self) -> list[str] | None:
        """The category of each question; None where one lacks it."""
        found = [one.category for one in self.questions if one.category is not None]
        return found if len(found) == len(self.questions) else None

    @property
    def groups(self) -> list[str] | None:
        """What hangs together: patients where all are known, else studies; None where neither is."""
        return self._grouped[1]

    @property
    def unit(self) -> str:
        """What `groups` are: ``patient``, ``study``, or ``question`` where nothing is known to hang together."""
        return self._grouped[0]

    @property
    def _grouped(self) -> tuple[str, list[str] | None]:
        for unit, known in (
            ("patient", [one.patient_id for one in self.questions]),
            ("study", [one.study_id for one in self.questions]),
        ):
            found = [one for one in known if one is not None]
            if len(found) == len(self.questions):
                return unit, found
        return "question", None


def read_questions(source: Source, limits: Limits | None = None) -> Questions:
    """Read questions, and the model's answers where they stand there.

    Args:
        source: Path or ``hf://`` address of a JSON, JSONL, CSV, TSV or Parquet file, a mapping from question id to
            record, or a list of records with ``question_id`` (or ``id``, or ``study_id`` where each study has one
            question). In CSV and TSV ``options`` is a JSON list.
        limits: What it may hold at most.

    Raises:
        RefusedInput: With every fault found.
    """
    reader = Reader(source, "references", _FIELDS_WITH_PREDICTIONS, Limits.checked(limits))
    values = reader.values()
    field_of_answers = next((name for name in PREDICTION_FIELDS[:2] if _has(values.values(), name)), None)
    questions, answers = [], {}
    for question_id, value in values.items():
        questions.append(_question(reader, question_id, value))
        if field_of_answers is not None:
            answers[question_id] = reader.prediction(question_id, value, field_of_answers)
    if not values and not reader.faults.problems():
        reader.faults.add("missing_ids", "it has no question")
    _check_options(reader, questions)
    if problems := reader.faults.problems():
        raise RefusedInput(problems)
    return Questions(questions, answers if field_of_answers else None, reader.faults.file, reader.sha256)


def are_questions(source: Source, limits: Limits | None = None) -> bool:
    """Whether a source holds questions and not reports: records with ``correct_answer``."""
    reader = Reader(source, "references", _FIELDS, Limits.checked(limits))
    return _has(reader.values().values(), ANSWER)


def refuse_unreadable(source: Source, limits: Limits | None = None) -> None:
    """Say what is wrong with a source that cannot be read at all, whatever it should hold.

    Raises:
        RefusedInput: With every fault of a source that is not there, or cannot be read to its end.
    """
    reader = Reader(source, "references", _FIELDS, Limits.checked(limits))
    reader.values()
    if reader.broken:
        raise RefusedInput(reader.faults.problems())


def read_answers(source: Source, questions: Questions, limits: Limits | None = None) -> tuple[dict[str, str], str, str]:
    """The model's answers from a file of their own.

    Args:
        source: As for predictions; ids stand in ``question_id``, ``id`` or ``study_id``.
        questions: What is answered.
        limits: What the file may hold at most.

    Returns:
        Question id to answer in the order of the questions, the file's name, and its sha256.

    Raises:
        RefusedInput: With every fault: questions without an answer, and answers without a question, by id.
    """
    found, problems = collect_predictions(source, Limits.checked(limits), IDS)
    known = [one.question_id for one in questions.questions]
    if not problems:
        absent = [one for one in known if one not in found.texts]
        further = sorted(set(found.texts).difference(known))
        problems = [
            Problem(
                "missing_ids", found.source, shown_id(one), None, "the question has no answer; add it, empty if none"
            )
            for one in absent
        ] + [Problem("extra_ids", found.source, shown_id(one), None, "there is no such question") for one in further]
    if problems:
        raise RefusedInput(problems)
    return {one: found.texts[one] for one in known}, found.source, found.sha256


def _question(reader: Reader, question_id: str, value: object) -> Question:
    """One question; faults are noted, and what is faulty is left out."""
    if not isinstance(value, Mapping) or ANSWER not in value:
        reader.faults.add("wrong_type", f'expected a record with "{ANSWER}"', question_id)
        return Question(question_id, "")
    reader.check_repeated(question_id, value)
    right = reader.text(question_id, value[ANSWER], ANSWER) or ""
    if isinstance(value[ANSWER], str) and is_blank(value[ANSWER]):
        reader.faults.add("wrong_type", "the right answer is blank", question_id, ANSWER)
    words = {name: _word(reader, question_id, value, name) for name in ("question", "category")}
    study_id = next((_id(value[name]) for name in STUDY_FIELDS if name in value), None)
    patient_id = next((_id(value[name]) for name in PATIENT_FIELDS if name in value), None)
    options = _options(reader, question_id, value.get("options"))
    return Question(question_id, right, options, words["question"], words["category"], study_id, patient_id)


def _word(reader: Reader, question_id: str, value: Mapping[str, Any], name: str) -> str | None:
    found = value.get(name)
    if found is None or found != found:
        return None
    text = reader.text(question_id, found, name)
    return None if text is None or is_blank(text) else text.strip()


def _id(value: object) -> str | None:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value).strip() or None


def _options(reader: Reader, question_id: str, value: object) -> tuple[str, ...]:
    if value is None or value != value or value == "":
        return ()
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    marks = [""] * len(value) if isinstance(value, list | tuple) else []
    if isinstance(value, Mapping):
        # {"A": "Yes", "B": "No"}; in a table a letter that a question does not offer is null.
        offered = {letter: text for letter, text in value.items() if text is not None and text == text}
        marks, value = [f"{letter}. " for letter in offered], list(offered.values())
    if not isinstance(value, list | tuple) or not 2 <= len(value) <= _MOST_OPTIONS:
        message = f'expected a list of 2 to {_MOST_OPTIONS} texts, ["A. …", "B. …"]'
        reader.faults.add("wrong_type", message, question_id, "options")
        return ()
    read = [(mark, reader.text(question_id, text, "options")) for mark, text in zip(marks, value, strict=True)]
    found = tuple(f"{mark}{text}" for mark, text in read if text is not None)
    letters_alone = [_LETTER_ALONE.fullmatch(text) is not None for text in found]
    # Letters and no texts at all are options that the question or its image spells out.
    if any(text is not None and is_blank(text) for _, text in read) or (any(letters_alone) and not all(letters_alone)):
        reader.faults.add("wrong_type", "one of the options is blank", question_id, "options")
    return found


def _check_options(reader: Reader, questions: Sequence[Question]) -> None:
    """Refuse a file in which some questions have options and others none: their answers are read differently."""
    kinds = Counter(bool(one.options) for one in questions)
    if reader.faults.problems() or len(kinds) < 2:
        return
    message = f"it has no options, and {kinds[True]:,} of {len(questions):,} questions have; score them apart"
    for one in questions:
        if not one.options:
            reader.faults.add("wrong_columns", message, one.question_id, "options")


def _has(values: Iterable[object], name: str) -> bool:
    return any(isinstance(value, Mapping) and name in value for value in values)
