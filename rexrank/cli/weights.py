"""List the checkpoints that metrics need, and fetch them.

Examples:
  rexrank weights
  rexrank weights chexbert radgraph-xl
  rexrank weights --weights models/ --json
  rexrank weights pull chexbert
  rexrank weights pull --for radgraph,bertscore
  rexrank weights pull --all --to models/

The list never asks the network. `pull` brings checkpoints, with the tokenizers
that they need, into the Hub's cache, or with --to into a folder that serves as
--weights on a machine without a network. docs/weights.md says where each comes
from, and under which licence.

Exit codes: 0 done, 1 not everything could be fetched, 2 wrong usage.
"""

import argparse
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexrank.cli import DONE, REFUSED, WRONG_USAGE
from rexrank.cli.streams import print_json
from rexrank.errors import NoFolder, RexrankError, shown
from rexrank.files import user_path

if TYPE_CHECKING:
    from rexrank.encoders.downloads import NotFetched, Published, Tell
    from rexrank.encoders.inventory import Checkpoint
    from rexrank.encoders.weights import Located, Weights

_NARROWEST = 60
_UNBROKEN = 10_000
_SOURCES = {"folder": "in the folder given", "package": "in an installed package", "cache": "in the Hub's cache"}
_MISSING = (
    "missing: `rexrank weights pull NAME` fetches it; --weights DIR and REXRANK_WEIGHTS name a folder of your own"
)


class _WrongUsage(Exception):
    """Words that make no sense together; one sentence."""


@dataclass(frozen=True)
class _Task:
    """One checkpoint to be pulled.

    Attributes:
        checkpoint: Which.
        here: Where it is on this machine, if it is copied from there.
        there: What the Hub has of it, if it is downloaded.
        size: Bytes that will be written.
    """

    checkpoint: "Checkpoint"
    here: "Located | None"
    there: "Published | None"
    size: int


class _AnyOrder(argparse.ArgumentParser):
    """Takes names before, between and behind options (``pull --to DIR NAME``), which a sub-command does not."""

    _inside = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does for a whole command line, which calls this again for each of its two passes."""
        if self._inside:
            return super().parse_known_args(args, namespace)
        self._inside = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._inside = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank weights``."""
    parser.__class__ = _AnyOrder
    parser.add_argument(
        "names", nargs="*", metavar="[pull] NAME", help="checkpoints; after 'pull' they are fetched, else listed"
    )
    parser.add_argument("--weights", metavar="DIR", help="list: folder to look in first (default: REXRANK_WEIGHTS)")
    parser.add_argument("--json", action="store_true", help="list: print JSON, and nothing else, on stdout")
    parser.add_argument("--all", action="store_true", help="pull: every checkpoint")
    parser.add_argument("--for", dest="metrics", metavar="A,B", help="pull: what these metrics or score keys need")
    parser.add_argument("--to", metavar="DIR", help="pull: write into this folder and not into the Hub's cache")


def run(arguments: argparse.Namespace) -> int:
    """List or fetch."""
    from rexrank.encoders.inventory import UnknownCheckpoint
    from rexrank.metrics import InvalidCall

    pulling = arguments.names[:1] == ["pull"]
    try:
        return _pull(arguments) if pulling else _list(arguments)
    except (_WrongUsage, NoFolder, UnknownCheckpoint, InvalidCall) as error:
        print(f"rexrank weights: {error}", file=sys.stderr)
        return WRONG_USAGE


