"""``rexrank reliance`` on files and on cards: exit codes, and what goes where."""

import csv
import json
from pathlib import Path

import pytest

import rexrank
from rexrank.cli import main

SECRET = "Axolotl"
TEXTS = ["Lungs clear.", f"Small left effusion. {SECRET} sign.", "No edema.", "Heart is enlarged."]
REFERENCES = {f"s{place}": TEXTS[place % 4] for place in range(24)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """References, predictions with three kinds of images, and cards of two of them."""
    place = tmp_path_factory.mktemp("reliance")
    (place / "references.json").write_text(json.dumps(REFERENCES), encoding="utf-8")
    shuffled = dict(zip(REFERENCES, [*[*REFERENCES.values()][1:], TEXTS[0]], strict=True))
    for name, texts in (
        ("right", REFERENCES),
        ("shuffled", shuffled),
        ("blank", dict.fromkeys(REFERENCES, TEXTS[0])),
    ):
        with (place / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("study_id", "report"), *texts.items()])
        if name != "blank":
            card = rexrank.score(texts, place / "references.json", "plain", metrics=["bleu2"], progress=False)
            card.save(place / name)
    return place


@pytest.fixture(autouse=True)
def _inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


PLAIN = ["--references", "references.json", "--protocol", "plain", "--metrics", "bleu2", "--resamples", "500"]


def test_files_are_scored_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reliance", "right.csv", "shuffled.csv", "blank.csv", *PLAIN]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "right image against shuffled" in printed.out
    assert "right image against blank" in printed.out
    assert "same report as with the right image: 25.0% of studies with a blank image" in printed.out
    assert printed.out.splitlines()[-2].startswith("The model looks at the image: bleu2 over 24 studies")
    assert SECRET not in printed.out


def test_cards_need_no_references(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reliance", "right", "shuffled/card.json", "--json", "--resamples", "500"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n"], found["same_texts"]) == (24, {})
    assert found["reliance"][0]["verdict"] == "looks"


def test_two_files_may_be_right_and_blank(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reliance", "blank.csv", "blank.csv", "--other", "blank", *PLAIN, "--markdown"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("No sign that the model looks at the image: bleu2 over 24 studies is exactly that")
    assert "### right image against blank" in printed


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["right.csv", "shuffled.csv"], 2, "--references"),
        (["right", "shuffled.csv", *PLAIN], 2, "and not both"),
        (["right.csv", "blank.csv", "blank.csv", "--other", "blank", *PLAIN], 2, "two files"),
        (["right.csv", "shuffled.csv", *PLAIN, "--track", "all"], 2, "track: expected"),
        (["right.csv", "shuffled.csv", *PLAIN, "--protocol", "nobody"], 2, "nobody"),
        (["right", "shuffled", "--keys", "blue2"], 2, "unknown score"),
        (["right.csv", "nothing.csv", *PLAIN], 1, "nothing.csv"),
        (["right.csv", "shuffled.csv", "--benchmark", "iu-xry"], 1, "there is no benchmark"),
        (["right", "shuffled", "--keys", "rouge_l"], 3, ""),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], code: int, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reliance", *words]) == code
    printed = capsys.readouterr()
    assert reason in printed.err
    assert code == 3 or not printed.out
