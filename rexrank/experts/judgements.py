"""What radiologists said of candidate reports: one number a candidate, a rater and a measure."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rexrank.errors import RexrankError, shown
from rexrank.terms import Direction

Floats = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)

_SHOWN = 3
_MEAN_DIGITS = 12


class UnreadableJudgements(RexrankError, ValueError):
    """A file of judgements that cannot be read as it is."""


@dataclass(frozen=True, repr=False)
class Candidate:
    """One candidate report.

    Attributes:
        study_id: Study that it describes; candidates of one study have the same reference.
        name: Its name within the study (``C1``, ``bleu``).
        text: The report, or None where the file has none.
        reference: The radiologist's report, or None.
        group: What is drawn as a whole with it, such as the patient; the study where it is None.
    """

    study_id: str
    name: str
    text: str | None = None
    reference: str | None = None
    group: str | None = None

    @property
    def shown(self) -> str:
        """How a message names it."""
        return f"candidate {shown(self.name)} of study {shown(self.study_id)}"


@dataclass(frozen=True, eq=False)
class Opinion:
    """One thing that raters said of every candidate.

    Attributes:
        label: In words (``number of clinically significant errors``).
        direction: Whether a higher or a lower number speaks for the report: ratings rise with quality, errors fall.
        values: One number a candidate and rater, [n, raters]; nan where there is none.
    """

    label: str
    direction: Direction
    values: Floats

    @property
    def quality(self) -> Floats:
        """The numbers, turned so that higher is better."""
        return self.values if self.direction == "higher" else -self.values

    @property
    def mean_quality(self) -> Floats:
        """Mean of the raters that judged a candidate, turned so that higher is better, [n]; nan without any."""
        return mean_of_some(self.quality)


@dataclass(frozen=True, eq=False, repr=False)
class Judgements:
    """All judgements of one set.

    Attributes:
        kind: Form of the files (`rexrank.experts.KINDS`).
        source: Name of the file or folder.
        candidates: In the order of the file.
        raters: Their names.
        opinions: Measure (``rating``, ``errors``) to what was said; the first one is what a paper reports.
        scores: Scores of metrics that the files bring along, by column, [n]; nan where a candidate has none.
        notes: What a reader must know of the numbers, in sentences.
    """

    kind: str
    source: str
    candidates: list[Candidate]
    raters: list[str]
    opinions: dict[str, Opinion]
    scores: dict[str, Floats] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def opinion(self, name: str | None = None) -> tuple[str, Opinion]:
        """A measure by name, the first one for None.

        Raises:
            UnreadableJudgements: The set has no such measure.
        """
        chosen = next(iter(self.opinions)) if name is None else name
        if chosen not in self.opinions:
            raise UnreadableJudgements(f"{self.source} has no {shown(chosen)}; it has {', '.join(self.opinions)}")
        return chosen, self.opinions[chosen]


def mean_of_some(columns: Floats) -> Floats:
    """Means over the last axis of what is not nan; nan where all is. Equal ones stay equal in any order of raters."""
    given = ~np.isnan(columns)
    counts = given.sum(axis=-1)
    with np.errstate(invalid="ignore"):
        means = np.where(given, columns, 0.0).sum(axis=-1) / np.where(counts, counts, np.nan)
    # Ratings such as 3.3 are no exact floats, and ties decide tau-b and preferences.
    return np.asarray(np.round(means, _MEAN_DIGITS))


def filled(candidates: Sequence[Key], raters: Sequence[str], given: Mapping[tuple[Key, str], float]) -> Floats:
    """Numbers by candidate and rater as an array, [n, raters], nan where none is given."""
    return np.array([[given.get((one, rater), np.nan) for rater in raters] for one in candidates], dtype=np.float64)


def refuse_missing(
    source: str, candidates: Sequence[Candidate], raters: Sequence[str], given: NDArray[np.bool_]
) -> None:
    """Refuse a set in which a rater left a candidate out, [n, raters]; raters differ in severity, and so would means.

    Raises:
        UnreadableJudgements: Names the first ones.
    """
    places = np.argwhere(~given)
    if len(places):
        named = [
            f"{shown(raters[rater])} has no judgement of {candidates[one].shown}" for one, rater in places[:_SHOWN]
        ]
        more = f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else ""
        raise UnreadableJudgements(
            f"{source}: {'; '.join(named)}{more}; complete the file, or accept means of those who judged with "
            "allow_missing (--allow-missing)"
        )
