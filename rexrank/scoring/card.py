"""The result for one submission, in memory and as files."""

import hashlib
import io
import json
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_type_hints

from rexrank.errors import RexrankError, shown
from rexrank.files import json_bytes, parquet_table, user_path, write_atomically

if TYPE_CHECKING:
    import pyarrow
    from pydantic import ValidationError

    from rexrank.statistics.sample import Sample
    from rexrank.terms import Convention

SCHEMA_VERSION = 1
# What stands inside of some fields, and is read without asking.
_INSIDE = {
    ("inputs", "predictions"): ("source", "sha256"),
    ("inputs", "references"): ("source", "sha256"),
    ("interval",): ("confidence", "method", "resamples"),
    ("text_preparation",): ("option", "name"),
}
CARD_FILE, PER_STUDY_FILE, STATISTICS_FILE = "card.json", "per_study.parquet", "statistics.parquet"


class UnreadableCard(RexrankError, ValueError):
    """A folder that holds no whole score card."""


@dataclass(frozen=True, repr=False)
class ScoreCard:
    """Scores of one set of predictions, with everything that pins them; printed, the command line's table.

    Attributes:
        summary: Score key to the aggregate; a score that could not be computed is absent.
        unavailable: Score key to the sentence that says why it is absent from the summary.
        per_study: ``study_id`` and one float64 column a score, null where undefined; never text.
        counts: Score key to ``n``, ``n_empty``, ``n_truncated``, ``n_undefined`` and further counts; where resamples
            had no score, ``n_undefined_draws`` of them.
        intervals: Score key to the ends of its interval; absent where there is none, as for one study.
        signatures: Score key to the line that pins how the number came about.
        protocol: Name of the rule book.
        protocol_version: Its version.
        track: Which text was compared.
        convention: ``published`` or ``corrected``.
        text_preparation: ``option``, ``name`` (as in signatures, or None) and ``version``.
        n: Studies scored.
        left_out: Reason to the number of studies that the references have and the track has not.
        ignored_predictions: Predictions for studies that were left out.
        distinct_outputs: Number of different predictions over ``n``, in (0, 1].
        inputs: ``predictions`` and ``references``, each with ``source`` (file name or Hub address) and ``sha256``.
        interval: ``confidence``, ``method``, ``resamples`` and ``seed`` of the intervals; ``unit`` that was drawn
            (``study`` or ``patient``), the number of ``units``, and a ``warning`` where patients may repeat unknown.
        library_version: Of rexrank.
        packages: Versions of Python and of the packages that computed the scores.
        device: Where encoders ran; ``cpu`` where none was needed.
        started_at: UTC time in ISO 8601.
        finished_at: UTC time in ISO 8601.
        seconds: Encoder or metric to the seconds it took, intervals included.
        weights: Checkpoint that an encoder loaded to its ``repo``, ``revision``, ``fingerprint`` and ``status``
            (``verified``, ``unverified checksum`` …).
        groups: Number of the patient of each study, in the order of `per_study`; None where patients are not known.
        diversity: How various predictions and references are, in counts and shares (`rexrank.scoring.diversity`);
            empty in older cards.
        scope: ``modality`` and ``language`` of the reports and the ``source`` that said so; what the references look
            like (``guessed``), and a ``warning`` where that does not fit. Each only where it is known; empty in older
            cards.
        statistics: Of each corpus score one column of sufficient statistics, a list of float64 a study, null where
            undefined; what intervals and comparisons draw from.
    """

    summary: dict[str, float]
    unavailable: dict[str, str]
    per_study: "pyarrow.Table"
    counts: dict[str, dict[str, int]]
    intervals: dict[str, tuple[float, float]]
    signatures: dict[str, str]
    protocol: str
    protocol_version: str
    track: str
    convention: str
    text_preparation: dict[str, Any]
    n: int
    left_out: dict[str, int]
    ignored_predictions: int
    distinct_outputs: float
    inputs: dict[str, dict[str, str]]
    interval: dict[str, Any]
    library_version: str
    packages: dict[str, str]
    device: str
    started_at: str
    finished_at: str
    seconds: dict[str, float] = field(default_factory=dict)
    weights: dict[str, dict[str, str]] = field(default_factory=dict)
    groups: list[int] | None = None
    diversity: dict[str, Any] = field(default_factory=dict)
    scope: dict[str, Any] = field(default_factory=dict)
    statistics: "pyarrow.Table | None" = None

    def sample(self, key: str) -> "Sample | None":
        """What each study adds to a score: all that a resampling needs.

        Returns:
            The sample, its rows in the order of `per_study`; None for a score of the whole set, which no study adds to.

        Raises:
            InvalidCall: The card has no such score, or another version of its metric computed it.
            UnreadableCard: The card was saved without the statistics of the score.
        """
        import numpy as np

        from rexrank.metrics.formulas import formula_of
        from rexrank.metrics.inputs import InvalidCall
        from rexrank.metrics.registry import score_keys
        from rexrank.statistics.sample import Sample

        if key not in self.signatures:
            raise InvalidCall(f"the card has no score {shown(key)}; it has {', '.join(self.summary) or 'none'}")
        formula = formula_of(self.signatures[key])
        if score_keys()[key].kind == "set":
            return None
        if formula is None:
            return Sample.of_values(self.per_study.column(key).to_numpy())
        if self.statistics is None or key not in self.statistics.column_names:
            raise UnreadableCard(f"the card has no statistics of {key}, from which it could be resampled; score again")
        column = self.statistics.column(key).combine_chunks()
        present = column.is_valid().to_numpy(zero_copy_only=False)
        numbers = column.flatten().to_numpy(zero_copy_only=False)
        rows = np.full((len(column), len(numbers) // present.sum() if present.any() else 1), np.nan)
        rows[present] = numbers.reshape(-1, rows.shape[1])
        return Sample(rows, formula, range=score_keys()[key].range(cast("Convention", self.convention)))

    def __str__(self) -> str:
        from rexrank.scoring.table import table

        return table(self)

    def __repr__(self) -> str:
        from rexrank.scoring.table import counted

        return (
            f"<ScoreCard {self.protocol}@{self.protocol_version}, track {self.track}, {self.convention}: "
            f"{counted(self.n, 'study')}, {counted(len(self.summary), 'score')}, {len(self.unavailable)} unavailable>"
        )

    def to_json(self) -> dict[str, Any]:
        """The card without its per-study table, for ``json.dumps(…, allow_nan=False)``."""
        return {
            "schema_version": SCHEMA_VERSION,
            "protocol": self.protocol,
            "protocol_version": self.protocol_version,
            "track": self.track,
            "convention": self.convention,
            "text_preparation": self.text_preparation,
            "n": self.n,
            "left_out": self.left_out,
            "ignored_predictions": self.ignored_predictions,
            "distinct_outputs": self.distinct_outputs,
            "diversity": self.diversity,
            "scope": self.scope,
            "summary": self.summary,
            "intervals": {key: list(ends) for key, ends in self.intervals.items()},
            "interval": self.interval,
            "unavailable": self.unavailable,
            "counts": self.counts,
            "signatures": self.signatures,
            "inputs": self.inputs,
            "library_version": self.library_version,
            "packages": self.packages,
            "device": self.device,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
            "seconds": self.seconds,
            "weights": self.weights,
            "groups": self.groups,
        }

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``per_study.parquet``, ``statistics.parquet`` and then ``card.json``, which names their sha256.

        A reader, and a restart after a crash, sees a whole card or none: :meth:`load` refuses a card whose tables are
        of another run.

        Returns:
            The folder.

        Raises:
            OSError: The folder cannot be written.
        """
        target = user_path(folder)
        tables = {PER_STUDY_FILE: self.per_study}
        if self.statistics is not None:
            tables[STATISTICS_FILE] = self.statistics
        card = self.to_json()
        for name, table in tables.items():
            content = _parquet(table)
            card[name.partition(".")[0]] = {
                "file": name,
                "rows": table.num_rows,
                "sha256": hashlib.sha256(content).hexdigest(),
            }
            write_atomically(target / name, content)
        write_atomically(target / CARD_FILE, json_bytes(card))
        return target

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "ScoreCard":
        """Read a saved card.

        Raises:
            UnreadableCard: The folder holds no card, one of another schema, or a table that is not the card's.
        """
        source = user_path(folder)
        name = source.name if source.is_dir() else shown(source.name)
        try:
            text = (source / CARD_FILE).read_bytes()
            version = _schema_version(text)
            (source / PER_STUDY_FILE).stat()
        except (OSError, ValueError, RecursionError):
            raise UnreadableCard(f"{name} holds no readable {CARD_FILE} and {PER_STUDY_FILE}") from None
        if version != SCHEMA_VERSION:
            newer = isinstance(version, int) and version > SCHEMA_VERSION
            advice = "install a newer rexrank" if newer else "score again"
            raise UnreadableCard(f"{name}/{CARD_FILE} is not a score card of schema version {SCHEMA_VERSION}; {advice}")
        fields = _read_fields(text, f"{name}/{CARD_FILE}")
        written = {PER_STUDY_FILE: fields.pop("per_study"), STATISTICS_FILE: fields.pop("statistics")}
        tables = {file: _read_table(source / file, known, name) for file, known in written.items() if known is not None}
        card = cls(**fields, per_study=tables[PER_STUDY_FILE], statistics=tables.get(STATISTICS_FILE))
        if not card._fits_its_table():
            raise UnreadableCard(f"{name}/{PER_STUDY_FILE} has other studies or scores than {CARD_FILE}; score again")
        return card

    def _fits_its_table(self) -> bool:
        import pyarrow

        schema = pyarrow.schema([("study_id", pyarrow.string()), *((key, pyarrow.float64()) for key in self.counts)])
        rows = [self.per_study.num_rows]
        if self.statistics is not None:
            rows.append(self.statistics.num_rows)
        if self.groups is not None:
            rows.append(len(self.groups))
        return set(rows) == {self.n} and bool(self.per_study.schema.equals(schema)) and self._has_statistics()

    def _has_statistics(self) -> bool:
        """Whether the statistics are lists of numbers of one length for each score."""
        import pyarrow

        if self.statistics is None:
            return True
        lists = pyarrow.list_(pyarrow.float64())
        return all(
            kind.equals(lists) and len(set(_lengths(self.statistics.column(key)))) <= 1 and key in self.counts
            for key, kind in zip(self.statistics.column_names, self.statistics.schema.types, strict=True)
        )


def _lengths(column: "pyarrow.ChunkedArray") -> list[int]:
    from pyarrow import compute

    return [length for length in compute.list_value_length(column).unique().to_pylist() if length is not None]


def _parquet(table: "pyarrow.Table") -> bytes:
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _read_table(path: Path, written: dict[str, Any], card: str) -> "pyarrow.Table":
    """One of a card's tables.

    Raises:
        UnreadableCard: It is not there, not the one that the card was saved with, or no Parquet file.
    """
    import pyarrow

    try:
        content = path.read_bytes()
    except OSError:
        raise UnreadableCard(f"{card} holds no readable {path.name}") from None
    if written.get("sha256") != hashlib.sha256(content).hexdigest():
        raise UnreadableCard(f"{card}/{path.name} is not the table of {CARD_FILE}; score again")
    try:
        return parquet_table(content)
    except (pyarrow.ArrowException, OSError):
        raise UnreadableCard(f"{card}/{path.name} is no readable Parquet file; score again") from None


def _schema_version(text: bytes) -> object:
    """The number that a card's JSON gives itself; a ValueError where it is no JSON."""

    def refuse(_: str) -> None:
        raise ValueError("not JSON")

    card = json.loads(text, parse_constant=refuse)
    version = card.get("schema_version") if isinstance(card, dict) else None
    return version if type(version) is int else None


def _read_fields(text: bytes, name: str) -> dict[str, Any]:
    """Fields of a card's JSON by name, each of the type that the card declares."""
    import pyarrow
    from pydantic import ConfigDict, ValidationError, create_model

    types = {**get_type_hints(ScoreCard, localns={"pyarrow": pyarrow}), "schema_version": int}
    types["per_study"] = dict[str, Any]
    types["statistics"] = dict[str, Any] | None
    settings = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    fields: dict[str, Any] = {key: (kind, ...) for key, kind in types.items()}
    # Older cards lack these.
    fields |= {"weights": (types["weights"], {}), "groups": (types["groups"], None)}
    fields |= {"diversity": (types["diversity"], {}), "scope": (types["scope"], {})}
    fields["statistics"] = (types["statistics"], None)
    model = create_model("Card", __config__=settings, **fields)
    try:
        values = dict(model.model_validate_json(text))
    except ValidationError as error:
        raise UnreadableCard(f"{name} {_fault(error)}; score again") from None
    del values["schema_version"]
    if absent := _absent(values):
        raise UnreadableCard(f"{name} lacks fields of a score card, such as {shown(absent)}; score again")
    return values


def _absent(values: dict[str, Any]) -> str | None:
    """The first thing that is not inside of a card's fields, or None."""
    for path, names in _INSIDE.items():
        inside = values
        for step in path:
            inside = inside.get(step, {})
        for name in names:
            if name not in inside:
                return ".".join([*path, name])
    described = values["signatures"].keys() & values["counts"].keys()
    return next((f"signatures.{key}" for key in values["summary"] if key not in described), None)


def _fault(error: "ValidationError") -> str:
    first = error.errors(include_input=False)[0]
    if not first["loc"]:
        return "holds text that is not Unicode"
    field = shown(first["loc"][0])
    if first["type"] == "missing":
        return f"lacks fields of a score card, such as {field}"
    return f"has a field {field} that is not a score card's"


def finite(value: float | None) -> float | None:
    """The value, or None where it is no finite number."""
    return None if value is None or not math.isfinite(value) else float(value)
