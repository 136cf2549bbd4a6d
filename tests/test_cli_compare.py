"""``rexrank compare`` as a process: exit codes, and what goes where."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import rexrank
from rexrank.cli import main

SECRET = "Axolotl"
TEXTS = ["Lungs clear.", "Small left effusion.", f"{SECRET} sign.", "Heart is enlarged.", "No edema.", "Mass, new."]
REFERENCES = {f"s{number}": text for number, text in enumerate(2 * TEXTS)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three cards of one set, and one of another."""
    place = tmp_path_factory.mktemp("cards")
    exact = dict(REFERENCES)
    for name, predictions in (
        ("normal", dict.fromkeys(REFERENCES, "Lungs clear.")),
        ("exact", exact),
        ("half", {**exact, "s0": "x", "s3": f"{SECRET} again."}),
    ):
        card = rexrank.score(predictions, REFERENCES, "plain", metrics=["bleu2", "rouge_l"], progress=False)
        card.save(place / name)
    other = rexrank.score(exact, {**REFERENCES, "s0": "Clear."}, "plain", metrics=["bleu2"], progress=False)
    other.save(place / "other")
    return place


def compare_command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rexrank", "compare", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_table_for_people(folder: Path) -> None:
    done = compare_command(folder, "normal", "exact/", "half/card.json", "--keys", "bleu2,rouge_l")
    assert (done.returncode, done.stderr) == (0, "")
    assert "exact against normal" in done.stdout
    assert "half against normal" in done.stdout
    assert "10/2/0" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("In bleu2 over 12 studies, exact is better than normal by ")
    assert SECRET not in done.stdout


def test_json_is_alone_on_stdout(folder: Path) -> None:
    words = ["exact", "normal", "--baseline", "normal", "--keys", "bleu2", "--json", "--studies", "600"]
    done = compare_command(folder, *words)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["baseline"], found["systems"]) == ("normal", ["exact"])
    assert found["comparisons"][0]["exact"] is True
    assert found["comparisons"][0]["p"] == 2 / 2**10
    assert found["planned_studies"] == 600


def test_markdown_and_names(folder: Path) -> None:
    done = compare_command(folder, "normal", "exact", "--names", "old, new", "--markdown", "--test", "bootstrap")
    assert done.returncode == 0
    assert "### new against old" in done.stdout
    assert "bootstrap test" in done.stdout


def test_a_picture_is_written(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "differences.png"
    done = compare_command(folder, "normal", "exact", "--plot", str(file))
    assert (done.returncode, done.stderr) == (0, f"written: {file}\n")
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_cannot_be_written_does_not_cost_the_table(folder: Path) -> None:
    done = compare_command(folder, "normal", "exact", "--plot", "differences.bmp")
    assert done.returncode == 1
    assert "exact against normal" in done.stdout
    assert "differences.bmp" in done.stderr
    assert ".svg" in done.stderr


def test_cards_that_may_not_be_compared_are_refused(folder: Path) -> None:
    done = compare_command(folder, "normal", "other")
    assert (done.returncode, done.stdout) == (1, "")
    assert "other was scored against other references than normal" in done.stderr
    assert "score both against the same file" in done.stderr


@pytest.mark.parametrize("name", ["nothing", "."])
def test_folders_without_a_card_are_refused(folder: Path, name: str) -> None:
    done = compare_command(folder, "normal", name)
    assert (done.returncode, done.stdout) == (1, "")
    assert "holds no readable card.json" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["normal"],
        ["normal", "exact", "--keys", "blue2"],
        ["normal", "exact", "--keys", ","],
        ["normal", "exact", "--baseline", "nobody"],
        ["normal", "exact", "--names", "one"],
        ["normal", "exact", "--names", "one,one"],
        ["normal", "exact", "--test", "student"],
        ["normal", "exact", "--resamples", "0"],
        ["normal", "exact", "--studies", "1"],
        ["normal", "exact", "--studies", "1" + 400 * "0"],
        ["normal", "exact", "--confidence", "95"],
        ["normal", "exact", "--json", "--markdown"],
    ],
)
def test_wrong_usage(
    folder: Path, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    try:
        code = main(["compare", *words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    assert printed.err


def test_nothing_to_compare_is_3(folder: Path) -> None:
    done = compare_command(folder, "normal", "exact", "--keys", "green")
    assert done.returncode == 3
    assert "No score could be compared." in done.stdout


def test_help_fits_a_terminal(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rexrank", "compare", "--help"],
        env={"COLUMNS": "80", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "Examples:" in done.stdout
