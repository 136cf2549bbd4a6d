"""The result of one request, as ``results/<owner>/<request>.<evaluator>.json`` holds it. Scores only, never text."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from rexrank.board.requests import (
    CommitId,
    Declared,
    Kind,
    Link,
    Name,
    Remark,
    RepoId,
    Request,
    Sha256,
    Slug,
    Ulid,
    Utc,
)
from rexrank.errors import RexrankError
from rexrank.files import json_bytes
from rexrank.terms import Convention, Direction, Track

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

SCHEMA_VERSION = 1
FOLDER = "results/"
PER_STUDY_FOLDER = "per_study/"
SHOWN_HASH_DIGITS = 12
HIDDEN_DECIMALS = 3

# What the tables' int32 columns hold.
Count = Annotated[int, Field(ge=0, lt=2**31)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")


class MetricResult(_Model):
    """One score of a result; ``value`` is a number only where ``status`` is ``ok``."""

    value: FiniteFloat | None = None
    status: Literal["ok", "not_available", "not_applicable", "failed"]
    reason: str | None = None
    direction: Direction
    n: Count = 0
    ci_low: FiniteFloat | None = None
    ci_high: FiniteFloat | None = None
    ci_level: FiniteFloat | None = None
    ci_method: str | None = None
    metric_version: str = ""
    module_revision: str | None = None
    weights_sha256: str | None = None
    signature: str = ""
    n_empty: Count = 0
    n_undefined: Count = 0
    n_truncated: Count = 0
    n_unparsed: Count = 0
    seconds: FiniteFloat | None = None


class ResultEvaluator(_Model):
    """What computed the result; ``hash`` stands for everything that can change a number."""

    hash: Sha256
    version: str
    git_sha: str | None = None
    packages: dict[str, str] = {}
    python: str
    device: str = "cpu"


class Result(_Model):
    """One result file (specs/hub.md 4.8), with what the leaderboard row needs of its request."""

    schema_version: Literal[1] = 1
    result_id: str
    request_id: Ulid
    kind: Kind = "predictions"
    owner: Slug
    model_name: Name
    name_key: str
    repo_id: RepoId
    revision: CommitId
    file_sha256: Sha256
    dataset: Slug
    dataset_revision: CommitId
    split: Slug
    section: Track
    modality: Name
    protocol: Slug
    protocol_version: Slug
    convention: Convention
    text_preparation: str
    n_expected: Count
    n_studies: Count
    coverage: FiniteFloat
    n_empty: Count
    unique_ratio: FiniteFloat
    metrics: dict[str, MetricResult]
    evaluator: ResultEvaluator
    declared: Declared = Declared()
    organization: Name | None = None
    model_url: Link | None = None
    paper_url: Link | None = None
    code_url: Link | None = None
    license: Remark | None = None
    flags: tuple[Remark, ...] = ()
    submitted_at: Utc
    started_at: Utc
    finished_at: Utc

    @model_validator(mode="after")
    def _consistent(self) -> "Result":
        if self.result_id != result_id(self.request_id, self.evaluator.hash):
            raise ValueError("result_id does not belong to request_id and evaluator")
        return self

    @property
    def path(self) -> str:
        """Where the results repo keeps it."""
        return path_of(self.owner, self.request_id, self.evaluator.hash)

    def to_bytes(self) -> bytes:
        """The file's content: indented JSON in UTF-8; a number that is not finite cannot be written."""
        return json_bytes(self.model_dump(mode="json", by_alias=True))


@dataclass(frozen=True)
class Rules:
    """The protocol a request was scored by, as far as results speak of it.

    Attributes:
        name: Name of the protocol.
        version: Its version.
        convention: Convention of its metrics.
        text_preparation: What is done to the texts first, with its version (``reference.1``).
        metrics: Score keys asked for, in the protocol's order.
        directions: Which values of each are better; also of those that are not built.
    """

    name: str
    version: str
    convention: Convention
    text_preparation: str
    metrics: tuple[str, ...]
    directions: Mapping[str, Direction]


@dataclass(frozen=True)
class Texts:
    """Facts about the predictions that tell nothing of their content.

    Attributes:
        file_sha256: Hash of the file.
        n_expected: Number of studies of the track.
        n_empty: Number of blank predictions.
    """

    file_sha256: str
    n_expected: int
    n_empty: int


def path_of(owner: str, request_id: str, evaluator_hash: str) -> str:
    """Path of a result in the results repo."""
    return f"{FOLDER}{owner}/{result_id(request_id, evaluator_hash)}.json"


def result_id(request_id: str, evaluator_hash: str) -> str:
    """The result's id: the request's, and the start of the evaluator's hash."""
    return f"{request_id}.{evaluator_hash[:SHOWN_HASH_DIGITS]}"


def per_study_path(identifier: str) -> str:
    """Path of a result's per-study scores in the results repo."""
    return f"{PER_STUDY_FOLDER}{identifier}.parquet"


