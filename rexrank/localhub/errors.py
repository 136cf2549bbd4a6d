"""Refusals of the local Hub, in the form its clients understand."""

from collections.abc import Mapping

from rexrank.errors import RexrankError


class HubFault(RexrankError):
    """A request that is answered with an error.

    Attributes:
        status: HTTP status.
        message: One sentence for the user; also sent as ``X-Error-Message``.
        code: Value of ``X-Error-Code``, which decides the client's exception class.
        headers: More headers of the answer.
        fields: More fields of the JSON body.
    """

    def __init__(
        self,
        status: int,
        message: str,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
        fields: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.headers = dict(headers or {})
        self.fields = dict(fields or {})


def bad_request(message: str) -> HubFault:
    """400: the request itself is wrong."""
    return HubFault(400, message)


def unknown_token() -> HubFault:
    """401 with the one text that clients do not read as "repository not found"."""
    return HubFault(401, "Invalid credentials in Authorization header")


def repository_not_found(signed_in: bool) -> HubFault:
    """The same answer for a missing and for an invisible repository, so that names do not leak."""
    if signed_in:
        return HubFault(404, "Repository not found.", "RepoNotFound")
    return HubFault(401, "Repository not found, or private: sign in with a token that may read it.", "RepoNotFound")


def revision_not_found(revision: str) -> HubFault:
    """404: neither a branch, nor a tag, nor a commit of the repository."""
    return HubFault(404, f"Revision not found: {printable(revision)}", "RevisionNotFound")


def entry_not_found(path: str, commit: str | None = None) -> HubFault:
    """404: no such path at that commit; clients cache the answer under ``X-Repo-Commit``."""
    headers = {"X-Repo-Commit": commit} if commit else {}
    return HubFault(404, f"Entry not found: {printable(path)}", "EntryNotFound", headers)


def printable(text: str, limit: int = 200) -> str:
    """``text`` without control characters and not longer than ``limit``, for a message."""
    shown = "".join(character if character.isprintable() else "?" for character in text[:limit])
    return shown if len(text) <= limit else shown + "…"
