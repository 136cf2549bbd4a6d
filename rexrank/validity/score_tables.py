"""Tables of scores that other programs computed, in the place of score cards: one row a study, one column a score."""

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rexrank.comparison.cards import Aligned
from rexrank.errors import RexrankError, shown
from rexrank.files import parquet_table, user_path
from rexrank.metrics import score_keys
from rexrank.metrics.outcome import Floats
from rexrank.statistics.sample import Sample

if TYPE_CHECKING:
    import pyarrow

ENDINGS = (".csv", ".tsv", ".parquet")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_ID = "study_id"


class UnreadableScores(RexrankError, ValueError):
    """A file that holds no scores of studies."""


def is_table(path: str | os.PathLike[str]) -> bool:
    """Whether a name is that of a table of scores, and not of a folder with a card."""
    return Path(path).suffix.lower() in ENDINGS


def aligned_tables(
    files: Sequence[str | os.PathLike[str]], keys: Sequence[str] | None, names: Sequence[str]
) -> Aligned:
    """Read tables of the same studies, for instance those of neural metrics and judges that ran elsewhere.

    Args:
        files: CSV, TSV or Parquet with ``study_id`` and a column of numbers for each score; nothing, or nan, is a score
            that is undefined. Further columns are ignored.
        keys: Columns that are wanted; None for all that every file has.
        names: What the systems are called.

    Returns:
        The scores, each the mean of its studies, in the order of the first file. What a file lacks is in ``absent``,
        and so are scores that are no mean of studies: those need their card.

    Raises:
        UnreadableScores: A file cannot be read, names a study twice, or has other studies than the first.
    """
    tables = [_columns(user_path(file)) for file in files]
    study_ids, first = tables[0]
    orders = [_order(study_ids, ids, name) for (ids, _), name in zip(tables, names, strict=True)]
    values: dict[str, list[Floats]] = {}
    absent: dict[str, str] = {}
    for key in first if keys is None else keys:
        lacking = next((name for (_, one), name in zip(tables, names, strict=True) if key not in one), None)
        known = score_keys().get(key)
        if lacking is not None:
            absent[key] = f"{lacking} has no column of numbers with this name"
        elif known is not None and known.kind != "mean":
            absent[key] = "it is no mean of studies; give the score card, which can compute it for some of them"
        else:
            values[key] = [one[key][order] for (_, one), order in zip(tables, orders, strict=True)]
    samples = {key: list(map(Sample.of_values, columns)) for key, columns in values.items()}
    return Aligned(tuple(names), tuple(study_ids), None, samples, values, absent)


def _columns(path: Path) -> tuple[list[str], dict[str, Floats]]:
    table = _read(path)
    if _ID not in table.column_names:
        raise UnreadableScores(f"{path.name} has no column {_ID}; name the study of each row")
    study_ids = [str(one) for one in table.column(_ID).to_pylist()]
    if len(set(study_ids)) != len(study_ids):
        repeated = next(one for place, one in enumerate(study_ids) if one in study_ids[:place])
        raise UnreadableScores(f"{path.name} has study {shown(repeated)} twice; keep one row a study")
    columns = {name: found for name in table.column_names if name != _ID and (found := _numbers(table, name, path))}
    if not columns or not study_ids:
        raise UnreadableScores(f"{path.name} has no column of numbers; give {_ID} and a column for each score")
    return study_ids, {name: found[0] for name, found in columns.items()}


def _numbers(table: "pyarrow.Table", name: str, path: Path) -> tuple[Floats] | None:
    """A column of numbers; None where it holds something else, or nothing."""
    from pyarrow import types

    kind = table.schema.field(name).type
    if not (types.is_floating(kind) or types.is_integer(kind)) or not name.isprintable():
        return None
    values = np.array([np.nan if one is None else one for one in table.column(name).to_pylist()], dtype=np.float64)
    if np.isinf(values).any():
        raise UnreadableScores(f"{path.name}, {shown(name)}: a score is infinite; leave it empty where it is undefined")
    return (values,)


def _read(path: Path) -> "pyarrow.Table":
    import pyarrow
    from pyarrow import csv

    try:
        data = path.read_bytes()
        if path.suffix.lower() == ".parquet":
            return parquet_table(data)
        return csv.read_csv(
            io.BytesIO(data),
            csv.ReadOptions(use_threads=False),
            csv.ParseOptions(delimiter=_DELIMITERS[path.suffix.lower()], newlines_in_values=True),
            # An id of digits stays as it is written.
            csv.ConvertOptions(column_types={_ID: pyarrow.string()}, strings_can_be_null=False),
        )
    except OSError as error:
        raise UnreadableScores(f"{path.name} cannot be read: {error.strerror or 'it is damaged'}") from None
    except (pyarrow.ArrowException, ValueError):
        raise UnreadableScores(f"{path.name} is no readable table of scores; write it again") from None


def _order(wanted: Sequence[str], ids: Sequence[str], name: str) -> np.ndarray:
    places = {study_id: place for place, study_id in enumerate(ids)}
    if set(wanted) != places.keys():
        apart = sorted(set(wanted) ^ places.keys())
        raise UnreadableScores(
            f"{len(apart):,} studies are in only one of the tables, such as {shown(apart[0])} of or beside {name}; "
            "give tables of the same studies"
        )
    return np.array([places[study_id] for study_id in wanted], dtype=np.int64)
