"""``rexrank metrics``: every score once, in the group that says how to get it."""

import json
import re
from pathlib import Path

import pytest

from rexrank.cli import main
from rexrank.metrics import metric_of, score_keys


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command prints."""
    assert main(["metrics", *words]) == 0
    return capsys.readouterr().out


def keys_in(text: str) -> list[str]:
    """Score keys of a piece of the list; words of sentences are none."""
    return [word for word in re.findall(r"\w+", text) if word in score_keys()]


def test_every_score_is_listed_and_those_of_questions_apart(capsys: pytest.CaptureFixture[str]) -> None:
    reports, answers = printed(capsys).split("for answers to questions, not part of --metrics all")
    assert set(keys_in(reports)) == {key for key in score_keys() if metric_of(key).task == "report"}
    assert set(keys_in(answers)) == {key for key in score_keys() if metric_of(key).task == "vqa"}


def test_how_to_get_them_stands_with_each_group(capsys: pytest.CaptureFixture[str]) -> None:
    here, absent = printed(capsys).split("not computed here")
    here, encoded = here.split("once the weights are here (`rexrank weights pull --for KEY`)")
    assert "bleu2 " in here
    assert "--metrics KEY,KEY` computes" in here
    assert "needs the option training" in here
    assert "radcliq_v1 ↓" in encoded
    assert encoded.count("(chexbert.pth) not found") == 1
    assert absent.count("computed from your own features in Python: docs/features.md") == 1
    assert "green ↑" in absent


def test_weights_that_are_here_move_scores_to_those_that_are_computed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, seeded_weights: Path
) -> None:
    monkeypatch.setenv("REXRANK_WEIGHTS", str(seeded_weights))
    text = printed(capsys)
    assert "once the weights are here" not in text
    here = text.split("from texts, once this is given")[0]
    assert {"radcliq_v1", "radgraph_partial", "bertscore", "ratescore", "srrbert_f1"} <= set(keys_in(here))


def test_lines_say_which_way_is_better(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys).splitlines()
    (bleu2,) = [line for line in lines if line.startswith("  bleu2 ")]
    (words,) = [line for line in lines if line.startswith("  report_words ")]
    assert "↑" in bleu2
    assert "↑" not in words


@pytest.mark.parametrize("columns", [80, 120])
def test_lines_fit_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    text = printed(capsys)
    assert max(map(len, text.splitlines())) < columns
    described = " ".join(text.split())
    assert all(one.description in described for key, one in score_keys().items() if key.startswith("rouge"))


def test_json_holds_every_score(capsys: pytest.CaptureFixture[str]) -> None:
    entries = json.loads(printed(capsys, "--json"))
    assert [entry["key"] for entry in entries] == list(score_keys())
