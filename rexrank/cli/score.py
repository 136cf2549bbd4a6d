"""Score a file of predictions against references and print the score card.

Files are JSON, JSONL, CSV, TSV or Parquet: on this machine, or in a dataset
repo of a Hub as hf://datasets/OWNER/NAME[@REVISION]/PATH.

Scores of neural models need checkpoints, which are fetched when they are
needed: 3.7 GB for the protocol rexrank. `rexrank weights` lists them.
--no-download fetches none and computes the other scores.

Examples:
  rexrank score predictions.csv --references references.json
  rexrank score predictions.csv --references references.json --out card/
  rexrank score p.json --references r.json --protocol rexrank@2025-09-05
  rexrank score p.json --references r.json --protocol plain --metrics bleu
  rexrank score p.json --references annotation.json --protocol cxpmrg
  rexrank score p.json --references r.json --option on_empty_prediction=worst
  rexrank score p.json --references r.json --weights models/ --device cuda
  rexrank score p.json --references r.json --text-preparation sections+lower
  rexrank score p.json --references r.json --modality CT --language de
  rexrank score p.json --references r.json --floor iu-xray
  rexrank score hf://datasets/me/preds --references hf://datasets/me/refs

Text options, joined with + to a text preparation or alone; both texts are
treated alike: lower, collapse (white space), headers-drop, numbers-mark,
deid-drop or deid-mark (XXXX, ___), and one of the cleaning recipes iu,
iu_literal_hyphen, mimic_r2gen, mimic_r2gengpt; truncate-60 and truncate-100
cut references alone. docs/score.md defines them.

Exit codes: 0 done, 1 refused input (every fault on stderr), 2 wrong usage,
3 nothing could be computed.
"""

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from rexrank.cli import DONE, NOTHING_COMPUTED, WRONG_USAGE
from rexrank.cli.cards import add_encoders
from rexrank.cli.streams import print_json
from rexrank.errors import NoFolder, RexrankError, shown
from rexrank.files import user_path

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard
    from rexrank.validity.floor_source import Found
    from rexrank.validity.over_floor import OverFloor

# Words for what JSON has too; Python's and the documentation's spelling of it is not JSON.
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank score``."""
    parser.add_argument("predictions", metavar="PREDICTIONS", help="file or hf:// address of the model's texts")
    parser.add_argument("--references", required=True, metavar="REFS", help="file or hf:// address of the references")
    parser.add_argument(
        "--protocol",
        default="rexrank",
        metavar="P",
        help="rule book: rexrank (default, newest version), rexrank@DATE, cxpmrg, cxpmrg-iu, plain",
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
        help="an option of the metrics, as docs/metrics.md lists them; VALUE is True, False, JSON, or a word such as "
        "the path of a file (repeatable)",
    )
    add_encoders(parser)
    parser.add_argument(
        "--cache-dir",
        metavar="DIR",
        help="where features of texts are kept for the next run (default: REXRANK_CACHE)",
    )
    parser.add_argument(
        "--labels",
        nargs=2,
        metavar=("PRED", "REF"),
        help="label files of predictions and references, study_id and a column for each of the 14 CheXpert labels (1, "
        "0, -1 or nothing), which stand in for CheXbert's",
    )
    parser.add_argument(
        "--modality",
        metavar="M",
        help="what the images show: CXR, CT, MR …; scores made for others are refused, 'any' refuses none (default: "
        "what the benchmark.yaml beside the references says)",
    )
    parser.add_argument("--language", metavar="L", help="language of the texts: en, de …; likewise")
    parser.add_argument(
        "--floor",
        metavar="B",
        help="also print how far the file is above the blind floor: iu-xray, a folder of `rexrank benchmark build` or "
        "`rexrank floor --out`, or another score card (docs/floors.md)",
    )
    parser.add_argument(
        "--train",
        metavar="FILE",
        help="training reports, in the form of references: how many texts stand there, and floors are built from them",
    )
    parser.add_argument("--no-cache", action="store_true", help="keep no features for the next run")
    parser.add_argument(
        "--out", metavar="DIR", type=_folder, help="also write card.json and per_study.parquet into this folder"
    )
    parser.add_argument("--json", action="store_true", help="print the card as JSON, and nothing else, on stdout")
    parser.add_argument("--signatures", action="store_true", help="print the signature of every score, however many")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Score, print and save.

    Raises:
        RefusedInput: The inputs cannot be scored.
        RexrankError: The card cannot be written; where that is plain, before anything is computed.
    """
    from rexrank.encoders.devices import UnknownDevice
    from rexrank.metrics import InvalidCall
    from rexrank.protocols import UnknownProtocol
    from rexrank.scoring.score import score
    from rexrank.scoring.table import table

    if arguments.out:
        _refuse_out(arguments.out)
    metrics = _names(arguments.metrics)
    floors = _floors(arguments)
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
            device=arguments.device,
            weights=arguments.weights,
            download=not arguments.no_download,
            cache_dir=arguments.cache_dir,
            cache=not arguments.no_cache,
            labels=tuple(arguments.labels) if arguments.labels else None,
            modality=arguments.modality,
            language=arguments.language,
            training=_training(arguments, floors),
        )
        over = None if floors is None or not card.summary else _over(card, floors, arguments)
    except (InvalidCall, NoFolder, UnknownDevice, UnknownProtocol) as error:
        print(f"rexrank score: {error}", file=sys.stderr)
        return WRONG_USAGE
    if arguments.json:
        print_json({**card.to_json(), **({} if over is None else over.to_json())})
    else:
        print(table(card, arguments.signatures))
        if over is not None:
            from rexrank.validity.over_floor import table as over_table

            print(f"\n{over_table(over)}")
        if metrics is None and (more := _further(card)):
            print(f"\n`--metrics all` computes {more} from texts")
    # Printed first, so that a folder that cannot be written does not cost the scores.
    if arguments.out:
        _save(card, arguments.out)
    if not arguments.quiet:
        _print_notes(card, arguments)
    return DONE if card.summary else NOTHING_COMPUTED


