"""Encoding of texts into a store, on one device in this process or on several in a process each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rexrank.encoders.encoder import Model
from rexrank.encoders.store import Store
from rexrank.encoders.weights import Located

SILENCE_SECONDS = 1800.0


def encode_here(model: Model, texts: Sequence[str], store: Store, shelf: str, done: Callable[[int], None]) -> list[int]:
    """Encode texts in this process; records go to the store as they come, and few are in memory at a time.

    Args:
        model: A model that is loaded.
        texts: All different.
        store: Takes the records.
        shelf: The store's shelf.
        done: Called with a number of texts whenever that many more are through, failed ones included.

    Returns:
        Positions of those texts for which the model gave nothing.

    Raises:
        EncoderFailure: No text can be encoded.
    """
    raise NotImplementedError


def loader(feature: str, options: Mapping[str, Any], located: Sequence[Located]) -> Callable[[str], Model]:
    """What `encode` loads a model with, here or in another process.

    Args:
        feature: As of `rexrank.encoders.find`.
        options: As of `rexrank.encoders.find`; plain values alone, since they travel to other processes.
        located: Files of the encoder's checkpoints, as its `locate` gives them.

    Returns:
        Takes a device and gives the model; it can be pickled.
    """
    raise NotImplementedError


def encode(
    load: Callable[[str], Model],
    texts: Sequence[str],
    devices: Sequence[str],
    store: Store,
    shelf: str,
    done: Callable[[int], None],
    silence_seconds: float = SILENCE_SECONDS,
) -> list[int]:
    """Encode texts on one or several devices.

    With one device the model is loaded in this process. With several, a new process each encodes a share and writes
    to the store itself; what a process leaves that dies or hangs, this process does on the first device.

    Args:
        load: From `loader`.
        texts: All different; they reach the processes through a pipe alone.
        devices: From `rexrank.encoders.devices.devices`.
        store: Takes the records.
        shelf: The store's shelf.
        done: Called with a number of texts whenever that many more are through, failed ones included; in the end
            with as many as there are texts, all calls together.
        silence_seconds: A process that tells nothing for so long is taken for hanging, and ended.

    Returns:
        Positions of those texts for which the model gave nothing, in order.

    Raises:
        EncoderFailure: The model cannot be loaded, or no text can be encoded.
    """
    raise NotImplementedError
