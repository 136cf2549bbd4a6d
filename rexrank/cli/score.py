"""Score a file of predictions against references and print the score card.

Files are JSON, JSONL, CSV, TSV or Parquet: on this machine, or in a dataset repo
of a Hub as hf://datasets/OWNER/NAME[@REVISION]/PATH.

Examples:
  rexrank score predictions.csv --references references.json
  rexrank score predictions.csv --references references.json --out card/
  rexrank score predictions.json --references references.json --protocol rexrank@2025-09-05
  rexrank score predictions.json --references references.json --protocol plain --metrics bleu,rouge_l
  rexrank score predictions.json --references references.json --metrics rouge1 --option stemmer=false
  rexrank score predictions.json --references references.json --text-preparation sections+lower+deid-drop
  rexrank score hf://datasets/me/predictions --references hf://datasets/rexrank/iu-xray --json

Text options, joined with + to a text preparation or alone; both texts are treated alike:
  lower, collapse (white space), headers-drop, numbers-mark, deid-drop or deid-mark (XXXX, ___), and one
  of the cleaning recipes iu, iu_literal_hyphen, mimic_r2gen, mimic_r2gengpt. docs/score.md defines them.

Exit codes: 0 done, 1 refused input (every fault on stderr), 2 wrong usage,
3 nothing could be computed.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rexrank.cli import DONE, NOTHING_COMPUTED, WRONG_USAGE
from rexrank.cli.streams import print_json
from rexrank.errors import RexrankError, shown

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

_FEW_DISTINCT = 0.1
_ARROWS = {"higher": "↑", "lower": "↓", "none": " "}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank score``."""
    parser.add_argument("predictions", metavar="PREDICTIONS", help="file or hf:// address of the model's texts")
    parser.add_argument("--references", required=True, metavar="REFS", help="file or hf:// address of the references")
    parser.add_argument(
        "--protocol",
        default="rexrank",
        metavar="P",
        help="rule book: rexrank (default, newest version), rexrank@DATE, plain",
    )
    parser.add_argument(
        "--track", default="findings", metavar="T", help="text compared: findings (default), impression or report"
    )
    parser.add_argument(
        "--metrics", metavar="A,B", help="score keys or metric names; 'all' for every metric (default: the protocol's)"
    )
    parser.add_argument("--convention", metavar="C", help="published or corrected (default: the protocol's)")
    parser.add_argument(
        "--text-preparation",
        metavar="HOW",
        help="which texts get 'Findings: ' before them (reference, both, none), or sections; with + further text "
        "options (sections+lower+deid-drop), or these alone (default: the protocol's)",
    )
    parser.add_argument(
        "--option",
        action="append",
        type=_option,
        default=[],
        metavar="NAME=VALUE",
        help="an option of the metrics, as docs/metrics.md lists them; VALUE is JSON or a plain word (repeatable)",
    )
    parser.add_argument(
        "--out", metavar="DIR", type=_folder, help="also write card.json and per_study.parquet into this folder"
    )
    parser.add_argument("--json", action="store_true", help="print the card as JSON, and nothing else, on stdout")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Score, print and save.

    Raises:
        RefusedInput: The inputs cannot be scored.
        RexrankError: The card cannot be written.
    """
    from rexrank.metrics import InvalidCall
    from rexrank.protocols import UnknownProtocol
    from rexrank.scoring.score import score

    metrics = _names(arguments.metrics)
    try:
        card = score(
            arguments.predictions,
            arguments.references,
            protocol=arguments.protocol,
            track=arguments.track,
            metrics=metrics,
            convention=arguments.convention,
            progress=not arguments.quiet,
            text_preparation=arguments.text_preparation,
            options=dict(arguments.option),
        )
    except (InvalidCall, UnknownProtocol) as error:
        print(f"rexrank score: {error}", file=sys.stderr)
        return WRONG_USAGE
    if arguments.json:
        print_json(card.to_json())
    else:
        print(table(card))
    # Printed first, so that a folder that cannot be written does not cost the scores.
    if arguments.out:
        _save(card, arguments.out)
    if not arguments.quiet:
        _print_notes(card, arguments.out)
    return DONE if card.summary else NOTHING_COMPUTED


def _option(text: str) -> tuple[str, Any]:
    name, marked, value = text.partition("=")
    if not marked or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {shown(text)}")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def table(card: "ScoreCard") -> str:
    """The card for people: scores with intervals, what is absent and why, signatures."""
    preparation = card.text_preparation["name"] or "texts as they are"
    lines = [
        f"{card.protocol}@{card.protocol_version} · track {card.track} · {card.convention} · {preparation} · "
        f"{card.n:,} studies",
        "",
        *_score_lines(card),
    ]
    for reason, count in card.left_out.items():
        lines.append(f"left out: {count:,} studies with {reason}")
    if card.unavailable:
        lines += ["", "not computed:", *_reasons(card)]
    if card.signatures:
        lines += ["", "signatures:", *(f"  {signature}" for signature in card.signatures.values())]
    return "\n".join(lines)


def _reasons(card: "ScoreCard") -> list[str]:
    """What is absent and why; keys that lack the same thing share a line."""
    grouped: dict[str, list[str]] = {}
    for key, why in card.unavailable.items():
        grouped.setdefault(why.removeprefix(f"{key} "), []).append(key)
    return [f"  {listed(keys)}: {why}" for why, keys in grouped.items()]


def listed(keys: Sequence[str]) -> str:
    """Keys in one line, those of a family by their common beginning and number."""
    families: dict[str, list[str]] = {}
    for key in keys:
        families.setdefault(key.partition("_")[0], []).append(key)
    names = (found[0] if len(found) == 1 else f"{family}_… ({len(found)})" for family, found in families.items())
    return ", ".join(names)


def _score_lines(card: "ScoreCard") -> list[str]:
    from rexrank.metrics import score_keys

    rows = [("score", "", "value", f"{card.interval['confidence']:.0%} interval", "n")]
    for key, value in card.summary.items():
        known = score_keys()[key]
        low_high = card.intervals.get(key)
        # One decimal more than on pages: a terminal has room, and 0.2627 and 0.2631 are different runs.
        digits = known.digits + 1
        ends = "–" if low_high is None else f"{low_high[0]:.{digits}f} … {low_high[1]:.{digits}f}"
        counts = card.counts[key]
        defined = counts.get("n", card.n) - counts.get("n_undefined", 0)
        arrow = _ARROWS[known.direction]
        rows.append((key, arrow, f"{value:.{digits}f}", ends, f"{defined:,}"))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return [
        f"{row[0]:<{widths[0]}} {row[1]:<1}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}  {row[4]:>{widths[4]}}"
        for row in rows
    ]


def _print_notes(card: "ScoreCard", out: str | None) -> None:
    empty = max((counts.get("n_empty", 0) for counts in card.counts.values()), default=0)
    if empty:
        print(f"note: {empty:,} predictions are empty", file=sys.stderr)
    if card.n > 1 and card.distinct_outputs <= _FEW_DISTINCT:
        distinct = round(card.distinct_outputs * card.n)
        print(f"note: only {distinct:,} different texts among {card.n:,} predictions", file=sys.stderr)
    if out:
        print(f"written: {out}", file=sys.stderr)


def _folder(words: str) -> str:
    if not words.strip():
        raise argparse.ArgumentTypeError("name a folder")
    return words


def _names(words: str | None) -> list[str] | str | None:
    if words is None or words == "all":
        return words
    return [word.strip() for word in words.split(",") if word.strip()]


def _save(card: "ScoreCard", out: str) -> None:
    try:
        card.save(out)
    except OSError as error:
        raise RexrankError(f"{out} cannot be written: {error.strerror or 'unknown reason'}") from None
