"""What tests of the robot share."""

from __future__ import annotations

import os

import pytest

from seads.errors import SeadsError
from seads.robot.board.chromium import find_chromium


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's program; without one the test is left out, but fails under CI."""
    try:
        return find_chromium()
    except SeadsError as error:
        if os.environ.get("CI") != "true":
            pytest.skip(str(error))
        pytest.fail(str(error), pytrace=False)
