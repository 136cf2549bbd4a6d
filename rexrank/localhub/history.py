"""Commits, branches and tags: what a revision means, and how a branch moves."""

import hashlib
import secrets
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rexrank.localhub.database import Database
from rexrank.localhub.errors import HubFault, bad_request, revision_not_found
from rexrank.localhub.names import ABBREVIATED_COMMIT, COMMIT, check_ref_name
from rexrank.localhub.trees import Changes, Entry, Tree, changed, pack, unpack

BRANCHES = "refs/heads/"
TAGS = "refs/tags/"
MOVED = "A commit has happened since. Please refresh and try again."

# A commit stores its changes; every so many commits also the whole tree, so that reading one stays cheap.
SNAPSHOT_EVERY = 64
_CACHED_ENTRIES = 300_000

Decide = Callable[[Tree], Changes]


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; ``parent`` is None for the first of a repository, times are ISO 8601 in UTC."""

    number: int
    id: str
    parent: str | None
    author: str
    title: str
    message: str
    created_at: str


@dataclass(frozen=True, slots=True)
class NewCommit:
    """Who commits, when and why."""

    author: str
    title: str
    message: str
    at: str


class History:
    """The commits of all repositories."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._trees: OrderedDict[str, Tree] = OrderedDict()
        self._cached_entries = 0
        self._cache_lock = threading.Lock()

    def resolve(self, repo: int, revision: str) -> str:
        """Commit id of a branch, tag, full ref, or full or abbreviated commit id.

        Raises:
            HubFault: 404 RevisionNotFound.
        """
        with self._database.reading() as connection:
            found = _resolve(connection, repo, revision)
        if found is None:
            raise revision_not_found(revision)
        return found

    def branch_head(self, repo: int, revision: str) -> tuple[str, str]:
        """Full ref and head of the branch that a write names.

        Raises:
            HubFault: 404 where there is no such branch, 400 where the revision is something else.
        """
        ref = revision if revision.startswith(BRANCHES) else BRANCHES + revision
        with self._database.reading() as connection:
            row = connection.execute("SELECT commit_id FROM refs WHERE repo = ? AND ref = ?", (repo, ref)).fetchone()
            if row is not None:
                return ref, str(row["commit_id"])
            if _resolve(connection, repo, revision) is None:
                raise revision_not_found(revision)
        raise bad_request("A commit goes to a branch; the revision is a tag or a commit.")

    def commit(self, commit_id: str) -> Commit:
        """One commit by its full id.

        Raises:
            HubFault: 404 RevisionNotFound.
        """
        with self._database.reading() as connection:
            row = connection.execute(f"{_SELECT_COMMIT} WHERE id = ?", (commit_id,)).fetchone()
        if row is None:
            raise revision_not_found(commit_id)
        return Commit(*row)

    def commits_by_number(self, numbers: set[int]) -> dict[int, Commit]:
        """The commits with those numbers."""
        found = {}
        with self._database.reading() as connection:
            for number in numbers:
                row = connection.execute(f"{_SELECT_COMMIT} WHERE number = ?", (number,)).fetchone()
                if row is not None:
                    found[number] = Commit(*row)
        return found

    def log(self, commit_id: str, limit: int) -> list[Commit]:
        """The commit and its ancestors, newest first, at most ``limit``."""
        found: list[Commit] = []
        with self._database.reading() as connection:
            following: str | None = commit_id
            while following is not None and len(found) < limit:
                row = connection.execute(f"{_SELECT_COMMIT} WHERE id = ?", (following,)).fetchone()
                if row is None:
                    break
                found.append(Commit(*row))
                following = found[-1].parent
        return found

    def refs(self, repo: int) -> dict[str, str]:
        """Full name and commit id of every branch and tag, sorted by name."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT ref, commit_id FROM refs WHERE repo = ? ORDER BY ref", (repo,)).fetchall()
        return {row["ref"]: row["commit_id"] for row in rows}

    def tree(self, commit_id: str) -> Tree:
        """All files at a commit.

        Raises:
            HubFault: 404 RevisionNotFound.
        """
        with self._database.reading() as connection:
            return self._tree(connection, commit_id)

    def _tree(self, connection: sqlite3.Connection, commit_id: str) -> Tree:
        pending: list[Changes] = []
        following: str | None = commit_id
        tree = self._cached(commit_id)
        while tree is None:
            row = connection.execute(
                "SELECT parent, changes, snapshot FROM commits WHERE id = ?", (following,)
            ).fetchone()
            # Also where the chain ends: a parent that is NULL equals no id.
            if row is None:
                raise revision_not_found(commit_id)
            if row["snapshot"] is not None:
                tree = Tree({path: entry for path, entry in unpack(row["snapshot"]).items() if entry is not None})
                break
            pending.append(unpack(row["changes"]))
            following = row["parent"]
            tree = self._cached(following) if following else None
        if pending:
            entries: Mapping[str, Entry] = tree.entries
            for changes in reversed(pending):
                entries = changed(entries, changes)
            tree = Tree(entries)
        self._remember(commit_id, tree)
        return tree

    def _cached(self, commit_id: str) -> Tree | None:
        with self._cache_lock:
            tree = self._trees.get(commit_id)
            if tree is not None:
                self._trees.move_to_end(commit_id)
            return tree

    def _remember(self, commit_id: str, tree: Tree) -> None:
        with self._cache_lock:
            if commit_id in self._trees:
                return
            self._trees[commit_id] = tree
            self._cached_entries += len(tree.entries)
            while self._cached_entries > _CACHED_ENTRIES and len(self._trees) > 1:
                _, dropped = self._trees.popitem(last=False)
                self._cached_entries -= len(dropped.entries)

    def start(self, connection: sqlite3.Connection, repo: int, entries: Mapping[str, Entry], about: NewCommit) -> str:
        """Write the first commit of a repository and its branch ``main``."""
        commit_id, number = self._insert(connection, repo, None, about, 0)
        first = {path: entry.at(number) for path, entry in entries.items()}
        self._fill(connection, number, first, Tree(first))
        connection.execute("INSERT INTO refs VALUES (?, ?, ?)", (repo, BRANCHES + "main", commit_id))
        return commit_id

    def advance(self, repo: int, ref: str, parent: str | None, about: NewCommit, decide: Decide) -> str:
        """Put one commit on a branch: compare with the expected parent, apply, move, all in one transaction.

        Args:
            repo: Number of the repository.
            ref: Full name of the branch.
            parent: Expected head, full or abbreviated; None puts the commit on whatever is there.
            about: Author, texts and time.
            decide: Turns the files at the head into changes; may refuse with a HubFault.

        Returns:
            Id of the new commit.

        Raises:
            HubFault: 412 where the branch has moved, 404 where it is gone, or what ``decide`` raised.
        """
        with self._database.writing() as connection:
            row = connection.execute("SELECT commit_id FROM refs WHERE repo = ? AND ref = ?", (repo, ref)).fetchone()
            if row is None:
                raise revision_not_found(ref.removeprefix(BRANCHES))
            head = str(row["commit_id"])
            if parent is not None and not head.startswith(parent):
                raise HubFault(412, MOVED)
            before = self._tree(connection, head)
            changes = decide(before)
            row = connection.execute("SELECT links FROM commits WHERE id = ?", (head,)).fetchone()
            links = (row["links"] + 1) % SNAPSHOT_EVERY
            commit_id, number = self._insert(connection, repo, head, about, links)
            stamped = _stamped(before, changes, number)
            after = Tree(changed(before.entries, stamped))
            self._fill(connection, number, stamped, after if links == 0 else None)
            moved = connection.execute(
                "UPDATE refs SET commit_id = ? WHERE repo = ? AND ref = ? AND commit_id = ?",
                (commit_id, repo, ref, head),
            )
            if moved.rowcount != 1:
                raise HubFault(412, MOVED)
            _record_holdings(connection, repo, stamped)
            connection.execute("UPDATE repos SET updated_at = ? WHERE number = ?", (about.at, repo))
        self._remember(commit_id, after)
        return commit_id

    @staticmethod
    def _insert(
        connection: sqlite3.Connection, repo: int, parent: str | None, about: NewCommit, links: int
    ) -> tuple[str, int]:
        # The random part keeps ids unique for equal content (H9).
        source = "\0".join((parent or "", about.author, about.title, about.message, about.at, secrets.token_hex(16)))
        commit_id = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()
        row = connection.execute(
            "INSERT INTO commits (id, repo, parent, author, title, message, created_at, links, changes)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, x'')",
            (commit_id, repo, parent, about.author, about.title, about.message, about.at, links),
        )
        return commit_id, int(row.lastrowid or 0)

    @staticmethod
    def _fill(connection: sqlite3.Connection, number: int, changes: Changes, snapshot: Tree | None) -> None:
        connection.execute(
            "UPDATE commits SET changes = ?, snapshot = ? WHERE number = ?",
            (pack(changes), None if snapshot is None else pack(snapshot.entries), number),
        )

    def create_ref(self, repo: int, ref: str, start: str) -> None:
        """Add a branch or tag at the revision ``start``.

        Raises:
            HubFault: 400 bad name, 404 no such revision, 409 the name is taken.
        """
        prefix, kind = (BRANCHES, "branch") if ref.startswith(BRANCHES) else (TAGS, "tag")
        name = check_ref_name(ref.removeprefix(prefix))
        with self._database.writing() as connection:
            commit_id = _resolve(connection, repo, start)
            if commit_id is None:
                raise revision_not_found(start)
            added = connection.execute("INSERT OR IGNORE INTO refs VALUES (?, ?, ?)", (repo, ref, commit_id))
            if added.rowcount != 1:
                raise HubFault(409, f"The {kind} {name} exists already.")

    def delete_ref(self, repo: int, ref: str) -> None:
        """Remove a branch or tag; its commits stay readable by id.

        Raises:
            HubFault: 403 for ``main``, 404 where there is none.
        """
        if ref == BRANCHES + "main":
            raise HubFault(403, "The branch main cannot be deleted.")
        with self._database.writing() as connection:
            if connection.execute("DELETE FROM refs WHERE repo = ? AND ref = ?", (repo, ref)).rowcount != 1:
                raise revision_not_found(ref.removeprefix(BRANCHES).removeprefix(TAGS))


_SELECT_COMMIT = "SELECT number, id, parent, author, title, message, created_at FROM commits"


def _resolve(connection: sqlite3.Connection, repo: int, revision: str) -> str | None:
    if COMMIT.fullmatch(revision):
        row = connection.execute("SELECT id FROM commits WHERE id = ? AND repo = ?", (revision, repo)).fetchone()
        return row and str(row["id"])
    refs = (revision,) if revision.startswith("refs/") else (BRANCHES + revision, TAGS + revision)
    for ref in refs:
        row = connection.execute("SELECT commit_id FROM refs WHERE repo = ? AND ref = ?", (repo, ref)).fetchone()
        if row is not None:
            return str(row["commit_id"])
    if ABBREVIATED_COMMIT.fullmatch(revision):
        rows = connection.execute(
            "SELECT id FROM commits WHERE repo = ? AND id >= ? AND id < ? LIMIT 2", (repo, revision, revision + "g")
        ).fetchall()
        return str(rows[0]["id"]) if len(rows) == 1 else None
    return None


def _stamped(before: Tree, changes: Changes, number: int) -> Changes:
    """``changes`` with the new commit's number where the content really differs."""
    stamped: dict[str, Entry | None] = {}
    for path, entry in changes.items():
        old = before.entries.get(path)
        same = entry is not None and old is not None and (entry.oid, entry.lfs) == (old.oid, old.lfs)
        stamped[path] = old if same else entry and entry.at(number)
    return stamped


def _record_holdings(connection: sqlite3.Connection, repo: int, changes: Changes) -> None:
    """Note which large files a repository holds, since reading it then permits to reuse them (H14)."""
    large = [(entry.sha256, repo, entry.size) for entry in changes.values() if entry is not None and entry.lfs]
    connection.executemany("INSERT OR IGNORE INTO holdings VALUES (?, ?, ?)", large)
    connection.executemany("DELETE FROM uploads WHERE sha256 = ? AND repo = ?", [row[:2] for row in large])
