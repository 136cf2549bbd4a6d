"""Trees and histories, compared with plain dictionaries."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rexrank.localhub.errors import HubFault
from rexrank.localhub.history import BRANCHES, SNAPSHOT_EVERY, NewCommit
from rexrank.localhub.hub import LocalHub
from rexrank.localhub.trees import Entry, Folder, Tree, pack, unpack

MAIN = BRANCHES + "main"
ABOUT = NewCommit("ana", "title", "", "2026-01-31T00:00:00.000Z")

PARTS = st.sampled_from(["a", "b", "a.txt", "a0", "é"])
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
ENTRIES = st.integers(0, 9).map(lambda number: entry(number))


def entry(number: int, commit: int = 0) -> Entry:
    return Entry(f"{number:040x}", f"{number:064x}", number, lfs=bool(number % 2), commit=commit)


@given(st.dictionaries(PATHS, ENTRIES, max_size=12))
def test_listings_agree_with_the_paths(entries: dict[str, Entry]) -> None:
    tree = Tree(entries)
    folders = {path.rpartition("/")[0] for path in entries}
    for folder in {"", *folders}:
        prefix = f"{folder}/" if folder else ""
        below = {path for path in entries if path.startswith(prefix)}
        ancestors = {path[:at] for path in below for at in range(len(prefix), len(path)) if path[at] == "/"}
        direct = {prefix + path[len(prefix) :].partition("/")[0] for path in below}
        assert [path for path, _ in tree.listing(folder, recursive=True)] == sorted(below | ancestors)
        assert [path for path, _ in tree.listing(folder, recursive=False)] == sorted(direct)


def test_folder_ids_tell_their_content() -> None:
    def folder(tree: Tree, path: str) -> Folder:
        return tree.folders[path]

    first = Tree({"a/x": entry(1), "b/x": entry(1)})
    second = Tree({"a/x": entry(1), "b/x": entry(2)})
    assert folder(first, "a").oid == folder(second, "a").oid
    assert folder(first, "b").oid != folder(second, "b").oid
    assert folder(first, "").oid != folder(second, "").oid


@given(st.dictionaries(PATHS, st.none() | ENTRIES, max_size=12))
def test_packing_keeps_everything(changes: dict[str, Entry | None]) -> None:
    assert unpack(pack(changes)) == changes


@settings(max_examples=15, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), st.none() | ENTRIES, min_size=1, max_size=3), max_size=12))
def test_any_history_reads_back(steps: list[dict[str, Entry | None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        hub = LocalHub(Path(folder))
        repo = hub.repositories.create("dataset", "ana", "r", ABOUT, {}).number
        state: dict[str, Entry] = {}
        expected = {}
        for step in steps:
            commit_id = hub.history.advance(repo, MAIN, None, ABOUT, lambda _, step=step: step)
            state = {path: item for path, item in {**state, **step}.items() if item is not None}
            expected[commit_id] = state
        hub.close()
        # Opened anew, so that nothing comes from memory; the oldest first and then again in any order.
        hub = LocalHub(Path(folder))
        for commit_id in (*expected, *reversed(expected)):
            found = hub.history.tree(commit_id).entries
            assert {path: item.at(0) for path, item in found.items()} == expected[commit_id]
        hub.close()


def test_long_histories_read_back_across_snapshots(tmp_path: Path) -> None:
    hub = LocalHub(tmp_path)
    repo = hub.repositories.create("dataset", "ana", "r", ABOUT, {"first": entry(3)}).number
    commits = [
        hub.history.advance(repo, MAIN, None, ABOUT, lambda _, n=number: {f"f{n % 7}": entry(n)})
        for number in range(2 * SNAPSHOT_EVERY + 5)
    ]
    hub.close()
    hub = LocalHub(tmp_path)
    for number in (0, 1, SNAPSHOT_EVERY - 2, SNAPSHOT_EVERY - 1, SNAPSHOT_EVERY, 2 * SNAPSHOT_EVERY + 4):
        entries = hub.history.tree(commits[number]).entries
        assert len(entries) == min(number + 1, 7) + 1
        assert entries[f"f{number % 7}"].size == number
    with hub.database.reading() as connection:
        (snapshots,) = connection.execute("SELECT count(*) FROM commits WHERE snapshot IS NOT NULL").fetchone()
    assert snapshots == 3
    hub.close()


def test_a_file_remembers_the_commit_that_changed_it(tmp_path: Path) -> None:
    hub = LocalHub(tmp_path)
    repo = hub.repositories.create("dataset", "ana", "r", ABOUT, {}).number
    first = hub.history.advance(repo, MAIN, None, ABOUT, lambda _: {"a": entry(1), "b": entry(2)})
    again = hub.history.advance(repo, MAIN, None, ABOUT, lambda _: {"a": entry(1), "b": entry(4)})
    tree = hub.history.tree(again)
    assert tree.entries["a"].commit == hub.history.commit(first).number
    assert tree.entries["b"].commit == hub.history.commit(again).number
    hub.close()


def test_a_refused_commit_leaves_no_trace(tmp_path: Path) -> None:
    hub = LocalHub(tmp_path)
    repo = hub.repositories.create("dataset", "ana", "r", ABOUT, {}).number
    head = hub.history.resolve(repo, "main")

    def refuse(_: Tree) -> dict[str, Entry | None]:
        raise HubFault(400, "no")

    with pytest.raises(HubFault):
        hub.history.advance(repo, MAIN, None, ABOUT, refuse)
    with pytest.raises(HubFault) as raised:
        hub.history.advance(repo, MAIN, "0" * 40, ABOUT, lambda _: {"a": entry(1)})
    assert raised.value.status == 412
    assert hub.history.resolve(repo, "main") == head
    with hub.database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM commits").fetchone()[0] == 1
    hub.close()


def test_deleted_repos_take_their_commits_along(tmp_path: Path) -> None:
    hub = LocalHub(tmp_path)
    repo = hub.repositories.create("dataset", "ana", "r", ABOUT, {})
    head = hub.history.resolve(repo.number, "main")
    hub.repositories.delete(repo, "ana", ABOUT.at)
    again = hub.repositories.create("dataset", "ana", "r", ABOUT, {})
    assert hub.history.resolve(again.number, "main") != head
    with pytest.raises(HubFault):
        hub.history.resolve(again.number, head)
    with hub.database.reading() as connection:
        audited = connection.execute("SELECT user, action, subject, at FROM audit").fetchall()
    assert [tuple(row) for row in audited] == [("ana", "delete", "dataset ana/r", ABOUT.at)]
    hub.close()
