"""Files of checkpoints: taken as published, and refused in one sentence where they are not."""

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, PreTrainedModel

from rexrank.encoders import inventory
from rexrank.encoders.encoder import EncoderFailure
from rexrank.encoders.inventory import Checkpoint
from rexrank.encoders.loading import by_name, config_in, fill, padded, safetensors_in, tokenizer_in, transformer_in
from rexrank.encoders.weights import Located, Weights

LAYERS = 5
WEIGHTS = "model.safetensors"


def located(weights: Path, checkpoint: Checkpoint) -> Located:
    return Weights(weights, download=False).locate(checkpoint)


@pytest.fixture
def copy(seeded_weights: Path, tmp_path: Path) -> Path:
    """A distilroberta-base whose files a test may spoil."""
    shutil.copytree(seeded_weights / "distilroberta-base", tmp_path / "distilroberta-base")
    return tmp_path / "distilroberta-base"


def change_config(folder: Path, **settings: object) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | settings), encoding="utf-8")


def change_tensors(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors = load_file(folder / WEIGHTS)
    change(tensors)
    save_file(tensors, folder / WEIGHTS)


def states(module: torch.nn.Module, ids: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return module(input_ids=ids).last_hidden_state


IDS = torch.tensor([[0, 17, 5, 300, 42, 2]])


@pytest.mark.parametrize(
    ("checkpoint", "layers"),
    [
        (inventory.DISTILROBERTA, 5),
        (inventory.DISTILROBERTA, 6),
        (inventory.DISTILBERT, 5),
        (inventory.ROBERTA_LARGE, 17),
        (inventory.BIOLORD, 2),
        (inventory.RATE_NER, 1),
    ],
)
def test_the_first_layers_equal_those_of_the_whole_model(
    seeded_weights: Path, checkpoint: Checkpoint, layers: int
) -> None:
    whole = AutoModel.from_pretrained(seeded_weights / checkpoint.repo).eval()
    with torch.inference_mode():
        expected = whole(input_ids=IDS, output_hidden_states=True).hidden_states[layers]
    module: Any = transformer_in(located(seeded_weights, checkpoint), layers)
    assert module.config.num_hidden_layers == layers
    assert not module.training
    assert not any(parameter.requires_grad for parameter in module.parameters())
    torch.testing.assert_close(states(module, IDS), expected, atol=1e-6, rtol=0)


def test_modernbert_ends_with_its_norm_whatever_the_layer(seeded_weights: Path) -> None:
    files = located(seeded_weights, inventory.RADEVAL_MODERNBERT)
    whole = AutoModel.from_pretrained(files.folder).eval()
    torch.testing.assert_close(states(transformer_in(files), IDS), states(whole, IDS), atol=1e-6, rtol=0)
    whole.layers = whole.layers[:7]
    torch.testing.assert_close(states(transformer_in(files, 7), IDS), states(whole, IDS), atol=1e-6, rtol=0)


def test_layers_that_are_not_built_may_be_absent(copy: Path) -> None:
    before = states(transformer_in(located(copy.parent, inventory.DISTILROBERTA), LAYERS), IDS)

    def shorten(tensors: dict[str, torch.Tensor]) -> None:
        for name in [name for name in tensors if ".layer.5." in name or name.startswith("lm_head")]:
            del tensors[name]

    change_tensors(copy, shorten)
    files = located(copy.parent, inventory.DISTILROBERTA)
    assert torch.equal(states(transformer_in(files, LAYERS), IDS), before)
    with pytest.raises(EncoderFailure, match=r"distilroberta-base/model.safetensors lacks the tensor encoder.layer.5."):
        transformer_in(files)


def test_names_of_other_times_and_numbers_of_half_the_bits(copy: Path) -> None:
    before = states(transformer_in(located(copy.parent, inventory.DISTILROBERTA)), IDS)

    def rename(tensors: dict[str, torch.Tensor]) -> None:
        for name in [*tensors]:
            tensor = tensors.pop(name)
            if name.startswith("roberta."):
                old = name.removeprefix("roberta.").replace("LayerNorm.weight", "LayerNorm.gamma")
                tensors[old.replace("LayerNorm.bias", "LayerNorm.beta")] = tensor.half()
        tensors["embeddings.position_ids"] = torch.arange(514)[None]
        tensors["pooler.dense.weight"] = torch.zeros(32, 32)
        tensors["pooler.dense.bias"] = torch.zeros(32)

    change_tensors(copy, rename)
    module = transformer_in(located(copy.parent, inventory.DISTILROBERTA))
    assert {parameter.dtype for parameter in module.parameters()} == {torch.float32}
    torch.testing.assert_close(states(module, IDS), before, atol=2e-2, rtol=0)


def lack(tensors: dict[str, torch.Tensor]) -> None:
    del tensors["roberta.encoder.layer.2.output.dense.bias"]


def misshape(tensors: dict[str, torch.Tensor]) -> None:
    tensors["roberta.embeddings.position_embeddings.weight"] = torch.zeros(512, 32)


def exceed(tensors: dict[str, torch.Tensor]) -> None:
    tensors["roberta.encoder.layer.9.output.dense.bias"] = torch.zeros(32)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lack, "lacks the tensor encoder.layer.2.output.dense.bias; it is not the published file"),
        (misshape, r"position_embeddings.weight has the shape \[512, 32\] and not \[514, 32\]"),
        (exceed, "has a tensor encoder.layer.9.output.dense.bias that the model has not"),
        (dict.clear, "lacks the tensor"),
    ],
)
def test_another_file_is_refused(copy: Path, change: Callable[[dict[str, torch.Tensor]], object], message: str) -> None:
    change_tensors(copy, change)
    with pytest.raises(EncoderFailure, match=message) as caught:
        transformer_in(located(copy.parent, inventory.DISTILROBERTA), LAYERS)
    assert str(caught.value).startswith("distilroberta-base/model.safetensors")


