"""The unmodified huggingface_hub client works with the local Hub."""

import hashlib
import os
import warnings
from pathlib import Path

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationCopy, CommitOperationDelete, HfApi
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile, RepoFolder
from localhub_fixtures import HubServer

CARD = b"---\nlicense: mit\ntags: [radiology]\nlanguage: [en]\n---\n# Card\n"


@pytest.fixture
def api(hub_server: HubServer) -> HfApi:
    """The client of a user who owns what the tests make."""
    return HfApi(hub_server.url, token=hub_server.user("client-ana"))


def make(api: HfApi, name: str, kind: str = "dataset") -> str:
    return api.create_repo(f"client-ana/{name}", repo_type=kind).repo_id


def status_of(raised: pytest.ExceptionInfo[HfHubHTTPError]) -> int:
    return int(raised.value.response.status_code)


def test_whoami_names_user_organisations_and_role(hub_server: HubServer) -> None:
    token = hub_server.user("client-org-member", role="read")
    hub_server.organisation("client-org", {"client-org-member": "admin"})
    who = HfApi(hub_server.url, token=token).whoami()
    assert who["name"] == "client-org-member"
    assert [(org["name"], org["roleInOrg"]) for org in who["orgs"]] == [("client-org", "admin")]
    assert who["auth"]["accessToken"]["role"] == "read"


def test_a_new_repo_has_a_first_commit_on_main(api: HfApi) -> None:
    repo = make(api, "new")
    assert api.list_repo_files(repo, repo_type="dataset") == [".gitattributes"]
    assert [commit.title for commit in api.list_repo_commits(repo, repo_type="dataset")] == ["initial commit"]
    assert [ref.name for ref in api.list_repo_refs(repo, repo_type="dataset").branches] == ["main"]


@pytest.mark.parametrize("kind", ["model", "dataset", "space"])
def test_create_upload_download_and_delete(api: HfApi, tmp_path: Path, kind: str) -> None:
    sdk = "gradio" if kind == "space" else None
    repo = api.create_repo(f"client-ana/cycle-{kind}", repo_type=kind, space_sdk=sdk).repo_id
    content = os.urandom(100_000)
    commit = api.upload_file(path_or_fileobj=content, path_in_repo="a/b.bin", repo_id=repo, repo_type=kind)
    path = api.hf_hub_download(repo, "a/b.bin", repo_type=kind, cache_dir=tmp_path)
    assert Path(path).read_bytes() == content
    assert commit.oid in path
    api.delete_file("a/b.bin", repo_id=repo, repo_type=kind)
    assert not api.file_exists(repo, "a/b.bin", repo_type=kind)
    assert api.file_exists(repo, "a/b.bin", repo_type=kind, revision=commit.oid)
    api.delete_repo(repo, repo_type=kind)
    assert not api.repo_exists(repo, repo_type=kind)


def test_create_says_that_a_repo_exists(api: HfApi) -> None:
    repo = make(api, "twice")
    with pytest.raises(HfHubHTTPError) as raised:
        api.create_repo(repo, repo_type="dataset")
    assert status_of(raised) == 409
    assert api.create_repo(repo, repo_type="dataset", exist_ok=True).repo_id == repo


def test_awkward_file_names_survive(api: HfApi, tmp_path: Path) -> None:
    repo = make(api, "names")
    names = [
        "häll/ünï cödé.txt",
        "per%2Fcent #?&.txt",
        "日本/レポート.txt",
        "a+b=c;d,e'f.txt",
        "x" * 250,
        "dot./.hidden",
    ]
    operations = [CommitOperationAdd(name, name.encode()) for name in names]
    api.create_commit(repo, operations, commit_message="names", repo_type="dataset")
    folder = Path(api.snapshot_download(repo, repo_type="dataset", cache_dir=tmp_path))
    assert {name: (folder / name).read_text() for name in names} == {name: name for name in names}
    listed = {item.path for item in api.list_repo_tree(repo, "häll", repo_type="dataset")}
    assert listed == {"häll/ünï cödé.txt"}


def test_folder_with_large_empty_and_small_files(api: HfApi, tmp_path: Path) -> None:
    repo = make(api, "folder")
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    files = {"large.txt": os.urandom(11_000_000), "deep/empty.parquet": b"", "deep/x.parquet": b"PAR1", "y.json": b"{}"}
    for name, content in files.items():
        (source / name).write_bytes(content)
    api.upload_folder(repo_id=repo, folder_path=source, repo_type="dataset")
    infos = {item.path: item for item in api.get_paths_info(repo, list(files), repo_type="dataset")}
    assert {path: item.lfs is not None for path, item in infos.items() if isinstance(item, RepoFile)} == {
        "large.txt": True,
        "deep/empty.parquet": False,
        "deep/x.parquet": True,
        "y.json": False,
    }
    folder = Path(api.snapshot_download(repo, repo_type="dataset", cache_dir=tmp_path / "cache"))
    assert all((folder / name).read_bytes() == content for name, content in files.items())


def test_infos_tell_git_and_lfs_ids(api: HfApi) -> None:
    repo = make(api, "ids", "model")
    api.upload_file(path_or_fileobj=b"hello\n", path_in_repo="hello.txt", repo_id=repo)
    api.upload_file(path_or_fileobj=b"PAR1", path_in_repo="x.parquet", repo_id=repo)
    info = api.repo_info(repo, files_metadata=True)
    siblings = {item.rfilename: item for item in info.siblings or []}
    # `printf 'hello\n' | git hash-object --stdin`
    assert siblings["hello.txt"].blob_id == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert siblings["x.parquet"].lfs is not None
    assert siblings["x.parquet"].lfs.sha256 == hashlib.sha256(b"PAR1").hexdigest()
    metadata = api.get_hf_file_metadata(url=f"{api.endpoint}/{repo}/resolve/main/x.parquet")
    assert metadata.etag == siblings["x.parquet"].lfs.sha256


def test_unchanged_content_is_dropped_by_the_client(api: HfApi) -> None:
    repo = make(api, "unchanged")
    first = api.upload_file(path_or_fileobj=b"1", path_in_repo="a", repo_id=repo, repo_type="dataset")
    large = api.upload_file(path_or_fileobj=b"PAR1", path_in_repo="a.parquet", repo_id=repo, repo_type="dataset")
    assert large.oid != first.oid
    for name, content in (("a", b"1"), ("a.parquet", b"PAR1")):
        again = api.upload_file(path_or_fileobj=content, path_in_repo=name, repo_id=repo, repo_type="dataset")
        assert again.oid == large.oid


def test_a_stale_parent_is_refused(api: HfApi) -> None:
    repo = make(api, "stale")
    head = api.repo_info(repo, repo_type="dataset").sha
    assert head is not None
    short = api.create_commit(
        repo, [CommitOperationAdd("a", b"1")], commit_message="1", parent_commit=head, repo_type="dataset"
    )
    with pytest.raises(HfHubHTTPError) as raised:
        api.create_commit(
            repo, [CommitOperationAdd("a", b"2")], commit_message="2", parent_commit=head, repo_type="dataset"
        )
    assert status_of(raised) == 412
    api.create_commit(
        repo, [CommitOperationAdd("a", b"3")], commit_message="3", parent_commit=short.oid[:7], repo_type="dataset"
    )
    assert len(api.list_repo_commits(repo, repo_type="dataset")) == 3


def test_commit_applies_all_operations_or_none(api: HfApi) -> None:
    repo = make(api, "whole")
    api.upload_file(path_or_fileobj=b"1", path_in_repo="old", repo_id=repo, repo_type="dataset")
    with pytest.raises(EntryNotFoundError):
        api.create_commit(
            repo,
            [CommitOperationAdd("new", b"1"), CommitOperationDelete("missing")],
            commit_message="half",
            repo_type="dataset",
        )
    assert api.list_repo_files(repo, repo_type="dataset") == [".gitattributes", "old"]


