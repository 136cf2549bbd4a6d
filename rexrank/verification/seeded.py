"""Seeded checkpoints: random numbers in the published layouts, from which originals and ours must make the same.

`make` writes each checkpoint of `rexrank.encoders.inventory` into ``<folder>/<owner>/<name>/`` (``<folder>/<name>/``
for a repo without owner), where `rexrank.encoders.weights.Weights` finds it. MiniLM is left out, since its package
brings the real weights. The numbers mean nothing, but entities, relations and labels of every kind occur.

The originals find the same files when they run **with the folder as their working directory**: a name such as
``bert-base-uncased`` or ``microsoft/BiomedVLP-CXR-BERT-general`` is then the path of a folder, which transformers
takes before it asks the Hub. So no name in a ``config.json`` needs to be rewritten. What remains:

- radgraph: extract ``StanfordAIMI/RRG_scorers/<archive>.tar.gz`` into ``<cache>/<model_type>/`` (``radgraph``,
  ``radgraph-xl``, ``modern-radgraph-xl``), then ``RadGraph(model_type=…, model_cache_dir=<cache>, cuda=-1)``.
- f1chexbert: put ``StanfordAIMI/RRG_scorers/chexbert.pth`` into the folder that ``f1chexbert.f1chexbert.CACHE_DIR``
  names, or set that variable to ``StanfordAIMI/RRG_scorers`` before ``F1CheXbert(device="cpu")``.
- bert-score: ``BERTScorer(model_type="distilroberta-base", num_layers=5, …)``; baselines come with the package.
- RaTEScore: ``RaTEScore(use_gpu=False)``.
"""

import io
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from rexrank.encoders import inventory
from rexrank.encoders.inventory import Checkpoint
from rexrank.verification import seeded_layouts as layouts
from rexrank.verification import seeded_radgraph as radgraph
from rexrank.verification import seeded_tokenizers as tokenizers
from rexrank.verification.seeded_layouts import Size
from rexrank.verification.seeded_numbers import Floats, fill

Kind = Literal["tiny", "base"]

_BERT_BASE = Size(12, 768, 12, 3072, 30522)
_MODERNBERT_BASE = Size(22, 768, 12, 1152, 50368, 8192)
_CHEXBERT_CLASSES = (4,) * 13 + (2,)
_ENTITY_TYPES = ("ABNORMALITY", "NON-ABNORMALITY", "DISEASE", "NON-DISEASE", "ANATOMY")
_ENTITY_BIASES = (1.0, *(0.0, 0.3) * 5)


def make(folder: Path, size: Kind, only: Iterable[str] | None = None) -> None:
    """Write seeded checkpoints in the published layouts.

    Args:
        folder: Where they go; made when missing.
        size: ``tiny``: few layers of width 32, made in seconds; ``base``: the published shapes, several GB.
        only: Names of checkpoints in `rexrank.encoders.inventory.CHECKPOINTS`; None for all.

    Raises:
        KeyError: A name in `only` is not that of a seeded checkpoint.
        MissingVocabulary: The package with BERT's vocabulary is not installed.
        OSError: The folder cannot be written.
    """
    for name in _MAKERS if only is None else only:
        checkpoint = inventory.CHECKPOINTS[name]
        target = folder / checkpoint.repo
        target.mkdir(parents=True, exist_ok=True)
        _MAKERS[name](target, checkpoint, size)


def _bert_size(size: Kind) -> Size:
    return _BERT_BASE if size == "base" else _BERT_BASE.tiny(2)


def _bert_config(size: Size, **more: Any) -> dict[str, Any]:
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


def _modernbert_config(size: Size, **more: Any) -> dict[str, Any]:
    return {
        "architectures": ["ModernBertForMaskedLM"],
        "model_type": "modernbert",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "classifier_pooling": "mean",
        "decoder_bias": True,
        "embedding_dropout": 0.0,
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
        "position_embedding_type": "absolute",
        "tie_word_embeddings": True,
        "vocab_size": size.vocabulary,
        **more,
    }


def _bert_tokenizer(order: str | None) -> "Maker":
    """A repo of which only configuration and tokenizer are used."""

    def write(target: Path, checkpoint: Checkpoint, size: Kind) -> None:
        tokenizers.write_wordpiece(target, order)
        _write_config(target, _bert_config(_bert_size(size)))

    return write


def _modernbert_repo(whole: bool) -> "Maker":
    def write(target: Path, checkpoint: Checkpoint, size: Kind) -> None:
        dimensions = _modernbert_size(size, whole, tokenizers.write_modernbert(target))
        marks = {"bos_token_id": 2, "cls_token_id": 2, "eos_token_id": 3, "sep_token_id": 3, "pad_token_id": 0}
        _write_config(target, _modernbert_config(dimensions, **marks))
        if whole:
            _write_safetensors(target, fill(checkpoint.name, layouts.modernbert(dimensions)))

    return write


