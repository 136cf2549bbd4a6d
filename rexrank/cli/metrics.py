"""List the metrics: every score, which way it is better, and what it needs here.

Examples:
  rexrank metrics
  rexrank metrics --json
  rexrank metrics --markdown > docs/metrics.md

Exit codes: 0 done, 2 wrong usage.
"""

import argparse
import shutil
import textwrap
from collections.abc import Mapping, Sequence

from rexrank.cli import DONE
from rexrank.cli.streams import print_json

_NARROWEST = 60
_UNBROKEN = 10_000
_KEY_COLUMN = 20
_HOW = """  `rexrank score PREDICTIONS --references REFS --metrics KEY,KEY` computes
  them, `--metrics all` all but bertscore_minilm; docs/metrics.md defines them."""


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
    from rexrank.metrics import metric_of, score_keys
    from rexrank.scoring.encoding import why_not_here

    return [
        {
            "key": key,
            "metric": metric_of(key).name,
            "label": found.label,
            "better": found.direction,
            "description": found.description,
            "unavailable": why_not_here(key),
        }
        for key, found in score_keys().items()
    ]


def _listed() -> str:
    from rexrank.metrics import score_keys
    from rexrank.metrics.features import FEATURES
    from rexrank.scoring.table import WAY_OUT

    known = score_keys()
    # The last column stays free: some terminals break the line there. What goes to a file or a program is not broken.
    width = max(shutil.get_terminal_size((_UNBROKEN, 1)).columns - 1, _NARROWEST)
    absent, answers = _absent(), _of_task("vqa")
    here = [key for key in _of_task("report") if key not in absent]
    judged = {key: why for key, why in absent.items() if not all(FEATURES[name].runs for name in known[key].needs)}
    encoded = {key: why for key, why in absent.items() if known[key].needs and key not in judged}
    from_texts = {key: why for key, why in absent.items() if not known[key].needs}
    blocks = [
        [f"computed here from texts ({len(here)}):", *_described(here, width), "", _HOW],
        *_group("from texts, once this is given", from_texts, width),
        *_group("from texts, once the weights are here (`rexrank weights pull --for KEY`)", encoded, width),
        *_group("not computed here", judged, width, f"  {WAY_OUT}"),
        [
            f"for answers to questions, not part of --metrics all ({len(answers)}):",
            *_described(answers, width),
            "  docs/score.md says how to score them.",
        ],
    ]
    return "\n\n".join("\n".join(lines) for lines in blocks)


def _group(head: str, absent: Mapping[str, str], width: int, *last: str) -> list[list[str]]:
    """A block of scores that are not computed, or nothing where there is none."""
    return [[f"{head} ({len(absent)}):", *_grouped(absent, width), *last]] if absent else []


def _of_task(task: str) -> list[str]:
    from rexrank.metrics import metric_of, score_keys

    return [key for key in score_keys() if metric_of(key).task == task]


def _absent() -> dict[str, str]:
    from rexrank.scoring.encoding import why_not_here

    return {key: why for key in _of_task("report") if (why := why_not_here(key))}


def _described(keys: Sequence[str], width: int) -> list[str]:
    from rexrank.metrics import score_keys
    from rexrank.scoring.table import ARROWS

    known = [score_keys()[key] for key in keys]
    column = min(max(len(key) for key in keys), max(_KEY_COLUMN, width // 3))
    return [
        _wrapped(f"  {one.key:<{column}} {ARROWS[one.direction]}  {one.description}", width, column + 6)
        for one in known
    ]


def _grouped(unavailable: Mapping[str, str], width: int) -> list[str]:
    """All keys that lack the same thing under what they lack."""
    from rexrank.metrics import score_keys
    from rexrank.scoring.table import ARROWS, by_reason

    lines = []
    for why, keys in by_reason(unavailable).items():
        named = [f"{key}\N{NO-BREAK SPACE}{ARROWS[score_keys()[key].direction]}".rstrip() for key in keys]
        lines += [_wrapped(f"  {why}:", width, 4), _wrapped(f"      {', '.join(named)}", width, 6)]
    return lines


def _wrapped(line: str, width: int, indent: int) -> str:
    lines = textwrap.wrap(line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")
