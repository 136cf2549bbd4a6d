"""SRR-BERT: the findings that a classifier sees in the sentences of a report, for the whole report together.

Delbrouck et al., ACL 2025; as github.com/jbdel/RadEval runs it. A sentence has each label whose probability is above
one half, a report those of all its sentences. There are four classifiers: findings in detail (``leaves``) or in groups
(``upper``), as such or with what is said of them (present, uncertain, absent).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rexrank.encoders import inventory
from rexrank.encoders.batching import budget_of, in_batches
from rexrank.encoders.bert import FirstStates, Tokens, bert_in, tokenizer_for, tokens_of
from rexrank.encoders.encoder import Encoded, Encoder, EncoderFailure, Model, Record, UnknownEncoder
from rexrank.encoders.inventory import Checkpoint, tokenizer_of
from rexrank.encoders.loading import fill, on_device, safetensors_in
from rexrank.encoders.parts import Parts
from rexrank.encoders.recent import Records
from rexrank.encoders.srr_sentences import sentences
from rexrank.encoders.weights import Located
from rexrank.errors import shown

if TYPE_CHECKING:
    import torch
    from transformers import BertModel

MODELS: Mapping[str, Checkpoint] = {
    "leaves": inventory.SRR_LEAVES,
    "upper": inventory.SRR_UPPER,
    "leaves_with_statuses": inventory.SRR_LEAVES_WITH_STATUSES,
    "upper_with_statuses": inventory.SRR_UPPER_WITH_STATUSES,
}
DEFAULT_MODEL = "leaves_with_statuses"
# RadEval's; the models' cards say 128.
DEFAULT_LENGTH = 512
# A token between [CLS] and [SEP]; BERT has no more positions than the most.
_LENGTHS = (3, 512)

_FEATURE = "srrbert_labels"
_STATUSES = ("Present", "Uncertain", "Absent")
_WITH_STATUSES = "_with_statuses"
_NOTHING = "No Finding"


class SrrBert(Model):
    """A classifier in memory; its records hold ``labels``, names in UTF-8 with a line each, and ``n_truncated``."""

    def __init__(
        self,
        tokenizer: Any,
        bert: "BertModel",
        classifier: "torch.nn.Linear",
        names: Sequence[str],
        limit: int,
        device: str,
    ) -> None:
        """Take the filled parts.

        Args:
            tokenizer: Of BiomedVLP-CXR-BERT-general.
            bert: With its pooler, on the device; is taken apart.
            classifier: On the device.
            names: Of the labels, in the order of the classifier.
            limit: Tokens of a sentence that are read.
            device: Torch device.
        """
        self._tokenizer = tokenizer
        self._pooler: Any = bert.pooler
        self._states = FirstStates(bert, tokenizer.pad_token_id, device)
        self._classifier = classifier
        self._names = np.array(names)
        self._limit = limit
        self._budget = budget_of(device)
        self._parts = Parts("sentences")

    def keep_parts_in(self, records: Records, shelf: str) -> None:
        """Keep the labels of sentences; see `Model.keep_parts_in`."""
        self._parts.keep_in(records, shelf)

    def encode(self, texts: Sequence[str]) -> Iterator[Encoded]:
        """Encode texts; see `Model.encode`. Each distinct sentence of all of them is classified once."""
        numbers: dict[str, int] = {}
        contents = [{numbers.setdefault(one, len(numbers)) for one in sentences(text)} for text in texts]
        tokens = tokens_of(self._tokenizer, list(numbers), self._limit)
        for position, found in _gathered(contents, self._classified(tokens)):
            cut = sum(tokens[number].cut for number in contents[position])
            yield position, None if found is None else self._record(found, cut)

    def _classified(self, tokens: Sequence[Tokens]) -> Iterator[tuple[int, NDArray[np.bool_] | None]]:
        return self._parts.outputs(
            [list(one.ids) for one in tokens],
            lambda rows: in_batches(rows, list(map(len, rows)), self._marks, self._budget),
        )

    def _marks(self, rows: list[list[int]]) -> Sequence[NDArray[np.bool_] | None]:
        """Which labels each sentence has, [labels]."""
        import torch

        with torch.inference_mode():
            states = self._states.of(rows)
            probabilities = self._classifier(self._pooler(states[:, None])).sigmoid().cpu().numpy()
        return [None if np.isnan(one).any() else one > 0.5 for one in probabilities]

    def _record(self, found: NDArray[np.bool_], cut: int) -> Record:
        listed = "\n".join(self._names[found]).encode()
        return {"labels": np.frombuffer(listed, dtype=np.uint8), "n_truncated": np.array(cut)}


def _gathered(
    contents: Sequence[set[int]], parts: Iterator[tuple[int, NDArray[np.bool_] | None]]
) -> Iterator[tuple[int, NDArray[np.bool_] | None]]:
    """Put reports together from their sentences, each as soon as its last one is there.

    Args:
        contents: Numbers of the sentences of each report.
        parts: Number of a sentence, and the labels that it has; None where it failed.

    Yields:
        Position of a report, and the labels that any of its sentences has; None where one failed.
    """
    owners: dict[int, list[int]] = {}
    for position, numbers in enumerate(contents):
        for number in numbers:
            owners.setdefault(number, []).append(position)
    lacking = [len(numbers) for numbers in contents]
    found: dict[int, NDArray[np.bool_] | None] = {}
    for number, marks in parts:
        for position in owners[number]:
            known = found.setdefault(position, marks)
            found[position] = None if known is None or marks is None else known | marks
            lacking[position] -= 1
            if not lacking[position]:
                yield position, found.pop(position)


def _load(located: Sequence[Located], device: str, model: str, limit: int) -> SrrBert:
    import torch

    weights, texts = located
    repo = weights.checkpoint.repo
    bert = bert_in(weights, pooler=True)
    if limit > bert.config.max_position_embeddings:
        raise EncoderFailure(f"{repo} reads {bert.config.max_position_embeddings} tokens; set max_length to less")
    names = _names(model, bert.config.id2label or {})
    classifier = torch.nn.Linear(bert.config.hidden_size, len(names))
    network = torch.nn.ModuleDict({"bert": bert, "classifier": classifier})
    fill(network, safetensors_in(weights), f"{repo}/model.safetensors")
    on_device(network.float().eval().requires_grad_(False), device, repo)
    return SrrBert(tokenizer_for(bert, texts), bert, classifier, names, limit, device)


def _names(model: str, stated: Mapping[Any, str]) -> list[str]:
    """Names of the labels: those that the configuration states, or where it only numbers them the published ones."""
    names = [stated[number] for number in sorted(stated, key=int)]
    if not all(name == f"LABEL_{number}" for number, name in enumerate(names)):
        return names
    listed = json.loads(files("rexrank.encoders").joinpath("srr_labels.json").read_text(encoding="utf-8"))
    published: list[str] = listed[model.removesuffix(_WITH_STATUSES)]
    if not model.endswith(_WITH_STATUSES):
        return published
    findings = [name for name in published if name != _NOTHING]
    return [*(f"{name} ({status})" for status in _STATUSES for name in findings), _NOTHING]


def _labels(record: Record, text: str) -> Any:
    listed = record["labels"].tobytes().decode()
    return listed.split("\n") if listed else []


@cache
def _encoder(model: str, limit: int) -> Encoder:
    return Encoder(
        name=f"srrbert-{model}-{limit}",
        label="SRR-BERT",
        version="1",
        checkpoints=(MODELS[model], tokenizer_of("microsoft/BiomedVLP-CXR-BERT-general")),
        features={_FEATURE: _labels},
        load=partial(_load, model=model, limit=limit),
        signature={"enc": "srr-bert", "model": model, "max": str(limit), "split": "builtin"},
    )


ENCODERS = tuple(_encoder(model, DEFAULT_LENGTH) for model in MODELS)


def find(feature: str, options: Mapping[str, Any]) -> Encoder | None:
    """The encoder of a feature, or None.

    Raises:
        UnknownEncoder: ``model`` is none of `MODELS`, or ``max_length`` no number of tokens that BERT can read.
    """
    if feature != _FEATURE:
        return None
    model, limit = options.get("model", DEFAULT_MODEL), options.get("max_length", DEFAULT_LENGTH)
    if not isinstance(model, str) or model not in MODELS:
        raise UnknownEncoder(f"model: expected one of {', '.join(MODELS)}, got {shown(model)}")
    if not isinstance(limit, int) or isinstance(limit, bool) or not _LENGTHS[0] <= limit <= _LENGTHS[1]:
        raise UnknownEncoder(
            f"max_length: expected a whole number of tokens from {_LENGTHS[0]} to {_LENGTHS[1]}, got {shown(limit)}"
        )
    return _encoder(model, limit)