def _option(text: str) -> tuple[str, Any]:
    name, marked, value = text.partition("=")
    if not marked or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {shown(text)}")
    if value.lower() in _WORDS:
        return name, _WORDS[value.lower()]
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def _further(card: "ScoreCard") -> str | None:
    """How many scores beyond the protocol's can be computed from texts here; None where there is none."""
    from rexrank.metrics import score_keys
    from rexrank.protocols import load
    from rexrank.scoring.plan import plan
    from rexrank.scoring.scope import Scope
    from rexrank.scoring.table import counted

    scope = Scope(card.scope.get("modality"), card.scope.get("language"))
    everything = plan("all", load(f"{card.protocol}@{card.protocol_version}"), scope=scope).keys
    further = [key for key in everything if key not in card.summary and key not in card.unavailable]
    number = sum(not score_keys()[key].needs for key in further)
    return counted(number, "more score") if number else None


def _floors(arguments: argparse.Namespace) -> "Found | None":
    """What --floor names; refused before any work where it is nothing."""
    if arguments.floor is None:
        return None
    from rexrank.metrics.inputs import check_choice
    from rexrank.terms import TRACKS
    from rexrank.validity.floor_source import find

    check_choice("track", arguments.track, TRACKS)
    return find(arguments.floor, arguments.references, arguments.train, arguments.track)


def _training(arguments: argparse.Namespace, floors: "Found | None") -> "str | list[str] | None":
    if arguments.train is not None or floors is None:
        return None if arguments.train is None else str(arguments.train)
    from rexrank.validity.floor_source import texts_of
    from rexrank.validity.sets import EvaluationSet

    return texts_of(floors) if isinstance(floors, EvaluationSet) else None


def _over(card: "ScoreCard", floors: "Found", arguments: argparse.Namespace) -> "OverFloor":
    from rexrank.scoring.encoding import EncoderSettings
    from rexrank.validity.floor_source import settled
    from rexrank.validity.over_floor import over_floor

    settings = EncoderSettings(
        arguments.device,
        arguments.cache_dir,
        not arguments.no_cache,
        arguments.weights,
        not arguments.no_download,
        not arguments.quiet,
    )
    return over_floor(card, settled(floors, card, settings, not arguments.quiet))


def _print_notes(card: "ScoreCard", arguments: argparse.Namespace) -> None:
    from rexrank.scoring.diversity import flags
    from rexrank.scoring.table import counted

    empty = max((counts.get("n_empty", 0) for counts in card.counts.values()), default=0)
    if empty:
        print(f"note: {counted(empty, 'prediction')} {'is' if empty == 1 else 'are'} empty", file=sys.stderr)
    if arguments.json:  # else they stand in the table
        for flag in flags(card.diversity):
            print(f"note: {flag}", file=sys.stderr)
    if arguments.out:
        print(f"written: {arguments.out}", file=sys.stderr)


def _folder(words: str) -> str:
    if not words.strip():
        raise argparse.ArgumentTypeError("name a folder")
    return words


def _names(words: str | None) -> list[str] | str | None:
    if words is None or words == "all":
        return words
    return [word.strip() for word in words.split(",") if word.strip()]


def _refuse_out(out: str) -> None:
    """Refuse a folder that plainly cannot be made or written, without making it."""
    place = user_path(out)
    there = next((path for path in (place, *place.parents) if os.path.exists(path)), None)
    if there is None or (os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)):
        return
    reason = "no permission" if os.path.isdir(there) else "a file is in its place; name a folder"
    raise RexrankError(f"{out} cannot be written: {reason}")


def _save(card: "ScoreCard", out: str) -> None:
    try:
        card.save(out)
    except OSError as error:
        raise RexrankError(f"{out} cannot be written: {error.strerror or 'unknown reason'}") from None
