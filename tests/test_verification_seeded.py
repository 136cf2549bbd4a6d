"""Seeded checkpoints: the same everywhere, laid out as published, and everything that encoders tell apart occurs."""

import hashlib
import json
import math
import tarfile
from collections import Counter
from collections.abc import Mapping
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rexrank.encoders import find, inventory
from rexrank.encoders.weights import Weights
from rexrank.verification.reports import PAIRS, REPORTS
from rexrank.verification.seeded import layout_of, make
from rexrank.verification.seeded_numbers import Layout, Tensor, fill

SEEDED = tuple(name for name in inventory.CHECKPOINTS if name != "minilm")
ARCHIVES = ("radgraph", "radgraph-xl", "modern-radgraph-xl")
ORDINARY = REPORTS[-40:]

torch = pytest.importorskip("torch")


def repo(folder: Path, name: str) -> Path:
    return folder / inventory.CHECKPOINTS[name].repo


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def encoded(weights: Path, feature: str, texts: tuple[str, ...] = ORDINARY) -> list[Any]:
    """Items of a feature, by our encoder of it."""
    encoder = find(feature, {})
    assert encoder is not None
    model = encoder.load(encoder.locate(Weights(weights, download=False)), "cpu")
    unique = tuple(dict.fromkeys(texts))
    made = dict(model.encode(unique))
    records = [record for position in range(len(unique)) if (record := made[position]) is not None]
    return [encoder.features[feature](record, text) for record, text in zip(records, unique, strict=True)]


def test_made_twice_is_the_same_to_the_byte(seeded_weights: Path, tmp_path: Path) -> None:
    make(tmp_path, "tiny")
    assert digests(tmp_path) == digests(seeded_weights)


def test_numbers_are_the_same_on_every_machine() -> None:
    layout = {"a.weight": Tensor((3, 5), 0.7), "b.bias": Tensor((3,), 0.1, (0.0, 1.0, -2.5))}
    made = fill("chexbert", layout)
    digest = hashlib.sha256(b"".join(array.astype("<f4").tobytes() for array in made.values())).hexdigest()
    assert digest[:16] == "c09fcf3fd4cd894f"


def test_numbers_of_a_tensor_hang_on_no_other() -> None:
    both = fill("x", {"a": Tensor((4, 4), 1.0), "b": Tensor((4, 4), 1.0)})
    assert np.array_equal(fill("x", {"b": Tensor((4, 4), 1.0)})["b"], both["b"])
    assert not np.array_equal(fill("y", {"b": Tensor((4, 4), 1.0)})["b"], both["b"])


def test_numbers_spread_as_stated() -> None:
    made = fill("x", {"a": Tensor((400, 500), 0.25, 3.0), "m": Tensor((3, 7), 1.0, mirrored=True)})
    assert made["a"].dtype == np.float32
    assert abs(float(made["a"].mean()) - 3) < 0.005
    assert abs(float(made["a"].std()) - 0.25) < 0.005
    assert np.array_equal(made["m"][:, 1::2], -made["m"][:, 0:6:2])


def test_every_checkpoint_is_found(seeded_weights: Path) -> None:
    weights = Weights(seeded_weights, download=False)
    for name in SEEDED:
        located = weights.locate(inventory.CHECKPOINTS[name])
        assert located.folder.is_relative_to(seeded_weights)
        assert not located.verified


def test_only_what_is_asked_for_is_made(tmp_path: Path) -> None:
    make(tmp_path, "tiny", only=["distilroberta-base"])
    assert [path.name for path in tmp_path.iterdir()] == ["distilroberta-base"]
    with pytest.raises(KeyError):
        make(tmp_path, "tiny", only=["minilm"])


def size_in_bytes(layout: Layout) -> int:
    return 4 * sum(math.prod(tensor.shape) for tensor in layout.values())


@pytest.mark.parametrize("name", [name for name in SEEDED if "model.safetensors" in inventory.CHECKPOINTS[name].files])
def test_published_shapes_are_as_large_as_the_published_file(name: str) -> None:
    published = inventory.CHECKPOINTS[name].size
    assert 0.97 < size_in_bytes(layout_of(name, "base")) / published < 1.01


