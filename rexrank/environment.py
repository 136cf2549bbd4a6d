"""What the environment sets: folders, addresses, names and limits.

Everything is read when asked for, so a test or a child process can change it.
"""

import json
import math
import os
from pathlib import Path

from rexrank.errors import RexrankError, WrongSetting, shown
from rexrank.files import user_path

PUBLIC_HUB = "https://huggingface.co"
LOCAL_ACCOUNT = "local.json"
# In seconds about 32 years; more cannot be added to a date.
GREATEST_NUMBER = 1_000_000_000
LIBRARY_DEFAULTS = {
    # Without these, uploads ask for a token the local Hub does not issue, and
    # libraries contact outside counters.
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    # Its remarks on empty commits and cached files say nothing to our users.
    "HF_HUB_VERBOSITY": "error",
    "HF_UPDATE_DOWNLOAD_COUNTS": "0",
    "GRADIO_ANALYTICS_ENABLED": "False",
    "TOKENIZERS_PARALLELISM": "false",
}


def prepare_libraries() -> None:
    """Set what the Hub's libraries read at import; call before importing them. The user's own values win."""
    for name, value in LIBRARY_DEFAULTS.items():
        os.environ.setdefault(name, value)


def use_local_hub() -> None:
    """Use the Hub of ``rexrank up`` on this machine, as its user ``local``, where the environment names no Hub.

    ``rexrank up`` leaves the address and the token in a file of its home that only its owner can read.

    Raises:
        RexrankError: That file is damaged.
    """
    if os.environ.get("HF_ENDPOINT") or os.environ.get("HF_TOKEN"):
        return
    kept = home() / LOCAL_ACCOUNT
    try:
        account = json.loads(kept.read_text(encoding="utf-8"))
        found = {"HF_ENDPOINT": account["endpoint"], "HF_TOKEN": account["token"]}
        owner = account["namespace"]
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError, KeyError, TypeError):
        raise RexrankError(f"{kept} cannot be read; start `rexrank up` again, which writes it") from None
    os.environ.update(found)
    os.environ["REXRANK_NAMESPACE"] = os.environ.get("REXRANK_NAMESPACE") or owner


def home() -> Path:
    """Folder of the local Hub's store, caches and logs (``REXRANK_HOME``, default ``./.rexrank``)."""
    return user_path(os.environ.get("REXRANK_HOME") or ".rexrank").resolve()


def namespace() -> str:
    """Owner of the requests, results, status and benchmark repos (``REXRANK_NAMESPACE``)."""
    return os.environ.get("REXRANK_NAMESPACE") or "rexrank"


def endpoint() -> str:
    """Address of the Hub in use (``HF_ENDPOINT``), without a trailing slash."""
    return (os.environ.get("HF_ENDPOINT") or PUBLIC_HUB).rstrip("/")


def hub_port() -> int:
    """Port of the local Hub (``REXRANK_HUB_PORT``)."""
    return _port("REXRANK_HUB_PORT", 7861)


def board_port() -> int:
    """Port of the board (``REXRANK_BOARD_PORT``)."""
    return _port("REXRANK_BOARD_PORT", 7860)


def tick_seconds() -> float:
    """Seconds between two looks at the queue (``REXRANK_TICK_SECONDS``)."""
    return positive_number("REXRANK_TICK_SECONDS", 60.0)


def positive_number(name: str, default: float, least: float = 0.0) -> float:
    """A setting that is a number.

    Args:
        name: Variable of the environment.
        default: Value where it is not set.
        least: Smallest value that makes sense.

    Returns:
        A number above 0, from ``least`` to ``GREATEST_NUMBER``.

    Raises:
        WrongSetting: It is set to something else.
    """
    text = os.environ.get(name)
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (value > 0 and least <= value <= GREATEST_NUMBER):
        bound = f"from {least:g}" if least else "above 0"
        raise WrongSetting(f"{name} is {shown(text)}; set it to a number {bound} and up to {GREATEST_NUMBER:,}")
    return value


def _port(name: str, default: int) -> int:
    value = os.environ.get(name) or str(default)
    if not (value.isascii() and value.isdigit() and len(value) <= 5 and int(value) <= 65535):
        raise WrongSetting(f"{name} is {shown(value)}; set it to a port, a whole number up to 65535")
    return int(value)
