"""Collecting every fault of one input instead of stopping at the first."""

from collections import Counter

from rexrank.errors import RefusedInput
from rexrank.reports.problems import Problem, Unlisted, shown_id


class Faults:
    """The faults of one file, named one by one up to a limit and counted beyond it.

    Args:
        file: Name shown in every fault.
        listed: How many faults are kept.
    """

    def __init__(self, file: str, listed: int) -> None:
        self.file = file
        self._listed = listed
        self._problems: list[Problem] = []
        self._unlisted: Counter[str] = Counter()

    def add(self, code: str, message: str, study_id: str | None = None, field: str | None = None) -> None:
        """Note one fault; ``message`` must not hold report text."""
        if len(self._problems) < self._listed:
            self._problems.append(self._problem(code, message, study_id, field))
        else:
            self._unlisted[code] += 1

    def fatal(self, code: str, message: str, study_id: str | None = None, field: str | None = None) -> RefusedInput:
        """An error for a fault after which the file cannot be read on; the reader adds it to the list."""
        return RefusedInput([self._problem(code, message, study_id, field)])

    def _problem(self, code: str, message: str, study_id: str | None, field: str | None) -> Problem:
        return Problem(code, self.file, None if study_id is None else shown_id(study_id), field, message)

    def problems(self) -> list[Problem]:
        """Every fault so far, and for each kind how many more there were."""
        return [*self._problems, *(self._more(code, number) for code, number in self._unlisted.items())]

    def _more(self, code: str, number: int) -> Unlisted:
        message = f"{number:,} more faults of this file are of this kind and not listed; mend the listed ones first"
        return Unlisted(code, self.file, None, None, message, number)
