"""Checks of what a caller hands to a metric, before anything is computed.

A message names the argument, the position and the type, never the text.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from types import UnionType
from typing import Any

from rexrank.errors import RexrankError, shown


class InvalidCall(RexrankError, ValueError):
    """A metric was called with arguments that it cannot score."""


class Unavailable(RexrankError, RuntimeError):
    """A metric that lacks something here: an encoder's features, a program. The sentence says what, and what to do."""


def check_choice(argument: str, value: Any, choices: Sequence[str], lead: str = "") -> str:
    """Return the one of the choices that is meant.

    Args:
        argument: Its name in the message.
        value: What the caller gave.
        choices: What is possible.
        lead: Words before the list of choices.

    Raises:
        InvalidCall: It is none of them.
    """
    if isinstance(value, str) and value in choices:
        return str(value)
    listed = ", ".join(choices) if lead else " or ".join(choices)
    raise InvalidCall(f"{argument}: expected {lead}{listed}, got {shown(value)}")


def check_flag(argument: str, value: Any) -> bool:
    """Return a value that is True or False.

    Raises:
        InvalidCall: It is something else.
    """
    if not isinstance(value, bool):
        raise InvalidCall(f"{argument}: expected True or False, got {type(value).__name__}")
    return value


def check_names(argument: str, value: Any) -> list[str]:
    """Return the names that an argument gives, each once; one text is one name.

    Raises:
        InvalidCall: It is neither a text nor a list of texts.
    """
    if isinstance(value, str):
        names: list[Any] = [value]
    elif isinstance(value, bytes | bytearray | memoryview) or not isinstance(value, Iterable):
        raise InvalidCall(f"{argument}: expected a name or a list of names, got {shown(value)}")
    else:
        names = list(value)
    _refuse(argument, names, str, "str")
    return list(dict.fromkeys(names))


def check_predictions(predictions: Any) -> list[str]:
    """Return the predictions as a list of strings.

    Raises:
        InvalidCall: Not a list of strings; one sentence with argument, first bad position, type and number.
    """
    items = _listed("predictions", predictions)
    _refuse("predictions", items, str, "str")
    return items


def check_references(references: Any) -> list[tuple[str, ...]]:
    """Return the references as one tuple of strings a study.

    Raises:
        InvalidCall: An item is neither a string nor a non-empty list of strings.
    """
    items = _listed("references", references)
    _refuse("references", items, str | list | tuple, "str or list of str")
    for index, item in enumerate(items):
        if not isinstance(item, str):
            _check_inner(index, item)
    return [(item,) if isinstance(item, str) else tuple(item) for item in items]


def check_texts(predictions: Any, references: Any) -> tuple[list[str], list[tuple[str, ...]]]:
    """Check both sides of a call and that they pair up.

    Args:
        predictions: Strings, one a study.
        references: Strings, or lists of strings, one a study.

    Returns:
        The predictions, and for each study the tuple of its references.

    Raises:
        InvalidCall: Wrong types, unequal lengths, or no items at all.
    """
    checked_predictions = check_predictions(predictions)
    checked_references = check_references(references)
    if len(checked_predictions) != len(checked_references):
        raise InvalidCall(
            f"predictions has {_items(len(checked_predictions))} but references has {len(checked_references)}; "
            "give one reference entry for each prediction"
        )
    if not checked_predictions:
        raise InvalidCall("predictions and references hold no items; give at least one study")
    return checked_predictions, checked_references


def _listed(argument: str, value: Any) -> list[Any]:
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Iterable):
        raise InvalidCall(f"{argument}: expected a list with one item a study, got {type(value).__name__}")
    return list(value)


def _refuse(argument: str, items: Sequence[Any], kind: type | UnionType, expected: str) -> None:
    bad = [index for index, item in enumerate(items) if not isinstance(item, kind)]
    if bad:
        found = type(items[bad[0]]).__name__
        raise InvalidCall(f"{argument}[{bad[0]}]: expected {expected}, got {found} ({_items(len(bad))} affected)")


def _check_inner(index: int, texts: list[Any] | tuple[Any, ...]) -> None:
    if not texts:
        raise InvalidCall(f"references[{index}]: expected at least one reference, got an empty list")
    _refuse(f"references[{index}]", texts, str, "str")


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count} items"
