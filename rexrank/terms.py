"""The field's words that stand in files, signatures and on the command line: each is spelled here and nowhere else."""

from typing import Literal, get_args

Track = Literal["findings", "impression", "report"]
TRACKS: tuple[Track, ...] = get_args(Track)
Convention = Literal["published", "corrected"]
CONVENTIONS: tuple[Convention, ...] = get_args(Convention)
# Of a benchmark's repo, or of the folder that `rexrank benchmark build` writes: its studies and its description.
REFERENCE_FILE = "data/test.parquet"
DESCRIPTION_FILE = "benchmark.yaml"
# Below it in a folder for each track: the floors' scores and choices.
FLOORS_FOLDER, FLOORS_FILE = "floors", "floors.json"
# `none`: the number describes reports and judges nothing; no row is ever ranked by it.
Direction = Literal["higher", "lower", "none"]
