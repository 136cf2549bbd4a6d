"""What an archive of RadGraph holds: the settings and vocabularies of its model, and the tensors.

AllenNLP wrote it: ``config.json`` with the settings of the training, ``vocabulary/<data set>__ner_labels.txt`` and
``…__relation_labels.txt``, and ``weights.th``. The encoder's configuration and tokenizer are not in it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexrank.encoders.archives import unpack
from rexrank.encoders.encoder import EncoderFailure
from rexrank.encoders.inventory import REPO, Checkpoint
from rexrank.encoders.loading import by_name, unpickled
from rexrank.encoders.store import default_folder
from rexrank.encoders.weights import Located

if TYPE_CHECKING:
    import torch

_SUFFIX = ".tar.gz"
CONFIG, WEIGHTS, VOCABULARY = "config.json", "weights.th", "vocabulary"
# Bytes that a file may have; published weights have half a billion.
_LIMITS = {CONFIG: 1 << 20, f"{VOCABULARY}/*.txt": 1 << 20, WEIGHTS: 8 << 30}
_NER, _RELATIONS = "__ner_labels", "__relation_labels"
_READER = "dataset_reader.token_indexers.bert"
_EMBEDDER = "model.embedder.token_embedders.bert"
_NETWORKS = "model.feedforward_params"
# How often vectors of spans are changed by what they may refer to.
_PROPAGATION = "model.modules.coref.coref_prop"
# No number of a model's shape comes near.
_MOST = 1_000_000


@dataclass(frozen=True)
class Settings:
    """What an archive says of its model.

    Attributes:
        backbone: Repo of the encoder, whose configuration and tokenizer are taken.
        max_length: Tokens that are encoded together, with the marks at both ends.
        span_width: Words that a span may have.
        spans_per_word: Spans that are looked at for relations, for each word.
        feature_size: Width of the vector that stands for the number of words of a span.
        inner: Widths of the hidden layers of each feed-forward network.
        ner: Name of the entities' vocabulary, which stands in names of tensors.
        relation: The same of the relations.
        labels: Labels of entities; the null label, which comes before them, is left out.
        types: Types of relations.
    """

    backbone: str
    max_length: int
    span_width: int
    spans_per_word: float
    feature_size: int
    inner: tuple[int, ...]
    ner: str
    relation: str
    labels: tuple[str, ...]
    types: tuple[str, ...]


def unpacked_by_user(archive: Checkpoint) -> Checkpoint:
    """What the user's folder holds where the archive is unpacked in it already, as in the cache of radgraph itself."""
    name = archive.files[0].removesuffix(_SUFFIX)
    vocabularies = tuple(
        f"{VOCABULARY}/{namespace}{kind}.txt" for namespace in (name, "None") for kind in (_NER, _RELATIONS)
    )
    return replace(
        archive, repo=name, files=(CONFIG, WEIGHTS), optional=vocabularies, moved_to=None, revision=None, sha256={}
    )


def place_of(located: Located) -> str:
    """Repo and archive, or the folder into which the user unpacked it, for messages."""
    repo, name = located.checkpoint.repo, located.checkpoint.files[0]
    return f"{repo}/{name}" if name.endswith(_SUFFIX) else repo


def folder_of(located: Located) -> Path:
    """Folder with the files of the archive, which is unpacked once a machine, beside the features.

    Raises:
        EncoderFailure: It is damaged, or cannot be unpacked.
    """
    name = located.checkpoint.files[0]
    if not name.endswith(_SUFFIX):
        return located.folder
    try:
        place = default_folder() / "unpacked"
    except OSError as error:
        raise EncoderFailure(f"{place_of(located)} cannot be unpacked: {error}") from None
    return unpack(located.files[name], located.sha256[name], place, _LIMITS, place_of(located))


