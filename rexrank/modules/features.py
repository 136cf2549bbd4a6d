"""Features as an evaluate module takes them: plain lists, as they stand in a JSON file.

Of texts: ``{"chexbert_labels": {"predictions": […], "references": […]}}`` in the shape of the texts, so with one item
a report where the references are strings, and a list of items where they are lists. Of pairs: one item a report,
``{"green_completion": […]}``. An entity of RaTEScore is ``{"text": …, "type": …, "vector": […]}``.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from rexrank.errors import shown
from rexrank.metrics.features import FEATURES, Features, TextFeatures
from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.ratescore import Entity

_ENTITIES = "ratescore_entities"
_SIDES = ("predictions", "references")


def read_features(given: Any, several: bool) -> dict[str, Features]:
    """Read the features of a call.

    Args:
        given: A mapping from names of `rexrank.metrics.features.FEATURES`, or None.
        several: Whether the references of the call are lists of texts.

    Returns:
        The features as `rexrank.metrics.compute` takes them, which checks that they fit the texts.

    Raises:
        InvalidCall: They do not have the form of this module's docstring; the message holds no item of them.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidCall(f"features: expected a dict, got {type(given).__name__}")
    return {name: _read(name, one, several) for name, one in given.items()}


def wanted_form(names: Iterable[str]) -> str:
    """How features are given, for a message: ``features={'green_completion': […]}``."""
    items = (f"{name!r}: {_form(name)}" for name in names)
    return f"features={{{', '.join(items)}}}"


def _form(name: str) -> str:
    return "{'predictions': […], 'references': […]}" if FEATURES[name].of == "text" else "[…]"


def _read(name: Any, one: Any, several: bool) -> Features:
    if name not in FEATURES:
        raise InvalidCall(f"features: unknown name {shown(name)}; known are {', '.join(FEATURES)}")
    if isinstance(one, TextFeatures):
        return one
    argument = f"features[{name!r}]"
    if FEATURES[name].of == "pair":
        return _items(argument, one)
    if not isinstance(one, Mapping) or set(one) != set(_SIDES):
        raise InvalidCall(f"{argument}: expected {_form(name)}")
    predictions, references = (_items(f"{argument}.{side}", one[side]) for side in _SIDES)
    if not several:
        references = [[item] for item in references]
    elif any(isinstance(items, str | Mapping) or not isinstance(items, Iterable) for items in references):
        raise InvalidCall(f"{argument}.references: expected a list of items for each list of texts")
    read = _entities if name == _ENTITIES else lambda item: item
    return TextFeatures(list(map(read, predictions)), [list(map(read, items)) for items in references])


def _entities(item: Any) -> Any:
    """The entities of a text; the metric refuses what has not their fields."""
    if not isinstance(item, list | tuple):
        return item
    return [
        Entity(one.get("text", ""), one["type"], one["vector"])
        if isinstance(one, Mapping) and {"type", "vector"} <= set(one)
        else one
        for one in item
    ]


def _items(argument: str, items: Any) -> list[Any]:
    if isinstance(items, str | bytes | bytearray | Mapping) or not isinstance(items, Iterable):
        raise InvalidCall(f"{argument}: expected a list with one item a report, got {type(items).__name__}")
    return list(items)
