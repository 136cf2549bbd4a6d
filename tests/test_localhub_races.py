"""Many writers at once: every parent has one child, and nothing is lost."""

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError
from localhub_fixtures import HubServer

from rexrank.localhub import accounts

WRITERS = 10
ROUNDS = 3


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """A Hub in a process of its own, on the store in ``root``; gives its address."""
    command = [sys.executable, "-m", "rexrank", "hub", "serve", "--root", str(root), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().split()[2]
        finally:
            server.terminate()
            server.wait(timeout=30)


def commit(api: HfApi, repo: str, name: str, parent: str | None) -> str | int:
    """Id of the new commit, or the status of its refusal."""
    operation = CommitOperationAdd(f"requests/{name}.json", name.encode())
    try:
        return api.create_commit(repo, [operation], commit_message=name, parent_commit=parent, repo_type="dataset").oid
    except HfHubHTTPError as error:
        return int(error.response.status_code)


def race(apis: list[HfApi], repo: str, name: str, parent: str | None) -> list[str | int]:
    """Answers to ten writers who commit at the same moment, spread over the given clients."""
    start = threading.Barrier(WRITERS, timeout=30)

    def write(number: int) -> str | int:
        start.wait()
        return commit(apis[number % len(apis)], repo, f"{name}-{number}", parent)

    with ThreadPoolExecutor(WRITERS) as pool:
        return list(pool.map(write, range(WRITERS)))


def check_races(apis: list[HfApi], repo: str) -> None:
    for round_number in range(ROUNDS):
        head = apis[0].repo_info(repo, repo_type="dataset").sha
        answers = race(apis, repo, f"strict-{round_number}", head)
        assert Counter(answer for answer in answers if isinstance(answer, int)) == {412: WRITERS - 1}
        (winner,) = (answer for answer in answers if isinstance(answer, str))
        assert apis[-1].repo_info(repo, repo_type="dataset").sha == winner
    free = race(apis, repo, "free", None)
    assert all(isinstance(answer, str) for answer in free)
    assert len(set(free)) == WRITERS
    commits = apis[0].list_repo_commits(repo, repo_type="dataset")
    assert len(commits) == 1 + ROUNDS + WRITERS
    files = [name for name in apis[-1].list_repo_files(repo, repo_type="dataset") if name.startswith("requests/")]
    assert len(files) == ROUNDS + WRITERS


def test_one_writer_wins_per_parent(hub_server: HubServer) -> None:
    api = HfApi(hub_server.url, token=hub_server.user("race-ana"))
    check_races([api], api.create_repo("race-ana/one", repo_type="dataset").repo_id)


def test_one_writer_wins_per_parent_across_server_processes(tmp_path: Path) -> None:
    accounts.add_user(tmp_path, "ana")
    token = accounts.create_token(tmp_path, "ana")
    with serving(tmp_path) as first, serving(tmp_path) as second:
        apis = [HfApi(url, token=token) for url in (first, second)]
        check_races(apis, apis[0].create_repo("ana/two", repo_type="dataset").repo_id)


def test_branches_do_not_hold_up_each_other(hub_server: HubServer) -> None:
    api = HfApi(hub_server.url, token=hub_server.user("race-ana"))
    repo = api.create_repo("race-ana/branches", repo_type="dataset").repo_id
    head = api.repo_info(repo, repo_type="dataset").sha
    api.create_branch(repo, branch="side", repo_type="dataset")
    api.upload_file(path_or_fileobj=b"1", path_in_repo="a", repo_id=repo, repo_type="dataset", revision="side")
    assert isinstance(commit(api, repo, "main", head), str)


def test_one_maker_wins_a_name(hub_server: HubServer) -> None:
    api = HfApi(hub_server.url, token=hub_server.user("race-ana"))

    def make(_: int) -> int:
        try:
            api.create_repo("race-ana/name", repo_type="dataset")
        except HfHubHTTPError as error:
            return int(error.response.status_code)
        return 200

    with ThreadPoolExecutor(WRITERS) as pool:
        assert Counter(pool.map(make, range(WRITERS))) == {200: 1, 409: WRITERS - 1}


def test_the_same_large_file_from_many_at_once(hub_server: HubServer) -> None:
    api = HfApi(hub_server.url, token=hub_server.user("race-ana"))
    content = b"same" * 500_000
    repos = [api.create_repo(f"race-ana/large-{number}", repo_type="dataset").repo_id for number in range(5)]

    def upload(repo: str) -> None:
        api.upload_file(path_or_fileobj=content, path_in_repo="x.bin", repo_id=repo, repo_type="dataset")

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(upload, repos))
    assert all(api.file_exists(repo, "x.bin", repo_type="dataset") for repo in repos)
    assert not list((hub_server.root / "incoming").iterdir())
