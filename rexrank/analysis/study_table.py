"""Values of single studies of several systems, as score cards have them and as a board publishes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rexrank.analysis.systems import turned
from rexrank.metrics import score_keys
from rexrank.metrics.outcome import Floats
from rexrank.terms import Direction


@dataclass(frozen=True, eq=False)
class StudyTable:
    """Scores of single studies.

    Attributes:
        label: What the set is called.
        names: Of the systems, best first.
        baselines: Which of them are reference points.
        keys: Score keys, the ranking one first.
        values: Key to the values of each system, [n] each, in the same order of studies; nan where undefined.
        groups: Patient of each study; None where single studies are drawn.
    """

    label: str
    names: tuple[str, ...]
    baselines: frozenset[str]
    keys: tuple[str, ...]
    values: Mapping[str, Sequence[Floats]]
    groups: Sequence[int] | None = None

    @property
    def n(self) -> int:
        """Number of studies."""
        return len(self.values[self.keys[0]][0]) if self.keys and self.names else 0

    @property
    def models(self) -> list[int]:
        """Positions of the systems that are no reference points, best first; of all where there is nothing else."""
        every = range(len(self.names))
        return [index for index in every if self.names[index] not in self.baselines] or list(every)

    def qualities(self, system: int, keys: Sequence[str] | None = None) -> Floats:
        """Values of a system's studies, [keys, n], turned so that higher is better."""
        chosen = self.keys if keys is None else keys
        directions = [direction_of(key) for key in chosen]
        return turned(np.stack([self.values[key][system] for key in chosen], axis=1), directions).T


def label_of(key: str) -> str:
    """What readers call a score."""
    known = score_keys().get(key)
    return known.label if known else key


def digits_of(key: str) -> int:
    """Decimals in which a score is shown."""
    known = score_keys().get(key)
    return known.digits if known else 3


def direction_of(key: str) -> Direction:
    """Which values of a score are better."""
    known = score_keys().get(key)
    return known.direction if known else "none"
