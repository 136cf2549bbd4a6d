"""What all loaders share: tokenizers and models from a folder of files, filled strictly, and padded batches."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from rexrank.encoders.batching import is_out_of_memory
from rexrank.encoders.encoder import EncoderFailure
from rexrank.encoders.weights import Located

if TYPE_CHECKING:
    import torch

# A buffer that old versions of transformers saved, and that follows from the configuration.
_TOLERATED = "position_ids"
# Two threads in `unfilled` at once would leave torch without its functions for first numbers.
_PATCHING = Lock()


def tokenizer_in(located: Located, **settings: Any) -> Any:
    """Load the tokenizer of a checkpoint.

    Args:
        located: Where its files are.
        **settings: Passed on to the tokenizer (``add_prefix_space``).

    Raises:
        EncoderFailure: Its files are not those of a tokenizer.
    """
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(
            located.folder, local_files_only=True, trust_remote_code=False, use_fast=True, **settings
        )
    except Exception as error:
        raise EncoderFailure(f"{located.checkpoint.repo} holds no tokenizer ({type(error).__name__})") from None


def config_in(located: Located) -> Any:
    """Load the configuration of a checkpoint's transformer.

    Raises:
        EncoderFailure: There is none, or none of a known architecture.
    """
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(located.folder, local_files_only=True, trust_remote_code=False)
        # It may name a kernel for attention on the Hub: code, which would be fetched and run.
        config._attn_implementation = None
    except Exception as error:
        raise EncoderFailure(f"{located.checkpoint.repo}/config.json is not usable ({type(error).__name__})") from None
    return config


def transformer_in(located: Located, layers: int | None = None) -> "torch.nn.Module":
    """Build the transformer of a checkpoint without its heads and pooler, ready to be run in single precision.

    Args:
        located: Where ``config.json`` and ``model.safetensors`` are.
        layers: How many layers are built; None for all.

    Returns:
        The model in evaluation mode, on the processor, without gradients.

    Raises:
        EncoderFailure: A file is damaged or another one than published, it is no encoder, or has fewer layers.
    """
    repo = located.checkpoint.repo
    config = config_in(located)
    if config.is_encoder_decoder or getattr(config, "is_decoder", False):
        raise EncoderFailure(f"{repo} is no encoder; name a model that is one")
    published = set(_built(config, repo, "meta").state_dict())
    if layers is not None:
        if not 0 < layers <= config.num_hidden_layers:
            raise EncoderFailure(f"{repo} has the layers 1 to {config.num_hidden_layers}, and {layers} was asked for")
        config.num_hidden_layers = layers
    module = _built(config, repo)
    if hasattr(module, "pooler"):
        module.pooler = None
    tensors = _body_of(safetensors_in(located), module.base_model_prefix)
    unused = published - set(module.state_dict())
    fill(module, {name: tensor for name, tensor in tensors.items() if name not in unused}, f"{repo}/model.safetensors")
    return module.float().eval().requires_grad_(False)


def body_in(located: Located) -> Any:
    """Build the unfilled transformer that a configuration describes, without its pooler.

    Args:
        located: Where ``config.json`` is.

    Raises:
        EncoderFailure: It describes no model.
    """
    module = _built(config_in(located), located.checkpoint.repo)
    if hasattr(module, "pooler"):
        module.pooler = None
    return module


@contextmanager
def unfilled() -> Iterator[None]:
    """Build models without first numbers, which would take longer than reading the true ones."""
    from transformers.initialization import no_init_weights

    with _PATCHING, no_init_weights():
        yield


def _built(config: Any, repo: str, device: str = "cpu") -> Any:
    """An unfilled model; on the device ``meta`` it takes no memory."""
    import torch
    from transformers import AutoModel

    try:
        with torch.device(device), unfilled():
            return AutoModel.from_config(config, dtype=torch.float32, trust_remote_code=False)
    except Exception as error:
        raise EncoderFailure(f"{repo}/config.json describes no model ({type(error).__name__})") from None


def _body_of(tensors: "Mapping[str, torch.Tensor]", prefix: str) -> "dict[str, torch.Tensor]":
    """Tensors of a transformer by its own names; a model with heads has them behind a prefix, and its heads beside."""
    if any(name.startswith(f"{prefix}.") for name in tensors):
        tensors = {
            name.removeprefix(f"{prefix}."): tensor for name, tensor in tensors.items() if name.startswith(f"{prefix}.")
        }
    return {_today(name): tensor for name, tensor in tensors.items()}


def _today(name: str) -> str:
    """Name of a tensor that was saved by TensorFlow's names."""
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


