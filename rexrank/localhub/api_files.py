"""Answers about files: their bytes, their listing, and facts about single paths."""

import re
from collections.abc import AsyncIterator
from typing import Any, BinaryIO
from urllib.parse import quote

import anyio.to_thread
from starlette.responses import Response, StreamingResponse

from rexrank.localhub.calls import Call, answer, truthy
from rexrank.localhub.errors import HubFault, entry_not_found
from rexrank.localhub.history import History
from rexrank.localhub.paging import read_cursor, write_cursor
from rexrank.localhub.trees import Entry, Folder, Tree

_CHUNK = 2**20
_PAGE, _PAGE_EXPANDED = 1000, 50
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")

Listed = tuple[str, Entry | Folder]


def resolve(call: Call) -> Response:
    """The bytes of a file, whole or a range of them."""
    hub, repo, path = call.hub, call.repo(), call.groups["path"]
    commit_id = hub.history.resolve(repo.number, call.revision)
    if path != "README.md":
        hub.repositories.require_content(call.caller, repo)
    entry = hub.history.tree(commit_id).entries.get(path)
    if entry is None:
        raise entry_not_found(path, commit_id)
    headers = {
        "X-Repo-Commit": commit_id,
        "ETag": f'"{entry.etag}"',
        "Accept-Ranges": "bytes",
        "Content-Disposition": _disposition(path),
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    span = _range(call, entry, headers)
    start, stop = span or (0, entry.size)
    if span is not None:
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{entry.size}"
    headers["Content-Length"] = str(stop - start)
    if call.request.method == "HEAD":
        return Response(None, 200, headers, "application/octet-stream")
    body = _bytes(hub.blobs.open(entry.sha256), start, stop)
    return StreamingResponse(body, 200 if span is None else 206, headers, "application/octet-stream")


def _range(call: Call, entry: Entry, headers: dict[str, str]) -> tuple[int, int] | None:
    """First byte and the byte after the last one that the request asks for; None for the whole file.

    What is not one well-formed range, or is meant for another version of the
    file, is ignored, as RFC 9110 (13.1.5 and 14.2) says.

    Raises:
        HubFault: 416 where the range lies outside the file.
    """
    asked = call.request.headers
    match = _RANGE.fullmatch(asked.get("range", "").replace(" ", ""))
    if call.request.method != "GET" or match is None or asked.get("if-range", headers["ETag"]) != headers["ETag"]:
        return None
    first, last = match.groups()
    if first == last == "" or (first and last and int(last) < int(first)):
        return None
    start = int(first) if first else max(entry.size - int(last), 0)
    stop = min(int(last) + 1, entry.size) if first and last else entry.size
    if start >= stop:
        outside = {**headers, "Content-Range": f"bytes */{entry.size}"}
        raise HubFault(416, "The range lies outside the file.", headers=outside)
    return start, stop


async def _bytes(file: BinaryIO, start: int, stop: int) -> AsyncIterator[bytes]:
    """Read in a thread, piece by piece, so that a slow disk holds up nobody else."""
    try:
        await anyio.to_thread.run_sync(file.seek, start)
        left = stop - start
        while left > 0:
            chunk = await anyio.to_thread.run_sync(file.read, min(_CHUNK, left))
            if not chunk:
                break
            left -= len(chunk)
            yield chunk
    finally:
        file.close()


def _disposition(path: str) -> str:
    name = path.rpartition("/")[2]
    plain = re.sub(r"[^ !#-\[\]-~]", "_", name)
    return f"inline; filename*=UTF-8''{quote(name, safe='')}; filename=\"{plain}\";"


def tree(call: Call) -> Response:
    """A page of the files and folders at a revision."""
    repo, folder = call.repo(), call.groups.get("path", "").strip("/")
    history = call.hub.history
    commit_id = history.resolve(repo.number, call.revision)
    files = history.tree(commit_id)
    if folder and not files.below(folder):
        raise entry_not_found(folder, commit_id)
    listed = files.listing(folder, call.flag("recursive"))
    cursor = call.request.query_params.get("cursor")
    if cursor:
        (after,) = read_cursor(cursor, 1)
        listed = [item for item in listed if item[0] > after]
    expand = call.flag("expand")
    limit = call.number("limit", _PAGE_EXPANDED if expand else _PAGE, _PAGE)
    page = listed[:limit]
    headers = {"X-Repo-Commit": commit_id}
    if len(listed) > limit:
        headers |= call.link_to_next(cursor=write_cursor([page[-1][0]]))
    return answer(_facts(history, page, expand), headers=headers)


def paths_info(call: Call) -> Response:
    """Facts about the asked paths; unknown ones are left out."""
    repo = call.repo()
    files = call.hub.history.tree(call.hub.history.resolve(repo.number, call.revision))
    fields = call.fields()
    asked = dict.fromkeys(path.strip("/") for path in fields.get("paths", []))
    found = [(path, entry) for path in asked if (entry := _lookup(files, path)) is not None]
    return answer(_facts(call.hub.history, found, truthy((fields.get("expand") or [""])[0])))


def _lookup(files: Tree, path: str) -> Entry | Folder | None:
    entry = files.entries.get(path)
    if entry is None and path and files.below(path):
        return files.folders[path]
    return entry


def _facts(history: History, listed: list[Listed], expand: bool) -> list[dict[str, Any]]:
    commits = history.commits_by_number({item.commit for _, item in listed}) if expand else {}
    facts = []
    for path, item in listed:
        fact: dict[str, Any] = {"type": "directory", "oid": item.oid, "size": 0, "path": path}
        if isinstance(item, Entry):
            fact |= {"type": "file", "size": item.size}
            if item.lfs:
                fact["lfs"] = {"oid": item.sha256, "size": item.size, "pointerSize": item.pointer_size}
        last = commits.get(item.commit)
        if last is not None:
            fact["lastCommit"] = {"id": last.id, "title": last.title, "date": last.created_at}
        facts.append(fact)
    return facts
