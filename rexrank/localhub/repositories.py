"""Repositories: which there are, who sees them, and what happens to them as a whole."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from rexrank.localhub.accounts import Caller, new_id
from rexrank.localhub.database import Database
from rexrank.localhub.errors import HubFault, repository_not_found
from rexrank.localhub.history import History, NewCommit
from rexrank.localhub.names import URL_PREFIXES
from rexrank.localhub.trees import Entry


@dataclass(frozen=True, slots=True)
class Repo:
    """One repository.

    Attributes:
        number: Its key in the database, which survives a move.
        gated: Who may read the files: everybody (empty), or those let in (``auto`` or ``manual``).
        sdk: What runs a Space; None for other types.
    """

    number: int
    id: str
    type: str
    namespace: str
    name: str
    private: bool
    gated: str
    sdk: str | None
    created_at: str
    updated_at: str

    @property
    def full_name(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    @property
    def address(self) -> str:
        """Path of the repository's page, without a leading slash."""
        return URL_PREFIXES[self.type] + self.full_name


_COLUMNS = "number, id, type, namespace, name, private, gated, sdk, created_at, updated_at"


class Repositories:
    """All repositories of one Hub."""

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history

    def find(self, caller: Caller, kind: str, namespace: str, name: str) -> Repo:
        """A repository that the caller may see.

        Raises:
            HubFault: 404 (401 without a token) RepoNotFound, the same for missing and invisible ones.
        """
        with self._database.reading() as connection:
            repo = _lookup(connection, kind, namespace, name)
        if repo is None or (repo.private and not caller.may_see(repo.namespace)):
            raise repository_not_found(signed_in=caller.name is not None)
        return repo

    def require_write(self, caller: Caller, repo: Repo) -> None:
        """Refuse with 401 or 403 where the caller may not change the repository."""
        require_write(caller, repo.namespace)

    def require_content(self, caller: Caller, repo: Repo) -> None:
        """Refuse with 403 GatedRepo where the bytes of the files need an access that the caller lacks."""
        if repo.gated and not caller.may_see(repo.namespace):
            raise HubFault(403, "Access to this repository is restricted; ask its owner.", "GatedRepo")

    def visible(self, caller: Caller, kind: str) -> list[Repo]:
        """All repositories of a type that the caller may see, oldest first."""
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM repos WHERE type = ? ORDER BY number", (kind,)
            ).fetchall()
        repos = [_repo(row) for row in rows]
        return [repo for repo in repos if not repo.private or caller.may_see(repo.namespace)]

    def create(
        self,
        kind: str,
        namespace: str,
        name: str,
        about: NewCommit,
        first_files: Mapping[str, Entry],
        private: bool = False,
        sdk: str | None = None,
    ) -> Repo:
        """Make a repository with its first commit.

        Raises:
            HubFault: 409 where the name is taken.
        """
        with self._database.writing() as connection:
            existing = _lookup(connection, kind, namespace, name)
            if existing is not None:
                raise RepoExists(existing)
            connection.execute(
                "INSERT INTO repos (id, type, namespace, name, private, gated, sdk, created_at, updated_at)"
                " VALUES (?, ?, ?, ?, ?, '', ?, ?, ?)",
                (new_id(), kind, namespace, name, private, sdk, about.at, about.at),
            )
            repo = _lookup(connection, kind, namespace, name)
            assert repo is not None
            self._history.start(connection, repo.number, first_files, about)
        return repo

    def delete(self, repo: Repo, user: str, at: str) -> None:
        """Remove a repository with all its commits; contents stay in the blob store."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM repos WHERE number = ?", (repo.number,))
            _audit(connection, at, user, "delete", repo, "")

    def move(self, repo: Repo, namespace: str, name: str, user: str, at: str) -> None:
        """Give a repository another name.

        Raises:
            HubFault: 409 where the new name is taken.
        """
        with self._database.writing() as connection:
            existing = _lookup(connection, repo.type, namespace, name)
            if existing is not None and existing.number != repo.number:
                raise HubFault(409, "The new name is taken by another repository.")
            connection.execute(
                "UPDATE repos SET namespace = ?, name = ?, updated_at = ? WHERE number = ?",
                (namespace, name, at, repo.number),
            )
            _audit(connection, at, user, "move", repo, f"to {namespace}/{name}")

    def change_settings(self, repo: Repo, private: bool | None, gated: str | None, user: str, at: str) -> None:
        """Change who may see a repository and its files; None keeps what is set."""
        with self._database.writing() as connection:
            if private is not None:
                connection.execute("UPDATE repos SET private = ? WHERE number = ?", (private, repo.number))
            if gated is not None:
                connection.execute("UPDATE repos SET gated = ? WHERE number = ?", (gated, repo.number))
            _audit(connection, at, user, "settings", repo, f"private={private} gated={gated}")

    def holds(self, caller: Caller, sha256: str) -> bool:
        """Whether a repository whose files the caller may read holds that large file."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT DISTINCT namespace, private, gated FROM holdings JOIN repos ON repos.number = holdings.repo"
                " WHERE sha256 = ?",
                (sha256,),
            ).fetchall()
        return any((not row["private"] and not row["gated"]) or caller.may_see(row["namespace"]) for row in rows)

    def uploaded(self, repo: Repo, sha256: str) -> bool:
        """Whether that large file has been uploaded for the repository and waits for its commit."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT 1 FROM uploads WHERE sha256 = ? AND repo = ?", (sha256, repo.number)
            ).fetchone()
        return row is not None

    def note_upload(self, number: int, sha256: str, size: int, at: str) -> bool:
        """Record that a large file arrived for a repository; False where the repository is gone."""
        with self._database.writing() as connection:
            if connection.execute("SELECT 1 FROM repos WHERE number = ?", (number,)).fetchone() is None:
                return False
            connection.execute("INSERT OR REPLACE INTO uploads VALUES (?, ?, ?, ?)", (sha256, number, size, at))
        return True


class RepoExists(HubFault):
    """409: the repository is there already."""

    def __init__(self, repo: Repo) -> None:
        super().__init__(409, f"You already created this {repo.type} repo: {repo.full_name}")
        self.repo = repo


def require_write(caller: Caller, namespace: str) -> None:
    """Refuse with 401 or 403 where the caller may not write under ``namespace``."""
    if caller.name is None:
        raise HubFault(401, "A token with the role write is needed for this.")
    if caller.role == "read":
        raise HubFault(403, "This token may only read; use one with the role write.")
    if not caller.may_write(namespace):
        raise HubFault(403, "You may not write under that namespace.")


def _lookup(connection: sqlite3.Connection, kind: str, namespace: str, name: str) -> Repo | None:
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM repos WHERE type = ? AND namespace = ? AND name = ?", (kind, namespace, name)
    ).fetchone()
    return None if row is None else _repo(row)


def _repo(row: sqlite3.Row) -> Repo:
    return Repo(**{**dict(row), "private": bool(row["private"])})


def _audit(connection: sqlite3.Connection, at: str, user: str, action: str, repo: Repo, detail: str) -> None:
    connection.execute(
        "INSERT INTO audit (at, user, action, subject, detail) VALUES (?, ?, ?, ?, ?)",
        (at, user, action, f"{repo.type} {repo.full_name}", detail),
    )
