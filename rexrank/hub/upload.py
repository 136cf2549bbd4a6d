"""Bring files of a repo to a wanted content with at most one commit."""

from collections.abc import Mapping

from rexrank.hub.connection import Hub
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
    changes: dict[str, bytes | None] = dict(files)
    if delete_others:
        present = hub.list_files(repo_id, head, repo_type=repo_type)
        changes |= dict.fromkeys(sorted(present.keys() - files.keys() - _KEPT))
    # The client leaves out content that is there already.
    return hub.commit(repo_id, changes, message, head, repo_type)
