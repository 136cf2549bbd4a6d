"""JSON and JSONL files read study by study, through a small window on the text."""

import io
import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from rexrank.errors import RefusedInput, shown
from rexrank.reports.faults import Faults
from rexrank.reports.studies import Limits

_CHUNK = 256 * 1024
_SPACE = re.compile(r"[ \t\r\n]*")
_SMALL_SPACE = " \t\r\n"
_log = logging.getLogger(__name__)

TRAIN, VAL, TEST = SPLITS = ("train", "val", "test")
# One public copy of R2Gen's annotation of IU X-ray calls its test split four blanks.
_SPLIT_NAMES = {**{name: name for name in SPLITS}, "": TEST}
# From here on not every whole number is a float, which numbers of JSON are read as.
_EXACT = 2**53


@dataclass(frozen=True)
class Fields:
    """What is read of a record.

    Attributes:
        texts: Fields of which a record has at least one.
        others: Fields that are kept where they are there.
        ids: Names of the field that holds the id; the first one that is there counts.
        prefix: Fields that begin with it are kept too, whatever follows; empty for none.
    """

    texts: tuple[str, ...]
    others: tuple[str, ...] = ()
    ids: tuple[str, ...] = ("study_id",)
    prefix: str = ""

    @property
    def all(self) -> tuple[str, ...]:
        """Every field that is kept."""
        return self.texts + self.others

    def kept_of(self, names: Iterable[str]) -> list[str]:
        """Those of the names that are read."""
        prefix = self.prefix
        return [name for name in names if name in self.all or (prefix and name.startswith(prefix))]

    def id_in(self, names: Container[str]) -> str | None:
        """The name of the id among these names."""
        return next((name for name in self.ids if name in names), None)

    @property
    def shown_ids(self) -> str:
        """The names of the id for a message."""
        return " or ".join(f'"{name}"' for name in self.ids)


@dataclass(frozen=True, slots=True)
class Entry:
    """One study as a file holds it, not yet checked.

    Attributes:
        study_id: The id, or whatever stands in its place.
        value: A text, or an object of the fields that rexrank reads.
        place: Where it stands, such as ``line 4``; empty where there is no such thing.
        number: Which record of the file it is, from 1, where several can stand in one place; else 0.
    """

    study_id: object
    value: object
    place: str
    number: int = 0


class RepeatedFields(dict[str, Any]):
    """An object in which a field occurs twice.

    Attributes:
        repeated: Names of those fields.
    """

    repeated: frozenset[str] = frozenset()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return fields
    counts = Counter(name for name, _ in pairs)
    return _repeated(fields, frozenset(name for name, count in counts.items() if count > 1))


def _repeated(fields: dict[str, Any], names: frozenset[str]) -> RepeatedFields:
    marked = RepeatedFields(fields)
    marked.repeated = names
    return marked


# Numbers are never used, so their digits need no exact (and slow) conversion. NaN stays NaN: an absent section.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=float)


