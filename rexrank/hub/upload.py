"""Bring files of a repo to a wanted content with at most one commit."""

import hashlib
from collections.abc import Mapping

from huggingface_hub.utils.sha import git_hash

from rexrank.hub.connection import Entry, Hub
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
    changes: dict[str, bytes | None] = {
        path: content for path, content in files.items() if not _holds(present.get(path), content)
    }
    if delete_others:
        changes |= dict.fromkeys(sorted(present.keys() - files.keys() - _KEPT))
    return hub.commit(repo_id, changes, message, head, repo_type) if changes else head


def _holds(entry: Entry | None, content: bytes) -> bool:
    """Whether a file of the repo has this content, kept in git itself or as an LFS pointer."""
    sha256 = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {len(content)}\n".encode()
    return entry is not None and entry.oid in (git_hash(content), git_hash(pointer))