def test_copy_and_delete_of_folders(api: HfApi) -> None:
    repo = make(api, "copies")
    add = [CommitOperationAdd("d/a.parquet", b"PAR1"), CommitOperationAdd("d/b.txt", b"b")]
    api.create_commit(repo, add, commit_message="add", repo_type="dataset")
    copies = [CommitOperationCopy("d/a.parquet", "e/a.parquet"), CommitOperationCopy("d/b.txt", "e/b.txt")]
    api.create_commit(repo, copies, commit_message="copy", repo_type="dataset")
    api.delete_folder("d", repo_id=repo, repo_type="dataset")
    assert api.list_repo_files(repo, repo_type="dataset") == [".gitattributes", "e/a.parquet", "e/b.txt"]


def test_branches_and_tags_with_slashes(api: HfApi) -> None:
    repo = make(api, "branches")
    api.create_branch(repo, branch="feature/x", repo_type="dataset")
    on_branch = api.upload_file(
        path_or_fileobj=b"q", path_in_repo="q", repo_id=repo, repo_type="dataset", revision="feature/x"
    )
    assert api.file_exists(repo, "q", repo_type="dataset", revision="feature/x")
    assert not api.file_exists(repo, "q", repo_type="dataset")
    api.create_tag(repo, tag="v/1", revision="feature/x", repo_type="dataset")
    assert api.repo_info(repo, repo_type="dataset", revision="v/1").sha == on_branch.oid
    with pytest.raises(HfHubHTTPError) as raised:
        api.create_branch(repo, branch="feature/x", repo_type="dataset")
    assert status_of(raised) == 409
    api.create_branch(repo, branch="feature/x", repo_type="dataset", exist_ok=True)
    api.delete_branch(repo, branch="feature/x", repo_type="dataset")
    api.delete_tag(repo, tag="v/1", repo_type="dataset")
    refs = api.list_repo_refs(repo, repo_type="dataset", include_pull_requests=True)
    assert ([ref.name for ref in refs.branches], refs.tags, refs.pull_requests) == (["main"], [], [])
    assert api.file_exists(repo, "q", repo_type="dataset", revision=on_branch.oid)
    with pytest.raises(RevisionNotFoundError):
        api.delete_tag(repo, tag="v/1", repo_type="dataset")
    with pytest.raises(HfHubHTTPError) as raised:
        api.delete_branch(repo, branch="main", repo_type="dataset")
    assert status_of(raised) == 403


def test_missing_things_raise_the_matching_errors(api: HfApi, tmp_path: Path) -> None:
    repo = make(api, "missing")
    with pytest.raises(EntryNotFoundError):
        api.hf_hub_download(repo, "nope.txt", repo_type="dataset", cache_dir=tmp_path)
    with pytest.raises(RevisionNotFoundError):
        api.hf_hub_download(repo, ".gitattributes", repo_type="dataset", revision="nope", cache_dir=tmp_path)
    with pytest.raises(RepositoryNotFoundError):
        api.repo_info("client-ana/never-made", repo_type="dataset")
    with pytest.raises(EntryNotFoundError):
        list(api.list_repo_tree(repo, "no/folder", repo_type="dataset"))
    assert not api.revision_exists(repo, "nope", repo_type="dataset")
    assert api.get_paths_info(repo, ["nope"], repo_type="dataset") == []


def test_tree_tells_last_commits_and_folders(api: HfApi) -> None:
    repo = make(api, "tree")
    first = api.upload_file(path_or_fileobj=b"1", path_in_repo="d/e/one", repo_id=repo, repo_type="dataset")
    second = api.upload_file(path_or_fileobj=b"2", path_in_repo="d/two", repo_id=repo, repo_type="dataset")
    tree = {item.path: item for item in api.list_repo_tree(repo, repo_type="dataset", recursive=True, expand=True)}
    assert list(tree) == [".gitattributes", "d", "d/e", "d/e/one", "d/two"]
    assert isinstance(tree["d"], RepoFolder)
    last = {path: item.last_commit.oid for path, item in tree.items() if item.last_commit}
    assert (last["d"], last["d/e"], last["d/e/one"], last["d/two"]) == (second.oid, first.oid, first.oid, second.oid)


