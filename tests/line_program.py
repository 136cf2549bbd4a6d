"""A small program that answers lines with numbers, and misbehaves where it is told to."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rexrank.external.programs import Program

_SOURCE = """
import os, subprocess, sys, time
answer = " ".join(sys.argv[1:])
for line in sys.stdin:
    order, _, rest = line.strip().partition(" ")
    if "breakdown" in line:
        os._exit(3)
    if order == "die" or (order == "die-once" and not os.path.exists(rest)):
        if rest:
            open(rest, "w").close()
        os._exit(3)
    if order == "alone":
        try:
            open(rest, "x").close()
        except FileExistsError:
            os._exit(3)
    if order == "sleep":
        time.sleep(float(rest))
    if order == "nonsense":
        print("Error: nonsense", flush=True)
        continue
    if order == "twice":
        sys.stdout.write("1\\n2\\n")
        sys.stdout.flush()
        continue
    if order == "pid":
        print(os.getpid(), flush=True)
        continue
    if order == "child":
        print(subprocess.Popen(["sleep", "300"]).pid, flush=True)
        continue
    print(answer or len(line) - 1, flush=True)
"""


def line_program(
    folder: Path, greeting: str = "ready", answer: str = "", read: Callable[[str], Any] = float
) -> Program[Any]:
    """The program, which answers an ordinary line with its length.

    Args:
        folder: Where its source is put.
        greeting: The line that it has to answer first (``die``, ``sleep 30``, ``nonsense`` …).
        answer: What it answers instead of the length.
        read: How answers are read.
    """
    source = folder / "line_program_source.py"
    source.write_text(_SOURCE, encoding="utf-8")
    return Program("Lines", (sys.executable, "-IS", str(source), answer), folder, greeting, read, "look at the test")
