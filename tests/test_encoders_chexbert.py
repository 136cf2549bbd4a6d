"""CheXbert on seeded weights: equal to the whole BERT, its limit, odd texts, wrong files, both conventions."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rexrank.encoders import find
from rexrank.encoders.encoder import EncoderFailure, Model, Record
from rexrank.encoders.inventory import CHEXBERT, tokenizer_of
from rexrank.encoders.weights import Located, Weights
from rexrank.metrics import compute
from rexrank.metrics.computation import KeyScores
from rexrank.scoring.encoding import EncoderSettings, Encoding
from rexrank.terms import CONVENTIONS, Convention
from rexrank.verification.reports import REPORTS

torch = pytest.importorskip("torch")

TEXTS = list(dict.fromkeys(REPORTS))
TOKENIZER = tokenizer_of("bert-base-uncased")
FIRST, LAST = 101, 102


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def located_in(folder: Path) -> list[Located]:
    return encoder().locate(Weights(folder, download=False))


def encoder() -> Any:
    found = find("chexbert_labels", {})
    assert found is find("chexbert_cls", {"convention": "corrected"})
    return found


@pytest.fixture(scope="module")
def chexbert(seeded_weights: Path) -> Model:
    model: Model = encoder().load(located_in(seeded_weights), "cpu")
    return model


@pytest.fixture(scope="module")
def bert(seeded_weights: Path) -> Any:
    """The BERT inside, as transformers runs all of it."""
    from transformers import AutoConfig, BertModel

    network = BertModel(AutoConfig.from_pretrained(seeded_weights / TOKENIZER.repo))
    tensors = torch.load(seeded_weights / CHEXBERT.repo / "chexbert.pth", weights_only=True)["model_state_dict"]
    prefix = "module.bert."
    network.load_state_dict({name[len(prefix) :]: one for name, one in tensors.items() if name.startswith(prefix)})
    return network.eval()


def records(model: Model, texts: Sequence[str]) -> list[Record]:
    made = dict(model.encode(texts))
    assert sorted(made) == list(range(len(texts)))
    found = [made[position] for position in range(len(texts))]
    assert all(one is not None for one in found)
    return [one for one in found if one is not None]


def distance(one: Record, other: Record) -> float:
    """The largest difference between numbers of the vectors."""
    return float(np.abs(one["cls"] - other["cls"]).max())


def largest_difference(one: Record, other: Record) -> float:
    """The same, of records whose labels have to be equal."""
    assert np.array_equal(one["labels"], other["labels"])
    return distance(one, other)


def words(count: int, word: str = "heart") -> str:
    """A text of so many tokens without the special ones: each word is one."""
    return " ".join([word] * count)


def test_records_hold_codes_a_vector_and_a_count(chexbert: Model) -> None:
    seen = np.array([record["labels"] for record in records(chexbert, TEXTS)])
    for record in records(chexbert, TEXTS[:5]):
        assert record["labels"].shape == (14,)
        assert record["labels"].dtype == np.int8
        assert record["cls"].dtype == np.float32
        assert record["cls"].shape == (32,)
        assert record["n_truncated"].shape == ()
        assert encoder().features["chexbert_labels"](record, "") is record["labels"]
        assert encoder().features["chexbert_cls"](record, "") is record["cls"]
    # The seeded heads use each class that they have, and No Finding has no more than two.
    assert [len(set(column)) for column in seen.T[:13]].count(4) > 8
    assert set(seen[:, 13]) == {0, 1}


def test_vectors_and_labels_are_those_of_the_whole_bert(chexbert: Model, bert: Any, seeded_weights: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(seeded_weights / TOKENIZER.repo)
    tensors = torch.load(seeded_weights / CHEXBERT.repo / "chexbert.pth", weights_only=True)["model_state_dict"]
    texts = TEXTS[::6]
    for text, record in zip(texts, records(chexbert, texts), strict=True):
        ids = tokenizer(" ".join(text.split()), truncation=True, max_length=512, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            state = bert(input_ids=ids).last_hidden_state[0, 0]
        logits = [
            tensors[f"module.linear_heads.{head}.weight"] @ state + tensors[f"module.linear_heads.{head}.bias"]
            for head in range(14)
        ]
        assert record["labels"].tolist() == [int(one.argmax()) for one in logits]
        assert np.abs(record["cls"] - state.numpy()).max() < 1e-5


def test_the_last_layer_of_the_first_token_alone_is_the_whole_one(bert: Any) -> None:
    import copy

    from rexrank.encoders.bert import FirstStates

    rows = [[FIRST, *range(2000, 2000 + length), LAST] for length in (1, 40, 7, 0)]
    ids = torch.zeros((4, 42), dtype=torch.int64)
    mask = torch.zeros((4, 42), dtype=torch.int64)
    for row, tokens in enumerate(rows):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
    with torch.inference_mode():
        whole = bert(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]
        first = FirstStates(copy.deepcopy(bert), 0, "cpu").of(rows)
        alone = FirstStates(copy.deepcopy(bert), 0, "cpu").of(rows[1:2])
    assert (whole - first).abs().max() < 1e-6
    assert (whole[1:2] - alone).abs().max() < 1e-5


def test_nothing_depends_on_neighbours_order_or_batch(chexbert: Model) -> None:
    together = records(chexbert, TEXTS)
    order = np.random.default_rng(3).permutation(len(TEXTS))
    shuffled = records(chexbert, [TEXTS[position] for position in order])
    assert max(largest_difference(together[at], one) for at, one in zip(order, shuffled, strict=True)) < 1e-5
    for position in range(0, len(TEXTS), 9):
        assert largest_difference(together[position], records(chexbert, [TEXTS[position]])[0]) < 1e-5
    assert list(chexbert.encode([])) == []


def test_tokens_from_the_512th_on_are_left_out_and_counted(chexbert: Model) -> None:
    kept = [509, 510]
    short, exact = records(chexbert, [words(count) for count in kept])
    assert short["n_truncated"] == exact["n_truncated"] == 0
    assert distance(short, exact) > 1e-4
    long, longer, other = records(chexbert, [words(511), words(3000), words(510) + " lung lung"])
    for cut in (long, longer, other):
        assert cut["n_truncated"] == 1
        assert largest_difference(cut, exact) < 1e-5
    before = records(chexbert, [words(509) + " lung " + words(3)])[0]
    assert distance(before, exact) > 1e-4


def test_a_text_without_tokens_is_the_two_special_ones(chexbert: Model, bert: Any) -> None:
    blanks = ["", " ", "\t\n \r\n", "\u00a0\u2003", "\u200b", "\x00\x07", "\ufeff", "\ud83d"]
    with torch.inference_mode():
        state = bert(input_ids=torch.tensor([[FIRST, LAST]])).last_hidden_state[0, 0].numpy()
    for record in records(chexbert, blanks):
        assert np.abs(record["cls"] - state).max() < 1e-5
        assert record["n_truncated"] == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Small effusion. No edema.", "  Small\n\n effusion.\t\u00a0No\u2028edema.\r\n"),
        ("Cardiomegaly.", "CARDIOMEGALY."),
        ("No edema.", "No\x85edema\u3000."),
        ("Caf\u00e9 au lait.", "Cafe\u0301 au lait."),
        ("Nodule.", "No\u200bdu\u00adle\ud83d."),
        # A code point without a character, which f1chexbert's tokenizer drops and that of transformers 5 keeps.
        ("Nodule.", "Nodule\u0378."),
    ],
)
def test_texts_that_the_tokenizer_takes_for_equal(chexbert: Model, one: str, other: str) -> None:
    first, second = records(chexbert, [one, other])
    assert largest_difference(first, second) < 1e-5


def test_marks_of_the_tokenizer_inside_a_text_count_as_such(chexbert: Model, bert: Any) -> None:
    record = records(chexbert, ["heart[SEP]heart"])[0]
    heart, mark = 2540, LAST
    with torch.inference_mode():
        state = bert(input_ids=torch.tensor([[FIRST, heart, mark, heart, LAST]])).last_hidden_state[0, 0].numpy()
    assert np.abs(record["cls"] - state).max() < 1e-5


Change = Callable[[dict[str, Any]], Any]


def copied(source: Path, target: Path, change: Change, **settings: Any) -> Path:
    """The seeded checkpoint with other content in ``chexbert.pth``."""
    for repo in (CHEXBERT.repo, TOKENIZER.repo):
        shutil.copytree(source / repo, target / repo, dirs_exist_ok=True)
    path = target / CHEXBERT.repo / "chexbert.pth"
    content = torch.load(path, weights_only=True)
    torch.save(change(content), path, **settings)
    return target


def without(name: str) -> Change:
    return lambda content: content["model_state_dict"].pop(name) is None or content


def with_tensor(name: str, shape: tuple[int, ...]) -> Change:
    def change(content: dict[str, Any]) -> dict[str, Any]:
        content["model_state_dict"][name] = torch.zeros(shape)
        return content

    return change


def unprefixed(content: dict[str, Any]) -> dict[str, Any]:
    tensors = content["model_state_dict"]
    return content | {"model_state_dict": {name.removeprefix("module."): one for name, one in tensors.items()}}


class Runs:
    """Would make a folder if a reader ran what a pickle says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("module.linear_heads.13.weight"), r"lacks the tensor linear_heads\.13\.weight; "),
        (without("module.bert.encoder.layer.1.output.dense.bias"), r"lacks the tensor bert\.encoder\.layer\.1\."),
        (with_tensor("module.linear_heads.2.weight", (2, 32)), r"linear_heads\.2\.weight has the shape \[2, 32\]"),
        (with_tensor("module.linear_heads.14.weight", (2, 32)), r"has a tensor linear_heads\.14\.weight"),
        (unprefixed, r"has a tensor bert\.embeddings\.[\w.]+ outside of module\.; "),
        (lambda content: content["model_state_dict"], r"has no entry model_state_dict; "),
        (lambda content: [content], r"has no entry model_state_dict; "),
    ],
)
def test_another_file_is_refused_by_the_first_wrong_tensor(
    seeded_weights: Path, tmp_path: Path, change: Change, message: str
) -> None:
    folder = copied(seeded_weights, tmp_path, change)
    with pytest.raises(EncoderFailure, match=rf"^StanfordAIMI/RRG_scorers/chexbert\.pth:? ?.*{message}"):
        encoder().load(located_in(folder), "cpu")


