"""Fixture with checkpoints in the published layouts, made of seeded random numbers."""

from pathlib import Path

import pytest

from rexrank.verification.seeded import make


@pytest.fixture(scope="session")
def seeded_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with every seeded checkpoint at its smallest size, for `Weights` or ``REXRANK_WEIGHTS``; read only."""
    folder = tmp_path_factory.mktemp("weights")
    make(folder, "tiny")
    return folder
