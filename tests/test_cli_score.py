"""``rexrank score`` and ``rexrank validate`` as processes: exit codes and what goes where."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rexrank
from rexrank.cli.score import _option

SECRET = "Axolotl"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Predictions and references of two invented studies."""
    (tmp_path / "p.csv").write_text(f"study_id,report\na,Lungs clear.\nb,{SECRET} sign.\n")
    records = {"a": {"section_findings": "Lungs clear."}, "b": {"section_findings": "Mass."}}
    (tmp_path / "r.json").write_text(json.dumps(records))
    return str(tmp_path / "p.csv"), str(tmp_path / "r.json")


def rexrank_command(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "rexrank", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_table_for_people(files: tuple[str, str]) -> None:
    done = rexrank_command("score", files[0], "--references", files[1])
    assert done.returncode == 0
    assert "bleu2 ↑" in done.stdout
    assert (
        f"  green: needs the judge GREEN-radllama2-7b, which rexrank {rexrank.__version__} does not run" in done.stdout
    )
    assert "bleu2|conv:published|tok:rexrank|prep:findings-ref|v:" in done.stdout
    assert SECRET not in done.stdout + done.stderr


def test_json_is_alone_on_stdout(files: tuple[str, str], tmp_path: Path) -> None:
    out = tmp_path / "card"
    words = ["--protocol", "plain", "--metrics", "bleu2,rouge", "--json", "--out", str(out)]
    done = rexrank_command("score", files[0], "--references", files[1], *words)
    assert done.returncode == 0
    card = json.loads(done.stdout)
    assert set(card["summary"]) == {"bleu2", "rouge_l", "rouge1", "rouge2", "rouge_l_f1"}
    assert rexrank.ScoreCard.load(out).summary == card["summary"]
    assert rexrank_command("score", files[0], "--references", files[1], "--quiet", "--json").stderr == ""


def test_options_reach_the_card(files: tuple[str, str]) -> None:
    words = ["--convention", "corrected", "--text-preparation", "both", "--protocol", "rexrank@2025-09", "--json"]
    card = json.loads(rexrank_command("score", files[0], "--references", files[1], *words).stdout)
    assert (card["convention"], card["protocol_version"]) == ("corrected", "2025-09-05")
    assert card["text_preparation"] == {"option": "both", "name": "findings-both", "version": 1}


@pytest.mark.parametrize("command", ["score", "validate"])
def test_every_fault_is_on_stderr(command: str, files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(f"study_id,report\na,{SECRET}\na,x\n" + "".join(f"e{n},x\n" for n in range(20)))
    done = rexrank_command(command, files[0], "--references", files[1])
    assert done.returncode == 1
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 22
    assert {line.split(": ")[1] for line in lines} == {"duplicate_key", "missing_ids", "extra_ids"}
    assert SECRET not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--metrics", "blue2"],
        ["--metrics", ","],
        ["--protocol", "nothing"],
        ["--track", "history"],
        ["--convention", "parity"],
        ["--text-preparation", "twice"],
        ["--unknown"],
    ],
)
def test_wrong_usage(files: tuple[str, str], words: list[str]) -> None:
    done = rexrank_command("score", files[0], "--references", files[1], *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_nothing_computed(files: tuple[str, str]) -> None:
    done = rexrank_command("score", files[0], "--references", files[1], "--metrics", "green")
    assert done.returncode == 3
    assert "green: needs the judge" in done.stdout
    assert "value" not in done.stdout


def test_keys_that_lack_the_same_thing_share_a_line(files: tuple[str, str]) -> None:
    done = rexrank_command("score", files[0], "--references", files[1], "--metrics", "sembscore,f1chexbert,rouge1")
    absent = [line for line in done.stdout.splitlines() if "(chexbert.pth) not found" in line]
    assert len(absent) == 1
    assert absent[0].startswith("  sembscore, f1chexbert_micro_14, f1chexbert_macro_14 and ")
    judge = "fineradscore,fineradscore_mean,inv_fineradscore"
    judged = rexrank_command("score", files[0], "--references", files[1], "--metrics", judge)
    assert "  fineradscore, fineradscore_mean, inv_fineradscore: needs the judge of FineRadScore" in judged.stdout


def test_an_option_reaches_the_metrics_that_have_it(files: tuple[str, str]) -> None:
    words = ("score", files[0], "--references", files[1], "--metrics", "bleu2,rouge1")
    done = rexrank_command(*words, "--option", "stemmer=False", "--option", "on_empty_prediction=undefined")
    assert done.returncode == 0
    assert "rouge1|conv:published|tok:alnum|stem:none" in done.stdout
    assert done.stdout.count("empty_prediction:undefined") == 2
    assert rexrank_command(*words, "--option", "stemmer").returncode == 2


@pytest.mark.parametrize(
    ("option", "said", "code"),
    [
        ("stemmer=maybe", "stemmer: expected True or False", 2),
        ("stemer=true", "unknown option", 2),
        ("on_empty_reference=zero", "on_empty_reference: expected one of", 2),
        ("uncertain=maybe", "uncertain: expected one of positive", 2),
        ("zero_division=2", "zero_division: expected 0 or 1, got 2", 2),
        ("df=nothere.json", "df: there is no file at the path given", 2),
        ("training=nothere.json", 'training: "nothere.json": there is no such file', 2),
    ],
)
def test_a_wrong_value_of_an_option_is_refused(files: tuple[str, str], option: str, said: str, code: int) -> None:
    metrics = "bleu2,rouge1,f1labels_micro_14,cider,report_in_training"
    done = rexrank_command("score", files[0], "--references", files[1], "--metrics", metrics, "--option", option)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_faulty_file_that_an_option_names_is_refused(files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "training.json").write_text('{"t": 3}')
    words = ["--metrics", "bleu2,report_in_training", "--option", f"training={tmp_path / 'training.json'}"]
    done = rexrank_command("score", files[0], "--references", files[1], *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert 'wrong_type: training.json, study "t"' in done.stderr


def test_an_option_that_calls_blank_predictions_an_error_names_them(files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("study_id,report\na,Lungs clear.\nb,\n")
    words = ["--option", "on_empty_prediction=error"]
    done = rexrank_command("score", files[0], "--references", files[1], *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert 'p.csv, study "b": the text is blank' in done.stderr


def test_the_value_of_an_option_is_json_or_a_word() -> None:
    deep = "[" * 100_000
    values = {"false": False, "3": 3, "null": None, "a=b": "a=b", "": "", "table.json": "table.json", deep: deep}
    values |= {"False": False, "True": True, "TRUE": True, "None": None, '"False"': "False", "Truest": "Truest"}
    for text, value in values.items():
        assert _option(f"df={text}") == ("df", value)


def test_a_card_that_cannot_be_written_in_the_end_costs_no_scores(files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "card" / "card.json").mkdir(parents=True)
    done = rexrank_command("score", files[0], "--references", files[1], "--out", str(tmp_path / "card"))
    assert done.returncode == 1
    assert "bleu2 ↑" in done.stdout
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize("below", ["", "/card", "/new/card"])
def test_a_folder_that_plainly_cannot_be_made_is_refused_first(files: tuple[str, str], below: str) -> None:
    done = rexrank_command("score", files[0], "--references", files[1], "--out", files[0] + below)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{files[0]}{below} cannot be written: a file is in its place" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused_first(files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir(mode=0o500)
    done = rexrank_command("score", files[0], "--references", files[1], "--out", str(tmp_path / "theirs" / "card"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot be written: no permission" in done.stderr


def test_the_table_says_what_else_there_is(files: tuple[str, str]) -> None:
    words = ("score", files[0], "--references", files[1])
    default = rexrank_command(*words).stdout
    assert default.count("docs/features.md") == 1
    said = re.search(r"`--metrics all` computes (\d+) more scores from texts", default)
    # Scores that are undefined for these reports are computed all the same, and counted.
    everything = json.loads(rexrank_command(*words, "--metrics", "all", "--json").stdout)["counts"]
    assert said is not None
    assert int(said[1]) == len(everything) - 1
    assert "--metrics all" not in rexrank_command(*words, "--metrics", "bleu2").stdout


def test_many_signatures_are_printed_where_asked_for(files: tuple[str, str]) -> None:
    words = ("score", files[0], "--references", files[1], "--protocol", "plain")
    short, long = rexrank_command(*words).stdout, rexrank_command(*words, "--signatures").stdout
    assert "|conv:" not in short
    assert "signatures: 15; --signatures prints them" in short
    assert long.count("|conv:published|") == 15


def test_notes_speak_of_one_in_the_singular(files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("study_id,report\na,\nb,x\n")
    records = {"a": {"findings": "Lungs clear."}, "b": {"impression": "Mass."}}
    (tmp_path / "r.json").write_text(json.dumps(records))
    done = rexrank_command("score", files[0], "--references", files[1], "--quiet")
    assert " · 1 study\n\nscore" in done.stdout
    assert "\n\nleft out: 1 study with no findings\n\n" in done.stdout
    assert "note: 1 prediction is empty" in rexrank_command("score", files[0], "--references", files[1]).stderr


def test_validate(files: tuple[str, str], tmp_path: Path) -> None:
    done = rexrank_command("validate", files[0], "--references", files[1])
    assert (done.returncode, done.stderr) == (0, "")
    assert "no fault: p.csv covers all 2 studies of the track findings" in done.stdout
    assert json.loads(rexrank_command("validate", files[0], "--references", files[1], "--json").stdout) == []
    (tmp_path / "p.csv").write_text("study_id,report\na,x\n")
    (tmp_path / "one.json").write_text(json.dumps({"a": {"findings": "x"}, "b": {"impression": "y"}}))
    one = rexrank_command("validate", files[0], "--references", str(tmp_path / "one.json")).stdout
    assert "covers its only study of the track findings; 1 more has no text" in one
    faults = json.loads(rexrank_command("validate", files[0], "--references", files[1], "--json").stdout)
    assert [(fault["code"], fault["study_id"]) for fault in faults] == [("missing_ids", "b")]


@pytest.mark.parametrize("command", ["score", "validate"])
def test_help_has_examples(command: str) -> None:
    done = rexrank_command(command, "--help")
    assert done.returncode == 0
    assert f"rexrank {command} predictions.csv --references references.json" in done.stdout


@pytest.mark.parametrize("command", ["score", "weights", "metrics"])
def test_help_fits_a_narrow_terminal(command: str) -> None:
    command_line = [sys.executable, "-m", "rexrank", command, "--help"]
    surroundings = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(command_line, capture_output=True, text=True, timeout=120, check=True, env=surroundings)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_folder_of_weights_that_is_not_there_is_wrong_usage(files: tuple[str, str]) -> None:
    words = ["--metrics", "bleu2", "--weights", "modles"]
    done = rexrank_command("score", files[0], "--references", files[1], *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'rexrank score: weights: there is no folder "modles"\n'


def test_import_is_lazy() -> None:
    heavy = ["numpy", "pyarrow", "pydantic", "torch", "transformers", "pandas", "yaml", "huggingface_hub"]
    program = f"import sys, rexrank; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
