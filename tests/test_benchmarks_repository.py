"""The benchmark's dataset repo: stable bytes, the licence's terms, and readable by the real clients."""

import hashlib
import io
from contextlib import nullcontext
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from localhub_fixtures import HubServer
from module_processes import environment, run

from rexrank.benchmarks import Benchmark, BenchmarkError, BenchmarkStudy, iu_xray, openi, push, push_floor, repository
from rexrank.benchmarks.floors import Floor
from rexrank.cli import main
from rexrank.hub import Hub, connect


@pytest.fixture
def hub(hub_server: HubServer) -> Hub:
    return connect(hub_server.url, hub_server.user("benchmark-host"))


def _tiny(*texts: str) -> Benchmark:
    studies = tuple(
        BenchmarkStudy(f"s{n}", text, None, "Cough", None, (f"s{n}/0.png", f"s{n}/1.png"), f"s{n}/1.png")
        for n, text in enumerate(texts)
    )
    return Benchmark("tiny", "Tiny set", "test", studies, openi.LICENCE, "Invented reports.")


def test_the_data_file_has_the_declared_columns() -> None:
    benchmark = _tiny("Clear lungs.", "Large heart.")
    table = pq.read_table(io.BytesIO(repository.files(benchmark)["data/test.parquet"]))
    assert table.schema.equals(repository.schema())
    assert table.to_pylist()[1] == {
        "study_id": "s1",
        "findings": "Large heart.",
        "impression": None,
        "context": "Indication: Cough Comparison: None",
        "image_path": ["s1/0.png", "s1/1.png"],
        "key_image_path": "s1/1.png",
    }


def test_equal_studies_give_equal_files() -> None:
    assert repository.files(_tiny("Clear.")) == repository.files(_tiny("Clear."))
    assert _tiny("Clear.").content_sha256 != _tiny("Clear").content_sha256


def test_the_description_says_what_a_host_needs() -> None:
    found = yaml.safe_load(repository.files(iu_xray.load())["benchmark.yaml"])
    assert found["name"] == "iu-xray"
    assert found["tracks"] == {"findings": 590, "impression": 590, "report": 590}
    assert (found["licence"], found["references"]) == ("cc-by-nc-nd-4.0", "public")
    assert (found["modality"], found["language"]) == ("CXR", "en")
    assert "10.1093/jamia/ocv080" in found["attribution"]


def test_cards_carry_licence_and_attribution() -> None:
    benchmark = _tiny("Clear.")
    floor = Floor("Floor - x", "floor-x", "findings", {"s0": "Clear."}, "Made up.")
    for card in (repository.card(benchmark), repository.floor_card(floor, benchmark)):
        front = yaml.safe_load(card.split("---\n")[1])
        assert front["license"] == "cc-by-nc-nd-4.0"
        assert "Demner-Fushman" in card
        assert "https://creativecommons.org/licenses/by-nc-nd/4.0/" in card


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://127.0.0.1:7861", True),
        ("http://localhost", True),
        ("http://[::1]:80", True),
        ("http://127.8.8.8", True),
        ("https://huggingface.co", False),
        ("http://127.0.0.1.example.org", False),
        ("http://localhost.example.org", False),
        ("http://127.0.0.1@example.org", False),
        ("http://10.0.0.1:7861", False),
        ("http://0.0.0.0:7861", False),
        ("", False),
    ],
)
def test_only_this_machine_needs_no_confirmation(address: str, here: bool) -> None:
    with nullcontext() if here else pytest.raises(BenchmarkError):
        repository.check_licence(_tiny("Clear."), address, confirm_licence=False)


def test_elsewhere_the_licence_must_be_confirmed() -> None:
    # A reserved name that resolves nowhere: the refusal comes before any request.
    elsewhere = connect("https://hub.invalid", "hf_none")
    floor = Floor("Floor - x", "floor-x", "findings", {"s0": "Clear."}, "Made up.")
    with pytest.raises(BenchmarkError, match=r"CC BY-NC-ND 4\.0.*--confirm-licence"):
        push(elsewhere, _tiny("Clear."), "a/tiny")
    with pytest.raises(BenchmarkError, match="not on this machine"):
        push_floor(elsewhere, floor, _tiny("Clear."), "a/floor-x")
    repository.check_licence(_tiny("Clear."), "https://hub.invalid", confirm_licence=True)