class _Window:
    """The part of a JSON text that is being parsed, and where it stands in the file."""

    def __init__(self, data: bytes, limit: int, faults: Faults) -> None:
        self._stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
        self._limit = limit
        self._faults = faults
        self._line = 1
        self._column = 0
        self._ended = False
        self.text = ""
        self.at = 0

    def parse(self, unit: Callable[[str, int], tuple[Any, int]]) -> Any:
        """Parse one unit at the window's position, reading on while it is not whole.

        A cut-off number looks whole, so a unit always includes the mark that ends it.
        """
        while True:
            try:
                value, end = unit(self.text, self.at)
            except RecursionError:
                raise self._fault(
                    "bad_json", self.at, "it is nested too deeply; a study's entry is a flat object"
                ) from None
            except json.JSONDecodeError as error:
                if self._more():
                    continue
                self._refuse(error)
            else:
                self._advance(end)
                return value

    def next_line(self) -> int:
        """Line number of the next thing that is not white space."""
        self._advance(_skip(self.text, self.at))
        while self.at == len(self.text) and self._more():
            self._advance(_skip(self.text, self.at))
        return self._line

    def finish(self) -> None:
        """Refuse anything but white space from the window's position to the end of the file."""
        self.next_line()
        if self.at < len(self.text):
            what = "one value was expected and another follows; one object a line needs the ending .jsonl"
            raise self._fault("bad_json", self.at, what)

    def _more(self) -> bool:
        if self._ended or len(self.text) - self.at > self._limit:
            return False
        self.text, self.at = self.text[self.at :], 0
        chunk = self._stream.read(max(_CHUNK, len(self.text)))
        self._ended = not chunk
        self.text += chunk
        return True

    def _advance(self, end: int) -> None:
        line, column = self._place(end)
        self._line, self._column, self.at = line, column - 1, end

    def _place(self, position: int) -> tuple[int, int]:
        """Line and column, both from 1, of a position at or after the window's."""
        newlines = self.text.count("\n", self.at, position)
        if newlines:
            return self._line + newlines, position - self.text.rfind("\n", self.at, position)
        return self._line, self._column + position - self.at + 1

    def _refuse(self, error: json.JSONDecodeError) -> NoReturn:
        if not self._ended:
            limit = f"{self._limit:,}"
            raise self._fault("text_too_long", self.at, f"the entry here is not closed within {limit} characters")
        rest = self.text[error.pos :].strip(_SMALL_SPACE)
        unterminated = error.msg.startswith("Unterminated")
        if not rest or unterminated:
            what = "a text that starts here is not closed" if unterminated else "the file ends in the middle"
            raise self._fault("bad_json", error.pos, f"{what}, so it looks cut off; write it again") from None
        raise self._fault("bad_json", error.pos, f"it is not valid JSON there: {_reason(error.msg)}") from None

    def _fault(self, code: str, position: int, what: str) -> RefusedInput:
        line, column = self._place(position)
        return self._faults.fatal(code, f"line {line}, column {column}: {what}")


def _reason(message: str) -> str:
    """The decoder's reason without anything it might quote."""
    return message.split(": ", 1)[0].lower()


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None  # the pattern also matches nothing
    return match.end()


def _expect(text: str, at: int, marks: str) -> tuple[str, int]:
    at = _skip(text, at)
    if text[at : at + 1] and text[at] in marks:
        return text[at], at + 1
    wanted = " or ".join(f"'{mark}'" for mark in marks)
    raise json.JSONDecodeError(f"expected {wanted}", text, at)


def _value(text: str, at: int) -> tuple[Any, int]:
    start = _skip(text, at)
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise json.JSONDecodeError("a number that cannot be read", text, start) from None


def _member(text: str, at: int) -> tuple[tuple[str, Any, str], int]:
    start = _skip(text, at)
    if text[start : start + 1] != '"':
        raise json.JSONDecodeError("expected a study id in double quotes", text, start)
    key, at = _value(text, start)
    _, at = _expect(text, at, ":")
    value, at = _value(text, at)
    mark, at = _expect(text, at, ",}")
    return (key, value, mark), at


def _item(text: str, at: int) -> tuple[tuple[Any, str], int]:
    value, at = _value(text, at)
    mark, at = _expect(text, at, ",]")
    return (value, mark), at


def _opening(text: str, at: int) -> tuple[str, int]:
    at = _skip(text, at)
    if at >= len(text):
        raise json.JSONDecodeError("expected a value", text, at)
    return text[at], at + 1


def _peek(closing: str) -> Callable[[str, int], tuple[bool, int]]:
    """A unit that says whether the container closes at once."""

    def unit(text: str, at: int) -> tuple[bool, int]:
        mark, end = _opening(text, at)
        return (True, end) if mark == closing else (False, end - 1)

    return unit


