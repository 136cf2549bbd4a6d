"""docs/add-a-metric.md, followed literally in a copy of the package: everything picks the new metric up by itself."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/add-a-metric.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"`((?:rexrank|evaluate_modules)/[\w/]+\.py)`:\n\n```python\n(.*?)```", PAGE, re.DOTALL))
COMMANDS = [line for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
METRIC, EXAMPLES = "rexrank/metrics/same_sides.py", "evaluate_modules/same_sides/tests.py"

PICKED_UP = """
import json
import backend.rules, space.rules
from rexrank.metrics import metrics
from rexrank.metrics.documentation import scores_table
from rexrank.protocols import load
from rexrank.scoring.plan import plan
from rexrank.validity.audit import single_errors
print(json.dumps({
    "file": metrics()["same_sides"].compute.__code__.co_filename,
    "all": "same_sides" in plan("all", load("plain")).keys,
    "table": scores_table(metrics()["same_sides"]),
    "audit": "same_sides" in single_errors(),
    "host": "same_sides" in backend.rules.rules("plain", None).metrics,
    "column": space.rules.score_column("same_sides", None).label,
}))
"""
MODULE = """
import json, runpy, sys
module = runpy.run_path("evaluate_modules/same_sides/same_sides.py")["SameSides"](cache_dir=sys.argv[1])
for case in runpy.run_path("evaluate_modules/same_sides/tests.py")["test_cases"]:
    result = module.compute(predictions=case["predictions"], references=case["references"], **case["options"])
    print(json.dumps({key: result[key] for key in case["result"]} == case["result"]))
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the page touches, with the metric's file in it."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("rexrank", "evaluate_modules", "examples", "backend", "space"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
    (folder / METRIC).write_text(FILES[METRIC], encoding="utf-8")
    return folder


def run(folder: Path, command: list[str]) -> str:
    settings = {**os.environ, "PYTHONPATH": str(folder), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def commands(start: str) -> list[str]:
    """The commands of the page that begin so; the package of the copy runs where the page calls the program."""
    found = [line for line in COMMANDS if line.startswith(start)]
    assert found, start
    return [re.sub(r"^rexrank ", "python -m rexrank ", line) for line in found]


def test_the_page_shows_both_files_and_runs_nothing_unknown() -> None:
    assert set(FILES) == {METRIC, EXAMPLES}
    known = (
        "rexrank metrics",
        "rexrank score",
        "rexrank stress",
        "pytest ",
        "cp ",
        "mv ",
        "sed ",
        "python -m rexrank.modules.cards",
    )
    assert all(line.startswith(known) for line in COMMANDS)


def test_the_command_line_lists_and_computes_it(checkout: Path) -> None:
    listed = json.loads(run(checkout, ["bash", "-c", *commands("rexrank metrics")]))
    assert "same_sides" in json.dumps(listed)
    run(checkout, ["bash", "-c", *commands("rexrank score")])
    card = json.loads((checkout / "same-sides/card.json").read_text(encoding="utf-8"))
    assert "same_sides" in {**card["summary"], **card["unavailable"]}
    assert card["signatures"]["same_sides"] == "same_sides|conv:published|v:1"


def test_the_stress_suite_says_what_it_sees(checkout: Path) -> None:
    printed = run(checkout, ["bash", "-c", *commands("rexrank stress")])
    assert re.search(r"^laterality_swap +[\d.]+ sees$", printed, re.MULTILINE)
    assert re.search(r"^severity_changed +[\d.]+ blind$", printed, re.MULTILINE)


def test_the_page_and_the_board_pick_it_up(checkout: Path) -> None:
    found = json.loads(run(checkout, [sys.executable, "-c", PICKED_UP]))
    assert found["file"] == str(checkout / METRIC)
    assert (found["all"], found["audit"], found["host"], found["column"]) == (True, True, True, "Same sides")
    assert "| `same_sides` | Share of studies whose reports name the same sides. | higher | 0 to 1 |" in found["table"]


def test_its_module_is_made_from_its_neighbour(checkout: Path) -> None:
    _make_module(checkout)
    card = (checkout / "evaluate_modules/same_sides/README.md").read_text(encoding="utf-8")
    assert "| `same_sides` | Share of studies whose reports name the same sides. |" in card
    assert "laterality" not in card


@pytest.mark.slow
def test_its_module_computes_the_worked_examples(checkout: Path, tmp_path: Path) -> None:
    pytest.importorskip("evaluate", reason="the extra 'metrics' is not installed")
    _make_module(checkout)
    assert run(checkout, [sys.executable, "-c", MODULE, str(tmp_path)]).split() == ["true"]


def _make_module(checkout: Path) -> None:
    """What the page's commands make, afresh."""
    shutil.rmtree(checkout / "evaluate_modules/same_sides", ignore_errors=True)
    for start in ("cp ", "mv ", "sed ", "python -m"):
        for line in commands(start):
            run(checkout, ["bash", "-c", line])
    (checkout / EXAMPLES).write_text(FILES[EXAMPLES], encoding="utf-8")


def test_the_metric_of_the_page_obeys_the_laws(checkout: Path) -> None:
    """One law of each kind; tests/test_metrics_laws.py has them all."""
    code = """
from math import isnan
from rexrank.metrics import compute
texts = ["Left effusion.", "", "Clear.", "Лёгкие без очагов.", "x " * 50_000]
for text in texts:
    (best,) = compute("same_sides", [text], [text], "corrected")["same_sides"].values
    assert best == 1 if text else isnan(best), text[:20]
assert compute("same_sides", ["", "Right."], ["Left.", "Left."])["same_sides"].values.tolist() == [0, 0]
"""
    run(checkout, [sys.executable, "-c", code])
