"""Small groups of studies stay hidden, and so does every group that could be computed from what is shown.

A score of three studies of one site says much about three patients. So no number is given for a group below a least
size, nor for so many others that those hidden together reach it: else the hidden ones would be the total minus the
groups shown (complementary suppression; Willenborg and de Waal, "Elements of Statistical Disclosure Control", 2001).
"""

import os
from collections.abc import Sequence
from typing import Literal

from rexrank.environment import positive_number
from rexrank.errors import WrongSetting, shown
from rexrank.metrics.inputs import InvalidCall

Reason = Literal["small", "complement"]

SETTING, DEFAULT_MINIMUM = "REXRANK_MIN_STRATUM", 20


def least_studies(asked: int | None = None) -> int:
    """The least number of studies that a group is shown with.

    Args:
        asked: What the caller wants; None for the host's setting ``REXRANK_MIN_STRATUM``, else 20.

    Raises:
        InvalidCall: `asked` is no whole number from 1.
        WrongSetting: The host's setting is none.
    """
    if asked is not None:
        if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
            raise InvalidCall(f"minimum: expected a whole number of studies from 1, got {shown(asked)}")
        return asked
    found = positive_number(SETTING, DEFAULT_MINIMUM, least=1)
    if found % 1:
        raise WrongSetting(f"{SETTING} is {shown(os.environ[SETTING])}; set it to a whole number of studies from 1")
    return int(found)


def hidden(counts: Sequence[int], minimum: int) -> list[Reason | None]:
    """Which groups of one division stay hidden.

    Args:
        counts: Studies of each group; together all studies. A group of none hides nothing.
        minimum: Least number of studies that is shown.

    Returns:
        For each group ``small``, ``complement`` (large enough, but a small one could be computed from it), or None.
    """
    found: list[Reason | None] = ["small" if 0 < count < minimum else None for count in counts]
    while 0 < _together(counts, found) < minimum:
        left = [place for place, count in enumerate(counts) if count and found[place] is None]
        if not left:
            break
        found[min(left, key=counts.__getitem__)] = "complement"
    return found


def _together(counts: Sequence[int], found: Sequence[Reason | None]) -> int:
    return sum(count for count, reason in zip(counts, found, strict=True) if reason)
