"""METEOR's Java program: hostile texts, deaths, threads, and no Java left behind."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from java_runtime import needs_java
from waiting import until

import rexrank
from rexrank.external import meteor
from rexrank.external.programs import ProgramFailed, Workers
from rexrank.metrics import compute
from rexrank.metrics.inputs import Unavailable

WORDS = ["the", "heart", "is", "normal", "in", "size", "no", "pleural", "effusion", "or", "scarring", "left", "lung"]


@pytest.fixture(scope="module")
def workers() -> Workers[meteor.Statistics]:
    """The programs that all calls of this process share; they start with the first test that asks them."""
    return meteor.shared_workers()


def invented(number: int, words: int) -> list[str]:
    generator = np.random.default_rng(number)
    return [" ".join(generator.choice(WORDS, words)) for _ in range(2)]


BREAKS = [
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\t",
    "\v",
    "\f",
    "\x00",
    "\x1c",
    "\x85",
    "\u2028",
    "\u2029",
    "\ud800",
    "|||",
    " ||| ",
]


@needs_java
@pytest.mark.slow
@pytest.mark.parametrize("prediction_too", [True, False], ids=["prediction", "reference"])
def test_whatever_could_break_a_line_is_a_space(prediction_too: bool) -> None:
    plain, hostile = "no acute rib fracture", [f"no acute{one}rib fracture{one}" for one in BREAKS]
    other = ["no rib fracture"] * len(BREAKS)
    left, right = (hostile, other) if prediction_too else (other, hostile)
    expected = meteor.statistics(*(([plain], [["no rib fracture"]]) if prediction_too else (other[:1], [[plain]])))
    assert (meteor.statistics(left, [[text] for text in right]) == expected).all()


@needs_java
@pytest.mark.slow
def test_hostile_texts_neither_stop_the_program_nor_shift_their_neighbours() -> None:
    hostile = [
        "",
        " \n ",
        "SCORE",
        "EVAL ||| 1.0 2.0",
        "||||||",
        "||",
        "| ||| |",
        "\"'`’“",
        "((([[[",
        "\\n \\x00 %s {0}",
        "🫁 🩻",
        "é e\u0301 \u202eabc\u202c \ufeff\u00ad",
        "肺 легкие है",
        "\x00\x01\x02",
        "1e308 -inf NaN 0x10",
        "word " * 20_000,
    ]
    predictions = [text for one in hostile for text in (one, "no rib fracture")]
    references = [[text] for one in hostile for text in ("rib fracture", one)]
    found = meteor.statistics(predictions, references)
    assert found.shape == (2 * len(hostile), meteor.COLUMNS)
    assert np.isfinite(found).all()
    assert (found[::2, 1] == 2).all()
    assert (found[1::2, 0] == 3).all()
    assert (found[::2, 0] == found[1::2, 1]).all()
    assert found[-2, 0] == 20_000
    assert found[:2].tolist() == [[0, 2] + [0] * 21, [3, 0, 1] + [0] * 20]


@needs_java
@pytest.mark.slow
def test_equal_studies_are_asked_about_once_and_every_study_has_its_row(
    workers: Workers[meteor.Statistics], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    ask = workers.ask
    monkeypatch.setattr(workers, "ask", lambda lines, copies: asked.extend(lines) or ask(lines, copies))
    rows = meteor.statistics(["scar", "right\nscar", "scar", "right scar"], [["scar"], ["scar"], ["scar"], ["scar"]])
    assert sorted(asked) == ["SCORE ||| scar ||| right scar", "SCORE ||| scar ||| scar"]
    assert (rows[0] == rows[2]).all()
    assert (rows[1] == rows[3]).all()
    assert rows[:2, 0].tolist() == [1, 2]


@needs_java
@pytest.mark.slow
def test_answers_depend_on_nothing_but_the_study_and_threads_do_not_mix_them() -> None:
    pairs = [invented(number, 5 + number % 40) for number in range(120)]
    predictions, references = [one for one, _ in pairs], [[other] for _, other in pairs]
    expected = meteor.statistics(predictions, references)
    order = np.random.default_rng(1).permutation(len(pairs))
    with ThreadPoolExecutor(2) as threads:
        shuffled = threads.submit(
            meteor.statistics, [predictions[at] for at in order], [references[at] for at in order]
        )
        alone = threads.submit(lambda: [meteor.statistics([predictions[at]], [references[at]])[0] for at in range(30)])
        assert (shuffled.result() == expected[order]).all()
        assert (np.array(alone.result()) == expected[:30]).all()


@needs_java
@pytest.mark.slow
def test_a_program_killed_in_mid_call_is_replaced_and_no_study_is_lost() -> None:
    pairs = [invented(number, 300) for number in range(16)]
    predictions, references = [one for one, _ in pairs], [[other] for _, other in pairs]
    # One copy only: a second one killed a moment later could have got the same study by then.
    own: Workers[meteor.Statistics] = Workers(meteor.program(), 1)
    try:
        expected = meteor.statistics(predictions, references, own)
        (pid,) = own.process_ids()
        killer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
        killer.start()
        found = meteor.statistics(predictions, references, own)
        killer.join()
        assert (found == expected).all()
        assert own.process_ids() != [pid]
    finally:
        own.close()


@needs_java
@pytest.mark.slow
def test_options_in_the_environment_of_java_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # In Turkish a small I has no dot, so nothing would match; with a second collector Java would not even start.
    monkeypatch.setenv("_JAVA_OPTIONS", "-Duser.language=tr -XX:+UseG1GC")
    own: Workers[meteor.Statistics] = Workers(meteor.program(), 1)
    try:
        (row,) = meteor.statistics(["RIB I"], [["rib i"]], own)
    finally:
        own.close()
    assert row[-2:].tolist() == [2, 2]


_STARTS = """
import os, sys
from rexrank.external import meteor
assert not meteor.shared_workers().process_ids()
meteor.statistics(["no rib fracture"], [["rib fracture"]])
assert "pycocoevalcap" not in sys.modules
print(meteor.shared_workers().process_ids()[0], flush=True)
"""


def is_gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes()


@needs_java
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks processes up in /proc")
@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), 9)"], ids=["exit", "kill -9"])
def test_no_java_outlives_its_parent(end: str) -> None:
    done = subprocess.run([sys.executable, "-c", _STARTS + end], stdout=subprocess.PIPE, timeout=250, check=False)
    assert done.returncode == (-9 if end else 0)
    pid = int(done.stdout)
    until(lambda: is_gone(pid))


def test_importing_the_metric_starts_nothing_and_imports_no_original() -> None:
    code = (
        "import sys, rexrank.metrics.meteor, rexrank.metrics.registry as registry\n"
        "registry.why_unavailable('meteor')\n"
        "assert 'pycocoevalcap' not in sys.modules\n"
        "assert 'subprocess' not in sys.modules or not sys.modules['subprocess']._active\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)


@pytest.mark.usefixtures("no_java")
def test_without_java_a_sentence_says_so_and_the_other_metrics_are_computed() -> None:
    reason = meteor.missing()
    assert reason is not None
    assert re.fullmatch(r"meteor runs a Java program, and there is no java on the PATH .*; install .*", reason)
    with pytest.raises(Unavailable, match="no java on the PATH"):
        compute("meteor", ["scar"], ["scar"])
    with pytest.raises(ProgramFailed, match="no java on the PATH"):
        meteor.statistics(["scar"], [["scar"]])
    card = rexrank.score(["scar"], ["scar"], protocol="plain", metrics=["bleu2", "meteor"])
    assert card.unavailable["meteor"] == reason
    assert card.summary.keys() == {"bleu2"}


@needs_java
@pytest.mark.usefixtures("no_java")
def test_java_home_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(Path(shutil.which("java", path=os.defpath) or "/usr/bin/java"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert meteor.missing() is None
    assert meteor.program().command[0] == str(tmp_path / "bin" / "java")


def test_without_the_package_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)
    reason = meteor.missing()
    assert reason is not None
    assert "pip install 'rexrank[meteor]'" in reason


def test_a_package_without_its_data_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "pycocoevalcap"
    (folder / "meteor").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "meteor" / "meteor-1.5.jar").touch()
    monkeypatch.delitem(sys.modules, "pycocoevalcap", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    reason = meteor.missing()
    assert reason is not None
    assert "meteor/data/paraphrase-en.gz" in reason


@needs_java
@pytest.mark.slow
def test_a_broken_jar_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "pycocoevalcap"
    (folder / "meteor" / "data").mkdir(parents=True)
    for name in ("__init__.py", "meteor/meteor-1.5.jar", "meteor/data/paraphrase-en.gz"):
        (folder / name).touch()
    monkeypatch.delitem(sys.modules, "pycocoevalcap", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ProgramFailed, match=r"METEOR 1.5 ended while it started; see whether `\S*java -version` works"):
        meteor.statistics(["scar"], [["scar"]])