@pytest.mark.parametrize("content", [b"{}", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      ", b"\xff" * 100])
def test_a_damaged_file_of_weights(copy: Path, content: bytes) -> None:
    (copy / WEIGHTS).write_bytes(content)
    files = located(copy.parent, inventory.DISTILROBERTA)
    with pytest.raises(EncoderFailure, match=r"^distilroberta-base/model.safetensors (is not readable|lacks)"):
        transformer_in(files)


def test_a_file_that_was_cut_short(copy: Path) -> None:
    whole = (copy / WEIGHTS).read_bytes()
    (copy / WEIGHTS).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(EncoderFailure, match=r"distilroberta-base/model.safetensors is not readable"):
        safetensors_in(located(copy.parent, inventory.DISTILROBERTA))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model_type": "no-such-model"}, r"distilroberta-base/config.json is not usable \(ValueError\)"),
        ({"model_type": "t5"}, "distilroberta-base is no encoder"),
        ({"is_decoder": True}, "distilroberta-base is no encoder"),
        ({"num_attention_heads": 5}, r"distilroberta-base/config.json describes no model \(ValueError\)"),
        ({"hidden_size": "wide"}, "distilroberta-base/config.json"),
        ({"auto_map": {"AutoConfig": "here.Config", "AutoModel": "here.Model"}, "model_type": "own"}, "is not usable"),
    ],
)
def test_another_configuration_is_refused(copy: Path, settings: dict[str, object], message: str) -> None:
    (copy / "here.py").write_text("raise SystemExit('run')", encoding="utf-8")
    change_config(copy, **settings)
    with pytest.raises(EncoderFailure, match=message):
        transformer_in(located(copy.parent, inventory.DISTILROBERTA))


@pytest.mark.parametrize("name", ["attn_implementation", "_attn_implementation"])
def test_a_kernel_that_a_configuration_names_is_not_fetched(copy: Path, name: str) -> None:
    before = states(transformer_in(located(copy.parent, inventory.DISTILROBERTA)), IDS)
    change_config(copy, **{name: "somebody/kernel"})
    assert torch.equal(states(transformer_in(located(copy.parent, inventory.DISTILROBERTA)), IDS), before)


@pytest.mark.parametrize("content", ["{", "[]", "null", '{"hidden_size": 32}'])
def test_a_damaged_configuration(copy: Path, content: str) -> None:
    (copy / "config.json").write_text(content, encoding="utf-8")
    with pytest.raises(EncoderFailure, match=r"^distilroberta-base/config.json is not usable"):
        config_in(located(copy.parent, inventory.DISTILROBERTA))


@pytest.mark.parametrize("layers", [0, 7, -1])
def test_a_layer_that_is_not_there(seeded_weights: Path, layers: int) -> None:
    message = f"^distilroberta-base has the layers 1 to 6, and {layers} was asked for$"
    with pytest.raises(EncoderFailure, match=message):
        transformer_in(located(seeded_weights, inventory.DISTILROBERTA), layers)


def test_a_tokenizer_and_its_settings(seeded_weights: Path) -> None:
    files = located(seeded_weights, inventory.DISTILROBERTA)
    plain = tokenizer_in(files)("heart")["input_ids"]
    assert (
        plain
        != tokenizer_in(files, add_prefix_space=True)("heart")["input_ids"]
        == plain[:1] + (tokenizer_in(files)(" heart")["input_ids"][1:])
    )


def test_a_repo_without_a_usable_tokenizer(copy: Path) -> None:
    for name in ("tokenizer.json", "vocab.json", "merges.txt"):
        (copy / name).unlink()
    (copy / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(EncoderFailure, match=r"^distilroberta-base holds no tokenizer"):
        tokenizer_in(located(copy.parent, inventory.DISTILROBERTA))


def test_fill_ignores_what_it_is_told_to_and_nothing_else() -> None:
    module = torch.nn.Linear(2, 1)
    tensors = {"weight": torch.ones(1, 2), "bias": torch.zeros(1), "head.weight": torch.ones(1)}
    fill(module, tensors, "repo/file", unused=("head.",))
    assert module(torch.ones(2)).item() == 2
    with pytest.raises(EncoderFailure, match=r"^repo/file has a tensor head.weight that the model has not"):
        fill(module, tensors, "repo/file")


@pytest.mark.parametrize("content", [[torch.ones(1)], {3: torch.ones(1)}, {"weight": 1}, None])
def test_what_is_not_tensors_by_name_is_refused(content: Any) -> None:
    with pytest.raises(EncoderFailure, match=r"^repo/file does not hold tensors by name; get the published file"):
        by_name(content, "repo/file")


def test_padding() -> None:
    ids, mask = padded([[5, 6, 7], [8]], 1, "cpu")
    assert ids.tolist() == [[5, 6, 7], [8, 1, 1]]
    assert mask is not None
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]
    assert padded([[5, 6], [1, 1]], 1, "cpu")[1] is None


def test_models_that_are_built_at_once_leave_torch_as_it_was(seeded_weights: Path) -> None:
    files = located(seeded_weights, inventory.DISTILROBERTA)
    before = torch.nn.init.normal_, PreTrainedModel.init_weights
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda layers: states(transformer_in(files, layers), IDS), [1, 2, 1, 2] * 4))
    assert (torch.nn.init.normal_, PreTrainedModel.init_weights) == before
    assert torch.nn.Linear(4, 4).weight.abs().max() <= 0.5
    for one, other in zip(made[:2] * 8, made, strict=True):
        assert torch.equal(one, other)
