"""Build a benchmark's test set from files on this machine, or push it to a Hub.

iu-xray is read from the Open-i archive inside the package torchxrayvision
(pip install --no-deps torchxrayvision). Its texts are CC BY-NC-ND 4.0: they go
to a Hub on this machine freely, to any other only with --confirm-licence.

mimic-cxr, chexpert-plus, rexgradient and rrg24 are built from files that you
own; nothing is downloaded. Their references are private: the dataset repo is
made private, and only its owner's backend reads it. docs/benchmarks.md has the
forms of the files. A push goes to the Hub at HF_ENDPOINT, with HF_TOKEN.

Examples:
  rexrank benchmark build iu-xray --out build/iu-xray
  rexrank benchmark build mimic-cxr --source ReXRank_MIMICCXR_test.json
  rexrank benchmark build chexpert-plus --source df_chexpert_plus_240401.csv
  rexrank benchmark build annotation --source a.json --of mimic-cxr --name mine
  rexrank benchmark push iu-xray --repo rexrank/iu-xray
  rexrank benchmark split --source df_chexpert_plus_240401.csv --by patient
  rexrank benchmark leakage annotation.json

`rexrank benchmark build BENCHMARK --help` says what it is built from.

Exit codes: 0 done, 1 refused (files that cannot be read, or texts that may not
go to that Hub), 2 wrong usage.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexrank.cli import DONE, WRONG_USAGE
from rexrank.cli.actions import add_action
from rexrank.cli.benchmark_split import add_actions, run_leakage, run_split
from rexrank.files import user_path

if TYPE_CHECKING:
    from rexrank.benchmarks import Benchmark

_QUIET = "no progress bar and no notes on stderr"


class _Strict(argparse.ArgumentParser):
    """Refuses unknown words itself, with its own usage and not that of ``rexrank``."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown


@dataclass(frozen=True)
class Builder:
    """How the command line builds one benchmark.

    Attributes:
        help: What it is, in one line.
        examples: Words that follow its name, in calls that work for owners of these files.
        add_arguments: Declares the files it takes.
        load: Builds it from the arguments.
    """

    help: str
    examples: tuple[str, ...]
    add_arguments: Callable[[argparse.ArgumentParser], None]
    load: Callable[[argparse.Namespace], "Benchmark"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``build`` and ``push``, each with every benchmark and its files, and the other actions."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for benchmark, builder in _each(actions, "build", "write the files of the benchmark's repo to a folder"):
        benchmark.add_argument("--out", type=Path, metavar="DIR", help="folder to write to (default: ./NAME)")
        benchmark.add_argument("--quiet", action="store_true", help=_QUIET)
        builder.add_arguments(benchmark)
    for benchmark, builder in _each(actions, "push", "bring the benchmark's dataset repo at HF_ENDPOINT up to date"):
        benchmark.add_argument("--repo", metavar="NS/NAME", help="dataset repo (default: REXRANK_NAMESPACE/NAME)")
        benchmark.add_argument("--quiet", action="store_true", help=_QUIET)
        benchmark.add_argument(
            "--confirm-licence",
            action="store_true",
            help="you run that Hub and its use of the texts meets their licence; needed for a Hub not on this machine",
        )
        builder.add_arguments(benchmark)
    add_actions(actions)


def _each(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", action: str, summary: str
) -> list[tuple[argparse.ArgumentParser, Builder]]:
    more = f"`rexrank benchmark {action} BENCHMARK --help` says what a benchmark is built from."
    every = add_action(actions, action, summary, [f"rexrank benchmark {action} iu-xray"], more)
    names = every.add_subparsers(dest="benchmark", metavar="BENCHMARK", required=True, parser_class=_Strict)
    found: list[tuple[argparse.ArgumentParser, Builder]] = []
    for name, builder in BUILDERS.items():
        examples = [f"rexrank benchmark {action} {name} {words}".rstrip() for words in builder.examples]
        parser = add_action(names, name, builder.help, examples)
        found.append((parser, builder))
    return found


def run(arguments: argparse.Namespace) -> int:
    """Build or push, see :func:`rexrank.benchmarks.push` for the errors; or do one of the other actions."""
    if other := {"split": run_split, "leakage": run_leakage}.get(arguments.action):
        return other(arguments)
    from rexrank.benchmarks.benchmark import WrongCall

    try:
        benchmark = BUILDERS[arguments.benchmark].load(arguments)
    except WrongCall as error:
        print(f"rexrank benchmark: {error}", file=sys.stderr)
        return WRONG_USAGE
    for warning in benchmark.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if arguments.action == "build":
        _build(benchmark, user_path(arguments.out or benchmark.name))
    else:
        _push(benchmark, arguments.repo, arguments.confirm_licence)
    if not arguments.quiet:
        for note in benchmark.notes:
            print(f"note: {note}", file=sys.stderr)
    return DONE


def _build(benchmark: "Benchmark", folder: Path) -> None:
    from rexrank.benchmarks.repository import check_folder, files
    from rexrank.files import write_atomically

    new = files(benchmark)
    check_folder(benchmark, new, folder)
    mode = 0o600 if benchmark.references == "private" else 0o644
    for path, data in new.items():
        write_atomically(folder / path, data, mode)
    print(
        f"{benchmark.name} studies: {_tracks(benchmark.tracks)}; licence: {benchmark.licence.name}; written to {folder}"
    )


def _push(benchmark: "Benchmark", repo: str | None, confirm_licence: bool) -> None:
    from rexrank.benchmarks import push
    from rexrank.board import host
    from rexrank.hub import connect

    hub = connect()
    repo_id = repo or host.repo(benchmark.name)
    commit = push(hub, benchmark, repo_id, confirm_licence)
    print(
        f"{benchmark.name} studies: {_tracks(benchmark.tracks)}; at {hub.endpoint}/datasets/{repo_id}, commit {commit}"
    )


def _tracks(tracks: Mapping[str, int]) -> str:
    return ", ".join(f"{track} {n:,}" for track, n in tracks.items())


def _nothing(_: argparse.ArgumentParser) -> None:
    """For benchmarks that need no file."""


def _source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, type=Path, metavar="FILE", help="your file")


