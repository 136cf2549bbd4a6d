"""From values to places on an axis, and the numbers that stand beneath it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Scale:
    """A straight axis.

    Attributes:
        ticks: Round values, rising; the first and the last are its ends.
        start: Place of the first, in points.
        end: Place of the last, in points.
    """

    ticks: tuple[float, ...]
    start: float
    end: float

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float, intervals: int = 4) -> "Scale":
        """The axis that encloses all values, with about so many intervals between its ticks."""
        given = list(values)
        low, high = min(given), max(given)
        if math.isclose(low, high, rel_tol=1e-9, abs_tol=1e-12):
            margin = abs(low) * 0.1 or 0.1
            low, high = low - margin, high + margin
        raw = (high - low) / intervals
        size = 10.0 ** math.floor(math.log10(raw))
        step = next(factor * size for factor in _STEPS if factor * size >= raw * (1 - 1e-9))
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return cls(tuple(round(index * step, 12) for index in range(first, last + 1)), start, end)

    def __call__(self, value: float) -> float:
        """The place of a value."""
        share = (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return self.start + share * (self.end - self.start)

    @property
    def labels(self) -> list[str]:
        """The ticks in words, with as many decimals as the step needs."""
        step = self.ticks[1] - self.ticks[0]
        digits = next((digits for digits in range(13) if math.isclose(step, round(step, digits), rel_tol=1e-6)), 12)
        return [number(tick, digits) for tick in self.ticks]


def number(value: float, digits: int = 3) -> str:
    """A number as people read it: a true minus sign, none before zero."""
    words = f"{value:,.{digits}f}"
    if float(words.replace(",", "")) == 0:
        words = words.lstrip("-")
    return words.replace("-", "\u2212")


def is_number(value: float | None) -> bool:
    """Whether there is a value, and a finite one."""
    return value is not None and math.isfinite(value)
