"""Finding the files of checkpoints: in a folder of the user, in an installed package, or on the Hub."""

import hashlib
import importlib.util
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rexrank.encoders import downloads
from rexrank.encoders.digests import sha256_of
from rexrank.encoders.downloads import NotFetched, Snapshot
from rexrank.encoders.inventory import CHECKPOINTS, Checkpoint
from rexrank.errors import NoFolder, RexrankError, shown
from rexrank.files import user_path

Source = Literal["folder", "package", "cache"]
Status = Literal["verified", "unverified checksum", "unverified checksum, not the published one"]

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_POINTER_BYTES = 1024
# What is smaller has come before anybody has read what is said of it.
_WORTH_SAYING_BYTES = 10_000_000
_ADVICE = f"fetch them with `rexrank weights pull {{name}}` where there is a network, or {downloads.OWN_FOLDER}"


class MissingWeights(RexrankError, RuntimeError):
    """Files of a checkpoint that are not here; one sentence says what to do."""


@dataclass(frozen=True)
class Located:
    """A checkpoint whose files are on this machine.

    Attributes:
        checkpoint: Which.
        folder: Holds the files, under their paths in the repo.
        files: Path in the repo to path on this machine, of those that are there.
        sha256: Digest of each of these files.
        revision: The Hub's commit they come from; None for a folder or a package.
        source: Where they were found: the user's folder, an installed package or the Hub's cache.
    """

    checkpoint: Checkpoint
    folder: Path
    files: Mapping[str, Path] = field(hash=False)
    sha256: Mapping[str, str] = field(hash=False)
    revision: str | None = None
    source: Source = "folder"

    @property
    def verified(self) -> bool:
        """Whether each file whose digest is known has it, and there is such a file."""
        known = self.checkpoint.sha256
        return bool(known) and all(self.sha256.get(name) == digest for name, digest in known.items())

    @property
    def status(self) -> Status:
        """What a comparison with the published digests says, in words."""
        if not self.checkpoint.sha256:
            return "unverified checksum"
        return "verified" if self.verified else "unverified checksum, not the published one"

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change with any byte of any file."""
        listed = "".join(f"{name} {self.sha256[name]}\n" for name in sorted(self.sha256))
        return hashlib.sha256(listed.encode()).hexdigest()[:16]

    @property
    def short(self) -> str:
        """What stands in a signature: 8 hex digits of the weights' digest where it is the published one."""
        if self.verified:
            return self.sha256[self.checkpoint.files[-1]][:8]
        return f"unverified-{self.fingerprint[:8]}"

    @property
    def size(self) -> int:
        """Bytes of the files together."""
        return sum(path.stat().st_size for path in self.files.values())


