"""Where a file comes from: a path or a dataset repo on a Hub."""

import hashlib
import os
import re
import stat
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeVar
from urllib.parse import unquote

from rexrank.environment import endpoint
from rexrank.errors import RefusedInput
from rexrank.files import user_path
from rexrank.reports.problems import Problem
from rexrank.reports.studies import Limits
from rexrank.terms import DESCRIPTION_FILE, REFERENCE_FILE

if TYPE_CHECKING:
    from rexrank.hub import HubError

Role = Literal["predictions", "references"]
T = TypeVar("T")

ENDINGS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
_HUB = re.compile(r"hf://datasets/([^/@]+)/([^/@]+)(?:@([^/]+))?(?:/(.+))?", re.DOTALL)
_USUAL_STEMS = {"predictions": ("predictions", "prediction", "preds"), "references": ("test", "references")}
_SHOWN_FILES = 10
_ARCHIVES = frozenset({".gz", ".bz2", ".xz", ".zst", ".zip", ".tgz"})


@dataclass(frozen=True)
class Content:
    """One file's bytes.

    Attributes:
        name: What messages and score cards call it: the file's name, or the Hub address pinned to a commit.
        ending: Lower-case ending, one of ``ENDINGS``.
        data: The bytes.
        sha256: Of the bytes.
    """

    name: str
    ending: str
    data: bytes
    sha256: str


def fetch(source: str | os.PathLike[str], role: Role, limits: Limits) -> Content:
    """Read a file whole.

    Args:
        source: Path, ``hf://datasets/<ns>/<name>[@rev]/<path>``, or the same without a path, where the repo
            holds one file that can be meant. References may also be a folder that ``rexrank benchmark build`` wrote:
            one with ``benchmark.yaml`` and ``data/test.parquet``, which then is the file.
        role: What the file is for; decides which file of a repo is meant.
        limits: Size, and time for a download.

    Raises:
        RefusedInput: The file is absent, too large, of no known ending or cannot be fetched.
    """
    address = os.fsdecode(source)
    if address.startswith("hf://"):
        return _from_hub(address, role, limits)
    path = user_path(address)
    if role == "references" and _is_built(path):
        path = path / REFERENCE_FILE
    return _content(path, _shown(path.name or address), limits)


def describing(source: str | os.PathLike[str], limits: Limits) -> bytes | None:
    """The ``benchmark.yaml`` that belongs to references.

    Args:
        source: As for references: the folder, or its ``data/test.parquet``, on this machine or in a repo on a Hub.
        limits: Time for a download.

    Returns:
        Its bytes; None where there is none, or the Hub gives none: then it gives no references either, and says why.

    Raises:
        RefusedInput: It is there and cannot be read, or the Hub takes too long.
    """
    address = os.fsdecode(source)
    if address.startswith("hf://"):
        match = _HUB.fullmatch(address)
        if match is None or match[4] not in (None, REFERENCE_FILE):
            return None
        repo, revision = f"{match[1]}/{match[2]}", match[3]
        wanted = unquote(revision) if revision else None
        return _within(limits.download_seconds, repo, lambda: _described(repo, wanted, limits))
    path = user_path(address)
    below = PurePosixPath(REFERENCE_FILE).parts
    folder = path.parents[len(below) - 1] if path.parts[-len(below) :] == below else path
    if not _is_built(folder):
        return None
    return read_file(folder / DESCRIPTION_FILE, DESCRIPTION_FILE, limits, any_ending=True)


def _described(repo: str, revision: str | None, limits: Limits) -> bytes | None:
    from rexrank.hub import HubError, connect

    try:
        hub = connect()
        return hub.read(repo, DESCRIPTION_FILE, hub.resolve(repo, revision), limits.file_bytes)
    except HubError:
        return None


def choose_file(files: Sequence[str], role: Role) -> str:
    """The one data file of a repo that can be meant.

    Args:
        files: Paths in the repo.
        role: ``predictions`` or ``references``.

    Raises:
        RefusedInput: There is none, or more than one.
    """
    known = sorted(file for file in files if _ending(file) in ENDINGS and not _is_housekeeping(file))
    usual = [file for file in known if PurePosixPath(file).stem in _USUAL_STEMS[role]]
    for candidates in (usual, known):
        if len(candidates) == 1:
            return candidates[0]
    if not known:
        raise _refused("file_missing", role, f"the repo holds no file that ends in {', '.join(ENDINGS)}")
    more = len(known) - _SHOWN_FILES
    shown = ", ".join(known[:_SHOWN_FILES]) + (f" and {more} more" if more > 0 else "")
    raise _refused("file_missing", role, f"the repo holds several files ({shown}); add the path of one to the address")


def _is_built(path: Path) -> bool:
    """Whether it is a folder as ``rexrank benchmark build`` writes it."""
    return all(os.path.isfile(path / name) for name in (DESCRIPTION_FILE, REFERENCE_FILE))


def _is_housekeeping(file: str) -> bool:
    parts = PurePosixPath(file).parts
    return any(part.startswith(".") for part in parts) or parts[-1] in {"dataset_infos.json", "dataset_info.json"}


def _content(path: Path, name: str, limits: Limits) -> Content:
    data = read_file(path, name, limits)
    return Content(name, _ending(path.name), data, hashlib.sha256(data).hexdigest())


