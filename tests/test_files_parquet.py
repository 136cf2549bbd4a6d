"""Reading Parquet starts no thread of pyarrow's own, which now and then aborted a process that ended soon after."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

# What is read, in a process of its own: threads stay once they are started.
READERS = {
    "table": "from rexrank.files import parquet_table; parquet_table(Path(path).read_bytes())",
    "score card": "import rexrank; rexrank.ScoreCard.load(Path(path).parent / 'card')",
    "predictions": "from rexrank.reports import read_predictions; read_predictions(path)",
    "board": "from space.data import _rows; _rows(Path(path).read_bytes())",
}
COUNT = """
import os, sys
from pathlib import Path
import numpy, pyarrow, pyarrow.parquet
before = os.listdir("/proc/self/task")
path = sys.argv[1]
exec(sys.argv[2])
print(len(os.listdir("/proc/self/task")) - len(before))
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import pyarrow
    from pyarrow import parquet

    import rexrank

    folder = tmp_path_factory.mktemp("parquet")
    rows = {"study_id": ["a", "b"], "prediction": ["Lungs are clear.", "Small left effusion."]}
    parquet.write_table(pyarrow.table(rows), folder / "predictions.parquet")
    texts = dict(zip(rows["study_id"], rows["prediction"], strict=True))
    rexrank.score(texts, texts, protocol="plain", progress=False).save(folder / "card")
    return folder / "predictions.parquet"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc, which Linux has")
@pytest.mark.parametrize("reader", READERS)
def test_reading_starts_no_thread(path: Path, reader: str) -> None:
    command = [sys.executable, "-c", COUNT, str(path), READERS[reader]]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=120, check=True
    )
    assert json.loads(done.stdout) == 0
