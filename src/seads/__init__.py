"""Skills with symbolic effects on physically embedded board games, and plans made of them.

The public surface; each name is imported on first use, so that `import seads` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seads.envs import make_env as make_env
    from seads.evaluation import Scores as Scores
    from seads.evaluation import evaluate as evaluate
    from seads.planning import Plan as Plan
    from seads.planning import plan as plan
    from seads.solving import Agent as Agent
    from seads.solving import Solution as Solution
    from seads.solving import load as load
    from seads.solving import solve as solve
    from seads.training import Run as Run
    from seads.training import resume as resume
    from seads.training import train as train

__version__ = "0.1.0"

_HOMES = {
    "Agent": "seads.solving",
    "Plan": "seads.planning",
    "Run": "seads.training",
    "Scores": "seads.evaluation",
    "Solution": "seads.solving",
    "evaluate": "seads.evaluation",
    "load": "seads.solving",
    "make_env": "seads.envs",
    "plan": "seads.planning",
    "resume": "seads.training",
    "solve": "seads.solving",
    "train": "seads.training",
}

__all__ = ["__version__", *_HOMES]


if not TYPE_CHECKING:  # so that a type checker finds a misspelt name

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'seads' has no attribute {name!r}")
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