def fill(
    module: "torch.nn.Module",
    tensors: "Mapping[str, torch.Tensor]",
    where: str,
    unused: Sequence[str] = (),
) -> None:
    """Fill a module with the tensors of a checkpoint: every one of the module's, and no other.

    Args:
        module: What is filled, in place; it keeps the type of numbers that the tensors have.
        tensors: By the names of the module's state.
        where: Repo and file, for messages.
        unused: Beginnings of the names of tensors that may stand in the file and are not taken.

    Raises:
        EncoderFailure: A tensor is missing, superfluous or of another shape.
    """
    expected = module.state_dict()
    given = {name: tensor for name, tensor in tensors.items() if not name.startswith(tuple(unused))}
    for name, tensor in expected.items():
        if name not in given:
            if name.endswith(_TOLERATED):
                continue
            raise EncoderFailure(f"{where} lacks the tensor {name}; it is not the published file")
        if tuple(given[name].shape) != tuple(tensor.shape):
            raise EncoderFailure(
                f"{where}: the tensor {name} has the shape {list(given[name].shape)} and not {list(tensor.shape)}; "
                "it is not the published file"
            )
    for name in given:
        if name not in expected and not name.endswith(_TOLERATED):
            raise EncoderFailure(f"{where} has a tensor {name} that the model has not; it is not the published file")
    module.load_state_dict({name: given[name] for name in expected if name in given}, strict=False, assign=True)


def safetensors_in(located: Located, name: str = "model.safetensors") -> "dict[str, torch.Tensor]":
    """Read the tensors of a safetensors file.

    Raises:
        EncoderFailure: It is damaged or of another format.
    """
    from safetensors.torch import load_file

    try:
        return load_file(located.files[name])
    except Exception as error:
        raise EncoderFailure(f"{located.checkpoint.repo}/{name} is not readable ({type(error).__name__})") from None


def unpickled(path: Path, where: str, mmap: bool = False) -> Any:
    """Read what torch saved; nothing that the file holds is run.

    Args:
        path: The file.
        where: Repo and file, for messages.
        mmap: Whether tensors are read when they are needed.

    Raises:
        EncoderFailure: It is missing, damaged, or holds more than tensors.
    """
    import torch

    try:
        return torch.load(path, map_location="cpu", weights_only=True, mmap=mmap)
    except Exception as error:
        raise EncoderFailure(
            f"{where} is damaged or holds more than tensors ({type(error).__name__}); get the published file"
        ) from None


def by_name(content: Any, where: str) -> "dict[str, torch.Tensor]":
    """Tensors by name, if that is what a file held.

    Raises:
        EncoderFailure: It is something else.
    """
    import torch

    if isinstance(content, Mapping) and all(
        isinstance(name, str) and isinstance(one, torch.Tensor) for name, one in content.items()
    ):
        return dict(content)
    raise EncoderFailure(f"{where} does not hold tensors by name; get the published file")


def on_device(module: Any, device: str, repo: str) -> Any:
    """Move a model to a torch device.

    Raises:
        EncoderFailure: The device has too little memory for it.
    """
    try:
        return module.to(device)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    raise EncoderFailure(f"{repo} does not fit into the memory of {device}; free some, or choose another device")


def padded(rows: Sequence[Sequence[int]], pad_id: int, device: str) -> "tuple[torch.Tensor, torch.Tensor | None]":
    """Token ids of a batch as one tensor.

    Args:
        rows: Token ids of each text.
        pad_id: Id of the padding token.
        device: Torch device.

    Returns:
        Ids, int64 [batch, longest], and the attention mask of the same shape; None where no row needs padding.
    """
    import torch

    longest = max(map(len, rows))
    ids = torch.full((len(rows), longest), pad_id, dtype=torch.int64)
    for row, tokens in enumerate(rows):
        ids[row, : len(tokens)] = torch.tensor(tokens, dtype=torch.int64)
    if all(len(tokens) == longest for tokens in rows):
        return ids.to(device), None
    mask = torch.arange(longest)[None, :] < torch.tensor([len(tokens) for tokens in rows])[:, None]
    return ids.to(device), mask.to(device, torch.int64)
