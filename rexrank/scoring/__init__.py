"""From predictions to a score card: plan, compute, collect."""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "ScoreCard": "rexrank.scoring.card",
    "UnreadableCard": "rexrank.scoring.card",
}

__all__ = ["ScoreCard", "UnreadableCard"]

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard, UnreadableCard

__getattr__ = names_of(__name__, _HOMES)
