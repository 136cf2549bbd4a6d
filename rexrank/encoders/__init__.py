"""Neural models that turn texts into features: one file a published checkpoint, shared batching, weights and store.

No module here imports torch or transformers before a model is loaded.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from rexrank.encoders.encoder import Encoder

_MODULES = ("bertscore", "chexbert", "radgraph", "ratescore", "srrbert")


def find(feature: str, options: Mapping[str, Any]) -> Encoder | None:
    """The encoder that makes a feature.

    Args:
        feature: Name of a feature of texts, as metrics know it (``chexbert_labels``).
        options: Options of the metric that asks; those that choose an encoder are looked at.

    Returns:
        The encoder, or None where no encoder makes this feature.

    Raises:
        UnknownEncoder: An option names an encoder that does not exist.
    """
    for module in _MODULES:
        if encoder := import_module(f"rexrank.encoders.{module}").find(feature, options):
            found: Encoder = encoder
            return found
    return None


def all_encoders() -> list[Encoder]:
    """Every encoder that the default options and the named presets of metrics choose."""
    return [encoder for module in _MODULES for encoder in import_module(f"rexrank.encoders.{module}").ENCODERS]
