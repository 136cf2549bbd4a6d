"""Bring files of a repo to a wanted content with at most one commit."""

import hashlib
from collections.abc import Mapping

from huggingface_hub import CommitOperationAdd, CommitOperationDelete

from rexrank.hub.connection import Entry, Hub
from rexrank.hub.errors import translated
from rexrank.hub.swap import patiently

_KEPT = frozenset({".gitattributes"})


def upload_changed(
    hub: Hub,
    repo_id: str,
    files: Mapping[str, bytes],
    message: str,
    repo_type: str = "dataset",
    delete_others: bool = False,
) -> str:
    """Commit those files that differ from the repo's.

    Args:
        hub: Where.
        repo_id: ``owner/name`` of a repo that exists.
        files: Content by path.
        message: Title of the commit.
        repo_type: ``dataset``, ``model`` or ``space``.
        delete_others: Whether files that are not in ``files`` go away.

    Returns:
        The commit that holds the content: a new one, or the head when nothing differed.

    Raises:
        HubError: The repo is absent, this token may not write, or the Hub stayed away.
    """
    return patiently(lambda: _upload(hub, repo_id, files, message, repo_type, delete_others), repo_id)


def _upload(
    hub: Hub, repo_id: str, files: Mapping[str, bytes], message: str, repo_type: str, delete_others: bool
) -> str:
    head = hub.head(repo_id, repo_type)
    present = hub.list_files(repo_id, head, repo_type=repo_type)
    changes: list[CommitOperationAdd | CommitOperationDelete] = [
        CommitOperationAdd(path, data) for path, data in files.items() if not _holds(present.get(path), data)
    ]
    if delete_others:
        changes += [CommitOperationDelete(path) for path in sorted(present.keys() - files.keys() - _KEPT)]
    if not changes:
        return head
    with translated(repo_id):
        commit = hub.api.create_commit(
            repo_id, changes, commit_message=message, repo_type=repo_type, parent_commit=head
        )
    return str(commit.oid)


def _holds(entry: Entry | None, data: bytes) -> bool:
    """Whether a file of the repo has this content, kept in git itself or as an LFS pointer."""
    sha256 = hashlib.sha256(data).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {len(data)}\n".encode()
    return entry is not None and entry.oid in (_blob_id(data), _blob_id(pointer))


def _blob_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
