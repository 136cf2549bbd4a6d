"""Archives of RadGraph with seeded numbers, as the RadGraph package loads them."""

import gzip
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rexrank.verification.seeded_layouts import linear, table
from rexrank.verification.seeded_numbers import Tensor

_MAX_LENGTH = 512
_MAX_SPAN_WIDTH = 8
_FEATURE_SIZE = 20
_DISTANCES = 10
# Beside the null label's score of 0 they leave about a tenth of the spans an entity, and as many pairs a relation.
_RELATION_BIAS = -2.6
RELATIONS = ("modify", "located_at", "suggestive_of")
BACKBONE = "_embedder.token_embedder_bert._matched_embedder.transformer_model."


@dataclass(frozen=True)
class Archive:
    """One of RadGraph's archives.

    Attributes:
        namespace: Name of its data set, which the names of vocabularies and tensors begin with.
        backbone: Hub id of the encoder, whose configuration and tokenizer are not in the archive.
        labels: Labels of entities, without the null label.
        bias: Mean of their biases: the more labels, the lower.
    """

    namespace: str
    backbone: str
    labels: tuple[str, ...]
    bias: float


_XL_LABELS = (
    "Anatomy::definitely present",
    "Observation::definitely present",
    "Observation::definitely absent",
    "Observation::uncertain",
    "Observation::measurement::definitely present",
    "Anatomy::uncertain",
    "Anatomy::definitely absent",
    "Anatomy::measurement::definitely present",
    "Observation::measurement::definitely absent",
    "Observation::measurement::uncertain",
    "Anatomy::measurement::uncertain",
)
V1 = Archive(
    "radgraph",
    "microsoft/BiomedNLP-PubMedBERT-base-uncased-abstract",
    ("ANAT-DP", "OBS-DP", "OBS-U", "OBS-DA"),
    -2.3,
)
XL = Archive("radgraph-xl", "microsoft/BiomedVLP-CXR-BERT-general", _XL_LABELS, -2.9)
MODERN = Archive("modern-radgraph-xl", "answerdotai/ModernBERT-base", _XL_LABELS, -2.9)


def heads(archive: Archive, hidden: int) -> dict[str, Tensor]:
    """Layout of everything but the encoder.

    Args:
        archive: Which.
        hidden: Width of the encoder's vectors.
    """
    inner = _inner(hidden)
    span = 2 * hidden + _FEATURE_SIZE
    ner, relation = f"{archive.namespace}__ner_labels", f"{archive.namespace}__relation_labels"
    pruner = f"_relation._mention_pruners.{relation}._scorer"
    return {
        **table("_endpoint_span_extractor._span_width_embedding", _MAX_SPAN_WIDTH, _FEATURE_SIZE),
        **_feedforward(f"_ner._ner_scorers.{ner}.0._module", span, inner),
        **linear(
            f"_ner._ner_scorers.{ner}.1._module", len(archive.labels), inner, 2.0, mirrored=True, centre=archive.bias
        ),
        **table("_coref._distance_embedding", _DISTANCES, _FEATURE_SIZE),
        **_feedforward("_coref._antecedent_feedforward._module", 3 * span + _FEATURE_SIZE, inner),
        **_feedforward("_coref._mention_pruner._scorer.0._module", span, inner),
        **linear("_coref._mention_pruner._scorer.1._module", 1, inner),
        **linear("_coref._antecedent_scorer._module", 1, inner),
        **linear("_coref._f_network._linear_layers.0", span, 2 * span),
        **_feedforward(f"{pruner}.0._module", span, inner),
        **linear(f"{pruner}.1._module", 1, inner, mirrored=True),
        **_feedforward(f"_relation._relation_feedforwards.{relation}", 3 * span, inner),
        **linear(
            f"_relation._relation_scorers.{relation}", len(RELATIONS), inner, 2.0, mirrored=True, centre=_RELATION_BIAS
        ),
        **table("_events._distance_embedding", _DISTANCES, _FEATURE_SIZE),
    }


def _inner(hidden: int) -> int:
    """Width of the hidden layers: 150 as published, less behind a tiny encoder."""
    return 150 if hidden >= 768 else 24


def _feedforward(name: str, inputs: int, inner: int) -> dict[str, Tensor]:
    return {
        **linear(f"{name}._linear_layers.0", inner, inputs, 1.4),
        **linear(f"{name}._linear_layers.1", inner, inner, 1.4, mirrored=True),
    }


def config(archive: Archive, hidden: int) -> dict[str, Any]:
    """The archive's ``config.json``: what the package reads of it, and what training left in it.

    Args:
        archive: Which.
        hidden: Width of the encoder's vectors.
    """
    bert = {"type": "pretrained_transformer_mismatched", "model_name": archive.backbone, "max_length": _MAX_LENGTH}
    return {
        "dataset_reader": {
            "type": "dygie",
            "max_span_width": _MAX_SPAN_WIDTH,
            "token_indexers": {"bert": bert},
        },
        "model": {
            "type": "dygie",
            "embedder": {"token_embedders": {"bert": bert}},
            "initializer": {"regexes": [["_span_width_embedding.weight", {"type": "xavier_normal"}]]},
            "module_initializer": {"regexes": [[".*weight", {"type": "xavier_normal"}]]},
            "feature_size": _FEATURE_SIZE,
            "max_span_width": _MAX_SPAN_WIDTH,
            "target_task": "relation",
            "feedforward_params": {"num_layers": 2, "hidden_dims": _inner(hidden), "dropout": 0.4},
            "loss_weights": {"coref": 0, "events": 0, "ner": 0.2, "relation": 1},
            "modules": {
                "coref": {"coref_prop": 0, "max_antecedents": 100, "spans_per_word": 0.3},
                "events": {
                    "argument_spans_per_word": 0.8,
                    "loss_weights": {"arguments": 1, "trigger": 0.2},
                    "trigger_spans_per_word": 0.3,
                },
                "ner": {},
                "relation": {"spans_per_word": 0.5},
            },
        },
        "data_loader": {"sampler": {"type": "random"}},
        "trainer": {"num_epochs": 50},
    }


def write(path: Path, archive: Archive, hidden: int, weights: bytes) -> None:
    """Write an archive; the same bytes for the same weights.

    Args:
        path: Where it goes.
        archive: Which.
        hidden: Width of the encoder's vectors.
        weights: What ``weights.th`` holds.
    """
    members = {
        "config.json": json.dumps(config(archive, hidden), indent=2).encode(),
        "weights.th": weights,
        **{f"vocabulary/{name}": _lines(lines) for name, lines in _vocabulary(archive).items()},
    }
    # Numbers drawn at random cannot be compressed; the time of writing would make each archive another.
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", compresslevel=0, fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archived,
    ):
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archived.addfile(member, io.BytesIO(content))


def _vocabulary(archive: Archive) -> Mapping[str, Sequence[str]]:
    return {
        f"{archive.namespace}__ner_labels.txt": ("", *archive.labels),
        f"{archive.namespace}__relation_labels.txt": RELATIONS,
        "non_padded_namespaces.txt": ("*labels", "*tags"),
    }


def _lines(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
