"""Files of judgements, read strictly: what is not known is refused by name, and no report text is repeated."""

import csv
import io
import json
import math
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from rexrank.errors import shown
from rexrank.experts.judgements import UnreadableJudgements

_MOST_BYTES = 200_000_000
_SHOWN = 5


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        UnreadableJudgements: It is not there, too large, or not UTF-8.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UnreadableJudgements(f"{path.name} has more than {_MOST_BYTES:,} bytes")
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        folder = path.absolute().parent.name
        raise UnreadableJudgements(f"{path.name} is not in {shown(folder)}; put it there") from None
    except UnicodeDecodeError as error:
        raise UnreadableJudgements(f"{path.name}: byte {error.start:,} is not UTF-8; save it as UTF-8") from None


def rows_of(
    path: Path, needed: Sequence[str], others: Collection[str] = (), any_column: bool = False
) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of a CSV or TSV file, each with the number of its first line.

    Args:
        path: The file.
        needed: Columns that it must have.
        others: Columns that it may have.
        any_column: Whether it may have further ones.

    Raises:
        UnreadableJudgements: Columns are missing, unknown or twice there, or a row has another number of fields.
    """
    text = read_text(path)
    delimiter = "\t" if path.suffix.lower() in {".tsv", ".tab"} else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_columns(path, header, needed, others, any_column)
        line = reader.line_num + 1
        for row in reader:
            if row and len(row) != len(header):
                raise UnreadableJudgements(
                    f"{path.name}: line {line} has {len(row)} fields and the header {len(header)}; put texts in quotes"
                )
            if row:
                yield line, dict(zip(header, row, strict=True))
            line = reader.line_num + 1
    except csv.Error:
        raise UnreadableJudgements(f"{path.name}: line {reader.line_num} cannot be split into fields") from None


def _check_columns(
    path: Path, header: Sequence[str], needed: Sequence[str], others: Collection[str], any_column: bool
) -> None:
    # The index that pandas writes stands first and has no name.
    named = list(header[1:] if header and not header[0] else header)
    if absent := [name for name in needed if name not in named]:
        raise UnreadableJudgements(f"{path.name} has no column {', '.join(absent)}; it needs {', '.join(needed)}")
    if twice := sorted({name for name in named if named.count(name) > 1}):
        raise UnreadableJudgements(f"{path.name} has the column {_listed(twice)} twice; keep one")
    if not any_column and (unknown := [name for name in named if name not in needed and name not in others]):
        raise UnreadableJudgements(
            f"{path.name} has columns that its form does not know: {_listed(unknown)}; take them out, or see "
            "docs/agree.md for the forms"
        )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(shown, names[:_SHOWN])) + more


def json_of(path: Path) -> Any:
    """The content of a JSON file.

    Raises:
        UnreadableJudgements: It is no JSON, or an object has a field twice.
    """

    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise UnreadableJudgements(f"{path.name}: an object has {shown(twice)} twice; keep one")
        return found

    try:
        return json.loads(read_text(path), object_pairs_hook=fields)
    except json.JSONDecodeError as error:
        raise UnreadableJudgements(
            f"{path.name}: line {error.lineno}, column {error.colno} is not valid JSON"
        ) from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, UnreadableJudgements):
            raise
        raise UnreadableJudgements(
            f"{path.name} cannot be read: it is nested too deeply or has a number too long"
        ) from None


def object_of(value: object, place: str, needed: Collection[str], others: Collection[str] = ()) -> dict[str, Any]:
    """A JSON object with the fields it must and may have.

    Raises:
        UnreadableJudgements: It is none, lacks a field, or has an unknown one.
    """
    if not isinstance(value, dict):
        raise UnreadableJudgements(f"{place}: expected an object, got {shown(value)}")
    if absent := [name for name in needed if name not in value]:
        raise UnreadableJudgements(f"{place} has no {', '.join(absent)}")
    if unknown := [name for name in value if name not in needed and name not in others]:
        raise UnreadableJudgements(f"{place} has fields that its form does not know: {_listed(unknown)}; take them out")
    return value


def text_of(value: object, place: str) -> str:
    """A report.

    Raises:
        UnreadableJudgements: It is not text.
    """
    if not isinstance(value, str):
        raise UnreadableJudgements(f"{place}: expected a text, got {shown(value)}")
    return value


def id_of(value: object, place: str) -> str:
    """An id, which may be written as a whole number.

    Raises:
        UnreadableJudgements: It is something else, or blank.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise UnreadableJudgements(f"{place}: expected an id, got {shown(value)}")
    return value.strip()


def number_of(value: object, place: str, low: float = -math.inf, high: float = math.inf) -> float:
    """A number within limits; nan for a blank cell, which says nothing.

    Raises:
        UnreadableJudgements: It is something else.
    """
    if value is None or (isinstance(value, str) and value.strip().lower() in {"", "nan", "na"}):
        return math.nan
    try:
        found = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.inf
    except (ValueError, OverflowError):
        found = math.inf
    if math.isnan(found):
        return found
    if math.isinf(found) or not low <= found <= high:
        limits = f" from {low:g}" + (f" to {high:g}" if high < math.inf else "") if low > -math.inf else ""
        raise UnreadableJudgements(f"{place}: expected a number{limits}, got {shown(value)}")
    return found


def count_of(value: object, place: str) -> float:
    """A whole number from 0, also written ``2.0``; nan for a blank cell.

    Raises:
        UnreadableJudgements: It is something else.
    """
    found = number_of(value, place, low=0)
    if not math.isnan(found) and found != int(found):
        raise UnreadableJudgements(f"{place}: expected a whole number of errors, got {shown(value)}")
    return found
