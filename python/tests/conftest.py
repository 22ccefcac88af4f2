"""Where the scenes are."""

from pathlib import Path

import pytest


@pytest.fixture
def scenes() -> Path:
    return Path(__file__).parents[2] / "scenes"
