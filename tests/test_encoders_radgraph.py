"""RadGraph on seeded weights: the plain way gives the same, texts are independent, and wrong files are refused.

Equality with the package itself is tested in test_encoders_equal_originals.py.
"""

import json
import math
import pickle
import random
import shutil
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rexrank.encoders import find
from rexrank.encoders.encoder import Encoder, EncoderFailure, Model, Record
from rexrank.encoders.inventory import TOKENIZERS
from rexrank.encoders.onednn import pack
from rexrank.encoders.radgraph import RadGraph
from rexrank.encoders.radgraph_archive import folder_of
from rexrank.encoders.weights import Weights
from rexrank.metrics import compute
from rexrank.metrics.radgraph import reward
from rexrank.verification.reports import REPORTS

torch = pytest.importorskip("torch")

NAMES = {"v1": "radgraph", "xl": "radgraph-xl", "modern": "modern-radgraph-xl"}
ZERO = "\u200b"  # BERT drops it, so the word has no piece
ODD = [
    "None",
    "x",
    "No /. or /? here.",
    "Nodule 3.5 x 2.1 cm; post-operative, right-sided: stable (see below). 10%, 20%.",
    "Fièvre: ombre à 3 cm². µ½ ™ 日本",
    f"{ZERO} effusion {ZERO}{ZERO} in the left lung {ZERO} {ZERO} {ZERO}",
    f"{ZERO} {ZERO}",
    "[SEP] [CLS] [PAD] [MASK] left",
    "a" * 120,
    "right right right right right right",
    "antidisestablishmentarianism-" * 6,
    "Small left pleural effusion with adjacent atelectasis. " * 4,
]
SHORT_ROWS = 11

Edit = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def encoder(kind: str) -> Encoder:
    found = find(f"radgraph_{kind}_graphs", {})
    assert found is not None
    return found


def load(kind: str, folder: Path) -> Model:
    one = encoder(kind)
    return one.load(one.locate(Weights(folder, download=False)), "cpu")


def encode(model: Model, texts: list[str]) -> list[Record]:
    found = dict(model.encode(texts))
    assert sorted(found) == list(range(len(texts)))
    records = [found[position] for position in range(len(texts))]
    assert None not in [record for record in records if record is None]
    return [record for record in records if record is not None]


def graphs(kind: str, model: Model, texts: list[str]) -> list[Any]:
    make = encoder(kind).features[f"radgraph_{kind}_graphs"]
    return [make(record, text) for record, text in zip(encode(model, texts), texts, strict=True)]


def unpacked(kind: str, seeded: Path, folder: Path) -> Path:
    """Unpack a seeded archive as a user may have done, beside the tokenizers; returns the folder of the archive."""
    target = folder / NAMES[kind]
    with tarfile.open(seeded / f"StanfordAIMI/RRG_scorers/{NAMES[kind]}.tar.gz") as archive:
        archive.extractall(target, filter="data")
    for repo in TOKENIZERS:
        (folder / repo).parent.mkdir(exist_ok=True)
        (folder / repo).symlink_to(seeded / repo)
    return target


def edit(folder: Path, change: Edit) -> None:
    """Change the settings of an unpacked archive."""
    path = folder / "config.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def short_rows(content: dict[str, Any]) -> None:
    content["dataset_reader"]["token_indexers"]["bert"]["max_length"] = SHORT_ROWS
    content["model"]["embedder"]["token_embedders"]["bert"]["max_length"] = SHORT_ROWS
    content["model"]["modules"]["relation"]["spans_per_word"] = 0.7


@pytest.fixture(scope="module")
def models(seeded_weights: Path) -> Mapping[str, Model]:
    return {kind: load(kind, seeded_weights) for kind in NAMES}


