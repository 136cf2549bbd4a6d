"""What the rank of a result is resampled from: one small file a result, with what each study adds to a ranking key.

Of a public benchmark it stands in the results repo beside the values of single studies. Of a hidden one it stands in
a private repo of the host, so that ranges of ranks can be published and what they are made of cannot be seen.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute

from rexrank.errors import RexrankError
from rexrank.files import parquet_table
from rexrank.metrics.formulas import formula_of
from rexrank.statistics.sample import Floats, Sample

if TYPE_CHECKING:
    from rexrank.scoring.card import ScoreCard

FOLDER = "samples/"

_KEPT = pa.list_(pa.float64())


@dataclass(frozen=True, eq=False)
class Kept:
    """One score of one result, study by study.

    Attributes:
        study_ids: The studies, each once.
        patients: Number of the patient of each study; None where patients are not known.
        sample: What each study adds to the score, in that order.
    """

    study_ids: tuple[str, ...]
    patients: tuple[int, ...] | None
    sample: Sample


def path_of(result_id: str) -> str:
    """Path of a result's file, in whichever repo it is."""
    return f"{FOLDER}{result_id}.parquet"


def table(card: "ScoreCard", keys: Collection[str]) -> pa.Table:
    """What is kept of a score card: study, patient, and of each key a list of numbers, null where undefined.

    Args:
        card: The card.
        keys: Ranking keys; those that the card lacks, or that only the whole set has, are left out.
    """
    studies = card.per_study.column("study_id").combine_chunks()
    patients = card.groups if card.groups is not None else [None] * len(studies)
    columns: dict[str, pa.Array] = {"study_id": studies, "patient": pa.array(patients, pa.int32())}
    for key in keys:
        sample = card.sample(key) if key in card.summary else None
        if sample is not None:
            columns[key] = _lists(sample)
    return pa.table(columns)


def read(content: bytes, key: str, signature: str) -> Kept:
    """Read one score of a result's file.

    Args:
        content: The file.
        key: Score key.
        signature: Of the score, as the result has it.

    Raises:
        RexrankError: It does not hold the score, or not in this form; the sentence quotes nothing of it.
    """
    try:
        found = parquet_table(content)
        studies, patients = found.column("study_id").to_pylist(), found.column("patient").to_pylist()
        rows = _rows(found.column(key).to_pylist())
    except (KeyError, ValueError, TypeError, OSError, pa.ArrowException):
        raise RexrankError(f"the scores of its single studies cannot be read for {key}") from None
    known = None if None in patients else tuple(patients)
    return _checked(Kept(tuple(studies), known, _sample(rows, key, signature)))


def of_values(content: bytes, key: str, signature: str) -> Kept:
    """Read one score of the published values of single studies, which older results have and nothing else.

    Raises:
        RexrankError: They are no values of this score, or the score is not their mean.
    """
    if formula_of(signature) is not None:
        raise RexrankError(f"{key} is no mean of studies, and only values of single studies are kept of it")
    try:
        found = parquet_table(content)
        own = found.filter(pa.compute.equal(found.column("metric"), key))
        studies = own.column("study_id").to_pylist()
        values = own.column("value").to_numpy()
    except (KeyError, ValueError, TypeError, OSError, pa.ArrowException):
        raise RexrankError(f"the scores of its single studies cannot be read for {key}") from None
    return _checked(Kept(tuple(studies), None, Sample.of_values(values)))


def together(kept: Sequence[Kept]) -> tuple[list[Sample], list[int] | None]:
    """The samples on the studies that all have, in one order, and the patient of each study where patients are known.

    A study whose patient is not known counts as a patient of its own.
    """
    shared = set(kept[0].study_ids).intersection(*(one.study_ids for one in kept[1:]))
    studies = [study for study in kept[0].study_ids if study in shared]
    samples = []
    for one in kept:
        if list(one.study_ids) == studies:
            samples.append(one.sample)
            continue
        places = {study: place for place, study in enumerate(one.study_ids)}
        samples.append(one.sample.take(np.array([places[study] for study in studies], dtype=np.int64)))
    informed = next((one for one in kept if one.patients is not None), None)
    if informed is None or informed.patients is None:
        return samples, None
    patients = dict(zip(informed.study_ids, informed.patients, strict=True))
    return samples, [patients.get(study, -1 - place) for place, study in enumerate(studies)]


def _lists(sample: Sample) -> pa.Array:
    """Statistics as one list a study; of a mean its value alone, which is all that it is made of."""
    rows = sample.statistics[:, :1] if sample.is_mean else sample.statistics
    undefined = ~sample.defined
    numbers = pa.array(np.where(undefined[:, None], 0.0, rows).ravel())
    offsets = pa.array(np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1])
    return pa.ListArray.from_arrays(offsets, numbers, type=_KEPT, mask=pa.array(undefined))


def _rows(lists: Sequence[Sequence[float] | None]) -> Floats:
    width = next((len(numbers) for numbers in lists if numbers is not None), 1)
    undefined = [float("nan")] * width
    rows = np.array([undefined if numbers is None else numbers for numbers in lists], dtype=np.float64)
    return rows.reshape(len(lists), width)


def _sample(rows: Floats, key: str, signature: str) -> Sample:
    """The score of these rows, tried once, so that sums of another form cost no other row of the board."""
    formula = formula_of(signature)
    try:
        sample = Sample.of_values(rows[:, 0]) if formula is None else Sample(rows, formula)
        _ = sample.score
    except (IndexError, ValueError):
        raise RexrankError(f"the scores of its single studies are not such as {key} is made of") from None
    return sample


def _checked(kept: Kept) -> Kept:
    if len(set(kept.study_ids)) != len(kept.study_ids) or None in kept.study_ids:
        raise RexrankError("the scores of its single studies name a study twice or not at all")
    if np.isinf(kept.sample.statistics).any():
        raise RexrankError("a score of its single studies is infinite")
    return kept
