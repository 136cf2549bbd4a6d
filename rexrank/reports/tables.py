"""CSV, TSV and Parquet files, every column read as text or not at all."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rexrank.errors import RefusedInput
from rexrank.reports.faults import Faults
from rexrank.reports.json_files import Entry, Fields

if TYPE_CHECKING:
    import _csv

    import pyarrow

_SHOWN_COLUMNS = 12
_BATCH_ROWS = 4096


def delimited_entries(data: bytes, delimiter: str, fields: Fields, faults: Faults) -> Iterator[Entry]:
    """Studies of a CSV or TSV file; ids and texts stay as they are written.

    Args:
        data: UTF-8 text of the file, checked.
        delimiter: Comma or tab.
        fields: What is read of each study.
        faults: Where faults go that leave the rest readable.

    Raises:
        RefusedInput: A column is absent or the file cannot be split into rows.
    """
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    rows = _rows(csv.reader(stream, delimiter=delimiter, strict=True), faults)
    _, header = next(rows, (0, []))
    if not header:
        raise faults.fatal("wrong_columns", f"it is empty; {_wanted(fields)}")
    id_name = _check_columns(header, fields, faults)
    id_place = header.index(id_name)
    places = {name: header.index(name) for name in fields.kept_of(header)}
    for line, row in rows:
        if len(row) != len(header):
            message = f"line {line} has {len(row)} fields and the header {len(header)}; put texts in double quotes"
            faults.add("wrong_columns", message)
            continue
        yield Entry(row[id_place], {name: row[place] for name, place in places.items()}, f"line {line}")


def _rows(reader: "_csv.Reader", faults: Faults) -> Iterator[tuple[int, list[str]]]:
    """Rows that hold something, each with the number of its first line."""
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise faults.fatal("wrong_columns", f"line {line}: {_csv_reason(error)}") from None
        if row:
            yield line, row


def _csv_reason(error: csv.Error) -> str:
    reason = str(error)
    if "field limit" in reason:
        limit = f"{csv.field_size_limit():,}"
        return f"a field is longer than {limit} characters, or a double quote that opens here is never closed"
    if "unexpected end" in reason:
        return "a double quote that opens here is never closed, so the file looks cut off"
    if "expected after" in reason:
        return "a double quote stands inside a quoted field; write it twice"
    return "it cannot be split into fields"


def parquet_entries(data: bytes, fields: Fields, faults: Faults) -> Iterator[Entry]:
    """Studies of a Parquet file; ids that are not text are refused, never cast.

    Args:
        data: The file.
        fields: What is read of each study.
        faults: Where faults go that leave the rest readable.

    Raises:
        RefusedInput: The file is not Parquet, or a column is absent or of another type.
    """
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(data))
        id_name = _check_columns(file.schema_arrow.names, fields, faults)
        kept = fields.kept_of(file.schema_arrow.names)
        columns = list(dict.fromkeys([id_name, *kept]))
        words = _text_columns(file.schema_arrow, columns, id_name, fields, faults)
        # Read as dictionaries, a text that is repeated a million times is in memory once.
        file = parquet.ParquetFile(pyarrow.BufferReader(data), read_dictionary=words)
        start = 1
        # Threads of pyarrow's own can abort a process that ends soon after.
        for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=columns, use_threads=False):
            # Damaged files hold texts that are not UTF-8, and numbers of words that are not there.
            batch.validate(full=True)
            values = {name: _texts(batch.column(name)) for name in columns}
            for offset, study_id in enumerate(values[id_name]):
                row = {name: values[name][offset] for name in kept}
                yield Entry(study_id, row, f"row {start + offset}")
            start += batch.num_rows
    except RefusedInput:
        raise
    except (pyarrow.ArrowException, OSError, EOFError, ValueError, LookupError):
        message = "it is not a readable Parquet file (cut off, damaged or of another format); write it again"
        raise faults.fatal("bad_encoding", message) from None


def _texts(column: "pyarrow.Array") -> list[Any]:
    import pyarrow

    if not isinstance(column, pyarrow.DictionaryArray):
        return list(column.to_pylist())
    words = column.dictionary.to_pylist()
    return [None if index is None else words[index] for index in column.indices.to_pylist()]


def _text_columns(
    schema: "pyarrow.Schema", columns: Sequence[str], id_name: str, fields: Fields, faults: Faults
) -> list[str]:
    """Columns that hold text; refuses ids and texts of another type."""
    from pyarrow import types

    found = []
    for name in columns:
        kind = schema.field(name).type
        if types.is_dictionary(kind):
            kind = kind.value_type
        if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
            found.append(name)
        elif name == id_name:
            message = f'column "{id_name}" holds {kind}; write it as text, so that leading zeros are kept'
            raise faults.fatal("wrong_type", message, field=id_name)
        # A column of absent sections is written as null or as a float column of NaN.
        elif name in fields.texts and not (types.is_null(kind) or types.is_floating(kind)):
            raise faults.fatal("wrong_type", f'column "{name}" holds {kind}; text is expected', field=name)
    return found


def _check_columns(found: Sequence[str], fields: Fields, faults: Faults) -> str:
    """The name of the column with the ids; refuses a file that lacks it, or every text."""
    known = {*fields.ids, *fields.kept_of(found)}
    repeated = sorted({name for name in found if name in known and found.count(name) > 1})
    if repeated:
        raise faults.fatal("duplicate_key", f"column {_quoted(repeated)} occurs twice", field=repeated[0])
    id_name = fields.id_in(found)
    if id_name is None or not any(name in found for name in fields.texts):
        raise faults.fatal("wrong_columns", f"columns found: {_shown(found)}; {_wanted(fields)}{_hint(found, fields)}")
    return id_name


def _wanted(fields: Fields) -> str:
    return f"wanted: {fields.shown_ids} and one of {_quoted(fields.texts)}"


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _shown(found: Sequence[str]) -> str:
    """Column names; a first row that is data and not a header is not repeated here."""
    names = [f'"{name}"' if name.isidentifier() and len(name) <= 40 else "(not a plain name)" for name in found]
    hidden = len(names) - _SHOWN_COLUMNS
    return ", ".join(names[:_SHOWN_COLUMNS]) + (f" and {hidden} more" if hidden > 0 else "")


def _hint(found: Sequence[str], fields: Fields) -> str:
    if len(found) == 1 and any(mark in found[0] for mark in ";\t,"):
        return "; the separator is not the one that the file's ending stands for"
    forms = {_form(column) for column in found}
    near = [name for name in [*fields.ids, *fields.all] if name not in found and name in forms]
    return f"; {_quoted(near)} differs in case or spaces only" if near else ""


def _form(name: str) -> str:
    return "_".join(name.strip().lower().split())
