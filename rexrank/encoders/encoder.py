"""What an encoder is: a published checkpoint, the features that it makes, and how it is loaded."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from rexrank.errors import RexrankError

if TYPE_CHECKING:
    from rexrank.encoders.recent import Records
    from rexrank.encoders.weights import Checkpoint, Located, Weights

Record = Mapping[str, NDArray[Any]]
"""What an encoder makes of one text, as arrays of numbers by name: it goes to disk, so it holds no word of the text."""

Encoded = tuple[int, Record | None]
"""Position of a text, and what the encoder makes of it; None where it failed for this text alone."""


class UnknownEncoder(RexrankError, ValueError):
    """Options that no encoder has; the sentence begins with the option's name."""


class EncoderFailure(RexrankError, RuntimeError):
    """An encoder that cannot be loaded or run here: other files than published, too little memory."""


class Model(ABC):
    """A checkpoint in memory."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Iterator[Encoded]:
        """Encode texts, which are all different, in batches of similar length.

        What comes out for a text depends on that text alone: not on its neighbours, its place or the batch.

        Yields:
            Position and record of every text exactly once, as batches finish, in any order.

        Raises:
            EncoderFailure: No text can be encoded.
        """

    def keep_parts_in(self, records: "Records", shelf: str) -> None:  # noqa: B027 - most models read whole texts
        """Name the place for what is made of parts of texts, such as sentences, that other texts may share.

        Args:
            records: Takes them, and has those of before.
            shelf: That of the encoder's records.
        """


@dataclass(frozen=True)
class Encoder:
    """One way to encode texts, before anything is loaded.

    Attributes:
        name: Name of the store's shelf and of messages of developers (``chexbert``), unique among encoders.
        label: Name for readers (``CheXbert``).
        version: Raised whenever the record of any text can change.
        checkpoints: What it loads, the one with the weights first.
        features: Name of a feature to the function that makes its item from the record and the text.
        load: Takes the files of its checkpoints, in their order, and a torch device (``cpu``, ``cuda:0``, ``mps``).
        signature: Parts of a signature that pin the encoder, without ``w`` (``{"enc": …, "layer": …, "max": "512"}``).
        counts: Names of those entries of a record that are counted over all texts (``n_truncated``), whole numbers.
    """

    name: str
    label: str
    version: str
    checkpoints: "tuple[Checkpoint, ...]"
    features: Mapping[str, Callable[[Record, str], Any]] = field(hash=False)
    load: "Callable[[Sequence[Located], str], Model]" = field(hash=False)
    signature: Mapping[str, str] = field(default_factory=dict, hash=False)
    counts: tuple[str, ...] = ("n_truncated",)

    def locate(self, weights: "Weights") -> "list[Located]":
        """Find the files of every checkpoint.

        Raises:
            MissingWeights: One is not here and cannot be fetched; one sentence for readers.
        """
        return [weights.locate(checkpoint) for checkpoint in self.checkpoints]