class Weights:
    """Where the files of checkpoints are looked for, in this order: folder, package, the Hub's cache, the Hub."""

    def __init__(
        self, folder: str | os.PathLike[str] | None = None, download: bool = True, progress: bool = False
    ) -> None:
        """Look in a folder first.

        Args:
            folder: The user's folder; None for ``REXRANK_WEIGHTS``, if set. The files of a checkpoint lie in
                ``<folder>/<owner>/<name>/``, ``<folder>/<owner>--<name>/``, ``<folder>/<name>/`` or the folder
                itself; the latter only where it has the repo's name, or where no name of a file could be that of
                another checkpoint.
            download: Whether the Hub may be asked; ``REXRANK_DOWNLOAD=0`` and ``HF_HUB_OFFLINE=1`` forbid it too.
            progress: Whether a line on stderr says what is going to be fetched, and a bar shows what arrives.

        Raises:
            NoFolder: `folder` is none; what ``REXRANK_WEIGHTS`` names need not be there.
        """
        chosen = folder or os.environ.get("REXRANK_WEIGHTS")
        self.folder = user_path(chosen) if chosen else None
        if folder and self.folder and not self.folder.is_dir():
            raise NoFolder(f"weights: there is no folder {shown(os.fsdecode(folder))}")
        self.download = download
        self.progress = progress
        # Sentences are published with results, and the path of a folder is nobody else's business.
        self._folder_in_words = "the folder of --weights" if folder else "REXRANK_WEIGHTS"

    def locate(self, checkpoint: Checkpoint) -> Located:
        """Find a checkpoint, and fetch it where it is not here.

        A checkpoint without a pinned commit is fetched at its newest one, and stays at that while the Hub's cache
        holds it. Where the Hub has no such commit as the pinned one, its newest is taken.

        Raises:
            MissingWeights: It is not here and cannot be fetched.
            WrongSetting: ``REXRANK_DOWNLOAD`` is neither yes nor no.
        """
        faults: list[str] = []
        if own := self._own(checkpoint, faults):
            return own
        snapshot = downloads.cached(checkpoint)
        cached = _in_cache(checkpoint, snapshot, faults)
        if cached and snapshot and snapshot.complete and checkpoint.revision in (None, snapshot.revision):
            return cached
        try:
            return self._fetched(checkpoint, snapshot)
        except NotFetched as error:
            if cached:
                return cached
            raise self._missing(checkpoint, faults, error) from None

    def find(self, checkpoint: Checkpoint, faults: list[str] | None = None) -> Located | None:
        """Find a checkpoint without a network.

        Args:
            checkpoint: Which.
            faults: Gets what is wrong with files that are there and cannot be taken, in words.

        Returns:
            Its files, or None where it is not here.
        """
        said = [] if faults is None else faults
        if own := self._own(checkpoint, said):
            return own
        return _in_cache(checkpoint, downloads.cached(checkpoint), said)

    def _own(self, checkpoint: Checkpoint, faults: list[str]) -> Located | None:
        """Look where the Hub has no part: in the user's folder and in the package."""
        for place in self._places(checkpoint):
            if not _holds(place, checkpoint):
                continue
            try:
                if fault := _fault_in(place, checkpoint):
                    faults.append(f"{fault} in {self._folder_in_words}")
                else:
                    return _located(checkpoint, place, "folder")
            except OSError:
                faults.append(f"{checkpoint.files[-1]} cannot be read in {self._folder_in_words}")
        package = _package_folder(checkpoint)
        return _located(checkpoint, package, "package") if package and _holds(package, checkpoint) else None

    def _places(self, checkpoint: Checkpoint) -> list[Path]:
        if self.folder is None:
            return []
        places = []
        for repo in reversed(checkpoint.repos):
            owner, _, name = repo.rpartition("/")
            if owner:
                places += [self.folder / owner / name, self.folder / f"{owner}--{name}"]
            places.append(self.folder / name)
            # Every model has a config.json; only the name of its folder says which it is.
            if "config.json" not in checkpoint.files or self.folder.absolute().name == name:
                places.append(self.folder)
        return list(dict.fromkeys(places))

    def _fetched(self, checkpoint: Checkpoint, cached: Snapshot | None) -> Located:
        if not self.download:
            raise NotFetched(f"{downloads.hub_in_words()} was not asked")
        there = downloads.published(checkpoint, cached.repo if cached else None)
        size = downloads.missing_bytes(there)
        if self.progress and size >= _WORTH_SAYING_BYTES:
            downloads.announce(checkpoint.name, size)
        with downloads.bar(checkpoint.name, size) if self.progress and size else nullcontext(None) as tell:
            snapshot = downloads.fetch(checkpoint, there, tell)
        if fault := _fault_in(snapshot.folder, checkpoint):
            raise NotFetched(f"{fault} on {downloads.hub_in_words()}")
        return _located(checkpoint, snapshot.folder, "cache", snapshot.revision)

    def _missing(self, checkpoint: Checkpoint, faults: Sequence[str], error: NotFetched) -> MissingWeights:
        own = self._folder_in_words if self.folder and self.folder.is_dir() else "REXRANK_WEIGHTS (no folder)"
        places = [own] if self.folder else []
        places += [f"the package {checkpoint.package}"] if checkpoint.package else []
        looked = " and ".join([*places, "the Hub's cache"])
        found = f" ({'; '.join(faults)})" if faults else ""
        known = checkpoint.name in CHECKPOINTS
        advice = error.advice or _ADVICE.format(name=checkpoint.name if known else checkpoint.repo)
        return MissingWeights(
            f"weights {checkpoint.repo} ({', '.join(checkpoint.files)}) not found: "
            f"looked in {looked}{found}, and {error}; {advice}"
        )


def _names_in(folder: Path, checkpoint: Checkpoint) -> list[str]:
    return [*checkpoint.files, *(name for name in checkpoint.optional if (folder / name).is_file())]


def _holds(folder: Path, checkpoint: Checkpoint) -> bool:
    try:
        return all((folder / name).is_file() for name in checkpoint.files)
    except OSError:
        return False


def _fault_in(folder: Path, checkpoint: Checkpoint) -> str | None:
    """What stands in a file's place, where it is not the file itself."""
    for name in _names_in(folder, checkpoint):
        size = (folder / name).stat().st_size
        if size == 0:
            return f"{name} is empty"
        if size <= _POINTER_BYTES and (folder / name).read_bytes().startswith(_LFS_POINTER):
            return f"{name} is a pointer of Git LFS and not the file itself (`git lfs pull` fetches that)"
    return None


def _in_cache(checkpoint: Checkpoint, cached: Snapshot | None, faults: list[str]) -> Located | None:
    """The files in the Hub's cache, unless one of them is not what it was."""
    if cached is None:
        return None
    try:
        fault = _fault_in(cached.folder, checkpoint) or _damage_in(cached.folder, checkpoint)
        if fault is None:
            return _located(checkpoint, cached.folder, "cache", cached.revision)
    except OSError:
        fault = f"{checkpoint.files[-1]} cannot be read"
    faults.append(f"{fault} in the Hub's cache")
    return None


def _damage_in(folder: Path, checkpoint: Checkpoint) -> str | None:
    damaged = (name for name in _names_in(folder, checkpoint) if downloads.damaged(folder / name))
    return next((f"{name} is damaged" for name in damaged), None)


def _located(checkpoint: Checkpoint, folder: Path, source: Source, revision: str | None = None) -> Located:
    files = {name: folder / name for name in _names_in(folder, checkpoint)}
    digests = {name: sha256_of(path) for name, path in files.items()}
    return Located(checkpoint, folder, files, digests, revision, source)


def _package_folder(checkpoint: Checkpoint) -> Path | None:
    if checkpoint.package is None:
        return None
    found = importlib.util.find_spec(checkpoint.package)
    return Path(found.origin).parent / "model" if found and found.origin else None
