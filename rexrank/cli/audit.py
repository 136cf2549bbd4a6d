"""Make one page that says what the scores of a file mean.

The predictions are scored, set beside the best blind floor, looked at in normal
and abnormal studies, counted for templates, audited for single errors; and each
score is stressed with errors made on purpose. Four answers in plain words are
printed, and the page has everything behind them. It is one file, needs no
network, prints, and holds no report text. docs/audit.md explains each section.

A benchmark brings references, training reports and what is known of its
studies. Files of your own do too: --references and --train. Ids of single
studies stand on the page of a public benchmark only, else with --public.

Examples:
  rexrank audit predictions.csv --benchmark iu-xray
  rexrank audit predictions.csv --benchmark iu-xray --pdf audit.pdf
  rexrank audit p.csv --references r.json --train train.json --out mine.html
  rexrank audit p.csv --benchmark iu-xray --metrics bleu2,rouge_l --json

Exit codes: 0 done, 1 refused (predictions or references that cannot be scored,
or a page that cannot be written or printed), 2 wrong usage, 3 no score could be
computed.
"""

import argparse
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexrank.cli import DONE, NOTHING_COMPUTED, WRONG_USAGE
from rexrank.cli.cards import add_encoders, add_track, words_of
from rexrank.cli.streams import print_json
from rexrank.errors import RexrankError, shown
from rexrank.files import user_path, write_atomically
from rexrank.terms import CONVENTIONS

if TYPE_CHECKING:
    from rexrank.validity.audit import Audit, Part
    from rexrank.validity.floors import Floors

_ENDINGS = (".html", ".htm")
_NARROWEST = 60
_UNBROKEN = 10_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that follow ``rexrank audit``."""
    parser.add_argument("predictions", metavar="PREDICTIONS", help="file of predictions, as `rexrank score` takes it")
    parser.add_argument("--benchmark", metavar="B", help="iu-xray, or a folder that `rexrank benchmark build` made")
    parser.add_argument("--references", metavar="FILE", help="references instead, or in place of the benchmark's")
    parser.add_argument("--train", metavar="FILE", help="training reports, in the form of references; floors need them")
    parser.add_argument("--out", metavar="FILE", default="audit.html", help="where the page goes (default: audit.html)")
    parser.add_argument("--pdf", metavar="FILE", help="also print it into this PDF, by the Chromium of this machine")
    parser.add_argument("--name", metavar="NAME", help="what the system is called (default: the file's name)")
    add_track(parser)
    parser.add_argument("--protocol", default="rexrank", metavar="P", help="rule book (default: rexrank)")
    parser.add_argument(
        "--metrics",
        metavar="A,B",
        help="score keys or metric names (default: the protocol's and a few that need no model); audits of single "
        "errors come on top",
    )
    parser.add_argument("--convention", choices=CONVENTIONS, help="of the scores (default: the protocol's)")
    parser.add_argument(
        "--floors",
        metavar="DIR",
        help="floors that `rexrank floor --out DIR` stored (default: those of the benchmark's folder, else built)",
    )
    parser.add_argument(
        "--stress-reports",
        metavar="N",
        type=int,
        default=100,
        help="reports that the stress suite edits, 0 for none (default: 100)",
    )
    parser.add_argument(
        "--min-studies",
        metavar="N",
        type=int,
        help="hide groups of fewer studies (default: REXRANK_MIN_STRATUM, else 20)",
    )
    parser.add_argument("--public", action="store_true", help="ids of these studies may be shown to everyone")
    parser.add_argument("--modality", metavar="M", help="what the images show: CXR, CT, MR …")
    parser.add_argument("--language", metavar="L", help="language of the texts: en, de …")
    add_encoders(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else, on stdout")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Audit, print the answers, write the page and print it on paper.

    Raises:
        RefusedInput: Predictions or references cannot be scored.
        RexrankError: A set cannot be read, or a page cannot be written or printed.
    """
    from rexrank.encoders.devices import UnknownDevice
    from rexrank.errors import NoFolder
    from rexrank.metrics import InvalidCall
    from rexrank.protocols import UnknownProtocol

    if fault := _wrong_usage(arguments):
        print(f"rexrank audit: {fault}", file=sys.stderr)
        return WRONG_USAGE
    try:
        found = _audited(arguments)
    except (InvalidCall, NoFolder, UnknownDevice, UnknownProtocol) as error:
        print(f"rexrank audit: {error}", file=sys.stderr)
        return WRONG_USAGE
    if not found.card.summary:
        for key, why in found.card.unavailable.items():
            print(f"rexrank audit: {key}: {why}", file=sys.stderr)
        return NOTHING_COMPUTED
    _print(found, arguments.json)
    _write(found, arguments)
    return DONE


