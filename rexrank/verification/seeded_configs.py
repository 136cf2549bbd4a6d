"""What ``config.json`` of seeded checkpoints says: the architecture's published settings, with the dimensions given."""

from collections.abc import Sequence
from typing import Any

from rexrank.verification.seeded_layouts import Size

DEBERTA_BUCKETS = 256


def bert(size: Size, **more: Any) -> dict[str, Any]:
    """BERT; `more` takes the place of what it names."""
    return {
        "architectures": ["BertForMaskedLM"],
        "model_type": "bert",
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": size.hidden,
        "initializer_range": 0.02,
        "intermediate_size": size.intermediate,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": size.positions,
        "num_attention_heads": size.heads,
        "num_hidden_layers": size.layers,
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
        "type_vocab_size": 2,
        "vocab_size": size.vocabulary,
        **more,
    }


def bert_classifier(size: Size, labels: Sequence[str]) -> dict[str, Any]:
    """BERT that gives each label a probability of its own."""
    return bert(
        size,
        architectures=["BertForSequenceClassification"],
        problem_type="multi_label_classification",
        **_labels(labels),
    )


def roberta(size: Size) -> dict[str, Any]:
    """RoBERTa, whose positions count from 2."""
    return bert(
        size,
        architectures=["RobertaForMaskedLM"],
        model_type="roberta",
        bos_token_id=0,
        eos_token_id=2,
        layer_norm_eps=1e-05,
        pad_token_id=1,
        type_vocab_size=1,
    )


def mpnet(size: Size) -> dict[str, Any]:
    """MPNet, whose positions count from 2."""
    return bert(
        size,
        architectures=["MPNetModel"],
        model_type="mpnet",
        bos_token_id=0,
        eos_token_id=2,
        layer_norm_eps=1e-05,
        pad_token_id=1,
        relative_attention_num_buckets=32,
    )


def deberta(size: Size, labels: Sequence[str]) -> dict[str, Any]:
    """DeBERTa of version 3 with a label for each token."""
    return bert(
        size,
        architectures=["DebertaV2ForTokenClassification"],
        model_type="deberta-v2",
        layer_norm_eps=1e-07,
        max_relative_positions=-1,
        norm_rel_ebd="layer_norm",
        pooler_dropout=0,
        pooler_hidden_act="gelu",
        pooler_hidden_size=size.hidden,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
        position_buckets=DEBERTA_BUCKETS,
        relative_attention=True,
        share_att_key=True,
        type_vocab_size=0,
        **_labels(labels),
    )


def distilbert(size: Size) -> dict[str, Any]:
    """DistilBERT, which has names of its own for the dimensions."""
    return {
        "architectures": ["DistilBertForMaskedLM"],
        "model_type": "distilbert",
        "activation": "gelu",
        "attention_dropout": 0.1,
        "dim": size.hidden,
        "dropout": 0.1,
        "hidden_dim": size.intermediate,
        "initializer_range": 0.02,
        "max_position_embeddings": size.positions,
        "n_heads": size.heads,
        "n_layers": size.layers,
        "pad_token_id": 0,
        "sinusoidal_pos_embds": False,
        "tie_weights_": True,
        "vocab_size": size.vocabulary,
    }


def modernbert(size: Size) -> dict[str, Any]:
    """ModernBERT; ids of the marks are those of our tokenizer."""
    return {
        "architectures": ["ModernBertForMaskedLM"],
        "model_type": "modernbert",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": 3,
        "classifier_pooling": "mean",
        "cls_token_id": 3,
        "decoder_bias": True,
        "embedding_dropout": 0.0,
        "eos_token_id": 1,
        "global_attn_every_n_layers": 3,
        "global_rope_theta": 160000.0,
        "hidden_activation": "gelu",
        "hidden_size": size.hidden,
        "intermediate_size": size.intermediate,
        "layer_norm_eps": 1e-05,
        "local_attention": 128,
        "local_rope_theta": 10000.0,
        "max_position_embeddings": size.positions,
        "mlp_bias": False,
        "mlp_dropout": 0.0,
        "norm_bias": False,
        "norm_eps": 1e-05,
        "num_attention_heads": size.heads,
        "num_hidden_layers": size.layers,
        "pad_token_id": 2,
        "position_embedding_type": "absolute",
        "sep_token_id": 1,
        "tie_word_embeddings": True,
        "vocab_size": size.vocabulary,
    }


def _labels(names: Sequence[str]) -> dict[str, Any]:
    return {
        "id2label": {str(index): name for index, name in enumerate(names)},
        "label2id": {name: index for index, name in enumerate(names)},
    }