def test_long_listings_and_histories_are_paged(api: HfApi) -> None:
    repo = make(api, "pages")
    operations = [CommitOperationAdd(f"many/{number:04}", b"%d" % number) for number in range(1203)]
    api.create_commit(repo, operations, commit_message="many", repo_type="dataset")
    assert len(list(api.list_repo_tree(repo, "many", repo_type="dataset"))) == 1203
    assert len(list(api.list_repo_tree(repo, repo_type="dataset", recursive=True, expand=True))) == 1205
    # More commits than one page, and than lie between two stored snapshots of the tree.
    for number in range(70):
        api.upload_file(path_or_fileobj=b"%d" % number, path_in_repo="n", repo_id=repo, repo_type="dataset")
    commits = api.list_repo_commits(repo, repo_type="dataset")
    assert len(commits) == 72
    assert len({commit.commit_id for commit in commits}) == 72
    assert api.file_exists(repo, "n", repo_type="dataset", revision=commits[0].commit_id)
    assert not api.file_exists(repo, "n", repo_type="dataset", revision=commits[70].commit_id)


def test_private_repos_show_only_to_their_people(hub_server: HubServer, api: HfApi) -> None:
    hub_server.user("client-team-reader")
    hub_server.organisation("client-team", {"client-ana": "write", "client-team-reader": "read"})
    repo = api.create_repo("client-team/secret", repo_type="dataset", private=True).repo_id
    api.upload_file(path_or_fileobj=b"1", path_in_repo="a", repo_id=repo, repo_type="dataset")
    reader = HfApi(hub_server.url, token=hub_server.user("client-team-reader"))
    assert reader.repo_info(repo, repo_type="dataset").private
    with pytest.raises(HfHubHTTPError) as raised:
        reader.upload_file(path_or_fileobj=b"2", path_in_repo="a", repo_id=repo, repo_type="dataset")
    assert status_of(raised) == 403
    for token in (hub_server.user("client-stranger"), False):
        other = HfApi(hub_server.url, token=token)
        assert not other.repo_exists(repo, repo_type="dataset")
        assert [item.id for item in other.list_datasets(author="client-team")] == []
        with pytest.raises(RepositoryNotFoundError):
            other.hf_hub_download(repo, "a", repo_type="dataset")
    assert [item.id for item in reader.list_datasets(author="client-team")] == [repo]
    api.update_repo_settings(repo, private=False, repo_type="dataset")
    assert HfApi(hub_server.url, token=False).repo_exists(repo, repo_type="dataset")


def test_gated_repos_show_their_card_but_no_data(hub_server: HubServer, api: HfApi, tmp_path: Path) -> None:
    repo = make(api, "gated")
    for name, content in (("README.md", CARD), ("data.txt", b"1")):
        api.upload_file(path_or_fileobj=content, path_in_repo=name, repo_id=repo, repo_type="dataset")
    api.update_repo_settings(repo, gated="manual", repo_type="dataset")
    other = HfApi(hub_server.url, token=hub_server.user("client-outsider"))
    assert other.repo_info(repo, repo_type="dataset").gated == "manual"
    assert Path(other.hf_hub_download(repo, "README.md", repo_type="dataset", cache_dir=tmp_path)).read_bytes() == CARD
    with pytest.raises(GatedRepoError):
        other.hf_hub_download(repo, "data.txt", repo_type="dataset", cache_dir=tmp_path)
    with pytest.raises(GatedRepoError):
        other.auth_check(repo, repo_type="dataset")
    api.auth_check(repo, repo_type="dataset")


