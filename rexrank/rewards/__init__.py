"""Metrics as reward functions for reinforcement learning."""

from typing import TYPE_CHECKING

from rexrank.lazy import names_of

_HOMES = {
    "Counts": "rexrank.rewards.reward",
    "Reward": "rexrank.rewards.reward",
    "close": "rexrank.rewards.sessions",
    "make": "rexrank.rewards.reward",
    "reward_keys": "rexrank.rewards.keys",
}

__all__ = ["Counts", "Reward", "close", "make", "reward_keys"]

if TYPE_CHECKING:
    from rexrank.rewards.keys import reward_keys
    from rexrank.rewards.reward import Counts, Reward, make
    from rexrank.rewards.sessions import close

__getattr__ = names_of(__name__, _HOMES)
