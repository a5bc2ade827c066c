"""What all tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the real data sets, which are not part of the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("BEARSKETCH_DATA", beside))
    if not folder.is_dir():
        pytest.skip("the real data sets are not here: set BEARSKETCH_DATA to their folder")
    return folder