def test_pushing_again_makes_no_commit(hub: Hub) -> None:
    first = push(hub, _tiny("Clear."), "benchmark-host/tiny")
    assert push(hub, _tiny("Clear."), "benchmark-host/tiny") == first
    assert push(hub, _tiny("Large."), "benchmark-host/tiny") != first


def test_other_bytes_of_the_same_studies_make_no_commit(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    first = push(hub, _tiny("Clear."), "benchmark-host/rewritten")
    write = pq.write_table
    monkeypatch.setattr(pq, "write_table", lambda table, where, **_: write(table, where, compression="none"))
    assert push(hub, _tiny("Clear."), "benchmark-host/rewritten") == first


def test_a_spoiled_description_is_written_anew(hub: Hub) -> None:
    repo = "benchmark-host/spoiled"
    push(hub, _tiny("Clear."), repo)
    hub.commit(repo, {"benchmark.yaml": b"a: [\xff"}, "spoil", hub.head(repo))
    commit = push(hub, _tiny("Clear."), repo)
    assert yaml.safe_load(hub.view(repo, ["benchmark.yaml"], commit).files["benchmark.yaml"])["name"] == "tiny"


def test_iu_xray_arrives_whole(hub: Hub, tmp_path: Path) -> None:
    benchmark = iu_xray.load()
    commit = push(hub, benchmark, "benchmark-host/iu-xray")
    path = tmp_path / "test.parquet"
    digest = hub.download("benchmark-host/iu-xray", "data/test.parquet", commit, path, 2**24)
    assert digest == hashlib.sha256(repository.files(benchmark)["data/test.parquet"]).hexdigest()
    assert pq.read_table(path).column("study_id").to_pylist() == [study.study_id for study in benchmark.studies]


def test_datasets_loads_the_repo(hub: Hub, hub_server: HubServer, tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="the extra 'metrics' is not installed")
    push(hub, _tiny("Clear.", "Large heart."), "benchmark-host/loaded")
    code = (
        "import json, datasets; split = datasets.load_dataset('benchmark-host/loaded', split='test');"
        "print(json.dumps([split.column_names, split['findings'][:], split['image_path'][1]]))"
    )
    settings = environment(tmp_path, HF_ENDPOINT=hub_server.url, HF_HUB_DISABLE_XET="1")
    columns, findings, images = run(code, [], tmp_path, settings)
    assert columns == ["study_id", "findings", "impression", "context", "image_path", "key_image_path"]
    assert findings == ["Clear.", "Large heart."]
    assert images == ["s1/0.png", "s1/1.png"]


def test_a_floor_arrives_with_its_card(hub: Hub) -> None:
    floor = Floor("Floor - x", "floor-x", "findings", {"s0": "Clear."}, "Made up.")
    commit = push_floor(hub, floor, _tiny("Clear."), "benchmark-host/floor-x")
    assert push_floor(hub, floor, _tiny("Clear."), "benchmark-host/floor-x") == commit
    held = hub.view("benchmark-host/floor-x", ["predictions.jsonl", "README.md"], commit)
    assert held.files["predictions.jsonl"] == floor.prediction_file()


def test_commands_build_and_push(
    hub_server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["benchmark", "build", "iu-xray", "--out", str(tmp_path / "iu")]) == 0
    written = {path.relative_to(tmp_path / "iu").as_posix() for path in (tmp_path / "iu").rglob("*") if path.is_file()}
    assert written == {"data/test.parquet", "benchmark.yaml", "README.md"}
    monkeypatch.setenv("HF_ENDPOINT", hub_server.url)
    monkeypatch.setenv("HF_TOKEN", hub_server.user("benchmark-cli"))
    assert main(["benchmark", "push", "iu-xray", "--repo", "benchmark-cli/iu"]) == 0
    assert "findings 590" in capsys.readouterr().out
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    assert main(["benchmark", "push", "iu-xray"]) == 1
    assert "--confirm-licence" in capsys.readouterr().err