def _modernbert_size(size: Kind, whole: bool, vocabulary: int) -> Size:
    """Of BERTScore's preset all layers are kept, since it names one of them."""
    return _MODERNBERT_BASE if size == "base" else _MODERNBERT_BASE.tiny(22 if whole else 4, vocabulary)


def _chexbert(target: Path, checkpoint: Checkpoint, size: Kind) -> None:
    dimensions = _bert_size(size)
    layout = layouts.bert(dimensions, "module.bert.")
    for head, classes in enumerate(_CHEXBERT_CLASSES):
        layout |= layouts.linear(f"module.linear_heads.{head}", classes, dimensions.hidden)
    tensors = _torch(fill(checkpoint.name, layout))
    # What training left beside the weights; the real file's optimiser holds two numbers for each of theirs.
    group = {"lr": 2e-5, "betas": (0.9, 0.999), "params": [0]}
    kept = {"epoch": 8, "optimizer_state_dict": {"state": {}, "param_groups": [group]}}
    (target / "chexbert.pth").write_bytes(_saved({"model_state_dict": tensors, **kept}))


def _radgraph(archive: radgraph.Archive, file: str) -> "Maker":
    def write(target: Path, checkpoint: Checkpoint, size: Kind) -> None:
        inner = 150 if size == "base" else 24
        if archive is radgraph.MODERN:
            dimensions = _modernbert_size(size, False, tokenizers.BPE_SIZE)
            encoder = layouts.modernbert(dimensions, radgraph.BACKBONE)
        else:
            dimensions = _bert_size(size)
            encoder = layouts.bert(dimensions, radgraph.BACKBONE)
        layout = {**encoder, **radgraph.heads(archive, dimensions.hidden, inner)}
        radgraph.write(target / file, archive, inner, _saved(_torch(fill(checkpoint.name, layout))))

    return write