class Plain:
    """DyGIE++ word for word as the specification has it: one report at a time, every span, every pair."""

    def __init__(self, kind: str, folder: Path, seeded: Path) -> None:
        from transformers import AutoConfig, AutoModel, AutoTokenizer

        config = json.loads((folder / "config.json").read_text())
        bert = config["dataset_reader"]["token_indexers"]["bert"]
        self.most = bert["max_length"]
        self.share = config["model"]["modules"]["relation"]["spans_per_word"]
        self.width = config["model"]["max_span_width"]
        self.tokenizer = AutoTokenizer.from_pretrained(seeded / bert["model_name"])
        self.marked = kind != "modern"
        tensors = torch.load(folder / "weights.th", weights_only=True)
        prefix = "_embedder.token_embedder_bert._matched_embedder.transformer_model."
        self.bert = AutoModel.from_config(AutoConfig.from_pretrained(seeded / bert["model_name"])).eval()
        own = {name.removeprefix(prefix): one for name, one in tensors.items() if name.startswith(prefix)}
        self.bert.load_state_dict(own)
        self.tensors = tensors
        space = NAMES[kind]
        self.labels = (folder / f"vocabulary/{space}__ner_labels.txt").read_text().split("\n")[:-1]
        self.types = ["", *(folder / f"vocabulary/{space}__relation_labels.txt").read_text().split("\n")[:-1]]
        pruner = f"_relation._mention_pruners.{space}__relation_labels._scorer"
        self.ner = (
            f"_ner._ner_scorers.{space}__ner_labels.0._module",
            f"_ner._ner_scorers.{space}__ner_labels.1._module",
        )
        self.mention = f"{pruner}.0._module", f"{pruner}.1._module"
        relation = f"{space}__relation_labels"
        self.relation = f"_relation._relation_feedforwards.{relation}", f"_relation._relation_scorers.{relation}"

    def linear(self, name: str, values: Any) -> Any:
        return values @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]

    def scores(self, names: tuple[str, str], values: Any) -> Any:
        for number in range(2):
            values = self.linear(f"{names[0]}._linear_layers.{number}", values).relu()
        return self.linear(names[1], values)

    def states(self, pieces: list[int]) -> Any:
        """Vectors in which the one of piece i is looked for at i + 1."""
        first, last = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        flat = pieces
        if self.marked:
            room = self.most - 2
            parts = [pieces[start : start + room] for start in range(0, len(pieces), room)]
            flat = [token for part in parts for token in (first, *part, last)]
        rows = [flat[start : start + self.most] for start in range(0, len(flat), self.most)]
        each = [self.bert(input_ids=torch.tensor([row])).last_hidden_state[0] for row in rows]
        if len(each) < 2:
            return each[0] if each else torch.zeros(0, self.bert.config.hidden_size)
        # The last row is filled up before the vectors at its ends are taken away.
        inner = [one[1:-1] for one in each[:-1]] + [each[-1][1 : self.most - 1]]
        kept = torch.cat([each[0][:1], *inner])[: len(flat) - 2 * (len(rows) - 1)]
        return torch.cat([kept[: len(flat) - 2 * (len(rows) - 1) - 1], each[-1][-1:]])

    def vectors(self, words: list[str]) -> Any:
        slashed = [word[1:] if word in ("/.", "/?") else word for word in words]
        ids = [self.tokenizer(word, add_special_tokens=False)["input_ids"] for word in slashed]
        states = self.states([piece for word in ids for piece in word])
        vectors, place = [], 1
        for word in ids:
            own = states[place : place + len(word)]
            vectors.append(own.mean(dim=0) if len(own) else torch.zeros(states.shape[1]))
            place += len(word)
        return torch.stack(vectors)

    def graph(self, words: list[str]) -> tuple[list[Any], list[Any]]:
        """Entities (first, last, label) and relations (head, tail, type) among them, by their numbers."""
        vectors = self.vectors(words)
        spans = [(i, j) for i in range(len(words)) for j in range(i, min(len(words), i + self.width))]
        widths = self.tensors["_endpoint_span_extractor._span_width_embedding.weight"]
        rows = torch.stack([torch.cat([vectors[i], vectors[j], widths[j - i]]) for i, j in spans])
        labels = torch.cat([torch.zeros(len(spans), 1), self.scores(self.ner, rows)], dim=1).argmax(dim=1)
        entities = [(i, j, self.labels[label]) for (i, j), label in zip(spans, labels.tolist(), strict=True) if label]
        numbers = {(i, j): number for number, (i, j, _) in enumerate(entities)}
        mention = self.scores(self.mention, rows)[:, 0]
        kept = sorted(mention.topk(math.ceil(len(words) * self.share)).indices.tolist())
        relations = []
        for head in kept:
            pairs = torch.stack([torch.cat([rows[head], rows[tail], rows[head] * rows[tail]]) for tail in kept])
            scores = self.scores(self.relation, pairs) + mention[head] + mention[kept][:, None]
            types = torch.cat([torch.zeros(len(kept), 1), scores], dim=1).argmax(dim=1).tolist()
            for tail, kind in zip(kept, types, strict=True):
                if kind and spans[head] in numbers and spans[tail] in numbers:
                    relations.append((numbers[spans[head]], numbers[spans[tail]], self.types[kind]))
        return entities, relations


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("rows", ["published", "short"])
def test_the_plain_way_gives_the_same_graphs(kind: str, rows: str, seeded_weights: Path, tmp_path: Path) -> None:
    folder = unpacked(kind, seeded_weights, tmp_path)
    if rows == "short":
        edit(folder, short_rows)
    plain, texts = Plain(kind, folder, seeded_weights), [*ODD, *sorted(REPORTS, key=len)[90:110]]
    found = relations = 0
    with torch.inference_mode():
        for graph in graphs(kind, load(kind, tmp_path), texts):
            entities, links = plain.graph(graph["text"].split(" "))
            got = graph["entities"]
            assert [(one["start_ix"], one["end_ix"], one["label"]) for one in got.values()] == entities
            assert [
                (int(number) - 1, int(tail) - 1, kind) for number, one in got.items() for kind, tail in one["relations"]
            ] == links
            words = graph["text"].split(" ")
            assert all(one["tokens"] == " ".join(words[one["start_ix"] : one["end_ix"] + 1]) for one in got.values())
            found, relations = found + len(entities), relations + len(links)
    assert found > 200
    assert relations > 20