def read_settings(folder: Path, where: str) -> Settings:
    """Read the settings of a model.

    Args:
        folder: With the files of an archive.
        where: Repo and archive, for messages.

    Raises:
        EncoderFailure: A file is missing or of another form, or the model needs what no published one does.
    """
    config = _Config(folder / CONFIG, f"{where}: {CONFIG} in it")
    _refuse_other_models(config)
    namespace = _namespace(folder / VOCABULARY, where)
    ner, relation = f"{namespace}{_NER}", f"{namespace}{_RELATIONS}"
    null, *labels = _lines(folder / VOCABULARY / f"{ner}.txt", where)
    if null:
        raise EncoderFailure(f"{where}: {ner}.txt in it does not begin with the empty label; get the published file")
    return Settings(
        backbone=config.repo(f"{_READER}.model_name"),
        max_length=config.whole(f"{_READER}.max_length", least=3),
        span_width=config.whole("model.max_span_width"),
        spans_per_word=config.positive("model.modules.relation.spans_per_word"),
        feature_size=config.whole("model.feature_size"),
        inner=_inner_widths(config),
        ner=ner,
        relation=relation,
        labels=tuple(labels),
        types=tuple(_lines(folder / VOCABULARY / f"{relation}.txt", where)),
    )


def read_tensors(folder: Path, where: str) -> "dict[str, torch.Tensor]":
    """Read the tensors of a model; nothing that the file holds is run.

    Raises:
        EncoderFailure: The file is missing, damaged, or holds more than tensors.
    """
    place = f"{where}: {WEIGHTS} in it"
    return by_name(unpickled(folder / WEIGHTS, place), place)


class _Config:
    """Settings by their path in ``config.json``."""

    def __init__(self, path: Path, where: str) -> None:
        self._where = where
        try:
            self._content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise EncoderFailure(f"{where} is missing or unreadable ({type(error).__name__})") from None

    def value(self, path: str) -> Any:
        found = self._content
        for name in path.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
        return found

    def whole(self, path: str, least: int = 1) -> int:
        found = self.value(path)
        if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= _MOST:
            raise self.wrong(path)
        return found

    def positive(self, path: str) -> float:
        found = self.value(path)
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found <= _MOST:
            raise self.wrong(path)
        return float(found)

    def repo(self, path: str) -> str:
        found = self.value(path)
        if not isinstance(found, str) or not REPO.fullmatch(found):
            raise self.wrong(path)
        return found

    def wrong(self, path: str) -> EncoderFailure:
        return EncoderFailure(f"{self._where} has no usable {path}; get the published file")


def _refuse_other_models(config: _Config) -> None:
    """Refuse what DyGIE++ can do and no model of RadGraph does."""
    for name in ("model_name", "max_length"):
        if config.value(f"{_READER}.{name}") != config.value(f"{_EMBEDDER}.{name}"):
            raise config.wrong(f"{_EMBEDDER}.{name}")
    if config.value("dataset_reader.max_span_width") != config.value("model.max_span_width"):
        raise config.wrong("dataset_reader.max_span_width")
    if config.value(_PROPAGATION):
        raise config.wrong(_PROPAGATION)
    for task in ("ner", "relation"):
        config.positive(f"model.loss_weights.{task}")


def _inner_widths(config: _Config) -> tuple[int, ...]:
    """Widths of the hidden layers, which the settings give for each or once for all."""
    layers = config.whole(f"{_NETWORKS}.num_layers")
    widths = config.value(f"{_NETWORKS}.hidden_dims")
    if not isinstance(widths, list):
        return (config.whole(f"{_NETWORKS}.hidden_dims"),) * layers
    if len(widths) != layers or not all(isinstance(width, int) and 0 < width <= _MOST for width in widths):
        raise config.wrong(f"{_NETWORKS}.hidden_dims")
    return tuple(widths)


def _namespace(folder: Path, where: str) -> str:
    """The data set on which the model was trained; names of vocabularies begin with it."""
    found = [path.name.removesuffix(f"{_NER}.txt") for path in folder.glob(f"[!.]*{_NER}.txt")]
    if len(found) != 1:
        raise EncoderFailure(f"{where} has {len(found)} files {VOCABULARY}/*{_NER}.txt in it and not one")
    return found[0]


def _lines(path: Path, where: str) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise EncoderFailure(f"{where}: {path.name} in it is missing or unreadable ({type(error).__name__})") from None
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines
