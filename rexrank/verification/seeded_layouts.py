"""Names and shapes of the tensors in published checkpoints, and how far their numbers may spread.

The spreads make a network of random numbers behave like a trained one where it matters for comparisons: attention
looks at few words, a vector depends on its word and on the words around it, and different texts differ visibly.
"""

import math
from dataclasses import dataclass, replace

from rexrank.verification.seeded_numbers import Tensor


@dataclass(frozen=True)
class Size:
    """Dimensions of a transformer.

    Attributes:
        layers: Number of layers.
        hidden: Width of a token's vector.
        heads: Heads of attention, whose widths add up to `hidden`.
        intermediate: Width inside a layer.
        vocabulary: Rows of the table of tokens.
        positions: Rows of the table of positions.
    """

    layers: int
    hidden: int
    heads: int
    intermediate: int
    vocabulary: int
    positions: int = 512

    @property
    def step(self) -> float:
        """How far attention and the layer's inside move a vector: less in a deep network, or all words become alike."""
        return 2 / math.sqrt(self.layers)

    def tiny(self, layers: int, vocabulary: int | None = None) -> "Size":
        """The same kind of transformer at a size that runs in milliseconds; all positions are kept."""
        return replace(
            self,
            layers=layers,
            hidden=32,
            heads=4,
            intermediate=64,
            vocabulary=self.vocabulary if vocabulary is None else vocabulary,
        )


# Scores of queries and keys then spread by about 2: a head looks at a few words. With 2.5 the rounding of float32 grows
# through twelve layers to 1e-3 and nothing could be compared; with 1.5 it stays below 1e-5.
_ATTENTION = 1.5
_BIAS = 0.02


def linear(
    name: str,
    outputs: int,
    inputs: int,
    gain: float = 1.0,
    mirrored: bool = False,
    centre: float | tuple[float, ...] = 0.0,
) -> dict[str, Tensor]:
    """A linear layer.

    Args:
        name: Stands before ``.weight`` and ``.bias``.
        outputs: Numbers that come out.
        inputs: Numbers that go in.
        gain: Spread of what comes out, where what goes in has a spread of 1.
        mirrored: As in `Tensor`, of the weight.
        centre: Mean of the biases, or one number for each output.
    """
    return {
        f"{name}.weight": Tensor((outputs, inputs), gain / math.sqrt(inputs), mirrored=mirrored),
        f"{name}.bias": Tensor((outputs,), _BIAS, centre),
    }


def norm(name: str, width: int, bias: bool = True) -> dict[str, Tensor]:
    """A layer norm."""
    layout = {f"{name}.weight": Tensor((width,), 0.1, 1.0)}
    return layout | {f"{name}.bias": Tensor((width,), _BIAS)} if bias else layout


def table(name: str, rows: int, width: int, spread: float = 1.0) -> dict[str, Tensor]:
    """A table of vectors."""
    return {f"{name}.weight": Tensor((rows, width), spread)}


def bert(size: Size, prefix: str = "", pooler: bool = True, types: int = 2) -> dict[str, Tensor]:
    """BertModel and RobertaModel: 199 tensors with 12 layers and the pooler.

    Args:
        size: Its dimensions.
        prefix: Stands before every name, with the full stop.
        pooler: Whether the file holds the pooler.
        types: Rows of the table of token types.
    """
    layout = {
        **table(f"{prefix}embeddings.word_embeddings", size.vocabulary, size.hidden),
        **table(f"{prefix}embeddings.position_embeddings", size.positions, size.hidden, 0.3),
        **table(f"{prefix}embeddings.token_type_embeddings", types, size.hidden, 0.1),
        **norm(f"{prefix}embeddings.LayerNorm", size.hidden),
    }
    for layer in range(size.layers):
        layout |= _bert_layer(f"{prefix}encoder.layer.{layer}", size)
    return layout | linear(f"{prefix}pooler.dense", size.hidden, size.hidden) if pooler else layout


def _bert_layer(name: str, size: Size) -> dict[str, Tensor]:
    return {
        **linear(f"{name}.attention.self.query", size.hidden, size.hidden, _ATTENTION),
        **linear(f"{name}.attention.self.key", size.hidden, size.hidden, _ATTENTION),
        **linear(f"{name}.attention.self.value", size.hidden, size.hidden),
        **linear(f"{name}.attention.output.dense", size.hidden, size.hidden, size.step),
        **norm(f"{name}.attention.output.LayerNorm", size.hidden),
        **linear(f"{name}.intermediate.dense", size.intermediate, size.hidden),
        **linear(f"{name}.output.dense", size.hidden, size.intermediate, size.step, mirrored=True),
        **norm(f"{name}.output.LayerNorm", size.hidden),
    }


def roberta_for_masked_words(size: Size) -> dict[str, Tensor]:
    """RobertaForMaskedLM as published: no pooler, and the last layer's table is that of the words."""
    return {
        "lm_head.bias": Tensor((size.vocabulary,), _BIAS),
        **linear("lm_head.dense", size.hidden, size.hidden),
        **norm("lm_head.layer_norm", size.hidden),
        **bert(size, "roberta.", pooler=False, types=1),
    }


