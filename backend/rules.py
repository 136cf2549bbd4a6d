"""What protocols and metrics mean for this host's requests, results and tables."""

from collections.abc import Collection, Iterable

from backend.config import Config
from rexrank.board.host import Host
from rexrank.board.results import Result, Rules
from rexrank.board.tables import Ranking, Standard
from rexrank.metrics import registry
from rexrank.protocols import load
from rexrank.protocols.protocol import UnknownProtocol
from rexrank.scoring.encoding import why_not_here


def computed(config: Config) -> list[str]:
    """Score keys that this host computes: those it declares, or all of reports, that can be computed here."""
    return [key for key in registry.score_keys() if _is_computed(key, config.metrics)]


def _is_computed(key: str, declared: Collection[str] | None) -> bool:
    wanted = registry.metric_of(key).task == "report" if declared is None else key in declared
    return wanted and why_not_here(key) is None


def offered(config: Config) -> list[str]:
    """The host's protocols as ``name@version``, the default first."""
    return [load(name).id for name in config.protocols]


def rules(name: str, declared: Collection[str] | None) -> Rules:
    """The protocol as results speak of it.

    Args:
        name: ``name@version`` of the protocol.
        declared: Score keys that the host declares, None for all that are built. Those beyond the protocol's list are
            computed too, for information: they neither rank a row nor make it incomplete.
    """
    protocol = load(name)
    known = registry.score_keys()
    more = [key for key in known if key not in protocol.metrics and _is_computed(key, declared)]
    preparation = f"{protocol.option(protocol.convention)}.{protocol.text_preparation.version}"
    return Rules(
        name=protocol.name,
        version=protocol.version,
        convention=protocol.convention,
        text_preparation=preparation,
        metrics=(*protocol.metrics, *more),
        directions={**{key: score_key.direction for key, score_key in known.items()}, **protocol.directions},
    )


def standard(host: Host, results: Iterable[Result]) -> Standard:
    """What the rows of the tables are measured against; a row of a protocol that is gone has no ranking."""
    rankings = {}
    for name, version in {(result.protocol, result.protocol_version) for result in results}:
        try:
            protocol = load(f"{name}@{version}")
        except UnknownProtocol:
            continue
        rankings[name, version] = Ranking(protocol.ranking, protocol.metrics)
    revisions = {benchmark: entry.revision for benchmark, entry in host.benchmarks.items()}
    computed_of = {benchmark: frozenset(host.computes(benchmark)) for benchmark in host.benchmarks}
    return Standard(frozenset(host.metrics), rankings, revisions, computed_of)
