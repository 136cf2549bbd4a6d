"""The result for one submission, in memory and as files."""

import hashlib
import io
import json
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexrank.errors import RexrankError
from rexrank.files import write_atomically

if TYPE_CHECKING:
    import pyarrow

SCHEMA_VERSION = 1
CARD_FILE, PER_STUDY_FILE = "card.json", "per_study.parquet"


class UnreadableCard(RexrankError, ValueError):
    """A folder that holds no whole score card."""


@dataclass(frozen=True)
class ScoreCard:
    """Scores of one set of predictions, with everything that pins them.

    Attributes:
        summary: Score key to the aggregate; a score that could not be computed is absent.
        unavailable: Score key to the sentence that says why it is absent from the summary.
        per_study: ``study_id`` and one float64 column a score, null where undefined; never text.
        counts: Score key to ``n``, ``n_empty``, ``n_truncated``, ``n_undefined`` and further counts.
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
        interval: ``confidence``, ``method``, ``resamples`` and ``seed`` of the intervals.
        library_version: Of rexrank.
        packages: Versions of Python and of the packages that computed the scores.
        device: Where encoders ran; ``cpu`` where none was needed.
        started_at: UTC time in ISO 8601.
        finished_at: UTC time in ISO 8601.
        seconds: Metric to the seconds it took, intervals included.
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
        }

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``per_study.parquet`` and then ``card.json``, which names the table's sha256.

        A reader, and a restart after a crash, sees a whole card or none: :meth:`load` refuses a card whose table is
        of another run.

        Returns:
            The folder.

        Raises:
            OSError: The folder cannot be written.
        """
        target = Path(folder)
        table = self._table_bytes()
        written = {"file": PER_STUDY_FILE, "rows": self.per_study.num_rows, "sha256": hashlib.sha256(table).hexdigest()}
        card = json.dumps({**self.to_json(), "per_study": written}, ensure_ascii=False, indent=2, allow_nan=False)
        write_atomically(target / PER_STUDY_FILE, table)
        write_atomically(target / CARD_FILE, card.encode() + b"\n")
        return target

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "ScoreCard":
        """Read a saved card.

        Raises:
            UnreadableCard: The folder holds no card, one of another schema, or a table that is not the card's.
        """
        from pyarrow import parquet

        source = Path(folder)
        try:
            card = json.loads((source / CARD_FILE).read_bytes())
            table = (source / PER_STUDY_FILE).read_bytes()
        except (OSError, ValueError) as error:
            raise UnreadableCard(f"{source.name} holds no readable {CARD_FILE} and {PER_STUDY_FILE}") from error
        if not isinstance(card, dict) or card.pop("schema_version", None) != SCHEMA_VERSION:
            raise UnreadableCard(f"{source.name}/{CARD_FILE} is not a score card of schema version {SCHEMA_VERSION}")
        written = card.pop("per_study", {})
        if written.get("sha256") != hashlib.sha256(table).hexdigest():
            raise UnreadableCard(f"{source.name}/{PER_STUDY_FILE} is not the table of {CARD_FILE}; score again")
        card["intervals"] = {key: (low, high) for key, (low, high) in card["intervals"].items()}
        try:
            return cls(**card, per_study=parquet.read_table(io.BytesIO(table)))
        except TypeError as error:
            raise UnreadableCard(f"{source.name}/{CARD_FILE} lacks fields of a score card; score again") from error

    def _table_bytes(self) -> bytes:
        from pyarrow import parquet

        buffer = io.BytesIO()
        parquet.write_table(self.per_study, buffer)
        return buffer.getvalue()


def finite(value: float | None) -> float | None:
    """The value, or None where it is no finite number."""
    return None if value is None or not math.isfinite(value) else float(value)
