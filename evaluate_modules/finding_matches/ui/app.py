"""The page of this Space: score a few reports with the module beside it."""

from pathlib import Path

from rexrank.modules.widget import build, launch

demo = build(Path(__file__).resolve().parents[1] / "finding_matches.py")

if __name__ == "__main__":
    launch(demo)