@pytest.mark.parametrize("kind", NAMES)
def test_a_graph_depends_on_its_text_alone(kind: str, models: Mapping[str, Model]) -> None:
    texts = [*ODD, *sorted(set(REPORTS) - {""}, key=len)[60:-3:2]]
    model = models[kind]
    assert isinstance(model, RadGraph)
    expected = dict(zip(texts, graphs(kind, model, texts), strict=True))
    chance = random.Random(4)
    for budget in (1, 300, 5000):
        model._budget = budget
        mixed = chance.sample(texts, len(texts))
        assert dict(zip(mixed, graphs(kind, model, mixed), strict=True)) == expected
    for text in chance.sample(texts, 20):
        assert graphs(kind, model, [text]) == [expected[text]]


@pytest.mark.parametrize("kind", NAMES)
def test_empty_and_white_texts(kind: str, models: Mapping[str, Model]) -> None:
    empty, none, white, other = graphs(kind, models[kind], ["", "None", " \n\t", "\u3000"])
    assert empty == none
    assert white == other == {"text": "", "entities": {}}
    assert list(models[kind].encode([])) == []


def test_half_a_surrogate_pair_counts_as_a_control_character(models: Mapping[str, Model]) -> None:
    half, control = graphs("xl", models["xl"], ["small \ud83d effusion", f"small {ZERO} effusion"])
    assert [one["label"] for one in half["entities"].values()] == [one["label"] for one in control["entities"].values()]


def test_reports_of_more_than_a_row_are_counted(models: Mapping[str, Model]) -> None:
    # "lung" is one piece of BERT, and two marks belong to a row.
    texts = ["lung " * number for number in (1, 510, 511, 1021)]
    assert [int(record["n_chunked"]) for record in encode(models["v1"], texts)] == [0, 0, 1, 1]
    assert encoder("v1").counts == ("n_chunked",)


def test_a_record_holds_numbers_and_names_of_labels_but_no_word(models: Mapping[str, Model]) -> None:
    words = "Zzyzx quuxly effusion and frobnicated atelectasis"
    record = encode(models["xl"], [words])[0]
    assert {name: (one.dtype.str, one.ndim) for name, one in record.items()} == {
        "spans": ("<i4", 2),
        "labels": ("<i2", 1),
        "relations": ("<i4", 2),
        "label_names": ("|u1", 1),
        "type_names": ("|u1", 1),
        "n_chunked": ("<i8", 0),
    }
    content = b"".join(one.tobytes() for one in record.values()).lower()
    assert not [word for word in words.lower().split() if word.encode() in content]
    assert b"anatomy::definitely present" in content


