"""From a signature back to the formula of a corpus score, so that saved statistics can be resampled."""

from collections.abc import Mapping

from rexrank.errors import shown
from rexrank.metrics.inputs import InvalidCall
from rexrank.metrics.outcome import Formula
from rexrank.metrics.registry import metric_of, score_keys
from rexrank.statistics.sample import mean


def formula_of(signature: str) -> Formula | None:
    """The formula that a score's sums of sufficient statistics go through.

    Args:
        signature: Of the score, as a score card has it.

    Returns:
        From sums, [b, k], to scores, [b]; None for a score that is the mean of its studies' values.

    Raises:
        InvalidCall: The signature is of an unknown score, or of another version of its metric.
    """
    key, parts = read_signature(signature)
    metric, score_key = metric_of(key), score_keys()[key]
    if parts.get("v") != metric.version:
        raise InvalidCall(
            f"{key} was computed by version {parts.get('v', '?')} of {metric.name}, and this rexrank has version "
            f"{metric.version}; score again"
        )
    of_mean = score_key.of_mean
    if of_mean is not None:
        return lambda sums: of_mean(mean(sums))
    return metric.formula_of(key, parts) if metric.formula_of else None


def read_signature(signature: str) -> tuple[str, Mapping[str, str]]:
    """The score key of a signature, and its parts by name.

    Raises:
        InvalidCall: It is no signature.
    """
    key, *parts = signature.split("|") if isinstance(signature, str) else ("",)
    named = dict(part.partition(":")[::2] for part in parts)
    if "conv" not in named or "v" not in named:
        raise InvalidCall(f"expected a signature such as bleu2|conv:published|…|v:1, got {shown(signature)}")
    return key, named
