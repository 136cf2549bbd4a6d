"""METEOR 1.5: the Java program, with its data, that the package pycocoevalcap carries.

It runs with the options of that package (``-l en -norm -stdio``, a heap of 2 GB).
A request holds the references and the prediction of one study in one line:
``SCORE ||| reference ||| … ||| prediction``. The answer is a line of 23 sums, the
statistics, from which `rexrank.metrics.meteor` computes study and corpus scores:

| columns | content |
|---|---|
| 0, 1 | words of prediction and reference |
| 2, 3 | function words among them |
| 4 … 19 | for each matcher (exact, stem, synonym, paraphrase): matched content words of both, then function words |
| 20 | chunks |
| 21, 22 | matched words of prediction and reference |

Of several references the program answers for the one that scores best, the first of
equals. A kill -9 of this process leaves no Java behind: it ends as soon as it reads on
and finds its input closed, after the study at hand.
"""

import math
import os
import re
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rexrank.external.programs import Program, ProgramFailed, Workers

Statistics = NDArray[np.float64]
COLUMNS = 23
MOST_COPIES = min(4, os.cpu_count() or 1)

_JAR, _DATA = "meteor-1.5.jar", "data/paraphrase-en.gz"
_HEAP = "-Xmx2G"
# Java obeys them after the command: another language makes other letters small, and a warning reads as an answer.
_JAVA_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
# Measured on a slow core: a study costs about a millisecond and the square of its length; a start costs ten seconds.
_SECONDS_PER_STUDY, _SECONDS_PER_SQUARED_CHARACTER, _SECONDS_WORTH_A_START = 1e-3, 3e-8, 10.0
# Control characters, line and paragraph separators and halves of surrogate pairs, which UTF-8 cannot hold.
_UNSENDABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|\|\|\|")
_HOW_TO_GO_ON = "or leave METEOR out of the metrics"


def missing() -> str | None:
    """What METEOR lacks on this machine and how to get it, in one sentence; None where it can be started."""
    folder = _folder()
    if folder is None:
        return f"meteor needs the package pycocoevalcap; install it (pip install 'rexrank[meteor]') {_HOW_TO_GO_ON}"
    if absent := [name for name in (_JAR, _DATA) if not (folder / name).is_file()]:
        return (
            f"meteor needs the file meteor/{absent[0]} of the package pycocoevalcap, which is not there; "
            f"reinstall it (pip install --force-reinstall pycocoevalcap) {_HOW_TO_GO_ON}"
        )
    if _java() is None:
        return (
            "meteor runs a Java program, and there is no java on the PATH nor in JAVA_HOME; "
            f"install a Java runtime (Debian: apt-get install default-jre-headless) {_HOW_TO_GO_ON}"
        )
    return None


def program() -> Program[Statistics]:
    """How METEOR is started here.

    Raises:
        ProgramFailed: `missing` says why it is not.
    """
    folder, java = _folder(), _java()
    if folder is None or java is None or missing():
        raise ProgramFailed(str(missing()))
    # The language pins how Java makes letters small, the encoding how it reads its word lists.
    machine = (java, _HEAP, "-XX:+UseSerialGC", "-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8")
    return Program(
        name="METEOR 1.5",
        command=(*machine, "-jar", str(folder / _JAR), "-", "-", "-stdio", "-l", "en", "-norm"),
        folder=folder,
        greeting=_line("ready", ["ready"]),
        read=read_answer,
        advice=f"see whether `{java} -version` works and 2 GB of memory are free",
        unset=_JAVA_VARIABLES,
    )


def read_answer(answer: str) -> Statistics:
    """Read the program's answer about a study.

    Raises:
        ValueError: It is not one.
    """
    row = np.array([float(number) for number in answer.split()])
    if row.shape != (COLUMNS,) or not np.isfinite(row).all() or (row < 0).any():
        raise ValueError("not the statistics of a study")
    return row


def statistics(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    workers: Workers[Statistics] | None = None,
) -> Statistics:
    """Ask the program for the statistics of studies.

    Line breaks, other control characters and the separator ``|||`` count as one space each, on both sides. Equal
    studies are asked about once. The programs that this starts stay for later calls and end with this process.

    Args:
        predictions: One text a study.
        references: The references of each study, at least one.
        workers: Running programs; None for those that all calls of this process share.

    Returns:
        float64 [n, 23], the columns above; a row of nan where the program twice ended or once took too long.

    Raises:
        ProgramFailed: Java, the jar or memory is missing, or the program keeps ending.
    """
    lines = [_line(prediction, texts) for prediction, texts in zip(predictions, references, strict=True)]
    # The longest first, so that no copy is left alone with them at the end.
    distinct = sorted(dict.fromkeys(lines), key=len, reverse=True)
    found = dict(zip(distinct, (workers or shared_workers()).ask(distinct, _copies(distinct)), strict=True))
    unknown = np.full(COLUMNS, np.nan)
    rows = [unknown if (row := found[line]) is None else row for line in lines]
    return np.array(rows, dtype=np.float64).reshape(-1, COLUMNS)


_running: dict[Program[Statistics], Workers[Statistics]] = {}


def shared_workers() -> Workers[Statistics]:
    """The programs that all calls of this process share.

    Raises:
        ProgramFailed: `missing` says why there are none.
    """
    here = program()
    return _running.setdefault(here, Workers(here, MOST_COPIES))


def _line(prediction: str, references: Sequence[str]) -> str:
    return " ||| ".join(["SCORE", *(_UNSENDABLE.sub(" ", text) for text in (*references, prediction))])


def _copies(lines: Sequence[str]) -> int:
    """How many copies of the program pay for their start."""
    seconds = sum(_SECONDS_PER_STUDY + _SECONDS_PER_SQUARED_CHARACTER * len(line) ** 2 for line in lines)
    return min(MOST_COPIES, math.ceil(seconds / _SECONDS_WORTH_A_START))


def _folder() -> Path | None:
    """Folder of the jar; the package around it is never imported."""
    found = find_spec("pycocoevalcap")
    places = list(found.submodule_search_locations or ()) if found else []
    return Path(places[0]) / "meteor" if places else None


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java") or (shutil.which("java", path=f"{home}/bin") if home else None)
