"""``rexrank verify``: what it prints, writes and exits with."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from rexrank.cli import main
from rexrank.verification.verify import ORIGINALS, TEXTS

ROOT = Path(__file__).resolve().parents[1]
ORACLE = Path(os.environ.get("REXRANK_ORACLE") or ROOT / ".venv-oracle/bin/python")
RECORDED = ROOT / "tests/fixtures/originals.json"
# Answers as an interpreter with the originals would, with what they once gave.
REPLAY = """#!{python}
import json, sys
job = json.load(sys.stdin)
answer = json.load(open({answers!r}))[job["original"]]
print("@progress 1 2", file=sys.stderr)
json.dump(answer, sys.stdout)
"""


def replaying(folder: Path, spoil: int | None = None) -> str:
    """Path of a program that gives the recorded answer of CheXbert, perhaps with another label of one text."""
    answers = {"chexbert": json.loads(RECORDED.read_text(encoding="utf-8"))["chexbert"]}
    if spoil is not None:
        answers["chexbert"]["codes"][spoil][-1] += 2  # of No Finding there are only 0 and 1
    (folder / "answers.json").write_text(json.dumps(answers))
    program = folder / "python"
    program.write_text(REPLAY.format(python=sys.executable, answers=str(folder / "answers.json")))
    program.chmod(0o755)
    return str(program)


def verify(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command."""
    code = main(["verify", *words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_all_equal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["--python", replaying(tmp_path), "--seeded", "tiny", "--only", "chexbert"]
    code, out, err = verify(capsys, *words, "--out", str(tmp_path / "out.json"))
    assert code == 0
    assert "chexbert  f1chexbert 0.0.2" in out
    assert f"labels           {len(TEXTS)} of {len(TEXTS)} texts equal" in out
    assert out.endswith("1 of 1 originals equal\n")
    assert "chexbert: original" in err
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["weights"] == "seeded, tiny"
    assert [one["equal"] for one in written["originals"]] == [True]


def test_a_difference_is_named_by_its_number(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["--python", replaying(tmp_path, spoil=40), "--seeded", "tiny", "--only", "chexbert"]
    code, out, _ = verify(capsys, *words)
    assert code == 1
    assert f"{len(TEXTS) - 1} of {len(TEXTS)} texts equal" in out
    assert "DIFFERENT: text 40: No Finding: original" in out
    assert out.endswith("0 of 1 originals equal, 1 different or failed\n")


def test_json_alone_on_stdout(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["--python", replaying(tmp_path, spoil=40), "--seeded", "tiny", "--only", "chexbert", "--json"]
    code, out, _ = verify(capsys, *words)
    (original,) = json.loads(out)["originals"]
    (labels,) = [one for one in original["comparisons"] if one["what"] == "labels"]
    assert code == 1
    assert [place for place, _ in labels["differences"]] == [40]


def test_what_the_originals_gave_is_kept_for_tests(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["--python", replaying(tmp_path), "--seeded", "tiny", "--only", "chexbert"]
    shutil.copy(RECORDED, tmp_path / "kept.json")
    assert verify(capsys, *words, "--record", str(tmp_path / "kept.json"))[0] == 0
    assert (tmp_path / "kept.json").read_bytes() == RECORDED.read_bytes()


def test_an_environment_without_the_originals(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = verify(capsys, "--python", sys.executable, "--seeded", "tiny", "--only", "chexbert,radgraph-v1")
    assert code == 1
    assert out.count("FAILED: ModuleNotFoundError: No module named") == 2


def test_an_original_that_takes_too_long(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sleeper = tmp_path / "sleeper"
    sleeper.write_text("#!/bin/sh\nexec sleep 600\n")
    sleeper.chmod(0o755)
    words = ["--python", str(sleeper), "--seeded", "tiny", "--only", "chexbert", "--limit", "0.2"]
    code, out, _ = verify(capsys, *words)
    assert code == 1
    assert "FAILED: it took longer than 0.2 s" in out


@pytest.mark.timeout(120)
def test_a_wrapper_of_an_interpreter_ends_with_what_it_started(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wrapper = tmp_path / "wrapper"
    wrapper.write_text("#!/bin/sh\nsleep 600\n")  # as a process of its own, which holds the wrapper's stderr
    wrapper.chmod(0o755)
    words = ["--python", str(wrapper), "--seeded", "tiny", "--only", "chexbert", "--limit", "1"]
    code, out, _ = verify(capsys, *words)
    assert code == 1
    assert "FAILED: it took longer than 1 s" in out


def test_texts_on_which_the_original_fails_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["--python", replaying(tmp_path), "--seeded", "tiny", "--only", "chexbert"]
    answers = json.loads((tmp_path / "answers.json").read_text())
    for part in ("codes", "vectors"):
        answers["chexbert"][part][0] = {"error": "ValueError"}
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    code, out, _ = verify(capsys, *words)
    assert code == 1
    assert out.count("DIFFERENT: text 0: the original fails (ValueError)") == 2
    assert "the original fails (ValueError)" in out.partition("SembScore")[2]
    answers["chexbert"] |= {part: [{"error": "ValueError"}] * len(TEXTS) for part in ("codes", "vectors")}
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    code, out, _ = verify(capsys, *words)
    assert code == 1
    assert f"labels           0 of {len(TEXTS)} texts equal" in out


@pytest.mark.parametrize("answer", ["{}", "5", "[]"])
def test_an_answer_of_another_form_costs_its_original_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, answer: str
) -> None:
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\ncat > {tmp_path}/job\necho '{answer}'\n")
    program.chmod(0o755)
    code, out, _ = verify(capsys, "--python", str(program), "--seeded", "tiny", "--only", "chexbert,radgraph-v1")
    assert code == 1
    assert out.count("FAILED: ") == 2
    assert out.endswith("0 of 2 originals equal, 2 different or failed\n")


def test_a_record_of_something_else_is_refused_before_the_work(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "kept.json").write_text("no answers")
    code, out, err = verify(capsys, "--python", sys.executable, "--record", str(tmp_path / "kept.json"))
    assert (code, out) == (2, "")
    assert "kept.json holds no answers of originals; name another file" in err
    assert (tmp_path / "kept.json").read_text() == "no answers"


def test_a_limit_without_end(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = verify(
        capsys, "--python", sys.executable, "--seeded", "tiny", "--only", "chexbert", "--limit", "inf"
    )
    assert (code, err.count("Traceback")) == (1, 0)
    assert "FAILED: ModuleNotFoundError" in out


def test_a_program_that_is_no_interpreter(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = verify(capsys, "--python", "true", "--seeded", "tiny", "--only", "chexbert")
    assert code == 1
    assert "true gave no answer" in out


def test_missing_weights_are_no_difference(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    code, out, _ = verify(capsys, "--python", sys.executable, "--weights", str(tmp_path), "--only", "chexbert")
    assert code == 3
    assert "not compared: weights" in out
    assert out.endswith("nothing could be compared\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "--python PYTHON is missing"),
        (["--python", "no-such-python"], "no-such-python is no program here"),
        (["--python", sys.executable, "--only", "meteor"], 'there is no original "meteor"'),
        (["--python", sys.executable, "--limit", "0"], "--limit: give a number of seconds above 0"),
        (["--python", sys.executable, "--threads", "-1"], "--threads: give a number of threads, or 0"),
        (["--python", sys.executable, "--out", "/dev/null/verified.json"], "--out: /dev/null/verified.json cannot"),
        (["--python", sys.executable, "--record", "/"], "--record: / cannot be written"),
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], words: list[str], sentence: str) -> None:
    code, out, err = verify(capsys, *words)
    assert (code, out) == (2, "")
    assert sentence in err


def test_requirements_pin_what_belongs_together(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = verify(capsys, "--requirements")
    pinned = dict(line.split("==") for line in out.splitlines() if not line.startswith("#"))
    assert code == 0
    assert {name: pinned[name] for name in ("radgraph", "f1chexbert", "bert-score", "RaTEScore", "scikit-learn")} == {
        "radgraph": "0.1.18",
        "f1chexbert": "0.0.2",
        "bert-score": "0.3.13",
        "RaTEScore": "0.6.0",
        "scikit-learn": "1.7.2",
    }
    assert pinned["transformers"].startswith("4.")
    assert pinned["numpy"].startswith("1.")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not ORACLE.exists(), reason="the originals are not installed; `make oracle` installs them")
@pytest.mark.parametrize("name", ["chexbert", "bertscore-distilbert"])
def test_the_originals_themselves(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    words = ["--python", str(ORACLE), "--seeded", "tiny", "--only", name, "--threads", "1"]
    code, out, _ = verify(capsys, *words, "--record", str(tmp_path / "kept.json"))
    assert code == 0, out
    fresh, recorded = (json.loads(path.read_text()) for path in (tmp_path / "kept.json", RECORDED))
    assert set(fresh) == {name} <= set(ORIGINALS)
    assert shape(fresh[name]) == shape(recorded[name])


def shape(value: Any) -> Any:
    """What an answer consists of, without its numbers."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    return [shape(one) for one in value] if isinstance(value, list) else type(value).__name__