def test_graphs_are_features_of_the_metric(models: Mapping[str, Model]) -> None:
    texts = sorted(REPORTS, key=len)[100:102]
    for kind, level in (("xl", "partial"), ("modern", "complete"), ("v1", "combined")):
        made = graphs(kind, models[kind], texts)
        features = {f"radgraph_{kind}_graphs": {"predictions": made, "references": made[:1] * 2}}
        scores = compute([f"radgraph_{level}"], texts, texts[:1] * 2, "published", features=features, model=kind)
        expected = [reward(graph, made[0], level, "published") for graph in made]
        assert expected[0] > 0
        assert scores[f"radgraph_{level}"].values.tolist() == expected


def spoil(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def spoilt(folder: Path) -> None:
        tensors = torch.load(folder / "weights.th", weights_only=True)
        change(tensors)
        torch.save(tensors, folder / "weights.th")

    return spoilt


def rename(old: str, new: str) -> Callable[[Path], None]:
    return lambda folder: (folder / old).rename(folder / new) and None


def settings(path: str, value: Any) -> Callable[[Path], None]:
    def change(content: dict[str, Any]) -> None:
        *names, last = path.split(".")
        for name in names:
            content = content[name]
        content[last] = value

    return lambda folder: edit(folder, change)


SCORER = "_relation._relation_scorers.radgraph-xl__relation_labels.bias"
LABELS = "vocabulary/radgraph-xl__ner_labels.txt"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (spoil(lambda tensors: tensors.pop(SCORER)), f"lacks the tensor {SCORER}"),
        (spoil(lambda tensors: tensors.update({SCORER: torch.zeros(4)})), f"the tensor {SCORER} has the shape [4]"),
        (spoil(lambda tensors: tensors.update(other=torch.zeros(1))), "has a tensor other that the model has not"),
        (spoil(lambda tensors: tensors.update({SCORER: [1, 2, 3]})), "does not hold tensors by name"),
        (
            lambda folder: (folder / "weights.th").write_bytes(pickle.dumps(Path, 2)) and None,
            "is damaged or holds",
        ),
        (rename(LABELS, "vocabulary/radgraph__ner_labels.txt"), "radgraph__relation_labels.txt in it is missing"),
        (rename(LABELS, "vocabulary/none.txt"), "has 0 files vocabulary/*__ner_labels.txt"),
        (lambda folder: (folder / LABELS).write_text("Anatomy\n") and None, "does not begin with the empty label"),
        (
            lambda folder: (folder / "config.json").write_text("{") and None,
            "config.json in it is missing",
        ),
        (settings("model.feature_size", 0), "no usable model.feature_size"),
        (settings("model.feature_size", True), "no usable model.feature_size"),
        (settings("model.modules.relation.spans_per_word", "half"), "no usable model.modules.relation.spans_per_word"),
        (settings("model.modules.coref.coref_prop", 2), "no usable model.modules.coref.coref_prop"),
        (settings("model.loss_weights.relation", 0), "no usable model.loss_weights.relation"),
        (settings("model.feedforward_params.hidden_dims", [24]), "no usable model.feedforward_params.hidden_dims"),
        (settings("model.max_span_width", 9), "no usable dataset_reader.max_span_width"),
        (settings("model.embedder", {}), "no usable model.embedder.token_embedders.bert.model_name"),
        (settings("dataset_reader.token_indexers.bert.max_length", 10), "bert.max_length"),
    ],
)
def test_other_files_than_published_are_refused(
    change: Callable[[Path], None], said: str, seeded_weights: Path, tmp_path: Path
) -> None:
    change(unpacked("xl", seeded_weights, tmp_path))
    with pytest.raises(EncoderFailure) as raised:
        load("xl", tmp_path)
    assert said in str(raised.value)
    assert str(tmp_path) not in str(raised.value)


