"""What a protocol is."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

from rexrank.errors import RexrankError, shown
from rexrank.terms import Convention, Direction, Track

PreparationOption = Literal["reference", "both", "none", "sections"]


class UnknownProtocol(RexrankError, LookupError):
    """No protocol, version, track or text preparation has that name; the message lists those there are."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Column(_Frozen):
    """One column of the protocol's table.

    Attributes:
        key: Name of the column; a score key unless it is an inverse.
        label: What the site prints above it.
        better: Whether a higher or a lower shown number is better.
        inverse_of: Score key of which one over the mean is shown, or None.
    """

    key: str
    label: str
    better: Direction
    inverse_of: str | None = None

    @property
    def score_key(self) -> str:
        """The score that has to be computed for this column."""
        return self.inverse_of or self.key


class TextPreparation(_Frozen):
    """How texts are prepared before they are compared.

    Attributes:
        version: Raised whenever a prepared text can change.
        published: Option of the convention ``published`` unless another is asked for.
        corrected: Option of the convention ``corrected`` unless another is asked for.
        choices: Options that may be asked for.
    """

    version: int
    published: PreparationOption
    corrected: PreparationOption
    choices: tuple[PreparationOption, ...]


class Protocol(_Frozen):
    """One version of a rule book.

    Attributes:
        name: ``rexrank``, ``plain`` …
        version: Date or number of the version.
        description: One sentence.
        source: Who defined it.
        convention: Convention of the ranked numbers.
        tracks: Tracks that can be scored.
        columns: Columns in the order of the table.
        ranking: Score keys that rank rows, the first one first.
        text_preparation: How texts are prepared.
        directions: For each score key of the columns and the ranking, which raw value is better.
    """

    name: str
    version: str
    description: str
    source: str
    convention: Convention
    tracks: tuple[Track, ...]
    columns: tuple[Column, ...]
    ranking: tuple[str, ...]
    text_preparation: TextPreparation
    directions: dict[str, Direction]

    @property
    def id(self) -> str:
        """Name and version, such as ``rexrank@2025-09-05``."""
        return f"{self.name}@{self.version}"

    @property
    def metrics(self) -> tuple[str, ...]:
        """Score keys the protocol asks for, whether or not this version of rexrank computes them."""
        keys = [column.score_key for column in self.columns]
        return tuple(dict.fromkeys([*keys, *self.ranking]))

    def option(self, convention: Convention, asked: str | None = None) -> PreparationOption:
        """The text preparation in force.

        Raises:
            UnknownProtocol: `asked` is none of the protocol's choices.
        """
        preparation = self.text_preparation
        if asked is None:
            return preparation.published if convention == "published" else preparation.corrected
        for choice in preparation.choices:
            if isinstance(asked, str) and choice == asked:
                return choice
        choices = ", ".join(preparation.choices)
        raise UnknownProtocol(f"{self.id} has no text preparation {shown(asked)}; it has {choices}")

    def check_track(self, track: str) -> None:
        """Refuse a track that the protocol does not have.

        Raises:
            UnknownProtocol: One sentence that lists those it has.
        """
        if not isinstance(track, str) or track not in self.tracks:
            raise UnknownProtocol(f"{self.id} has no track {shown(track)}; it has {', '.join(self.tracks)}")

    @model_validator(mode="after")
    def _is_consistent(self) -> "Protocol":
        unknown = [key for key in self.metrics if key not in self.directions]
        if unknown:
            raise ValueError(f"no direction is given for {', '.join(unknown)}")
        return self
