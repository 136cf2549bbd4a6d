"""How far a run is: a bar on stderr, or calls of a function of the caller's."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

Progress = Callable[[str, int, int], None]
"""Takes the stage that begins or goes on, the number of stages done, and that of all."""

# What the bar calls a metric that waits before it begins, so that nobody takes it for one that hangs.
_SLOW_STARTS = {"meteor": "meteor (its Java program takes about 10 s to start)"}


class Report(Protocol):
    """Says which stage of the work begins, and how far it is."""

    def __call__(self, stage: str) -> None: ...

    def within(self, stage: str) -> None:
        """Say more of the stage that began last."""


class _Raised(BaseException):
    """What the caller's function raised: no fault of the encoder or the metric at work, so nobody catches it there."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class _Told:
    """Calls the caller's function."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total = progress, total
        self.done, self.stage = 0, ""

    def __call__(self, stage: str) -> None:
        self._tell(stage, self.done)
        self.done, self.stage = self.done + 1, stage

    def within(self, stage: str) -> None:
        self._tell(stage, self.done - 1)

    def _tell(self, stage: str, done: int) -> None:
        try:
            self._progress(stage, done, self._total)
        except Exception as error:
            raise _Raised(error) from error


class _Drawn:
    """Moves a bar on stderr."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._done = 0

    def __call__(self, stage: str) -> None:
        self._bar.set_description(_SLOW_STARTS.get(stage, stage), refresh=False)
        self._bar.update(min(self._done, 1))
        self._done += 1
        if stage in _SLOW_STARTS:
            self._bar.refresh()  # the delay would show nothing before the next stage

    def within(self, stage: str) -> None:
        self._bar.set_description(stage, refresh=False)
        self._bar.update(0)
        self._bar.refresh()


@contextmanager
def reporting(progress: bool | Progress, total: int) -> Iterator[Report]:
    """Give what says which stage begins; the bar shows once two seconds have passed."""
    if callable(progress):
        told = _Told(progress, total)
        fault = None
        try:
            yield told
        except _Raised as raised:
            fault = raised.error
        if fault is not None:
            raise fault
        progress(told.stage, total, total)
        return

    from tqdm import tqdm

    with tqdm(total=total, delay=2, file=sys.stderr, leave=False, disable=None if progress else True) as bar:
        yield _Drawn(bar)
