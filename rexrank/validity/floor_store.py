"""Floors on disk: one folder that a benchmark's folder, or its dataset repo, holds beside the test split.

``floors.json`` has scores and choices; each floor has a folder with its score card and, of a public benchmark,
``predictions.jsonl``. Of a private one no text is stored: training reports of such a set may not travel.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rexrank.benchmarks.floors import Floor
from rexrank.benchmarks.repository import PREDICTION_FILE
from rexrank.errors import RexrankError
from rexrank.files import json_bytes, user_path, write_atomically
from rexrank.scoring.card import ScoreCard
from rexrank.terms import FLOORS_FILE, FLOORS_FOLDER
from rexrank.validity.floors import Floors, ScoredFloor

SCHEMA_VERSION = 1


class UnreadableFloors(RexrankError, ValueError):
    """A folder that holds no whole floors."""


def save(floors: Floors, folder: str | os.PathLike[str]) -> Path:
    """Write floors; the file that names the others comes last.

    Returns:
        The folder.

    Raises:
        OSError: The folder cannot be written.
    """
    target = user_path(folder)
    for one in floors.floors:
        one.card.save(target / one.slug)
        if floors.public and one.predictions is not None:
            text = Floor(one.name, one.slug, floors.track, dict(one.predictions), one.description).prediction_file()
            write_atomically(target / one.slug / PREDICTION_FILE, text)
    write_atomically(target / FLOORS_FILE, json_bytes({"schema_version": SCHEMA_VERSION, **floors.to_json()}))
    return target


def files(folder: str | os.PathLike[str]) -> dict[str, bytes]:
    """Every file of saved floors by path, as a dataset repo holds them."""
    source = user_path(folder)
    found = (path for path in sorted(source.rglob("*")) if path.is_file())
    return {path.relative_to(source).as_posix(): path.read_bytes() for path in found}


def load(folder: str | os.PathLike[str]) -> Floors:
    """Read floors that `save` wrote.

    Raises:
        UnreadableFloors: There are none, or not in this form.
        UnreadableCard: A floor's card cannot be read.
    """
    source = user_path(folder)
    try:
        found = json.loads((source / FLOORS_FILE).read_bytes())
        if found["schema_version"] != SCHEMA_VERSION:
            raise UnreadableFloors(f"{source.name}/{FLOORS_FILE} is of another version; run `rexrank floor` again")
        floors = tuple(_floor(source, one) for one in found["floors"])
        if not floors or not set(found["chosen"].values()) <= {one.slug for one in floors}:
            raise ValueError("a floor that counts in a score is not there")
        return Floors(
            set_name=str(found["set"]),
            track=str(found["track"]),
            floors=floors,
            chosen={str(key): str(slug) for key, slug in found["chosen"].items()},
            how={str(key): str(words) for key, words in found["constants"].items()},
            n_training=int(found["n_training"]),
            n_chosen_on=int(found["n_chosen_on"]),
            public=found["public"] is True,
            absent={str(key): str(why) for key, why in found["absent"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, RexrankError):
            raise
        raise UnreadableFloors(
            f"{source.name} holds no readable {FLOORS_FILE}; write it with `rexrank floor … --out DIR`"
        ) from None


def of_benchmark(folder: str | os.PathLike[str], track: str) -> Path:
    """Where a benchmark's folder holds the floors of a track."""
    return user_path(folder) / FLOORS_FOLDER / track


def is_stored(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds floors."""
    return (user_path(folder) / FLOORS_FILE).is_file()


def _floor(source: Path, found: Mapping[str, Any]) -> ScoredFloor:
    slug = str(found["slug"])
    if Path(slug).name != slug or slug in {"", ".", ".."}:
        raise ValueError("a floor's folder is named in a way that no floor is")
    return ScoredFloor(
        name=str(found["name"]),
        slug=slug,
        description=str(found["description"]),
        card=ScoreCard.load(source / slug),
        train={str(key): float(value) for key, value in found["train"].items()},
    )
