"""``rexrank analyse``: one page from folders of cards, and plain words where that cannot be."""

import json
from pathlib import Path

import pytest

import rexrank
from rexrank.cli import main

REFERENCES = {f"s{number}": f"Lungs clear. Nodule {'quokka ' * (number % 5)}{number} mm." for number in range(24)}
SYSTEMS = {
    "ant": {study: words.replace("Nodule", "Opacity") for study, words in REFERENCES.items()},
    "bee": dict.fromkeys(REFERENCES, "Lungs clear."),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cards of two systems on one benchmark, ``one/ant`` and ``one/bee``, with the files they were made of."""
    root = tmp_path_factory.mktemp("cards")
    (root / "refs.json").write_text(json.dumps(REFERENCES))
    for name, predictions in SYSTEMS.items():
        (root / f"{name}.json").write_text(json.dumps(predictions))
        card = rexrank.score(root / f"{name}.json", root / "refs.json", metrics=["bleu2", "rouge_l"], progress=False)
        card.save(root / "one" / name)
        card.save(root / "two" / name)
    return root


def run(folder: Path, *words: str) -> tuple[int, str]:
    """Exit code, and the page where one was written."""
    out = folder / "report.html"
    out.unlink(missing_ok=True)
    code = main(["analyse", *words, "--out", str(out)])
    return code, out.read_text(encoding="utf-8") if out.exists() else ""


def test_a_report_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, page = run(folder, str(folder / "one" / "ant"), str(folder / "one" / "bee"), "--baseline", "bee")
    assert code == 0
    assert page.startswith("<!doctype html>")
    assert "ant scores best: BLEU-2" in page
    assert "refs.json · findings" in page
    assert "quokka" not in page
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("report.html\n")


def test_quiet_says_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, str(folder / "one" / "ant"), "--quiet")[0] == 0
    assert capsys.readouterr().err == ""


def test_systems_are_called_by_their_folders_and_by_more_of_the_path_where_these_agree(folder: Path) -> None:
    page = run(folder, str(folder / "one" / "ant"), f"{folder}/two/ant/", str(folder / "two" / "bee"))[1]
    for name in ("one/ant", "two/ant", "bee"):
        assert f'<th scope="row">{name}</th>' in page


def test_names_and_benchmarks_can_be_given(folder: Path) -> None:
    cards = [str(folder / "one" / "ant"), str(folder / "two" / "ant")]
    page = run(folder, *cards, "--names", "ours,theirs", "--benchmark", "refs.json=iu-xray")[1]
    assert "iu-xray · findings" in page
    assert '<th scope="row">theirs</th>' in page


def test_lengths_come_from_the_files_that_were_scored(folder: Path) -> None:
    card = str(folder / "one" / "ant")
    assert "the cards do not say how long the texts are" in run(folder, card)[1]
    files = [str(folder / "refs.json"), str(folder / "ant.json")]
    page = run(folder, card, "--texts", *files)[1]
    assert "Left of the dashed line" in page
    assert "Mean words" in page


def test_the_published_tables_need_no_card(folder: Path) -> None:
    code, page = run(folder, "--published", "newest")
    assert code == 0
    assert "MoERad-IU" in page


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "name the folder of at least one score card"),
        (["one/ant", "--names", "a,b"], 2, "--names has 2 names for 1 cards"),
        (["one/ant", "--baseline", "dog"], 1, 'baseline "dog" is no card\'s name; these are ant'),
        (["one/ant", "one/bee", "--names", "a,a"], 1, 'are called "a"; give each a name'),
        (["nothing"], 1, "holds no readable card.json"),
        (["--published", "1999"], 1, 'no snapshot "1999"'),
        (["one/ant", "--texts", "one/bee/card.json"], 1, "no card was made of this file"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(folder)
    assert run(folder, *words) == (code, "")
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_another_ending_is_wrong_usage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", str(folder / "one" / "ant"), "--out", "report.pdf"]) == 2
    assert "end its name with .html" in capsys.readouterr().err


def test_a_page_that_cannot_be_written_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "file").write_text("")
    code = main(["analyse", str(folder / "one" / "ant"), "--out", str(folder / "file" / "a.html"), "--quiet"])
    assert code == 1
    assert "cannot be written" in capsys.readouterr().err


def test_help_has_examples_and_fits_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        main(["analyse", "--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert "rexrank analyse iu/* mimic/* --out report.html" in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_a_link_keeps_its_name_and_the_file_of_a_card_will_do(folder: Path) -> None:
    (folder / "ours").symlink_to(folder / "one" / "ant")
    code, page = run(folder, str(folder / "ours"), str(folder / "one" / "bee" / "card.json"))
    assert code == 0
    for name in ("ours", "bee"):
        assert f'<th scope="row">{name}</th>' in page
