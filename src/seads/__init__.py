"""Skills with symbolic effects on physically embedded board games, and plans made of them.

The public surface; each name is imported on first use, so that `import seads` stays light.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "make_env": "seads.envs",
    "train": "seads.training",
    "load": "seads.agent",
    "plan": "seads.planning",
}

__all__ = ["__version__", "load", "make_env", "plan", "train"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'seads' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
