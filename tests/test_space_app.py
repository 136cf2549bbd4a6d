"""What the Space installs and loads."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_board_loads_without_torch() -> None:
    code = "import sys, space.board; print([m for m in ('torch', 'transformers', 'datasets') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "[]"


def test_help_is_printed_and_no_server_starts() -> None:
    for argument, code in (("--help", 0), ("--prot", 2)):
        done = subprocess.run(
            [sys.executable, "app.py", argument], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == code
        assert "board:" not in done.stdout
        assert ("REXRANK_BOARD_PORT" in done.stdout) is (code == 0)


def test_the_space_installs_tested_versions_and_no_torch() -> None:
    wanted = {line for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines() if "==" in line}
    tested = set((ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines())
    assert wanted
    assert wanted <= tested
    assert not any(line.startswith("torch") for line in wanted)


def test_the_style_sheet_and_the_pages_fetch_nothing_from_elsewhere() -> None:
    for path in [*(ROOT / "space").glob("*.py"), *(ROOT / "space").glob("*.css")]:
        text = path.read_text(encoding="utf-8")
        for sign in ("@import", "url(", "fonts.googleapis", "<script src", "cdn."):
            assert sign not in text, path
