"""Compare rexrank with the original packages on invented reports.

The originals run under another interpreter, PYTHON, in whose environment they
are installed, since they cannot share one with rexrank; `--requirements`
prints what belongs there:

  rexrank verify --requirements > originals.txt
  python3.11 -m venv originals
  originals/bin/python -m pip install -r originals.txt
  rexrank verify --python originals/bin/python

Examples:
  rexrank verify --python originals/bin/python --seeded tiny
  rexrank verify --python originals/bin/python --weights models/ --out v.json
  rexrank verify --python originals/bin/python --only chexbert,radgraph-xl

Weights are those that `rexrank score` would take, and are fetched where they
are missing; with --seeded both sides get checkpoints of fixed random numbers
instead. Every difference is listed by the number of its text or pair in
rexrank.verification.verify.TEXTS and PAIRS. docs/verify.md says more.

Exit codes: 0 all equal, 1 something differs or failed, 2 wrong usage,
3 nothing could be compared.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexrank.cli import DONE, NOTHING_COMPUTED, REFUSED, WRONG_USAGE
from rexrank.cli.streams import print_json
from rexrank.errors import shown
from rexrank.files import json_bytes, user_path, write_atomically

if TYPE_CHECKING:
    from rexrank.encoders.weights import Weights
    from rexrank.verification.comparison import Answer, Comparison
    from rexrank.verification.verify import Original, Verdict

_COLUMN = 16
_SHOWN = 20


class _WrongUsage(Exception):
    """Words that make no sense; one sentence."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank verify``."""
    parser.add_argument("--python", metavar="PYTHON", help="interpreter of the originals' environment")
    parser.add_argument("--requirements", action="store_true", help="print what belongs into that environment")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--weights", metavar="DIR", help="folder to look in first (default: REXRANK_WEIGHTS)")
    source.add_argument(
        "--seeded",
        choices=("tiny", "base"),
        help="checkpoints of fixed random numbers, small or in the published shapes",
    )
    parser.add_argument("--only", metavar="A,B", help="originals; radgraph and bertscore stand for several")
    parser.add_argument(
        "--limit", type=float, default=7200.0, metavar="S", help="seconds that one original may take (default: 7200)"
    )
    parser.add_argument(
        "--threads", type=int, default=0, metavar="N", help="threads of an original (default: as torch chooses)"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON, and nothing else, on stdout")
    parser.add_argument("--out", metavar="FILE", help="also write the result as JSON into this file")
    parser.add_argument(
        "--record", metavar="FILE", help="keep what the originals gave in this file, as the tests of rexrank read it"
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare and print, one original after the other."""
    from rexrank.verification.running import REQUIREMENTS

    if arguments.requirements:
        print(REQUIREMENTS.read_text(encoding="utf-8"), end="")
        return DONE
    try:
        _refuse(arguments)
        return _verify(_python(arguments.python), _names(arguments.only), arguments)
    except _WrongUsage as error:
        print(f"rexrank verify: {error}", file=sys.stderr)
        return WRONG_USAGE


def _verify(python: Path, names: Sequence[str], arguments: argparse.Namespace) -> int:
    from rexrank.verification.verify import verify

    answers: dict[str, Answer] = {}
    verdicts = []
    with _weights(arguments) as weights_of, _progress() as tell:
        for verdict in verify(
            python, weights_of, names, arguments.limit, arguments.threads, tell, record=answers.__setitem__
        ):
            verdicts.append(verdict)
            if not arguments.json:
                print(_block(verdict), flush=True)
    result = {"weights": f"seeded, {arguments.seeded}" if arguments.seeded else "as found", **_result(verdicts)}
    if arguments.json:
        print_json(result)
    else:
        print(result["conclusion"])
    if arguments.out:
        write_atomically(user_path(arguments.out), json_bytes(result))
    if arguments.record:
        _record(user_path(arguments.record), answers)
    return _code(verdicts)


def _refuse(arguments: argparse.Namespace) -> None:
    """Refuse what would fail only after hours."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise _WrongUsage("torch and transformers are not installed here; pip install 'rexrank[metrics]' brings them")
    if not arguments.limit > 0:
        raise _WrongUsage("--limit: give a number of seconds above 0")
    if arguments.threads < 0:
        raise _WrongUsage("--threads: give a number of threads, or 0")
    for option in ("out", "record"):
        if not (words := getattr(arguments, option)):
            continue
        path = user_path(words).absolute()
        folder = next((parent for parent in path.parents if parent.exists()), path)
        if path.is_dir() or not (folder.is_dir() and os.access(folder, os.W_OK)):
            raise _WrongUsage(f"--{option}: {words} cannot be written; name a file in a folder of yours")
    if arguments.record and _recorded(user_path(arguments.record)) is None:
        raise _WrongUsage(f"--record: {arguments.record} holds no answers of originals; name another file")


def _python(words: str | None) -> Path:
    """The interpreter; a name alone is looked for as a shell does."""
    found = shutil.which(user_path(words)) if words else None
    if found is None:
        named = f"{words} is no program here" if words else "--python PYTHON is missing"
        raise _WrongUsage(f"{named}; name the interpreter of the environment in which the originals are installed")
    return Path(found)


def _names(words: str | None) -> list[str]:
    """Names of the originals that begin with one of the words."""
    from rexrank.verification.verify import ORIGINALS

    chosen: list[str] = []
    if words is None:
        return list(ORIGINALS)
    for word in map(str.strip, words.split(",")):
        found = [name for name in ORIGINALS if name == word or name.startswith(f"{word}-")]
        if not found:
            raise _WrongUsage(f"--only: there is no original {shown(word)}; there are {', '.join(ORIGINALS)}")
        chosen += found
    return list(dict.fromkeys(chosen))


@contextmanager
def _weights(arguments: argparse.Namespace) -> "Iterator[Callable[[Original], AbstractContextManager[Weights]]]":
    from rexrank.encoders.weights import Weights
    from rexrank.verification.verify import seeded

    if not arguments.seeded:
        weights = Weights(arguments.weights, progress=True)
        yield lambda original: nullcontext(weights)
        return
    with tempfile.TemporaryDirectory(prefix="rexrank-seeded-") as folder:
        yield seeded(Path(folder), arguments.seeded)


@contextmanager
def _progress() -> "Iterator[Callable[[str, int, int], None]]":
    """A bar on a terminal; elsewhere a line for each thing that begins."""
    from tqdm import tqdm

    with tqdm(file=sys.stderr, leave=False, disable=None) as bar:
        begun: set[str] = set()

        def tell(what: str, done: int, of: int) -> None:
            bar.total, bar.n = of, done
            bar.set_description(what)
            if what not in begun and not sys.stderr.isatty():
                print(f"{what} …", file=sys.stderr, flush=True)
            begun.add(what)

        yield tell


def _block(verdict: "Verdict") -> str:
    versions = ", ".join(f"{name} {version}" for name, version in verdict.versions.items())
    head = f"{verdict.name}  {versions}".rstrip()
    if verdict.missing:
        return f"{head}\n  not compared: {verdict.missing}\n"
    if verdict.failure:
        return f"{head}\n  FAILED: {verdict.failure}\n"
    return "\n".join([head, *(line for one in verdict.comparisons for line in _lines(one)), ""])


def _lines(one: "Comparison") -> Iterator[str]:
    equal = one.compared - len(one.differences)
    largest = "" if one.largest is None else f", largest difference {one.largest:.1e}"
    content = f"; {one.content}" if one.content else ""
    yield f"  {one.what:<{_COLUMN}} {equal:,} of {one.compared:,} {one.unit}s equal{largest}{content}"
    if one.hollow:
        yield f"  {'':<{_COLUMN}} PROVES NOTHING: {one.hollow}"
    for why, places in one.known.items():
        yield f"  {'':<{_COLUMN}} known: {why} ({one.unit} {', '.join(map(str, places))})"
    for place, what in one.differences[:_SHOWN]:
        yield f"  {'':<{_COLUMN}} DIFFERENT: {one.unit} {place}: {what}"
    if len(one.differences) > _SHOWN:
        yield f"  {'':<{_COLUMN}} and {len(one.differences) - _SHOWN:,} more; --out or --json has all of them"


def _result(verdicts: "Sequence[Verdict]") -> dict[str, Any]:
    return {
        "conclusion": _conclusion(verdicts),
        "originals": [{**asdict(verdict), "equal": verdict.equal} for verdict in verdicts],
    }


def _conclusion(verdicts: "Sequence[Verdict]") -> str:
    equal = sum(verdict.equal for verdict in verdicts)
    missing = sum(bool(verdict.missing) for verdict in verdicts)
    wrong = len(verdicts) - equal - missing
    if missing == len(verdicts):
        return "nothing could be compared"
    said = [f"{equal} of {len(verdicts)} originals equal"]
    said += [f"{wrong} different or failed"] if wrong else []
    said += [f"{missing} not compared for want of weights"] if missing else []
    return ", ".join(said)


def _code(verdicts: "Sequence[Verdict]") -> int:
    compared = [verdict for verdict in verdicts if not verdict.missing]
    if not compared:
        return NOTHING_COMPUTED
    return DONE if all(verdict.equal for verdict in compared) else REFUSED


def _recorded(path: Path) -> "dict[str, Answer] | None":
    """The answers in a file, none where it is not there; None where it holds something else."""
    if not path.exists():
        return {}
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) and all(isinstance(answer, dict) for answer in held.values()) else None


def _record(path: Path, answers: "Mapping[str, Answer]") -> None:
    """Write answers, one line a field; those of other originals in the file are kept."""
    kept = _recorded(path) or {}
    listed = ",\n".join(
        f"{json.dumps(name)}: {{\n{_fields(answer)}\n}}" for name, answer in (kept | dict(answers)).items()
    )
    write_atomically(path, f"{{{listed}}}\n".encode())


def _fields(answer: "Answer") -> str:
    return ",\n".join(f"  {json.dumps(key)}: {json.dumps(one, separators=(',', ':'))}" for key, one in answer.items())