def test_read_tokens_and_foreign_namespaces_cannot_write(hub_server: HubServer, api: HfApi) -> None:
    repo = make(api, "guarded")
    reading = HfApi(hub_server.url, token=hub_server.user("client-ana", role="read"))
    other = HfApi(hub_server.url, token=hub_server.user("client-other"))
    for refused in (reading, other):
        with pytest.raises(HfHubHTTPError) as raised:
            refused.upload_file(path_or_fileobj=b"1", path_in_repo="a", repo_id=repo, repo_type="dataset")
        assert status_of(raised) == 403
        with pytest.raises(HfHubHTTPError) as raised:
            refused.create_repo("client-ana/mine-now", repo_type="dataset")
        assert status_of(raised) == 403
        with pytest.raises(HfHubHTTPError) as raised:
            refused.delete_repo(repo, repo_type="dataset")
        assert status_of(raised) == 403


def test_an_admin_token_writes_everywhere(hub_server: HubServer, api: HfApi) -> None:
    repo = make(api, "administered")
    admin = HfApi(hub_server.url, token=hub_server.user("client-admin", role="admin"))
    admin.upload_file(path_or_fileobj=b"1", path_in_repo="a", repo_id=repo, repo_type="dataset")
    assert api.list_repo_commits(repo, repo_type="dataset")[0].authors == ["client-admin"]


def test_unknown_tokens_are_told_apart_from_missing_repos(hub_server: HubServer) -> None:
    with pytest.raises(HfHubHTTPError) as raised:
        HfApi(hub_server.url, token="hf_" + "x" * 48).repo_info("client-ana/any")
    assert not isinstance(raised.value, RepositoryNotFoundError)
    assert status_of(raised) == 401


def test_moved_repos_keep_their_history(api: HfApi) -> None:
    repo = make(api, "before")
    commit = api.upload_file(path_or_fileobj=b"1", path_in_repo="a", repo_id=repo, repo_type="dataset")
    api.move_repo(repo, "client-ana/after", repo_type="dataset")
    assert api.repo_info("client-ana/after", repo_type="dataset").sha == commit.oid
    assert not api.repo_exists(repo, repo_type="dataset")
    make(api, "taken")
    with pytest.raises(HfHubHTTPError) as raised:
        api.move_repo("client-ana/after", "client-ana/taken", repo_type="dataset")
    assert status_of(raised) == 409


def test_cards_give_tags_and_broken_ones_break_nothing(api: HfApi) -> None:
    repo = make(api, "cards")
    api.upload_file(path_or_fileobj=CARD, path_in_repo="README.md", repo_id=repo, repo_type="dataset")
    info = api.dataset_info(repo)
    assert info.tags == ["radiology", "license:mit", "language:en"]
    assert info.card_data is not None
    assert info.card_data.license == "mit"
    assert [item.id for item in api.list_datasets(search=repo, filter="license:mit")] == [repo]
    with pytest.raises(ValueError, match="line 2"):
        api.upload_file(
            path_or_fileobj=b"---\na: [\n---\n", path_in_repo="README.md", repo_id=repo, repo_type="dataset"
        )
    # Past the check, as another client could commit it.
    api.upload_file(path_or_fileobj=b"---\na: [\n---\n", path_in_repo="x.md", repo_id=repo, repo_type="dataset")
    api.create_commit(repo, [CommitOperationCopy("x.md", "README.md")], commit_message="c", repo_type="dataset")
    assert api.dataset_info(repo).tags == []


def test_listing_pages_sorts_and_searches(api: HfApi) -> None:
    names = [f"client-ana/listed-{number:02}" for number in range(5)]
    for name in names:
        api.create_repo(name)
    api.upload_file(path_or_fileobj=b"1", path_in_repo="a", repo_id=names[2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [item.id for item in api.list_models(search="listed-")] == names
        newest = [item.id for item in api.list_models(search="listed-", sort="last_modified")]
    assert newest[0] == names[2]
    first = next(iter(api.list_models(search="listed-02", full=True)))
    assert [item.rfilename for item in first.siblings or []] == [".gitattributes", "a"]
