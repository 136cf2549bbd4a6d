"""Score what waits in the queue of a Hub.

HF_ENDPOINT names the Hub and HF_TOKEN the worker's token, which may read the
submissions and the benchmarks and write requests, results and status. Nothing
is lost when this is stopped or killed: the next start goes on.

Examples:
  python -m backend serve     score until stopped
  python -m backend once      score what waits now, then end (for cron and Jobs)
  python -m backend status    say what waits, runs and failed, and who works
  REXRANK_CLAIM_BATCH=1 REXRANK_WORKER=gpu-1 python -m backend serve

Exit codes: 0 done, 1 the Hub or another worker refused, 2 wrong usage.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence

from rexrank.environment import prepare_libraries, use_local_hub
from rexrank.processes import follow_parent

DONE, REFUSED, WRONG_USAGE = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 done, 1 the Hub or another worker refused, 2 wrong usage.
    """
    prepare_libraries()
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    parser = _parser()
    arguments = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s", stream=sys.stderr)
    for chatty in ("httpx2", "httpx"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # It warns of each tick skipped during a long one; those are counted in the signs of life.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)

    from rexrank.errors import RexrankError, WrongSetting

    try:
        return {"serve": _serve, "once": _once, "status": _status}[arguments.command](arguments)
    except WrongSetting as error:
        print(f"backend: {error}", file=sys.stderr)
        return WRONG_USAGE
    except RexrankError as error:
        print(f"backend: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m backend", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands.add_parser("serve", help="score until stopped")
    commands.add_parser("once", help="score what waits now, then end")
    status = commands.add_parser("status", help="say how queue and workers are")
    status.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _serve(_arguments: argparse.Namespace) -> int:
    from backend import scheduler
    from backend.config import from_environment
    from backend.worker import Worker
    from rexrank.hub import connect

    follow_parent()
    with Worker(connect(), from_environment()) as worker:
        return DONE if scheduler.serve(worker) else REFUSED


def _once(_arguments: argparse.Namespace) -> int:
    from backend import scheduler
    from backend.config import from_environment
    from backend.worker import Worker
    from rexrank.hub import connect

    with Worker(connect(), from_environment()) as worker:
        return DONE if scheduler.once(worker) else REFUSED


def _status(arguments: argparse.Namespace) -> int:
    from backend import status
    from rexrank.hub import connect

    use_local_hub()
    found = status.read(connect())
    print(found.to_json() if arguments.json else found.to_text())
    return DONE


if __name__ == "__main__":
    sys.exit(main())
