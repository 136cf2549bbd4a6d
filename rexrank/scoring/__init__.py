"""From predictions to a score card: plan, compute, collect."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "ScoreCard": "rexrank.scoring.card",
    "UnreadableCard": "rexrank.scoring.card",
    "score": "rexrank.scoring.score",
}

__all__ = ["ScoreCard", "UnreadableCard", "score"]

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard, UnreadableCard
    from rexrank.scoring.score import score


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rexrank.scoring' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
