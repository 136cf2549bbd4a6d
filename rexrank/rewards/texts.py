"""Completions and references as a trainer hands them over: strings, or lists of chat messages."""

from collections.abc import Iterable, Mapping
from typing import Any

from rexrank.errors import shown
from rexrank.metrics import InvalidCall

COLUMN = "reference"
OTHER_COLUMNS = ("ground_truth", "report")

Texts = tuple[str, ...]


def read_completions(completions: Any) -> list[str]:
    """The text of each completion.

    Args:
        completions: Strings, or lists of messages ``{"role": …, "content": …}``; of these the last one of the
            assistant counts, whose content is a string or a list of parts with texts.

    Raises:
        InvalidCall: Something else; names the position.
    """
    return [_text(item, f"completions[{at}]") for at, item in enumerate(_listed("completions", completions))]


def read_references(columns: Mapping[str, Any], column: str | None, rows: int) -> tuple[str, list[Texts]]:
    """The references of each completion.

    Args:
        columns: The columns of the data set by name, beside other things that a trainer passes.
        column: Name of the one with references; None for ``reference``, or else that of ``ground_truth`` and
            ``report`` which is there.
        rows: Number of completions.

    Returns:
        The name of the column, and for each row its references, none where the row has none.

    Raises:
        InvalidCall: There is no such column, more than one could be meant, or its form is wrong.
    """
    name = _column(columns, column)
    values = _of_length(name, columns[name], rows)
    return name, [_references(value, f"{name}[{at}]") for at, value in enumerate(values)]


def read_known(columns: Mapping[str, Any], names: Iterable[str], rows: int) -> dict[str, list[Any]]:
    """What is known of each study beside its texts, for the metrics that take it.

    Args:
        columns: The columns of the data set by name.
        names: Those that a metric takes.
        rows: Number of completions.

    Returns:
        The columns that are there, one item a completion.

    Raises:
        InvalidCall: A column has another form or length, or holds something else than texts and numbers.
    """
    found = {name: _of_length(name, columns[name], rows) for name in names if name in columns}
    for name, values in found.items():
        for at, value in enumerate(values):
            if not (value is None or isinstance(value, str | int | float)):
                raise InvalidCall(f"{name}[{at}]: expected a text, a number or None, got {shown(value)}")
    return found


def _column(columns: Mapping[str, Any], asked: str | None) -> str:
    if asked is not None:
        if asked in columns:
            return asked
        raise InvalidCall(f"there is no column {shown(asked)} with references; {_there(columns)}")
    if COLUMN in columns:
        return COLUMN
    found = [name for name in OTHER_COLUMNS if name in columns]
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidCall(
            f"both {' and '.join(found)} could hold the references; say which with make(…, column={found[0]!r})"
        )
    raise InvalidCall(
        f"no column holds references: it is called {COLUMN}, {' or '.join(OTHER_COLUMNS)}, or as make(…, column=…) "
        f"says; {_there(columns)}"
    )


def _there(columns: Mapping[str, Any]) -> str:
    """The columns that there are, in words; a trainer that drops unused columns is the usual reason for none."""
    names = [shown(name) for name, value in columns.items() if isinstance(value, list | tuple)]
    return f"there are {', '.join(names)}" if names else "there is none (TRL needs remove_unused_columns=False)"


def _listed(name: str, value: Any) -> list[Any]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidCall(f"{name}: expected a list with one item a completion, got {shown(value)}")
    return list(value)


def _of_length(name: str, value: Any, rows: int) -> list[Any]:
    values = _listed(name, value)
    if len(values) != rows:
        raise InvalidCall(f"{name} has {len(values):,} items and completions {rows:,}; give one for each completion")
    return values


def _references(value: Any, where: str) -> Texts:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple) and all(isinstance(text, str) for text in value):
        return tuple(value)
    raise InvalidCall(f"{where}: expected a text, a list of texts or None, got {shown(value)}")


def _text(completion: Any, where: str) -> str:
    if isinstance(completion, str):
        return completion
    if not isinstance(completion, list | tuple) or not all(isinstance(message, Mapping) for message in completion):
        raise InvalidCall(f"{where}: expected a text or a list of messages, got {shown(completion)}")
    for message in reversed(completion):
        # Results of tools stand between the messages of the assistant.
        if message.get("role", "assistant") == "assistant":
            return _content(message.get("content"), f"{where}: content")
    return ""


def _content(content: Any, where: str) -> str:
    if content is None:  # a message that only calls a tool
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple) and all(isinstance(part, Mapping) for part in content):
        texts = [part.get("text", "") for part in content if part.get("type", "text") == "text"]
        if all(isinstance(text, str) for text in texts):
            return "".join(texts)
    raise InvalidCall(f"{where}: expected a text or a list of parts with texts, got {shown(content)}")
