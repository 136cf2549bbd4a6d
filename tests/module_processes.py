"""Evaluate modules in processes with caches of their own, and in this one."""

import runpy
from pathlib import Path
from typing import Any

from waiting import last_json, surroundings

from rexrank.metrics.registry import metrics

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ROOT / "evaluate_modules"
MODULES = tuple(sorted(path.parent.name for path in FOLDERS.glob("*/README.md")))
# Those that start a program need it here, and time for it.
LIGHT = tuple(name for name in MODULES if not metrics()[name].missing)
RUNNING = tuple(name for name in MODULES if not (missing := metrics()[name].missing) or not missing())
CHECK = (ROOT / "tests" / "module_check.py").read_text(encoding="utf-8")


def environment(folder: Path, **more: str) -> dict[str, str]:
    """An empty cache and a home in which nobody, not even root, can write."""
    return surroundings("HF_", "XDG_") | {
        "HF_HOME": str(folder),
        "HOME": "/dev/null/home",
        "PYTHONPATH": str(ROOT),
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        **more,
    }


def run(code: str, arguments: list[str], cwd: Path, settings: dict[str, str]) -> Any:
    """Run code in a new interpreter and return the JSON of its last line."""
    return last_json(code, arguments, cwd, settings, timeout=300)


def module_class(name: str) -> type:
    """The class of a module, without the evaluate library's loader and its cache."""
    from rexrank.modules.checked import Checked

    found = runpy.run_path(str(FOLDERS / name / f"{name}.py"))
    (only,) = (
        one for one in found.values() if isinstance(one, type) and issubclass(one, Checked) and one is not Checked
    )
    return only


def cases(name: str) -> list[dict[str, Any]]:
    """The worked examples of a module."""
    found: list[dict[str, Any]] = runpy.run_path(str(FOLDERS / name / "tests.py"))["test_cases"]
    return found
