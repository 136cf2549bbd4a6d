"""The processes that ``rexrank up`` starts, watches and stops."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from rexrank.errors import RexrankError
from rexrank.processes import FOLLOW_PARENT

STOP_SECONDS = 20.0
LOG_KEEP_BYTES = 5 * 2**20


class Child:
    """One process of ours, with its log in a file.

    Args:
        name: What the user calls it: "Hub", "backend", "board".
        command: Words after the Python interpreter.
        environment: Variables on top of this process's own.
        log: File that receives everything it prints.
        folder: Its working folder.
    """

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], log: Path, folder: Path
    ) -> None:
        self.name = name
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > LOG_KEEP_BYTES:
            log.replace(log.with_suffix(".old.log"))
        with log.open("ab") as output:
            # A session of its own, so that Ctrl-C reaches us alone and we stop the children in order.
            self.process = subprocess.Popen(
                [sys.executable, *command],
                cwd=folder,
                env={**os.environ, **environment, FOLLOW_PARENT: str(os.getpid()), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def require_alive(self) -> None:
        """Raise one clear sentence where the process has ended."""
        code = self.process.poll()
        if code is not None:
            raise RexrankError(
                f"the {self.name} stopped (exit code {code}): {self.last_words()} The log is {self.log}."
            )

    def last_words(self) -> str:
        """Last line of the log, which mostly says why a process ended."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return f"{lines[-1].strip().rstrip('.')}." if lines else "it printed nothing."

    def wait_for(self, url: str, seconds: float) -> None:
        """Wait until ``url`` answers.

        Raises:
            RexrankError: The process ended, or ``seconds`` passed.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.require_alive()
            if answers(url):
                return
            time.sleep(0.2)
        raise RexrankError(f"the {self.name} did not answer within {seconds:.0f} seconds; its log is {self.log}.")

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Ask the process to end, and kill it when it does not within ``seconds``."""
        if self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(seconds)


def answers(url: str) -> bool:
    """Whether something answers at ``url`` on this machine (proxies are not asked)."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def require_free(port: int, what: str, variable: str) -> None:
    """Raise one clear sentence where ``port`` of the loopback address is taken.

    Args:
        port: The port wanted.
        what: Whose port it is, for the sentence.
        variable: Environment variable that chooses another one.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise RexrankError(
                f"port {port}, wanted for the {what}, is in use: stop the program that holds it, "
                f"or choose another port with {variable}=<number>."
            ) from None
