"""Reads the body of a commit: one JSON object a line."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rexrank.localhub.errors import bad_request
from rexrank.localhub.names import ABBREVIATED_COMMIT, SHA256, check_path

_SUMMARY, _DESCRIPTION = 1000, 65_536


@dataclass(frozen=True, slots=True)
class Header:
    """Texts of a commit and the head it expects, if it expects one."""

    summary: str
    description: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class AddFile:
    """A regular file with its content."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class AddLarge:
    """A large file that is stored already; ``size`` is None where it is copied."""

    path: str
    sha256: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Remove:
    """A file or a folder that goes."""

    path: str
    folder: bool


Line = Header | AddFile | AddLarge | Remove


def read_line(line: Any) -> Line:
    """One parsed line of a commit.

    Raises:
        HubFault: 400 where a key is unknown or a field is wrong.
    """
    if not isinstance(line, Mapping) or set(line) != {"key", "value"} or not isinstance(line["value"], Mapping):
        raise bad_request("A line of a commit has the fields key and value.")
    value = line["value"]
    match line["key"]:
        case "header":
            return _header(value)
        case "file":
            return _file(value)
        case "lfsFile":
            return _large_file(value)
        case "deletedFile" | "deletedFolder" as key:
            path = value.get("path")
            return Remove(check_path(path.rstrip("/") if isinstance(path, str) else path), key == "deletedFolder")
    raise bad_request("The key of a line is header, file, lfsFile, deletedFile or deletedFolder.")


def _header(value: Mapping[str, Any]) -> Header:
    summary, description, parent = value.get("summary"), value.get("description") or "", value.get("parentCommit")
    if not isinstance(summary, str) or not summary.strip() or len(summary) > _SUMMARY:
        raise bad_request(f"A commit has a summary of 1 to {_SUMMARY} characters.")
    if not isinstance(description, str) or len(description) > _DESCRIPTION:
        raise bad_request(f"The description of a commit has at most {_DESCRIPTION} characters.")
    if parent is not None and (not isinstance(parent, str) or not ABBREVIATED_COMMIT.fullmatch(parent)):
        raise bad_request("parentCommit is a commit id of 7 to 40 hexadecimal digits.")
    return Header(summary, description, parent)


def _file(value: Mapping[str, Any]) -> AddFile:
    content, encoding = value.get("content"), value.get("encoding", "utf-8")
    path = check_path(value.get("path"))
    if not isinstance(content, str) or encoding not in ("base64", "utf-8"):
        raise bad_request("A file has its content as text, in the encoding base64 or utf-8.")
    if encoding == "utf-8":
        return AddFile(path, content.encode())
    try:
        return AddFile(path, base64.b64decode(content, validate=True))
    except ValueError:
        raise bad_request("The content of a file is not valid base64.") from None


def _large_file(value: Mapping[str, Any]) -> AddLarge:
    path, oid, size = check_path(value.get("path")), value.get("oid"), value.get("size")
    if value.get("algo", "sha256") != "sha256" or not isinstance(oid, str) or not SHA256.fullmatch(oid):
        raise bad_request("A large file has algo sha256 and oid, 64 hexadecimal digits.")
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 0):
        raise bad_request("The size of a large file is its number of bytes.")
    return AddLarge(path, oid, size)
