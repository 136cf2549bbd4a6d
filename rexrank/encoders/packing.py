"""Records as bytes: names, types and shapes in a header, then the numbers as they are. Nothing in them is executed."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHECKSUM_BYTES = 8

_LENGTH_BYTES = 4
_MOST_AXES = 8
# Little-endian on every machine.
_TYPES = {
    dtype.str: dtype
    for dtype in map(np.dtype, ("?", "i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"))
}


class Damaged(Exception):
    """Bytes that are no record."""


def pack(record: Mapping[str, NDArray[Any]]) -> bytes:
    """A record as bytes.

    Args:
        record: Arrays of truth values, whole or floating numbers by name.

    Raises:
        TypeError: An array of other things.
    """
    header, pieces = [], []
    for name, given in record.items():
        array = np.asarray(given)
        plain = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        if plain.dtype.str not in _TYPES:
            raise TypeError(f'"{name}" is an array of {array.dtype}; a record holds plain numbers alone')
        header.append([name, plain.dtype.str, list(plain.shape)])
        pieces.append(plain.tobytes())
    head = json.dumps(header, separators=(",", ":")).encode()
    return b"".join([len(head).to_bytes(_LENGTH_BYTES, "little"), head, *pieces])


def unpack(packed: bytes) -> dict[str, NDArray[Any]]:
    """The record that `pack` made bytes of; its arrays are the caller's own.

    Raises:
        Damaged: They are not from `pack`.
    """
    start = _LENGTH_BYTES + int.from_bytes(packed[:_LENGTH_BYTES], "little")
    try:
        header = json.loads(packed[_LENGTH_BYTES:start])
        wanted = [(_name(name), _TYPES[dtype], _shape(shape)) for name, dtype, shape in header]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Damaged("the header of a record cannot be read") from None
    sizes = [math.prod(shape) * dtype.itemsize for _, dtype, shape in wanted]
    if start + sum(sizes) != len(packed):
        raise Damaged("a record has another size than its header says")
    record = {}
    for (name, dtype, shape), size in zip(wanted, sizes, strict=True):
        record[name] = np.frombuffer(packed, np.uint8, size, start).copy().view(dtype).reshape(shape)
        start += size
    return record


def text_key(text: str) -> bytes:
    """What stands for a text on disk: its digest, 32 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def checksum(shelf: str, key: bytes, packed: bytes) -> bytes:
    """Bytes that fit a record, its text and its shelf together, so that no record is taken for another's."""
    digest = hashlib.blake2b(digest_size=CHECKSUM_BYTES)
    named = shelf.encode("utf-8", "surrogatepass")
    digest.update(len(named).to_bytes(_LENGTH_BYTES, "little") + named + key)
    digest.update(packed)
    return digest.digest()


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _shape(value: Any) -> tuple[int, ...]:
    if (
        not isinstance(value, list)
        or len(value) > _MOST_AXES
        or any(type(axis) is not int or axis < 0 for axis in value)
    ):
        raise TypeError
    return tuple(value)