def read_file(path: Path, name: str, limits: Limits, any_ending: bool = False) -> bytes:
    """A file's bytes.

    Args:
        path: Where it is.
        name: What messages call it.
        limits: Size.
        any_ending: Whether it may end in something else than `ENDINGS`.

    Raises:
        RefusedInput: The file is absent, no plain file, too large, of no known ending or cannot be read.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise _refused("file_missing", name, "it is a folder; name a file in it")
        if not stat.S_ISREG(status.st_mode):
            # A pipe may never end, and one without a writer is never opened.
            raise _refused("file_missing", name, "it is a pipe or a device; write its content to a file first")
        if not any_ending:
            _known_ending(path.name, name)
        _check_size(status.st_size, name, limits)
        with path.open("rb") as handle:
            data = handle.read(status.st_size + 1)
            if len(data) > status.st_size:
                # It grew meanwhile. Not asked for at once: all that is allowed would be set aside in memory.
                data += handle.read(limits.file_bytes + 1 - len(data))
    except RefusedInput:
        raise
    except FileNotFoundError:
        raise _refused("file_missing", name, "there is no such file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a possible path"
        raise _refused("file_missing", name, f"it cannot be read: {reason}") from None
    _check_size(len(data), name, limits)
    return data


def _from_hub(address: str, role: Role, limits: Limits) -> Content:
    match = _HUB.fullmatch(address)
    if not match:
        form = "hf://datasets/<owner>/<name>[@revision]/<path>"
        raise _refused("file_missing", _shown(address), f"the address has not the form {form}")
    owner, name, revision, path = match.groups()
    repo = f"{owner}/{name}"
    label = f"hf://datasets/{repo}"

    wanted = unquote(revision) if revision else None
    return _within(limits.download_seconds, label, lambda: _download(repo, wanted, path, role, limits))


def _download(repo: str, revision: str | None, path: str | None, role: Role, limits: Limits) -> Content:
    # Loading the Hub's client takes longer than reading most local files.
    from rexrank.hub import HubError, connect

    label = f"hf://datasets/{repo}"
    try:
        hub = connect()
        commit = hub.resolve(repo, revision)
        chosen = path or choose_file(list(hub.list_files(repo, commit)), role)
        label = f"hf://datasets/{repo}@{commit}/{_shown(chosen)}"
        ending = _known_ending(chosen, label)
        data = hub.read(repo, chosen, commit, limits.file_bytes)
    except HubError as error:
        raise _not_fetched(error, label, limits) from None
    return Content(f"hf://datasets/{repo}@{commit}/{chosen}", ending, data, hashlib.sha256(data).hexdigest())


def _not_fetched(error: "HubError", label: str, limits: Limits) -> RefusedInput:
    """Why the Hub gave no file, with the intake's codes and what to do next."""
    code, message = {
        "gated": ("gated", "the repo is gated; ask its owner for access, or set HF_TOKEN to a token that has it"),
        "unauthorized": ("gated", "the Hub does not know this token; set HF_TOKEN to a valid one"),
        "forbidden": ("gated", "the token may not read this; set HF_TOKEN to one that may"),
        "repo_not_found": ("repo_not_found", "there is no such dataset repo, or the token may not see it"),
        "bad_request": ("repo_not_found", "this is not a possible repo name"),
        "revision_not_found": ("revision_not_found", "the repo has no such revision"),
        "file_missing": ("file_missing", "the repo has no file of that path at that revision"),
        "file_too_large": ("file_too_large", _too_large(limits)),
        "rate_limited": ("rate_limited", "the Hub asks to wait; try again in some minutes"),
    }.get(error.code, ("hub_unavailable", f"no answer from the Hub at {endpoint()}; check HF_ENDPOINT or try later"))
    return _refused(code, label, message)


def _within(seconds: float, label: str, work: Callable[[], T]) -> T:
    """Do ``work`` in at most ``seconds``: the Hub's client limits each read, but not the sum of slow ones."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # handed to the caller's thread below
            errors.append(error)

    thread = threading.Thread(target=run, name="rexrank-download", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise _refused("hub_unavailable", label, f"the download took more than {seconds:g} seconds")
    return results[0]


def _check_size(size: int, name: str, limits: Limits) -> None:
    if size > limits.file_bytes:
        raise _refused("file_too_large", name, _too_large(limits))


def _too_large(limits: Limits) -> str:
    return f"it is larger than the {limits.file_bytes:,} bytes that are read; leave out fields that are not needed"


def _known_ending(file: str, name: str) -> str:
    ending = _ending(file)
    if ending in _ARCHIVES:
        raise _refused("wrong_columns", name, f"it is an archive by its ending {ending}; unpack it first")
    if ending not in ENDINGS:
        raise _refused("wrong_columns", name, f"its ending says no known format; known are {', '.join(ENDINGS)}")
    return ending


def _ending(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _shown(name: str) -> str:
    """A name for messages; a text given by mistake in a path's place is not repeated."""
    plain = len(name) <= 120 and name.isprintable() and (" " not in name or _ending(name) in ENDINGS)
    return name if plain else f"a name of {len(name):,} characters"


def _refused(code: str, file: str, message: str) -> RefusedInput:
    return RefusedInput([Problem(code, file, None, None, message)])
