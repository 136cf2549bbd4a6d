"""What encoders made of texts, read study by study for the metrics that score it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.pairs import Pairs
from rexrank.reports.studies import is_blank

FAILED = "failed"

Read = TypeVar("Read")


def read_studies(
    pairs: Pairs, name: str, read: Callable[[Any, str], Read], blank: Read | None = None
) -> Iterator[tuple[Read, list[Read]] | None]:
    """Read the features of one study after the other, so that a lazy sequence is never held as a whole.

    Args:
        pairs: The texts with their features.
        name: Name of the feature.
        read: Takes an item and its place in the call (``features['x'].predictions[3]``), for messages.
        blank: What stands for a blank text, whatever the encoder made of it; None takes what the encoder made.

    Yields:
        The prediction's feature and those of the references; None where the encoder failed for one of the texts.

    Raises:
        InvalidCall: An item has not the form of the feature.
    """
    features = pairs.text_features(name)
    # Taken in their order and not by their numbers, which in a column of pandas are labels.
    items_of_studies = zip(features.predictions, features.references, strict=True)
    for position, (item, items) in enumerate(items_of_studies):
        where = f"features[{name!r}].predictions[{position}]"
        prediction = _read(pairs.predictions[position], item, read, where, blank)
        references = []
        for index, (text, item) in enumerate(zip(pairs.references[position], items, strict=True)):
            where = f"features[{name!r}].references[{position}][{index}]"
            references.append(_read(text, item, read, where, blank))
        known = [reference for reference in references if reference is not None]
        yield None if prediction is None or len(known) < len(references) else (prediction, known)


def _read(text: str, item: Any, read: Callable[[Any, str], Read], where: str, blank: Read | None) -> Read | None:
    if blank is not None and is_blank(text):
        return blank
    return None if item is None else read(item, where)


def failures(studies: Sequence[object]) -> dict[int, str]:
    """The reason of each study for which an encoder failed, by position."""
    return {position: FAILED for position, study in enumerate(studies) if study is None}


def read_numbers(item: Any, where: str, axes: str) -> NDArray[Any]:
    """Return an item as an array of numbers; it is not copied where it is one.

    Args:
        item: What was given.
        where: Its place in the call.
        axes: Names of its axes (``tokens, d``).

    Raises:
        InvalidCall: It holds something else than numbers, or has other axes.
    """
    try:
        array = np.asarray(item)
    except (TypeError, ValueError, RuntimeError):
        raise InvalidCall(f"{where}: expected numbers [{axes}], got {type(item).__name__}") from None
    if array.dtype.kind not in "fiu":
        raise InvalidCall(f"{where}: expected numbers [{axes}], got {type(item).__name__} of {array.dtype.name}")
    if array.ndim != len(axes.split(",")):
        raise InvalidCall(f"{where}: expected numbers [{axes}], got an array of shape {list(array.shape)}")
    return array
