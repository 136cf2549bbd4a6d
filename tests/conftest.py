"""Settings and fixtures that every test shares."""

import atexit
import os
import shutil
import tempfile

from rexrank.environment import prepare_libraries

# Read by huggingface_hub, datasets and evaluate when they are first imported.
prepare_libraries()
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
os.environ["NO_PROXY"] = "127.0.0.1,localhost"
# No test asks the public Hub for weights, or leaves features in the user's own cache.
os.environ["REXRANK_DOWNLOAD"] = "0"
os.environ["REXRANK_CACHE"] = tempfile.mkdtemp(prefix="rexrank-tests-")
atexit.register(shutil.rmtree, os.environ["REXRANK_CACHE"], ignore_errors=True)
# Tables are as wide as they like, whatever terminal or test runner says.
for name in ("HF_TOKEN", "HF_ENDPOINT", "REXRANK_WEIGHTS", "COLUMNS"):
    os.environ.pop(name, None)

from pathlib import Path  # noqa: E402

import pytest  # noqa: E402

pytest_plugins = ["localhub_fixtures", "seeded_weights"]

SHARED = Path(os.environ.get("REXRANK_SHARED") or Path(__file__).resolve().parents[2] / "shared")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real reports and published values, which lies beside the checkout and never in it."""
    data = SHARED / "data"
    if not data.is_dir():
        pytest.skip(f"real data for tests are not at {data}; set REXRANK_SHARED to their folder")
    return data
