"""The generated parts of the modules' cards, from the registry: ``python -m rexrank.modules.cards`` writes them anew.

A card marks where they go: ``<!-- usage -->`` … ``<!-- /usage -->``, and ``inputs`` and ``scores`` likewise.
"""

import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

from rexrank.errors import RexrankError
from rexrank.files import write_atomically
from rexrank.metrics.documentation import options_table, scores_table
from rexrank.metrics.features import FEATURES
from rexrank.metrics.policy import OPTIONS as POLICY_OPTIONS
from rexrank.metrics.registry import Metric, metrics
from rexrank.modules.arguments import SETTINGS, arguments, features_of, results
from rexrank.modules.publish import modules_folder

_WIDTH = 120


class SpoiledCard(RexrankError):
    """A card without the marks between which its tables stand."""


def current(card: str, metric: Metric) -> str:
    """A card with its generated parts as the registry has them.

    Args:
        card: Text of a README.md.
        metric: The metric of the module.

    Raises:
        SpoiledCard: A mark is missing.
    """
    for name, table in {"usage": _usage(metric), "inputs": _inputs(metric), "scores": _scores(metric)}.items():
        start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if card.count(start) != 1 or card.count(end) != 1:
            raise SpoiledCard(f"the card of {metric.name} needs one {start} and one {end} behind it")
        card = f"{card.partition(start)[0]}{start}\n\n{table}\n\n{end}{card.partition(end)[2]}"
    return card


def write_all(folder: Path) -> list[str]:
    """Bring the tables of all cards up to date.

    Args:
        folder: What `modules_folder` returns.

    Returns:
        Names of the modules whose cards have changed.

    Raises:
        SpoiledCard: A card lacks a mark.
    """
    changed = []
    for path in sorted(folder.glob("*/README.md")):
        metric = metrics()[path.parent.name]
        card = path.read_text(encoding="utf-8")
        if (written := current(card, metric)) != card:
            write_atomically(path, written.encode())
            changed.append(metric.name)
    return changed


def _usage(metric: Metric) -> str:
    """How the module is found, and how it goes together with others."""
    known = [name for name in SETTINGS if name != "keys"] + ["features", *(option.name for option in POLICY_OPTIONS)]
    address = (
        "The address is the module's folder, seen from the root of a checkout. From a Hub that has it as a Space "
        f'(`rexrank modules publish`), and with the package installed, it is `evaluate.load("rexrank/{metric.name}", '
        'revision="…")`: owner and name of the Space, and its commit, which pins the code.'
    )
    combined = (
        "`evaluate.combine` hands every argument to all of its modules, so it takes only what all of them know: "
        f"{', '.join(f'`{name}`' for name in known)}. What needs `keys` or an option of its own is scored apart."
    )
    return "\n\n".join(textwrap.fill(part, _WIDTH, break_on_hyphens=False) for part in (address, combined))


def _inputs(metric: Metric) -> str:
    parts = [_table(("argument", "what"), arguments(metric))]
    if names := features_of(metric):
        forms = {
            name: f"{FEATURES[name].made_by}, one a {FEATURES[name].of}: {FEATURES[name].description}" for name in names
        }
        parts.append(_table(("feature", "made by, and form of one"), forms))
    return "\n\n".join([*parts, options_table(metric)])


def _scores(metric: Metric) -> str:
    return "\n\n".join([scores_table(metric), _table(("returned", "what"), results(metric))])


def _table(heads: tuple[str, str], rows: Mapping[str, str]) -> str:
    lines = [heads, ("---", "---"), *((f"`{name}`", words.replace("|", r"\|")) for name, words in rows.items())]
    return "\n".join(f"| {first} | {second} |" for first, second in lines)


if __name__ == "__main__":
    print(f"rewritten: {', '.join(write_all(modules_folder())) or 'none'}", file=sys.stderr)
