"""The evaluate modules load anywhere, offline and in parallel, and give the numbers that their cards show."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from module_processes import CHECK, ROOT, environment, run

pytest.importorskip("evaluate", reason="the extra 'metrics' is not installed")

MODULES = ("bleu", "rouge")

COMBINE = r"""
import json, sys
import evaluate

together = evaluate.combine([evaluate.load(path) for path in sys.argv[1:]])
texts = ["Small left effusion.", "Lungs are clear."]
print(json.dumps(together.compute(predictions=texts, references=texts[::-1], convention="corrected")))
"""


@pytest.mark.parametrize("name", MODULES)
def test_a_copied_folder_works_offline_with_empty_caches(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere" / name
    shutil.copytree(ROOT / "evaluate_modules" / name, folder)
    # The current folder is the module's own: nothing in it may hide an installed package.
    result = run(CHECK, [str(folder)], folder, environment(tmp_path / "cache", HF_HUB_OFFLINE="1"))
    assert len(result["keys"]) >= 4


def test_a_relative_path_works_from_the_checkout(tmp_path: Path) -> None:
    run(CHECK, ["evaluate_modules/bleu"], ROOT, environment(tmp_path, HF_HUB_OFFLINE="1"))


def test_modules_combine(tmp_path: Path) -> None:
    paths = [str(ROOT / "evaluate_modules" / name) for name in MODULES]
    result = run(COMBINE, paths, tmp_path, environment(tmp_path / "cache", HF_HUB_OFFLINE="1"))
    assert {"bleu2", "coco_bleu4", "rouge_l", "rouge_l_f1", "bleu_signature", "rouge_signature"} <= set(result)


@pytest.mark.slow
def test_eight_processes_at_once_agree(tmp_path: Path) -> None:
    settings = environment(tmp_path / "cache", HF_HUB_OFFLINE="1")
    command = [sys.executable, "-c", CHECK, str(ROOT / "evaluate_modules" / "bleu")]
    workers = [
        subprocess.Popen(command, cwd=tmp_path, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    try:
        outputs = [worker.communicate(timeout=200) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait(timeout=10)
    assert [worker.returncode for worker in workers] == [0] * 8, [errors[-1000:] for _, errors in outputs]
    assert len({output for output, _ in outputs}) == 1


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_thin_and_safe_to_load(name: str) -> None:
    text = (ROOT / "evaluate_modules" / name / f"{name}.py").read_text(encoding="utf-8")
    imports = [line for line in text.splitlines() if line.startswith(("import ", "from "))]
    assert len(text.splitlines()) < 80
    assert {line.split()[1].split(".")[0] for line in imports} == {"evaluate", "rexrank"}
    # The loader takes a comment behind an import for an address, and reads inside ''' as code.
    assert not any("#" in line for line in imports)
    assert "'''" not in text
