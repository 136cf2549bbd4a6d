"""The layout tells the story: which part may import which, and what must not exist."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import rexrank

ROOT = Path(__file__).resolve().parents[1]

COMMON = {"errors", "environment", "files", "layout", "lazy", "network", "processes", "terms"}
BASE = COMMON | {"reports", "protocols"}
# METEOR and the rule labeller are run by the metrics that need them; encoders and judges never are.
FORMULAS = BASE | {"statistics", "metrics", "labels", "external"}
MAY_IMPORT = {
    "rexrank/reports": COMMON | {"hub", "reports"},
    "rexrank/protocols": BASE,
    "rexrank/statistics": BASE | {"statistics"},
    "rexrank/labels": BASE | {"labels"},
    "rexrank/external": BASE | {"external"},
    "rexrank/metrics": FORMULAS,
    "rexrank/hub": COMMON | {"hub"},
    "rexrank/encoders": BASE | {"encoders", "hub"},
    "rexrank/localhub": COMMON | {"localhub"},
    "rexrank/scoring": FORMULAS | {"scoring", "encoders"},
    "rexrank/board": FORMULAS | {"scoring", "hub", "board"},
    "rexrank/modules": FORMULAS | {"scoring", "encoders", "hub", "modules"},
    "rexrank/verification": FORMULAS | {"encoders", "scoring", "verification"},
    "rexrank/published": FORMULAS | {"board", "published"},
    "rexrank/experts": FORMULAS | {"experts"},
    "rexrank/figures": COMMON | {"figures"},
    "rexrank/analysis": FORMULAS | {"scoring", "published", "figures", "comparison", "analysis"},
    "rexrank/comparison": FORMULAS | {"scoring", "figures", "comparison"},
    "rexrank/rewards": FORMULAS | {"encoders", "scoring", "rewards"},
    "rexrank/validity": FORMULAS
    | {"scoring", "hub", "board", "benchmarks", "comparison", "figures", "analysis", "published", "validity"},
    "rexrank/benchmarks": FORMULAS | {"scoring", "hub", "board", "benchmarks"},
}


def _sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def _imported(path: Path) -> Iterator[str]:
    """Dotted names that a file imports anywhere, those for type checkers included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 or "evaluate_modules" in path.parts, f"{path} imports relatively"
            module = node.module or ""
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("folder", sorted(MAY_IMPORT))
def test_arrows_point_down_only(folder: str) -> None:
    assert _sources(folder), f"{folder} is empty"
    for path in _sources(folder):
        parts = {name.split(".")[1] for name in _imported(path) if name.startswith("rexrank.")}
        package = {
            part for part in parts if (ROOT / "rexrank" / part).is_dir() or (ROOT / f"rexrank/{part}.py").exists()
        }
        assert package <= MAY_IMPORT[folder], f"{path.relative_to(ROOT)} imports {package - MAY_IMPORT[folder]}"


def test_the_library_imports_neither_backend_nor_space() -> None:
    for path in _sources("rexrank"):
        roots = {name.split(".")[0] for name in _imported(path)}
        assert not roots & {"backend", "space", "app"}, path


def test_the_board_never_imports_torch() -> None:
    for path in [*_sources("space"), ROOT / "app.py"]:
        roots = {name.split(".")[0] for name in _imported(path)}
        assert not roots & {"torch", "transformers", "backend"}, path


def test_nothing_hides_an_evaluate_module() -> None:
    assert not (ROOT / "evaluate_modules" / "__init__.py").exists()
    for folder in (ROOT / "rexrank").iterdir():
        assert not (folder / f"{folder.name}.py").exists(), f"evaluate.load('rexrank/{folder.name}') would load it"


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == rexrank.__version__
    assert f"version: {rexrank.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_every_dependency_is_pinned_to_a_tested_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    pinned = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    }
    names = {name.split(">")[0].split("<")[0].split("=")[0].split("[")[0].lower().replace("_", "-") for name in wanted}
    assert names <= pinned, f"constraints.txt lacks {sorted(names - pinned)}"


def test_no_machine_path_stands_in_the_sources() -> None:
    for path in [*ROOT.glob("*"), *ROOT.glob("docs/*"), *_sources("rexrank"), *_sources("backend"), *_sources("space")]:
        if path.suffix in {".py", ".md", ".toml", ".txt", ".yaml"} or path.name == "Makefile":
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"(^|[^\w.])[/](work|root|home)[/]", text), path