def json_entries(data: bytes, fields: Fields, limits: Limits, faults: Faults) -> Iterator[Entry]:
    """Studies of a JSON file: an object keyed by id, a list of records, or the test split of an annotation file.

    Args:
        data: UTF-8 text of the file, checked.
        fields: What is kept of each record.
        limits: Longest entry.
        faults: Where faults go that leave the rest readable.

    Raises:
        RefusedInput: The text is not JSON, or neither an object nor a list of records.
    """
    if not data.strip():
        raise faults.fatal("bad_json", "it is empty; an object {study id: text} is expected")
    window = _Window(data, limits.entry_characters, faults)
    opening = window.parse(_opening)
    if opening == "{" and window.parse(_is_split):
        items = _split_items(window, faults, (TEST,))
        yield from (Entry(item.item_id, kept_fields(item.fields, fields), item.place) for item in items)
    elif opening == "{":
        yield from _keyed(window, fields)
    elif opening == "[":
        yield from _listed(window, fields, faults)
    else:
        raise faults.fatal("not_an_object", "it holds one bare value; an object {study id: text} is expected")
    window.finish()


@dataclass(frozen=True, slots=True)
class SplitItem:
    """One item of an annotation file.

    Attributes:
        split: ``train``, ``val`` or ``test``.
        item_id: Its id, or whatever stands in its place.
        fields: All of its fields.
        place: Where it stands, such as ``test, record 4``.
    """

    split: str
    item_id: object
    fields: Mapping[str, Any]
    place: str


def split_items(data: bytes, limits: Limits, faults: Faults) -> Iterator[SplitItem]:
    """Items of an annotation file as R2Gen's family has them, ``{"train": [{"id", "report", …}], "val": …}``.

    Names of splits count without the blanks around them; a nameless split is the test split, with a warning.

    Args:
        data: UTF-8 text of the file, checked.
        limits: Longest item.
        faults: Where faults go that leave the rest readable; splits that are not there are one.

    Raises:
        RefusedInput: The text is no JSON, or no such file.
    """
    window = _Window(data, limits.entry_characters, faults)
    if not data.strip() or window.parse(_opening) != "{" or not window.parse(_is_split):
        raise faults.fatal("wrong_columns", 'expected an annotation file, {"train": […], "val": […], "test": […]}')
    yield from _split_items(window, faults, SPLITS)
    window.finish()


def _is_split(text: str, at: int) -> tuple[bool, int]:
    """A unit that says whether the object's first member is a split of items, and stays where it is."""
    start = _skip(text, at)
    if text[start : start + 1] != '"':
        return False, at
    name, end = _value(text, start)
    if name.strip() not in _SPLIT_NAMES:
        return False, at
    _, end = _expect(text, end, ":")
    mark, end = _opening(text, end)
    return mark == "[" and _opening(text, end)[0] in "{]", at


def _split_opening(text: str, at: int) -> tuple[Any, int]:
    start = _skip(text, at)
    if text[start : start + 1] != '"':
        raise json.JSONDecodeError("expected the name of a split in double quotes", text, start)
    name, at = _value(text, start)
    _, at = _expect(text, at, ":")
    _, at = _expect(text, at, "[")
    return name, at


def _split_items(window: _Window, faults: Faults, wanted: Container[str]) -> Iterator[SplitItem]:
    seen: set[str] = set()
    mark = ","
    while mark == ",":
        name = window.parse(_split_opening)
        split = _checked_split(name, seen, faults)
        closed = window.parse(_peek("]"))
        number = 0
        while not closed:
            value, after = window.parse(_item)
            number += 1
            item = _split_item(value, split, number, faults) if split in wanted else None
            if item:
                yield item
            closed = after == "]"
        mark = window.parse(_after_split)
    for split in SPLITS:
        if split in wanted and split not in seen:
            faults.add("wrong_columns", f'it has no split "{split}"', field=split)


