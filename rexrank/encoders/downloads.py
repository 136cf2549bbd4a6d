"""Files of checkpoints in the Hub's cache, and on the Hub.

huggingface_hub is imported when something is looked up, since most runs find everything in a folder.
"""

import errno
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexrank import environment
from rexrank.encoders.digests import sha256_of
from rexrank.encoders.inventory import Checkpoint
from rexrank.errors import WrongSetting, shown
from rexrank.processes import hold_lock

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo

    from rexrank.hub.connection import Hub
    from rexrank.hub.errors import HubError

Tell = Callable[[int], None]
"""Gets the number of bytes that have arrived since it was last called."""

_OTHER_CACHE, _OTHER_FOLDER = "set HF_HOME to another folder", "name another folder"
OWN_FOLDER = "name a folder that holds them with --weights DIR or REXRANK_WEIGHTS"

# How long a Hub that did not answer is not asked again: long enough for a run, which needs twenty checkpoints.
_SILENCE_SECONDS = 300.0
_SPARE_BYTES = 2**26
_SCRATCH = ".pull-"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_YES = frozenset({"1", "on", "yes", "true"})
_NO = frozenset({"0", "off", "no", "false"})
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})

_silent: dict[str, tuple[float, str]] = {}


class NotFetched(Exception):
    """Files that the Hub did not give.

    Attributes:
        advice: What helps, where it is not what helps against any missing file.
        absent: Whether the Hub answered that it has no such repo.
    """

    def __init__(self, reason: str, advice: str | None = None, absent: bool = False) -> None:
        super().__init__(reason)
        self.advice = advice
        self.absent = absent


@dataclass(frozen=True)
class Snapshot:
    """Files of a checkpoint at one commit, in the Hub's cache.

    Attributes:
        repo: The name of the repo under which they were fetched.
        folder: Holds them under their paths in the repo.
        revision: The commit.
        complete: Whether each optional file is there as well, or is known not to exist.
    """

    repo: str
    folder: Path
    revision: str
    complete: bool


@dataclass(frozen=True)
class Published:
    """What the Hub has of a checkpoint.

    Attributes:
        repo: The name under which it was found.
        asked: What was asked for: the pinned commit, or ``main`` where the Hub has no such commit.
        commit: The commit of that.
        sizes: Bytes of each file that is wanted and exists.
        sha256: Digests that the Hub states, of its large files.
    """

    repo: str
    asked: str
    commit: str
    sizes: Mapping[str, int]
    sha256: Mapping[str, str]


def forbidden() -> str | None:
    """The setting of the environment that forbids downloads; None where none does.

    Raises:
        WrongSetting: ``REXRANK_DOWNLOAD`` is neither yes nor no.
    """
    asked = (os.environ.get("REXRANK_DOWNLOAD") or "1").lower()
    if asked not in _YES | _NO:
        raise WrongSetting(f"REXRANK_DOWNLOAD is {shown(asked)}; set it to 0 or 1")
    if asked in _NO:
        return "REXRANK_DOWNLOAD=0"
    return "HF_HUB_OFFLINE=1" if (os.environ.get("HF_HUB_OFFLINE") or "0").lower() in _YES else None


def hub_in_words() -> str:
    """The Hub in use, without its address, which is nobody's business where the sentence is published."""
    return "the Hub" if environment.endpoint() == environment.PUBLIC_HUB else "the Hub of HF_ENDPOINT"


def cached(checkpoint: Checkpoint) -> Snapshot | None:
    """Find a checkpoint in the Hub's cache without asking the Hub: its pinned commit, else what ``main`` was."""
    wanted = ([checkpoint.revision] if checkpoint.revision else []) + ["main"]
    candidates = ((repo, revision) for revision in wanted for repo in checkpoint.repos)
    return next((found for place in candidates if (found := _snapshot(checkpoint, *place))), None)


def _snapshot(checkpoint: Checkpoint, repo: str, revision: str) -> Snapshot | None:
    environment.prepare_libraries()
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    paths = {}
    for name in checkpoint.files:
        # A file that is not there is None, and one that is known not to exist an object.
        try:
            paths[name] = try_to_load_from_cache(repo, name, revision=revision)
        except HFValidationError:  # no repo can have such a name
            return None
        if not isinstance(paths[name], str):
            return None
    first = checkpoint.files[0]
    folder = Path(str(paths[first])).parents[first.count("/")]
    complete = all(try_to_load_from_cache(repo, name, revision=folder.name) for name in checkpoint.optional)
    return Snapshot(repo, folder, folder.name, complete)


