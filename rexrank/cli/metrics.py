"""List the metrics: every score, which way it is better, and whether it can be computed here.

Examples:
  rexrank metrics
  rexrank metrics --json
  rexrank metrics --markdown > docs/metrics.md
"""

import argparse

from rexrank.cli import DONE
from rexrank.cli.streams import print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank metrics``."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the list as JSON, and nothing else, on stdout")
    form.add_argument(
        "--markdown", action="store_true", help="print definitions, options and computed examples (needs Java)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the list in the form asked for."""
    if arguments.markdown:
        from rexrank.metrics.documentation import markdown

        print(markdown(), end="")
    elif arguments.json:
        print_json(_entries())
    else:
        print(_listed())
    return DONE


def _entries() -> list[dict[str, object]]:
    from rexrank.metrics import metric_of, score_keys, why_unavailable

    return [
        {
            "key": key,
            "metric": metric_of(key).name,
            "label": found.label,
            "better": found.direction,
            "description": found.description,
            "unavailable": why_unavailable(key),
        }
        for key, found in score_keys().items()
    ]


def _listed() -> str:
    entries = _entries()
    width = max(len(str(entry["key"])) for entry in entries)
    here = [f"{entry['key']:<{width}}  {entry['description']}" for entry in entries if not entry["unavailable"]]
    lines = [f"computed here ({len(here)}):", *(f"  {line}" for line in here)]
    reasons = [str(entry["unavailable"]) for entry in entries if entry["unavailable"]]
    if reasons:
        lines += ["", f"not computed here ({len(reasons)}):", *(f"  {reason}" for reason in reasons)]
    return "\n".join([*lines, "", "`rexrank score --metrics KEY,KEY …` computes them; docs/metrics.md defines them."])