def test_published_shapes_of_radgraph_xl(shared_data: Path) -> None:
    listed = json.loads((shared_data / "expected" / "radgraph_state_dict.json").read_text())["tensors"]
    assert {name: list(tensor.shape) for name, tensor in layout_of("radgraph-xl", "base").items()} == listed
    assert len(listed) == 234


def test_published_shapes_of_the_first_radgraph_differ_in_labels_alone() -> None:
    first, second = layout_of("radgraph", "base"), layout_of("radgraph-xl", "base")
    renamed = {name.replace("radgraph__", "radgraph-xl__"): tensor.shape for name, tensor in first.items()}
    assert {name for name in renamed if renamed[name] != second[name].shape} == {
        "_ner._ner_scorers.radgraph-xl__ner_labels.1._module.weight",
        "_ner._ner_scorers.radgraph-xl__ner_labels.1._module.bias",
    }
    assert renamed.keys() == second.keys()


def test_chexbert_holds_what_training_saved(seeded_weights: Path) -> None:
    saved = torch.load(repo(seeded_weights, "chexbert") / "chexbert.pth", weights_only=True)
    assert "optimizer_state_dict" in saved
    tensors = saved["model_state_dict"]
    assert {name.partition(".")[0] for name in tensors} == {"module"}
    heads = [tensors[f"module.linear_heads.{head}.weight"].shape[0] for head in range(14)]
    assert heads == [4] * 13 + [2]
    assert len(layout_of("chexbert", "base")) == 227


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives_hold_what_the_package_reads(seeded_weights: Path, tmp_path: Path, name: str) -> None:
    with tarfile.open(repo(seeded_weights, name) / f"{name}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    vocabulary = tmp_path / "vocabulary"
    assert sorted(path.name for path in vocabulary.iterdir()) == [
        *sorted([f"{name}__ner_labels.txt", f"{name}__relation_labels.txt", "non_padded_namespaces.txt"])
    ]
    labels = (vocabulary / f"{name}__ner_labels.txt").read_text().splitlines()
    assert labels[0] == ""
    tensors = torch.load(tmp_path / "weights.th", weights_only=True)
    assert len(tensors[f"_ner._ner_scorers.{name}__ner_labels.1._module.bias"]) == len(labels) - 1
    model = json.loads((tmp_path / "config.json").read_text())["model"]
    backbone = model["embedder"]["token_embedders"]["bert"]["model_name"]
    assert (seeded_weights / backbone / "config.json").is_file()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("distilroberta-base", "AutoModelForMaskedLM"),
        ("distilbert-base-uncased", "AutoModelForMaskedLM"),
        ("roberta-large", "AutoModelForMaskedLM"),
        ("radeval-modernbert", "AutoModel"),
        ("biolord", "AutoModel"),
        ("rate-ner", "AutoModelForTokenClassification"),
        ("srr-bert-leaves", "AutoModelForSequenceClassification"),
        ("srr-bert-upper", "AutoModelForSequenceClassification"),
        ("srr-bert-leaves-with-statuses", "AutoModelForSequenceClassification"),
        ("srr-bert-upper-with-statuses", "AutoModelForSequenceClassification"),
    ],
)
def test_transformers_fills_its_model_with_every_tensor(seeded_weights: Path, name: str, kind: str) -> None:
    import transformers

    loaded, about = getattr(transformers, kind).from_pretrained(
        repo(seeded_weights, name), local_files_only=True, output_loading_info=True
    )
    assert {key: value for key, value in about.items() if value} == {}
    assert {tensor.shape for tensor in loaded.state_dict().values()} >= {
        tensor.shape for tensor in layout_of(name, "tiny").values()
    }


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("srr-bert-leaves", 55),
        ("srr-bert-upper", 25),
        ("srr-bert-leaves-with-statuses", 163),
        ("srr-bert-upper-with-statuses", 73),
        ("rate-ner", 11),
    ],
)
def test_labels_are_as_many_as_published(seeded_weights: Path, name: str, labels: int) -> None:
    config = json.loads((repo(seeded_weights, name) / "config.json").read_text())
    assert len(set(config["id2label"].values())) == labels
    assert layout_of(name, "base")["classifier.weight"].shape == (labels, 768)


