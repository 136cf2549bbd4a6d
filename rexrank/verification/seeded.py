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

`rexrank.verification.originals` does all that. What the seeded files leave open, because no public page states it: the
real label names of SRR-BERT, the order of RadGraph-XL's labels, ``max_length`` in the archives' configurations.
"""

import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from rexrank.encoders import inventory
from rexrank.verification import seeded_configs as configs
from rexrank.verification import seeded_layouts as layouts
from rexrank.verification import seeded_radgraph as radgraph
from rexrank.verification import seeded_tokenizers as tokenizers
from rexrank.verification.seeded_layouts import Size
from rexrank.verification.seeded_numbers import Floats, Layout, fill

Kind = Literal["tiny", "base"]
Config = Callable[[Size], Mapping[str, Any]]

_CHEXBERT_CLASSES = (4,) * 13 + (2,)
_ENTITY_TYPES = ("ABNORMALITY", "NON-ABNORMALITY", "DISEASE", "NON-DISEASE", "ANATOMY")
_ENTITY_LABELS = ("O", *(f"{place}-{kind}" for kind in _ENTITY_TYPES for place in "BI"))
# So that entities of several words stand between words of none.
_ENTITY_BIASES = (1.0, *(0.0, 0.3) * 5)
_STATUSES = ("Present", "Absent", "Uncertain")


@dataclass(frozen=True)
class Recipe:
    """How one checkpoint is made.

    Attributes:
        published: Its dimensions as published.
        tiny: Its dimensions at the smallest size.
        write: Takes the folder, the dimensions and the tensors, and writes the files.
        layout: Takes the dimensions, gives the tensors; without any for a repo of which only the rest is used.
    """

    published: Size
    tiny: Size
    write: Callable[[Path, Size, Mapping[str, Floats]], None]
    layout: Callable[[Size], Layout] = lambda size: {}

    def size(self, kind: Kind) -> Size:
        """Dimensions of one kind."""
        return self.published if kind == "base" else self.tiny


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
    recipes = _recipes()
    for name in recipes if only is None else only:
        recipe = recipes[name]
        target = folder / inventory.CHECKPOINTS[name].repo
        target.mkdir(parents=True, exist_ok=True)
        dimensions = recipe.size(size)
        recipe.write(target, dimensions, fill(name, recipe.layout(dimensions)))


def layout_of(name: str, size: Kind) -> Layout:
    """Names and shapes of the tensors of a seeded checkpoint, without making them.

    Raises:
        KeyError: It is not the name of a seeded checkpoint.
    """
    recipe = _recipes()[name]
    return recipe.layout(recipe.size(size))


def _recipes() -> dict[str, Recipe]:
    roberta = Size(6, 768, 12, 3072, 50265, 514)
    roberta_large = Size(24, 1024, 16, 4096, 50265, 514)
    modernbert = Size(22, 768, 12, 1152, 50368, 8192)
    return {
        "chexbert": _bert(_write_chexbert, _chexbert_layout),
        "radgraph": _radgraph(radgraph.V1, "radgraph.tar.gz"),
        "radgraph-xl": _radgraph(radgraph.XL, "radgraph-xl.tar.gz"),
        "modern-radgraph-xl": _modern_radgraph(modernbert),
        "distilroberta-base": _roberta(roberta),
        "distilbert-base-uncased": _distilbert(),
        "roberta-large": _roberta(roberta_large),
        # BERTScore names the last layer, so all of them are kept; the other has three local layers and two global ones.
        "radeval-modernbert": _modernbert(modernbert, 22, layouts.modernbert),
        "rate-ner": _rate_ner(),
        "biolord": _biolord(),
        "srr-bert-leaves": _srr_bert("Leaf", 54, with_statuses=False),
        "srr-bert-upper": _srr_bert("Upper", 24, with_statuses=False),
        "srr-bert-leaves-with-statuses": _srr_bert("Leaf", 54, with_statuses=True),
        "srr-bert-upper-with-statuses": _srr_bert("Upper", 24, with_statuses=True),
        # The same word pieces in three orders: a tokenizer that is mistaken for another gives other ids at once.
        "bert-base-uncased": _bert(_write_bert_tokenizer(None)),
        "BiomedVLP-CXR-BERT-general": _bert(_write_bert_tokenizer("CXR-BERT")),
        "BiomedNLP-PubMedBERT-base-uncased-abstract": _bert(_write_bert_tokenizer("PubMedBERT")),
        "BiomedNLP-PubMedBERT-base-uncased-abstract-fulltext": _bert(_write_bert_tokenizer("PubMedBERT")),
        "ModernBERT-base": _modernbert(modernbert, 4),
    }


def _bert(
    write: Callable[[Path, Size, Mapping[str, Floats]], None], layout: Callable[[Size], Layout] = lambda size: {}
) -> Recipe:
    published = Size(12, 768, 12, 3072, 30522)
    return Recipe(published, published.tiny(2), write, layout)


def _write_bert_tokenizer(order: str | None) -> Callable[[Path, Size, Mapping[str, Floats]], None]:
    def write(target: Path, size: Size, arrays: Mapping[str, Floats]) -> None:
        tokenizers.write_wordpiece(target, order)
        _write_config(target, configs.bert(size))

    return write


def _chexbert_layout(size: Size) -> Layout:
    layout = layouts.bert(size, "module.bert.")
    for head, classes in enumerate(_CHEXBERT_CLASSES):
        layout |= layouts.linear(f"module.linear_heads.{head}", classes, size.hidden)
    return layout


def _write_chexbert(target: Path, size: Size, arrays: Mapping[str, Floats]) -> None:
    # What training left beside the weights; the real file's optimiser holds two numbers for each of theirs.
    group = {"lr": 2e-5, "betas": (0.9, 0.999), "params": [0]}
    kept = {"epoch": 8, "optimizer_state_dict": {"state": {}, "param_groups": [group]}}
    (target / "chexbert.pth").write_bytes(_saved({"model_state_dict": _torch(arrays), **kept}))


def _radgraph(archive: radgraph.Archive, file: str) -> Recipe:
    def layout(size: Size) -> Layout:
        return {**layouts.bert(size, radgraph.BACKBONE), **radgraph.heads(archive, size.hidden)}

    return _bert(_write_radgraph(archive, file), layout)


def _modern_radgraph(published: Size) -> Recipe:
    def layout(size: Size) -> Layout:
        return {**layouts.modernbert(size, radgraph.BACKBONE), **radgraph.heads(radgraph.MODERN, size.hidden)}

    write = _write_radgraph(radgraph.MODERN, "modern-radgraph-xl.tar.gz")
    return Recipe(published, published.tiny(4, tokenizers.BPE_SIZE), write, layout)


def _write_radgraph(archive: radgraph.Archive, file: str) -> Callable[[Path, Size, Mapping[str, Floats]], None]:
    def write(target: Path, size: Size, arrays: Mapping[str, Floats]) -> None:
        radgraph.write(target / file, archive, size.hidden, _saved(_torch(arrays)))

    return write


def _modernbert(published: Size, tiny_layers: int, layout: Callable[[Size], Layout] = lambda size: {}) -> Recipe:
    def write(target: Path, size: Size, arrays: Mapping[str, Floats]) -> None:
        tokenizers.write_modernbert(target)
        _write_config(target, configs.modernbert(size))
        if arrays:
            _write_safetensors(target, arrays)

    return Recipe(published, published.tiny(tiny_layers, tokenizers.BPE_SIZE), write, layout)


def _roberta(published: Size) -> Recipe:
    return _transformer(
        published,
        published.tiny(published.layers, tokenizers.BPE_SIZE),
        tokenizers.write_roberta,
        configs.roberta,
        layouts.roberta_for_masked_words,
    )


def _distilbert() -> Recipe:
    published = Size(6, 768, 12, 3072, 30522)
    return _transformer(
        published,
        published.tiny(6),
        lambda target: tokenizers.write_wordpiece(target, tokenizer_class="DistilBertTokenizer"),
        configs.distilbert,
        layouts.distilbert_for_masked_words,
    )


def _rate_ner() -> Recipe:
    def layout(size: Size) -> Layout:
        return {
            **layouts.deberta(size, "deberta.", configs.DEBERTA_BUCKETS),
            **layouts.linear("classifier", len(_ENTITY_LABELS), size.hidden, centre=_ENTITY_BIASES),
        }

    published = Size(12, 768, 12, 3072, 128100)
    tiny = published.tiny(2, tokenizers.deberta_size())
    return _transformer(
        published, tiny, tokenizers.write_deberta, partial(configs.deberta, labels=_ENTITY_LABELS), layout
    )


def _biolord() -> Recipe:
    published = Size(12, 768, 12, 3072, 30527, 514)
    return _transformer(published, published.tiny(2), tokenizers.write_mpnet, configs.mpnet, layouts.mpnet)


def _srr_bert(kind: str, count: int, with_statuses: bool) -> Recipe:
    """A repo without a tokenizer, which is BiomedVLP-CXR-BERT-general's; the names of its labels are made up."""
    names = [f"{kind} {number:02}" for number in range(1, count + 1)]
    if with_statuses:
        names = [f"{name} ({status})" for name in names for status in _STATUSES]
    labels = (*names, "No Finding")

    def layout(size: Size) -> Layout:
        classifier = layouts.linear("classifier", len(labels), size.hidden, 4.0, centre=-3.5)
        return {**layouts.bert(size, "bert."), **classifier}

    def write(target: Path, size: Size, arrays: Mapping[str, Floats]) -> None:
        _write_config(target, configs.bert_classifier(size, labels))
        _write_safetensors(target, arrays)

    return _bert(write, layout)


def _transformer(
    published: Size,
    tiny: Size,
    write_tokenizer: Callable[[Path], None],
    config: Config,
    layout: Callable[[Size], Layout],
) -> Recipe:
    def write(target: Path, size: Size, arrays: Mapping[str, Floats]) -> None:
        write_tokenizer(target)
        _write_config(target, config(size))
        _write_safetensors(target, arrays)

    return Recipe(published, tiny, write, layout)


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
