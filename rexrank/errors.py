"""Errors whose text is meant for the user: one sentence, no report text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rexrank.reports.problems import Problem

_NAME_CHARACTERS = 60


class RexrankError(Exception):
    """Base of every error that rexrank raises on purpose."""


class WrongType(RexrankError, TypeError):
    """An argument of a Python type that cannot be meant."""


class WrongSetting(RexrankError):
    """A variable of the environment has a value that makes no sense."""


class NoFolder(RexrankError, ValueError):
    """An argument names a folder, and there is none."""


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


def shown(value: object) -> str:
    """How a message repeats what stands in the place of a name.

    A caller who mixes up the order of arguments puts reports there, so only what can be a name is repeated.

    Args:
        value: What the caller gave.

    Returns:
        The name in quotes, a number as it is; of anything else its length or type.
    """
    if isinstance(value, str):
        if not value:
            return "an empty text"
        is_name = len(value) <= _NAME_CHARACTERS and value.isprintable() and " " not in value
        return f'"{value}"' if is_name else f"a text of {len(value):,} characters"
    if value is None or isinstance(value, bool | int | float):
        # Python refuses to write out whole numbers of more than 4,300 digits.
        is_long = isinstance(value, int) and value.bit_length() > 4 * _NAME_CHARACTERS
        plain = "" if is_long else repr(value)
        return plain if 0 < len(plain) <= _NAME_CHARACTERS else "a long number"
    return f"a value of type {type(value).__name__}"
