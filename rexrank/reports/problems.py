"""A fault in an input, said so that its owner can mend it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One fault of one input.

    Attributes:
        code: Machine-readable kind, one of the codes of the intake rules
            (``missing_ids``, ``wrong_type``, ``bad_json`` …).
        file: Name of the file or argument that holds the fault.
        study_id: The study concerned as :func:`shown_id` writes it, or None when the fault is the file's.
        field: Field, column or argument concerned, or None.
        message: One sentence that says what is wrong and what to do. It never
            holds report text.
    """

    code: str
    file: str | None
    study_id: str | None
    field: str | None
    message: str

    def __str__(self) -> str:
        place = [self.file] if self.file else []
        if self.study_id is not None:
            place.append(f'study "{self.study_id}"')
        if self.field:
            place.append(f'field "{self.field}"')
        return f"{', '.join(place)}: {self.message}" if place else self.message


@dataclass(frozen=True)
class Unlisted(Problem):
    """Stands for the faults of one kind and file that are not listed one by one.

    Attributes:
        number: How many there are.
    """

    number: int


_ID_WORDS = 3


def is_sentence(study_id: str) -> bool:
    """Whether an id has so many words that it may be a report in the wrong column."""
    return len(study_id.split(None, _ID_WORDS)) > _ID_WORDS


def shown_id(study_id: str) -> str:
    """The id as faults name it: as it is, or only described where it may be a report."""
    return f"an id of {len(study_id.split())} words" if is_sentence(study_id) else study_id
