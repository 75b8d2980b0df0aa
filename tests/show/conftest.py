"""Lets the tests of this folder share modules such as `sample_runs`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
