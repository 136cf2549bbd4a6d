"""``rexrank floor`` and ``rexrank score --floor``: exit codes, what goes where, and what is stored."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from rexrank.benchmarks import BenchmarkError
from rexrank.benchmarks.repository import push_floors
from rexrank.cli import main
from rexrank.hub import Hub, connect
from rexrank.localhub import accounts, running
from rexrank.terms import DESCRIPTION_FILE, REFERENCE_FILE
from rexrank.validity.floor_store import files

Run = Callable[..., tuple[int, str, str]]
SECRET = "Axolotl"
TEXTS = ["The lungs are clear.", f"Small left effusion. {SECRET} sign.", "No edema is seen.", "The heart is large."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Test and training reports, and predictions."""
    place = tmp_path_factory.mktemp("floor")
    for name, offset in (("test", 0), ("train", 1)):
        studies = {
            f"{name}{number}": {
                "findings": f"{TEXTS[(number + offset) % 4]} {TEXTS[number % 3]}",
                "context": f"Indication: {['cough', 'fever'][number % 2]} Comparison: None",
            }
            for number in range(20)
        }
        (place / f"{name}.json").write_text(json.dumps(studies), encoding="utf-8")
    said = "".join(f"test{number},{TEXTS[0]}\n" for number in range(20))
    (place / "predictions.csv").write_text(f"study_id,report\n{said}", encoding="utf-8")
    return place


@pytest.fixture
def command(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command beside the files; gives its exit code, stdout and stderr."""
    monkeypatch.chdir(folder)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(list(words))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


FLOOR = ("floor", "--references", "test.json", "--train", "train.json", "--protocol", "plain", "--metrics", "bleu2")
SCORE = ("score", "predictions.csv", "--references", "test.json", "--protocol", "plain", "--metrics", "bleu2")


def test_table_for_people(command: Run) -> None:
    code, out, err = command(*FLOOR, "--quiet")
    assert (code, err) == (0, "")
    assert "* the floor to beat: best on 20 training reports" in out
    assert "most frequent report" in out
    assert SECRET not in out


def test_json_and_files(command: Run, tmp_path: Path) -> None:
    code, out, err = command(*FLOOR, "--json", "--out", str(tmp_path / "floors"))
    assert code == 0
    found = json.loads(out)
    assert json.loads((tmp_path / "floors/floors.json").read_text()) == {"schema_version": 1, **found}
    assert found["chosen"]["bleu2"] in [one["slug"] for one in found["floors"]]
    assert f"written: {tmp_path / 'floors'}" in err
    assert SECRET not in out + err
    # Nobody said that these training reports are public.
    assert not list((tmp_path / "floors").rglob("*.jsonl"))
    code, out, _ = command(*SCORE, "--floor", str(tmp_path / "floors"), "--quiet")
    assert code == 0
    assert "over the blind floor" in out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("floor",), 2, "name a --benchmark"),
        (("floor", "--benchmark", "nowhere"), 1, "there is no benchmark"),
        (("floor", "--references", "test.json"), 1, "give a file of training reports"),
        ((*FLOOR, "--track", "impression"), 1, "no training study has a text for the track impression"),
        ((*FLOOR, "--track", "lungs"), 2, "track"),
        ((*FLOOR[:-1], "bleu9"), 2, "bleu9"),
        ((*FLOOR, "--by", "shoe size"), 1, "shoe size"),
        ((*FLOOR, "--protocol", "nobody"), 2, "nobody"),
        ((*FLOOR[:-1], "report_words"), 3, "no value of it is better"),
        ((*SCORE, "--floor", "nowhere"), 1, "there is no benchmark"),
        ((*SCORE, "--train", "nowhere.json"), 2, "training"),
        ((*SCORE, "--track", "impression", "--floor", "iu-xray"), 1, "impression"),
    ],
)
def test_what_cannot_be_done_is_said(command: Run, words: tuple[str, ...], code: int, said: str) -> None:
    found, out, err = command(*words, "--quiet")
    assert (found, out) == (code, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_a_card_beside_another_card_and_training(command: Run, tmp_path: Path) -> None:
    code, out, err = command(*SCORE, "--train", "train.json", "--json", "--quiet")
    assert (code, err) == (0, "")
    assert json.loads(out)["diversity"]["predictions"]["in_training"] == 0
    assert "over_floor" not in json.loads(out)
    command(*SCORE, "--out", str(tmp_path / "card"), "--quiet")
    code, out, err = command(*SCORE, "--floor", str(tmp_path / "card"), "--json")
    (row,) = json.loads(out)["over_floor"]
    assert (row["difference"], row["verdict"], row["n"]) == (0.0, "undecided", 20)
    assert json.loads(out)["no_floor"] == {}
    assert "note: only 1 distinct text among 20 predictions" in err


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running(tmp_path_factory.mktemp("hub")) as server:
        accounts.add_user(server.root, "anna")
        yield connect(server.url, accounts.create_token(server.root, "anna", role="write"))


@pytest.fixture(scope="module")
def stored(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    benchmark = tmp_path_factory.mktemp("stored")
    (benchmark / DESCRIPTION_FILE).write_text(yaml.safe_dump({"name": "mine", "references": "public"}))
    studies = json.loads((folder / "test.json").read_text())
    (benchmark / REFERENCE_FILE).parent.mkdir()
    pq.write_table(
        pa.Table.from_pylist([{"study_id": name, **one} for name, one in studies.items()]), benchmark / REFERENCE_FILE
    )
    place = benchmark / "floors"
    words = ("--benchmark", str(benchmark), "--train", str(folder / "train.json"))
    assert main(["floor", *words, "--protocol", "plain", "--metrics", "bleu2", "--out", str(place), "--quiet"]) == 0
    return files(place)


def _benchmark(hub: Hub, repo_id: str, references: str, private: bool = False) -> None:
    hub.ensure_repo(repo_id, private=private)
    description = {"name": "mine", "references": references, "redistribution": True}
    hub.commit(repo_id, {"benchmark.yaml": yaml.safe_dump(description).encode()}, "Benchmark")


def test_floors_go_into_the_repo_of_their_benchmark(hub: Hub, stored: dict[str, bytes]) -> None:
    _benchmark(hub, "anna/mine", "public")
    commit = push_floors(hub, "anna/mine", "findings", stored)
    held = hub.view("anna/mine", ["floors/"], commit).files
    assert held["floors/findings/floors.json"] == stored["floors.json"]
    assert "floors/findings/floor-constant-report/predictions.jsonl" in held
    assert push_floors(hub, "anna/mine", "findings", stored) == commit


def test_texts_of_private_benchmarks_stay_where_they_are(hub: Hub, stored: dict[str, bytes]) -> None:
    hub.ensure_repo("anna/nothing")
    with pytest.raises(BenchmarkError, match="holds no benchmark"):
        push_floors(hub, "anna/nothing", "findings", stored)
    _benchmark(hub, "anna/private", "private", private=True)
    with pytest.raises(BenchmarkError, match="these floors hold texts"):
        push_floors(hub, "anna/private", "findings", stored)
    scores = {path: content for path, content in stored.items() if not path.endswith(".jsonl")}
    assert push_floors(hub, "anna/private", "findings", scores)
    _benchmark(hub, "anna/open", "private")
    with pytest.raises(BenchmarkError, match="can be read by everybody"):
        push_floors(hub, "anna/open", "findings", scores)
