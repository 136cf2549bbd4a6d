"""What a host offers: protocols, metrics and benchmarks, in ``host.json`` of the results repo."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rexrank import environment
from rexrank.board.requests import CommitId, Name, Remark, Slug
from rexrank.errors import RexrankError
from rexrank.files import json_bytes
from rexrank.hub.connection import Hub
from rexrank.hub.errors import HubError
from rexrank.terms import Track

PATH = "host.json"
# The repo that holds what ranks of hidden benchmarks are drawn from; private.
HIDDEN_SAMPLES = "samples"
MOST_STUDIES = 10_000_000

Studies = Annotated[int, Field(ge=1, le=MOST_STUDIES)]


class HostBenchmark(BaseModel):
    """One benchmark of the host.

    Attributes:
        tracks: Number of studies of each track.
        split: Name of the split.
        revision: Commit id at which the benchmark's data last changed.
        licence: Identifier of the licence of the texts.
        modality: What the images show, as requests name it.
        language: Language of the texts (ISO 639-1).
        public: Whether references, ids and per-study scores may be seen by everyone.
    """

    model_config = ConfigDict(frozen=True)

    tracks: Annotated[dict[Track, Studies], Field(min_length=1)]
    split: Slug = "test"
    revision: CommitId
    licence: Remark | None = None
    modality: Name = "CXR"
    language: Name = "en"
    public: bool = False


class Host(BaseModel):
    """The content of ``host.json``.

    Attributes:
        protocols: Rule books as ``name@version``, the default first.
        metrics: Score keys that this host computes.
        benchmarks: What can be submitted to, by name.
        weights: Weight of each benchmark in a mean of ranks, as the host declares them; only their ratios matter. None
            of them, and there is no mean.
    """

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    protocols: list[str] = []
    metrics: list[str] = []
    benchmarks: dict[Slug, HostBenchmark] = {}
    weights: dict[Slug, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = {}

    def computes(self, benchmark: str | None = None) -> list[str]:
        """Score keys that this host computes: of a benchmark those that are made for its images and language."""
        from rexrank.scoring.scope import Scope

        entry = self.benchmarks.get(benchmark) if benchmark is not None else None
        scope = Scope(entry.modality, entry.language) if entry else Scope()
        return [key for key in self.metrics if scope.why_not(key) is None]

    def to_bytes(self) -> bytes:
        """The file's content."""
        return json_bytes(self.model_dump(mode="json"), sort_keys=True)

    def protocol(self, asked: str | None) -> str | None:
        """The offered ``name@version`` for a name with or without a version; None when it is not offered."""
        if asked is None:
            return self.protocols[0] if self.protocols else None
        return next((offered for offered in self.protocols if asked in (offered, offered.partition("@")[0])), None)


def repo(name: str, namespace: str | None = None) -> str:
    """Full name of one of the host's repos: ``requests``, ``results``, ``status`` or a benchmark."""
    return f"{owner(namespace)}/{name}"


def owner(namespace: str | None = None) -> str:
    """User or organisation that owns the host's repos."""
    return namespace or environment.namespace()


def parse(content: bytes) -> Host:
    """Read ``host.json``.

    Raises:
        RexrankError: It does not have the expected form.
    """
    try:
        return Host.model_validate_json(content)
    except ValidationError:
        raise RexrankError(f"{PATH} of the results repo cannot be read; start the backend, which writes it") from None


def load(hub: Hub, namespace: str | None = None) -> Host:
    """Fetch what the host offers.

    Raises:
        RexrankError: There is no such host, or its backend has never run.
    """
    results = repo("results", namespace)
    try:
        files = hub.view(results, [PATH]).files
    except HubError as error:
        if error.code != "repo_not_found":
            raise
        files = {}
    if PATH not in files:
        raise RexrankError(
            f"{hub.endpoint} has no {PATH} in {results}: start the backend once, or set REXRANK_NAMESPACE"
        )
    return parse(files[PATH])