def distilbert_for_masked_words(size: Size) -> dict[str, Tensor]:
    """DistilBertForMaskedLM as published."""
    layout = {
        **table("distilbert.embeddings.word_embeddings", size.vocabulary, size.hidden),
        **table("distilbert.embeddings.position_embeddings", size.positions, size.hidden, 0.3),
        **norm("distilbert.embeddings.LayerNorm", size.hidden),
    }
    for layer in range(size.layers):
        name = f"distilbert.transformer.layer.{layer}"
        layout |= {
            **linear(f"{name}.attention.q_lin", size.hidden, size.hidden, _ATTENTION),
            **linear(f"{name}.attention.k_lin", size.hidden, size.hidden, _ATTENTION),
            **linear(f"{name}.attention.v_lin", size.hidden, size.hidden),
            **linear(f"{name}.attention.out_lin", size.hidden, size.hidden, size.step),
            **norm(f"{name}.sa_layer_norm", size.hidden),
            **linear(f"{name}.ffn.lin1", size.intermediate, size.hidden),
            **linear(f"{name}.ffn.lin2", size.hidden, size.intermediate, size.step, mirrored=True),
            **norm(f"{name}.output_layer_norm", size.hidden),
        }
    return {
        **layout,
        **linear("vocab_transform", size.hidden, size.hidden),
        **norm("vocab_layer_norm", size.hidden),
        "vocab_projector.bias": Tensor((size.vocabulary,), _BIAS),
    }


def modernbert(size: Size, prefix: str = "") -> dict[str, Tensor]:
    """ModernBertModel: no biases, and no norm before the first layer's attention."""
    layout = {
        **table(f"{prefix}embeddings.tok_embeddings", size.vocabulary, size.hidden),
        **norm(f"{prefix}embeddings.norm", size.hidden, bias=False),
    }
    for layer in range(size.layers):
        name = f"{prefix}layers.{layer}"
        if layer:
            layout |= norm(f"{name}.attn_norm", size.hidden, bias=False)
        layout |= {
            **_weight(f"{name}.attn.Wqkv", 3 * size.hidden, size.hidden, _ATTENTION),
            **_weight(f"{name}.attn.Wo", size.hidden, size.hidden, size.step),
            **norm(f"{name}.mlp_norm", size.hidden, bias=False),
            **_weight(f"{name}.mlp.Wi", 2 * size.intermediate, size.hidden),
            **_weight(f"{name}.mlp.Wo", size.hidden, size.intermediate, size.step),
        }
    return layout | norm(f"{prefix}final_norm", size.hidden, bias=False)


def _weight(name: str, outputs: int, inputs: int, gain: float = 1.0) -> dict[str, Tensor]:
    layer = linear(name, outputs, inputs, gain)
    return {f"{name}.weight": layer[f"{name}.weight"]}


def mpnet(size: Size) -> dict[str, Tensor]:
    """MPNetModel with its pooler, as sentence-transformers publishes it."""
    layout = {
        **table("embeddings.word_embeddings", size.vocabulary, size.hidden),
        **table("embeddings.position_embeddings", size.positions, size.hidden, 0.3),
        **norm("embeddings.LayerNorm", size.hidden),
    }
    for layer in range(size.layers):
        name = f"encoder.layer.{layer}"
        layout |= {
            **linear(f"{name}.attention.attn.q", size.hidden, size.hidden, _ATTENTION),
            **linear(f"{name}.attention.attn.k", size.hidden, size.hidden, _ATTENTION),
            **linear(f"{name}.attention.attn.v", size.hidden, size.hidden),
            **linear(f"{name}.attention.attn.o", size.hidden, size.hidden, size.step),
            **norm(f"{name}.attention.LayerNorm", size.hidden),
            **linear(f"{name}.intermediate.dense", size.intermediate, size.hidden),
            **linear(f"{name}.output.dense", size.hidden, size.intermediate, size.step, mirrored=True),
            **norm(f"{name}.output.LayerNorm", size.hidden),
        }
    return {
        **layout,
        **table("encoder.relative_attention_bias", 32, size.heads),
        **linear("pooler.dense", size.hidden, size.hidden),
    }


def deberta(size: Size, prefix: str, buckets: int) -> dict[str, Tensor]:
    """DebertaV2Model as the DeBERTa of version 3 has it: no table of positions, one of distances.

    Args:
        size: Its dimensions.
        prefix: Stands before every name, with the full stop.
        buckets: Buckets of distances between two words, to each side.
    """
    layout = {
        **table(f"{prefix}embeddings.word_embeddings", size.vocabulary, size.hidden),
        **norm(f"{prefix}embeddings.LayerNorm", size.hidden),
    }
    for layer in range(size.layers):
        name = f"{prefix}encoder.layer.{layer}"
        layout |= {
            **linear(f"{name}.attention.self.query_proj", size.hidden, size.hidden, _ATTENTION),
            **linear(f"{name}.attention.self.key_proj", size.hidden, size.hidden, _ATTENTION),
            **linear(f"{name}.attention.self.value_proj", size.hidden, size.hidden),
            **linear(f"{name}.attention.output.dense", size.hidden, size.hidden, size.step),
            **norm(f"{name}.attention.output.LayerNorm", size.hidden),
            **linear(f"{name}.intermediate.dense", size.intermediate, size.hidden),
            **linear(f"{name}.output.dense", size.hidden, size.intermediate, size.step, mirrored=True),
            **norm(f"{name}.output.LayerNorm", size.hidden),
        }
    return {
        **layout,
        **table(f"{prefix}encoder.rel_embeddings", 2 * buckets, size.hidden),
        **norm(f"{prefix}encoder.LayerNorm", size.hidden),
    }
