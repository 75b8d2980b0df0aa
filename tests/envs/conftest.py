"""Lets the tests of this folder share `tests.envs.rollouts`: importlib mode adds no folder."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
