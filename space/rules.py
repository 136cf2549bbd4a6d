"""What the protocol, the metric registry and the host say about a track: its columns, their directions, the ranking."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rexrank import protocols
from rexrank.board import ranking
from rexrank.board.host import Host
from rexrank.errors import RexrankError
from rexrank.metrics import registry
from rexrank.protocols import Protocol
from space.formatting import is_missing
from space.table import Column, Row

DIGITS = 3


@dataclass(frozen=True)
class Rules:
    """How one group of rows (benchmark, track, protocol) is to be shown.

    Attributes:
        protocol: The rule book as ``name@version``.
        columns: Scores that have a column, the deciding one first: those of the protocol that the host computes, and
            others that a row has a value for.
        extra: Keys of those others.
        deciding: The score that ranks, or None where the host computes no ranking key.
        provisional: Whether another key decides because the host does not compute the protocol's first.
        wanted: Label of the protocol's first ranking key.
        absent: Labels of the protocol's scores that this host does not compute.
    """

    protocol: str
    columns: tuple[Column, ...]
    extra: frozenset[str]
    deciding: Column | None
    provisional: bool
    wanted: str
    absent: tuple[str, ...]


def rules(protocol_id: str, host: Host | None, rows: Sequence[Row], benchmark: str | None = None) -> Rules:
    """Put together how a group is shown.

    Args:
        protocol_id: ``name@version`` as the rows carry it.
        host: What the host computes; without it, what the rows have values for.
        rows: The rows of the group.
        benchmark: Theirs; scores that are not made for its images and language have no column.
    """
    protocol = load(protocol_id)
    listed = protocol.columns if protocol else ()
    directions = {key: found.direction for key, found in registry.score_keys().items()}
    if protocol:
        directions = {**protocol.directions, **directions}
    valued = {key for key in directions if has_value(rows, key)}
    # What the host computes for another protocol only would be a column without a single number here.
    computed = valued | (set(host.computes(benchmark)) & set(directions) if host else set())
    chosen = ranking.choose(protocol.ranking, computed, directions) if protocol else None
    columns = {one.key: score_column(one.key, protocol) for one in listed if one.score_key in computed}
    if chosen:
        columns[chosen.name] = score_column(chosen.name, protocol)
    own = frozenset(columns)
    for key in directions:
        if key in valued and not any(key in (one.key, one.score_key) for one in listed):
            columns[key] = score_column(key, protocol)
    deciding = columns.get(chosen.name) if chosen else None
    return Rules(
        protocol=protocol_id,
        columns=tuple(sorted(columns.values(), key=lambda one: one is not deciding)),
        extra=frozenset(columns) - own,
        deciding=deciding,
        provisional=bool(chosen and chosen.provisional),
        wanted=label(protocol.ranking[0], protocol) if protocol and protocol.ranking else "",
        absent=tuple(label(one.key, protocol) for one in listed if one.score_key not in computed),
    )


def has_value(rows: Iterable[Row], key: str) -> bool:
    """Whether at least one row has this score."""
    return any(not is_missing(row.get(key)) for row in rows)


@cache
def load(protocol_id: str) -> Protocol | None:
    """The protocol, or None where this release does not know it; its rows are shown all the same."""
    try:
        return protocols.load(protocol_id) if protocol_id else None
    except RexrankError:
        return None


def score_column(key: str, protocol: Protocol | None) -> Column:
    """A column as the protocol heads it and the registry describes its score."""
    listed = next((one for one in protocol.columns if one.key == key), None) if protocol else None
    found = registry.score_keys().get(listed.score_key if listed else key)
    direction: ranking.Direction = "higher"
    if listed:
        direction = listed.better
    elif found:
        direction = found.direction
    elif protocol:
        direction = protocol.directions.get(key, "higher")
    return Column(
        key=key,
        label=label(key, protocol),
        direction=direction,
        digits=found.digits if found else DIGITS,
        description=found.description if found else "",
        inverse_of=listed.inverse_of if listed else None,
    )


def label(key: str, protocol: Protocol | None) -> str:
    """Name of a score for readers, the same under every protocol: the registry's, else the protocol's, else the key."""
    found = registry.score_keys().get(key)
    listed = next((one.label for one in protocol.columns if one.key == key), None) if protocol else None
    return (found.label if found else None) or listed or _said_by_inverse(key, protocol)


def leading_labels(keys: Sequence[str]) -> list[str]:
    """Names of the first score of each metric among the keys, and how many further ones there are."""
    known = registry.score_keys()
    judging = [key for key in keys if key not in known or known[key].direction != "none"]
    first = {registry.metric_of(key).name if key in known else key: key for key in reversed(judging)}
    leading = [key for key in judging if key in first.values()]
    more = len(judging) - len(leading)
    rest = [f"{more} more {'score' if more == 1 else 'scores'} of the same kinds"] if more else []
    return [*(label(key, None) for key in leading), *rest]


def _said_by_inverse(key: str, protocol: Protocol | None) -> str:
    """A score that the table shows only as its inverse is named by that column: ``1/RadCliQ-v1`` says RadCliQ-v1."""
    inverse = next((one.label for one in protocol.columns if one.inverse_of == key), None) if protocol else None
    return inverse.removeprefix("1/") if inverse else key


def with_inverses(row: Row, columns: Iterable[Column]) -> Row:
    """Add what inverse columns show: one over the mean, absent where the mean is not positive.

    The interval's ends change places, because a low score has a high inverse.
    """
    added: dict[str, Any] = {}
    for column in columns:
        if column.inverse_of:
            ends = {"": "", "_lo": "_hi", "_hi": "_lo"}
            added |= {f"{column.key}{end}": _inverse(row, f"{column.inverse_of}{other}") for end, other in ends.items()}
    return {**row, **added} if added else row


def _inverse(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    return None if value is None or is_missing(value) or value <= 0 else 1 / value
