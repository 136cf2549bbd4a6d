"""Finding the files of checkpoints: in a folder of the user, in an installed package, or on the Hub."""

import hashlib
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rexrank.encoders.inventory import Checkpoint
from rexrank.errors import RexrankError
from rexrank.files import user_path

_PIECE = 1 << 20


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
    """

    checkpoint: Checkpoint
    folder: Path
    files: Mapping[str, Path] = field(hash=False)
    sha256: Mapping[str, str] = field(hash=False)
    revision: str | None = None

    @property
    def verified(self) -> bool:
        """Whether each file whose digest is known has it, and there is such a file."""
        known = self.checkpoint.sha256
        return bool(known) and all(self.sha256.get(name) == digest for name, digest in known.items())

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change with any byte of any file."""
        listed = "".join(f"{name} {self.sha256[name]}\n" for name in sorted(self.sha256))
        return hashlib.sha256(listed.encode()).hexdigest()[:16]


class Weights:
    """Where the files of checkpoints are looked for, in this order: folder, package, the Hub's cache, the Hub."""

    def __init__(self, folder: str | os.PathLike[str] | None = None, download: bool = True) -> None:
        """Look in a folder first.

        Args:
            folder: The user's folder; None for ``REXRANK_WEIGHTS``, if set. The files of a checkpoint lie in
                ``<folder>/<owner>/<name>/``, ``<folder>/<owner>--<name>/``, ``<folder>/<name>/`` or the folder itself.
            download: Whether the Hub may be asked.
        """
        chosen = folder or os.environ.get("REXRANK_WEIGHTS")
        self.folder = user_path(chosen) if chosen else None
        self.download = download

    def locate(self, checkpoint: Checkpoint) -> Located:
        """Find a checkpoint, and fetch it where it is not here.

        Raises:
            MissingWeights: It is not here and cannot be fetched.
        """
        folder = self._in_folder(checkpoint) or _in_package(checkpoint)
        if folder is None:
            raise MissingWeights(f"weights {checkpoint.repo} not found")
        names = [*checkpoint.files, *(name for name in checkpoint.optional if (folder / name).is_file())]
        files = {name: folder / name for name in names}
        return Located(checkpoint, folder, files, {name: _sha256(path) for name, path in files.items()})

    def _in_folder(self, checkpoint: Checkpoint) -> Path | None:
        if self.folder is None:
            return None
        owner, _, name = checkpoint.repo.rpartition("/")
        places = [self.folder / owner / name, self.folder / f"{owner}--{name}", self.folder / name, self.folder]
        return next((place for place in places if all((place / file).is_file() for file in checkpoint.files)), None)


def _in_package(checkpoint: Checkpoint) -> Path | None:
    if checkpoint.package is None:
        return None
    found = importlib.util.find_spec(checkpoint.package)
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "model"
    return folder if all((folder / file).is_file() for file in checkpoint.files) else None


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while piece := handle.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
