"""From a file's bytes, or from Python objects, to the entries of its studies."""

import codecs
from collections.abc import Iterator, Mapping, Sequence

from rexrank.reports.faults import Faults
from rexrank.reports.json_files import Entry, Fields, json_entries, jsonl_entries, kept_fields, record_entry
from rexrank.reports.sources import Content
from rexrank.reports.studies import Limits
from rexrank.reports.tables import delimited_entries, parquet_entries

_CHUNK = 2**20
# What files start with that were given the ending of a text file, in the order of the check.
_OTHER_FORMATS = (
    (codecs.BOM_UTF32_LE, "it is UTF-32; save it as UTF-8"),
    (codecs.BOM_UTF16_LE, "it is UTF-16; save it as UTF-8"),
    (codecs.BOM_UTF16_BE, "it is UTF-16; save it as UTF-8"),
    (b"\x1f\x8b", "it is a gzip archive; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "it is a zstd archive; unpack it first"),
    (
        b"PK\x03\x04",
        "it is a ZIP archive, as Excel files are; export the sheet as CSV in UTF-8, or unpack the file in it",
    ),
    (b"PAR1", "it is a Parquet file; give it the ending .parquet"),
    (b"%PDF-", "it is a PDF; a file of texts by study id is expected"),
)
_LOOKED_AT = 64


def entries(content: Content, fields: Fields, limits: Limits, faults: Faults) -> Iterator[Entry]:
    """Studies of a file in the format that its ending names.

    Args:
        content: The file.
        fields: What is read of each study.
        limits: What the file may hold at most.
        faults: Where faults go that leave the rest readable.

    Raises:
        RefusedInput: A fault after which the file cannot be read on.
    """
    if content.ending == ".parquet":
        return parquet_entries(content.data, fields, faults)
    check_utf8(content.data, faults)
    if content.ending == ".csv":
        return delimited_entries(content.data, ",", fields, faults)
    if content.ending == ".tsv":
        return delimited_entries(content.data, "\t", fields, faults)
    if content.ending == ".json":
        return json_entries(content.data, fields, limits, faults)
    return jsonl_entries(content.data, fields, limits, faults)


def object_entries(given: Mapping[object, object], fields: Fields) -> Iterator[Entry]:
    """Studies of a mapping from study id to text, texts or fields."""
    for study_id, value in given.items():
        yield Entry(study_id, kept_fields(value, fields), "")


def list_entries(given: Sequence[object], fields: Fields, faults: Faults) -> Iterator[Entry]:
    """Studies of a list: records that name their study, or texts whose id is the position."""
    for position, value in enumerate(given):
        if isinstance(value, Mapping):
            entry = record_entry(dict(value), f"item {position}", fields, faults)
            if entry:
                yield entry
        else:
            yield Entry(str(position), value, "")


def check_utf8(data: bytes, faults: Faults) -> None:
    """Refuse bytes that are not UTF-8, with or without a byte-order mark.

    Raises:
        RefusedInput: With the offset and the line of the first wrong byte.
    """
    for start_bytes, message in _OTHER_FORMATS:
        if data.startswith(start_bytes):
            raise faults.fatal("bad_encoding", message)
    if _is_unmarked_wide(data[:_LOOKED_AT]):
        raise faults.fatal("bad_encoding", "it is UTF-16 or UTF-32; save it as UTF-8")
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, max(len(data), 1), _CHUNK):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(data[start : start + _CHUNK], final=start + _CHUNK >= len(data))
        except UnicodeDecodeError as error:
            offset = start - pending + error.start
            line = data.count(b"\n", 0, offset) + 1
            message = f"byte {offset:,} (line {line}) is not UTF-8; save the file as UTF-8"
            raise faults.fatal("bad_encoding", message) from None


def _is_unmarked_wide(start: bytes) -> bool:
    """Whether every second byte is zero, as in English text of two or four bytes a character."""
    return len(start) > 3 and not (any(start[::2]) and any(start[1::2]))