def _roberta(published: Size) -> "Maker":
    def write(target: Path, checkpoint: Checkpoint, size: Kind) -> None:
        vocabulary = tokenizers.write_roberta(target)
        dimensions = published if size == "base" else published.tiny(published.layers, vocabulary)
        marks = {"bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 1, "type_vocab_size": 1}
        architecture = {"architectures": ["RobertaForMaskedLM"], "model_type": "roberta", "layer_norm_eps": 1e-05}
        _write_config(target, _bert_config(dimensions, **architecture, **marks))
        _write_safetensors(target, fill(checkpoint.name, layouts.roberta_for_masked_words(dimensions)))

    return write


def _distilbert(target: Path, checkpoint: Checkpoint, size: Kind) -> None:
    published = Size(6, 768, 12, 3072, 30522)
    dimensions = published if size == "base" else published.tiny(6)
    tokenizers.write_wordpiece(target, tokenizer_class="DistilBertTokenizer")
    _write_config(
        target,
        {
            "architectures": ["DistilBertForMaskedLM"],
            "model_type": "distilbert",
            "activation": "gelu",
            "attention_dropout": 0.1,
            "dim": dimensions.hidden,
            "dropout": 0.1,
            "hidden_dim": dimensions.intermediate,
            "initializer_range": 0.02,
            "max_position_embeddings": dimensions.positions,
            "n_heads": dimensions.heads,
            "n_layers": dimensions.layers,
            "pad_token_id": 0,
            "sinusoidal_pos_embds": False,
            "tie_weights_": True,
            "vocab_size": dimensions.vocabulary,
        },
    )
    _write_safetensors(target, fill(checkpoint.name, layouts.distilbert_for_masked_words(dimensions)))


def _rate_ner(target: Path, checkpoint: Checkpoint, size: Kind) -> None:
    published, buckets = Size(12, 768, 12, 3072, 128100), 256
    vocabulary = tokenizers.write_deberta(target)
    dimensions = published if size == "base" else published.tiny(2, vocabulary)
    labels = ("O", *(f"{place}-{kind}" for kind in _ENTITY_TYPES for place in "BI"))
    _write_config(
        target,
        {
            "architectures": ["DebertaV2ForTokenClassification"],
            "model_type": "deberta-v2",
            "attention_probs_dropout_prob": 0.1,
            "hidden_act": "gelu",
            "hidden_dropout_prob": 0.1,
            "hidden_size": dimensions.hidden,
            **_labels(labels),
            "initializer_range": 0.02,
            "intermediate_size": dimensions.intermediate,
            "layer_norm_eps": 1e-07,
            "max_position_embeddings": dimensions.positions,
            "max_relative_positions": -1,
            "norm_rel_ebd": "layer_norm",
            "num_attention_heads": dimensions.heads,
            "num_hidden_layers": dimensions.layers,
            "pad_token_id": 0,
            "pooler_dropout": 0,
            "pooler_hidden_act": "gelu",
            "pooler_hidden_size": dimensions.hidden,
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
            "position_buckets": buckets,
            "relative_attention": True,
            "share_att_key": True,
            "type_vocab_size": 0,
            "vocab_size": dimensions.vocabulary,
        },
    )
    layout = layouts.deberta(dimensions, "deberta.", buckets)
    layout |= layouts.linear("classifier", len(labels), dimensions.hidden, centre=_ENTITY_BIASES)
    _write_safetensors(target, fill(checkpoint.name, layout))


def _biolord(target: Path, checkpoint: Checkpoint, size: Kind) -> None:
    published = Size(12, 768, 12, 3072, tokenizers.write_mpnet(target), 514)
    dimensions = published if size == "base" else published.tiny(2)
    _write_config(
        target,
        {
            "architectures": ["MPNetModel"],
            "model_type": "mpnet",
            "attention_probs_dropout_prob": 0.1,
            "bos_token_id": 0,
            "eos_token_id": 2,
            "hidden_act": "gelu",
            "hidden_dropout_prob": 0.1,
            "hidden_size": dimensions.hidden,
            "initializer_range": 0.02,
            "intermediate_size": dimensions.intermediate,
            "layer_norm_eps": 1e-05,
            "max_position_embeddings": dimensions.positions,
            "num_attention_heads": dimensions.heads,
            "num_hidden_layers": dimensions.layers,
            "pad_token_id": 1,
            "relative_attention_num_buckets": 32,
            "vocab_size": dimensions.vocabulary,
        },
    )
    _write_safetensors(target, fill(checkpoint.name, layouts.mpnet(dimensions)))


def _srr_bert(labels: tuple[str, ...]) -> "Maker":
    """A repo without a tokenizer: that is BiomedVLP-CXR-BERT-general's."""

    def write(target: Path, checkpoint: Checkpoint, size: Kind) -> None:
        dimensions = _bert_size(size)
        problem = {"architectures": ["BertForSequenceClassification"], "problem_type": "multi_label_classification"}
        _write_config(target, _bert_config(dimensions, **problem, **_labels(labels)))
        layout = layouts.bert(dimensions, "bert.")
        layout |= layouts.linear("classifier", len(labels), dimensions.hidden, 4.0, centre=-3.5)
        _write_safetensors(target, fill(checkpoint.name, layout))

    return write


def _labels(names: Iterable[str]) -> dict[str, Any]:
    """The two tables of labels in a configuration."""
    numbered = dict(enumerate(names))
    return {
        "id2label": {str(index): name for index, name in numbered.items()},
        "label2id": {name: index for index, name in numbered.items()},
    }


def _numbered(kind: str, count: int, statuses: bool) -> tuple[str, ...]:
    """Names of SRR-BERT's labels, which no public page lists: one each, or one each with a status; and one without."""
    names = [f"{kind} {number:02}" for number in range(1, count + 1)]
    if statuses:
        names = [f"{name} ({status})" for name in names for status in ("Present", "Absent", "Uncertain")]
    return (*names, "No Finding")


def _torch(arrays: Mapping[str, Floats]) -> dict[str, Any]:
    import torch

    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _saved(content: Mapping[str, Any]) -> bytes:
    import torch

    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def _write_safetensors(target: Path, arrays: Mapping[str, Floats]) -> None:
    from safetensors.numpy import save

    (target / "model.safetensors").write_bytes(save(dict(arrays), metadata={"format": "pt"}))


def _write_config(target: Path, config: Mapping[str, Any]) -> None:
    (target / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


Maker = Callable[[Path, Checkpoint, Kind], None]

_MAKERS: Mapping[str, Maker] = {
    "chexbert": _chexbert,
    "radgraph": _radgraph(radgraph.V1, "radgraph.tar.gz"),
    "radgraph-xl": _radgraph(radgraph.XL, "radgraph-xl.tar.gz"),
    "modern-radgraph-xl": _radgraph(radgraph.MODERN, "modern-radgraph-xl.tar.gz"),
    "distilroberta-base": _roberta(Size(6, 768, 12, 3072, 50265, 514)),
    "distilbert-base-uncased": _distilbert,
    "roberta-large": _roberta(Size(24, 1024, 16, 4096, 50265, 514)),
    "radeval-modernbert": _modernbert_repo(whole=True),
    "rate-ner": _rate_ner,
    "biolord": _biolord,
    "srr-bert-leaves": _srr_bert(_numbered("Leaf", 54, statuses=False)),
    "srr-bert-upper": _srr_bert(_numbered("Upper", 24, statuses=False)),
    "srr-bert-leaves-with-statuses": _srr_bert(_numbered("Leaf", 54, statuses=True)),
    "srr-bert-upper-with-statuses": _srr_bert(_numbered("Upper", 24, statuses=True)),
    "bert-base-uncased": _bert_tokenizer(None),
    "BiomedVLP-CXR-BERT-general": _bert_tokenizer("CXR-BERT"),
    "BiomedNLP-PubMedBERT-base-uncased-abstract": _bert_tokenizer("PubMedBERT"),
    "BiomedNLP-PubMedBERT-base-uncased-abstract-fulltext": _bert_tokenizer("PubMedBERT"),
    "ModernBERT-base": _modernbert_repo(whole=False),
}
