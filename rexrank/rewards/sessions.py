"""One kept-open session a process and setting, which all rewards with this setting share."""

import os
import sys
import threading

from rexrank.encoders.devices import devices
from rexrank.scoring.encoding import EncoderSettings
from rexrank.scoring.session import Session

# What a session reads once: another value means another session.
_VARIABLES = ("REXRANK_CACHE", "REXRANK_DEVICE", "REXRANK_DOWNLOAD", "REXRANK_HOME", "REXRANK_WEIGHTS")

_Place = tuple[EncoderSettings, tuple[str | None, ...]]

_sessions: dict[_Place, Session] = {}
_of_parents: list[dict[_Place, Session]] = []
_lock = threading.Lock()
_is_forked = False


def session(settings: EncoderSettings) -> Session:
    """The session of a setting, in which models and records wait for the next call.

    Raises:
        NoFolder: The settings name a folder of weights that is none.
    """
    place = settings, tuple(os.environ.get(name) for name in _VARIABLES)
    with _lock:
        if place not in _sessions:
            if _is_forked and (torch := sys.modules.get("torch")):
                torch.set_num_threads(1)  # the others of the parent are not there, and would be waited for
            _sessions[place] = Session(settings, kept_open=True)
        return _sessions[place]


def close() -> None:
    """Let go of all models and records that rewards keep; the next call of a reward loads them anew."""
    with _lock:
        opened = list(_sessions.values())
        _sessions.clear()
    for one in opened:
        one.close()


def own_device(asked: str | None) -> str | None:
    """The device of this process.

    Several processes that train together each take the device of their own number (``LOCAL_RANK``), unless the caller
    or ``REXRANK_DEVICE`` says where encoders run.
    """
    rank = os.environ.get("LOCAL_RANK", "")
    if asked is not None or os.environ.get("REXRANK_DEVICE") or not rank.isdecimal():
        return asked
    found = devices()
    return found[int(rank) % len(found)]


def _start_anew() -> None:
    """Leave a parent's sessions alone: its file of features must not be used, nor closed, by a forked child."""
    global _sessions, _lock, _is_forked
    _of_parents.append(_sessions)
    _sessions, _lock, _is_forked = {}, threading.Lock(), True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
