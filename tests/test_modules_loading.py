"""The evaluate modules load anywhere, offline and in parallel, and give the numbers that their cards show."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from module_processes import CHECK, FOLDERS, MODULES, ROOT, RUNNING, environment, run

pytest.importorskip("evaluate", reason="the extra 'metrics' is not installed")

OFFLINE = {"HF_HUB_OFFLINE": "1"}


@pytest.mark.slow
def test_copied_folders_work_offline_with_empty_caches(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(FOLDERS, elsewhere)
    result = run(
        CHECK, [str(elsewhere / name) for name in RUNNING], tmp_path, environment(tmp_path / "cache", **OFFLINE)
    )
    assert tuple(result) == RUNNING
    assert all(one["keys"] for one in result.values())


@pytest.mark.slow
def test_eight_processes_at_once_agree(tmp_path: Path) -> None:
    settings = environment(tmp_path / "cache", **OFFLINE)
    # From the checkout, by the address that a user of the checkout would write.
    command = [sys.executable, "-c", CHECK, f"{FOLDERS / 'bleu'}=evaluate_modules/bleu"]
    workers = [
        subprocess.Popen(command, cwd=ROOT, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
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
    text = (FOLDERS / name / f"{name}.py").read_text(encoding="utf-8")
    imports = [line for line in text.splitlines() if line.startswith(("import ", "from "))]
    assert len(text.splitlines()) < 80
    assert {line.split()[1].split(".")[0] for line in imports} == {"evaluate", "rexrank"}
    # The loader takes a comment behind an import for an address, and reads inside ''' as code.
    assert not any("#" in line for line in imports)
    assert "'''" not in text
