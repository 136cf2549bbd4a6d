"""Files from a Hub: addresses, the one file that is meant, and the Hub's refusals."""

import json
import socket
from collections.abc import Iterator

import pytest
from huggingface_hub import HfApi
from localhub_fixtures import HubServer

from rexrank.errors import RefusedInput
from rexrank.reports import Limits, choose_file, read_predictions, read_references

TEXTS = {"a": "Lungs clear.", "b": "Small effusion."}


@pytest.fixture(scope="module")
def hub(hub_server: HubServer) -> Iterator[HfApi]:
    """A Hub with a predictions repo of two revisions, in whose address HF_ENDPOINT points."""
    token = hub_server.user("sources")
    api = HfApi(endpoint=hub_server.url, token=token)
    api.create_repo("sources/preds", repo_type="dataset")
    for texts in ({"a": "Old."}, TEXTS):
        data = json.dumps(texts).encode()
        api.upload_file(
            path_or_fileobj=data, path_in_repo="predictions.json", repo_id="sources/preds", repo_type="dataset"
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", hub_server.url)
        patch.setenv("HF_TOKEN", token)
        yield api


def test_address_with_and_without_path_and_revision(hub: HfApi) -> None:
    commits = hub.list_repo_commits("sources/preds", repo_type="dataset")
    newest, old = commits[0].commit_id, commits[1].commit_id
    for address in ("hf://datasets/sources/preds", "hf://datasets/sources/preds@main/predictions.json"):
        predictions = read_predictions(address)
        assert predictions.texts == TEXTS
        assert predictions.source == f"hf://datasets/sources/preds@{newest}/predictions.json"
    assert read_predictions(f"hf://datasets/sources/preds@{old}").texts == {"a": "Old."}


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("hf://datasets/sources/nothing", "repo_not_found"),
        ("hf://datasets/sources/preds@nowhere", "revision_not_found"),
        ("hf://datasets/sources/preds/other.json", "file_missing"),
        ("hf://datasets/sources/preds/README.md", "wrong_columns"),
        ("hf://models/sources/preds", "file_missing"),
        ("hf://datasets/sources/..", "repo_not_found"),
    ],
)
def test_what_the_hub_refuses(hub: HfApi, address: str, code: str) -> None:
    with pytest.raises(RefusedInput) as caught:
        read_predictions(address)
    assert [problem.code for problem in caught.value.problems] == [code]


def test_an_unknown_token_is_said_so(hub: HfApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_unknown")
    with pytest.raises(RefusedInput, match="set HF_TOKEN to a valid one") as caught:
        read_predictions("hf://datasets/sources/preds")
    assert caught.value.problems[0].code == "gated"


@pytest.mark.parametrize("path", ["", "/predictions.json"])
def test_a_large_file_is_refused(hub: HfApi, path: str) -> None:
    with pytest.raises(RefusedInput, match="larger than the 10 bytes") as caught:
        read_predictions(f"hf://datasets/sources/preds{path}", Limits(file_bytes=10))
    assert str(caught.value.problems[0].file).endswith("/predictions.json")


def test_benchmark_repo_as_references(hub: HfApi) -> None:
    hub.create_repo("sources/bench", repo_type="dataset")
    rows = b"study_id,findings,impression\na,Lungs clear.,\n"
    for path in ("data/test.csv", "data/validation.csv"):
        hub.upload_file(path_or_fileobj=rows, path_in_repo=path, repo_id="sources/bench", repo_type="dataset")
    assert read_references("hf://datasets/sources/bench").studies["a"].findings == "Lungs clear."


def test_unreachable_hub_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(RefusedInput) as caught:
            read_predictions("hf://datasets/sources/preds/predictions.json")
    assert caught.value.problems[0].code == "hub_unavailable"


def test_slow_hub_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(RefusedInput, match="took more than") as caught:
            read_predictions("hf://datasets/sources/preds", Limits(download_seconds=0.2))
    assert caught.value.problems[0].code == "hub_unavailable"


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        (["README.md", ".gitattributes", "out.csv"], "out.csv"),
        (["notes.csv", "predictions.jsonl"], "predictions.jsonl"),
        (["data/test-00000-of-00001.parquet", "dataset_infos.json"], "data/test-00000-of-00001.parquet"),
    ],
)
def test_the_file_that_is_meant(files: list[str], chosen: str) -> None:
    assert choose_file(files, "predictions") == chosen


@pytest.mark.parametrize(("files", "words"), [(["README.md"], "no file"), (["a.csv", "b.csv"], "a.csv, b.csv")])
def test_no_file_can_be_meant(files: list[str], words: str) -> None:
    with pytest.raises(RefusedInput, match=words):
        choose_file(files, "predictions")