def _checked_split(name: str, seen: set[str], faults: Faults) -> str:
    split = _SPLIT_NAMES.get(name.strip())
    if split is None:
        raise faults.fatal("wrong_columns", f"it has a split {shown(name)}; known are {', '.join(SPLITS)}")
    if split in seen:
        raise faults.fatal("duplicate_key", f'it has the split "{split}" twice; keep one', field=split)
    if not name.strip():
        _log.warning('%s: a split without a name is taken for "test"', faults.file)
    seen.add(split)
    return split


def _after_split(text: str, at: int) -> tuple[str, int]:
    return _expect(text, at, ",}")


def _split_item(value: object, split: str, number: int, faults: Faults) -> SplitItem | None:
    place = f"{split}, record {number}"
    if not isinstance(value, dict):
        faults.add("not_an_object", f'{place}: expected an object with "id", "report" and "image_path"')
        return None
    if "id" not in value:
        faults.add("wrong_columns", f'{place}: it has no "id"', field="id")
        return None
    item_id = value["id"]
    if isinstance(item_id, float) and item_id.is_integer() and abs(item_id) < _EXACT:
        item_id = str(int(item_id))
    return SplitItem(split, item_id, value, place)


def _keyed(window: _Window, fields: Fields) -> Iterator[Entry]:
    closed = window.parse(_peek("}"))
    number = 0
    while not closed:
        line = window.next_line()
        key, value, mark = window.parse(_member)
        number += 1
        yield Entry(key, kept_fields(value, fields), f"line {line}", number)
        closed = mark == "}"


def _listed(window: _Window, fields: Fields, faults: Faults) -> Iterator[Entry]:
    closed = window.parse(_peek("]"))
    number = 0
    while not closed:
        value, mark = window.parse(_item)
        number += 1
        entry = record_entry(value, f"record {number}", fields, faults)
        if entry:
            yield entry
        closed = mark == "]"


def jsonl_entries(data: bytes, fields: Fields, limits: Limits, faults: Faults) -> Iterator[Entry]:
    """Studies of a JSONL file, one record a line; a faulty line leaves the others readable."""
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    number = 0
    while line := stream.readline(limits.entry_characters):
        number += 1
        if len(line) == limits.entry_characters:
            message = f"line {number} is longer than {limits.entry_characters:,} characters"
            raise faults.fatal("text_too_long", message)
        if not line.strip():
            continue
        entry = _line_entry(line, number, fields, faults)
        if entry:
            yield entry


def _line_entry(line: str, number: int, fields: Fields, faults: Faults) -> Entry | None:
    try:
        value = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        place = f"line {number}, column {error.pos + 1}"
        faults.add("bad_json", f"{place}: the line is not one valid JSON object: {_reason(error.msg)}")
    except RecursionError:
        faults.add("bad_json", f"line {number}: it is nested too deeply; a study's entry is a flat object")
    except ValueError:
        faults.add("bad_json", f"line {number}: a number in it cannot be read")
    else:
        return record_entry(value, f"line {number}", fields, faults)
    return None


def record_entry(value: object, place: str, fields: Fields, faults: Faults) -> Entry | None:
    """The entry of a record that names its study itself, or None after noting why not."""
    if not isinstance(value, dict):
        faults.add("not_an_object", f"{place}: expected an object with {fields.shown_ids} and a text")
        return None
    name = fields.id_in(value)
    if name is None:
        faults.add("wrong_columns", f"{place}: it has no {fields.shown_ids}", field=fields.ids[0])
        return None
    return Entry(value[name], kept_fields(value, fields), place)


def kept_fields(value: object, fields: Fields) -> object:
    """Drop what rexrank does not read, so that a large file's other fields need no memory."""
    if not isinstance(value, Mapping):
        return value
    kept = {name: value[name] for name in fields.all if name in value}
    if fields.prefix:
        prefix = fields.prefix
        kept |= {name: value[name] for name in value if isinstance(name, str) and name.startswith(prefix)}
    names = value.repeated.intersection(kept) if isinstance(value, RepeatedFields) else None
    return _repeated(kept, names) if names else kept
