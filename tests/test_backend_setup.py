"""The host's repos: cards that load_dataset understands, and what host.json says."""

from pathlib import Path
from typing import Any

import pytest
from hosting import Hosted, host, sentences
from waiting import last_json

from backend import scheduler, setup
from rexrank.board.host import load
from rexrank.board.tables import LEADERBOARD, PER_STUDY, SCORES
from rexrank.localhub import running
from rexrank.protocols import load as load_protocol

SCHEMAS = {"leaderboard": LEADERBOARD, "scores": SCORES, "per_study": PER_STUDY}


@pytest.fixture
def hosted(hub_server, tmp_path: Path) -> Hosted:
    return host(hub_server.url, hub_server.root, tmp_path)


LOAD = """
import json, sys
from datasets import load_dataset
repo, streaming, found = sys.argv[1], sys.argv[2] == "streaming", {}
for config in sys.argv[3:]:
    table = load_dataset(repo, config, split="train", streaming=streaming)
    found[config] = len(list(table)), table.column_names
assert load_dataset(repo, split="train", streaming=True).column_names == found["leaderboard"][1]
print(json.dumps(found))
"""


def loaded(hosted: Hosted, streaming: bool = False) -> dict[str, list[Any]]:
    """Rows and columns of each config, by load_dataset in another process because it reads the endpoint at import."""
    variables = {
        "HF_ENDPOINT": hosted.url,
        "HF_HOME": str(hosted.folder / "hf"),
        "NO_PROXY": "127.0.0.1",
        "PATH": "/bin",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "HF_HUB_DISABLE_XET": "1",
    }
    arguments = [hosted.repo("results"), "streaming" if streaming else "whole", *SCHEMAS]
    found: dict[str, list[Any]] = last_json(LOAD, arguments, None, variables, timeout=120)
    return found


@pytest.mark.slow
def test_load_dataset_works_before_and_after_the_first_result(hosted: Hosted) -> None:
    pytest.importorskip("datasets")
    hosted.benchmark("toy", sentences(6))
    with hosted.worker() as worker:
        worker.prepare()
        # The library refuses to hold a split of no rows in memory; it can only stream one.
        assert loaded(hosted, streaming=True) == {config: [0, schema.names] for config, schema in SCHEMAS.items()}
        hosted.submit(sentences(6, seed=1), "Acme", protocol="plain")
        assert scheduler.once(worker)
    metrics = load_protocol("plain").metrics
    rows = {"leaderboard": 1, "scores": len(metrics), "per_study": 6 * len(metrics)}
    assert loaded(hosted) == {config: [rows[config], schema.names] for config, schema in SCHEMAS.items()}


def test_the_host_tells_what_it_offers(hosted: Hosted) -> None:
    commit = hosted.benchmark("toy", sentences(6))
    hosted.hub.ensure_repo(hosted.repo("notes"))
    host_now = setup.ensure_repos(
        hosted.hub, hosted.config(metrics=("bleu2", "unheard"), protocols=("plain", "rexrank"))
    )
    assert host_now == load(hosted.user_hub, hosted.namespace)
    assert host_now.metrics == ["bleu2"]
    assert host_now.protocols == [load_protocol("plain").id, load_protocol("rexrank").id]
    assert list(host_now.benchmarks) == ["toy"]
    toy = host_now.benchmarks["toy"]
    assert (toy.tracks, toy.split, toy.revision, toy.licence, toy.public) == (
        {"findings": 6},
        "test",
        commit,
        "cc0-1.0",
        True,
    )
    assert host_now.protocol(None) == host_now.protocol("plain") == load_protocol("plain").id
    assert host_now.protocol("plain@999") is None


def test_setting_up_again_changes_nothing(hosted: Hosted) -> None:
    hosted.benchmark("toy", sentences(6))
    setup.ensure_repos(hosted.hub, hosted.config())
    heads = [hosted.hub.head(hosted.repo(name)) for name in setup.OWN_REPOS]
    setup.ensure_repos(hosted.hub, hosted.config())
    assert [hosted.hub.head(hosted.repo(name)) for name in setup.OWN_REPOS] == heads


def test_a_card_that_the_host_rewrote_is_kept(hosted: Hosted) -> None:
    setup.ensure_repos(hosted.hub, hosted.config())
    hosted.hub.commit(hosted.repo("status"), {"README.md": b"# Ours\n"}, "Our card")
    setup.ensure_repos(hosted.hub, hosted.config())
    assert hosted.hub.view(hosted.repo("status"), ["README.md"]).files["README.md"] == b"# Ours\n"


def test_only_changed_data_moves_the_revision_of_a_benchmark(hosted: Hosted) -> None:
    first = hosted.benchmark("toy", sentences(6))
    setup.ensure_repos(hosted.hub, hosted.config())
    hosted.hub.commit(hosted.repo("toy"), {"README.md": b"# A better card\n"}, "Card")
    assert setup.refresh_host(hosted.hub, hosted.config()).benchmarks["toy"].revision == first
    second = hosted.benchmark("toy", sentences(7))
    assert setup.refresh_host(hosted.hub, hosted.config()).benchmarks["toy"].revision == second


def test_a_benchmark_made_private_is_private_at_the_next_look_and_public_again_after(hosted: Hosted) -> None:
    hosted.benchmark("toy", sentences(6))
    seen = []
    for private in (False, True, False):
        hosted.hub.api.update_repo_settings(hosted.repo("toy"), private=private, repo_type="dataset")
        seen.append(setup.ensure_repos(hosted.hub, hosted.config()).benchmarks["toy"].public)
    assert seen == [True, False, True]


def test_a_repo_that_is_no_benchmark_is_looked_into_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def note(_method: str, path: str) -> None:
        asked.append(path)

    with running(tmp_path / "hub", fault=note) as server:
        hosted = host(server.url, server.root, tmp_path)
        hub = hosted.hub
        hub.ensure_repo(hosted.repo("notes"))
        assert list(setup.ensure_repos(hub, hosted.config()).benchmarks) == []
        asked.clear()
        assert list(setup.refresh_host(hub, hosted.config()).benchmarks) == []
        assert [path for path in asked if "/notes/" in path] == [f"/api/datasets/{hosted.repo('notes')}/refs"]
        hosted.benchmark("notes", sentences(6))
        assert list(setup.refresh_host(hub, hosted.config()).benchmarks) == ["notes"]


def test_a_benchmark_that_cannot_be_read_is_left_out(hosted: Hosted) -> None:
    hosted.benchmark("toy", sentences(6))
    hosted.benchmark("broken", sentences(6))
    hosted.hub.commit(hosted.repo("broken"), {"benchmark.yaml": b"tracks: [1, 2"}, "Broken")
    hosted.benchmark("hidden", sentences(6), private_repo=True)
    host_now = setup.ensure_repos(hosted.hub, hosted.config())
    assert sorted(host_now.benchmarks) == ["hidden", "toy"]
    assert not host_now.benchmarks["hidden"].public, "a private repo's references are nobody's business"