@pytest.mark.parametrize("zipped", [True, False])
def test_nothing_that_a_file_says_is_run(seeded_weights: Path, tmp_path: Path, zipped: bool) -> None:
    made = tmp_path / "made"
    folder = copied(
        seeded_weights,
        tmp_path,
        lambda content: content | {"epoch": Runs(made)},
        _use_new_zipfile_serialization=zipped,
    )
    with pytest.raises(EncoderFailure, match=r"chexbert\.pth is damaged or holds more than tensors \(\w+\); get the "):
        encoder().load(located_in(folder), "cpu")
    assert not made.exists()


@pytest.mark.parametrize("content", [b"?", b"PK\x03\x04 no archive", b"<html>Not found</html>"])
def test_a_damaged_file_is_refused(seeded_weights: Path, tmp_path: Path, content: bytes) -> None:
    folder = copied(seeded_weights, tmp_path, lambda whole: whole)
    (folder / CHEXBERT.repo / "chexbert.pth").write_bytes(content)
    with pytest.raises(EncoderFailure, match=r"chexbert\.pth is damaged"):
        encoder().load(located_in(folder), "cpu")


def test_another_architecture_is_refused(seeded_weights: Path, tmp_path: Path) -> None:
    folder = copied(seeded_weights, tmp_path, lambda content: content)
    shutil.copy(seeded_weights / "distilbert-base-uncased/config.json", folder / TOKENIZER.repo / "config.json")
    with pytest.raises(EncoderFailure, match=r"^bert-base-uncased/config\.json is not that of a BERT"):
        encoder().load(located_in(folder), "cpu")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_size": 33}, r"config\.json describes no model \(ValueError\)"),
        ({"is_decoder": True}, r"config\.json is not that of a BERT"),
        (
            {"vocab_size": 30000},
            r"word_embeddings\.weight has the shape \[30522, 32\] and not \[30000, 32\]",
        ),
    ],
)
def test_another_configuration_is_refused(
    seeded_weights: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    folder = copied(seeded_weights, tmp_path, lambda content: content)
    path = folder / TOKENIZER.repo / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(EncoderFailure, match=message):
        encoder().load(located_in(folder), "cpu")


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(seeded_weights: Path, tmp_path: Path) -> None:
    folder = copied(seeded_weights, tmp_path, lambda content: content)
    path = folder / TOKENIZER.repo / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["model"]["vocab"]["effusions"] = len(content["model"]["vocab"])
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(EncoderFailure, match=r"^bert-base-uncased holds the tokenizer of another model; "):
        encoder().load(located_in(folder), "cpu")


def old_buffer_and_no_pooler(content: dict[str, Any]) -> dict[str, Any]:
    tensors = content["model_state_dict"]
    kept = {name: one for name, one in tensors.items() if ".pooler." not in name}
    return content | {"model_state_dict": kept | {"module.bert.embeddings.position_ids": torch.arange(512)[None]}}


@pytest.mark.parametrize(
    ("change", "zipped"), [(lambda content: content, False), (old_buffer_and_no_pooler, True)], ids=["torch 1.4", "1.6"]
)
def test_files_of_old_versions_are_read_alike(
    chexbert: Model, seeded_weights: Path, tmp_path: Path, change: Change, zipped: bool
) -> None:
    folder = copied(seeded_weights, tmp_path, change, _use_new_zipfile_serialization=zipped)
    read = encoder().load(located_in(folder), "cpu")
    for one, other in zip(records(read, TEXTS[:20]), records(chexbert, TEXTS[:20]), strict=True):
        assert largest_difference(one, other) == 0


@pytest.mark.skipif(not Path("/proc/self/io").is_file(), reason="counts what Linux says that was read")
def test_what_training_left_in_the_file_is_not_read(seeded_weights: Path, tmp_path: Path) -> None:
    state = {0: {"exp_avg": torch.zeros(8_000_000)}}
    folder = copied(seeded_weights, tmp_path, lambda content: content | {"optimizer_state_dict": {"state": state}})
    located = located_in(folder)

    def bytes_read() -> int:
        return int(Path("/proc/self/io").read_text().split()[1])

    before = bytes_read()
    encoder().load(located, "cpu")
    assert bytes_read() - before < 16_000_000


def scored(
    seeded_weights: Path, keys: list[str], pairs: Sequence[tuple[str, str]], convention: Convention
) -> dict[str, KeyScores]:
    """Scores of pairs of a prediction and a reference, by way of the encoder."""
    predictions, references = [list(side) for side in zip(*pairs, strict=True)]
    settings = EncoderSettings(device="cpu", cache=False, weights=seeded_weights, download=False)
    with Encoding(predictions, references, convention, settings) as encoding:
        features = {name: one for key in keys for name, one in encoding.features(key, {}).items()}
        return compute(keys, predictions, references, convention, features=features)


PAIRS = [
    ("Small effusion.", "Small effusion."),
    ("", "Small effusion."),
    ("Edema and cardiomegaly.", words(600, "clear")),
    (words(600), "Clear."),
    ("Small effusion.", "Small  effusion.\n"),
]


def every_record(model: Model, texts: Sequence[str]) -> list[Record]:
    """Records of texts of which some are equal."""
    known = dict(zip(dict.fromkeys(texts), records(model, list(dict.fromkeys(texts))), strict=True))
    return [known[text] for text in texts]


def test_sembscore_differs_between_conventions_as_its_table_says(seeded_weights: Path, chexbert: Model) -> None:
    vectors = np.array([one["cls"] for one in records(chexbert, TEXTS)])
    unlike = np.unravel_index((vectors @ vectors.T).argmin(), (len(TEXTS), len(TEXTS)))
    pairs = [*PAIRS, (TEXTS[unlike[0]], TEXTS[unlike[1]]), *zip(TEXTS[100:120], TEXTS[130:150], strict=True)]
    published, corrected = (scored(seeded_weights, ["sembscore"], pairs, one)["sembscore"] for one in CONVENTIONS)
    assert published.values[[0, 4]].tolist() == pytest.approx([1, 1], abs=1e-6)
    assert corrected.values[[0, 4]].tolist() == [1, 1]
    blank, effusion = (one["cls"].astype(np.float64) for one in records(chexbert, ["", "Small effusion."]))
    cosine = blank @ effusion / np.sqrt((blank @ blank) * (effusion @ effusion))
    assert published.values[1] == pytest.approx(cosine, abs=1e-6)
    assert corrected.values[1] == 0
    cut = sum(int(one["n_truncated"]) for side in zip(*pairs, strict=True) for one in every_record(chexbert, side))
    assert published.counts["n_truncated"] == corrected.counts["n_truncated"] == cut >= 2
    assert published.values[5] < 0
    assert corrected.counts["n_clamped"] == (published.values < 0)[2:].sum()
    others = np.arange(len(pairs)) > 1
    assert corrected.values[others] == pytest.approx(np.maximum(published.values[others], 0), abs=1e-6)
    assert "|enc:chexbert|pool:cls|max:512|w:" in published.signature


def test_f1chexbert_differs_between_conventions_as_its_table_says(seeded_weights: Path, chexbert: Model) -> None:
    keys = ["f1chexbert_macro_14", "f1chexbert_micro_14", "f1chexbert_samples_5", "ce_recall"]
    perfect = [(text, text) for text in TEXTS[20:23]]
    published, corrected = (scored(seeded_weights, keys, perfect, one) for one in CONVENTIONS)
    codes = np.array([one["labels"] for one in records(chexbert, TEXTS[20:23])])
    present = np.isin(codes, (1, 3))
    occurring = int(present.any(axis=0).sum())
    assert 0 < occurring < 14
    assert published["f1chexbert_macro_14"].aggregate == pytest.approx(occurring / 14)
    assert corrected["f1chexbert_macro_14"].aggregate == 1
    assert corrected["f1chexbert_macro_14"].counts["n_labels"] == occurring
    assert published["f1chexbert_micro_14"].aggregate == corrected["f1chexbert_micro_14"].aggregate == 1
    assert published["ce_recall"].aggregate == pytest.approx((codes == 1).any(axis=0).sum() / 14)
    assert "|enc:chexbert|max:512|w:" in published["ce_recall"].signature


def test_a_blank_report_has_chexberts_labels_in_published_alone(seeded_weights: Path, chexbert: Model) -> None:
    blank, other = (np.isin(one["labels"], (1, 3)) for one in records(chexbert, ["", TEXTS[20]]))
    assert blank.any()
    key = "f1chexbert_micro_14"
    published, corrected = (scored(seeded_weights, [key], [("", TEXTS[20])], one)[key] for one in CONVENTIONS)
    assert published.aggregate == pytest.approx(2 * (blank & other).sum() / (blank.sum() + other.sum()))
    assert corrected.aggregate == 0
