"""Actions of a command, as ``push`` of ``rexrank benchmark``: each has a help with examples of its own."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Actions = argparse._SubParsersAction[Any]

# Of a line of a call in a terminal of 80 columns, without the backslash behind it.
_WIDEST = 78


def add_action(
    actions: "Actions", name: str, summary: str, examples: Sequence[str], more: str = ""
) -> argparse.ArgumentParser:
    """Declare an action.

    Args:
        actions: Of the command.
        name: Of the action.
        summary: What it does, without a full stop.
        examples: Calls of it.
        more: Paragraphs between summary and examples.

    Returns:
        The parser of its arguments.
    """
    paragraphs = [f"{summary[0].upper()}{summary[1:]}."]
    if more:
        paragraphs.append(more.strip())
    if examples:
        paragraphs.append("\n".join(["Examples:", *map(_in_lines, examples)]))
    formatter = argparse.RawDescriptionHelpFormatter
    description = "\n\n".join(paragraphs)
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=summary, description=description, formatter_class=formatter
    )
    return parser


def _in_lines(call: str) -> str:
    """A call in lines that can be copied as they stand, broken before an option where it is wide."""
    lines = [f"  {call}"]
    while len(lines[-1]) > _WIDEST + 2 and (end := lines[-1].rfind(" --", 8, _WIDEST)) > 0:
        lines[-1:] = [f"{lines[-1][:end]} \\", f"     {lines[-1][end:]}"]
    return "\n".join(lines)
