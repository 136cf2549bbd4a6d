"""Do predictions and references fit together? Every fault at once."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from decimal import Decimal

from rexrank.errors import RefusedInput
from rexrank.reports.problems import Problem, is_sentence, shown_id
from rexrank.reports.reading import Source, collect_predictions, collect_references
from rexrank.reports.studies import Limits, Predictions, References
from rexrank.terms import Track

_NUMBER = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,6})?(?:e[+-]?[0-9]{1,3})?")
# MIMIC-CXR writes the number of a study with and without the letter s.
_LETTERED_NUMBER = re.compile(r"[a-z]([0-9]+)")


def validate(
    predictions: Source, references: Source, track: Track = "findings", limits: Limits | None = None
) -> list[Problem]:
    """Every fault of the two inputs, each with its code, file, study and field.

    Args:
        predictions: As for :func:`rexrank.reports.read_predictions`.
        references: As for :func:`rexrank.reports.read_references`.
        track: Which text is compared. Studies without it need no prediction.
        limits: What a file may hold at most.

    Returns:
        An empty list when the predictions can be scored.
    """
    try:
        read_pair(predictions, references, track, limits)
    except RefusedInput as refused:
        return refused.problems
    return []


def read_pair(
    predictions: Source, references: Source, track: Track = "findings", limits: Limits | None = None
) -> tuple[Predictions, References]:
    """Read both inputs and hold their ids against each other.

    Returns:
        Predictions for at least every study of the track, and the references.

    Raises:
        RefusedInput: With every fault of both files together.
    """
    limits = Limits.checked(limits)
    left, left_problems = collect_predictions(predictions, limits)
    right, right_problems = collect_references(references, track, limits)
    swapped = _swapped(left, right)
    if swapped:
        # Every other fault of that file would follow from this one, and show its texts as ids.
        rest = [problem for problem in left_problems + right_problems if problem.file != swapped]
        raise RefusedInput([_swapped_problem(swapped), *rest])
    problems = left_problems + right_problems
    problems += compare_ids(left, right, track, _are_known(left_problems), _are_known(right_problems))
    if problems:
        raise RefusedInput(problems)
    return left, right


def compare_ids(
    predictions: Predictions,
    references: References,
    track: Track,
    predicted_known: bool,
    referred_known: bool,
) -> list[Problem]:
    """Studies of the track without a prediction, and predictions without a study.

    Args:
        predictions: What was read of them.
        references: What was read of them.
        track: Which text is compared.
        predicted_known: Whether every id of the predictions' file could be read; else none is called missing.
        referred_known: Whether every id of the references' file could be read; else none is called extra.
    """
    if predictions.positional != references.positional:
        if not (predicted_known and referred_known):
            return []
        message = "lists of texts are joined by position, so predictions and references must both be lists or neither"
        return [Problem("wrong_type", predictions.source, None, None, message)]
    if predictions.positional and len(predictions) != len(references):
        code = "missing_ids" if len(predictions) < len(references) else "extra_ids"
        message = f"{len(predictions):,} predictions and {len(references):,} references; lists must be equally long"
        return [Problem(code, predictions.source, None, None, message)]
    wanted = [study_id for study_id, study in references.studies.items() if study.has(track)]
    missing = [study_id for study_id in wanted if study_id not in predictions.texts]
    extra = [study_id for study_id in predictions.texts if study_id not in references.studies]
    problems = []
    if referred_known and not wanted:
        number = len(references)
        studies = "its only study has no" if number == 1 else f"none of its {number:,} studies has a"
        message = f"{studies} text for the track {track}"
        problems.append(Problem("missing_ids", references.source, None, track, message))
    if predicted_known and referred_known:
        problems += _strangers(missing, extra, wanted, predictions)
        problems += _missing(missing, extra, len(wanted), predictions)
    if referred_known:
        problems += _extra(extra, missing, predictions)
    return problems


def _strangers(
    missing: Collection[str], extra: Collection[str], wanted: Collection[str], predictions: Predictions
) -> Iterable[Problem]:
    """Said first where no id fits, since then the ids or the benchmark are wrong and not single studies."""
    if len(wanted) > 1 and len(missing) == len(wanted) and len(extra) == len(predictions) > 1:
        message = (
            f"none of its {len(extra):,} study ids is among the {len(wanted):,} wanted; "
            "this file is for other studies, or its ids are written in another way"
        )
        yield Problem("extra_ids", predictions.source, None, "study_id", message)


def _swapped(predictions: Predictions, references: References) -> str | None:
    """Name of the file whose ids are sentences that the other file does not know, or None."""
    for ids, others, name in (
        (predictions.texts, references.studies, predictions.source),
        (references.studies, predictions.texts, references.source),
    ):
        strange = sum(study_id not in others and is_sentence(study_id) for study_id in ids)
        if strange > len(ids) / 2:
            return name
    return None


def _swapped_problem(file: str) -> Problem:
    message = "most of its study ids are sentences; ids and texts seem to be swapped, so put the ids into study_id"
    return Problem("wrong_columns", file, None, "study_id", message)


def _are_known(problems: Iterable[Problem]) -> bool:
    return all(problem.study_id is not None for problem in problems)


def _missing(missing: Collection[str], extra: Iterable[str], n: int, predictions: Predictions) -> Iterable[Problem]:
    near = _by_form(extra)
    for study_id in missing:
        hint = _hint(study_id, near, "the file has")
        message = f"it has no prediction ({len(missing):,} of {n:,} studies missing){hint}"
        yield Problem("missing_ids", predictions.source, shown_id(study_id), None, message)


def _extra(extra: Collection[str], missing: Iterable[str], predictions: Predictions) -> Iterable[Problem]:
    near = _by_form(missing)
    for study_id in extra:
        hint = _hint(study_id, near, "they have")
        message = f"the references have no such study ({len(extra):,} of {len(predictions):,} extra){hint}"
        yield Problem("extra_ids", predictions.source, shown_id(study_id), None, message)


def _hint(study_id: str, near: dict[str, str], lead: str) -> str:
    form = _form(study_id)
    other = near.get(form) or near.get(_number_of(form))
    if other is None or (_form(other) != form and _is_lettered(study_id) == _is_lettered(other)):
        return ""
    return f'; {lead} "{shown_id(other)}", which differs only in {_difference(study_id, other)}'


def _difference(one: str, other: str) -> str:
    if _form(one) != _form(other):
        return "the letter before the number"
    if one.strip() == other.strip():
        return "spaces at its ends"
    if one.casefold() == other.casefold():
        return "case"
    if "".join(one.split()) == "".join(other.split()):
        return "spaces"
    digits = one.isalnum() and other.isalnum() and "e" not in (one + other).lower()
    return "leading zeros" if digits else "how it is written"


def _by_form(study_ids: Iterable[str]) -> dict[str, str]:
    """Ids by their form, and those of a letter and a number also by the number where no other id has that form."""
    near = {_form(study_id): study_id for study_id in study_ids}
    return {_number_of(form): study_id for form, study_id in near.items()} | near


def _is_lettered(study_id: str) -> bool:
    return _LETTERED_NUMBER.fullmatch(_form(study_id)) is not None


def _number_of(form: str) -> str:
    """The number behind a letter; any other form as it is."""
    lettered = _LETTERED_NUMBER.fullmatch(form)
    return lettered[1] if lettered else form


def _form(study_id: str) -> str:
    """What is left of an id after the damage that spreadsheets and scripts do to ids."""
    text = "".join(unicodedata.normalize("NFKC", study_id).casefold().split())
    if _NUMBER.fullmatch(text):
        return str(Decimal(text).normalize())
    return re.sub(r"(?<!\d)0+(?=\d)", "", text)