def _wrong_usage(arguments: argparse.Namespace) -> str | None:
    if arguments.benchmark is None and arguments.references is None:
        return "name the studies' --benchmark, or files of --references and --train"
    if not arguments.out.lower().endswith(_ENDINGS):
        return f"--out {shown(arguments.out)}: the audit is a page; end its name with .html"
    if arguments.pdf and not arguments.pdf.lower().endswith(".pdf"):
        return f"--pdf {shown(arguments.pdf)}: end its name with .pdf"
    if arguments.stress_reports < 0 or arguments.stress_reports == 1:
        return "--stress-reports: give 0 for none, or at least 2"
    return None


def _audited(arguments: argparse.Namespace) -> "Audit":
    from rexrank.comparison.names import plain
    from rexrank.validity.audit import Settings, audit
    from rexrank.validity.sets import open_set

    known = open_set(arguments.benchmark, arguments.references, arguments.train, arguments.track)
    settings = Settings(
        protocol=arguments.protocol,
        metrics=words_of(arguments.metrics),
        convention=arguments.convention,
        stress_reports=arguments.stress_reports,
        minimum=arguments.min_studies,
        shows_studies=arguments.public or known.public,
        floors=_floors(arguments),
        scoring={
            "device": arguments.device,
            "weights": arguments.weights,
            "download": not arguments.no_download,
            "modality": arguments.modality,
            "language": arguments.language,
        },
    )
    name = plain(arguments.name or Path(arguments.predictions).stem)
    return audit(arguments.predictions, known, name, settings, progress=not arguments.quiet)


def _floors(arguments: argparse.Namespace) -> "Floors | None":
    """Stored floors: those that were named, else the benchmark's own."""
    from rexrank.validity.floor_store import is_stored, load, of_benchmark

    if arguments.floors is not None:
        return load(arguments.floors)
    # Other references than the benchmark's have other floors.
    if arguments.benchmark is None or arguments.references is not None:
        return None
    own = of_benchmark(arguments.benchmark, arguments.track)
    return load(own) if is_stored(own) else None


def _print(found: "Audit", as_json: bool) -> None:
    from rexrank.validity.audit_answers import answers

    if as_json:
        print_json(to_json(found))
        return
    # The last column stays free: some terminals break the line there. What goes to a file or a program is not broken.
    width = max(shutil.get_terminal_size((_UNBROKEN, 1)).columns - 1, _NARROWEST)
    blocks = [
        [one.title, *(textwrap.fill(f"  {sentence}", width, subsequent_indent="    ") for sentence in one.reasons)]
        for one in answers(found)
    ]
    print("\n\n".join("\n".join(lines) for lines in blocks))


def to_json(found: "Audit") -> dict[str, Any]:
    """Answers and the parts behind them, for ``json.dumps(…, allow_nan=False)``; no text and no id."""
    from rexrank.validity.audit_answers import answers

    parts: dict[str, Part[Any]] = {"over_floor": found.over, "groups": found.groups, "stress": found.stressed}
    return {
        "name": found.name,
        "set": found.evaluation_set.name,
        "track": found.card.track,
        "n": found.card.n,
        "answers": [
            {"question": one.question, "verdict": one.verdict, "reasons": list(one.reasons)} for one in answers(found)
        ],
        "summary": found.card.summary,
        "unavailable": found.card.unavailable,
        "diversity": found.card.diversity,
        **{name: part.found.to_json() if part.found else None for name, part in parts.items()},
        "not_computed": {name: part.why for name, part in parts.items() if part.why},
    }


def _write(found: "Audit", arguments: argparse.Namespace) -> None:
    from rexrank.validity.audit_page import audit_page
    from rexrank.validity.paper import print_pdf

    html = audit_page(found)
    _save(arguments.out, lambda file: write_atomically(file, html.encode()), arguments.quiet)
    if arguments.pdf:
        _save(arguments.pdf, lambda file: print_pdf(html, file), arguments.quiet)


def _save(name: str, write: Callable[[Path], object], quiet: bool) -> None:
    try:
        write(user_path(name))
    except OSError as error:
        raise RexrankError(f"{name} cannot be written: {error.strerror or 'unknown reason'}") from None
    if not quiet:
        print(f"written: {name}", file=sys.stderr)
