"""What the classifiers on top of BERT share: token ids as BERT's originals cut them, and the vector of [CLS] alone."""

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rexrank.encoders.encoder import EncoderFailure
from rexrank.encoders.loading import config_in, padded, tokenizer_in, unfilled
from rexrank.encoders.weights import Located

if TYPE_CHECKING:
    import torch
    from transformers import BertModel

# White space among the control characters.
_SPACES = "\t\n\r"


class Tokens(NamedTuple):
    """Token ids of a text.

    Attributes:
        ids: With [CLS] first and [SEP] last.
        cut: Whether tokens were left out.
    """

    ids: list[int]
    cut: bool


def tokens_of(tokenizer: Any, texts: Sequence[str], limit: int) -> list[Tokens]:
    """Token ids of texts, with special tokens; the last ones of a long text are left out.

    Args:
        tokenizer: Of transformers.
        texts: A text without a token, such as a blank one, has the two special ones.
        limit: Tokens that a text may have, [CLS] and [SEP] included.
    """
    if not texts:
        return []
    encoded = tokenizer(
        [without_controls(text) for text in texts],
        add_special_tokens=False,
        truncation=False,
        padding=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    first, last, room = tokenizer.cls_token_id, tokenizer.sep_token_id, limit - 2
    return [Tokens([first, *ids[:room], last], len(ids) > room) for ids in encoded["input_ids"]]


def is_of_bert(tokenizer: Any) -> bool:
    """Whether a tokenizer cleans texts as BERT's does, whatever model it belongs to."""
    from tokenizers.normalizers import BertNormalizer

    normalizer = getattr(getattr(tokenizer, "backend_tokenizer", None), "normalizer", None)
    return isinstance(normalizer, BertNormalizer) and bool(normalizer.clean_text)


def without_controls(text: str) -> str:
    """Drop the characters that BERT's first tokenizer drops.

    That of transformers 5 keeps code points without a character, and fails at one half of a surrogate pair.
    """
    if text.isascii():
        return text
    return "".join(one for one in text if unicodedata.category(one)[0] != "C" or one in _SPACES)


def bert_in(located: Located, pooler: bool) -> "BertModel":
    """Build the unfilled BERT that the configuration of a checkpoint describes.

    Args:
        located: Where ``config.json`` is.
        pooler: Whether it has the layer that follows [CLS].

    Raises:
        EncoderFailure: The configuration is that of another architecture.
    """
    from transformers import BertModel

    config = config_in(located)
    where = f"{located.checkpoint.repo}/config.json"
    if config.model_type != "bert" or config.is_decoder:
        raise EncoderFailure(f"{where} is not that of a BERT; get the published file")
    try:
        with unfilled():
            return BertModel(config, add_pooling_layer=pooler)
    except Exception as error:
        raise EncoderFailure(f"{where} describes no model ({type(error).__name__}); get the published file") from None


def tokenizer_for(bert: "BertModel", located: Located) -> Any:
    """Load the tokenizer of a BERT.

    Args:
        bert: Has a vector for each token.
        located: Where the tokenizer is.

    Raises:
        EncoderFailure: It is that of another model, or none.
    """
    tokenizer = tokenizer_in(located)
    marks = (tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id)
    if tokenizer.vocab_size > bert.config.vocab_size or None in marks:
        raise EncoderFailure(f"{located.checkpoint.repo} holds the tokenizer of another model; get the published files")
    return tokenizer


class FirstStates:
    """A BERT that computes the last hidden state of [CLS] alone, which in the last layer saves five sixths."""

    def __init__(self, bert: "BertModel", pad_id: int, device: str) -> None:
        """Take a filled BERT apart.

        Args:
            bert: On the device already, in evaluation mode; loses its last layer.
            pad_id: Id of the padding token.
            device: Torch device.
        """
        *layers, last = bert.encoder.layer
        self._last: Any = last
        bert.encoder.layer = type(bert.encoder.layer)(layers)
        bert.pooler = None
        self._bert = bert
        self._pad_id = pad_id
        self._device = device

    def of(self, rows: Sequence[Sequence[int]]) -> "torch.Tensor":
        """Last hidden state of the first token of each row of token ids, [rows, hidden]."""
        ids, mask = padded(rows, self._pad_id, self._device)
        states = self._bert(input_ids=ids, attention_mask=mask).last_hidden_state
        attended = self._last.attention.output(self._context(states, mask), states[:, :1])
        return self._last.output(self._last.intermediate(attended), attended)[:, 0]

    def _context(self, states: "torch.Tensor", mask: "torch.Tensor | None") -> "torch.Tensor":
        """What the first token's attention gathers in the last layer, [rows, 1, hidden]."""
        from torch.nn.functional import scaled_dot_product_attention

        attention = self._last.attention.self
        query, keys, values = (
            made.unflatten(-1, (-1, attention.attention_head_size)).transpose(1, 2)
            for made in (attention.query(states[:, :1]), attention.key(states), attention.value(states))
        )
        allowed = None if mask is None else mask[:, None, None, :].bool()
        return scaled_dot_product_attention(query, keys, values, attn_mask=allowed).transpose(1, 2).flatten(2)
