"""CheXbert: the 14 labels of a report and its embedding, from one pass.

Smit et al., EMNLP 2020; weights as f1chexbert 0.0.2 takes them. White space is made canonical, the tokens of
bert-base-uncased beyond 511 and [SEP] are left out, a blank report is [CLS][SEP]. On the last hidden state of [CLS]
stand 14 linear heads, each of which takes its largest score.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rexrank.encoders.batching import budget_of, in_batches
from rexrank.encoders.bert import FirstStates, Tokens, bert_in, tokenizer_for, tokens_of
from rexrank.encoders.encoder import Encoded, Encoder, EncoderFailure, Model, Record
from rexrank.encoders.inventory import CHEXBERT, tokenizer_of
from rexrank.encoders.loading import by_name, fill, on_device, unpickled
from rexrank.encoders.weights import Located

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from transformers import BertModel

_FILE = "chexbert.pth"
# Classes of each head: blank, positive, negative, uncertain; the last label, No Finding, has the first two.
_CLASSES = (4,) * 13 + (2,)
# The weights were saved from training on several devices, which puts this before each name.
_PREFIX = "module."
# The format of torch since 1.6; only from it can tensors be left on disk.
_ZIP = b"PK\x03\x04"


class CheXbert(Model):
    """CheXbert in memory; its records hold ``labels``, int8 [14], ``cls``, float32 [hidden], and ``n_truncated``."""

    def __init__(self, tokenizer: Any, bert: "BertModel", heads: "torch.nn.ModuleList", device: str) -> None:
        """Take the filled parts.

        Args:
            tokenizer: Of bert-base-uncased.
            bert: On the device; is taken apart.
            heads: One a label, on the device.
            device: Torch device.
        """
        self._tokenizer = tokenizer
        self._limit = bert.config.max_position_embeddings
        self._states = FirstStates(bert, tokenizer.pad_token_id, device)
        self._heads = list(heads)
        self._budget = budget_of(device)

    def encode(self, texts: Sequence[str]) -> Iterator[Encoded]:
        """Encode texts; see `Model.encode`."""
        tokens = tokens_of(self._tokenizer, [" ".join(text.split()) for text in texts], self._limit)
        yield from in_batches(tokens, [len(one.ids) for one in tokens], self._records, self._budget)

    def _records(self, batch: list[Tokens]) -> list[Record | None]:
        import torch

        with torch.inference_mode():
            states = self._states.of([one.ids for one in batch])
            labels = torch.stack([head(states).argmax(dim=1) for head in self._heads], dim=1)
        rows = zip(labels.cpu().numpy().astype(np.int8), states.cpu().numpy(), batch, strict=True)
        return [
            {"labels": codes, "cls": state, "n_truncated": np.array(int(one.cut))} if np.isfinite(state).all() else None
            for codes, state, one in rows
        ]


def _load(located: Sequence[Located], device: str) -> CheXbert:
    import torch

    weights, texts = located
    bert = bert_in(texts, pooler=False)
    heads = torch.nn.ModuleList(torch.nn.Linear(bert.config.hidden_size, classes) for classes in _CLASSES)
    network = torch.nn.ModuleDict({"bert": bert, "linear_heads": heads})
    where = f"{weights.checkpoint.repo}/{_FILE}"
    fill(network, _tensors(weights.files[_FILE], where), where, unused=("bert.pooler.",))
    on_device(network.float().eval().requires_grad_(False), device, weights.checkpoint.repo)
    return CheXbert(tokenizer_for(bert, texts), bert, heads, device)


def _tensors(path: "Path", where: str) -> "dict[str, torch.Tensor]":
    """The tensors of the model; where the format allows it those of the optimiser, two thirds of all, are not read."""
    with path.open("rb") as handle:
        lazily = handle.read(len(_ZIP)) == _ZIP
    content = unpickled(path, where, mmap=lazily)
    if not isinstance(content, Mapping) or "model_state_dict" not in content:
        raise EncoderFailure(f"{where} has no entry model_state_dict; it is not the published file")
    tensors = by_name(content["model_state_dict"], where)
    for name in tensors:
        if not name.startswith(_PREFIX):
            raise EncoderFailure(f"{where} has a tensor {name} outside of {_PREFIX}; it is not the published file")
    return {name.removeprefix(_PREFIX): tensor for name, tensor in tensors.items()}


def _labels(record: Record, text: str) -> Any:
    return record["labels"]


def _cls(record: Record, text: str) -> Any:
    return record["cls"]


ENCODERS = (
    Encoder(
        name="chexbert",
        label="CheXbert",
        version="1",
        checkpoints=(CHEXBERT, tokenizer_of("bert-base-uncased")),
        features={"chexbert_labels": _labels, "chexbert_cls": _cls},
        load=_load,
        signature={"enc": "chexbert", "max": "512"},
    ),
)


def find(feature: str, options: Mapping[str, Any]) -> Encoder | None:
    """The encoder of a feature, or None."""
    return next((encoder for encoder in ENCODERS if feature in encoder.features), None)