def test_a_repo_that_is_a_path_is_refused(seeded_weights: Path, tmp_path: Path) -> None:
    def change(content: dict[str, Any]) -> None:
        for bert in (
            content["dataset_reader"]["token_indexers"]["bert"],
            content["model"]["embedder"]["token_embedders"]["bert"],
        ):
            bert["model_name"] = "../../somewhere"

    edit(unpacked("xl", seeded_weights, tmp_path), change)
    with pytest.raises(EncoderFailure, match=r"no usable dataset_reader\.token_indexers\.bert\.model_name"):
        encoder("xl").locate(Weights(tmp_path, download=False))


def test_data_set_and_widths_are_those_of_the_files(seeded_weights: Path, tmp_path: Path) -> None:
    """The archive of PhysioNet names no data set; its vocabularies begin with None."""
    folder = unpacked("v1", seeded_weights, tmp_path)
    for kind in ("ner", "relation"):
        (folder / f"vocabulary/radgraph__{kind}_labels.txt").rename(folder / f"vocabulary/None__{kind}_labels.txt")
    spoil(
        lambda tensors: tensors.update(
            {name.replace("radgraph__", "None__"): tensors.pop(name) for name in list(tensors)}
        )
    )(folder)
    edit(folder, lambda content: content["model"]["feedforward_params"].update(hidden_dims=[24, 24]))
    texts = list(ODD)
    assert graphs("v1", load("v1", tmp_path), texts) == graphs("v1", load("v1", seeded_weights), texts)


def test_what_macos_puts_beside_each_file_is_left_alone(seeded_weights: Path, tmp_path: Path) -> None:
    folder = unpacked("xl", seeded_weights, tmp_path)
    for path in [*folder.rglob("*.json"), *folder.rglob("*.txt")]:
        path.with_name(f"._{path.name}").write_bytes(b"\0\5\x16\7 Mac OS X")
    texts = list(ODD)
    expected = graphs("xl", load("xl", seeded_weights), texts)
    assert graphs("xl", load("xl", tmp_path), texts) == expected
    with tarfile.open(tmp_path / "radgraph-xl.tar.gz", "w:gz") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)
    shutil.rmtree(folder)
    assert graphs("xl", load("xl", tmp_path), texts) == expected


def test_what_the_user_unpacked_is_taken_before_the_archive(seeded_weights: Path, tmp_path: Path) -> None:
    mine = unpacked("xl", seeded_weights, tmp_path)
    shutil.copytree(seeded_weights / "StanfordAIMI", tmp_path / "StanfordAIMI")
    first, second = (encoder("xl").locate(Weights(folder, download=False)) for folder in (tmp_path, seeded_weights))
    assert folder_of(first[0]) == mine
    assert folder_of(second[0]) != mine
    assert first[0].fingerprint != second[0].fingerprint
    (mine / LABELS).write_text("\n" + "A\n" * 11)
    again = encoder("xl").locate(Weights(tmp_path, download=False))[0]
    assert again.fingerprint != first[0].fingerprint, "the names of labels are part of what comes out"


def test_layers_in_onednns_order_give_the_same() -> None:
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this torch has no oneDNN")
    module = torch.nn.Sequential(torch.nn.Linear(48, 64), torch.nn.GELU(), torch.nn.Linear(64, 32, bias=False))
    values = torch.randn(3, 5, 48)
    with torch.inference_mode():
        expected = module(values)
        assert not pack(module, "cuda:0")
        assert not pack(torch.nn.Sequential(torch.nn.GELU()), "cpu")
        assert pack(module, "cpu")
        assert torch.allclose(module(values), expected, atol=1e-6)
        assert torch.allclose(module(values[:1, :1]), expected[:1, :1], atol=1e-6)
    assert not list(module.parameters()), "the weights are held once"


def test_labels_of_all_kinds_occur(models: Mapping[str, Model]) -> None:
    """Else the tests above prove little."""
    records = encode(models["xl"], sorted(set(REPORTS) - {""}, key=len)[-60:-4])
    labels = np.concatenate([record["labels"] for record in records])
    relations = np.concatenate([record["relations"] for record in records])
    assert len(set(labels.tolist())) > 5
    assert set(relations[:, 2].tolist()) == {0, 1, 2}
