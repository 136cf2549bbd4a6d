"""Start the board; a Space runs the same file.

Environment: HF_ENDPOINT (the Hub), REXRANK_NAMESPACE (whose results),
REXRANK_BOARD_PORT (7860), HF_TOKEN (read; on a Space it may also write
requests), REXRANK_TICK_SECONDS (how often the Hub is looked at), REXRANK_HOME
(where the last look is kept). `rexrank up` also sets REXRANK_LOCAL_USER and
REXRANK_LOCAL_TOKEN.
"""

import argparse
import logging
import os
import signal
import sys
import threading
from types import FrameType

from rexrank import environment
from rexrank.processes import follow_parent
from space.uploads import private_folder


def main() -> int:
    """Serve until SIGTERM or SIGINT.

    Returns:
        0 after an orderly end, 1 when the port is taken.

    Raises:
        SystemExit: 0 after ``--help``, 2 for any other argument; everything is set by the environment.
    """
    formatter = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(prog="app.py", description=__doc__, formatter_class=formatter).parse_args()
    environment.prepare_libraries()
    # Gradio asks itself whether it is up; a proxy must not stand in between.
    os.environ.setdefault("NO_PROXY", "127.0.0.1,localhost")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for chatty in ("httpx", "httpx2", "httpcore"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    ended = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    follow_parent()
    # What visitors send holds report texts.
    with private_folder(environment.home() / "board") as uploads:
        os.environ["GRADIO_TEMP_DIR"] = str(uploads)
        return _serve(ended)


def _serve(ended: threading.Event) -> int:
    # Imported here because the libraries read their settings when they are imported.
    from rexrank.hub import connect
    from space.board import LOOPBACK, launch_settings, pages
    from space.data import BoardStore, LocalCopy, Repos
    from space.submit import Submitters

    endpoint, namespace = environment.endpoint(), environment.namespace()
    # A Space is reached from outside its container; anywhere else the board stays on this machine.
    host = "0.0.0.0" if os.environ.get("SPACE_ID") else LOOPBACK
    port = environment.board_port()
    store = BoardStore(
        Repos(connect(endpoint), namespace),
        LocalCopy(environment.home() / "board", endpoint, namespace),
        environment.tick_seconds(),
    )
    store.start()
    board = pages(store, Submitters.from_environment(endpoint, namespace))
    try:
        board.launch(**launch_settings(host, port))
    except OSError:
        store.stop()
        print(f"port {port} is taken; set REXRANK_BOARD_PORT to a free one", file=sys.stderr)
        return 1
    print(f"board: http://{LOOPBACK}:{port}", flush=True)
    ended.wait()
    board.close(verbose=False)
    store.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
