"""Where a file comes from: a path or a dataset repo on a Hub."""

import hashlib
import os
import re
import stat
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, TypeVar
from urllib.parse import unquote

from rexrank.environment import endpoint, prepare_libraries
from rexrank.errors import RefusedInput
from rexrank.files import user_path
from rexrank.reports.problems import Problem
from rexrank.reports.studies import Limits

Role = Literal["predictions", "references"]
T = TypeVar("T")

ENDINGS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
_HUB = re.compile(r"hf://datasets/([^/@]+)/([^/@]+)(?:@([^/]+))?(?:/(.+))?", re.DOTALL)
_REQUEST_SECONDS = 30.0
_USUAL_STEMS = {"predictions": ("predictions", "prediction", "preds"), "references": ("test", "references")}
_SHOWN_FILES = 10


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
            holds one file that can be meant.
        role: What the file is for; decides which file of a repo is meant.
        limits: Size, and time for a download.

    Raises:
        RefusedInput: The file is absent, too large, of no known ending or cannot be fetched.
    """
    address = os.fsdecode(source)
    if address.startswith("hf://"):
        return _from_hub(address, role, limits)
    path = user_path(address)
    return _content(path, _shown(path.name or address), limits)


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
    shown = ", ".join(known[:_SHOWN_FILES]) + (f" and {len(known) - _SHOWN_FILES} more" if len(known) > 10 else "")
    raise _refused("file_missing", role, f"the repo holds several files ({shown}); add the path of one to the address")


def _is_housekeeping(file: str) -> bool:
    parts = PurePosixPath(file).parts
    return any(part.startswith(".") for part in parts) or parts[-1] in {"dataset_infos.json", "dataset_info.json"}


def _content(path: Path, name: str, limits: Limits) -> Content:
    ending = _ending(path.name)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise _refused("file_missing", name, "it is a folder; name a file in it")
        if not stat.S_ISREG(status.st_mode):
            # A pipe may never end, and one without a writer is never opened.
            raise _refused("file_missing", name, "it is a pipe or a device; write its content to a file first")
        if ending not in ENDINGS:
            raise _refused("wrong_columns", name, f"its ending says no known format; known are {', '.join(ENDINGS)}")
        _check_size(status.st_size, name, limits)
        with path.open("rb") as handle:
            # One byte more than allowed tells a file that grew meanwhile.
            data = handle.read(limits.file_bytes + 1)
    except FileNotFoundError:
        raise _refused("file_missing", name, "there is no such file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, RefusedInput):
            raise
        reason = getattr(error, "strerror", None) or "not a possible path"
        raise _refused("file_missing", name, f"it cannot be read: {reason}") from None
    _check_size(len(data), name, limits)
    return Content(name, ending, data, hashlib.sha256(data).hexdigest())


def _from_hub(address: str, role: Role, limits: Limits) -> Content:
    match = _HUB.fullmatch(address)
    if not match:
        form = "hf://datasets/<owner>/<name>[@revision]/<path>"
        raise _refused("file_missing", _shown(address), f"the address has not the form {form}")
    owner, name, revision, path = match.groups()
    repo = f"{owner}/{name}"
    label = f"hf://datasets/{repo}"

    def download() -> tuple[Path, str]:
        return _download(repo, unquote(revision) if revision else None, path, role, limits)

    local, shown = _within(limits.download_seconds, label, lambda: _explained(label, download))
    return _content(local, shown, limits)


def _download(repo: str, revision: str | None, path: str | None, role: Role, limits: Limits) -> tuple[Path, str]:
    prepare_libraries()
    from huggingface_hub import HfApi

    api = HfApi(endpoint=endpoint())
    info = api.dataset_info(repo, revision=revision, timeout=_REQUEST_SECONDS)
    chosen = path or choose_file([item.rfilename for item in info.siblings or []], role)
    shown = f"hf://datasets/{repo}@{info.sha}/{chosen}"
    for item in api.get_paths_info(repo, [chosen], revision=info.sha, repo_type="dataset"):
        _check_size(getattr(item, "size", 0), shown, limits)
    local = api.hf_hub_download(repo, chosen, repo_type="dataset", revision=info.sha, etag_timeout=_REQUEST_SECONDS)
    return Path(local), shown


def _explained(label: str, work: Callable[[], T]) -> T:
    """Do ``work``; the Hub's errors become refusals with the intake codes."""
    prepare_libraries()
    import httpx2
    from huggingface_hub import errors

    try:
        return work()
    except errors.GatedRepoError:
        raise _refused("gated", label, "the repo is gated; ask its owner for access, or log in") from None
    except errors.RepositoryNotFoundError:
        raise _refused("repo_not_found", label, "there is no such dataset repo, or the token may not see it") from None
    except errors.RevisionNotFoundError:
        raise _refused("revision_not_found", label, "the repo has no such revision") from None
    except errors.LocalEntryNotFoundError:
        raise _unreachable(label) from None
    except errors.EntryNotFoundError:
        raise _refused("file_missing", label, "the repo has no file of that path at that revision") from None
    except errors.HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else 0
        if status == 429:
            raise _refused("rate_limited", label, "the Hub asks to wait; try again in some minutes") from None
        raise _refused("hub_unavailable", label, f"the Hub answered with status {status}; try again later") from None
    except errors.HFValidationError:
        raise _refused("repo_not_found", label, "this is not a possible repo name") from None
    except (httpx2.HTTPError, OSError):
        raise _unreachable(label) from None


def _unreachable(label: str) -> RefusedInput:
    return _refused("hub_unavailable", label, f"the Hub at {endpoint()} cannot be reached; check HF_ENDPOINT")


def _within(seconds: float, label: str, work: Callable[[], T]) -> T:
    """Do ``work`` in at most ``seconds``: the client limits each read, but not the sum of slow ones."""
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
        message = (
            f"it is larger than the {limits.file_bytes:,} bytes that are read; leave out fields that are not needed"
        )
        raise _refused("file_too_large", name, message)


def _ending(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _shown(name: str) -> str:
    """A name for messages; a text given by mistake in a path's place is not repeated."""
    plain = len(name) <= 120 and name.isprintable() and (" " not in name or _ending(name) in ENDINGS)
    return name if plain else f"a name of {len(name):,} characters"


def _refused(code: str, file: str, message: str) -> RefusedInput:
    return RefusedInput([Problem(code, file, None, None, message)])