def damaged(path: Path) -> bool:
    """Whether a file of the Hub's cache is not what it was: large ones are called by their digest."""
    try:
        name = Path(os.readlink(path)).name
    except OSError:
        return False
    return bool(_SHA256.fullmatch(name)) and sha256_of(path) != name


def published(checkpoint: Checkpoint, repo: str | None = None) -> Published:
    """Ask the Hub what it has of a checkpoint.

    Args:
        checkpoint: Which.
        repo: Name of its repo to look under first.

    Raises:
        NotFetched: It does not answer, or lacks the repo or a file of it.
    """
    hub = _hub()
    try:
        with _in_words(hub, checkpoint, asking=True):
            found = _ask(hub, checkpoint, [repo] if repo else [])
    except (AttributeError, LookupError, TypeError, ValueError):
        # The client takes whatever it is sent for an answer: the page of a proxy, of another server.
        reason = f"{hub_in_words()} answered what no Hub does"
        raise NotFetched(reason, f"look at HF_ENDPOINT and at proxies, or {OWN_FOLDER}") from None
    if missing := [name for name in checkpoint.files if name not in found.sizes]:
        raise NotFetched(f"the repo on {hub_in_words()} has no {' and no '.join(missing)}", OWN_FOLDER)
    return found


def missing_bytes(there: Published) -> int:
    """Bytes of what the Hub has and its cache lacks."""
    from huggingface_hub import try_to_load_from_cache

    return sum(
        size
        for name, size in there.sizes.items()
        if not isinstance(try_to_load_from_cache(there.repo, name, revision=there.commit), str)
    )


def fetch(checkpoint: Checkpoint, there: Published, tell: Tell | None = None) -> Snapshot:
    """Bring a checkpoint into the Hub's cache; what is there already is not fetched again.

    No file is visible before it is whole. The weights come last, so a checkpoint that broke off lacks them.

    Args:
        checkpoint: Which.
        there: What the Hub has of it.
        tell: Gets the bytes that arrive.

    Raises:
        NotFetched: It did not come, or not as announced.
    """
    hub = _hub()
    with _in_words(hub, checkpoint):
        _check_room(cache_folder(), missing_bytes(there))
        first = _load(hub, there, checkpoint.files[0], there.asked, tell)
        folder = first.parents[checkpoint.files[0].count("/")]
        for name in (*checkpoint.optional, *checkpoint.files):
            if name in there.sizes:
                path = _load(hub, there, name, folder.name, tell)
                if damaged(path) and damaged(_load(hub, there, name, folder.name, tell, force_download=True)):
                    raise NotFetched(f"{name} arrived other than {hub_in_words()} announced it", "try again later")
            else:
                # Asked for all the same, since the cache then remembers that it does not exist.
                _load_absent(hub, there, name, folder.name)
    return Snapshot(there.repo, folder, folder.name, complete=True)


def fetch_into(checkpoint: Checkpoint, folder: Path, there: Published, tell: Tell | None = None) -> None:
    """Download a checkpoint into a folder of the user, past the Hub's cache.

    Args:
        checkpoint: Which.
        folder: Gets its files, under their paths in the repo; each appears when it is whole, the weights last.
        there: What the Hub has of it.
        tell: Gets the bytes that arrive.

    Raises:
        NotFetched: It did not come, or not as announced.
    """
    hub = _hub()
    with _in_words(hub, checkpoint, way_out=_OTHER_FOLDER), _scratch(folder) as scratch:
        _check_room(folder, sum(there.sizes.values()))
        for name in (*checkpoint.optional, *checkpoint.files):
            if name in there.sizes:
                path = _load(hub, there, name, there.commit, tell, cache_dir=scratch)
                if (known := there.sha256.get(name)) and sha256_of(path) != known:
                    raise NotFetched(f"{name} arrived other than {hub_in_words()} announced it", "try again later")
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(path.resolve(), target)