def _source_and_splits(parser: argparse.ArgumentParser) -> None:
    _source(parser)
    parser.add_argument(
        "--splits", type=Path, metavar="FILE", help="mimic-cxr-2.0.0-split.csv, for the sectioned reports"
    )


def _lines(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--findings", type=Path, metavar="FILE", help="one findings section a line")
    parser.add_argument("--impression", type=Path, metavar="FILE", help="one impression section a line")
    parser.add_argument("--ids", type=Path, metavar="FILE", help="one study id a line (default: numbers of the lines)")
    parser.add_argument("--name", default="rrg24", metavar="NAME", help="name of the benchmark (default: rrg24)")


def _annotation_file(parser: argparse.ArgumentParser) -> None:
    _source(parser)
    parser.add_argument("--of", required=True, metavar="DATA", help="whose texts: chexpert-plus, mimic-cxr or iu-xray")
    parser.add_argument(
        "--name", required=True, metavar="NAME", help="name of the benchmark, which is not the data set's own"
    )


def _iu_xray(_: argparse.Namespace) -> "Benchmark":
    from rexrank.benchmarks import iu_xray

    return iu_xray.load()


def _mimic_cxr(arguments: argparse.Namespace) -> "Benchmark":
    from rexrank.benchmarks import mimic_cxr

    return mimic_cxr.load(arguments.source, arguments.splits, progress=not arguments.quiet)


def _chexpert_plus(arguments: argparse.Namespace) -> "Benchmark":
    from rexrank.benchmarks import chexpert_plus

    return chexpert_plus.load(arguments.source, progress=not arguments.quiet)


def _rexgradient(arguments: argparse.Namespace) -> "Benchmark":
    from rexrank.benchmarks import rexgradient

    return rexgradient.load(arguments.source, progress=not arguments.quiet)


def _rrg24(arguments: argparse.Namespace) -> "Benchmark":
    from rexrank.benchmarks import rrg24

    files = arguments.findings, arguments.impression, arguments.ids
    return rrg24.load(*files, name=arguments.name, progress=not arguments.quiet)


def _annotation(arguments: argparse.Namespace) -> "Benchmark":
    from rexrank.benchmarks import cxpmrg_benchmark

    return cxpmrg_benchmark.load(arguments.source, arguments.of, arguments.name, progress=not arguments.quiet)


BUILDERS: Mapping[str, Builder] = {
    "iu-xray": Builder("IU X-ray (Open-i), from the package torchxrayvision", ("",), _nothing, _iu_xray),
    "mimic-cxr": Builder(
        "MIMIC-CXR's test split, from ReXrank's or PhysioNet's files",
        (
            "--source ReXRank_MIMICCXR_test.json",
            "--source mimic_cxr_sectioned.csv --splits mimic-cxr-2.0.0-split.csv",
        ),
        _source_and_splits,
        _mimic_cxr,
    ),
    "chexpert-plus": Builder(
        "CheXpert Plus' validation split, from ReXrank's file or the table of all images",
        ("--source ReXRank_CheXpertPlus.json", "--source df_chexpert_plus_240401.csv"),
        _source,
        _chexpert_plus,
    ),
    "rexgradient": Builder(
        "ReXGradient's test split, from its metadata or a file in ReXrank's form",
        ("--source test_metadata_view_position.json",),
        _source,
        _rexgradient,
    ),
    "rrg24": Builder(
        "RRG24, from files of one report a line; a blank line keeps its place",
        (
            "--findings test.findings.txt --impression test.impression.txt",
            "--impression test.impression.txt --ids test.ids.txt --name rrg24-impression",
        ),
        _lines,
        _rrg24,
    ),
    "annotation": Builder(
        "the test split of an annotation file, as R2Gen and CXPMRG-Bench have it",
        ("--source a.json --of iu-xray --name r2gen",),
        _annotation_file,
        _annotation,
    ),
}
