"""Errors whose text is meant for the user: one sentence, no report text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rexrank.reports.problems import Problem


class RexrankError(Exception):
    """Base of every error that rexrank raises on purpose."""


class RefusedInput(RexrankError, ValueError):
    """An input that cannot be scored as it is.

    Attributes:
        problems: Every fault found, not only the first.
    """

    shown = 10

    def __init__(self, problems: "Sequence[Problem]") -> None:
        self.problems = list(problems)
        lines = [str(problem) for problem in self.problems[: self.shown]]
        hidden = len(self.problems) - len(lines)
        if hidden > 0:
            lines.append(f"and {hidden} more")
        super().__init__("\n".join(lines))