def _list(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from rexrank.encoders.inventory import CHECKPOINTS, named
    from rexrank.encoders.weights import Weights

    for option in ("all", "metrics", "to"):
        if getattr(arguments, option):
            raise _WrongUsage(f"--{'for' if option == 'metrics' else option} goes with pull alone")
    weights = Weights(arguments.weights, download=False)
    chosen = named(arguments.names) if arguments.names else list(CHECKPOINTS.values())
    # Files are hashed when they are seen for the first time.
    with tqdm(chosen, "look", delay=1, leave=False, disable=None) as looked_at:
        entries = [_entry(weights, checkpoint) for checkpoint in looked_at]
    if arguments.json:
        print_json(entries)
    else:
        print(_table(entries))
    if weights.folder and not weights.folder.is_dir():
        print("note: REXRANK_WEIGHTS names no folder", file=sys.stderr)
    return DONE


def _entry(weights: "Weights", checkpoint: "Checkpoint") -> dict[str, Any]:
    faults: list[str] = []
    found = weights.find(checkpoint, faults)
    return {
        "name": checkpoint.name,
        "repo": checkpoint.repo,
        "files": list(checkpoint.files),
        "state": "present" if found else "missing",
        "where": found.source if found else None,
        "folder": str(found.folder) if found else None,
        "fault": None if found or not faults else faults[0],
        "checksum": found.status if found else None,
        "revision": found.revision if found else checkpoint.revision,
        "size": found.size if found else checkpoint.size or None,
        "licence": checkpoint.licence,
        "serves": checkpoint.serves,
    }


def _table(entries: Sequence[dict[str, Any]]) -> str:
    from rexrank.encoders.downloads import shown_size

    column = max(len(entry["name"]) for entry in entries)
    column = min(column, 2 + max(len(entry["name"]) for entry in entries if len(entry["name"]) < 30))
    width = max(shutil.get_terminal_size((_UNBROKEN, 1)).columns - 1, _NARROWEST)
    lines = []
    for entry in entries:
        lines.append(
            _wrapped(f"{entry['name']:<{column}} {shown_size(entry['size']):>8}  {_state(entry)}", width, column + 11)
        )
        lines.append(_wrapped(f"    for {entry['serves']}; licence: {entry['licence']}", width, 4))
    if any(entry["state"] == "missing" for entry in entries):
        lines += ["", _wrapped(_MISSING, width, 0)]
    return "\n".join(lines)


def _state(entry: dict[str, Any]) -> str:
    if entry["state"] == "missing":
        return f"missing ({entry['fault']})" if entry["fault"] else "missing"
    return f"present {_SOURCES[entry['where']]}, {entry['checksum']}"


def _wrapped(line: str, width: int, indent: int) -> str:
    return "\n".join(
        textwrap.wrap(line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    )


def _pull(arguments: argparse.Namespace) -> int:
    from rexrank.encoders.downloads import bar, shown_size

    target = user_path(arguments.to) if arguments.to else None
    failures: dict[str, list[str]] = {}
    tasks = _planned(_chosen(arguments), target, failures)
    if tasks:
        total = sum(task.size for task in tasks)
        print(f"to fetch, {shown_size(total)} in all:")
        for task in tasks:
            checkpoint = task.checkpoint
            print(f"  {checkpoint.name} ({shown_size(task.size)}, {checkpoint.repo}); licence: {checkpoint.licence}")
        _check_room(total, target)
        with bar("pull", total) as tell:
            for task in tasks:
                _do(task, target, tell, failures)
    for sentence, names in failures.items():
        print(f"rexrank weights: {', '.join(names)}: {sentence}", file=sys.stderr)
    if target and not failures:
        print(f"ready: --weights {target}, or REXRANK_WEIGHTS={target}")
    return REFUSED if failures else DONE


def _chosen(arguments: argparse.Namespace) -> "list[Checkpoint]":
    """The checkpoints that are asked for, each with the tokenizers without which its weights are of no use."""
    from rexrank.encoders.inventory import CHECKPOINTS, TOKENIZERS, named

    if arguments.json or arguments.weights:
        raise _WrongUsage("--json and --weights go with the list alone; pull --to DIR fills a folder")
    names = arguments.names[1:]
    if sum(map(bool, (names, arguments.all, arguments.metrics))) != 1:
        raise _WrongUsage("pull takes names of checkpoints, or --for METRIC, or --all; `rexrank weights` lists them")
    if arguments.all:
        return list(CHECKPOINTS.values())
    chosen = _needed(arguments.metrics) if arguments.metrics else named(names)
    tokenizers = [TOKENIZERS[repo] for checkpoint in chosen for repo in checkpoint.tokenizers]
    return list(dict.fromkeys([*chosen, *tokenizers]))


def _needed(metrics: str) -> "list[Checkpoint]":
    """Every checkpoint that metrics or score keys load under their default options."""
    from rexrank.metrics import InvalidCall, Unavailable
    from rexrank.metrics.registry import hint, keys_named, score_keys
    from rexrank.metrics.registry import metrics as known
    from rexrank.scoring.encoding import requests

    found: list[Checkpoint] = []
    for name in filter(None, (name.strip() for name in metrics.split(","))):
        keys = keys_named(name)
        if keys is None:
            raise InvalidCall(f"there is no metric {shown(name)}; {hint(name, [*score_keys(), *known()])}")
        try:
            wanted = [request for key in keys for request in requests(key, {}, "published")]
        except Unavailable as error:
            raise _WrongUsage(str(error)) from None
        if not wanted:
            raise _WrongUsage(f"{name} needs no weights")
        found += [checkpoint for request in wanted for checkpoint in request.encoder.checkpoints]
    return list(dict.fromkeys(found))


def _planned(chosen: "Sequence[Checkpoint]", target: Path | None, failures: dict[str, list[str]]) -> list[_Task]:
    """What there is to do; says of the rest that it is here already."""
    from rexrank.encoders.downloads import NotFetched

    alternatives = {repo for one in chosen if len(one.tokenizers) > 1 for repo in one.tokenizers}
    tasks = []
    for checkpoint in chosen:
        try:
            task = _task(checkpoint, target)
        except NotFetched as error:
            # Of the tokenizers that an archive may name it names one; a mirror need not have the others.
            if not (error.absent and checkpoint.repo in alternatives):
                _fail(checkpoint, error, failures)
            continue
        if task:
            tasks.append(task)
        else:
            print(f"{checkpoint.name}: already here")
    return tasks


def _task(checkpoint: "Checkpoint", target: Path | None) -> _Task | None:
    """What is to be done for one checkpoint; None where nothing is.

    Raises:
        NotFetched: The Hub has to be asked, and does not give it.
    """
    from rexrank.encoders import downloads
    from rexrank.encoders.weights import Weights

    if target:
        if target.is_dir() and (found := Weights(target).find(checkpoint)) and found.source == "folder":
            return None
        here = Weights().find(checkpoint)
        if here:
            return _Task(checkpoint, here, None, here.size)
        there = downloads.published(checkpoint)
        return _Task(checkpoint, None, there, sum(there.sizes.values()))
    here = Weights().find(checkpoint)
    cached = downloads.cached(checkpoint)
    if here and (here.source != "cache" or (cached and cached.complete and cached.revision == checkpoint.revision)):
        return None
    try:
        there = downloads.published(checkpoint, cached.repo if cached else None)
    except downloads.NotFetched:
        if here:
            return None
        raise
    if here and cached and cached.complete and cached.revision == there.commit:
        return None
    return _Task(checkpoint, None, there, downloads.missing_bytes(there))


def _do(task: _Task, target: Path | None, tell: "Tell", failures: dict[str, list[str]]) -> None:
    from rexrank.encoders import downloads
    from rexrank.encoders.weights import Weights

    checkpoint = task.checkpoint
    try:
        if target is None:
            assert task.there is not None
            downloads.fetch(checkpoint, task.there, tell)
        elif task.here:
            downloads.copy_into(task.here.files, target / checkpoint.repo, tell)
        else:
            assert task.there is not None
            downloads.fetch_into(checkpoint, target / checkpoint.repo, task.there, tell)
    except downloads.NotFetched as error:
        _fail(checkpoint, error, failures)
        return
    faults: list[str] = []
    found = Weights(target).find(checkpoint, faults)
    print(f"{checkpoint.name}: " + (f"fetched, {found.status}" if found else f"fetched, and {faults[0]}"))


def _fail(checkpoint: "Checkpoint", error: "NotFetched", failures: dict[str, list[str]]) -> None:
    sentence = f"{error}; {error.advice or 'try again where there is a network'}"
    failures.setdefault(sentence, []).append(checkpoint.name)


def _check_room(size: int, target: Path | None) -> None:
    """Refuse before anything is fetched what would end in a full disk.

    Raises:
        RexrankError: There is less room.
    """
    from rexrank.encoders.downloads import cache_folder, room_in, shown_size

    folder = target or cache_folder()
    if size > (room := room_in(folder)):
        way_out = "name a folder on another disk with --to DIR" if target is None else "choose another one"
        raise RexrankError(
            f"{folder} has room for {shown_size(room)} and not for {shown_size(size)}; free some, or {way_out}"
        )
