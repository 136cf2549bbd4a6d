"""Writing: what must be uploaded, and the commit itself."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio.to_thread
from starlette.responses import Response

from rexrank.localhub.api_lfs import is_available, is_size
from rexrank.localhub.blobs import git_blob_id
from rexrank.localhub.calls import Call, answer, parse_json
from rexrank.localhub.commit_body import AddFile, AddLarge, Header, Remove, read_line
from rexrank.localhub.errors import HubFault, bad_request, printable
from rexrank.localhub.filetypes import is_large
from rexrank.localhub.history import NewCommit
from rexrank.localhub.names import check_path
from rexrank.localhub.repositories import Repo
from rexrank.localhub.trees import Changes, Entry, Tree, changed, large_entry, parents

# What a commit does, in the order of its lines: a file with its path, or a removal.
Steps = list[tuple[str, Entry] | Remove]


def preupload(call: Call) -> Response:
    """Say for each file how it is uploaded and what lies at its path now."""
    _refuse_pull_request(call)
    repo = call.writable_repo()
    _, head = call.hub.history.branch_head(repo.number, call.revision)
    entries = call.hub.history.tree(head).entries
    files = call.json().get("files")
    if not isinstance(files, list):
        raise bad_request("files is a list.")
    return answer({"files": [_mode(entries, item) for item in files]})


def _mode(entries: Mapping[str, Entry], item: Any) -> dict[str, Any]:
    if not isinstance(item, dict) or not is_size(item.get("size")):
        raise bad_request("A file has a path and a size.")
    path = check_path(item.get("path"))
    mode = {"path": path, "uploadMode": "lfs" if is_large(path, item["size"]) else "regular", "shouldIgnore": False}
    entry = entries.get(path)
    return mode if entry is None else {**mode, "oid": entry.etag}


async def commit(call: Call) -> Response:
    """Apply all lines of the body as one commit, or none of them."""
    _refuse_pull_request(call)
    repo, ref = await anyio.to_thread.run_sync(_writable_branch, call)
    draft = Draft()
    async for lines in _lines(call):
        await anyio.to_thread.run_sync(draft.add, call, repo, lines)
    if draft.header is None or not draft.steps:
        raise bad_request("A commit has a header and at least one file.")
    commit_id = await anyio.to_thread.run_sync(_apply, call, repo, ref, draft.header, draft.steps)
    return answer(
        {
            "success": True,
            "commitOid": commit_id,
            "commitUrl": f"{call.base_url}/{repo.address}/commit/{commit_id}",
            "hookOutput": "",
        }
    )


def _refuse_pull_request(call: Call) -> None:
    if call.flag("create_pr"):
        raise HubFault(501, "This Hub has no pull requests yet; commit to a branch of a repository of your own.")


def _writable_branch(call: Call) -> tuple[Repo, str]:
    repo = call.writable_repo()
    ref, _ = call.hub.history.branch_head(repo.number, call.revision)
    return repo, ref


@dataclass
class Draft:
    """A commit while its lines arrive."""

    header: Header | None = None
    steps: Steps = field(default_factory=list)

    def add(self, call: Call, repo: Repo, lines: list[bytes]) -> None:
        """Take some lines; contents of files are stored at once, so that memory stays small.

        Raises:
            HubFault: A line that cannot be part of a commit.
        """
        for line in lines:
            parsed = read_line(parse_json(line))
            if not isinstance(parsed, Header):
                self.steps.append(_prepared(call, repo, parsed))
            elif self.header is None:
                self.header = parsed
            else:
                raise bad_request("A commit has one header.")
            if len(self.steps) > call.hub.limits.operations:
                raise HubFault(413, f"A commit touches at most {call.hub.limits.operations} files.")


async def _lines(call: Call) -> AsyncIterator[list[bytes]]:
    """Whole lines of the body as they arrive."""
    limits = call.hub.limits
    pending = bytearray()
    received = searched = 0
    async for chunk in call.request.stream():
        received += len(chunk)
        pending += chunk
        if received > limits.commit_bytes:
            raise HubFault(413, f"The commit is larger than {limits.commit_bytes} bytes.")
        end = pending.rfind(b"\n", searched) + 1
        if end:
            yield _without_blanks(pending[:end])
            del pending[:end]
        searched = len(pending)
        if searched > limits.line_bytes:
            raise HubFault(413, f"A file of the commit is larger than {limits.line_bytes} bytes in base64.")
    yield _without_blanks(pending)


def _without_blanks(text: bytearray) -> list[bytes]:
    return [bytes(line) for line in text.split(b"\n") if line.strip()]


def _prepared(call: Call, repo: Repo, line: AddFile | AddLarge | Remove) -> tuple[str, Entry] | Remove:
    """Store the content of a regular file; check that a large one is there and may be used."""
    if isinstance(line, Remove):
        return line
    if isinstance(line, AddFile):
        sha256 = call.hub.blobs.put(line.content)
        return line.path, Entry(git_blob_id(line.content), sha256, len(line.content), lfs=False)
    if not is_available(call, repo, line.sha256):
        raise bad_request("A large file of this commit has not been uploaded to this repository.")
    size = call.hub.blobs.size(line.sha256)
    if line.size is not None and line.size != size:
        raise bad_request("A large file of this commit has another size than was uploaded.")
    return line.path, large_entry(line.sha256, size)


def _apply(call: Call, repo: Repo, ref: str, header: Header, steps: Steps) -> str:
    about = NewCommit(call.caller.name or "", header.summary, header.description, call.hub.now())
    return call.hub.history.advance(repo.number, ref, header.parent, about, lambda tree: changes_of(tree, steps))


def changes_of(tree: Tree, steps: Steps) -> Changes:
    """What the steps of a commit change in a tree.

    Raises:
        HubFault: 404 EntryNotFound for the removal of a missing path, 400 where a path would be file and folder.
    """
    changes: dict[str, Entry | None] = {}
    for step in steps:
        if not isinstance(step, Remove):
            changes[step[0]] = step[1]
            continue
        gone = _removed(tree, changes, step)
        if not gone:
            raise HubFault(404, f"A file with this name doesn't exist: {printable(step.path)}", "EntryNotFound")
        changes.update(dict.fromkeys(gone))
    _refuse_clashes(tree, changes)
    return changes


def _removed(tree: Tree, changes: Changes, step: Remove) -> list[str]:
    if not step.folder:
        present = changes[step.path] if step.path in changes else tree.entries.get(step.path)
        return [step.path] if present is not None else []
    below = {path for path in tree.below(step.path) if changes.get(path, tree.entries[path]) is not None}
    prefix = step.path + "/"
    return sorted(below | {path for path, entry in changes.items() if entry is not None and path.startswith(prefix)})


def _refuse_clashes(tree: Tree, changes: Changes) -> None:
    files = changed(tree.entries, changes)
    # The tree itself holds no clash, so one can only be above or below a path that it did not hold before.
    for path in files.keys() - tree.entries.keys():
        if any(folder in files for folder in parents(path)) or any(item in files for item in tree.below(path)):
            raise bad_request("A path of this commit would be a file and a folder at once.")
