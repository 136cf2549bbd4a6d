"""Checks of what an evaluate module is given, before the evaluate library sees it.

The library prints the inputs when it dislikes one of them and takes a bare string for a list of characters. Here such
input is refused in one sentence that names argument, position and type, never the text.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from rexrank.errors import shown
from rexrank.metrics.inputs import InvalidCall
from rexrank.reports.studies import is_encodable


def check_call(predictions: Any, references: Any, ids: Any = None) -> tuple[list[str], list[str] | list[list[str]]]:
    """Check the inputs of one call.

    Args:
        predictions: What the caller gave.
        references: What the caller gave.
        ids: Ids of the reports, or None.

    Returns:
        Both sides as lists; the references are all strings or all lists of strings.

    Raises:
        InvalidCall: An input cannot be scored. The message names argument, first bad position, number of bad items and
            type found, and the id when there are ids; never any text.
    """
    predicted, referred = _as_list("predictions", predictions), _as_list("references", references)
    if len(predicted) != len(referred):
        raise InvalidCall(
            f"predictions has {len(predicted)} and references has {len(referred)} items; "
            "give one reference for each prediction"
        )
    if not predicted:
        raise InvalidCall("no items: predictions and references are empty lists")
    names = _check_ids(ids, len(predicted))
    _refuse("predictions", predicted, names, _is_text, "str")
    _refuse("references", referred, names, _is_text_or_texts, "str or list of str")
    if len({isinstance(item, str) for item in referred}) > 1:
        listed = next(index for index, item in enumerate(referred) if not isinstance(item, str))
        raise InvalidCall(
            f"references: expected strings or lists of strings throughout, got both; the first list is at {listed}"
            f"{_named(names, listed)}"
        )
    references = [str(item) if isinstance(item, str) else [str(text) for text in item] for item in referred]
    return [str(item) for item in predicted], references


def check_collected(count: int, ids: Any) -> None:
    """Check that there is something to score, and the ids of it.

    Args:
        count: Number of collected reports.
        ids: Ids of the reports, or None.

    Raises:
        InvalidCall: Nothing was collected, or the ids do not fit.
    """
    if not count:
        raise InvalidCall("no items: give predictions and references, or collect some with add_batch first")
    _check_ids(ids, count)


def _as_list(argument: str, value: Any) -> list[Any]:
    if value is None:
        raise InvalidCall(f"{argument}: missing; give a list with one item a report")
    if isinstance(value, str | bytes | bytearray | Mapping | Set) or not isinstance(value, Iterable):
        raise InvalidCall(f"{argument}: expected a list, got {type(value).__name__}")
    return list(value)


def _check_ids(ids: Any, count: int) -> list[str] | None:
    if ids is None:
        return None
    names = _as_list("ids", ids)
    _refuse("ids", names, None, lambda item: isinstance(item, str), "str")
    if len(names) != count:
        raise InvalidCall(f"ids has {len(names)} and predictions has {count} items; give one id for each prediction")
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            raise InvalidCall(f"ids[{index}]: {shown(name)} is there twice; ids must be unique")
        seen.add(name)
    return names


def _refuse(argument: str, items: list[Any], names: list[str] | None, good: Any, expected: str) -> None:
    bad = [index for index, item in enumerate(items) if not good(item)]
    if bad:
        number = "1 item" if len(bad) == 1 else f"{len(bad)} items"
        raise InvalidCall(
            f"{argument}[{bad[0]}]{_named(names, bad[0])}: expected {expected}, "
            f"got {_found(items[bad[0]])} ({number} affected)"
        )


def _named(names: list[str] | None, index: int) -> str:
    return f" (id {shown(names[index])})" if names else ""


def _is_text(item: Any) -> bool:
    return isinstance(item, str) and is_encodable(item)


def _is_text_or_texts(item: Any) -> bool:
    return _is_text(item) or (isinstance(item, list | tuple) and len(item) > 0 and all(map(_is_text, item)))


def _found(item: Any) -> str:
    """What a bad item is, without its content."""
    if isinstance(item, str):
        return "str with half a surrogate pair"
    if isinstance(item, list | tuple) and item:
        wrong = [text for text in item if not _is_text(text)]
        return f"{type(item).__name__} holding {_found(wrong[0])}" if wrong else _list_of(item)
    return f"an empty {type(item).__name__}" if isinstance(item, list | tuple) else type(item).__name__


def _list_of(item: Sequence[Any]) -> str:
    return f"{type(item).__name__} of {type(item[0]).__name__}"
