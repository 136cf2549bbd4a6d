"""Build the blind floors of a benchmark from its training split and score them.

A blind floor sees no image: the training report that is best for a score as the
answer to every study, the most frequent report, a random one, and that of the
training study whose indication is most similar. Which of them a system has to
beat in a score is decided on the training split. docs/floors.md explains it.

Floors go into a benchmark's folder with --out BENCHMARK/floors/TRACK, where
`rexrank score … --floor BENCHMARK` finds them. --push sends them to the
benchmark's dataset repo. Texts are stored of public benchmarks alone.

Examples:
  rexrank floor --benchmark iu-xray
  rexrank floor --benchmark iu-xray --metrics bleu2,rouge_l --out floors/
  rexrank floor --benchmark iu-xray --by indication,comparison --json
  rexrank floor --references test.csv --train train.csv --protocol plain
  rexrank floor --benchmark build/mine --train train.csv --push me/mine

Exit codes: 0 done, 1 refused (a set, or training reports that cannot be read),
2 wrong usage, 3 nothing could be computed.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rexrank.cli import DONE, NOTHING_COMPUTED, WRONG_USAGE
from rexrank.cli.cards import add_encoders
from rexrank.cli.streams import print_json
from rexrank.errors import RexrankError

if TYPE_CHECKING:
    from rexrank.validity.floors import Floors


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank floor``."""
    parser.add_argument("--benchmark", metavar="B", help="iu-xray, or a folder that `rexrank benchmark build` made")
    parser.add_argument("--references", metavar="FILE", help="test studies instead, or in place of the benchmark's")
    parser.add_argument(
        "--train",
        metavar="FILE",
        help="training reports, in the form of references (default: those of the benchmark, where it has any here)",
    )
    parser.add_argument("--track", default="findings", metavar="T", help="findings (default), impression or report")
    parser.add_argument("--protocol", default="rexrank", metavar="P", help="rule book (default: rexrank)")
    parser.add_argument("--metrics", metavar="A,B", help="score keys or metric names (default: the protocol's)")
    parser.add_argument("--convention", metavar="C", help="published or corrected (default: the protocol's)")
    parser.add_argument(
        "--by",
        default="indication",
        metavar="A,B",
        help="fields of the context by which a neighbour is looked for: indication (default), comparison, context …",
    )
    add_encoders(parser)
    parser.add_argument("--out", metavar="DIR", help="write floors.json and a folder for each floor into this folder")
    parser.add_argument("--push", metavar="NS/NAME", help="send them to this dataset repo, that of the benchmark")
    parser.add_argument(
        "--confirm-licence",
        action="store_true",
        help="you run that Hub and its use of the texts meets their licence; needed for a Hub not on this machine",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else, on stdout")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Build, score, print and store.

    Raises:
        RefusedInput: References or training reports cannot be read.
        RexrankError: The set cannot be read, or floors cannot be stored.
    """
    from rexrank.encoders.devices import UnknownDevice
    from rexrank.errors import NoFolder
    from rexrank.metrics import InvalidCall
    from rexrank.protocols import UnknownProtocol
    from rexrank.validity.floor_tables import table

    try:
        found = _built(arguments)
    except (InvalidCall, NoFolder, UnknownDevice, UnknownProtocol) as error:
        print(f"rexrank floor: {error}", file=sys.stderr)
        return WRONG_USAGE
    if not found.floors:
        for key, why in found.absent.items():
            print(f"rexrank floor: {key}: {why}", file=sys.stderr)
        return NOTHING_COMPUTED
    if arguments.json:
        print_json(found.to_json())
    else:
        print(table(found))
    # Printed first, so that a folder that cannot be written does not cost the scores.
    if arguments.out:
        _save(found, arguments.out)
    if arguments.push:
        _push(found, arguments)
    if not arguments.quiet:
        for place in filter(None, (arguments.out, arguments.push)):
            print(f"written: {place}", file=sys.stderr)
    return DONE


def _built(arguments: argparse.Namespace) -> "Floors":
    from rexrank.metrics import InvalidCall
    from rexrank.metrics.inputs import check_choice
    from rexrank.scoring.encoding import EncoderSettings
    from rexrank.terms import CONVENTIONS, TRACKS
    from rexrank.validity.floors import build_floors
    from rexrank.validity.sets import open_set

    if arguments.benchmark is None and arguments.references is None:
        raise InvalidCall("name a --benchmark, or files of test --references and of --train")
    check_choice("track", arguments.track, TRACKS)
    if arguments.convention is not None:
        check_choice("convention", arguments.convention, CONVENTIONS)
    progress = not arguments.quiet
    settings = EncoderSettings(
        arguments.device, weights=arguments.weights, download=not arguments.no_download, progress=progress
    )
    return build_floors(
        open_set(arguments.benchmark, arguments.references, arguments.train, arguments.track),
        _words(arguments.metrics) if arguments.metrics else None,
        arguments.protocol,
        arguments.convention,
        _words(arguments.by),
        settings,
        progress,
    )


def _words(asked: str) -> list[str]:
    return [word.strip() for word in asked.split(",") if word.strip()]


def _save(found: "Floors", folder: str | Path) -> None:
    from rexrank.validity.floor_store import save

    try:
        save(found, folder)
    except OSError as error:
        raise RexrankError(f"{folder} cannot be written: {error.strerror or 'unknown reason'}") from None


def _push(found: "Floors", arguments: argparse.Namespace) -> None:
    from rexrank.benchmarks.repository import push_floors
    from rexrank.hub import connect
    from rexrank.validity.floor_store import files

    with tempfile.TemporaryDirectory(prefix="rexrank-floors-") as folder:
        _save(found, folder)
        push_floors(connect(), arguments.push, found.track, files(folder), arguments.confirm_licence)
