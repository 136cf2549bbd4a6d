"""``rexrank strata``: exit codes, and what goes where."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import rexrank
from rexrank.cli import main

Run = Callable[..., tuple[int, str, str]]
SECRET = "Axolotl"
TEXTS = ["Lungs clear.", f"Small left effusion. {SECRET} sign.", "No edema.", "Heart is enlarged."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """References, two cards, and a table of scores."""
    place = tmp_path_factory.mktemp("strata")
    references = {
        f"s{number}": {"findings": TEXTS[number % 4], "labels_normal": (number + 1) % 2, "site": f"site {number % 2}"}
        for number in range(48)
    }
    (place / "references.json").write_text(json.dumps(references), encoding="utf-8")
    for name, texts in (
        ("normal", dict.fromkeys(references, "Lungs clear.")),
        ("half", {one: TEXTS[number % 4] if number > 24 else "No edema." for number, one in enumerate(references)}),
    ):
        metrics = ["bleu2", "rouge_l", "report_statistics"]
        card = rexrank.score(texts, place / "references.json", "plain", metrics=metrics, progress=False)
        card.save(place / name)
    rows = "".join(f"s{number},{number % 2},{number / 48}\n" for number in range(48))
    (place / "judged.csv").write_text(f"study_id,green,of_mine\n{rows}", encoding="utf-8")
    return place


@pytest.fixture
def strata_command(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command beside the files; gives its exit code, stdout and stderr."""
    monkeypatch.chdir(folder)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["strata", *words, "--references", "references.json", "--resamples", "500"])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_table_for_people(strata_command: Run) -> None:
    code, out, err = strata_command("half", "--keys", "bleu2")
    assert (code, err) == (0, "")
    assert "normal: human labels of references.json" in out
    assert "finding: rule labels" in out
    assert "bleu2 of half is " in out
    assert "by sex" in out.split("not there:")[1]
    assert SECRET not in out


def test_two_cards_as_json_alone_on_stdout(strata_command: Run) -> None:
    code, out, err = strata_command("normal/card.json", "half/", "--keys", "bleu2", "--by", "normal,site", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["systems"], found["set"], found["n"]) == (["normal", "half"], "references.json", 48)
    by_group = {one["stratum"]: one for one in found["strata"]}
    assert set(by_group) == {"all studies", "normal", "abnormal", "site 0", "site 1"}
    assert by_group["abnormal"]["difference"]["value"] > 0
    assert by_group["abnormal"]["contrast"]["family"] == 1
    assert SECRET not in out


def test_scores_of_other_programs_are_read_by_their_columns(strata_command: Run) -> None:
    code, out, err = strata_command("judged.csv", "--by", "site", "--markdown", "--names", "judge")
    assert (code, err) == (0, "")
    assert "### green" in out
    assert "### of\\_mine" in out


def test_a_hosts_setting_hides_what_is_small(strata_command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REXRANK_MIN_STRATUM", "30")
    _code, out, _err = strata_command("half", "--keys", "bleu2", "--by", "normal")
    assert "hidden, fewer than 30 studies: normal, abnormal" in out
    assert "--min-studies N shows groups of fewer studies" in out
    _code, out, _err = strata_command("half", "--keys", "bleu2", "--by", "normal", "--min-studies", "5")
    assert "hidden" not in out
    assert "--min-studies" not in out


def test_a_picture_is_written(strata_command: Run, tmp_path: Path) -> None:
    file = tmp_path / "strata.png"
    code, _out, err = strata_command("normal", "half", "--by", "normal", "--plot", str(file))
    assert (code, err) == (0, f"written: {file}\n")
    assert file.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["half", "normal", "half", "--names", "a,b,c"], 2, "one or two cards"),
        (["half", "judged.csv"], 2, "two score cards, or two files"),
        (["half", "--keys", "blue2"], 2, "unknown score or metric"),
        (["half", "--by", "colour"], 2, "by: expected some of"),
        (["half", "--track", "impression"], 2, "the card is of the track findings"),
        (["half", "--min-studies", "0"], 2, "minimum"),
        (["half", "--confidence", "95"], 2, "confidence"),
        (["judged.csv", "--track", "all"], 2, "track: expected"),
        (["nothing"], 1, "holds no readable card.json"),
        (["nothing.csv"], 1, "nothing.csv cannot be read"),
        (["half", "--benchmark", "iu-xry"], 1, "there is no benchmark"),
        (["judged.csv", "--keys", "absent"], 3, ""),
    ],
)
def test_what_cannot_be_done_is_said(strata_command: Run, words: list[str], code: int, reason: str) -> None:
    found, out, err = strata_command(*words)
    assert found == code
    assert reason in err
    assert code == 3 or not out


def test_studies_without_a_set_are_wrong_usage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["strata", str(folder / "half")]) == 2
    assert "--benchmark" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["strata", "reliance"])
def test_help_fits_a_terminal(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rexrank", command, "--help"],
        env={"COLUMNS": "80", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "Examples:" in done.stdout