def evaluator_hash(library_version: str, rules: Rules, settings: Mapping[str, Any]) -> str:
    """Hash over everything that can change a number, known before anything is scored.

    Args:
        library_version: Version of rexrank.
        rules: The protocol.
        settings: The request's settings.

    Returns:
        64 hexadecimal digits.
    """
    from rexrank.metrics import registry

    known = registry.score_keys()
    versions = {key: registry.metric_of(key).version for key in rules.metrics if key in known}
    what = {
        "rexrank": library_version,
        "protocol": [rules.name, rules.version, rules.convention, rules.text_preparation],
        "metrics": versions,
        "settings": dict(settings),
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def build(
    request: Request,
    card: "ScoreCard",
    rules: Rules,
    texts: Texts,
    evaluator: ResultEvaluator,
    started_at: datetime,
    finished_at: datetime,
    public: bool,
) -> Result:
    """Make the result of a request from its score card.

    Args:
        request: What was asked.
        card: What came out.
        rules: The protocol it was scored by.
        texts: Facts about the predictions.
        evaluator: What computed it.
        started_at: When scoring began.
        finished_at: When it ended.
        public: Whether the benchmark is public; the values of a hidden one are rounded (rule S11).

    Returns:
        The result. A score without a value carries the reason and no number.
    """
    from rexrank.scoring.diversity import flags

    digits = None if public else HIDDEN_DECIMALS
    return Result(
        result_id=result_id(request.id, evaluator.hash),
        request_id=request.id,
        kind=request.kind,
        owner=request.owner,
        model_name=request.model_name,
        name_key=request.name_key,
        repo_id=request.repo_id,
        revision=request.revision,
        file_sha256=texts.file_sha256,
        dataset=request.dataset,
        dataset_revision=request.dataset_revision,
        split=request.split,
        section=request.section,
        modality=request.modality,
        protocol=rules.name,
        protocol_version=rules.version,
        convention=rules.convention,
        text_preparation=rules.text_preparation,
        n_expected=texts.n_expected,
        n_studies=card.n,
        coverage=card.n / texts.n_expected,
        n_empty=texts.n_empty,
        unique_ratio=card.distinct_outputs,
        metrics={key: _metric(key, card, rules.directions[key], digits) for key in rules.metrics},
        evaluator=evaluator,
        declared=request.declared,
        organization=request.organization,
        model_url=request.model_url,
        paper_url=request.paper_url,
        code_url=request.code_url,
        license=request.license,
        flags=tuple(dict.fromkeys((*request.flags, *flags(card.diversity)))),
        submitted_at=request.submitted_at,
        started_at=started_at,
        finished_at=finished_at,
    )


def read(content: bytes, path: str | None = None) -> Result:
    """Read a result file.

    Args:
        content: The file.
        path: Where it was found; it must be the result's own place.

    Raises:
        RexrankError: It does not have the expected form; the sentence quotes nothing of it.
    """
    try:
        result = Result.model_validate_json(content)
    except ValidationError as error:
        faults = ", ".join(f"{'.'.join(map(str, item['loc']))}: {item['type']}" for item in error.errors()[:10])
        raise RexrankError(f"not a result file: {faults}") from None
    if path is not None and path != result.path:
        raise RexrankError("not a result file: it belongs to another path")
    return result


def _metric(key: str, card: "ScoreCard", direction: Direction, digits: int | None) -> MetricResult:
    from rexrank.metrics import registry

    known = registry.score_keys().get(key)
    version = registry.metric_of(key).version if known else ""
    counts = card.counts.get(key, {})
    value = _number(card.summary.get(key), digits)
    if value is None:
        status: Literal["failed", "not_available"] = "failed" if key in card.counts else "not_available"
        undefined = "undefined for every study" if status == "failed" else "not computed by this host"
        reason = card.unavailable.get(key) or undefined
        return MetricResult(status=status, reason=reason, direction=direction, metric_version=version)
    low, high = card.intervals.get(key) or (None, None)
    low, high = _number(low, digits), _number(high, digits)
    interval = low is not None and high is not None
    return MetricResult(
        value=value,
        status="ok",
        direction=direction,
        n=counts.get("n", 0),
        ci_low=low if interval else None,
        ci_high=high if interval else None,
        ci_level=card.interval["confidence"] if interval else None,
        ci_method="{method}, n={resamples}, seed={seed}".format(**card.interval) if interval else None,
        metric_version=version,
        signature=card.signatures.get(key, ""),
        n_empty=counts.get("n_empty", 0),
        n_undefined=counts.get("n_undefined", 0),
        n_truncated=counts.get("n_truncated", 0),
        n_unparsed=counts.get("n_unparsed", 0),
        seconds=card.seconds.get(registry.metric_of(key).name) if known else None,
    )


def _number(value: float | None, digits: int | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return float(value) if digits is None else round(float(value), digits)