@contextmanager
def bar(label: str, size: int) -> Iterator[Tell]:
    """Show on stderr what arrives, where that is a terminal."""
    from tqdm import tqdm

    with tqdm(total=size, desc=label, unit="B", unit_scale=True, disable=None, leave=False) as shown_bar:

        def tell(count: int) -> None:
            shown_bar.update(count)

        yield tell


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A folder inside a folder, for files that are not whole yet; what a kill left of another one is removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for lock in folder.glob(f"{_SCRATCH}*/lock"):
        with suppress(OSError):
            if held := hold_lock(lock):
                with held:
                    shutil.rmtree(lock.parent)
    with tempfile.TemporaryDirectory(dir=folder, prefix=_SCRATCH) as made:
        scratch = Path(made)
        with hold_lock(scratch / "held") or nullcontext():
            (scratch / "held").rename(scratch / "lock")  # nobody sees it before it is held
            yield scratch


def announce(label: str, size: int) -> None:
    """Say on stderr what is going to be fetched, and how to do without."""
    from tqdm import tqdm

    way_out = "REXRANK_DOWNLOAD=0, or --no-download of `rexrank score`, leaves it out"
    tqdm.write(f"fetching {label}, {shown_size(size)}, from {hub_in_words()} ({way_out})", sys.stderr)


def shown_size(size: int | None) -> str:
    """A number of bytes as people read it; ``?`` where it is not known."""
    if size is None:
        return "?"
    for unit, worth in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= worth:
            return f"{size / worth:.{0 if size >= 100 * worth else 1}f} {unit}"
    return f"{size} B"


def _hub() -> "Hub":
    if setting := forbidden():
        raise NotFetched(f"downloads are off ({setting})", f"unset that, or {OWN_FOLDER}")
    from rexrank.hub.connection import connect

    hub = connect()
    since, reason = _silent.get(hub.endpoint, (0.0, ""))
    if reason and time.monotonic() - since < _SILENCE_SECONDS:
        raise NotFetched(reason)
    return hub


def _ask(hub: "Hub", checkpoint: Checkpoint, first: Sequence[str]) -> Published:
    """Look under each name of the repo, and for each name at the pinned commit before the newest."""
    from rexrank.hub.errors import HubError

    failure: HubError | None = None
    for repo in dict.fromkeys((*first, *checkpoint.repos)):
        for revision in dict.fromkeys((checkpoint.revision or "main", "main")):
            try:
                info = _info(hub, repo, revision)
            except HubError as error:
                failure = failure or error
                if error.code == "revision_not_found":
                    continue
                if error.code in ("repo_not_found", "bad_request"):
                    break
                raise
            wanted = {*checkpoint.files, *checkpoint.optional}
            files = [file for file in info.siblings or [] if file.rfilename in wanted]
            sizes = {file.rfilename: file.size or 0 for file in files}
            digests = {file.rfilename: file.lfs.sha256 for file in files if file.lfs}
            return Published(repo, revision, str(info.sha), sizes, digests)
    assert failure is not None
    raise failure


def _info(hub: "Hub", repo: str, revision: str) -> "ModelInfo":
    """Ask for a repo, and once more where the Hub had closed the connection that was kept from an earlier answer."""
    from httpx2 import ReadError, RemoteProtocolError, WriteError

    from rexrank.hub.errors import HubError, translated

    try:
        with translated(repo):
            return hub.api.model_info(repo, revision=revision, files_metadata=True)
    except HubError as error:
        if not isinstance(error.__cause__, ReadError | RemoteProtocolError | WriteError):
            raise
    with translated(repo):
        return hub.api.model_info(repo, revision=revision, files_metadata=True)


def _load(hub: "Hub", there: Published, name: str, revision: str, tell: Tell | None, **more: Any) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    from rexrank.hub.errors import translated

    with translated(there.repo):
        try:
            got = hf_hub_download(
                there.repo,
                name,
                revision=revision,
                endpoint=hub.endpoint,
                token=hub.token or False,
                tqdm_class=_bar_that_tells(tell),
                **more,
            )
        except LocalEntryNotFoundError as error:
            # What the client says when it gave up asking; the cause is what happened.
            raise error.__cause__ or ConnectionError() from None
    return Path(got)


def _load_absent(hub: "Hub", there: Published, name: str, revision: str) -> None:
    from rexrank.hub.errors import HubError

    try:
        _load(hub, there, name, revision, None)
    except HubError as error:
        if error.code != "file_missing":
            raise