def tokenizer_at(folder: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.mark.parametrize(
    "name", [name for name in SEEDED if not name.startswith(("srr", "chexbert")) and name not in ARCHIVES]
)
def test_tokenizers_load_and_keep_to_the_table_of_tokens(seeded_weights: Path, name: str) -> None:
    from transformers import AutoTokenizer

    folder = repo(seeded_weights, name)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    ids = [tokenizer(report)["input_ids"] for report in REPORTS]
    assert max(map(max, ids)) < json.loads((folder / "config.json").read_text())["vocab_size"]
    assert all(row[0] == tokenizer.cls_token_id and row[-1] == tokenizer.sep_token_id for row in ids)
    pieces = [piece for row in ids for piece in row]
    assert pieces.count(tokenizer.unk_token_id) < len(pieces) / 100
    if name != "rate-ner":
        assert ids == [encoding.ids for encoding in tokenizer_at(folder).encode_batch(REPORTS)]


def test_transformers_tokenizes_odd_texts_for_deberta_otherwise_than_the_file_says(seeded_weights: Path) -> None:
    """Where this fails, transformers has begun to keep the normaliser, and encoders may take its tokenizer."""
    from transformers import AutoTokenizer

    folder = repo(seeded_weights, "rate-ner")
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    text = "Change of ½ of the lung…"
    assert tokenizer(text)["input_ids"] != tokenizer_at(folder).encode(text).ids


def test_berts_of_three_repos_differ(seeded_weights: Path) -> None:
    names = ("bert-base-uncased", "BiomedVLP-CXR-BERT-general", "BiomedNLP-PubMedBERT-base-uncased-abstract")
    tokenizers = [tokenizer_at(repo(seeded_weights, name)) for name in names]
    assert len({tuple(tokenizer.encode("No effusion.").ids) for tokenizer in tokenizers}) == 3
    assert len({tuple(tokenizer.encode("No effusion.").tokens) for tokenizer in tokenizers}) == 1
    assert tokenizers[0].encode("No effusion.").ids[0] == 101


def test_chexbert_gives_every_class(seeded_weights: Path) -> None:
    labels = np.array(encoded(seeded_weights, "chexbert_labels", REPORTS))
    classes = [set(column) for column in labels.T]
    assert classes[13] == {0, 1}
    assert sum(found == {0, 1, 2, 3} for found in classes[:13]) >= 9
    assert len({tuple(row) for row in labels}) > 100


@pytest.mark.parametrize(("model", "labels"), [("v1", 4), ("xl", 10), ("modern", 8)])
def test_radgraph_finds_entities_and_relations_of_every_kind(seeded_weights: Path, model: str, labels: int) -> None:
    graphs = encoded(seeded_weights, f"radgraph_{model}_graphs")
    entities = [list(graph["entities"].values()) for graph in graphs]
    kinds = Counter(entity["label"] for report in entities for entity in report)
    relations = Counter(kind for report in entities for entity in report for kind, _ in entity["relations"])
    words = sum(len(graph["text"].split()) for graph in graphs)
    assert len(kinds) >= labels
    assert len(relations) == 3
    assert np.mean([len({entity["label"] for entity in report}) for report in entities]) >= 3
    assert sum(relations.values()) > 3 * len(graphs)
    # Eight spans begin with a word, and most of them are nothing.
    assert sum(kinds.values()) < 2 * words
    assert sum(not entity["relations"] for report in entities for entity in report) > sum(kinds.values()) / 2


def test_srr_bert_gives_some_labels_and_not_most(seeded_weights: Path) -> None:
    labels = encoded(seeded_weights, "srrbert_labels")
    counts = [len(found) for found in labels]
    assert 1 < np.mean(counts) < 163 / 2
    assert len({frozenset(found) for found in labels}) > len(labels) / 2


def padded(folder: Path) -> tuple[Any, Any]:
    """Ids and attention mask of the ordinary texts, each once, as one batch."""
    tokenizer = tokenizer_at(folder)
    tokenizer.enable_padding(pad_id=json.loads((folder / "config.json").read_text())["pad_token_id"])
    encodings = tokenizer.encode_batch(list(dict.fromkeys(ORDINARY)))
    return (
        torch.tensor([encoding.ids for encoding in encodings]),
        torch.tensor([encoding.attention_mask for encoding in encodings]),
    )


def entities_of(labels: list[str]) -> Counter[tuple[str, bool]]:
    """Types of entities, and whether they have several tokens, in a row of labels."""
    return Counter(
        (label.removeprefix("B-"), after.startswith("I-")) for label, after in pairwise(labels) if label[0] == "B"
    )


def test_rate_ner_finds_entities_of_every_type(seeded_weights: Path) -> None:
    from transformers import AutoModelForTokenClassification

    folder = repo(seeded_weights, "rate-ner")
    model = AutoModelForTokenClassification.from_pretrained(folder, local_files_only=True).eval()
    ids, mask = padded(folder)
    with torch.inference_mode():
        best = model(input_ids=ids, attention_mask=mask).logits.argmax(-1)
    rows = [
        [model.config.id2label[index] for index in row[kept].tolist()]
        for row, kept in zip(best, mask.bool(), strict=True)
    ]
    found = sum((entities_of(row) for row in rows), Counter())
    labels = Counter(chain.from_iterable(rows))
    assert len(found) == 10, "five types, each of one token and of several"
    assert min(found.values()) > 2
    assert 0.1 < labels["O"] / labels.total() < 0.6


@pytest.mark.parametrize("name", ["distilroberta-base", "distilbert-base-uncased", "radeval-modernbert", "biolord"])
def test_vectors_of_different_texts_differ(seeded_weights: Path, name: str) -> None:
    from transformers import AutoModel

    folder = repo(seeded_weights, name)
    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    ids, mask = padded(folder)
    with torch.inference_mode():
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]
    vectors = torch.nn.functional.normalize(hidden, dim=-1)
    cosines = (vectors @ vectors.T)[~torch.eye(len(vectors), dtype=torch.bool)]
    assert cosines.mean() < 0.9
    assert cosines.max() < 0.9999


