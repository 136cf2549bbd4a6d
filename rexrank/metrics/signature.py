"""Signatures: the line that pins how a number came about.

Two numbers may be compared only if their signatures are equal.
"""

import re
from collections.abc import Mapping

from rexrank.metrics.inputs import InvalidCall

_PREPARATION = re.compile(r"[a-z0-9][a-z0-9.+_-]*")


def signature(key: str, convention: str, parts: Mapping[str, str], preparation: str | None, version: str) -> str:
    """Write the signature of a score.

    Args:
        key: Score key.
        convention: ``published`` or ``corrected``.
        parts: What the metric and the policy add, in order.
        preparation: Name of the text preparation done before, or None.
        version: Version of the metric.

    Returns:
        For instance ``bleu2|conv:published|tok:rexrank|prep:findings-ref|v:1``.

    Raises:
        InvalidCall: `preparation` is not a plain lower-case name.
    """
    if preparation is not None and not (isinstance(preparation, str) and _PREPARATION.fullmatch(preparation)):
        raise InvalidCall(
            "preparation: expected a name of lower-case letters, digits and . + _ - (it goes into the signature)"
        )
    named = {"conv": convention, **parts}
    if preparation is not None:
        named["prep"] = preparation
    named["v"] = version
    return "|".join([key, *(f"{name}:{value}" for name, value in named.items())])
