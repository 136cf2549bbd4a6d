"""``rexrank audit`` as its users call it."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rexrank.cli import DONE, NOTHING_COMPUTED, REFUSED, WRONG_USAGE, main
from rexrank.validity.invented import reports
from rexrank.validity.paper import BROWSERS

TEXTS = reports(50)
HAS_BROWSER = any(map(shutil.which, BROWSERS))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a user stands: predictions, references and training reports."""
    references = {f"S{place}": text for place, text in enumerate(TEXTS[:20])}
    (tmp_path / "references.json").write_text(json.dumps(references))
    (tmp_path / "predictions.json").write_text(json.dumps(dict.fromkeys(references, TEXTS[0])))
    (tmp_path / "train.json").write_text(json.dumps({f"T{place}": text for place, text in enumerate(TEXTS[20:])}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


WORDS = ("audit", "predictions.json", "--references", "references.json", "--metrics", "bleu2", "--no-download")
QUICK = (*WORDS, "--stress-reports", "0", "--quiet")


def test_it_prints_four_answers_and_writes_the_page(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*WORDS, "--train", "train.json", "--name", "Ours"]) == DONE
    printed = capsys.readouterr()
    heads = [line for line in printed.out.splitlines() if line and not line.startswith(" ")]
    assert len(heads) == 4
    assert heads[2] == "How many different texts does it write? 1 for 20 studies"
    assert max(map(len, printed.out.splitlines())) < 80
    assert "written: audit.html" in printed.err
    html = (folder / "audit.html").read_text()
    assert "<title>Audit of Ours</title>" in html
    assert ">S3<" not in html


def test_ids_need_a_word_of_whoever_owns_the_files(folder: Path) -> None:
    assert main([*QUICK, "--public", "--out", "mine.html"]) == DONE
    assert ">S3<" in (folder / "mine.html").read_text()


@pytest.mark.parametrize("who", ["private", "public"])
def test_a_private_benchmark_shows_no_id(folder: Path, who: str) -> None:
    texts = json.loads((folder / "references.json").read_text())
    studies = [{"study_id": study, "findings": text, "context": None} for study, text in texts.items()]
    (folder / "mine/data").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(studies), folder / "mine/data/test.parquet")
    (folder / "mine/benchmark.yaml").write_text(f"name: mine\nreferences: {who}\n")
    words = ["audit", "predictions.json", "--benchmark", "mine", *QUICK[4:]]
    assert main(words) == DONE
    html = (folder / "audit.html").read_text()
    assert (">S3<" in html) == (who == "public")
    assert ("nobody said that studies of this set may be shown" in html) == (who == "private")


def test_json_holds_answers_and_no_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUICK, "--train", "train.json", "--json"]) == DONE
    out = capsys.readouterr().out
    found = json.loads(out)
    assert [one["verdict"] for one in found["answers"]][2] == "1 for 20 studies"
    assert found["over_floor"]["over_floor"][0]["score"] == "bleu2"
    assert found["stress"] is None
    assert found["not_computed"]["stress"] == "it was not asked for"
    assert not [text for text in TEXTS if text in out]


def test_stored_floors_are_taken(folder: Path) -> None:
    files = ("--references", "references.json", "--train", "train.json")
    assert main(["floor", *files, "--metrics", "bleu2", "--out", "floors", "--quiet"]) == DONE
    assert main([*QUICK, "--floors", "floors"]) == DONE
    assert "What the floors are" in (folder / "audit.html").read_text()


@pytest.mark.skipif(not HAS_BROWSER, reason="there is no Chromium")
def test_it_prints_on_paper(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUICK, "--pdf", "audit.pdf"]) == DONE
    assert (folder / "audit.pdf").read_bytes().startswith(b"%PDF-")
    assert capsys.readouterr().err == ""


def test_without_a_browser_the_page_is_there_and_the_way_out_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert main([*QUICK, "--pdf", "audit.pdf"]) == REFUSED
    assert "a PDF needs Chromium or Chrome" in capsys.readouterr().err
    assert (folder / "audit.html").is_file()
    assert not (folder / "audit.pdf").exists()


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["audit", "predictions.json"], "name the studies' --benchmark"),
        ([*QUICK, "--out", "audit.txt"], "end its name with .html"),
        ([*QUICK, "--pdf", "audit.ps"], "end its name with .pdf"),
        ([*WORDS, "--stress-reports", "1"], "give 0 for none"),
        ([*QUICK[:4], "--metrics", "bleu3"], "there is no metric"),
        ([*QUICK, "--protocol", "none"], "protocol"),
    ],
)
def test_wrong_usage_is_said(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], fault: str) -> None:
    assert main(words) == WRONG_USAGE
    assert fault in capsys.readouterr().err


def test_missing_predictions_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "predictions.json").write_text(json.dumps({"S0": "Clear lungs."}))
    assert main([*QUICK]) == REFUSED
    assert "S1" in capsys.readouterr().err
    assert not (folder / "audit.html").exists()


def test_nothing_computed_has_its_code(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rexrank.validity.audit.single_errors", tuple)
    words = ["radgraph_simple" if word == "bleu2" else word for word in QUICK]
    assert main(words) == NOTHING_COMPUTED
    assert "radgraph_simple" in capsys.readouterr().err
    assert not (folder / "audit.html").exists()


def test_a_page_that_cannot_be_written_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "file").write_text("")
    assert main([*QUICK, "--out", "file/audit.html"]) == REFUSED
    assert "file/audit.html cannot be written" in capsys.readouterr().err


def test_help_fits_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    printed = capsys.readouterr().out
    assert "Examples:" in printed
    assert max(map(len, printed.splitlines())) <= 80
