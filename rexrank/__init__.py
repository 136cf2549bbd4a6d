"""Metrics, queue and leaderboard for AI-written radiology reports.

Importing this package loads nothing heavy: each public name is fetched from
its module on first use (PEP 562), so a command that only needs one part pays
for that part alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rexrank.lazy import names_of

__version__ = "0.1.0"

_HOMES = {
    "Problem": "rexrank.reports.problems",
    "RefusedInput": "rexrank.errors",
    "RexrankError": "rexrank.errors",
    "ScoreCard": "rexrank.scoring.card",
    "read_sections": "rexrank.reports.sections",
    "score": "rexrank.scoring.score",
    "validate": "rexrank.reports.validation",
}
_SUBPACKAGES = frozenset(
    {
        "analysis",
        "benchmarks",
        "board",
        "comparison",
        "experts",
        "hub",
        "labels",
        "localhub",
        "metrics",
        "modules",
        "protocols",
        "published",
        "reports",
        "rewards",
        "scoring",
        "statistics",
        "validity",
    }
)

__all__ = [
    "Problem",
    "RefusedInput",
    "RexrankError",
    "ScoreCard",
    "__version__",
    "read_sections",
    "score",
    "validate",
]

if TYPE_CHECKING:
    from rexrank.errors import RefusedInput, RexrankError
    from rexrank.reports.problems import Problem
    from rexrank.reports.sections import read_sections
    from rexrank.reports.validation import validate
    from rexrank.scoring.card import ScoreCard
    from rexrank.scoring.score import score


_public = names_of(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    return import_module(f"rexrank.{name}") if name in _SUBPACKAGES else _public(name)


def __dir__() -> list[str]:
    return sorted(set(__all__) | _SUBPACKAGES | set(globals()))
