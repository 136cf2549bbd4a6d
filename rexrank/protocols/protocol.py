"""What a protocol is."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rexrank.errors import RexrankError, shown
from rexrank.protocols.texts import OPTIONS, TextOption
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
        published: Preparation of the convention ``published`` unless another is asked for: a choice, and text options
            after a ``+`` (``none+iu``).
        corrected: Likewise of the convention ``corrected``.
        choices: Which texts are compared and which get a header; one of these is always in force.
        options: Text options that may be asked for beside it.
    """

    version: int
    published: str
    corrected: str
    choices: tuple[PreparationOption, ...]
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Preparation:
    """The text preparation in force.

    Attributes:
        choice: Which texts are compared and which get a header.
        options: What is then done to both texts alike, in this order.
    """

    choice: PreparationOption
    options: tuple[TextOption, ...] = ()

    def __str__(self) -> str:
        """As it is asked for: ``sections+lower``."""
        return "+".join([self.choice, *(option.word for option in self.options)])


_KINDS = {"deid": "treat marks of de-identification", "cleaning": "are both cleaning recipes"}


def _conflict(words: Sequence[str], chosen: Sequence[str], options: Sequence[TextOption]) -> str | None:
    """Why these words cannot be asked for together, or None where they can."""
    if twice := [word for word, number in Counter(words).items() if number > 1]:
        return f"{twice[0]} stands there twice; give it once"
    if len(chosen) > 1:
        return f"{_listed(chosen)} say which texts are compared; choose one"
    for concerns in dict.fromkeys(option.concerns for option in options):
        alike = [option.word for option in options if option.concerns == concerns]
        if len(alike) > 1:
            return f"{_listed(alike)} {_KINDS.get(concerns, f'concern {concerns}')}; choose one"
    return None


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


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
        options: Options of metrics that it fixes, named as `rexrank.score` takes them (``f1chexbert.uncertain``).
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
    options: dict[str, str | int | float | bool] = Field(default_factory=dict)

    @property
    def id(self) -> str:
        """Name and version, such as ``rexrank@2025-09-05``."""
        return f"{self.name}@{self.version}"

    @property
    def metrics(self) -> tuple[str, ...]:
        """Score keys the protocol asks for, whether or not this version of rexrank computes them."""
        keys = [column.score_key for column in self.columns]
        return tuple(dict.fromkeys([*keys, *self.ranking]))

    def option(self, convention: Convention, asked: str | None = None) -> Preparation:
        """The text preparation in force.

        Args:
            convention: Decides where nothing is asked for.
            asked: One of the protocol's choices, text options, or both, joined with ``+``; without a choice the
                convention's is taken.

        Raises:
            UnknownProtocol: A word is none of the protocol's choices and options, or two of them exclude each other.
        """
        default = getattr(self.text_preparation, convention)
        return self._read(default if asked is None else asked, default)

    def _read(self, asked: object, default: str) -> Preparation:
        preparation = self.text_preparation
        words = asked.split("+") if isinstance(asked, str) else []
        known = (*preparation.choices, *preparation.options)
        unknown = [word for word in words if word not in known]
        if unknown or not words:
            if isinstance(asked, str) and len(parts := re.split(r"[+,;/&\s]+", asked)) > 1 and set(parts) <= set(known):
                raise UnknownProtocol(f"text preparation {shown(asked)}: join words with +, as in {'+'.join(parts)}")
            raise UnknownProtocol(
                f"{self.id} has no text preparation {shown(unknown[0] if unknown else asked)}; it has "
                f"{', '.join(preparation.choices)}, and joined to one of these with +: {', '.join(preparation.options)}"
            )
        chosen = [choice for choice in preparation.choices if choice in words]
        options = [option for word, option in OPTIONS.items() if word in words]
        if conflict := _conflict(words, chosen, options):
            raise UnknownProtocol(f"text preparation {shown(asked)}: {conflict}")
        first = default.partition("+")[0]
        fallback = next(choice for choice in get_args(PreparationOption) if choice == first)
        return Preparation(chosen[0] if chosen else fallback, tuple(options))

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
        if odd := [word for word in self.text_preparation.options if word not in OPTIONS]:
            raise ValueError(f"there is no text option {', '.join(odd)}")
        for convention in get_args(Convention):
            self.option(convention)
        return self
