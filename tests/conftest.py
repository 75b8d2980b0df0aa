"""What all tests share: one compilation cache, and property tests that repeat exactly."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import settings

# Compiled functions outlive the process, so a second run of the tests compiles nothing.
_CACHE = Path(__file__).parents[1] / ".cache"
os.environ.setdefault("SEADS_CACHE", str(_CACHE))
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_CACHE / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

# Importlib mode adds no folder: with this, tests share modules such as `tests.exact_agent`.
sys.path.insert(0, str(Path(__file__).parents[1]))

settings.register_profile("seads", deadline=None, derandomize=True)
settings.load_profile("seads")
