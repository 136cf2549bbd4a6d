"""What encodings share that stay open: files that were found, models in memory, records of texts."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rexrank.encoders.devices import devices
from rexrank.encoders.encoder import Encoder, Model

# What runs encoders is imported when one is needed: most scores need none, and their run is short.
if TYPE_CHECKING:
    from rexrank.encoders.recent import Recent, Records
    from rexrank.encoders.store import Store
    from rexrank.encoders.weights import Located, Weights

Load = Callable[[str], Model]

_KEPT_MODELS = 6
_models: "OrderedDict[tuple[str, str], Model]" = OrderedDict()


@dataclass(frozen=True)
class EncoderSettings:
    """Where and how encoders run.

    Attributes:
        device: Torch device or several with commas between them; None chooses (`rexrank.encoders.devices`).
        cache_dir: Folder of the store of features; None for the default one.
        cache: Whether features are kept for other runs; else they are gone with this one.
        weights: The user's folder of checkpoints; None for ``REXRANK_WEIGHTS``.
        download: Whether the Hub may be asked for checkpoints that are not here.
        progress: Whether a line and a bar on stderr show what is fetched from it.
        keep_models: Whether models stay in memory for the next run of this process.
    """

    device: str | None = None
    cache_dir: str | os.PathLike[str] | None = None
    cache: bool = True
    weights: str | os.PathLike[str] | None = None
    download: bool = True
    progress: bool = False
    keep_models: bool = False


class Session:
    """Files, models and records for one encoding, or, where it is kept open, for one after the other.

    Attributes:
        settings: Where and how encoders run.
        lock: Held by whoever encodes in a session that several threads have: models and records are for one at a time.
    """

    def __init__(self, settings: EncoderSettings | None = None, kept_open: bool = False) -> None:
        """Nothing is loaded or opened before it is needed.

        Args:
            settings: Where and how encoders run.
            kept_open: Whether encodings follow each other. Then every model stays in memory until `close`, encoders
                run in this process on the first device alone, and only what is made of references goes to disk.

        Raises:
            NoFolder: The settings name a folder of weights that is none.
        """
        self.settings = settings or EncoderSettings()
        self.lock = threading.RLock()
        self._kept_open = kept_open
        self._references: frozenset[str] = frozenset()
        self._located: dict[str, list[Located]] = {}
        self._models: OrderedDict[tuple[str, str], Model] = OrderedDict() if kept_open else _models
        if self.settings.weights:
            self.weights  # noqa: B018 (a folder that is none is refused at once)

    @cached_property
    def devices(self) -> list[str]:
        """Where the encoders run.

        Raises:
            UnknownDevice: The settings name a device that is not here.
        """
        return devices(self.settings.device)

    @cached_property
    def weights(self) -> "Weights":
        """Where the files of checkpoints are looked for."""
        from rexrank.encoders.weights import Weights

        return Weights(self.settings.weights, self.settings.download, self.settings.progress)

    @cached_property
    def store(self) -> "Store":
        """Records of texts on disk."""
        from rexrank.encoders.store import Store, limit_from_environment, open_store

        if not self.settings.cache:
            return Store(None)
        return open_store(self.settings.cache_dir, limit_from_environment())

    @cached_property
    def records(self) -> "Records":
        """Records of texts, wherever they are."""
        return self._recent if self._kept_open else self.store

    @cached_property
    def _recent(self) -> "Recent":
        from rexrank.encoders.recent import Recent

        recent = Recent(self.store if self.settings.cache else None)
        recent.begin(self._references)
        return recent

    @property
    def keeps_models(self) -> bool:
        """Whether models stay in memory, so that encoders run in this process alone."""
        return self._kept_open or self.settings.keep_models

    def locate(self, encoder: Encoder) -> "list[Located]":
        """The files of an encoder; looked for once.

        Raises:
            MissingWeights: One is not here and cannot be fetched.
        """
        if encoder.name not in self._located:
            self._located[encoder.name] = encoder.locate(self.weights)
        return self._located[encoder.name]

    def model(self, shelf: str, load: Load, device: str) -> Model:
        """A model: the one in memory where models are kept, else a new one.

        Args:
            shelf: Encoder and files, as the store names them.
            load: Loads it.
            device: Where it runs.
        """
        if not self.keeps_models:
            return load(device)
        place = shelf, device
        model = self._models.pop(place, None) or load(device)
        self._models[place] = model
        while not self._kept_open and len(self._models) > _KEPT_MODELS:
            self._models.popitem(last=False)
        return model

    def begin(self, references: Iterable[str]) -> None:
        """Say that an encoding begins, and which of its texts come again."""
        if self._kept_open:
            self._references = frozenset(references)
            if "_recent" in self.__dict__:
                self._recent.begin(self._references)

    def end(self) -> None:
        """Say that an encoding is over: what it left open is closed, unless the next one shall find it."""
        if not self._kept_open:
            self.close()
        elif "_recent" in self.__dict__:
            self._recent.trim()

    def close(self) -> None:
        """Let go of models that are this session's alone, and of the records; what comes next opens them anew."""
        with self.lock:
            if self._kept_open:
                self._models.clear()
            for name in ("records", "_recent", "store"):
                if opened := self.__dict__.pop(name, None):
                    opened.close()
