"""``rexrank stress``: exit codes, and what goes where."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rexrank.cli import main

SECRET = "Axolotl"
TEXTS = [
    f"The heart is normal. There is a small left effusion. {SECRET} sign.",
    f"No pneumothorax. Mild edema in the right lung. {SECRET} sign.",
    f"The lungs are clear. An 8 mm nodule, possibly a granuloma. {SECRET} sign.",
]


@pytest.fixture
def references(tmp_path: Path) -> Path:
    path = tmp_path / "references.json"
    path.write_text(json.dumps({f"s{number}": text for number, text in enumerate(TEXTS)}), encoding="utf-8")
    return path


def stress_command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rexrank", "stress", *words, "--resamples", "100"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_json_is_alone_on_stdout(references: Path) -> None:
    done = stress_command(references.parent, "--reports", references.name, "--metrics", "bleu2,laterality", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["n"], found["source"], list(found["scores"])) == (
        3,
        "findings of references.json",
        ["bleu2", "laterality"],
    )
    assert SECRET not in done.stdout


def test_table_and_picture(references: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    plot = references.parent / "stress.svg"
    words = ["stress", "--reports", str(references), "--metrics", "bleu2", "--resamples", "100", "--plot", str(plot)]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert "stress suite" in printed.out
    assert SECRET not in printed.out + printed.err
    assert "laterality swap" in plot.read_text(encoding="utf-8")


def test_markdown_of_invented_reports(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stress", "--n", "6", "--metrics", "bleu2", "--resamples", "100", "--markdown", "--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "| bleu2 ↑ |" in printed.out
    assert "6 reports: invented" in printed.out


def test_names_of_files_are_no_markup(references: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = references.rename(references.with_name("<b>|_*.json"))
    assert main(["stress", "--reports", str(named), "--metrics", "bleu2", "--resamples", "50", "--markdown"]) == 0
    printed = capsys.readouterr().out
    assert r"\<b\>\|\_\*.json" in printed
    assert "<b>" not in printed


def test_exit_codes(references: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stress", "--metrics", "nothing_like_it"]) == 2
    assert main(["stress", "--n", "1"]) == 2
    assert main(["stress", "--reports", str(references), "--metrics", "report_words"]) == 3
    references.write_text(json.dumps({"s1": "Clear.", "s2": "Clear."}), encoding="utf-8")
    assert main(["stress", "--reports", str(references), "--metrics", "bleu2"]) == 1
    assert "two different reports" in capsys.readouterr().err
    assert main(["stress", "--benchmark", "no-such-thing"]) == 1


def test_help_fits_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["stress", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert "Examples:" in lines
    assert max(map(len, lines)) <= 80
