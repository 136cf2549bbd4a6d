"""Time, passed in wherever it matters so that tests can set it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


def utc_now() -> datetime:
    """The present moment in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Clock:
    """Where the time of day, durations and waits come from.

    Attributes:
        now: The moment, aware and in UTC; goes into stored times and leases.
        monotonic: Seconds that never run backwards; measures deadlines.
        sleep: Waits the given seconds.
    """

    now: Callable[[], datetime] = utc_now
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
