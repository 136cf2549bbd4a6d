"""A fault in an input, said so that its owner can mend it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One fault of one input.

    Attributes:
        code: Machine-readable kind, one of the codes of the intake rules
            (``missing_ids``, ``wrong_type``, ``bad_json`` …).
        file: Name of the file or argument that holds the fault.
        study_id: The study concerned, or None when the fault is the file's.
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