def _bar_that_tells(tell: Tell | None) -> type:
    from tqdm import tqdm

    class Bar(tqdm):
        """Shows nothing, and passes on what arrives."""

        def __init__(self, *arguments: Any, **settings: Any) -> None:
            settings.pop("name", None)
            super().__init__(*arguments, **{**settings, "disable": True})

        def update(self, n: float | None = 1) -> bool | None:
            if tell:
                tell(int(n or 0))
            return None

    return Bar


def cache_folder() -> Path:
    """The Hub's cache on this machine."""
    environment.prepare_libraries()
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def room_in(folder: Path) -> int:
    """Bytes that a folder can take, which need not exist yet; some are left for others."""
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    return max(0, shutil.disk_usage(existing).free - _SPARE_BYTES)


def _check_room(folder: Path, size: int) -> None:
    """Refuse before a long download what would end in a full disk."""
    if size > room_in(folder):
        raise OSError(errno.ENOSPC, f"{size:,} bytes")


@contextmanager
def _in_words(hub: "Hub", checkpoint: Checkpoint, way_out: str = _OTHER_CACHE, asking: bool = False) -> Iterator[None]:
    """Say what went wrong in a piece of a sentence, and remember a Hub that cannot be reached."""
    from rexrank.hub.errors import HubError

    try:
        yield
    except HubError as error:
        cause = error.__cause__
        # The client raises its own errors for the network; one with a number comes from this machine's files.
        if isinstance(cause, OSError) and cause.errno and not isinstance(cause, ConnectionError | TimeoutError):
            raise _of_disk(cause, way_out) from None
        if error.code == "hub_unavailable":
            if _is_silence(cause, asking):
                _silent[hub.endpoint] = (time.monotonic(), f"{hub_in_words()} did not answer")
            raise NotFetched(f"{hub_in_words()} {'did not answer' if asking else 'broke off'}") from None
        raise _of_hub(hub, checkpoint, error) from None
    except OSError as error:
        raise _of_disk(error, way_out) from None


def _is_silence(cause: BaseException | None, asking: bool) -> bool:
    """Whether the Hub cannot be reached, and not only one of its files or repos be had."""
    from httpx2 import ConnectError, ConnectTimeout

    return getattr(cause, "response", None) is None if asking else isinstance(cause, ConnectError | ConnectTimeout)


def _of_disk(error: OSError, way_out: str) -> NotFetched:
    if error.errno in _NO_ROOM:
        return NotFetched("the disk has no room for them", f"free some, or {way_out}")
    reason = os.strerror(error.errno).lower() if error.errno else type(error).__name__
    return NotFetched(f"the folder for them cannot be written ({reason})", way_out)


def _of_hub(hub: "Hub", checkpoint: Checkpoint, error: "HubError") -> NotFetched:
    where = hub_in_words()
    if error.code == "gated":
        page = f"{hub.endpoint}/{checkpoint.repos[0]}" if hub.endpoint == environment.PUBLIC_HUB else "its page"
        return NotFetched(
            f"{where} gives them to those alone who accept their terms", f"do so on {page} and set HF_TOKEN"
        )
    if error.code in ("unauthorized", "forbidden"):
        return NotFetched(f"{where} does not accept this token", "set HF_TOKEN to a valid one, or to none")
    if error.code == "rate_limited":
        return NotFetched(f"{where} asks for patience", "try again later")
    if error.code == "repo_not_found":
        reason = f"{where} has no such repo, or shows it to other tokens alone"
        return NotFetched(reason, f"set HF_TOKEN, or {OWN_FOLDER}", absent=True)
    if error.code == "file_missing":
        return NotFetched(f"{where} has not what was asked for", f"look at HF_ENDPOINT, or {OWN_FOLDER}")
    return NotFetched(f"{where} refused")


def copy_into(files: Mapping[str, Path], folder: Path, tell: Tell | None = None) -> None:
    """Copy files into a folder of the user; each appears when it is whole, in their order.

    Raises:
        NotFetched: The folder cannot take them.
    """
    try:
        with _scratch(folder) as scratch:
            for name, source in files.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.exists() and target.samefile(source):
                    continue
                shutil.copyfile(source, scratch / "part")
                os.replace(scratch / "part", target)
                if tell:
                    tell(target.stat().st_size)
    except OSError as error:
        raise _of_disk(error, _OTHER_FOLDER) from None