def test_reports_are_of_every_kind() -> None:
    from rexrank.verification.seeded_tokenizers import bert_words

    assert len(REPORTS) == len(PAIRS) == 200
    assert len(set(REPORTS)) < 200
    assert REPORTS.count("") == 2
    assert sum(not report.strip() for report in REPORTS) > 4
    assert any(report and not any(map(str.isalnum, report)) and report.strip() for report in REPORTS)
    assert sum(" " not in report.strip() and report.isalpha() for report in REPORTS) >= 2
    kinds: Mapping[str, int] = {
        mark: sum(mark in report for report in REPORTS)
        for mark in ("\n", "\t", "\r", "\u00a0", "(50%).", "XXXX", "___", "1. ", '"', "/", "-", "½", "肺", "κ", "🙂")
    }
    assert all(kinds.values()), kinds
    assert len(bert_words()) == 30522


def test_reports_exceed_every_limit(seeded_weights: Path) -> None:
    for name in ("bert-base-uncased", "distilroberta-base", "rate-ner", "ModernBERT-base"):
        tokenizer = tokenizer_at(repo(seeded_weights, name))
        lengths = [len(encoding.ids) for encoding in tokenizer.encode_batch(REPORTS)]
        assert max(lengths) > 1022, f"{name}: three chunks"
        assert np.median(lengths) < 100


def test_pairs_are_of_every_kind() -> None:
    assert sum(prediction == reference for prediction, reference in PAIRS) > 20
    assert any(not prediction.strip() and reference.strip() for prediction, reference in PAIRS)
    assert any(prediction.strip() and not reference.strip() for prediction, reference in PAIRS)
    near = [
        1
        for prediction, reference in PAIRS
        if prediction != reference and abs(len(prediction.split()) - len(reference.split())) <= 1
    ]
    assert len(near) > 30
